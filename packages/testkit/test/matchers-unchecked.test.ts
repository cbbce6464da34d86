// Expectations that would hold whatever a run did, most of all behind `not`: they are refused.

import { Agent, type LogRecord, memoryJournal, type RunResult } from "@rondo/core";
import { call, differences, expectRun, say, scripted } from "@rondo/testkit";
import { rondoWire } from "@rondo/testkit/wire";
import { beforeAll, describe, expect, it } from "vitest";

let run: RunResult;
let records: readonly LogRecord[];
beforeAll(async () => {
  const journal = memoryJournal();
  const model = scripted([call("look", { at: "a" }), say("done")]);
  run = await new Agent({ model, journal }).run("go", { session: "s" });
  records = await journal.read("s");
});

describe("what is more than its members is compared as a whole", () => {
  it("dates, errors and bytes", () => {
    expect(differences({ when: new Date(5) }, { when: new Date(5) })).toEqual([]);
    expect(differences({ when: new Date(5) }, { when: new Date(0) })).toEqual([
      "when is 1970-01-01T00:00:00.000Z, wanted 1970-01-01T00:00:00.005Z",
    ]);
    expect(differences(new Error("one"), new Error("other"))).toHaveLength(1);
    expect(differences(Uint8Array.of(1, 2), Uint8Array.of(1, 2, 3))).toHaveLength(1);
  });

  it("maps and sets, which no arguments are", () => {
    expectRun(run).not.toHaveCalled("look", new Map([["at", "a"]]));
    expect(() => expectRun(run).toHaveCalled("look", { at: new Set(["a"]) })).toThrow(
      "at is \"a\", wanted Set(1) { 'a' }",
    );
  });
});

it("a question that is asked asynchronously has said nothing yet", () => {
  const answering = async (at: unknown): Promise<boolean> => at === "a";
  const gave = "gave a promise: a question must say true or false at once";
  expect(() => expectRun(run).not.toHaveCalled("look", { at: answering })).toThrow(
    `answering, asked of at, ${gave}`,
  );
  expect(() => expectRun(run).not.toHaveSpent({ steps: (async () => true) as never })).toThrow(gave);
});

it("a part of a session's records tells another story, and none of them none", () => {
  const needed =
    "all records of one session are needed, from its first on and in order; number 0 of these has the sequence number 2";
  expect(() => expectRun(records.slice(2)).not.toEnd()).toThrow(needed);
  expect(() => expectRun(records.slice(2)).not.toHaveSent("stop")).toThrow(needed);
  expect(() => expectRun([]).not.toHaveSent("stop")).toThrow("this is an empty list");
});

it("requests that are not kept are no requests in which nothing was found", async () => {
  const model = scripted([say("done")], { keepRequests: false });
  await new Agent({ model }).run("go");
  expect(() => expectRun(model).not.toHaveSent("go")).toThrow(
    "what went out was not kept (keepRequests: false)",
  );
  await using wire = await rondoWire({ script: [], keepRequests: false });
  expect(() => expectRun(wire).not.toHaveSent("go")).toThrow(
    "what went out was not kept (keepRequests: false)",
  );
});
