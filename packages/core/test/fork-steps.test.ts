// Forks at every step of runs that ended in every way: the fork has that step, asked anew, or is refused in words.

import {
  Agent,
  type AgentOptions,
  type LogRecord,
  type MemoryJournal,
  memoryJournal,
  type RondoEvent,
  type Session,
  toolResult,
} from "@rondo/core";
import { call, calls, fail, type Script, say, scripted, stop } from "@rondo/testkit";
import { expect, test } from "vitest";
import { echo, quick } from "./support.ts";

interface Kind {
  script: Script;
  options?: Partial<AgentOptions>;
  /** Said to the session on its events. */
  says?: (session: Session, event: RondoEvent) => void;
  /** What is done once it waits. */
  answers?: (session: Session) => Promise<unknown>;
}

const twice: Script = [call("look"), calls([["look"], ["other"]]), say("done")];
const asks: Script = [call("look"), calls([["guarded"], ["look"]]), say("done")];
const broken = (): never => {
  throw new Error("broken");
};
const output = { type: "object", properties: { a: { type: "number" } }, required: ["a"] } as const;

const kinds: { readonly [how: string]: Kind } = {
  "by its answer": { script: twice },
  "at its limit": { script: twice, options: { maxSteps: 2, onLimit: "stop" } },
  "by landing": { script: twice, options: { maxSteps: 1 } },
  "by landing before its first step": { script: twice, options: { budget: { modelCalls: 1 } } },
  "by a prepareStep hook": {
    script: twice,
    options: { hooks: { prepareStep: ({ step }) => (step === 2 ? { stop: "enough" } : undefined) } },
  },
  "by a hook that failed": {
    script: twice,
    options: { hooks: { transformContext: (_all, { step }) => (step === 2 ? broken() : undefined) } },
  },
  "by an onFinish hook that failed": { script: twice, options: { hooks: { onFinish: broken } } },
  "by a permission hook": { script: twice, options: { hooks: { permission: () => ({ answer: "stop" }) } } },
  "by a failed model": { script: [call("look"), fail("auth")] },
  "after a retry": { script: [call("look"), fail("overloaded"), say("done")] },
  "after a pause": { script: [call("look"), [say("so "), stop("pause")], say("done")] },
  "without the output": { script: [call("look"), ...Array(4).fill(say("no"))], options: { output } },
  "by a denial": { script: asks, answers: (session) => session.deny("call_2", "no", { stop: true }) },
  "by a result": {
    script: asks,
    answers: (session) => session.answer("call_2", toolResult("all done", { done: true })),
  },
  "by an abort in a step": {
    script: twice,
    says: (session, { type }) => void (type === "tool_end" && session.abort("enough")),
  },
  "by an abort behind a step": {
    script: twice,
    says: (session, { type }) => void (type === "step_end" && session.abort("enough")),
  },
  "by a listener that failed": {
    script: twice,
    says: (_, { type }) => void (type === "tool_end" && broken()),
  },
  "with more to do": {
    script: [...twice, say("that, too")],
    says: (session, { type }) => void (type === "run_start" && session.followUp("and that")),
  },
};

const tools = [echo("look"), echo("other"), echo("guarded", { permission: "ask" })];
const stepsIn = (records: readonly LogRecord[]): number[] =>
  records.flatMap((record) => (record.type === "model_started" ? [record.step] : []));

/** Runs a script to its end. */
async function ran({ script, options, says, answers }: Kind, journal: MemoryJournal): Promise<Session> {
  const model = scripted(script);
  const session = await new Agent({ ...quick, tools, journal, ...options, model }).open("s");
  session.subscribe((event) => says?.(session, event));
  await session.send("go").catch(() => {});
  await answers?.(session);
  expect(session.status).toBe("idle");
  return session;
}

/** Forks a session at every step it has, and at the one after them, which may be refused: the fork begins with that step. */
async function forkAtEach(session: Session, journal: MemoryJournal): Promise<void> {
  const steps = Math.max(0, ...stepsIn(journal.read("s")));
  for (let at = 1; at <= steps + 1; at += 1) {
    const model = scripted([say('{"a":1}')], { repeatLast: true });
    const agent = { hooks: {}, maxSteps: 50, onLimit: "land", budget: { modelCalls: 50 } } as const;
    const forking = session.fork(`f${at}`, { at, model, agent });
    const refused = await forking.then(
      () => undefined,
      (error: Error) => error.message,
    );
    if (refused !== undefined) {
      expect(at).toBe(steps + 1);
      expect(refused).toMatch(new RegExp(`(ended with|is in) step ${steps}: fork it at ${steps}`));
      continue;
    }
    const fork = await forking;
    const shared = fork.state.seq;
    const { end, parked } = await fork.resume();
    // The calls of the step before wait for a person, as they did.
    if (parked !== undefined) continue;
    expect([at, stepsIn(journal.read(`f${at}`).slice(shared))[0], end?.reason, end?.landed]).toEqual([
      ...[at, at, "completed", false],
    ]);
    expect((await fork.replay()).firstDifference).toBeUndefined();
  }
}

test.each(Object.entries(kinds))("a run that ended %s can be forked at every step", async (_how, kind) => {
  const journal = memoryJournal();
  const session = await ran(kind, journal);
  session.steer("since then");
  await forkAtEach(session, journal);
});

test.each(Object.entries(kinds))(
  "so can one that would have ended %s, wherever it was broken off",
  async (_how, kind) => {
    const whole = memoryJournal();
    await ran(kind, whole);
    const records = whole.read("s");
    for (let length = 2; length < records.length; length += 1) {
      const journal = memoryJournal();
      journal.append("s", 0, records.slice(0, length));
      const agent = new Agent({ ...quick, tools, ...kind.options, journal, model: scripted([]) });
      await forkAtEach(await agent.open("s"), journal);
    }
  },
);
