// The room of failed answers: the errors for a truncated stream, a server that broke off, and a full window.

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

/** Treated like a prompt that is refused for its length: the conversation must become smaller. */
export const leftNoRoom = (origin: Origin, { raw }: AnswerEnd): RondoError =>
  new RondoError("context_overflow", `the conversation leaves ${who(origin)} no room for an answer`, {
    ...(raw === undefined ? {} : { raw: { finish_reason: raw } }),
  });
