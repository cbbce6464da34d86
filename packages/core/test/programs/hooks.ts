// The room of hooks: at every hook point one that answers as the program says, well or badly, at once or when it is let through.

import { type Hooks, userText } from "@rondo/core";
import fc from "fast-check";
import type { Gates } from "./gates.ts";

/** What a hook returns that no hook may. */
const odd: Record<string, () => unknown> = {
  "a number": () => 42,
  "a symbol": () => Symbol("odd"),
  "a function": () => () => {},
  "an empty object": () => ({}),
  "a list of nothing": () => [undefined, null],
  "a circle": () => {
    const circle: Record<string, unknown> = { args: {} };
    circle.args = circle;
    return circle;
  },
  "what throws when it is read": () => ({
    get args() {
      throw new Error("not to be read");
    },
    get answer() {
      throw new Error("not to be read");
    },
  }),
  null: () => null,
  "a foreign shape": () => ({
    behavior: "allow",
    result: 7n,
    content: new Map(),
    stop: {},
    answer: "perhaps",
    args: "none",
  }),
  "what rejects with nothing": () => Promise.reject(undefined),
  "what throws": () => {
    throw new Error("the hook is broken");
  },
};

/** What each hook may return. */
const fit: { [Name in keyof Hooks]-?: readonly (() => unknown)[] } = {
  permission: [
    () => "allow",
    () => "ask",
    () => ({ answer: "deny", reason: "no" }),
    () => ({ answer: "stop", text: "stopped" }),
  ],
  beforeTool: [
    () => ({ args: { n: 7777 } }),
    () => ({ args: { task: "another task", n: 1 } }),
    () => ({ result: "instead", isError: true }),
    () => ({ result: "instead", done: "done before" }),
  ],
  afterTool: [
    () => ({ content: "another" }),
    () => ({ content: [{ type: "text", text: "another" }], isError: true }),
    () => ({ content: "the last", done: true }),
  ],
  prepareStep: [
    () => ({ tools: ["save"] }),
    () => ({ toolChoice: "none" }),
    () => ({ settings: { temperature: 0.5 } }),
    () => ({ stop: "enough", text: "stopped" }),
  ],
  transformContext: [() => [userText("only this")], () => []],
  onFinish: [() => "more work", () => [userText("more"), userText("work")]],
};

export interface HookAnswer {
  /** Odd ones by name, fit ones by number, or none. */
  gives: string | number | undefined;
  waits: boolean;
}

export const anyHookAnswers: fc.Arbitrary<HookAnswer[]> = fc.array(
  fc.record({
    gives: fc.oneof(
      { weight: 4, arbitrary: fc.constant(undefined) },
      { weight: 2, arbitrary: fc.constantFrom(...Object.keys(odd)) },
      { weight: 2, arbitrary: fc.nat(3) },
    ),
    waits: fc.boolean(),
  }),
  { maxLength: 12 },
);

/** Hooks that answer one after another as the list says, and then not at all. @param next takes the next answer */
export function hooksOf(gates: Gates, next: () => HookAnswer | undefined): Hooks {
  const hook = (name: keyof Hooks) => (): unknown => {
    const { gives, waits } = next() ?? { gives: undefined, waits: false };
    const give = (): unknown => {
      if (gives === undefined) return undefined;
      if (typeof gives === "string") return odd[gives]?.();
      return fit[name][gives % fit[name].length]?.();
    };
    return waits ? gates.pass().then(give) : give();
  };
  return Object.fromEntries(
    Object.keys(fit).map((name) => [name, hook(name as keyof Hooks)]),
  ) as unknown as Hooks;
}
