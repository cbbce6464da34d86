// The room of readings: what one response came to, in the words of the cases.
//
// The records are the truth; the cases' words are coarser, and where a policy choice exists one response can fairly be put
// in more than one way: an empty answer is both an `end_turn` of the model and an `empty_response` error of the loop.
// All fair readings are listed here, each a pair that must hold together.

import { type AssistantMessage, callsOf, type ErrorData, type JsonObject, textOf } from "@rondo/core";
import type { Observation, SeenCall, SeenResponse, SeenRun } from "./observation.ts";

export interface Reading {
  stop: string;
  error: string | null;
}

const stopWords: { readonly [kind: string]: string } = {
  malformed_call: "error",
  unknown: "end_turn",
};

export function runOf(seen: Observation, response: SeenResponse): SeenRun | undefined {
  return seen.runs[response.run - 1];
}

export function isLastOfRun(seen: Observation, response: SeenResponse): boolean {
  const own = seen.responses.filter((one) => one.run === response.run);
  return own.at(-1) === response;
}

/** The response after this one in the same run; those of sub-agents between them stand in no run of the session. */
export function nextInRun(seen: Observation, response: SeenResponse): SeenResponse | undefined {
  const next = seen.responses.slice(seen.responses.indexOf(response) + 1).find((one) => one.run > 0);
  return next?.run === response.run ? next : undefined;
}

/** Every fair way to put how a response ended. */
export function readingsOf(seen: Observation, response: SeenResponse): Reading[] {
  const run = runOf(seen, response);
  const abortedHere = run?.end?.reason === "aborted" && isLastOfRun(seen, response);
  const readings = plainReadings(seen, response, run);
  return abortedHere ? [...readings, { stop: "aborted", error: null }] : readings;
}

function plainReadings(seen: Observation, response: SeenResponse, run: SeenRun | undefined): Reading[] {
  // The transport asked again within one model call: for a refused credential, or to a server it knows better by then.
  if (!response.lastOfCall) {
    const { status } = response;
    const refused: Reading = { stop: "error", error: status === 401 ? "auth" : "invalid_request" };
    return status === 403 ? [refused, { stop: "error", error: "auth" }] : [refused];
  }
  const { failure, message, judged } = response;
  if (failure?.kind === "aborted") return [{ stop: "aborted", error: null }];
  // The cases have one word for a stream that says nothing, whether it ever said anything or not.
  if (failure?.kind === "timeout")
    return [
      ...failedReadings(failure, response.status),
      { stop: "error", error: "stream_idle" },
      // A clock of the platform's own, which is the network's doing.
      ...(failure.message.includes("UND_ERR_") ? [{ stop: "error", error: "network" }] : []),
    ];
  if (failure !== undefined) {
    const asksLess = judged?.follows.do === "ask_again" && judged.follows.maxOutputTokens !== undefined;
    // Only with the output that was asked for is it too much: that is the request's fault.
    const unfit: Reading[] = asksLess ? [{ stop: "error", error: "invalid_request" }] : [];
    return [...failedReadings(failure, response.status), ...unfit];
  }
  if (message === undefined) return [];
  const stop = stopWords[message.stop.kind] ?? message.stop.kind;
  const judgedError = judged?.evidence.error;
  // A call in the text of an answer that its provider took for a good one.
  const leaked: Reading[] = isLeaked(message) ? [{ stop: "end_turn", error: null }] : [];
  if (judgedError === "malformed_tool_call") return [{ stop: "error", error: judgedError }, ...leaked];
  if (judgedError === "empty_response")
    return [
      { stop: "error", error: judgedError },
      { stop, error: null },
    ];
  const readings: Reading[] = [{ stop, error: null }];
  // Rondo itself broke it off: what the model would have stopped at nobody knows.
  if (message.stop.detail === "broken off: it repeated itself")
    readings.push({ stop: "end_turn", error: null }, { stop: "aborted", error: null });
  // A full window cuts an answer off like any other limit.
  if (stop === "context_overflow") readings.push({ stop: "max_tokens", error: null });
  const unreadable = response.calls.some((call) => !call.ok);
  if (unreadable && (stop === "max_tokens" || stop === "context_overflow"))
    readings.push({ stop, error: "malformed_tool_call" });
  if (isRefusedCall(response))
    readings.push({ stop, error: "malformed_tool_call" }, { stop: "error", error: "malformed_tool_call" });
  if (run?.end?.error?.kind === "structured_output" && isLastOfRun(seen, response))
    readings.push({ stop, error: "structured_output" });
  for (const code of ["context_truncated", "context_overflow"])
    if (run?.warnings.some((one) => one.code === code)) readings.push({ stop, error: code });
  // An answer to more than the window holds is treated as an overflow.
  if (run?.warnings.some((one) => one.code === "context_overflow"))
    readings.push({ stop: "context_overflow", error: "context_overflow" });
  if (run?.end?.error !== undefined && judged?.follows.do === "stop" && judged.follows.error !== undefined)
    readings.push({ stop: "error", error: judged.follows.error.kind });
  return readings;
}

/** Whether only its content shows an answer to be malformed. */
export const isLeaked = ({ stop }: AssistantMessage): boolean =>
  stop.kind === "malformed_call" && stop.wire !== "malformed_call";

/** A failure by its kind; and by the coarser words that are as fair. */
function failedReadings(failure: ErrorData, status: number): Reading[] {
  const readings: Reading[] = [{ stop: "error", error: failure.kind }];
  // Refused for what the prompt says: the provider calls it an error, and a filter it is all the same.
  if (failure.kind === "content_filter")
    readings.push({ stop: "content_filter", error: failure.kind }, { stop: "content_filter", error: null });
  // The server's own clock, and not ours: what it had no time for it failed at.
  if (failure.kind === "timeout" && (failure.raw !== undefined || failure.status !== undefined))
    readings.push({ stop: "error", error: "server_error" });
  // It may do later, so it is not the request's fault alone.
  if ((status === 409 || status === 425) && failure.kind === "invalid_request")
    readings.push({ stop: "error", error: "server_error" });
  // Credentials that may not do this are a matter of credentials.
  if (failure.kind === "permission") readings.push({ stop: "error", error: "auth" });
  // The limit of a fetch is one of its ways to lose a connection.
  if (failure.kind === "timeout" && /\(UND_ERR_/.test(failure.message))
    readings.push({ stop: "error", error: "network" });
  // A connection that breaks in the middle is both the network's failure and an answer cut off.
  if (failure.kind === "stream_truncated" && / broke off /.test(failure.message))
    readings.push({ stop: "error", error: "network" });
  // Bytes that are no frames break the protocol as well as the stream.
  if (failure.kind === "stream_error" && /event stream is broken/.test(failure.message))
    readings.push({ stop: "error", error: "protocol" });
  // An error that an answer begun well ended in.
  if (status === 200 && (failure.kind === "server_error" || failure.kind === "invalid_request"))
    readings.push({ stop: "error", error: "stream_error" });
  // A server without time is overloaded; one that says no more than that it is away may be put as either.
  if (failure.kind === "overloaded" && !/overload|capacity/i.test(failure.message))
    readings.push({ stop: "error", error: "server_error" });
  if (failure.kind === "server_error" && /unavailable/i.test(failure.message))
    readings.push({ stop: "error", error: "overloaded" });
  return readings;
}

/** The provider itself refused the model's call: an error of the response, and the call of an answer all the same. */
const isRefusedCall = ({ message }: SeenResponse): boolean => message?.stop.raw === "tool_use_failed";

/** Every fair way to put a response's text: its own, with the paused answers it continues, or the words of a refusal. */
export function textsOf(seen: Observation, response: SeenResponse): string[] {
  const { message, partial } = response;
  if (message === undefined) return [partial === undefined ? "" : textOf(partial)];
  const own = textOf(message);
  let whole = own;
  for (let at = seen.responses.indexOf(response) - 1; at >= 0; at -= 1) {
    const earlier = seen.responses[at]?.message;
    if (earlier?.stop.kind !== "pause") break;
    whole = textOf(earlier) + whole;
  }
  const refusal = message.content.map((part) => (part.type === "refusal" ? part.text : "")).join("");
  return [...new Set([own, whole, ...(refusal === "" ? [] : [refusal])])];
}

/** Every fair list of a response's calls. Of a cut-off answer those count that arrived whole, or none, or all as they came. */
export function callsListed(response: SeenResponse): SeenCall[][] {
  const { message, judged, calls } = response;
  if (message === undefined) return [[]];
  if (judged?.evidence.error === "malformed_tool_call" || message.stop.kind === "malformed_call") return [[]];
  // What a provider refused was made a call again by Rondo, with the arguments as they were said.
  if (isRefusedCall(response)) return [calls, calls.map((call) => asSaid(call, message)), []];
  // What stands in a refused answer is as good as not said.
  if (message.stop.kind === "content_filter" || message.stop.kind === "refusal") return [calls, []];
  if (message.stop.kind !== "max_tokens" && message.stop.kind !== "context_overflow") return [calls];
  const whole = calls.filter((call) => call.ok);
  return calls.some((call) => call.started > 0) ? [whole] : [whole, [], calls];
}

/** A call with the arguments its text holds, whatever their schema says. */
function asSaid(call: SeenCall, message: AssistantMessage): SeenCall {
  const said = callsOf(message).find((part) => part.id === call.id)?.rawArgs;
  try {
    return { ...call, args: JSON.parse(said ?? "null") as JsonObject | null };
  } catch {
    return call;
  }
}

/** The provider's own word for the stop. An answer that failed by its stop word keeps it in what the provider said. */
export function rawStop(response: SeenResponse): string | undefined {
  const { message, partial, failure } = response;
  const said = typeof failure?.raw === "string" ? failure.raw : JSON.stringify(failure?.raw ?? null);
  return message?.stop.raw ?? partial?.stop.raw ?? /"finish_?reason":"([^"]*)"/i.exec(said)?.[1];
}

/** Everything said about what went wrong. */
export function errorWords(seen: Observation, response: SeenResponse): string {
  const run = runOf(seen, response);
  return [
    response.failure?.message,
    response.message?.stop.detail,
    run?.end?.error?.message,
    run?.rejected,
    run?.end === undefined ? undefined : JSON.stringify(run.end.evidence),
    ...(run?.warnings.map((one) => one.message) ?? []),
  ]
    .filter((one) => one !== undefined)
    .join("\n");
}

/** Messages of a history that neither the case nor the model nor a tool put there. */
export function strangers(seen: Observation, given: readonly string[]): string[] {
  const known = new Set([...seen.said, ...given]);
  return seen.history
    .filter((message) => message.role === "user")
    .map(textOf)
    .filter((one) => !known.has(one));
}

/** Blank answers in the history. */
export function blanks(seen: Observation): number {
  return seen.history.filter(
    (message) =>
      message.role === "assistant" &&
      callsOf(message).length === 0 &&
      textOf(message).trim() === "" &&
      !message.content.some((part) => part.type !== "text" && part.type !== "reasoning"),
  ).length;
}
