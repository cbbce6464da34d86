// The room of subject facts: the counts, times and lookups that members use.

import { isDeepStrictEqual } from "node:util";
import { callsOf, isPaired, type Message, textOf } from "@rondo/core";
import { shown } from "./ask.ts";
import type { Subject } from "./followed.ts";
import { type Assertion, type ExpectedCall, type RetryLimits, Unsupported } from "./format.ts";
import type { Observation, SeenCall, SeenResponse } from "./observation.ts";
import { check } from "./operators.ts";
import { credentialsOf, isLastOfRun, isLeaked, nextInRun, runOf } from "./readings.ts";

/** What is wrong, or undefined. */
export type Member = (value: unknown, subject: Subject) => string | undefined;

const isAbout = (subject: Subject): SeenResponse | undefined => subject.response;
export const none = "there is no such response: the request was not made";

export function about(
  judgeOne: (value: never, response: SeenResponse, subject: Subject) => string | undefined,
): Member {
  return (value, subject) => {
    const response = isAbout(subject);
    return response === undefined ? none : judgeOne(value as never, response, subject);
  };
}

export const atMost = (what: string, count: number, limit: unknown): string | undefined =>
  count <= Number(limit) ? undefined : `at most ${shown(limit)} ${what}; there were ${count}`;

export const atLeast = (what: string, count: number, limit: unknown): string | undefined =>
  count >= Number(limit) ? undefined : `at least ${shown(limit)} ${what}; there were ${count}`;

export const exactly = (what: string, count: number, wanted: unknown): string | undefined =>
  count === wanted ? undefined : `must be ${shown(wanted)} ${what}; got ${count}`;

/** Model calls of the case: HTTP exchanges, whatever caused them. What is asked after its run (`turns_after`) is not counted for it. */
export const modelCalls = ({ seen, one, run }: Subject): number =>
  one.turns_after === undefined || run === undefined
    ? seen.responses.length
    : seen.responses.filter((response) => runOf(seen, response) === run).length;

export const executed = ({ seen, response, whole }: Subject): number => {
  const responses = whole || response === undefined ? seen.responses : [response];
  return responses.flatMap((one) => one.calls).reduce((sum, call) => sum + call.started, 0);
};

export const compactions = ({ seen }: Subject): number =>
  seen.runs.reduce((sum, run) => sum + run.compactions, 0);

export function matchesCall(expected: ExpectedCall, call: SeenCall): boolean {
  for (const member of Object.keys(expected))
    if (!["id", "name", "arguments", "arguments_raw"].includes(member))
      throw new Unsupported(`unknown member tool_calls[].${member}`);
  const id = expected.id === undefined || (expected.id === "*" ? call.id !== "" : call.id === expected.id);
  const { arguments: args, arguments_raw: raw } = expected;
  const said = raw === undefined || raw.replace(/\s+/g, "") === call.rawArgs.replace(/\s+/g, "");
  const meant =
    args === undefined ||
    isDeepStrictEqual(call.args, args) ||
    isDeepStrictEqual(withoutTraps(call.args), args);
  return id && call.name === expected.name && said && meant;
}

/** The same without names such as `__proto__` that a careless merge would treat specially: dropping them is correct too. */
function withoutTraps(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const isTrap = (name: string, inner: unknown): boolean =>
    name === "__proto__" ||
    (name === "constructor" &&
      typeof inner === "object" &&
      inner !== null &&
      Object.hasOwn(inner, "prototype"));
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      isTrap(name, inner) ? [] : [[name, withoutTraps(inner)]],
    ),
  );
}

export function requestChecks(
  assertions: Assertion[],
  response: SeenResponse,
  previous: SeenResponse | undefined,
): string | undefined {
  const wrong = assertions.flatMap((assertion) => {
    const complaint = check(assertion, response.request, previous?.request);
    return complaint === undefined ? [] : [`${assertion.path} ${complaint}`];
  });
  return wrong.length === 0 ? undefined : `${wrong.join("; ")}. Request: ${excerpt(response.request.body)}`;
}

function excerpt(body: unknown): string {
  const text = JSON.stringify(body) ?? "nothing";
  return text.length > 600 ? `${text.slice(0, 200)} … ${text.slice(-400)}` : text;
}

/**
 * Whether this response failed and led to the same request again, or to another attempt. A model that is told what was
 * wrong with its call gets a different request.
 */
export function wasRetried({ seen, response }: Subject): boolean {
  if (response === undefined) return false;
  if (!response.lastOfCall) return true;
  const { judged, message } = response;
  const next = nextInRun(seen, response);
  if (next === undefined || message?.stop.kind === "pause") return false;
  const isTold = message !== undefined && isLeaked(message);
  if (judged?.follows.do === "ask_again" && ["retry", "malformed_calls"].includes(judged.rule) && !isTold)
    return true;
  return next.request.text === response.request.text;
}

/** All are about the stored history, which has one form: every call is answered once, directly after it. */
export const pairInvariants: ReadonlySet<unknown> = new Set([
  "every_tool_call_answered",
  "every_tool_use_has_result_next",
  "no_orphan_tool_result",
  "tool_calls_followed_by_all_tool_messages",
  "function_call_pairs_complete",
]);

export function keptPairs(history: readonly Message[]): string | undefined {
  return isPaired(history) ? undefined : `calls without their results: ${shown(history)}`;
}

/** The text of the last answer in a history, and the number of its calls. */
export function lastAssistant(history: readonly Message[]): { text: string; tool_calls: number } | undefined {
  const last = history.filter((message) => message.role === "assistant").at(-1);
  return last === undefined ? undefined : { text: textOf(last), tool_calls: callsOf(last).length };
}

/** The end of a run without any request: aborted before it could send one, or with an invalid request. */
export function endedUnasked({ seen, run }: Subject): "aborted" | "error" | undefined {
  if (seen.responses.length > 0 || run?.end === undefined) return undefined;
  if (run.end.reason === "aborted") return "aborted";
  return run.end.error === undefined ? undefined : "error";
}

/** Virtual milliseconds until it settled: since the abort, or until the answer or the end. */
export function settledIn({ response, run, seen }: Subject): number | undefined {
  if (run === undefined) return undefined;
  if (run.abortedAt !== undefined) return run.endedAt === undefined ? undefined : run.endedAt - run.abortedAt;
  if (response === undefined) return run.endedAt === undefined ? undefined : run.endedAt - run.startedAt;
  const over = isLastOfRun(seen, response)
    ? run.endedAt
    : (nextAfterCalls(seen, response) ?? response.settledAt);
  return over === undefined ? undefined : over - response.startedAt;
}

/** A response with calls has settled when their results are sent. */
function nextAfterCalls(seen: Observation, response: SeenResponse): number | undefined {
  return response.calls.length === 0 ? undefined : nextInRun(seen, response)?.startedAt;
}

/** A structured answer without output: truncated, or rejected by its schema. */
export function structuredFailed({ one, run }: Subject): boolean {
  return (
    one.given?.output_schema !== undefined &&
    run?.output === undefined &&
    run?.end !== undefined &&
    run.end.reason !== "completed"
  );
}

export function retryLimits(limits: RetryLimits, subject: Subject): string | undefined {
  const {
    allowed,
    max_attempts,
    min_delay_ms,
    max_delay_ms,
    only_if_body_changed,
    only_if_credentials_changed,
    ...rest
  } = limits;
  if (Object.keys(rest).length > 0) throw new Unsupported(`unknown member retry.${Object.keys(rest)[0]}`);
  const { seen, response } = subject;
  if (response === undefined) return none;
  if (allowed === false) return wasRetried(subject) ? "it must not be tried again, and was" : undefined;
  // Reporting an error to the model is no further attempt, as the request differs.
  const told = /feed_error_to_model/.test(String(subject.expect.loop_outcome));
  const same = seen.responses.filter(
    (one) =>
      one.run === response.run &&
      !one.madeUp &&
      one.status === response.status &&
      (!told || one.request.text === response.request.text),
  ).length;
  if (max_attempts !== undefined && same > max_attempts + 1)
    return `at most ${max_attempts} more attempts; there were ${same - 1}`;
  const next = nextInRun(seen, response);
  if (next === undefined) return undefined;
  if (only_if_body_changed === true && next.request.text === response.request.text)
    return "it was tried again with the same body";
  if (only_if_credentials_changed === true && credentialsOf(next) === credentialsOf(response))
    return "it was tried again with the same credentials";
  const waited = next.startedAt - (response.settledAt ?? next.startedAt);
  if (min_delay_ms !== undefined && waited < min_delay_ms)
    return `it waited ${waited} ms, less than ${min_delay_ms}`;
  return max_delay_ms !== undefined && waited > max_delay_ms
    ? `it waited ${waited} ms, more than ${max_delay_ms}`
    : undefined;
}

type Measures = NonNullable<Observation["process"]>;

/** What is measured of a process, by the cases' words for it. */
const measures: readonly [RegExp, keyof Measures][] = [
  [
    /^(?:(?:a?live|surviving|left(?:over)?|running|orphaned|remaining)_?)?(?:child(?:ren)?|orphans?|descendants?|survivors?|process(?:es)?)(?:_?process(?:es)?)?(?:_?(?:alive|left|running|remaining))?$/i,
    "childProcesses",
  ],
  [/^unhandled_?rejections?$/i, "unhandledRejections"],
  [/^(?:active_?|open_?|left_?)?timers$/i, "activeTimers"],
  [/^(?:abort_?|signal_?)?listeners$/i, "abortListeners"],
  [/^(?:process_?)?warnings$/i, "warnings"],
  [/^exit_?code$/i, "exitCode"],
];

export const measureOf = (name: string): keyof Measures | undefined =>
  measures.find(([words]) => words.test(name))?.[1];
