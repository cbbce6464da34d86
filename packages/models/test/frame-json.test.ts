import type { Json } from "@rondo/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FrameJson, type TextPath } from "../src/frame-json.ts";

/** Frames as the protocols write them, with a text and a counter that change. */
const shapes: readonly ((text: string, n: number) => object)[] = [
  (content, created) => ({
    id: "c",
    created,
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  }),
  (text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
  (delta, n) => ({
    type: "response.output_text.delta",
    sequence_number: n,
    output_index: 0,
    delta,
    obfuscation: "x".repeat(n % 9),
  }),
  (text, n) => ({
    candidates: [{ content: { parts: [{ text }], role: "model" }, index: 0 }],
    usageMetadata: { candidatesTokenCount: n },
  }),
];

const paths: readonly TextPath[] = [
  ["choices", 0, "delta", "content"],
  ["delta", "text"],
  ["delta"],
  ["candidates", 0, "content", "parts", 0, "text"],
  ["text"],
];

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.constantFrom("", "a", '"', "\\", "\n", "0", "🙂", "\ud800", '","text":"x'),
);
const anyFrame = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.nat(shapes.length - 1), anyText, fc.oneof(fc.nat(2), fc.nat(1e6)))
      .map(([at, text, n]) => JSON.stringify(shapes[at]?.(text, n))),
  },
  { weight: 1, arbitrary: fc.jsonValue().map((value) => JSON.stringify(value)) },
);

/** A frame's value with another text in it. */
function withText(value: unknown, text: string): unknown {
  for (const path of paths) {
    let holder = value as { [step: string | number]: unknown } | undefined;
    for (const step of path.slice(0, -1)) holder = holder?.[step] as typeof holder;
    const key = path.at(-1) as string;
    if (typeof holder?.[key] !== "string") continue;
    holder[key] = text;
    return value;
  }
  return value;
}

/** The text of a frame that is like the last one; undefined for any other. */
function textOf(reader: FrameJson, frame: string): string | undefined {
  let told: string | undefined;
  const isAlike = reader.frameTemplate((text) => {
    told = text;
  });
  return isAlike?.takes(frame) ? told : undefined;
}

describe("similar frames", () => {
  test("give what JSON.parse gives, whatever comes between them", () => {
    fc.assert(
      fc.property(fc.array(anyFrame, { maxLength: 40 }), fc.nat(4), (frames, first) => {
        const reader = new FrameJson(paths, JSON.parse, first);
        for (const frame of frames) expect(reader.parse(frame)).toEqual(JSON.parse(frame));
      }),
      { numRuns: 500 },
    );
  });

  test("of one shape give what JSON.parse gives, and are not parsed again after enough of them", () => {
    fc.assert(
      fc.property(
        fc.nat(shapes.length - 1),
        fc.array(fc.stringMatching(/^[a-z ]{1,12}$/), { minLength: 5, maxLength: 30 }),
        fc.nat(3),
        (at, words, first) => {
          let parsed = 0;
          const reader = new FrameJson(
            paths,
            (text) => {
              parsed += 1;
              return JSON.parse(text);
            },
            first,
          );
          words.forEach((word, n) => {
            const frame = JSON.stringify(shapes[at]?.(word, n));
            expect(reader.parse(frame)).toEqual(JSON.parse(frame));
          });
          // Where nothing but the text changes, one frame says it all.
          expect(parsed).toBe(at === 1 ? 1 : first + 1);
        },
      ),
    );
  });

  test("give a text alone only if nothing but the text differs from the frame before", () => {
    fc.assert(
      fc.property(fc.array(anyFrame, { maxLength: 40 }), fc.nat(4), (frames, first) => {
        const reader = new FrameJson(paths, JSON.parse, first);
        let last = "null";
        for (const frame of frames) {
          const text = textOf(reader, frame);
          if (text === undefined) expect(reader.parse(frame)).toEqual(JSON.parse(frame));
          else expect(withText(JSON.parse(last), text)).toEqual(JSON.parse(frame));
          last = frame;
        }
      }),
      { numRuns: 500 },
    );
    const reader = new FrameJson(paths, JSON.parse, 0);
    expect(textOf(reader, '{"text":"a"}')).toBeUndefined();
    reader.parse('{"text":"a"}');
    expect([textOf(reader, '{"text":"b"}'), textOf(reader, '{"text":"\\n"}')]).toEqual(["b", "\n"]);
    reader.parse('{"other":1}');
    expect(textOf(reader, '{"text":"c"}')).toBeUndefined();
  });

  test("have their own counters, even if an earlier frame had the same", () => {
    const reader = new FrameJson(paths, JSON.parse, 0);
    for (const [text, n] of [
      ["a", 1],
      ["b", 2],
      ["c", 1],
      ["d", 1],
    ])
      expect(reader.parse(JSON.stringify({ text, created: n }))).toEqual({ text, created: n });
  });

  test("are all parsed in a short answer, and recognised from the thirteenth on", () => {
    const reader = new FrameJson(paths);
    for (let at = 1; at <= 13; at += 1) {
      expect(textOf(reader, '{"text":"b"}')).toBeUndefined();
      reader.parse('{"text":"a"}');
    }
    expect(textOf(reader, '{"text":"b"}')).toBe("b");
  });

  test("are not parsed again because of escapes in their text", () => {
    fc.assert(
      fc.property(fc.array(anyText, { minLength: 1, maxLength: 30 }), (texts) => {
        let parsed = 0;
        const counted = (text: string): Json => {
          parsed += 1;
          return JSON.parse(text);
        };
        const reader = new FrameJson(paths, counted, 0);
        for (const text of ["first", ...texts]) {
          const frame = JSON.stringify(shapes[1]?.(text, 0));
          expect(reader.parse(frame)).toEqual(JSON.parse(frame));
        }
        expect(parsed).toBe(1);
      }),
    );
  });

  test.each([
    ['{"delta":{"text":"a"},"n":1}', '{"delta":{"text":"b"},"n":2}'],
    ['{"index":0,"delta":{"text":"a"}}', '{"index":1,"delta":{"text":"a"}}'],
    ['{"text":"a","sequence_number":1}', '{"text":"a","sequence_number":01}'],
    ['{"text":"a","sequence_number":1}', '{"text":"a","sequence_number":12345678901234567890}'],
    ['{"text":"a"}', '{"text":"b"}}'],
    ['{"text":"a"}', '{"text":"a\\u0022b"}'],
    ['{"text":"a"}', '{"text":"b","x":"c"}'],
    ['{"text":"a"}', '{"text":"b\\"}'],
    ['{"text":"a"}', '{"text":"b\nc"}'],
    ['{"text":"ab"}', '{"text":"}'],
    ['{"text":"a","content":"a"}', '{"text":"b","content":"c"}'],
  ])("are distinguished: %s and %s", (first, second) => {
    const reader = new FrameJson(paths, JSON.parse, 0);
    reader.parse(first);
    let wanted: unknown;
    try {
      wanted = JSON.parse(second);
    } catch {
      expect(() => reader.parse(second)).toThrow(SyntaxError);
      return;
    }
    expect(reader.parse(second)).toEqual(wanted);
  });
});
