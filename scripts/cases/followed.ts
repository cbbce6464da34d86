// The room of what followed: what a run did after a response, as a basis for judging outcomes.

import { isDeepStrictEqual } from "node:util";
import { shown } from "./ask.ts";
import type { Case, Expect, RetryLimits } from "./format.ts";
import type { Observation, SeenResponse, SeenRun } from "./observation.ts";
import { extendsList, messagesOf, resultIds } from "./pairs.ts";
import { isLastOfRun, nextInRun } from "./readings.ts";

/** What an outcome is judged by: one response, or the whole run if `response` is the last one. */
export interface Subject {
  one: Case;
  seen: Observation;
  response: SeenResponse | undefined;
  run: SeenRun | undefined;
  expect: Expect;
  /** It concerns the whole run (`final_expect`). */
  whole: boolean;
}

/** What is wrong, or undefined. */
export type Outcome = (subject: Subject) => string | undefined;

export function endOf(run: SeenRun | undefined): string {
  if (run === undefined) return "there was no run";
  if (run.rejected !== undefined) return `the run was rejected: ${run.rejected}`;
  if (run.end === undefined) return run.parked ? "the run is parked" : "the run has not ended";
  const { reason, rule, error, evidence } = run.end;
  return `the run ended as ${reason} by ${rule}, ${shown(error ?? evidence)}, with text ${shown(run.text)}`;
}

/** The kind of the error a run ended with. An end by the empty-answer rule has a reason of its own and no error: it counts as one. */
export const endKind = (run: SeenRun | undefined): string | undefined =>
  run?.end?.error?.kind ?? (run?.end?.reason === "empty_response" ? "empty_response" : undefined);

export const limitsOf = ({ expect }: Subject): RetryLimits =>
  typeof expect.retry === "object" && expect.retry !== null ? expect.retry : {};

/** The next request of the run, or the complaint that there is none. */
export function follow(subject: Subject): SeenResponse | string {
  const { seen, response, run } = subject;
  if (response === undefined) return "there is no such response";
  return nextInRun(seen, response) ?? `no request followed in the run; ${endOf(run)}`;
}

/** A check of the next request; it also fails when there is none. */
export const following =
  (judge: (next: SeenResponse, response: SeenResponse, subject: Subject) => string | undefined): Outcome =>
  (subject) => {
    const next = follow(subject);
    return typeof next === "string" ? next : judge(next, subject.response as SeenResponse, subject);
  };

/** A check of the next request of the conversation: a summary is asked for in a request of its own, which carries no results. */
export const followingTalk = (
  judge: (next: SeenResponse, response: SeenResponse, subject: Subject) => string | undefined,
): Outcome =>
  following((first, response, subject) => {
    let next: SeenResponse | undefined = first;
    while (next?.compaction === true) next = nextInRun(subject.seen, next);
    return next === undefined
      ? `only a summary followed; ${endOf(subject.run)}`
      : judge(next, response, subject);
  });

/** Whether two requests are equal, except for one more note at the end. */
export function isSameAgain(now: SeenResponse, next: SeenResponse): boolean {
  if (now.request.text === next.request.text) return true;
  const before = messagesOf(now.request.body);
  const after = messagesOf(next.request.body);
  if (after.length > before.length) return after.length === before.length + 1 && extendsList(after, before);
  // Where adjacent messages of one role are merged, the note is a block of the last message.
  const [was, is] = [before.at(-1), after.at(-1)];
  return (
    after.length === before.length &&
    extendsList(after, before.slice(0, -1)) &&
    was?.role === is?.role &&
    extendsContent(is?.content ?? is?.parts, was?.content ?? was?.parts)
  );
}

/** Whether a message's content begins with all of another's, and has at most one block more. */
export function extendsContent(longer: unknown, shorter: unknown): boolean {
  if (typeof longer === "string") return typeof shorter === "string" && longer.startsWith(shorter);
  const blocks = typeof shorter === "string" ? [{ type: "text", text: shorter }] : shorter;
  if (!Array.isArray(longer) || !Array.isArray(blocks)) return false;
  return longer.length <= blocks.length + 1 && extendsList(longer, blocks);
}

export function nothingKept(subject: Subject): string | undefined {
  const { response, seen } = subject;
  if (response === undefined) return undefined;
  const ran = response.calls.filter((call) => call.started > 0);
  if (ran.length > 0) return `calls of the failed answer ran: ${shown(ran.map((call) => call.name))}`;
  const { message } = response;
  const stored = message !== undefined && seen.history.some((one) => isDeepStrictEqual(one, message));
  return stored ? "the failed answer stands in the history" : undefined;
}

export const retried: Outcome = following((next, response, subject) =>
  isSameAgain(response, next)
    ? nothingKept(subject)
    : `the next request is another one: ${shown(next.request.body)}`,
);

/** The run ended with this response, and nothing was retried. */
export function endedHere(subject: Subject): string | undefined {
  const { seen, response, whole, run } = subject;
  if (response === undefined || whole) return undefined;
  return isLastOfRun(seen, response)
    ? undefined
    : `${requestsAfter(seen, response)} more requests followed; ${endOf(run)}`;
}

export const requestsAfter = (seen: Observation, response: SeenResponse): number =>
  seen.responses.length - 1 - seen.responses.indexOf(response);

export function completedWith(subject: Subject): string | undefined {
  const { run, expect } = subject;
  if (run?.end?.reason !== "completed") return endOf(run);
  const late = endedHere(subject);
  if (late !== undefined) return late;
  return typeof expect.text === "string" && run.text !== expect.text
    ? `the run's text must be ${shown(expect.text)}; got ${shown(run.text)}`
    : undefined;
}

/** Number of texts in the last message of the request that the history does not keep. */
export function notesIn(seen: Observation, next: SeenResponse): number {
  const kept = JSON.stringify(seen.history);
  const last = messagesOf(next.request.body).at(-1);
  const texts = [...JSON.stringify(last ?? {}).matchAll(/"(?:text|content)":"((?:[^"\\]|\\.)*)"/g)].map(
    ([, text]) => text,
  );
  return texts.filter((text) => text !== undefined && text !== "" && !kept.includes(`"text":"${text}"`))
    .length;
}

const isSmaller = (run: SeenRun): boolean => run.compactions + run.cuts > 0;

export const reduced: Outcome = (subject) => {
  const { run, response } = subject;
  const next = follow(subject);
  // If the run is to fail in the end, there may be nothing left to shrink: then the same request must not be sent again.
  if (subject.one.final_expect?.loop_outcome === "fail" && run !== undefined && !isSmaller(run))
    return run.end?.error === undefined ? endOf(run) : undefined;
  if (run === undefined || !isSmaller(run)) return `the context was not reduced; ${endOf(run)}`;
  if (typeof next === "string") return next;
  return response !== undefined && next.request.text === response.request.text
    ? "the same request was sent again unchanged"
    : undefined;
};

export function outputLimit(response: SeenResponse): number | undefined {
  const read =
    /"(?:max_tokens|max_completion_tokens|max_output_tokens|maxOutputTokens|maxTokens)":(\d+)/.exec(
      response.request.text,
    );
  return read === null ? undefined : Number(read[1]);
}

/** Every call of the response has exactly one result in the next request. */
export function answeredNext(response: SeenResponse, next: SeenResponse): string | undefined {
  const ids = resultIds(next.request.body);
  // Ids may be rewritten for the wire, but their number stays.
  return ids.length < response.calls.length
    ? `the next request carries ${ids.length} results for ${response.calls.length} calls`
    : undefined;
}

/** Texts of the user messages in a case. */
export function givenTexts(one: Case): string[] {
  return (one.given?.history ?? []).flatMap((message) => {
    const parts = (message.parts ?? []) as { text?: unknown }[];
    return [String(message.text ?? ""), parts.map((part) => String(part.text ?? "")).join("")];
  });
}
