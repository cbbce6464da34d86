// A frame that differs from the last one in its text alone is not looked into. Written another way each time, every frame
// is: what comes of both must be the same.

import { type Json, type ModelEvent, toRondoError } from "@rondo/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Codec, Target } from "../src/codec.ts";
import { anthropicMessages } from "../src/codecs/anthropic-messages.ts";
import { openaiChat } from "../src/codecs/openai-chat.ts";
import { SseDecoder } from "../src/transport/sse.ts";

interface Came {
  events: ModelEvent[];
  message: unknown;
}

function targetOf(codec: Codec, compat: { [quirk: string]: Json }): Target {
  return { origin: { api: codec.api, provider: "p", model: "m" }, facts: {}, compat };
}

/** What a decoder tells and gives for the frames. */
function cameOf(codec: Codec, frames: readonly Json[], write: (frame: Json, at: number) => string): Came {
  const events: ModelEvent[] = [];
  const decoder = codec.decoder(targetOf(codec, {}), (event) => events.push({ ...event }));
  try {
    frames.forEach((frame, at) => {
      decoder.push({ event: undefined, data: write(frame, at) });
    });
    return { events, message: JSON.parse(JSON.stringify(decoder.end(), withoutChance)) };
  } catch (thrown) {
    return { events, message: toRondoError(thrown).toJSON() };
  }
}

/** Frames at the beginning of a stream that are parsed whatever they are like. */
const beginning = (frame: Json): Json[] => Array.from({ length: 12 }, () => frame);

/** What comes of a stream that is cut after so many characters each; `known`: events that are alike may be taken where they stand. */
function streamed(codec: Codec, stream: string, cuts: readonly number[], known: boolean): Came {
  const events: ModelEvent[] = [];
  const decoder = codec.decoder(targetOf(codec, {}), (event) => events.push({ ...event }));
  const framer = new SseDecoder(
    (frame) => {
      if (!decoder.finished) decoder.push(frame);
    },
    known ? decoder : undefined,
  );
  try {
    let from = 0;
    for (const length of [...cuts, stream.length]) {
      framer.push(new TextEncoder().encode(stream.slice(from, from + length)));
      from += length;
    }
    framer.end();
    return { events, message: JSON.parse(JSON.stringify(decoder.end(), withoutChance)) };
  } catch (thrown) {
    return { events, message: toRondoError(thrown).toJSON() };
  }
}

/** An event of a stream, in one of the ways that servers write it. */
const written = fc.constantFrom<(data: string) => string>(
  ...Array.from({ length: 12 }, () => (data: string) => `data: ${data}\n\n`),
  ...Array.from({ length: 6 }, () => (data: string) => `event: delta\ndata: ${data}\n\n`),
  (data) => `data:${data}\n\n`,
  (data) => `data:  ${data}\n\n`,
  (data) => `data: ${data} \n\n`,
  (data) => `event: error\ndata: ${data}\n\n`,
  (data) => `id: 7\ndata: ${data}\n\n`,
  (data) => `: a comment\n\ndata: ${data}\r\n\r\n`,
  (data) => `event: ping\ndata:\n\ndata: ${data}\n\n`,
  (data) => `data: ${data.replace(",", ",\ndata: ")}\n\n`,
  (data) => `data: ${data.replace(",", ",\n")}\n\n`,
  (data) => `data: ${data}\ndata: \n\n`,
  (data) => `data: ${data}\n`,
  (data) => `data: ${data.replace('""', '"')}\n\n`,
);

/** A call without an id is given one by chance. */
const withoutChance = (_name: string, value: unknown): unknown =>
  typeof value === "string" && /^call_[0-9a-f]{24}$/.test(value) ? "call" : value;

const alike = (frame: Json): string => JSON.stringify(frame);
/** No two neighbours have the same blanks. */
const unlike = (frame: Json, at: number): string => JSON.stringify(frame, null, (at % 9) + 1);

/** Stands for the texts of a row of frames. */
const hole = "@@";
const text = fc.oneof({ weight: 9, arbitrary: fc.constant(hole) }, fc.constantFrom("", "a", "<think>", "}"));
const piece = fc.oneof(
  fc.constantFrom("", "a", "b ", '"', "\\n", "<think>", "</think>", "{", '{"a":1}', "}", "x".repeat(32)),
  fc.string({ maxLength: 5 }),
);
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { nil: null });

const fragment = fc.record(
  {
    index: fc.nat(2),
    id: fc.constantFrom("", "c1", "c2"),
    type: fc.constant("function"),
    function: fc.record({ name: fc.constantFrom("", "f", "g"), arguments: text }, { requiredKeys: [] }),
    extra: fc.constant({ signature: "s" }),
  },
  { requiredKeys: [] },
);
const chatDelta = fc.oneof(
  { weight: 5, arbitrary: text.map((content) => ({ content })) },
  { weight: 2, arbitrary: text.map((content) => ({ role: "assistant", content, refusal: null })) },
  { weight: 3, arbitrary: text.map((told) => ({ content: null, reasoning_content: told })) },
  {
    weight: 5,
    arbitrary: text.map((args) => ({ tool_calls: [{ index: 0, function: { arguments: args } }] })),
  },
  { weight: 2, arbitrary: fc.array(fragment, { maxLength: 2 }).map((tool_calls) => ({ tool_calls })) },
  {
    weight: 5,
    arbitrary: fc.record(
      {
        content: maybe(text),
        reasoning: fc.constantFrom(hole, "r"),
        reasoning_details: fc.array(fc.record({ index: fc.nat(1), text: fc.constant("d") }), {
          maxLength: 2,
        }),
        refusal: fc.constant("no"),
        annotations: fc.array(fc.record({ url: fc.constant("u") }), { maxLength: 2 }),
        tool_calls: fc.constantFrom([{ index: 0, function: { arguments: "1" } }]),
      },
      { requiredKeys: [] },
    ),
  },
);
const chatChunk = fc
  .record(
    {
      delta: chatDelta,
      word: fc.constantFrom(null, null, null, null, "stop", "tool_calls"),
      usage: fc.constantFrom(undefined, undefined, { completion_tokens: 3 }),
      error: fc.constantFrom(...Array.from({ length: 40 }, () => undefined), { message: "no" }),
    },
    { requiredKeys: ["delta", "word"] },
  )
  .map(({ delta, word, usage, error }) => ({
    id: "1",
    choices: [{ index: 0, delta, finish_reason: word }],
    ...(usage === undefined ? {} : { usage }),
    ...(error === undefined ? {} : { error }),
  }));

const block = fc.constantFrom(
  { type: "text", text: "" },
  { type: "thinking", thinking: "", signature: "" },
  { type: "tool_use", id: "t", name: "f", input: {} },
  { type: "tool_use", id: "u", name: "g", input: { given: 1 } },
  { type: "server_tool_use", id: "s", name: "web_search", input: {} },
);
const anthropicDelta = fc.oneof(
  text.map((told) => ({ type: "text_delta", text: told })),
  text.map((told) => ({ type: "thinking_delta", thinking: told })),
  text.map((told) => ({ type: "input_json_delta", partial_json: told })),
  text.map((told) => ({ type: "signature_delta", signature: told })),
  text.map((told) => ({ type: "compaction_delta", text: told })),
);
const anthropicEvent = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.tuple(fc.nat(2), block).map(([index, one]) => ({
      type: "content_block_start",
      index,
      content_block: one,
    })),
  },
  {
    weight: 9,
    arbitrary: fc
      .tuple(fc.nat(2), anthropicDelta)
      .map(([index, delta]) => ({ type: "content_block_delta", index, delta })),
  },
  { weight: 1, arbitrary: fc.nat(2).map((index) => ({ type: "content_block_stop", index })) },
  { weight: 1, arbitrary: fc.constant({ type: "ping" }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("end_turn", "tool_use", "max_tokens").map((stop_reason) => ({
      type: "message_delta",
      delta: { stop_reason },
      usage: { output_tokens: 4 },
    })),
  },
);

/** Rows of frames that differ in their text alone, as streams are. */
const inRows = (frame: fc.Arbitrary<Json>): fc.Arbitrary<Json[]> =>
  fc
    .array(fc.tuple(frame, fc.array(piece, { minLength: 1, maxLength: 5 })), { maxLength: 25 })
    .map((rows) => rows.flatMap(([one, pieces]) => pieces.map((told) => filled(one, told))));

const filled = (frame: Json, told: string): Json =>
  JSON.parse(JSON.stringify(frame).replaceAll(hole, () => JSON.stringify(told).slice(1, -1)));

describe.each([
  ["Chat Completions", openaiChat, { id: "1" } as Json, chatChunk as fc.Arbitrary<Json>],
  ["Anthropic Messages", anthropicMessages, { type: "ping" } as Json, anthropicEvent as fc.Arbitrary<Json>],
] as const)("frames of %s", (_name, codec, first, frame) => {
  test("give the same result whether they are equal letter for letter or not", () => {
    fc.assert(
      fc.property(inRows(frame), (rows) => {
        const frames = [...beginning(first), ...rows];
        expect(cameOf(codec, frames, alike)).toEqual(cameOf(codec, frames, unlike));
      }),
      { numRuns: 1000 },
    );
  });

  test("give the same result whether similar ones are taken directly from the stream or not, wherever it is cut", () => {
    // Mostly one way of writing for a row, so that there is something to be alike.
    const others = fc.option(written, { nil: undefined, freq: 4 });
    const pieces = fc.array(fc.tuple(piece, others), { minLength: 1, maxLength: 6 });
    const rows = fc.array(fc.tuple(frame, written, pieces), { maxLength: 12 });
    fc.assert(
      fc.property(rows, fc.array(fc.nat(300), { maxLength: 20 }), (told, cuts) => {
        const stream = [
          ...beginning(first).map((one) => `data: ${JSON.stringify(one)}\n\n`),
          ...told.flatMap(([one, write, row]) =>
            row.map(([text, other]) => (other ?? write)(JSON.stringify(filled(one, text)))),
          ),
        ].join("");
        const plain = streamed(codec, stream, [], false);
        expect(streamed(codec, stream, [], true)).toEqual(plain);
        expect(streamed(codec, stream, cuts, true)).toEqual(plain);
      }),
      { numRuns: 1000 },
    );
  });
});
