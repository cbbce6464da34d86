// The room of the codec's interface: a wire protocol as pure functions.
//
// A codec never touches the network: it turns a request into a path, headers and a body, and frames into an answer.
// Recorded transcripts therefore test it byte for byte, and it serves over fetch, over an official SDK's client, and
// from a cassette alike. Whatever opens sockets, keeps time or reads keys is the transport's.

import type {
  AssistantMessage,
  Json,
  ModelEvent,
  ModelFacts,
  ModelRequest,
  Origin,
  RondoError,
  Usage,
} from "@rondo/core";
import type { FrameTemplate } from "./frame-json.ts";
import type { BodyParts } from "./kept-text.ts";

/** What a codec is told: which model, what is known of it, and how this server differs from the protocol's original. */
export interface Target {
  origin: Origin;
  facts: ModelFacts;
  /** Ask for a stream, or for the whole answer at once. Default: true. */
  stream?: boolean;
  /** The output limit of the request, in tokens. It tells an answer that was cut off from one that is broken. */
  outputLimit?: number;
  /** Quirks of a compatible server, codec by codec. */
  compat?: { readonly [quirk: string]: Json };
  /**
   * Whether somebody other than the model wrote a mark in the request's conversation. Set where the server may leave such
   * marks at the ends of texts (quirk `endTokens`): those that nobody wrote of are no words of the answer.
   */
  isSpokenOf?: (mark: string) => boolean;
}

/** A request as it goes out. `path` is joined to the base URL by the transport; keys are added there too. */
export interface WireRequest {
  path: string;
  headers: Record<string, string>;
  body: string;
  /** The same body in pieces, for a client that can write them one after another. */
  parts?: BodyParts;
  /** What the request asked for and this provider lacks. Each becomes a `warning` event. */
  warnings: { code: string; message: string }[];
}

/** One frame of a streamed answer: an SSE event, or an AWS event-stream message (`event` is its event or exception type). */
export interface Frame {
  event: string | undefined;
  /** JSON text, or a protocol's sentinel such as `[DONE]`. */
  data: string;
  /** AWS: the frame is an exception. */
  exception?: boolean;
}

export interface Encoder {
  /** Encodes a request. Messages seen before are not encoded again: the pieces are cached by the messages' identity. */
  encode(request: ModelRequest): WireRequest;
}

export interface Decoder {
  /**
   * Takes one frame, and emits what arrived with it.
   * @throws RondoError when the frame is an error of the provider or cannot be understood
   */
  push(frame: Frame): void;
  /** A faster way than `push` to take a frame that is like the last one. Absent: push every frame. */
  readonly frameTemplate?: FrameTemplate | undefined;
  /** True once nothing more can come: reading stops then, even if the server keeps the connection open. */
  readonly finished: boolean;
  /** True once the finish signal was seen, though something may follow it, most likely usage. Absent: `finished` tells. */
  readonly complete?: boolean;
  /**
   * The whole answer.
   * @throws RondoError `stream_truncated` (with `partial`) when no finish signal was seen
   */
  end(): AssistantMessage;
  /** What has arrived: text and reasoning so far, no call that may be unfinished. Undefined if there is nothing. */
  partial(): AssistantMessage | undefined;
  /** The usage counted so far, even if `partial` is undefined. Absent: only `partial` tells. */
  readonly usage?: Usage | undefined;
}

export interface ErrorResponse {
  status: number;
  header(name: string): string | null;
  body: string;
}

export interface Codec {
  /** As in `Origin.api`. */
  readonly api: string;
  /** How a stream is cut into frames. `ndjson`: one JSON value per line. */
  readonly framing: "sse" | "aws_event_stream" | "ndjson";
  encoder(target: Target): Encoder;
  decoder(target: Target, emit: (event: ModelEvent) => void): Decoder;
  /**
   * A whole answer that came as one JSON body.
   * @throws RondoError if the body is an error, or not an answer
   */
  decodeWhole(body: Json, target: Target, emit: (event: ModelEvent) => void): AssistantMessage;
  /** The typed error of a failed HTTP response. Status and code are considered before any text. */
  errorOf(response: ErrorResponse): RondoError;
  /**
   * The answer that an error response holds, if there is one: a server that checks calls itself reports a bad call as an
   * error, and the loop must show the model its mistake. Called before `errorOf`.
   */
  answerOf?(response: ErrorResponse, target: Target): AssistantMessage | undefined;
  /** The quirks of a server that a refusal shows, if one of them was not known. Pure: the model keeps them. */
  learned?(response: ErrorResponse, target: Target): Target["compat"];
  /**
   * The quirks that an answer makes likely, and a warning if something is no longer sent with them. The request is then sent once more with
   * them; they are kept if the new answer makes no quirk likely. Pure, like `learned`.
   */
  suspected?(
    answer: AssistantMessage,
    target: Target,
  ): { compat: NonNullable<Target["compat"]>; warning?: { code: string; message: string } } | undefined;
}
