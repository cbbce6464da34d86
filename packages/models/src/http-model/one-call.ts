// The room of one call of a model over HTTP: its request as it is sent, each time, and what came of that.

import type { AssistantMessage, ModelIo, ModelRequest, RondoError } from "@rondo/core";
import { isSpokenOf } from "../answer/said-before.ts";
import type { Codec, ErrorResponse, Target } from "../codec.ts";
import type { Credentials } from "../credentials.ts";
import type { Made } from "./known-server.ts";
import type { Lesson } from "./lessons.ts";

/** What came of one request: an answer, or a refusal. */
export type Attempt = { answer: AssistantMessage } | Refusal;

export interface Refusal {
  refused: RondoError;
  response: ErrorResponse;
}

/** A call, with the request as it is sent at first. */
export interface Call {
  codec: Codec;
  request: ModelRequest;
  made: Made;
  credentials: Credentials;
  io: ModelIo;
  /** Grows with every attempt. */
  sent: Sent[];
  /** A fresh token was fetched: once a call. */
  renewed: boolean;
  /** What its refusals have taught so far. */
  lessons: readonly Lesson[];
  /** The lesson that this request differs by from the one before it. Undefined: it is the first, or has another token. */
  lesson?: Lesson | undefined;
}

/** One request of a call. */
export interface Asked extends Pick<Call, "codec" | "request" | "io">, Made {}

/** What was sent that may hold secrets. It is searched only if there is an error to take them out of. */
export interface Sent {
  credentials: Credentials;
  headers: Readonly<Record<string, string>>;
}

/** The target, with what its request says of the answer. */
export function askedOf({ codec, request, io }: Pick<Call, "codec" | "request" | "io">, made: Made): Asked {
  const { maxOutputTokens: outputLimit } = request.settings;
  const target: Target = {
    ...made.target,
    ...(outputLimit === undefined ? {} : { outputLimit }),
    ...(made.target.compat?.endTokens === true
      ? { isSpokenOf: (mark: string) => isSpokenOf(mark, request) }
      : {}),
  };
  return { codec, request, io, wire: made.wire, target };
}
