// The room of moves: what a program does with a session, and what its model answers.

import { call, fail, say, type Turn } from "@rondo/testkit";
import fc from "fast-check";

/** Methods of a session, and `let` (something under way goes on), `open` and `takeOver` (another object of the session). */
export const moves = [
  "abort",
  "allow",
  "answer",
  "approve",
  "clear",
  "compact",
  "continue",
  "deny",
  "denyAndStop",
  "drain",
  "edit",
  "followUp",
  "fork",
  "let",
  "open",
  "resume",
  "send",
  "steer",
  "stream",
  "takeOver",
  "withdraw",
] as const;

export interface Step {
  move: (typeof moves)[number];
  /** Chooses one of what there is: sessions, waiting calls, queued messages, gates. */
  nth: number;
  /** How many turns of the event loop pass before the next step. */
  turns: number;
}

const answers = {
  text: (n: number) => say(`answer ${n}`),
  look: (n: number) => call("look", { n }),
  save: (n: number) => [say("I save."), call("save", { n })],
  press: (n: number) => call("press", { n }),
  buy: (n: number) => call("buy", { n }),
  "a tool that throws": (n: number) => call("boom", { n }),
  "no such tool": (n: number) => call("nobody", { n }),
  helper: (n: number) => call("helper", { task: `task ${n}` }),
  "two looks": (n: number) => [call("look", { n }), call("look", { n: n + 1000 })],
  "one of each": (n: number) => ["save", "press", "look", "buy"].map((name) => call(name, { n })),
  "an overloaded server": () => fail("overloaded"),
  "a refused request": () => fail("invalid_request"),
  "a stream that breaks": () => [say("I be"), fail("stream_truncated")],
} satisfies Record<string, (n: number) => Turn>;

export type Answer = keyof typeof answers;

/** The turn of an answer. @param number of the model call: no two calls have the same arguments */
export const turnOf = (answer: Answer, number: number): Turn => answers[answer](number);

export interface Program {
  steps: Step[];
  /** What the model answers, in order, again and again. */
  answers: Answer[];
  journal: "quick" | "slow" | "refuses once";
  /** Which group of records is refused. */
  refused: number;
  toolOrder: "by_effect" | "sequential" | "parallel";
  followUps: "together" | "one_by_one";
}

const anyStep = fc.record<Step>({
  // Where nothing is let through and nothing sent, nothing happens.
  move: fc.oneof(fc.constantFrom(...moves), fc.constantFrom<"let" | "send">("let", "let", "send")),
  nth: fc.nat(7),
  turns: fc.nat(3),
});

export const anyProgram: fc.Arbitrary<Program> = fc.record({
  steps: fc.array(anyStep, { minLength: 3, maxLength: 30 }),
  answers: fc.array(fc.constantFrom(...(Object.keys(answers) as Answer[])), { minLength: 1, maxLength: 8 }),
  journal: fc.constantFrom("quick", "slow", "refuses once"),
  refused: fc.nat(40),
  toolOrder: fc.constantFrom("by_effect", "sequential", "parallel"),
  followUps: fc.constantFrom("together", "one_by_one"),
});
