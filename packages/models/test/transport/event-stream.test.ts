import { EventStreamCodec } from "@smithy/eventstream-codec";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Frame } from "../../src/codec.ts";
import { EventStreamDecoder } from "../../src/transport/event-stream.ts";

// The oracle is the vendor's own encoder.
const utf8 = new TextEncoder();
const vendor = new EventStreamCodec(
  (input) => (typeof input === "string" ? input : new TextDecoder().decode(input as Uint8Array)),
  (text) => utf8.encode(text),
);

function message(headers: { [name: string]: string }, body: string): Uint8Array {
  return vendor.encode({
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, { type: "string" as const, value }]),
    ),
    body: utf8.encode(body),
  });
}

function event(type: string, body: string): Uint8Array {
  return message(
    { ":message-type": "event", ":event-type": type, ":content-type": "application/json" },
    body,
  );
}

function joined(...parts: Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

function decode(chunks: readonly Uint8Array[]): { frames: Frame[]; cut: boolean } {
  const frames: Frame[] = [];
  const decoder = new EventStreamDecoder((frame) => frames.push(frame));
  for (const chunk of chunks) decoder.push(chunk);
  return { frames, cut: decoder.end() };
}

const stream = joined(
  event("messageStart", '{"role":"assistant"}'),
  event("contentBlockDelta", '{"delta":{"text":"é😀"}}'),
  event("messageStop", '{"stopReason":"end_turn"}'),
);

describe("AWS event streams", () => {
  it("become frames, in any chunking", () => {
    const expected = decode([stream]);
    expect(expected).toEqual({
      frames: [
        { event: "messageStart", data: '{"role":"assistant"}' },
        { event: "contentBlockDelta", data: '{"delta":{"text":"é😀"}}' },
        { event: "messageStop", data: '{"stopReason":"end_turn"}' },
      ],
      cut: false,
    });
    expect(decode([...stream].map((byte) => Uint8Array.of(byte)))).toEqual(expected);
    fc.assert(
      fc.property(fc.array(fc.nat(stream.length), { maxLength: 20 }), (cuts) => {
        const sorted = [0, ...cuts, stream.length].sort((a, b) => a - b);
        expect(decode(sorted.slice(1).map((end, i) => stream.subarray(sorted[i], end)))).toEqual(expected);
      }),
    );
  });

  it("cut at any byte give complete frames only, and say that they were cut", () => {
    const ends = new Set<number>([0]);
    for (let at = 0; at < stream.length; ) {
      at += new DataView(stream.buffer, stream.byteOffset + at).getUint32(0);
      ends.add(at);
    }
    for (let at = 0; at <= stream.length; at++)
      expect(decode([stream.subarray(0, at)]).cut).toBe(!ends.has(at));
  });

  it("say which frames are exceptions, and what an error without a body said", () => {
    const exception = message(
      { ":message-type": "exception", ":exception-type": "throttlingException" },
      '{"message":"slow down"}',
    );
    const error = message(
      { ":message-type": "error", ":error-code": "Internal", ":error-message": "boom" },
      "",
    );
    expect(decode([exception, error]).frames).toEqual([
      { event: "throttlingException", data: '{"message":"slow down"}', exception: true },
      { event: "Internal", data: '{"message":"boom"}', exception: true },
    ]);
  });

  it("skip headers of every other type", () => {
    const mixed = vendor.encode({
      headers: {
        a: { type: "boolean", value: true },
        b: { type: "byte", value: 1 },
        c: { type: "short", value: 1 },
        d: { type: "integer", value: 1 },
        f: { type: "binary", value: Uint8Array.of(1, 2) },
        g: { type: "timestamp", value: new Date(0) },
        h: { type: "uuid", value: "00000000-0000-0000-0000-000000000000" },
        ":event-type": { type: "string", value: "x" },
      },
      body: utf8.encode("{}"),
    });
    expect(decode([mixed]).frames).toEqual([{ event: "x", data: "{}" }]);
  });

  it("with any one bit flipped never give a frame that was not sent", () => {
    const one = event("x", '{"a":1}');
    for (let at = 0; at < one.length * 8; at++) {
      const bad = one.slice();
      bad[at >> 3] = (bad[at >> 3] ?? 0) ^ (1 << (at & 7));
      expect(() => {
        if (decode([bad]).cut) throw new Error("cut");
      }).toThrow(/checksum|cut|announced/);
    }
  });

  it("that are no event stream are a retryable stream error", () => {
    expect(() => decode([utf8.encode("HTTP/1.1 502 Bad Gateway")])).toThrow(
      expect.objectContaining({ kind: "stream_error", retryable: true }),
    );
  });
});
