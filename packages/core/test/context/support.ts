// What the tests of the stages share: short histories by hand, and any histories at all.

import type { AssistantMessage, ContentPart, Message, Part, ToolMessage, UserMessage } from "@rondo/core";
import { userText } from "@rondo/core";
import fc from "fast-check";

const origin = { api: "a", provider: "p", model: "m" };

export const text = (words: string): ContentPart & Part => ({ type: "text", text: words });

export const image: ContentPart & Part = { type: "file", mediaType: "image/png", data: "AAAA" };

export const call = (id: string, name = "look", args: Record<string, string> = {}): Part => ({
  type: "tool_call",
  id,
  name,
  args,
  rawArgs: JSON.stringify(args),
});

export const answer = (...content: Part[]): AssistantMessage => {
  const kind = content.some((part) => part.type === "tool_call") ? "tool_use" : "end_turn";
  return { role: "assistant", content, origin, stop: { kind, wire: kind } };
};

export const result = (callId: string, words: string | ContentPart[], name = "look"): ToolMessage => ({
  role: "tool",
  callId,
  name,
  content: typeof words === "string" ? [text(words)] : words,
  isError: false,
});

/** One turn: an answer with one call, and its result. */
export const turn = (id: string, words: string | ContentPart[], name = "look"): Message[] => [
  answer(call(id, name)),
  result(id, words, name),
];

/** A task, and one turn for each result. */
export const history = (...results: (string | ContentPart[])[]): Message[] => [
  userText("go"),
  ...results.flatMap((words, at) => turn(`c${at}`, words)),
];

export const user = (words: string): UserMessage => userText(words);

/** Text of a message that has one text part. */
export const said = (message: Message | undefined): string =>
  message?.content.map((part) => (part.type === "text" ? part.text : `<${part.type}>`)).join("|") ?? "";

/** Any text: words, long lines, emoji and other pairs, Chinese. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 60 }),
  fc
    .tuple(fc.constantFrom("x", "line of words\n", "😀", "漢字", "a b "), fc.integer({ min: 0, max: 3_000 }))
    .map(([piece, times]) => piece.repeat(times)),
);

const anyContent: fc.Arbitrary<ContentPart[]> = fc.array(
  fc.oneof({ weight: 5, arbitrary: anyText.map(text) }, { weight: 1, arbitrary: fc.constant(image) }),
  { maxLength: 3 },
);

const anyTurn: fc.Arbitrary<(at: number) => Message[]> = fc
  .record({
    thought: fc.option(anyText, { nil: undefined }),
    words: fc.option(anyText, { nil: undefined }),
    results: fc.array(fc.record({ content: anyContent, name: fc.constantFrom("look", "read", "Shell") }), {
      maxLength: 3,
    }),
    input: fc.option(fc.integer({ min: 1, max: 50_000 }), { nil: undefined }),
  })
  .map(({ thought, words, results, input }) => (at) => {
    const ids = results.map((_, n) => `${at}-${n}`);
    const parts: Part[] = [
      ...(thought === undefined ? [] : [{ type: "reasoning" as const, text: thought }]),
      ...(words === undefined ? [] : [text(words)]),
      ...results.map(({ name }, n) => call(ids[n] as string, name, { at: String(n) })),
    ];
    const usage = input === undefined ? {} : { usage: { inputTokens: input, outputTokens: 10 } };
    return [
      { ...answer(...parts), ...usage },
      ...results.map(({ content, name }, n) => result(ids[n] as string, content, name)),
    ];
  });

/** Any history in which every call is answered. */
export const anyHistory: fc.Arbitrary<Message[]> = fc
  .array(
    fc.oneof(
      { weight: 1, arbitrary: anyText.map((words) => () => [userText(words)]) },
      { weight: 3, arbitrary: anyTurn },
    ),
    {
      maxLength: 8,
    },
  )
  .map((steps) => steps.flatMap((step, at) => step(at)));
