// The room of a body in an answer's place that is none.

import { cutRaw, type Json, RondoError } from "@rondo/core";

/**
 * The error for such a body. An empty object or list is not another protocol's answer, but none at all, as from a gateway
 * that lost it: the next request may get one (F026).
 * @param words what was expected of it
 */
export function noAnswer(body: Json, words: string): RondoError {
  const isEmpty = typeof body === "object" && body !== null && Object.keys(body).length === 0;
  return new RondoError(isEmpty ? "empty_response" : "protocol", words, { raw: cutRaw(body) });
}
