// Words said at every seam of a run: at each event, in that moment or a few turns of the process later.

import {
  Agent,
  type AgentOptions,
  isPaired,
  type LogRecord,
  memoryJournal,
  type Session,
  subAgent,
  textOf,
  tool,
} from "@rondo/core";
import { call, calls, fail, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { quick } from "./support.ts";

const word = "a word meanwhile";

const toolsOf = (): AgentOptions["tools"] =>
  (["read", "write"] as const).map((name) =>
    tool({
      name,
      description: name,
      inputSchema: { type: "object", properties: {} },
      effect: name,
      execute: async () => `${name} ran`,
    }),
  );
const hook = async (): Promise<undefined> => undefined;
const more = { repeatLast: true };
const retry = { baseMs: 0, capMs: 0 };

/** Runs in which each kind of seam comes by. */
const scenes: Record<string, () => AgentOptions> = {
  "an answer": () => ({ model: scripted([say("done", { chunk: 2 })], more) }),
  "calls together, and one by one": () => ({
    model: scripted([calls([["read"], ["write", { a: 2 }]]), call("write", { b: 1 }), say("done")], more),
    tools: toolsOf() ?? [],
    toolOrder: "sequential",
  }),
  "hooks, and more work": () => ({
    model: scripted([call("write", { a: 2 }), say("done")], more),
    tools: toolsOf() ?? [],
    hooks: {
      permission: hook,
      beforeTool: hook,
      afterTool: hook,
      prepareStep: hook,
      transformContext: hook,
      onFinish: hook,
    },
  }),
  "a retry, and a typed output": () => ({
    model: scripted([fail("overloaded"), say("no value"), say('{"a":1}')], more),
    output: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
    retry,
  }),
  "a sub-agent": () => ({
    model: scripted([call("ask", { task: "look" }), say("done")], more),
    tools: [
      subAgent({
        name: "ask",
        description: "Asks another",
        agent: new Agent({
          model: scripted([call("write", { c: 1 }), say("found")], more),
          tools: toolsOf() ?? [],
        }),
      }),
    ],
  }),
};

interface Told {
  session: Session;
  records(): LogRecord[];
  /** How many events the run had. */
  events: number;
  reached: boolean;
}

/** Runs a scene, and says something at the event of this number, so many turns of the process later. */
async function saidAt(
  scene: () => AgentOptions,
  at: number,
  turns: number,
  say: (session: Session) => unknown,
): Promise<Told> {
  const journal = memoryJournal();
  const session = await new Agent({ ...quick, ...scene(), journal }).open("s");
  let events = 0;
  let saying: Promise<unknown> | undefined;
  const later = async (): Promise<void> => {
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    await say(session);
  };
  session.subscribe(() => {
    events += 1;
    if (events !== at) return;
    if (turns > 0) saying = later();
    else say(session);
  });
  await session.send("go");
  await saying;
  await session.settled();
  return { session, records: () => journal.read("s"), events, reached: events >= at };
}

/** Every seam of a scene. */
async function everywhere(
  scene: () => AgentOptions,
  say: (session: Session) => unknown,
  look: (told: Told, where: string) => unknown,
): Promise<void> {
  for (const turns of [0, 1, 2, 4, 8])
    for (let at = 1; ; at += 1) {
      const told = await saidAt(scene, at, turns, say);
      if (!told.reached) break;
      await look(told, `at event ${at}, ${turns} turns later`);
    }
}

const words = (session: Session): number =>
  session.messages.filter((message) => message.role === "user" && textOf(message) === word).length;

describe.each(Object.entries(scenes))("in a run with %s", (_name, scene) => {
  test.each<["steer" | "followUp"]>([["steer"], ["followUp"]])(
    "what is said by %s is delivered once, in this run or, once that has ended, in the next",
    async (how) => {
      await everywhere(
        scene,
        (session) => session[how](word),
        async ({ session, records }, where) => {
          const waiting = session.state.inbox.length;
          expect([words(session) + waiting, session.result?.end?.reason], where).toEqual([1, "completed"]);
          const types = records().map(({ type }) => type);
          // Only a word that came after the end waits for another run.
          expect(waiting === 1, where).toBe(types.indexOf("queued") > types.indexOf("run_ended"));
          if (waiting === 1) await session.send("next");
          expect([words(session), session.state.inbox, isPaired(session.messages)], where).toEqual([
            1,
            [],
            true,
          ]);
          expect((await session.replay()).firstDifference, where).toBeUndefined();
        },
      );
    },
  );

  test("an abort is the end, nothing starts after it, and what was queued stays queued", async () => {
    const both = (session: Session): void => {
      session.steer(word);
      session.abort("enough");
    };
    await everywhere(scene, both, ({ session, records }, where) => {
      const types = records().map(({ type }) => type);
      const asked = types.indexOf("abort_asked");
      const after = asked < 0 ? [] : types.slice(asked);
      const { end } = session.result ?? {};
      if (asked < 0) expect(end?.reason, where).toBe("completed");
      else expect([end?.reason, end?.evidence], where).toEqual(["aborted", { reason: "enough" }]);
      expect(
        after.filter((type) => /^(model|tool|summary)_started$|^delivered$/.test(type)),
        where,
      ).toEqual([]);
      expect([types.filter((type) => type === "run_ended").length, session.status], where).toEqual([
        1,
        "idle",
      ]);
      expect([session.state.inbox.length + words(session), isPaired(session.messages)], where).toEqual([
        1,
        true,
      ]);
    });
  });

  test("a drain leaves a run that continues as if nothing had happened", async () => {
    const undisturbed = await saidAt(scene, -1, 0, () => {});
    await everywhere(
      scene,
      (session) => session.drain(),
      async ({ session }, where) => {
        if (session.status === "interrupted") await session.resume();
        expect([session.status, session.result?.end], where).toEqual([
          "idle",
          undisturbed.session.result?.end,
        ]);
        expect([session.messages.length, isPaired(session.messages)], where).toEqual([
          undisturbed.session.messages.length,
          true,
        ]);
      },
    );
  });
});
