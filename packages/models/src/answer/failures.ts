// The room of answers that failed: what is said of one that its stream, its server or its window cut short.

import { type Origin, RondoError } from "@rondo/core";
import type { AnswerEnd } from "./ends.ts";

const who = ({ provider, model }: Origin): string => `${provider}/${model}`;

export const streamTruncated = (origin: Origin, protocol: string): RondoError =>
  new RondoError(
    "stream_truncated",
    `the ${protocol} stream of ${who(origin)} ended without its finish signal`,
  );

export const brokenOff = (origin: Origin, word: string): RondoError =>
  new RondoError("server_error", `${who(origin)} broke its answer off with "${word}"`, {
    retryable: true,
    raw: { finish_reason: word },
  });

/** If the conversation leaves no room for any answer: like one that is refused for its length, it must become smaller. */
export const leftNoRoom = (origin: Origin, { raw }: AnswerEnd): RondoError =>
  new RondoError("context_overflow", `the conversation leaves ${who(origin)} no room for an answer`, {
    ...(raw === undefined ? {} : { raw: { finish_reason: raw } }),
  });
