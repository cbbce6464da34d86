// The room of arbitrary conversations: canonical histories as a loop may hold them, from any mixture of models.
//
// Every call has exactly one result, right after its message and in call order; everything else is as wild as it comes.

import type { AssistantMessage, ContentPart, Json, Message, Origin, Part, ToolMessage } from "@rondo/core";
import fc from "fast-check";

export const chatOrigin: Origin = { api: "openai-chat", provider: "test", model: "m" };
export const responsesOrigin: Origin = { api: "openai-responses", provider: "test", model: "m" };
const origins: Origin[] = [
  chatOrigin,
  responsesOrigin,
  { api: "openai-responses", provider: "test", model: "other" },
  { api: "anthropic-messages", provider: "anthropic", model: "claude" },
];

const words = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom("", " ", "\n", "hello", "\ud83d", "a\udc00b", "\u{1f600}", '"\\ud83d"', "\\u", "<|x|>"),
);
const args = fc.dictionary(
  fc.constantFrom("a", "b", "__proto__", "\ud800"),
  fc.oneof(words, fc.integer(), fc.boolean()),
) as fc.Arbitrary<{ [key: string]: Json }>;

const file: fc.Arbitrary<ContentPart> = fc.constantFrom<ContentPart>(
  { type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" },
  { type: "file", mediaType: "image/jpeg", url: "https://example.com/a.jpg" },
  { type: "file", mediaType: "application/pdf", data: "JVBERg==", name: "a.pdf" },
  { type: "file", mediaType: "application/pdf", url: "https://example.com/a.pdf" },
  { type: "file", mediaType: "text/plain", data: "aGk=" },
  { type: "file", mediaType: "audio/wav", data: "UklGRg==" },
  { type: "file", mediaType: "image/png", data: { blob: "sha", bytes: 9 } },
);
const content: fc.Arbitrary<ContentPart[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: words.map((text): ContentPart => ({ type: "text", text })) },
    { weight: 1, arbitrary: file },
  ),
  { maxLength: 3 },
);

const names = fc.constantFrom(
  "read_file",
  "a.b",
  "a_b",
  "multi_tool_use.parallel",
  "",
  "x".repeat(90),
  "naïve tool",
  "constructor",
);
const rawIds = fc.constantFrom(
  "call",
  "toolu_01AbmHJypDhKqBF7NKdRPJ6d",
  "call_x|fc_y",
  "x".repeat(446),
  "abcdefghi",
  "id_",
);

let count = 0;

const call: fc.Arbitrary<Part> = fc
  .record({ id: rawIds, name: names, args, broken: fc.boolean(), own: fc.boolean(), huge: fc.boolean() })
  .map(({ id, name, args, broken, own, huge }): Part => {
    const unique = id === "abcdefghi" ? `abc${String(count++).padStart(6, "0")}` : `${id}${count++}`;
    return {
      type: "tool_call",
      id: unique,
      name,
      args: broken ? {} : args,
      rawArgs: broken ? '{"a":' : huge ? '{"n":2512292042121000001}' : JSON.stringify(args),
      ...(broken ? { argsError: "cut" } : {}),
      ...(own ? { opaque: { id: `fc_${count++}` } } : {}),
    };
  });

const part: fc.Arbitrary<Part> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ text: words, own: fc.boolean() }).map(
      ({ text, own }): Part => ({
        type: "text",
        text,
        ...(own ? { opaque: { id: `msg_${count++}` } } : {}),
      }),
    ),
  },
  { weight: 3, arbitrary: call },
  {
    weight: 3,
    arbitrary: fc.record({ text: words, encrypted: fc.boolean() }).map(
      ({ text, encrypted }): Part => ({
        type: "reasoning",
        text,
        opaque: {
          item: {
            type: "reasoning",
            id: `rs_${count++}`,
            summary: [],
            ...(encrypted ? { encrypted_content: "E" } : {}),
          },
          reasoning_details: [{ type: "reasoning.text", text, index: 0 }],
        },
      }),
    ),
  },
  { weight: 1, arbitrary: words.map((text): Part => ({ type: "refusal", text })) },
  {
    weight: 1,
    arbitrary: fc.constant<Part>({
      type: "native",
      kind: "web_search_call",
      opaque: { item: { type: "web_search_call", id: "ws_1", status: "completed" } },
    }),
  },
);

const turn: fc.Arbitrary<Message[]> = fc
  .record({
    origin: fc.constantFrom(...origins),
    parts: fc.array(part, { maxLength: 6 }),
    results: fc.infiniteStream(content),
    offers: fc.subarray(["read_file", "a_b", "gone"]),
    asks: content,
    system: fc.boolean(),
  })
  .map(({ origin, parts, results, offers, asks, system }) => {
    const assistant: AssistantMessage = {
      role: "assistant",
      content: parts,
      origin,
      stop: { kind: "end_turn", wire: "end_turn" },
    };
    const answers = parts.flatMap((one): ToolMessage[] =>
      one.type === "tool_call"
        ? [
            {
              role: "tool",
              callId: one.id,
              name: one.name,
              isError: false,
              content: results.next().value as ContentPart[],
              offers,
            },
          ]
        : [],
    );
    return [
      { role: "user", content: asks },
      ...(system ? [{ role: "system" as const, content: [{ type: "text" as const, text: "be kind" }] }] : []),
      assistant,
      ...answers,
    ];
  });

export const conversations: fc.Arbitrary<Message[]> = fc
  .array(turn, { minLength: 1, maxLength: 5 })
  .map((turns) => turns.flat());
