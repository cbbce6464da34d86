// Rules that throw: the run ends, and says which rule it was.

import { Agent, isPaired, memoryJournal, type Rule, type StopRule } from "@rondo/core";
import { call, calls, say, scripted } from "@rondo/testkit";
import { expect, test } from "vitest";
import { echo, quick } from "./support.ts";

const fail = (): never => {
  throw new TypeError("no such thing");
};

test.each<[string, Rule | StopRule]>([
  ["decide", { name: "mine", version: 1, decide: fail }],
  ["judge", { name: "mine", version: 1, judge: fail }],
  ["judgeCall", { name: "mine", version: 1, judgeCall: fail }],
  ["judgeStart", { name: "mine", version: 1, judgeStart: fail }],
])(
  "a rule that throws in %s ends the run and is named, and the session goes on without it",
  async (moment, rule) => {
    const journal = memoryJournal();
    const options = { tools: [echo("look")], journal, ...quick };
    const script = (): ReturnType<typeof scripted> =>
      scripted([calls([["look"], ["look", { at: 1 }]]), call("look"), say("done")], { repeatLast: true });
    const session = await new Agent({ ...options, model: script(), rules: [rule] }).open("s");
    const { end } = await session.send("go");
    expect(end).toMatchObject({
      reason: "error",
      error: { kind: "internal", message: `the rule mine failed in ${moment}: no such thing` },
    });
    expect([session.status, isPaired(session.messages)]).toEqual(["idle", true]);
    expect(journal.read("s").filter((record) => record.type === "run_ended")).toHaveLength(1);
    const mended = await new Agent({ ...options, model: script() }).open("s");
    expect((await mended.send("again")).end?.reason).toBe("completed");
  },
);
