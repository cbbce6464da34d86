import { type AssistantMessage, type Json, RondoError } from "@rondo/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Codec } from "../../src/codec.ts";
import { openaiChat } from "../../src/codecs/openai-chat.ts";
import { openaiResponses } from "../../src/codecs/openai-responses.ts";
import { target } from "./corpus.ts";

// Anything may stand where anything else belongs; now and then it is what belongs there.
// As it comes over a wire: a journal keeps no -0 apart from 0, and neither does JSON.stringify.
const wild = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);
const or = (usual: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
  fc.oneof({ weight: 4, arbitrary: usual }, { weight: 1, arbitrary: wild });
const text = fc.constantFrom<Json>(
  "",
  "a",
  '{"a":',
  "1}",
  "{}",
  "f",
  "<|x|>",
  "stop",
  "length",
  "tool_calls",
  "error",
);
const small = fc.constantFrom<Json>(0, 1, 2, -1, null);
const shape = (members: { [member: string]: fc.Arbitrary<Json> }): fc.Arbitrary<Json> =>
  fc.record(members, { requiredKeys: [] }) as fc.Arbitrary<Json>;
const list = (one: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
  fc.array(one, { maxLength: 3 }) as fc.Arbitrary<Json>;

const fn = or(shape({ name: or(text), arguments: or(text) }));
const call = or(shape({ index: or(small), id: or(text), function: fn, extra_content: wild }));
const delta = or(
  shape({
    content: or(text),
    reasoning_content: or(text),
    reasoning_details: or(list(or(shape({ type: or(text), text: or(text), index: or(small) })))),
    tool_calls: or(list(call)),
    function_call: fn,
    refusal: or(text),
    annotations: or(list(wild)),
    images: wild,
    audio: wild,
  }),
);
const choice = or(shape({ index: or(small), delta, message: delta, finish_reason: or(text), usage: wild }));
const chunk = or(shape({ choices: or(list(choice)), usage: wild, x_groq: wild, citations: wild }));

const item = or(
  shape({
    type: or(
      fc.constantFrom<Json>("message", "reasoning", "function_call", "custom_tool_call", "web_search_call"),
    ),
    id: or(text),
    call_id: or(text),
    name: or(text),
    arguments: or(text),
    status: or(fc.constantFrom<Json>("completed", "incomplete", "in_progress")),
    summary: or(list(or(shape({ text: or(text) })))),
    content: or(
      list(
        or(
          shape({
            type: or(fc.constantFrom<Json>("output_text", "refusal")),
            text: or(text),
            refusal: or(text),
            annotations: wild,
          }),
        ),
      ),
    ),
  }),
);
const event = or(
  shape({
    type: fc.constantFrom<Json>(
      "response.output_item.added",
      "response.output_item.done",
      "response.output_text.delta",
      "response.output_text.done",
      "response.output_text.annotation.added",
      "response.refusal.done",
      "response.reasoning_summary_text.delta",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.completed",
      "response.new",
    ),
    output_index: or(small),
    content_index: or(small),
    item_id: or(text),
    item,
    delta: or(text),
    text: or(text),
    arguments: or(text),
    annotation: wild,
    response: or(shape({ status: or(text), output: or(list(item)), usage: wild })),
  }),
);

function outcome(act: () => AssistantMessage): AssistantMessage | undefined {
  try {
    return act();
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(RondoError);
    return undefined;
  }
}

function holds(message: AssistantMessage | undefined): void {
  if (message === undefined) return;
  // What is told must survive a journal, and no two calls may share an id.
  expect(JSON.parse(JSON.stringify(message))).toEqual(message);
  const ids = message.content.flatMap((part) => (part.type === "tool_call" ? [part.id] : []));
  expect(new Set(ids).size).toBe(ids.length);
  for (const part of message.content)
    if (part.type === "tool_call" && (part.argsError !== undefined || part.name === "")) {
      expect(part.args).toEqual({});
      expect(part.argsError).toBeTypeOf("string");
    }
}

test.each<[string, Codec, fc.Arbitrary<Json>, string]>([
  ["Chat Completions", openaiChat, chunk, "[DONE]"],
  [
    "Responses",
    openaiResponses,
    event,
    '{"type":"response.completed","response":{"status":"completed","output":[]}}',
  ],
])(
  "%s: whatever a server sends is an answer or a typed error, and never a half of either",
  (_, codec, frame, last) => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 8 }), (frames) => {
        const to = target(codec.api);
        holds(
          outcome(() => {
            const decoder = codec.decoder(to, () => {});
            for (const one of frames) decoder.push({ event: undefined, data: JSON.stringify(one) });
            decoder.push({ event: undefined, data: last });
            holds(decoder.partial());
            return decoder.end();
          }),
        );
        for (const one of frames) holds(outcome(() => codec.decodeWhole(one, to, () => {})));
      }),
      { numRuns: 400 },
    );
  },
);
