// The room of outcomes: what each outcome word demands of a run.
//
// `a_or_b` holds when either does. A word that is not here is nobody's demand, and makes the case fail.

import { isDeepStrictEqual } from "node:util";
import { isPaired } from "@rondo/core";
import { type Case, type Expect, type RetryLimits, Unsupported } from "./format.ts";
import type { Observation, SeenResponse, SeenRun } from "./observation.ts";
import { shown } from "./operators.ts";
import { extendsList, messagesOf, resultIds } from "./pairs.ts";
import { blanks, isLastOfRun, nextInRun, strangers, textsOf } from "./readings.ts";

/** What an outcome is judged by: one response, or the whole run when `response` is the last one. */
export interface Subject {
  one: Case;
  seen: Observation;
  response: SeenResponse | undefined;
  run: SeenRun | undefined;
  expect: Expect;
  /** It is about the whole run (`final_expect`). */
  whole: boolean;
}

/** What is wrong, or undefined. */
type Outcome = (subject: Subject) => string | undefined;

const stopBudgets = ["max_steps", "token_budget", "cost_budget", "deadline", "tool_call_limit"];
const stopLoops = ["no_progress", "duplicate_call"];

export function endOf(run: SeenRun | undefined): string {
  if (run === undefined) return "there was no run";
  if (run.rejected !== undefined) return `the run was rejected: ${run.rejected}`;
  if (run.end === undefined) return run.parked ? "the run is parked" : "the run has not ended";
  const { reason, rule, error, evidence } = run.end;
  return `the run ended as ${reason} by ${rule}, ${shown(error ?? evidence)}, with text ${shown(run.text)}`;
}

/** @returns what is wrong with the outcome, alternative by alternative */
export function judgeOutcome(word: string, subject: Subject): string | undefined {
  const alternatives = alternativesOf(word);
  const wrong: string[] = [];
  for (const one of alternatives) {
    const complaint = (outcomes[one] as Outcome)(subject);
    if (complaint === undefined) return undefined;
    wrong.push(alternatives.length === 1 ? complaint : `${one}: ${complaint}`);
  }
  return wrong.join(" | ");
}

/** @throws Unsupported for a word that is not known */
export function alternativesOf(word: string): string[] {
  if (Object.hasOwn(outcomes, word)) return [word];
  const parts = word.split("_or_");
  const unknown = parts.filter((part) => !Object.hasOwn(outcomes, part));
  if (unknown.length > 0) throw new Unsupported(`unknown outcome ${JSON.stringify(word)}`);
  return parts;
}

/** Whether one of several alternatives is an end of the run, after which no request need follow. */
export function mayEnd(word: string): boolean {
  const alternatives = alternativesOf(word);
  return (
    alternatives.length > 1 && alternatives.some((one) => /^(?:fail|final|stop|abort|error|deny)/.test(one))
  );
}

// ---- pieces ------------------------------------------------------------------------------------------------------

const limitsOf = ({ expect }: Subject): RetryLimits =>
  typeof expect.retry === "object" && expect.retry !== null ? expect.retry : {};

/** The following request of the run, or the complaint that there is none. */
function follow(subject: Subject): SeenResponse | string {
  const { seen, response, run } = subject;
  if (response === undefined) return "there is no such response";
  return nextInRun(seen, response) ?? `no request followed in the run; ${endOf(run)}`;
}

/** Requests that say the same: equal, or with one more note at the end that is not kept. */
function isSameAgain(now: SeenResponse, next: SeenResponse): boolean {
  if (now.request.text === next.request.text) return true;
  const before = messagesOf(now.request.body);
  const after = messagesOf(next.request.body);
  if (extendsList(after, before) && after.length <= before.length + 1) return true;
  // Where neighbours of one role are merged, the note is a block of the last message.
  const rest = JSON.stringify(after.at(-1));
  const last = JSON.stringify(before.at(-1)).replace(/["}\]]*$/, "");
  return (
    after.length === before.length &&
    extendsList(after, before.slice(0, -1)) &&
    rest.startsWith(last.slice(0, last.lastIndexOf('"text"') > 0 ? undefined : 40))
  );
}

function nothingKept(subject: Subject): string | undefined {
  const { response, seen } = subject;
  if (response === undefined) return undefined;
  const ran = response.calls.filter((call) => call.started > 0);
  if (ran.length > 0) return `calls of the failed answer ran: ${shown(ran.map((call) => call.name))}`;
  const { message } = response;
  const stored = message !== undefined && seen.history.some((one) => isDeepStrictEqual(one, message));
  return stored ? "the failed answer stands in the history" : undefined;
}

const retried: Outcome = (subject) => {
  const next = follow(subject);
  if (typeof next === "string") return next;
  const { response } = subject;
  if (response !== undefined && !isSameAgain(response, next))
    return `the next request is another one: ${shown(next.request.body)}`;
  return nothingKept(subject);
};

/** Ended with this response, and nothing was asked again. */
function endedHere(subject: Subject): string | undefined {
  const { seen, response, whole, run } = subject;
  if (response === undefined || whole) return undefined;
  return isLastOfRun(seen, response)
    ? undefined
    : `${requestsAfter(seen, response)} more requests followed; ${endOf(run)}`;
}

const requestsAfter = (seen: Observation, response: SeenResponse): number =>
  seen.responses.length - 1 - seen.responses.indexOf(response);

function completedWith(subject: Subject): string | undefined {
  const { run, expect } = subject;
  if (run?.end?.reason !== "completed") return endOf(run);
  const late = endedHere(subject);
  if (late !== undefined) return late;
  return typeof expect.text === "string" && run.text !== expect.text
    ? `the run's text must be ${shown(expect.text)}; got ${shown(run.text)}`
    : undefined;
}

/** Texts the outgoing request says more than the last one, in user messages that the history does not keep. */
function notesIn(seen: Observation, next: SeenResponse): number {
  const kept = JSON.stringify(seen.history);
  const last = messagesOf(next.request.body).at(-1);
  const texts = [...JSON.stringify(last ?? {}).matchAll(/"(?:text|content)":"((?:[^"\\]|\\.)*)"/g)].map(
    ([, text]) => text,
  );
  return texts.filter((text) => text !== undefined && text !== "" && !kept.includes(`"text":"${text}"`))
    .length;
}

const reduced: Outcome = (subject) => {
  const { run, response } = subject;
  const next = follow(subject);
  if (run === undefined || run.compactions === 0) return `the context was not reduced; ${endOf(run)}`;
  if (typeof next === "string") return next;
  return response !== undefined && next.request.text === response.request.text
    ? "the same request was sent again unchanged"
    : undefined;
};

function outputLimit(response: SeenResponse): number | undefined {
  const read =
    /"(?:max_tokens|max_completion_tokens|max_output_tokens|maxOutputTokens|maxTokens)":(\d+)/.exec(
      response.request.text,
    );
  return read === null ? undefined : Number(read[1]);
}

/** Every call of the response is answered with its one result in the next request. */
function answeredNext(response: SeenResponse, next: SeenResponse): string | undefined {
  const ids = resultIds(next.request.body);
  // Ids may be rewritten for the wire, but not their number.
  return ids.length < response.calls.length
    ? `the next request carries ${ids.length} results for ${response.calls.length} calls`
    : undefined;
}

// ---- the words ---------------------------------------------------------------------------------------------------

const outcomes: { readonly [word: string]: Outcome } = {
  final: completedWith,

  final_empty(subject) {
    const { run, seen } = subject;
    if (run?.end?.reason !== "empty_response") return endOf(run);
    if (blanks(seen) > 0) return "a blank answer stands in the history";
    return endedHere(subject);
  },

  final_truncated(subject) {
    const { run, expect } = subject;
    const marked =
      run?.end?.reason === "truncated" ||
      run?.history.some((message) => message.role === "assistant" && message.stop.kind === "max_tokens");
    if (run?.end === undefined || run.end.error !== undefined || !marked)
      return `it must end marked as truncated; ${endOf(run)}`;
    if (typeof expect.text === "string" && run.text !== expect.text)
      return `the run's text must be ${shown(expect.text)}; got ${shown(run.text)}`;
    return endedHere(subject);
  },

  final_refused(subject) {
    const { run, response, expect, seen } = subject;
    if (run?.end?.reason !== "refused") return endOf(run);
    const words = [run.text, ...(response === undefined ? [] : textsOf(seen, response))];
    if (typeof expect.text === "string" && !words.includes(expect.text))
      return `the provider's words must be ${shown(expect.text)}; got ${shown(run.text)}`;
    return endedHere(subject);
  },

  final_with_warning(subject) {
    const { run } = subject;
    return (
      completedWith(subject) ??
      ((run?.warnings.length ?? 0) > 0 ? undefined : "it completed without a warning")
    );
  },

  nudge_once(subject) {
    const { seen, response } = subject;
    const next = follow(subject);
    if (typeof next === "string" || response === undefined)
      return typeof next === "string" ? next : "no response";
    if (response.judged?.follows.do !== "ask_again")
      return `the answer was judged ${shown(response.judged?.follows)}`;
    const notes = notesIn(seen, next);
    if (notes !== 1) return `the next request must carry one note that is not kept; it carries ${notes}`;
    const stored = strangers(seen, givenTexts(subject.one));
    return stored.length === 0 ? undefined : `the nudge stands in the history: ${shown(stored)}`;
  },

  run_tools_then_continue(subject) {
    const { response, expect } = subject;
    const next = follow(subject);
    if (typeof next === "string" || response === undefined)
      return typeof next === "string" ? next : "no response";
    const wrong = response.calls.filter((call) => call.started > 1);
    if (wrong.length > 0) return `calls ran more than once: ${shown(wrong.map((call) => call.id))}`;
    const started = response.calls.filter((call) => call.started === 1);
    const listed = expect.tool_calls;
    if (listed !== null && listed !== undefined && started.length !== listed.length)
      return `${listed.length} calls must have run; ${started.length} did: ${shown(response.calls.map(({ name, args, started: times, result }) => ({ name, args, times, result })))}`;
    if (started.length === 0) return `no call ran: ${shown(response.calls.map((call) => call.result))}`;
    const failed = started.filter((call) => call.result === undefined);
    if (failed.length > 0) return `calls have no result: ${shown(failed)}`;
    return answeredNext(response, next);
  },

  feed_error_to_model(subject) {
    const { response } = subject;
    const next = follow(subject);
    if (typeof next === "string" || response === undefined)
      return typeof next === "string" ? next : "no response";
    if (response.calls.length === 0) return "there is no call to answer";
    const ran = response.calls.filter((call) => call.started > 0);
    if (ran.length > 0) return `calls ran: ${shown(ran)}`;
    const fine = response.calls.filter(
      (call) => call.result?.isError !== true || call.result.text.trim() === "",
    );
    if (fine.length > 0) return `calls are not answered with an error: ${shown(fine)}`;
    return answeredNext(response, next);
  },

  raise_limit(subject) {
    const next = follow(subject);
    if (typeof next === "string" || subject.response === undefined)
      return typeof next === "string" ? next : "no response";
    const from = outputLimit(subject.response);
    const to = outputLimit(next);
    return from !== undefined && to !== undefined && to > from
      ? nothingKept(subject)
      : `the output limit went from ${from} to ${to}`;
  },

  retry_request: retried,
  retry: retried,

  retry_after_delay(subject) {
    const wrong = retried(subject);
    if (wrong !== undefined) return wrong;
    const next = follow(subject) as SeenResponse;
    const waited = next.startedAt - (subject.response?.settledAt ?? 0);
    const { min_delay_ms = 1, max_delay_ms = 120_000 } = limitsOf(subject);
    return waited >= min_delay_ms && waited <= max_delay_ms
      ? undefined
      : `it waited ${waited} ms, which is not within ${min_delay_ms} and ${max_delay_ms}`;
  },

  refresh_then_retry(subject) {
    const { seen, response } = subject;
    const next = follow(subject);
    if (typeof next === "string" || response === undefined)
      return typeof next === "string" ? next : "no response";
    if (credentialsOf(next) === credentialsOf(response)) return "the same credentials were sent again";
    if (next.request.text !== response.request.text) return "the next request is another one";
    const refused = seen.responses.filter(
      (one) => one.run === response.run && one.request.text === response.request.text,
    );
    return refused.length > 2 ? `the request was sent ${refused.length} times` : undefined;
  },

  repair_then_retry(subject) {
    const { response, seen } = subject;
    const next = follow(subject);
    if (typeof next === "string" || response === undefined)
      return typeof next === "string" ? next : "no response";
    if (next.request.text === response.request.text) return "the same request was sent again unchanged";
    const again = seen.responses.filter((one) => one.request.text === response.request.text).length;
    return again > 1 ? `the refused request was sent ${again} times` : undefined;
  },

  compact_then_retry: reduced,
  compact: reduced,
  drop_images(subject) {
    const { response } = subject;
    const next = follow(subject);
    if (typeof next === "string" || response === undefined)
      return typeof next === "string" ? next : "no response";
    const images = (one: SeenResponse): number =>
      [...one.request.text.matchAll(/"(?:image|image_url|input_image|inlineData)"/g)].length;
    return images(next) < images(response)
      ? undefined
      : `there are as many images as before: ${images(next)}`;
  },
  reduce_max_tokens_then_retry(subject) {
    const next = follow(subject);
    if (typeof next === "string" || subject.response === undefined)
      return typeof next === "string" ? next : "no response";
    const from = outputLimit(subject.response);
    const to = outputLimit(next);
    return to !== undefined && (from === undefined || to < from)
      ? undefined
      : `the output limit went from ${from} to ${to}`;
  },
  deterministic_trim(subject) {
    const { run, seen } = subject;
    if ((run?.compactions ?? 0) === 0) return `the context was not reduced; ${endOf(run)}`;
    return run?.end?.reason === "completed" && !seen.responses.at(-1)?.compaction ? undefined : endOf(run);
  },

  resend_same(subject) {
    const { response } = subject;
    const next = follow(subject);
    if (typeof next === "string" || response === undefined)
      return typeof next === "string" ? next : "no response";
    const before = messagesOf(response.request.body);
    const after = messagesOf(next.request.body);
    if (!extendsList(after, before)) return "the conversation before the pause was changed";
    const added = after.slice(before.length);
    return added.length === 1 && (added[0]?.role === "assistant" || added[0]?.role === "model")
      ? undefined
      : `only the paused answer may be added; got ${shown(added)}`;
  },

  text_protocol_fallback(subject) {
    const next = follow(subject);
    if (typeof next === "string") return next;
    const body = next.request.body as { tools?: unknown };
    const names = (subject.one.given?.tools ?? []).map((tool) => tool.name ?? tool.builtin ?? "");
    if (body.tools !== undefined) return "the tools are still declared natively";
    return names.every((name) => next.request.text.includes(name))
      ? undefined
      : "the tools are not described in text";
  },

  continue_with_steer(subject) {
    const next = follow(subject);
    if (typeof next === "string") return next;
    const steers = (subject.one.actions ?? []).filter((action) => action.do === "steer");
    for (const { text = "continue" } of steers) {
      const times = next.request.text.split(JSON.stringify(text).slice(1, -1)).length - 1;
      if (times !== 1) return `the steering message stands ${times} times in the next request`;
    }
    return steers.length === 0 ? "the case steers nothing" : undefined;
  },

  stop_loop_detected({ run }) {
    const { end } = run ?? {};
    const detected =
      end !== undefined && (stopLoops.includes(end.reason) || end.error?.kind === "loop_detected");
    if (!detected) return endOf(run);
    return Object.keys(end.evidence).length > 0 && end.rule !== "" ? undefined : "it names no evidence";
  },

  stop_budget: ({ run }) =>
    run?.end !== undefined && stopBudgets.includes(run.end.reason) ? undefined : endOf(run),

  aborted({ run }) {
    if (run?.end?.reason !== "aborted") return endOf(run);
    if (run.startedAfterAbort.length > 0)
      return `after the abort there started: ${run.startedAfterAbort.join(", ")}`;
    return isPaired(run.history) ? undefined : "the history has calls without results";
  },

  fail(subject) {
    const { run, expect, response } = subject;
    const { end } = run ?? {};
    if (end?.error === undefined) return endOf(run);
    const kind = expect.error_kind;
    if (typeof kind === "string" && end.error.kind !== kind)
      return `it must fail with ${kind}; ${endOf(run)}`;
    if (expect.retry === false || expect.retry === undefined) return endedHere(subject);
    return response === undefined ? "there is no response" : undefined;
  },

  second_run_rejected({ seen }) {
    const [second] = seen.second;
    if (second === undefined) return "nobody else asked for a run";
    if (second.outcome !== "rejected" || second.words === "")
      return `the second run was not rejected: ${shown(second)}`;
    return seen.runs.length === 1 && !JSON.stringify(seen.history).includes(JSON.stringify(second.text))
      ? undefined
      : "the second run left something behind";
  },
  queued({ seen }) {
    const [second] = seen.second;
    if (second === undefined) return "nobody else asked for a run";
    return second.outcome === "ran" && seen.runs.length === 2
      ? undefined
      : `the second run was not queued: ${shown(second)}`;
  },

  deny_or_allow_per_row: ({ seen }) => rows(seen, () => true),
  run_tools_or_reject: ({ seen }) => rows(seen, () => true),
  deny_all: ({ seen }) => rows(seen, (row) => !row.allowed),

  second_opener_read_only: () => "a session has no lock between processes yet",
  error: ({ run }) => (run?.end?.error !== undefined || run?.rejected !== undefined ? undefined : endOf(run)),
  load_ok: () => "sessions in foreign files cannot be loaded yet",
  linear: ({ seen }) => (seen.rows === undefined ? "nothing was measured" : rows(seen, () => true)),
};

/** Each row came out as its table says, with words where it was refused. */
function rows(seen: Observation, also: (row: { allowed: boolean }) => boolean): string | undefined {
  if (seen.rows === undefined || seen.rows.length === 0) return "there are no rows";
  const wrong = seen.rows.filter((row) => row.allow !== row.allowed || row.words === "" || !also(row));
  return wrong.length === 0
    ? undefined
    : wrong.map((row) => `${row.request}: ${row.allowed ? "allowed" : "refused"}, ${row.words}`).join("; ");
}

export function credentialsOf(response: SeenResponse): string {
  const {
    authorization,
    "x-api-key": key,
    "x-goog-api-key": google,
    "api-key": azure,
  } = response.request.headers;
  return [authorization, key, google, azure].join("|");
}

/** Texts of user messages a case gives. */
export function givenTexts(one: Case): string[] {
  return (one.given?.history ?? []).flatMap((message) => {
    const parts = (message.parts ?? []) as { text?: unknown }[];
    return [String(message.text ?? ""), parts.map((part) => String(part.text ?? "")).join("")];
  });
}
