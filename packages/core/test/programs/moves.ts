// The room of moves: what a program does with a session, and what its model answers.

import { call, fail, say, type Turn } from "@rondo/testkit";
import fc from "fast-check";
import { anyHookAnswers, type HookAnswer } from "./hooks.ts";

/** Methods of a session, and `let` (something under way goes on), `open` and `takeOver` (another object of the session). */
export const moves = [
  "abort",
  "allow",
  "answer",
  "approve",
  "clear",
  "compact",
  "continue",
  "crash",
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
  "tell",
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
  "two helpers": (n: number) => [
    call("helper", { task: `task ${n}` }),
    call("helper", { task: `task ${n + 1000}` }),
  ],
  "a helper and a write": (n: number) => [call("helper", { task: `task ${n}` }), call("save", { n })],
  "two looks": (n: number) => [call("look", { n }), call("look", { n: n + 1000 })],
  "one of each": (n: number) => ["save", "press", "look", "buy"].map((name) => call(name, { n })),
  "an overloaded server": () => fail("overloaded"),
  "a refused request": () => fail("invalid_request"),
  "a stream that breaks": () => [say("I be"), fail("stream_truncated")],
} satisfies Record<string, (n: number) => Turn>;

export type Answer = keyof typeof answers;

/** The turn of an answer. @param number of the model call: no two calls have the same arguments */
export const turnOf = (answer: Answer, number: number): Turn => answers[answer](number);

/** What fails once: a group is refused, or is stored and told as refused, or the records cannot be read. */
export type Fault = "none" | "refused" | "answer lost" | "unread";

export interface Program {
  steps: Step[];
  /** What the model answers, in order, again and again. */
  answers: Answer[];
  /** The same of sub-agents' models. */
  inner: Answer[];
  /** How deep sub-agents are nested. */
  depth: number;
  /** What hooks answer, in order. None: there are no hooks. */
  hooks: HookAnswer[];
  journal: {
    /** Its promises resolve when they are let through; else all is done at once. */
    isSlow: boolean;
    leases: boolean;
    /** It keeps the records as text, as files do. */
    isText: boolean;
    fault: Fault;
  };
  /** At which of its operations the fault is. */
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

const anyAnswer = fc.oneof(
  fc.constantFrom(...(Object.keys(answers) as Answer[])),
  fc.constantFrom<Answer>("helper", "two helpers", "a helper and a write", "press", "buy", "save"),
);
const anyAnswers = fc.array(anyAnswer, { minLength: 1, maxLength: 8 });

export const anyProgram: fc.Arbitrary<Program> = fc.record({
  steps: fc.array(anyStep, { minLength: 3, maxLength: 30 }),
  answers: anyAnswers,
  inner: anyAnswers,
  depth: fc.integer({ min: 1, max: 2 }),
  hooks: fc.oneof(fc.constant<HookAnswer[]>([]), anyHookAnswers),
  journal: fc.record({
    isSlow: fc.boolean(),
    leases: fc.constantFrom(true, true, false),
    isText: fc.boolean(),
    fault: fc.constantFrom<Fault>("none", "none", "refused", "answer lost", "unread"),
  }),
  refused: fc.nat(40),
  toolOrder: fc.constantFrom("by_effect", "sequential", "parallel"),
  followUps: fc.constantFrom("together", "one_by_one"),
});
