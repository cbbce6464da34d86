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
import type { Likeness } from "./frame-json.ts";
import type { BodyParts } from "./kept-text.ts";

/** What a codec talks to: which model, what is known of it, and how this server differs from the protocol's own. */
export interface Target {
  origin: Origin;
  facts: ModelFacts;
  /** Ask for a stream, or for the whole answer at once. Default: true. */
  stream?: boolean;
  /** The most tokens the request allows the answer. Tells an answer that was cut from one that is broken. */
  outputLimit?: number;
  /** Quirks of a compatible server, codec by codec. */
  compat?: { readonly [quirk: string]: Json };
}

/** A request as it goes out. `path` is joined to the base URL by the transport; keys are added there too. */
export interface WireRequest {
  path: string;
  headers: Record<string, string>;
  body: string;
  /** The same, for a client that can write one piece after another. */
  parts?: BodyParts;
  /** What the request asked for and this provider lacks. Becomes `warning` events. */
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
  /** Messages seen before are not encoded again: pieces are cached by identity. */
  encode(request: ModelRequest): WireRequest;
}

export interface Decoder {
  /**
   * Takes one frame; says through `emit` what arrived with it.
   * @throws RondoError when the frame is an error of the provider or cannot be understood
   */
  push(frame: Frame): void;
  /** How a frame may be taken that is like the last one, in place of `push`. Absent: push every frame. */
  readonly likeness?: Likeness | undefined;
  /** True once nothing more can come: reading may stop, even if the server keeps the connection open. */
  readonly finished: boolean;
  /** True once the finish signal was seen, though something may stand behind it: usage, most likely. Absent: `finished` tells. */
  readonly complete?: boolean;
  /**
   * The whole answer.
   * @throws RondoError `stream_truncated` (with `partial`) when no finish signal was seen
   */
  end(): AssistantMessage;
  /** What has arrived: finished text and reasoning, no unfinished call. Undefined when there is nothing. */
  partial(): AssistantMessage | undefined;
  /** What was counted so far, also where nothing has arrived that `partial` holds. Absent: only `partial` tells. */
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
  /** How a stream is cut into frames. `ndjson`: one JSON value a line. */
  readonly framing: "sse" | "aws_event_stream" | "ndjson";
  encoder(target: Target): Encoder;
  decoder(target: Target, emit: (event: ModelEvent) => void): Decoder;
  /**
   * A whole answer that came as one JSON body.
   * @throws RondoError when the body is an error, or no answer
   */
  decodeWhole(body: Json, target: Target, emit: (event: ModelEvent) => void): AssistantMessage;
  /** The typed error of an HTTP response that is no success. Status and code are read before any text. */
  errorOf(response: ErrorResponse): RondoError;
  /**
   * The answer that an error response holds, where there is one: a server that checks calls itself refuses a bad one
   * with a status, and the loop wants to show the model its mistake. Asked before `errorOf`.
   */
  answerOf?(response: ErrorResponse, target: Target): AssistantMessage | undefined;
  /** The quirks of a server as a refusal shows them, where it shows one that was not known. Pure; who keeps them is the model. */
  learned?(response: ErrorResponse, target: Target): Target["compat"];
  /**
   * The quirks that an answer makes likely, and a warning where with them something goes out no more. The request is sent once more as they make
   * it; they are kept where that answer makes none likely any more. Pure, like `learned`.
   */
  suspected?(
    answer: AssistantMessage,
    target: Target,
  ): { compat: NonNullable<Target["compat"]>; warning?: { code: string; message: string } } | undefined;
}
