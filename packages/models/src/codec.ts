// The room of the codec's interface: a wire protocol as pure functions.
//
// A codec never touches the network: it turns a request into a path, headers and a body, and frames into an answer. So it
// can be tested byte for byte with recorded transcripts, and works over fetch, an official SDK's client and a recording
// alike. Sockets, clocks and keys are the transport's.

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

/** What a codec works for: the model, what is known of it, and how this server differs from the original protocol. */
export interface Target {
  origin: Origin;
  facts: ModelFacts;
  /** Ask for a stream, or for the whole answer at once. Default: true. */
  stream?: boolean;
  /** The request's output limit, in tokens. It distinguishes an answer that was cut off from one that is broken. */
  outputLimit?: number;
  /** Quirks of a compatible server; each codec has its own. */
  compat?: { readonly [quirk: string]: Json };
  /**
   * Whether a control token occurs in what others than the model wrote in the request's conversation. Set for servers that
   * may leave such tokens at the ends of texts (quirk `endTokens`): those nobody mentioned are taken off the answer.
   */
  isSpokenOf?: (mark: string) => boolean;
}

/** A request as it is sent. The transport joins `path` to the base URL and adds the key. */
export interface WireRequest {
  path: string;
  headers: Record<string, string>;
  body: string;
  /** The same body in parts, for a client that can write them one after another. */
  parts?: BodyParts;
  /** What the request asked for and this provider cannot do. Each becomes a `warning` event. */
  warnings: { code: string; message: string }[];
}

/** One frame of a streamed answer: an SSE event, or an AWS event-stream message (`event` is its event or exception type). */
export interface Frame {
  event: string | undefined;
  /** JSON text, or a protocol's sentinel such as `[DONE]`. */
  data: string;
  /** AWS only: the frame is an exception. */
  exception?: boolean;
}

export interface Encoder {
  /** Encodes a request. What was made of a message is cached by the message's identity, so only new messages are encoded. */
  encode(request: ModelRequest): WireRequest;
}

export interface Decoder {
  /**
   * Decodes one frame, and emits the deltas it brought.
   * @throws RondoError when the frame is an error of the provider or cannot be understood
   */
  push(frame: Frame): void;
  /** A faster way than `push` to take a frame that differs from the last one only in its text. Absent: push every frame. */
  readonly frameTemplate?: FrameTemplate | undefined;
  /** True once nothing more can come. Reading stops then, even if the server keeps the connection open. */
  readonly finished: boolean;
  /** True once the finish signal was seen, even if more may follow, usually the usage. Absent: see `finished`. */
  readonly complete?: boolean;
  /**
   * The whole answer.
   * @throws RondoError `stream_truncated` (with `partial`) when no finish signal was seen
   */
  end(): AssistantMessage;
  /** What has arrived so far: text and reasoning, but no call that may be unfinished. Undefined if there is nothing. */
  partial(): AssistantMessage | undefined;
  /** The usage reported so far, even if `partial` is undefined. Absent: only `partial` has it. */
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
   * Decodes a whole answer that came as one JSON body.
   * @throws RondoError if the body is an error, or not an answer
   */
  decodeWhole(body: Json, target: Target, emit: (event: ModelEvent) => void): AssistantMessage;
  /** The error of an answer that asks for something that nothing here can do, after which no conversation can go on. Pure. */
  unmet?(answer: AssistantMessage): RondoError | undefined;
  /** The typed error of a failed HTTP response. Status and error code are considered before any message text. */
  errorOf(response: ErrorResponse): RondoError;
  /**
   * The answer in an error response, if there is one: a server that checks tool calls itself reports a bad call as an
   * error, but the loop must show the model its mistake. Called before `errorOf`.
   */
  answerOf?(response: ErrorResponse, target: Target): AssistantMessage | undefined;
  /** The quirks that an error response reveals; undefined if it reveals none that is new. Pure: the model keeps them. */
  learned?(response: ErrorResponse, target: Target): Target["compat"];
  /**
   * The quirks that an answer makes likely, and a warning if requests leave something out because of them. The request is
   * then sent once more with these quirks; they are kept if the new answer makes no quirk likely. Pure, like `learned`.
   */
  suspected?(
    answer: AssistantMessage,
    target: Target,
  ): { compat: NonNullable<Target["compat"]>; warning?: { code: string; message: string } } | undefined;
}
