// Forks at every step of runs that ended in every way: the fork has that step, asked anew, or is refused in words.

import {
  Agent,
  type AgentOptions,
  type LogRecord,
  memoryJournal,
  type RondoEvent,
  type Session,
  toolResult,
} from "@rondo/core";
import { call, calls, fail, type Script, say, scripted } from "@rondo/testkit";
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

test.each(Object.entries(kinds))("a run that ended %s can be forked at every step", async (_how, kind) => {
  const journal = memoryJournal();
  const tools = [echo("look"), echo("other"), echo("guarded", { permission: "ask" })];
  const options = { ...quick, tools, journal, ...kind.options };
  const session = await new Agent({ ...options, model: scripted(kind.script) }).open("s");
  session.subscribe((event) => kind.says?.(session, event));
  await session.send("go").catch(() => {});
  await kind.answers?.(session);
  expect(session.status).toBe("idle");
  session.steer("since then");
  const stepsIn = (records: readonly LogRecord[]): number[] =>
    records.flatMap((record) => (record.type === "model_started" ? [record.step] : []));
  const steps = Math.max(...stepsIn(journal.read("s")));
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
      expect(refused).toContain(`ended with step ${steps}: fork it at ${steps}`);
      continue;
    }
    const fork = await forking;
    const shared = fork.state.seq;
    const { end } = await fork.resume();
    expect([at, stepsIn(journal.read(`f${at}`).slice(shared))[0], end?.reason, end?.landed]).toEqual([
      ...[at, at, "completed", false],
    ]);
    expect((await fork.replay()).firstDifference).toBeUndefined();
  }
});
