import fc from "fast-check";
import { expect, it } from "vitest";
import { NdjsonDecoder } from "../../src/transport/ndjson.ts";

function frames(
  bytes: Uint8Array,
  cuts: readonly number[],
  limit?: number,
): { lines: string[]; cut: boolean } {
  const lines: string[] = [];
  const decoder = new NdjsonDecoder(({ data }) => lines.push(data), limit);
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    decoder.push(bytes.subarray(from, cut));
    from = cut;
  }
  decoder.push(bytes.subarray(from));
  return { lines, cut: decoder.end() };
}

it("gives the same lines however the bytes were cut, also inside characters", () => {
  const text = '{"a":"né😀"}\r\n\n  {"b":1}\n{"c":[1,\t2]}';
  const bytes = new TextEncoder().encode(text);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: bytes.length })), (cuts) => {
      expect(frames(bytes, cuts)).toEqual({
        lines: ['{"a":"né😀"}', '{"b":1}', '{"c":[1,\t2]}'],
        cut: false,
      });
    }),
  );
});

it("drops a last line that is incomplete, and says so", () => {
  expect(frames(new TextEncoder().encode('{"a":1}\n{"b":'), [])).toEqual({ lines: ['{"a":1}'], cut: true });
});

it("refuses a line without an end", () => {
  expect(() => frames(new TextEncoder().encode('{"a":"aaaaaaaaaaaaaaaa'), [4], 10)).toThrow(/longer than 10/);
});

it("reads an object over several lines, and objects in events, as lines", () => {
  const text = ': hi\n{\n  "a": {\n    "b": 1\n  }\n}\nevent: x\ndata: {"c":2}\n\ndata: [DONE]\n';
  const bytes = new TextEncoder().encode(text);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: bytes.length })), (cuts) => {
      const { lines, cut } = frames(bytes, cuts);
      expect(lines.map((line) => JSON.parse(line))).toEqual([{ a: { b: 1 } }, { c: 2 }]);
      expect(cut).toBe(false);
    }),
  );
  expect(frames(new TextEncoder().encode('{\n  "a": 1,\n'), []).cut).toBe(true);
});

it("refuses an object over several lines without an end", () => {
  const lines = new TextEncoder().encode(`{\n${' "a": 1,\n'.repeat(100)}`);
  expect(() => frames(lines, [], 500)).toThrow(/an object of the stream is longer than 500/);
  expect(frames(lines, [], 5_000)).toEqual({ lines: [], cut: true });
});
