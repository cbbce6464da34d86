// Rules asked by themselves: what a rule says of a state made by hand, and what it remembers of records.

import type {
  AssistantMessage,
  Call,
  CallResult,
  Judgement,
  LogRecord,
  Part,
  Rule,
  Run,
  RunOptions,
  State,
  Stop,
} from "@rondo/core";
import { foldersIn } from "../../src/rules/rule.ts";
import { answerOf, callOf, recordOf, rules, stateOf } from "../loop/support.ts";

export const { texts } = rules;

export const words = (text: string): Part => ({ type: "text", text });

/** The stop of an answer; what the word alone says is the same, where it is not said. */
export const stopOf = (kind: Stop["kind"], more: Partial<Stop> = {}): Stop => ({ kind, wire: kind, ...more });

/** An answer that ended so, as the open turn of a run. */
export const turnOf = (
  stop: Stop,
  content: readonly Part[] = [],
  calls: readonly Call[] = [],
): NonNullable<Run["turn"]> => ({
  seq: 5,
  message: answerOf(content as AssistantMessage["content"], { stop }),
  calls,
});

/** What a rule says about an answer. */
export function judgementOf<Memory>(
  rule: Rule<Memory>,
  run: Partial<Run>,
  memory: Memory = rule.init?.(stateOf()) as Memory,
  change: Partial<RunOptions> = {},
  more: Partial<State> = {},
): Judgement | undefined {
  return rule.judge?.(memory, stateOf(run, more, change), texts);
}

/** What a rule remembers after facts, each of which met the same state. */
export function afterAll<Memory>(
  rule: Rule<Memory>,
  facts: readonly object[],
  before: State = stateOf(),
  memory: Memory = rule.init?.(before) as Memory,
): Memory {
  return facts.reduce<Memory>((known, fact) => afterOne(rule, known, recordOf(fact), before), memory);
}

type Fold<Memory> = (memory: Memory, record: LogRecord, before: State) => Memory;

/** How a rule folds records of a type. */
export const foldOf = <Memory>(rule: Rule<Memory>, type: LogRecord["type"]): Fold<Memory> =>
  (foldersIn([rule as Rule]).get(type)?.[0]?.fold ?? ((memory) => memory)) as Fold<Memory>;

/** What a rule remembers after a record. */
export const afterOne = <Memory>(
  rule: Rule<Memory>,
  memory: Memory,
  record: LogRecord,
  before: State,
): Memory => foldOf(rule, record.type)(memory, record, before);

/** That a rule judged an answer. */
export const judgedBy = (rule: string, follows: object = { do: "ask_again" }): object => ({
  type: "turn_judged",
  verdicts: [],
  follows,
  store: true,
  rule,
  evidence: {},
});

export const failureOf = (
  kind: string,
  change: object = {},
  rand: number = 0.5,
): NonNullable<Run["failure"]> => ({
  error: { kind, message: "it failed", retryable: true, ...change } as NonNullable<Run["failure"]>["error"],
  at: 5_000,
  rand,
});

/** A result of one text. */
export const saying = (text: string, change: Partial<CallResult> = {}): CallResult => ({
  content: [{ type: "text", text }],
  isError: false,
  ...change,
});
/** That a call has its result. */
export const ended = (result: CallResult = saying("so"), call: Call["key"] = "5.0"): object => ({
  type: "tool_finished",
  call,
  result,
});
/** Two calls that have started. */
export const look = callOf("5.0", { name: "look", startedAt: 1 });
export const peek = callOf("5.0", { name: "peek", startedAt: 1 });
