import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Frame } from "../../src/codec.ts";
import { SseDecoder } from "../../src/transport/sse.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function decode(chunks: readonly Uint8Array[]): { frames: Frame[]; cut: boolean } {
  const frames: Frame[] = [];
  const decoder = new SseDecoder((frame) => frames.push(frame));
  for (const chunk of chunks) decoder.push(chunk);
  return { frames, cut: decoder.end() };
}

function data(text: string): string[] {
  return decode([bytes(text)]).frames.map((frame) => frame.data);
}

describe("server-sent events", () => {
  it.each([
    ["line feeds", "data: a\n\ndata: b\n\n", ["a", "b"]],
    ["carriage returns with line feeds", "data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]],
    ["carriage returns alone", "data: a\r\rdata: b\r\r", ["a", "b"]],
    [
      "no blank line between payloads that are whole",
      'data: {"a":1}\ndata: {"b":2}\ndata: [DONE]\n\n',
      ['{"a":1}', '{"b":2}', "[DONE]"],
    ],
    [
      "one payload in several lines",
      'data: {"a":[\ndata: {"b":1},\ndata: {"c":2}\ndata: ]}\n\n',
      ['{"a":[\n{"b":1},\n{"c":2}\n]}'],
    ],
    ["no space after the colon", "data:a\n\n", ["a"]],
    ["only one space taken off", "data:  a\n\n", [" a"]],
    [
      "a space after the colon of some events and none after others",
      "data:a\n\ndata: b\n\ndata:c\n\n",
      ["a", "b", "c"],
    ],
    ["several data lines", "data: a\ndata: b\n\n", ["a\nb"]],
    ["comments, ids and retry times", ": hi\nid: 1\nretry: 5\ndata: a\n:\n\n:\n\n", ["a"]],
    [
      "the name of the field twice before a payload that is JSON, wherever it comes",
      'data: data: {"a":1}\n\ndata: {"a":2}\n\ndata: data: {"a":3}\n\ndata: data: {"a":4}\n\ndata:data:[DONE]\n\n',
      ['{"a":1}', '{"a":2}', '{"a":3}', '{"a":4}', "[DONE]"],
    ],
    ["and as it is before any other", "data: data: a\n\ndata: data:\n\n", ["data: a", "data:"]],
    ["a comment in a data field", "data: : OPENROUTER PROCESSING\n\ndata: a\n\n", ["a"]],
    ["a byte order mark", "\uFEFFdata: a\n\n", ["a"]],
    ["fields nobody knows", "foo: 1\ndata: a\nbar\n\n", ["a"]],
    ["blank lines", "\n\n\ndata: a\n\n\n\n", ["a"]],
    [
      "an object that stands bare between events, in one line or in several",
      'data: a\n\n{"error": {"code": 503}}\ndata: b\n\n{\n  "error": {\n    "code": 503\n  }\n}\n',
      ["a", '{"error": {"code": 503}}', "b", '{\n  "error": {\n    "code": 503\n  }\n}'],
    ],
    [
      "an object in a field of errors, and nothing else there",
      'data: a\n\nerror: {"code": 500}\n\nerror: no\n\nerror: [DONE]\n\nerror: {\n\ndata: b\n\n',
      ["a", '{"code": 500}', "b"],
    ],
    [
      "no object that stands bare and is not whole",
      'data: a\n\n{\n  "error": {\n\ndata: b\n\n}\n',
      ["a", "b"],
    ],
    [
      "a line in braces in the middle of an event as no event",
      'data: {"a":\n{"b":1}\ndata: 2}\n\n',
      ['{"a":\n2}'],
    ],
    ["a colon in a value", 'data: {"a": "b: c"}\n\n', ['{"a": "b: c"}']],
  ])("reads %s", (_title, text, expected) => {
    expect(data(text)).toEqual(expected);
  });

  it("has an event's name if there is one, and forgets it after the event", () => {
    const { frames } = decode([bytes("event: x\ndata: a\n\ndata: b\n\n")]);
    expect(frames).toEqual([
      { event: "x", data: "a" },
      { event: undefined, data: "b" },
    ]);
  });

  it("accepts a last event without its blank line if its payload is complete, and otherwise says so", () => {
    expect(decode([bytes('data: {"a":1}\n')])).toEqual({
      frames: [{ event: undefined, data: '{"a":1}' }],
      cut: false,
    });
    expect(decode([bytes('data: {"a":1}')]).frames).toHaveLength(1);
    expect(decode([bytes("data: [DONE]")]).frames).toHaveLength(1);
    expect(decode([bytes('data: {"a":')])).toEqual({ frames: [], cut: true });
    expect(decode([bytes("data: hel")])).toEqual({ frames: [], cut: true });
    for (const end of ["\n", "\r", "\r\n"]) {
      expect(decode([bytes(`data: hel${end}`)])).toEqual({ frames: [], cut: true });
      expect(decode([bytes(`data: {"a":${end}`)])).toEqual({ frames: [], cut: true });
      expect(decode([bytes(`data: {"a":1}${end}`)]).frames).toHaveLength(1);
      expect(decode([bytes(`data: {"a":${end}data: 1}`)]).frames).toHaveLength(1);
    }
    expect(decode([bytes("dat")])).toEqual({ frames: [], cut: true });
    expect(decode([bytes("data: a\n\n: bye")]).cut).toBe(false);
  });

  it("says that a bare object was cut off", () => {
    expect(decode([bytes('data: a\n\n{\n  "error": {')])).toEqual({
      frames: [{ event: undefined, data: "a" }],
      cut: true,
    });
    expect(decode([bytes('data: a\n\n{\n  "error": 1\n}')]).cut).toBe(false);
  });

  it("gives the same frames whatever the chunking", () => {
    const text =
      '\uFEFFevent: m\r\ndata: {"t":"你好 😀 é"}\r\n\r\n: c\n\ndata: a\ndata: b\r\rid: 1\ndata: [DONE]\n\n';
    const whole = bytes(text);
    const expected = decode([whole]);
    expect(expected.frames).toHaveLength(3);
    fc.assert(
      fc.property(fc.array(fc.nat(whole.length), { maxLength: 30 }), (cuts) => {
        const sorted = [0, ...cuts, whole.length].sort((a, b) => a - b);
        const chunks = sorted.slice(1).map((end, index) => whole.subarray(sorted[index], end));
        expect(decode(chunks)).toEqual(expected);
      }),
    );
    expect(decode([...whole].map((byte) => Uint8Array.of(byte)))).toEqual(expected);
  });

  // Looked at anew with each of its lines, this would not end.
  it("reads a long object that a proxy wrote over many lines as one payload", () => {
    const list = Array.from({ length: 40_000 }, (_, at) => ({ a: at, b: "}{" }));
    const text = JSON.stringify({ list }, null, 1);
    expect(data(`data: ${text}\n\ndata: {"next":1}\n\n`)).toEqual([text, '{"next":1}']);
  });

  it("gives the same frames at once and byte by byte, whatever lines come", () => {
    const line = fc
      .tuple(
        fc.constantFrom("data", "data", "data", "event", "id", "", "dat", "datax", "retry"),
        fc.constantFrom(":", ": ", ":  ", ""),
        fc.constantFrom("a", "b", "", ":", " ", "data: x", 'data: {"a":1}', '{"a":1}', "[DONE]", "é"),
      )
      .map((parts) => parts.join(""));
    const bare = fc.constantFrom("{", "}", '{"a":1}', '  "error": {', ' "a": 1');
    const end = fc.constantFrom("\n", "\n", "\n", "\r\n", "\r");
    const lines = fc.array(fc.tuple(fc.oneof(line, line, bare, fc.constant("")), end), { maxLength: 30 });
    fc.assert(
      fc.property(lines, fc.boolean(), (given, whole) => {
        const text = given.map((one) => one.join("")).join("") + (whole ? "\n\n" : "");
        const single = [...bytes(text)].map((byte) => Uint8Array.of(byte));
        expect(decode([bytes(text)])).toEqual(decode(single));
      }),
      { numRuns: 2_000 },
    );
  });

  it("emits an event that ends in carriage returns when they come, and not when another line is complete", () => {
    const frames: string[] = [];
    const decoder = new SseDecoder(({ data }) => frames.push(data));
    for (const piece of ["data: a\r", "\r"]) decoder.push(bytes(piece));
    expect(frames).toEqual(["a"]);
    for (const piece of ["data: b\r", "\n", "\r", "\n"]) decoder.push(bytes(piece));
    expect(frames).toEqual(["a", "b"]);
    for (const piece of ["data: c\r\r", "data: d\r\n\r\nx"]) decoder.push(bytes(piece));
    expect(frames).toEqual(["a", "b", "c", "d"]);
  });

  it.each([
    "1\r:",
    "data: a\n\ndata: b\n\r\\",
    "data: a\r\rda",
    "\u00ef\u00bb\u00bfdata: a\n\n",
    "\r\r\n\rdata: a\r\r",
  ])("reads %j byte by byte as it does at once", (text) => {
    const whole = bytes(text);
    expect(decode([...whole].map((byte) => Uint8Array.of(byte)))).toEqual(decode([whole]));
  });

  it("cut at every byte gives a prefix of the frames, and never half of one", () => {
    const text = 'data: {"t":"é"}\n\nevent: x\r\ndata: {"t":"b"}\r\n\r\ndata: [DONE]\n\n';
    const whole = bytes(text);
    const all = decode([whole]).frames;
    for (let at = 0; at <= whole.length; at++) {
      const { frames } = decode([whole.subarray(0, at)]);
      expect(frames).toEqual(all.slice(0, frames.length));
    }
  });

  it("refuses an event that never ends", () => {
    const decoder = new SseDecoder(() => {}, undefined, 100);
    expect(() => {
      for (let i = 0; i < 100; i++) decoder.push(bytes("data: 0123456789\n"));
    }).toThrow(/longer than 100 characters/);
    const line = new SseDecoder(() => {}, undefined, 100);
    expect(() => {
      for (let i = 0; i < 100; i++) line.push(bytes("data: 0123456789"));
    }).toThrow(expect.objectContaining({ kind: "protocol" }));
  });

  it("keeps the names of events without a blank line between them, and one that comes after its payload", () => {
    const named = (text: string): Frame[] => decode([bytes(text)]).frames;
    expect(
      named('event: a\ndata: {"x":1}\nevent: b\ndata: {"x":2}\ndata: {"x":3}\n\ndata: {"x":4}\n\n'),
    ).toEqual([
      { event: "a", data: '{"x":1}' },
      { event: "b", data: '{"x":2}' },
      { event: undefined, data: '{"x":3}' },
      { event: undefined, data: '{"x":4}' },
    ]);
    expect(named('data: {"x":1}\nevent: a\n\n')).toEqual([{ event: "a", data: '{"x":1}' }]);
  });
});
