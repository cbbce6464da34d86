// The room of framing: frames become bytes, as each protocol puts them on the wire.

import crc32 from "crc-32";
import type { Protocol, WireFrame } from "./reply.ts";

const utf8 = new TextEncoder();

/** The bytes of one frame. */
export function frameBytes(protocol: Protocol, frame: WireFrame): Uint8Array {
  switch (protocol) {
    case "bedrock-converse":
      return eventStreamMessage(frame);
    case "google-generative-ai":
      return utf8.encode(`data: ${frame.data}\r\n\r\n`);
    case "openai-chat":
      return utf8.encode(`${frame.comment === true ? "" : "data"}: ${frame.data}\n\n`);
    case "anthropic-messages":
    case "openai-responses":
      return utf8.encode(
        `${frame.event === undefined ? "" : `event: ${frame.event}\n`}data: ${frame.data}\n\n`,
      );
  }
}

/** What says inside of JSON that the server is alive: white space means nothing there. */
export const jsonPing: Uint8Array = utf8.encode("\r\n");

/** What says inside of a protocol's stream that the server is alive, and nothing else. */
export function pingBytes(protocol: Protocol): Uint8Array {
  switch (protocol) {
    case "anthropic-messages":
      return frameBytes(protocol, { event: "ping", data: '{"type": "ping"}' });
    case "bedrock-converse":
      // Bedrock has no ping: an event nobody knows stands for one.
      return frameBytes(protocol, { event: "keepAlive", data: "{}" });
    default:
      return utf8.encode(": keep-alive\n\n");
  }
}

const array = { begin: utf8.encode("["), between: utf8.encode(",\r\n"), end: utf8.encode("]") };

/** The bytes of a JSON array's elements, with what stands around each. Left open, it lacks its end. */
export function arrayBytes(elements: readonly Uint8Array[], isOpen: boolean): Uint8Array[] {
  const last = isOpen ? -1 : elements.length - 1;
  return elements.map((bytes, at) =>
    joined([at === 0 ? array.begin : array.between, bytes, ...(at === last ? [array.end] : [])]),
  );
}

export function streamType(protocol: Protocol): string {
  return protocol === "bedrock-converse"
    ? "application/vnd.amazon.eventstream"
    : "text/event-stream; charset=utf-8";
}

/** An AWS event-stream message: lengths, their checksum, headers, payload, checksum of it all. */
export function eventStreamMessage(frame: WireFrame): Uint8Array {
  const exception = frame.exception === true;
  const headers = joined([
    header(":message-type", exception ? "exception" : "event"),
    header(exception ? ":exception-type" : ":event-type", frame.event ?? "unknown"),
    header(":content-type", "application/json"),
  ]);
  const payload = utf8.encode(frame.data);
  const message = new Uint8Array(12 + headers.length + payload.length + 4);
  const view = new DataView(message.buffer);
  view.setUint32(0, message.length);
  view.setUint32(4, headers.length);
  view.setInt32(8, crc32.buf(message.subarray(0, 8)));
  message.set(headers, 12);
  message.set(payload, 12 + headers.length);
  view.setInt32(message.length - 4, crc32.buf(message.subarray(0, message.length - 4)));
  return message;
}

function header(name: string, value: string): Uint8Array {
  const [nameBytes, valueBytes] = [utf8.encode(name), utf8.encode(value)];
  const length = valueBytes.length;
  return joined([
    Uint8Array.of(nameBytes.length),
    nameBytes,
    Uint8Array.of(7, length >> 8, length & 0xff),
    valueBytes,
  ]);
}

export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
