// The room of readings: how a response ended, in the words of the cases.
//
// The records are exact; the cases' words are coarser, and where it is a matter of policy, several words are correct
// for one response: an empty answer is both an `end_turn` of the model and an `empty_response` error of the loop.
// All correct readings are listed, each a pair that must hold together.

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

/** The response after this one in the same run; sub-agents' responses in between belong to no run of the session. */
export function nextInRun(seen: Observation, response: SeenResponse): SeenResponse | undefined {
  const next = seen.responses.slice(seen.responses.indexOf(response) + 1).find((one) => one.run > 0);
  return next?.run === response.run ? next : undefined;
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

/** Every correct reading of how a response ended. */
export function readingsOf(seen: Observation, response: SeenResponse): Reading[] {
  const run = runOf(seen, response);
  const abortedHere = run?.end?.reason === "aborted" && isLastOfRun(seen, response);
  const readings = plainReadings(seen, response, run);
  return abortedHere ? [...readings, { stop: "aborted", error: null }] : readings;
}

function plainReadings(seen: Observation, response: SeenResponse, run: SeenRun | undefined): Reading[] {
  // The transport sent again within one model call: after refused credentials, or knowing the server better.
  if (!response.lastOfCall) {
    const { status } = response;
    const next = nextInRun(seen, response);
    const renewed = next !== undefined && credentialsOf(next) !== credentialsOf(response);
    const isAuth = status === 401 || (status === 200 && renewed);
    const refused: Reading = { stop: "error", error: isAuth ? "auth" : "invalid_request" };
    return status === 403 ? [refused, { stop: "error", error: "auth" }] : [refused];
  }
  const { failure, message, judged } = response;
  if (failure?.kind === "aborted") return [{ stop: "aborted", error: null }];
  // The cases have one word for a stream that falls silent, whether or not anything came before.
  if (failure?.kind === "timeout")
    return [
      ...failedReadings(failure, response.status),
      { stop: "error", error: "stream_idle" },
      // A timeout of the platform's HTTP client counts as a network error.
      ...(failure.message.includes("UND_ERR_") ? [{ stop: "error", error: "network" }] : []),
    ];
  if (failure !== undefined) {
    const asksLess = judged?.follows.do === "ask_again" && judged.follows.maxOutputTokens !== undefined;
    // Too large only because of the requested output: that is the request's fault.
    const unfit: Reading[] = asksLess ? [{ stop: "error", error: "invalid_request" }] : [];
    const isSilent = response.partial === undefined;
    return [...failedReadings(failure, response.status, isSilent), ...unfit];
  }
  if (message === undefined) return [];
  const stop = stopWords[message.stop.kind] ?? message.stop.kind;
  const judgedError = judged?.evidence.error;
  // A tool call leaked into the text, which the provider considers a normal answer.
  const leaked: Reading[] = isLeaked(message) ? [{ stop: "end_turn", error: null }] : [];
  if (judgedError === "malformed_tool_call") return [{ stop: "error", error: judgedError }, ...leaked];
  if (judgedError === "empty_response")
    return [
      { stop: "error", error: judgedError },
      { stop, error: null },
    ];
  const readings: Reading[] = [{ stop, error: null }];
  // Rondo itself stopped the answer: the model's own stop reason is unknown.
  if (message.stop.detail === "broken off: it repeated itself")
    readings.push({ stop: "end_turn", error: null }, { stop: "aborted", error: null });
  // A full window cuts an answer off like any other limit.
  if (stop === "context_overflow")
    readings.push(
      { stop: "max_tokens", error: null },
      { stop: "context_overflow", error: "context_overflow" },
    );
  const unreadable = response.calls.some((call) => !call.ok);
  if (unreadable && (stop === "max_tokens" || stop === "context_overflow"))
    readings.push({ stop, error: "malformed_tool_call" });
  if (isRefusedCall(response) || isNameless(response))
    readings.push({ stop, error: "malformed_tool_call" }, { stop: "error", error: "malformed_tool_call" });
  if (run?.end?.error?.kind === "structured_output" && isLastOfRun(seen, response))
    readings.push({ stop, error: "structured_output" });
  for (const code of ["context_truncated", "context_overflow"])
    if (run?.warnings.some((one) => one.code === code)) readings.push({ stop, error: code });
  // An answer to a request beyond the window is treated as an overflow.
  if (run?.warnings.some((one) => one.code === "context_overflow"))
    readings.push({ stop: "context_overflow", error: "context_overflow" });
  if (run?.end?.error !== undefined && judged?.follows.do === "stop" && judged.follows.error !== undefined)
    readings.push({ stop: "error", error: judged.follows.error.kind });
  return readings;
}

/** Whether an answer is malformed in a way that only its content shows. */
export const isLeaked = ({ stop }: AssistantMessage): boolean =>
  stop.kind === "malformed_call" && stop.wire !== "malformed_call";

/** A failure by its kind, or by coarser words that are just as correct. */
function failedReadings(failure: ErrorData, status: number, isSilent: boolean = false): Reading[] {
  const readings: Reading[] = [{ stop: "error", error: failure.kind }];
  // The provider's own word for a full window, where nothing came before it.
  if (status === 200 && failure.kind === "context_overflow")
    readings.push({ stop: "context_overflow", error: failure.kind });
  // Refused because of the prompt: an error for the provider, but also a filter.
  if (failure.kind === "content_filter")
    readings.push({ stop: "content_filter", error: failure.kind }, { stop: "content_filter", error: null });
  // A timeout of the server's, not of ours, is also a server error.
  if (failure.kind === "timeout" && (failure.raw !== undefined || failure.status !== undefined))
    readings.push({ stop: "error", error: "server_error" });
  // It may succeed later, so it is not only the request's fault.
  if ((status === 409 || status === 425) && failure.kind === "invalid_request")
    readings.push({ stop: "error", error: "server_error" });
  // Missing permission also counts as a matter of credentials.
  if (failure.kind === "permission") readings.push({ stop: "error", error: "auth" });
  // A timeout of fetch also counts as a lost connection.
  if (failure.kind === "timeout" && /\(UND_ERR_/.test(failure.message))
    readings.push({ stop: "error", error: "network" });
  // A connection that breaks in the middle is both a network error and a truncated answer.
  if (failure.kind === "stream_truncated" && / broke off /.test(failure.message))
    readings.push({ stop: "error", error: "network" });
  // A stream that ended before anything was said is a truncated answer and an empty one.
  if (failure.kind === "stream_truncated" && isSilent)
    readings.push({ stop: "error", error: "empty_response" });
  // Bytes that are not frames violate the protocol as well as the stream format.
  if (failure.kind === "stream_error" && /event stream is broken/.test(failure.message))
    readings.push({ stop: "error", error: "protocol" });
  // An error in the middle of an answer that began well.
  if (status === 200 && (failure.kind === "server_error" || failure.kind === "invalid_request"))
    readings.push({ stop: "error", error: "stream_error" });
  // The same without a code: the server says that it failed.
  if (status === 200 && failure.kind === "stream_error" && / answered with an error: /.test(failure.message))
    readings.push({ stop: "error", error: "server_error" });
  // A busy server is overloaded; one that only says it is unavailable may be called either.
  if (failure.kind === "overloaded" && !/overload|capacity/i.test(failure.message))
    readings.push({ stop: "error", error: "server_error" });
  if (failure.kind === "server_error" && /unavailable/i.test(failure.message))
    readings.push({ stop: "error", error: "overloaded" });
  return readings;
}

/** The provider itself refused the model's call: an error of the response, but also a call of an answer. */
const isRefusedCall = ({ message }: SeenResponse): boolean => message?.stop.raw === "tool_use_failed";

/** A call without a name is malformed (F066), and a call of an answer. */
const isNameless = ({ calls }: SeenResponse): boolean => calls.some((call) => call.name.trim() === "");

/** Every correct reading of a response's text: its own, with the paused answers it continues, or the text of a refusal. */
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

/** Every correct list of a response's calls. Of a truncated answer: the complete ones, none, or all as they came. */
export function callsListed(response: SeenResponse): SeenCall[][] {
  const { message, judged, calls } = response;
  if (message === undefined) return [[]];
  if (judged?.evidence.error === "malformed_tool_call" || message.stop.kind === "malformed_call") return [[]];
  // Rondo turned the refused call into a call again, with the arguments as written.
  if (isRefusedCall(response)) return [calls, calls.map((call) => asSaid(call, message)), []];
  // The content of a refused answer may be counted or not.
  if (message.stop.kind === "content_filter" || message.stop.kind === "refusal") return [calls, []];
  if (message.stop.kind !== "max_tokens" && message.stop.kind !== "context_overflow") return [calls];
  const whole = calls.filter((call) => call.ok);
  return calls.some((call) => call.started > 0) ? [whole] : [whole, [], calls];
}

/** A call with the arguments in its text, whatever their schema says. */
function asSaid(call: SeenCall, message: AssistantMessage): SeenCall {
  const said = callsOf(message).find((part) => part.id === call.id)?.rawArgs;
  try {
    return { ...call, args: JSON.parse(said ?? "null") as JsonObject | null };
  } catch {
    return call;
  }
}

/** The provider's own stop word. For an answer that failed because of it, it is in the raw error. */
export function rawStop(response: SeenResponse): string | undefined {
  const { message, partial, failure } = response;
  const said = typeof failure?.raw === "string" ? failure.raw : JSON.stringify(failure?.raw ?? null);
  return message?.stop.raw ?? partial?.stop.raw ?? /"finish_?reason":"([^"]*)"/i.exec(said)?.[1];
}

/** Every message about what went wrong. */
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

/** Messages in a history that come from neither the case nor the model nor a tool. */
export function strangers(seen: Observation, given: readonly string[]): string[] {
  const known = new Set([...seen.said, ...given]);
  return seen.history
    .filter((message) => message.role === "user")
    .map(textOf)
    .filter((one) => !known.has(one));
}

/** Number of blank answers in the history. */
export function blanks(seen: Observation): number {
  return seen.history.filter(
    (message) =>
      message.role === "assistant" &&
      callsOf(message).length === 0 &&
      textOf(message).trim() === "" &&
      !message.content.some((part) => part.type !== "text" && part.type !== "reasoning"),
  ).length;
}
