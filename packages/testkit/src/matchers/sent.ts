// The room of what went out: the requests that something kept, or that records stand for.

import { type LogRecord, replay, resolve } from "@rondo/core";
import { scripted } from "../scripted.ts";

/** What keeps the requests it got: a scripted model, rondo-wire. */
export interface KeepsRequests {
  readonly requests: readonly unknown[];
}

/**
 * Requests in the order in which they went out: as models got them, or as they came over a wire.
 * @throws TypeError for what keeps none
 */
export function requestsOf(subject: unknown): readonly unknown[] {
  const { requests } = (subject ?? {}) as Partial<KeepsRequests>;
  if (Array.isArray(requests)) return requests;
  const list = subject as readonly Partial<LogRecord>[];
  if (Array.isArray(subject) && list.every((one) => typeof one?.seq === "number")) {
    const { rules } = resolve({ model: scripted([]) });
    return replay(subject as LogRecord[], rules).requests.map(({ request }) => ({
      ...request,
      messages: [...request.messages],
    }));
  }
  throw new TypeError(
    "what keeps requests is needed: a scripted model, rondo-wire, or a session's records; " +
      `this is ${Array.isArray(subject) ? "a list of something else" : typeof subject}`,
  );
}
