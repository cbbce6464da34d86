import {
  type AssistantMessage,
  callsOf,
  type Json,
  type JsonObject,
  type Message,
  type ModelEvent,
  type Part,
  parsedJson,
  repairHistory,
  textOf,
  userText,
} from "@rondo/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { renderAnthropic } from "../../testkit/src/wire/render-anthropic.ts";
import { renderBedrock } from "../../testkit/src/wire/render-bedrock.ts";
import { renderGoogle } from "../../testkit/src/wire/render-google.ts";
import { renderOpenaiChat } from "../../testkit/src/wire/render-openai-chat.ts";
import { renderOpenaiResponses } from "../../testkit/src/wire/render-openai-responses.ts";
import type { Rendered, Reply, ReplyBlock } from "../../testkit/src/wire/reply.ts";
import type { Codec } from "../src/codec.ts";
import { anthropicMessages } from "../src/codecs/anthropic-messages.ts";
import { bedrockConverse } from "../src/codecs/bedrock-converse.ts";
import { googleGenerativeAi } from "../src/codecs/google-generative-ai.ts";
import { openaiChat } from "../src/codecs/openai-chat.ts";
import { openaiResponses } from "../src/codecs/openai-responses.ts";
import { bodyOf, providers, requestFor } from "./accepting.ts";

const protocols: [string, Codec, (reply: Reply) => Rendered, string][] = [
  ["Anthropic Messages", anthropicMessages, renderAnthropic, "claude"],
  ["Bedrock Converse", bedrockConverse, renderBedrock, "anthropic.claude"],
  ["Google", googleGenerativeAi, renderGoogle, "gemini-2.5-pro"],
  ["Chat Completions", openaiChat, renderOpenaiChat, "gpt-5"],
  ["Responses", openaiResponses, renderOpenaiResponses, "gpt-5"],
];

/** Words that mean something in the notations of models, in protocols and in JSON; none of them does here. */
const word = fc.oneof(
  fc.constantFrom(
    ...'hello |<think>|</think>|<tool_call>|</tool_call>|<function=f>|</function>|<invoke name="f">|</invoke>'.split(
      "|",
    ),
    ...["<|im_end|>", "<|tool_call|>", "[TOOL_CALLS]", "<|channel|>final<|message|>", "to=functions.f"],
    ...['{"name":"f","arguments":{}}', "```json\n", "```", "[DONE]", "data: [DONE]\n\n", "event: error\n"],
    ...["\n", "\r\n", " ", '"', "\\", "{", "}", "<", "\u0000", "\u2028", "�", "😀"],
  ),
  fc.string({ unit: "grapheme", maxLength: 6 }),
);
const pieces = fc
  .array(
    word.filter((one) => one !== ""),
    { minLength: 1, maxLength: 8 },
  )
  .filter((all) => all.join("").trim() !== "");

const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    word,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => one + 0),
    fc.constantFrom<Json>(true, false, null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(word, tie("value"), { maxKeys: 3 }),
  ),
}));

function cut(text: string, places: readonly number[]): string[] {
  const ends = [...new Set(places.map((at) => at % text.length)), text.length].sort((a, b) => a - b);
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end)).filter((piece) => piece !== "");
}

const call = fc
  .record({
    name: fc.constantFrom("f", "read_file", "a-b"),
    args: fc.dictionary(fc.constantFrom("a", "path", "input", "arguments", "name"), value, { maxKeys: 3 }),
    places: fc.array(fc.nat(500), { maxLength: 5 }),
  })
  .map(({ name, args, places }): ReplyBlock & { type: "call" } => {
    const rawArgs = JSON.stringify(args);
    return {
      type: "call",
      name,
      args: args as JsonObject,
      rawArgs,
      broken: false,
      pieces: cut(rawArgs, places),
    };
  });

const said = fc
  .record({
    thought: fc.option(pieces, { nil: undefined }),
    text: fc.option(pieces, { nil: undefined }),
    calls: fc.array(call, { maxLength: 3 }),
  })
  .filter(({ text, calls }) => text !== undefined || calls.length > 0);

type Said = typeof said extends fc.Arbitrary<infer One> ? One : never;

function replyOf({ thought, text, calls }: Said): Reply {
  const blocks: ReplyBlock[] = structuredClone(calls);
  if (text !== undefined) blocks.unshift({ type: "text", text: text.join(""), pieces: [...text] });
  if (thought !== undefined)
    blocks.unshift({ type: "reasoning", text: thought.join(""), pieces: [...thought] });
  return {
    number: 1,
    model: "m",
    blocks,
    stop: { wire: calls.length > 0 ? "tool_use" : "end_turn" },
    usage: { inputTokens: 10, outputTokens: 5 },
    tellsUsage: true,
  };
}

/** What was said, without how it was divided into blocks. */
const meant = ({ thought = [], text = [], calls }: Said): Json => ({
  thought: thought.join(""),
  text: text.join(""),
  calls: calls.map(({ name, args }) => ({ name, args })),
  kind: calls.length > 0 ? "tool_use" : "end_turn",
});

const read = (message: AssistantMessage): Json => ({
  thought: message.content.map((part) => (part.type === "reasoning" ? part.text : "")).join(""),
  text: textOf(message),
  calls: message.content.flatMap((part) =>
    part.type === "tool_call" ? [{ name: part.name, args: part.argsError ?? part.args }] : [],
  ),
  kind: message.stop.kind,
});

describe.each(protocols)("an answer over %s", (_name, codec, render, model) => {
  const target = { origin: { api: codec.api, provider: "p", model }, facts: {} };

  it("is read as it was said, in a stream and at once, whatever words it holds", () => {
    fc.assert(
      fc.property(said, (one) => {
        const { head, blocks, tail, whole } = render(replyOf(one));
        const events: ModelEvent[] = [];
        const decoder = codec.decoder(target, (event) => events.push(event));
        for (const { event, data } of [...head, ...blocks.flat(), ...tail])
          if (!decoder.finished) decoder.push({ event, data });
        expect(JSON.stringify(read(decoder.end()))).toBe(JSON.stringify(meant(one)));
        const heard = events.map((event) => (event.type === "text_delta" ? event.text : ""));
        expect(heard.join("")).toBe((one.text ?? []).join(""));
        expect(JSON.stringify(read(codec.decodeWhole(whole, target, () => {})))).toBe(
          JSON.stringify(meant(one)),
        );
      }),
      { numRuns: 5000 },
    );
  });
});

const text = pieces.map((all) =>
  all
    .join("")
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, ""),
);

/** An answer of some model, with results for its calls. */
const turn = fc
  .record({
    text: fc.option(text, { nil: undefined }),
    calls: fc.array(fc.tuple(call, fc.array(text, { minLength: 1, maxLength: 3 })), { maxLength: 3 }),
    api: fc.constantFrom("anthropic-messages", "openai-chat", "google-generative-ai", "elsewhere"),
  })
  .map(({ text, calls, api }): Message[] => {
    const content: Part[] = calls.map(([{ name, args, rawArgs }], index) => ({
      type: "tool_call",
      id: `${index}`,
      name,
      args,
      rawArgs,
    }));
    if (text !== undefined) content.unshift({ type: "text", text });
    const kind = calls.length > 0 ? "tool_use" : "end_turn";
    const origin = { api, provider: "p", model: "m" };
    return [
      { role: "assistant", content, origin, stop: { kind, wire: kind } },
      ...calls.map(
        ([{ name }, results], index): Message => ({
          role: "tool",
          callId: `${index}`,
          name,
          content: results.map((one) => ({ type: "text", text: one })),
          isError: false,
        }),
      ),
    ];
  });
const conversation = fc.array(
  fc.oneof(
    turn,
    text.map((one): Message[] => [userText(one)]),
  ),
  {
    minLength: 1,
    maxLength: 6,
  },
);

/** The messages of a turn, with ids that no other turn has. */
const withOwnIds = (messages: readonly Message[], turn: number): Message[] =>
  messages.map((message) => {
    if (message.role === "tool") return { ...message, callId: `call_${turn}_${message.callId}` };
    if (message.role !== "assistant") return message;
    const content = message.content.map((part) =>
      part.type === "tool_call" ? { ...part, id: `call_${turn}_${part.id}` } : part,
    );
    return { ...message, content };
  });

/** All texts in a body, and the arguments of all calls as JSON. */
function sentIn(body: Json, texts: string[] = [], args: string[] = []): { texts: string[]; args: string[] } {
  if (typeof body === "string") texts.push(body);
  if (typeof body !== "object" || body === null) return { texts, args };
  for (const [name, inner] of Object.entries(body as JsonObject))
    if (name === "arguments" && typeof inner === "string") args.push(JSON.stringify(parsedJson(inner)));
    else if (name === "args" || (name === "input" && !Array.isArray(inner))) args.push(JSON.stringify(inner));
    else if (name !== "tools" && name !== "toolConfig") sentIn(inner, texts, args);
  return { texts, args };
}

describe.each(Object.keys(providers))("a conversation", (name) => {
  it(`is sent whole to ${name}: every text, and every call's arguments`, () => {
    fc.assert(
      fc.property(conversation, (turns) => {
        const given = [userText("begin"), ...turns.flatMap(withOwnIds)];
        const { texts, args } = sentIn(parsedJson(bodyOf(name, requestFor(repairHistory(given)))));
        const all = texts.join("\u0000");
        for (const message of given)
          for (const part of message.content)
            if (part.type === "text" && part.text.trim() !== "") expect(all).toContain(part.text);
        const made = given.flatMap((one) => (one.role === "assistant" ? callsOf(one) : []));
        expect(args.sort()).toEqual(made.map((one) => JSON.stringify(one.args)).sort());
      }),
      { numRuns: 2000 },
    );
  });
});
