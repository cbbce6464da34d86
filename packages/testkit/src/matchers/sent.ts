// The room of what went out: the requests that something kept, or that records stand for.

import { replay, resolve } from "@rondo/core";
import { notKept } from "../not-kept.ts";
import { scripted } from "../scripted.ts";
import { kindOf, recordsIn } from "./story.ts";

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
  if (requests === notKept)
    throw new TypeError("what went out was not kept (keepRequests: false): there is nothing to look in");
  if (Array.isArray(requests)) return requests;
  const records = recordsIn(subject);
  if (records !== undefined) {
    const { rules } = resolve({ model: scripted([]) });
    return replay(records, rules).requests.map(({ request }) => ({
      ...request,
      messages: [...request.messages],
    }));
  }
  throw new TypeError(
    "what keeps requests is needed: a scripted model, rondo-wire, or a session's records; " +
      `this is ${kindOf(subject)}`,
  );
}
