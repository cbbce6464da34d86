// The room of outcomes: what each outcome word requires of a run.
//
// `a_or_b` holds when either does. An unknown word makes the case fail.

import { isPaired, textOf } from "@rondo/core";
import { usualDeed } from "./action-names.ts";
import { shown } from "./ask.ts";
import {
  answeredNext,
  completedWith,
  endedHere,
  endKind,
  endOf,
  follow,
  following,
  followingTalk,
  givenTexts,
  limitsOf,
  notesIn,
  nothingKept,
  type Outcome,
  outputLimit,
  reduced,
  retried,
  type Subject,
} from "./followed.ts";
import { Unsupported } from "./format.ts";
import type { Observation, SeenResponse } from "./observation.ts";
import { extendsList, messagesOf } from "./pairs.ts";
import { blanks, credentialsOf, readingsOf, strangers, textsOf } from "./readings.ts";

const stopBudgets = ["max_steps", "token_budget", "cost_budget", "deadline", "tool_call_limit"];
const stopLoops = ["no_progress", "duplicate_call"];

/** @returns what is wrong with the outcome, for each alternative */
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

/** @throws Unsupported for an unknown word */
export function alternativesOf(word: string): string[] {
  const parts = partsOf(word);
  if (parts === undefined) throw new Unsupported(`unknown outcome ${JSON.stringify(word)}`);
  return parts;
}

/** The joined words; some contain an "or" themselves. */
function partsOf(word: string): string[] | undefined {
  if (Object.hasOwn(outcomes, word)) return [word];
  for (let at = word.indexOf("_or_"); at > 0; at = word.indexOf("_or_", at + 1)) {
    const first = word.slice(0, at);
    const others = Object.hasOwn(outcomes, first) ? partsOf(word.slice(at + 4)) : undefined;
    if (others !== undefined) return [first, ...others];
  }
  return undefined;
}

/** Whether one of several alternatives is an end of the run, after which there need be no request. */
export function mayEnd(word: string): boolean {
  const alternatives = alternativesOf(word);
  return (
    alternatives.length > 1 && alternatives.some((one) => /^(?:fail|final|stop|abort|error|deny)/.test(one))
  );
}

// ---- the words ---------------------------------------------------------------------------------------------------

const outcomes: { readonly [word: string]: Outcome } = {
  final: completedWith,

  final_empty(subject) {
    const { run, seen } = subject;
    if (run?.end?.reason !== "empty_response" && run?.end?.error?.kind !== "empty_response")
      return endOf(run);
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
    // When the prompt itself is filtered, no answer exists: then the error is the refusal.
    if (run?.end?.reason !== "refused" && run?.end?.error?.kind !== "content_filter") return endOf(run);
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

  nudge_once: following((next, response, { seen, one }) => {
    if (response.judged?.follows.do !== "ask_again")
      return `the answer was judged ${shown(response.judged?.follows)}`;
    const notes = notesIn(seen, next);
    if (notes !== 1) return `the next request must carry one note that is not kept; it carries ${notes}`;
    const stored = strangers(seen, givenTexts(one));
    return stored.length === 0 ? undefined : `the nudge stands in the history: ${shown(stored)}`;
  }),

  run_tools_then_continue: followingTalk((next, response, { expect }) => {
    const wrong = response.calls.filter((call) => call.started > 1);
    if (wrong.length > 0) return `calls ran more than once: ${shown(wrong.map((call) => call.id))}`;
    const started = response.calls.filter((call) => call.started === 1);
    const listed = expect.tool_calls?.filter((call) => call.arguments !== null || "arguments_raw" in call);
    if (listed !== undefined && started.length !== listed.length)
      return `${listed.length} calls must have run; ${started.length} did: ${shown(response.calls.map(({ name, args, started: times, result }) => ({ name, args, times, result })))}`;
    if (started.length === 0) return `no call ran: ${shown(response.calls.map((call) => call.result))}`;
    const failed = started.filter((call) => call.result === undefined);
    if (failed.length > 0) return `calls have no result: ${shown(failed)}`;
    return answeredNext(response, next);
  }),

  feed_error_to_model: followingTalk((next, response, subject) => {
    if (response.calls.length === 0) return "there is no call to answer";
    const ran = response.calls.filter(
      (call) => call.started > 0 && call.result?.code !== "timeout" && !failsByItself(subject, call.name),
    );
    // A case may say that of several calls some are well.
    const mayRun = Number(subject.expect.tools_executed ?? 0);
    if (ran.length > (mayRun < response.calls.length ? mayRun : 0)) return `calls ran: ${shown(ran)}`;
    const fine = response.calls.filter(
      (call) => !ran.includes(call) && (call.result?.isError !== true || call.result.text.trim() === ""),
    );
    if (fine.length > 0) return `calls are not answered with an error: ${shown(fine)}`;
    return answeredNext(response, next);
  }),

  raise_limit: following((next, response, subject) => {
    const from = outputLimit(response);
    const to = outputLimit(next);
    return from !== undefined && to !== undefined && to > from
      ? nothingKept(subject)
      : `the output limit went from ${from} to ${to}`;
  }),

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

  refresh_then_retry: following((next, response, { seen }) => {
    if (credentialsOf(next) === credentialsOf(response)) return "the same credentials were sent again";
    if (next.request.text !== response.request.text) return "the next request is another one";
    const refused = seen.responses.filter(
      (one) => one.run === response.run && one.request.text === response.request.text,
    );
    return refused.length > 2 ? `the request was sent ${refused.length} times` : undefined;
  }),

  repair_then_retry: following((next, response, { seen }) => {
    if (next.request.text === response.request.text) return "the same request was sent again unchanged";
    const again = seen.responses.filter((one) => one.request.text === response.request.text).length;
    return again > 1 ? `the refused request was sent ${again} times` : undefined;
  }),

  compact_then_retry: reduced,
  // After a last answer, the next run's request shows it.
  compact: (subject) =>
    subject.run?.end?.reason === "completed" || subject.run?.end?.reason === "truncated"
      ? subject.seen.runs.some((run) => run.compactions + run.cuts > 0)
        ? undefined
        : `the context was not reduced; ${endOf(subject.run)}`
      : reduced(subject),
  drop_images: following((next, response) => {
    const images = (one: SeenResponse): number =>
      [...one.request.text.matchAll(/"(?:image|image_url|input_image|inlineData|images)"/g)].length;
    return images(next) < images(response)
      ? undefined
      : `there are as many images as before: ${images(next)}`;
  }),
  reduce_max_tokens_then_retry: following((next, response) => {
    const from = outputLimit(response);
    const to = outputLimit(next);
    return to !== undefined && (from === undefined || to < from)
      ? undefined
      : `the output limit went from ${from} to ${to}`;
  }),
  deterministic_trim(subject) {
    const { run, seen } = subject;
    if ((run?.compactions ?? 0) === 0) return `the context was not reduced; ${endOf(run)}`;
    return run?.end?.reason === "completed" && !seen.responses.at(-1)?.compaction ? undefined : endOf(run);
  },

  resend_same: following((next, response) => {
    const before = messagesOf(response.request.body);
    const after = messagesOf(next.request.body);
    if (!extendsList(after, before)) return "the conversation before the pause was changed";
    const added = after.slice(before.length);
    return added.length === 1 && (added[0]?.role === "assistant" || added[0]?.role === "model")
      ? undefined
      : `only the paused answer may be added; got ${shown(added)}`;
  }),

  text_protocol_fallback: following((next, _response, { one }) => {
    const body = next.request.body as { tools?: unknown };
    const names = (one.given?.tools ?? []).map((tool) => tool.name ?? tool.builtin ?? "");
    if (body.tools !== undefined) return "the tools are still declared natively";
    return names.every((name) => next.request.text.includes(name))
      ? undefined
      : "the tools are not described in text";
  }),

  continue_with_steer: following((next, _response, { one, seen }) => {
    const steers = (one.actions ?? []).filter((action) => usualDeed(action.do) === "steer");
    for (const { text = "continue" } of steers) {
      const times = next.request.text.split(JSON.stringify(text).slice(1, -1)).length - 1;
      if (times !== 1) return `the steering message stands ${times} times in the next request`;
      const kept = seen.history.filter(
        (message) => message.role === "user" && textOf(message) === text,
      ).length;
      if (kept !== 1) return `the steering message stands ${kept} times in the history`;
    }
    return steers.length === 0 ? "the case steers nothing" : undefined;
  }),

  stop_loop_detected({ run }) {
    const { end } = run ?? {};
    const detected =
      end !== undefined && (stopLoops.includes(end.reason) || end.error?.kind === "loop_detected");
    if (!detected) return endOf(run);
    return Object.keys(end.evidence).length > 0 && end.rule !== "" ? undefined : "it names no evidence";
  },

  // The limit on continuing a paused answer is a budget too.
  stop_budget: ({ run }) =>
    run?.end !== undefined && (stopBudgets.includes(run.end.reason) || run.end.rule === "pauses")
      ? undefined
      : endOf(run),

  aborted({ run }) {
    if (run?.end?.reason !== "aborted") return endOf(run);
    if (run.startedAfterAbort.length > 0)
      return `after the abort there started: ${run.startedAfterAbort.join(", ")}`;
    return isPaired(run.history) ? undefined : "the history has calls without results";
  },

  fail(subject) {
    const { run, expect, response } = subject;
    const { end } = run ?? {};
    const kind = expect.error_kind;
    const ended = subject.whole ? endKind(run) : end?.error?.kind;
    if (ended === undefined || (end?.error === undefined && kind !== ended)) return endOf(run);
    const fair =
      response === undefined ? [] : readingsOf(subject.seen, response).map((reading) => reading.error);
    if (typeof kind === "string" && ended !== kind && (subject.whole || !fair.includes(kind)))
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
  run_tools_or_reject(subject) {
    if (subject.seen.rows !== undefined) return rows(subject.seen, () => true);
    const ran = outcomes.run_tools_then_continue?.(subject);
    const rejected = ran === undefined ? undefined : outcomes.feed_error_to_model?.(subject);
    return rejected === undefined ? undefined : `${ran} | ${rejected}`;
  },
  deny_all(subject) {
    if (subject.seen.rows !== undefined) return rows(subject.seen, (row) => !row.allowed);
    return outcomes.feed_error_to_model?.(subject);
  },

  second_opener_read_only({ seen: { opener } }) {
    if (opener === undefined) return "nobody else opened the session";
    const kept = !opener.wrote && opener.words !== "" && opener.untouched;
    return kept && opener.held > 0 && opener.read === opener.held
      ? undefined
      : `the second was not kept to reading: ${shown(opener)}`;
  },
  error: ({ run }) => (run?.end?.error !== undefined || run?.rejected !== undefined ? undefined : endOf(run)),
  load_ok({ run, seen: { history, said } }) {
    if (run?.end?.reason !== "completed") return endOf(run);
    const texts = history.map((message) => textOf(message));
    const lost = said.filter((text) => !texts.includes(text));
    if (lost.length > 0) return `of what was stored is lost: ${shown(lost)}`;
    return isPaired(history) ? undefined : "the history has calls without results";
  },
  linear: ({ seen }) => (seen.rows === undefined ? "nothing was measured" : rows(seen, () => true)),
};

/** A tool that fails by its nature: a case's tool that fails or never settles, or a built-in one that refuses. */
function failsByItself({ one }: Subject, name: string): boolean {
  const tool = one.given?.tools?.find((given) => (given.builtin ?? given.name) === name);
  const { throws, throws_sync, rejects, rejects_after_ms, never_settles, is_error } = tool?.behaviour ?? {};
  return (
    tool?.builtin !== undefined ||
    is_error === true ||
    (throws ?? throws_sync) !== undefined ||
    rejects !== undefined ||
    rejects_after_ms !== undefined ||
    never_settles === true
  );
}

/** Each row had the result that its table gives, with a message if it was refused. */
function rows(seen: Observation, also: (row: { allowed: boolean }) => boolean): string | undefined {
  if (seen.rows === undefined || seen.rows.length === 0) return "there are no rows";
  const wrong = seen.rows.filter((row) => row.allow !== row.allowed || row.words === "" || !also(row));
  return wrong.length === 0
    ? undefined
    : wrong.map((row) => `${row.request}: ${row.allowed ? "allowed" : "refused"}, ${row.words}`).join("; ");
}
