// States made by hand, for questions that the loop's rooms are asked: a run in the middle of things, and its calls.

import {
  type AssistantMessage,
  type Call,
  type Clock,
  emptyState,
  type LogRecord,
  type Rules,
  type Run,
  type RunOptions,
  reduceAll,
  resolve,
  type State,
  userText,
} from "@rondo/core";
import { scripted } from "@rondo/testkit";
import { checkedOptions } from "../../../testkit/src/modelcheck/checked-options.ts";
import { type RunState, withRun } from "../../src/loop/state.ts";

export const rules: Rules = resolve({ model: scripted([]) }).rules;
export const options = (change: Partial<RunOptions> = {}): RunOptions => checkedOptions(change);

type Tool = NonNullable<Call["tool"]>;

export function toolOf(name: string, change: Partial<Tool> = {}): Tool {
  return {
    definition: { name, description: name, inputSchema: { type: "object", properties: {} } },
    effect: "write",
    permission: "allow",
    timeoutMs: 1_000,
    ...change,
  };
}

/** A call that was judged to run and has not started; it touches everything. */
export function callOf(key: Call["key"], change: Partial<Call> = {}): Call {
  return {
    key,
    id: `id-${key}`,
    name: "write",
    args: {},
    rawArgs: "{}",
    check: { ok: true, args: {}, keys: null },
    tool: toolOf("write"),
    verdict: { do: "run" },
    asked: false,
    prepared: false,
    interrupted: false,
    settled: true,
    ...change,
  };
}

/** The same call as of a tool nobody knows. */
export function unknownCall(key: Call["key"], change: Partial<Call> = {}): Call {
  const { tool: _tool, ...call } = callOf(key, { name: "nobody", ...change });
  return call;
}

export const textResult = { content: [{ type: "text", text: "done" }], isError: false } as const;

export const finished = (key: Call["key"], change: Partial<Call> = {}): Call =>
  callOf(key, { startedAt: 1, result: { ...textResult, content: [...textResult.content] }, ...change });

export function answerOf(
  content: AssistantMessage["content"],
  change: Partial<AssistantMessage> = {},
): AssistantMessage {
  return {
    role: "assistant",
    content,
    stop: { kind: "end" },
    origin: { api: "checked", provider: "checked", model: "checked" },
    ...change,
  } as AssistantMessage;
}

/** A run that has just started, changed as given. */
export function stateOf(
  run: Partial<Run> = {},
  more: Partial<State> = {},
  change: Partial<RunOptions> = {},
  by: Rules = rules,
): RunState {
  const started = {
    type: "run_started",
    format: 1,
    input: [userText("task")],
    options: options(change),
    seq: 0,
    at: 1_000,
    rand: 0.5,
  } as LogRecord;
  const state = withRun(reduceAll([started], by, emptyState));
  return { ...state, ...more, run: { ...state.run, ...run } } as RunState;
}

/** A state with an open turn of these calls, judged. */
export function acting(
  calls: readonly Call[],
  run: Partial<Run> = {},
  more: Partial<State> = {},
  change: Partial<RunOptions> = {},
): RunState {
  const turn: Run["turn"] = {
    seq: 5,
    message: answerOf([{ type: "text", text: "so be it" }]),
    calls,
    judged: { follows: { do: "act" }, store: true, text: "so be it", rule: "act", evidence: {} },
  };
  return stateOf({ turn, ...run }, more, change);
}

/** A record by hand. */
export function recordOf(fact: object, seq: number = 10, at: number = 2_000): LogRecord {
  return { seq, at, rand: 0.5, ...fact } as LogRecord;
}

/** Time stands still until the test lets it pass. */
export interface HandClock extends Clock {
  /** Lets so many milliseconds pass: what falls due is done, in its order. */
  pass(ms: number): void;
  /** How long everybody who waits now wanted to wait, in the order in which they came. */
  waits(): number[];
}

export function handClock(start = 1_000): HandClock {
  let time = start;
  let waiting: { ms: number; due: number; then: () => void }[] = [];
  return {
    now: () => time,
    random: () => 0.5,
    after(ms, then) {
      const one = { ms, due: time + ms, then };
      waiting.push(one);
      return () => {
        waiting = waiting.filter((other) => other !== one);
      };
    },
    waits: () => waiting.map(({ ms }) => ms),
    pass(ms) {
      const until = time + ms;
      for (;;) {
        const [first] = waiting.filter(({ due }) => due <= until).sort((a, b) => a.due - b.due);
        if (first === undefined) break;
        waiting = waiting.filter((other) => other !== first);
        time = Math.max(time, first.due);
        first.then();
      }
      time = until;
    },
  };
}

/** Lets all that was promised come. */
export const come = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
