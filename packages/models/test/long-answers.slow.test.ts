// Answers in tens of thousands of events, as a hostile or a broken server sends them: each event costs what it holds, and
// nothing of what came before is gone through again. Where work cannot be counted, the numbers are such that a quadratic reader would not finish.

import { type AssistantMessage, callsOf, type Json } from "@rondo/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Codec } from "../src/codec.ts";
import { anthropicMessages } from "../src/codecs/anthropic-messages.ts";
import { bedrockConverse } from "../src/codecs/bedrock-converse.ts";
import { googleGenerativeAi } from "../src/codecs/google-generative-ai.ts";
import { openaiChat } from "../src/codecs/openai-chat.ts";
import { openaiResponses } from "../src/codecs/openai-responses.ts";
import { targetOf } from "./anthropic/feeding.ts";

type Event = [event: string | undefined, payload: Json];

const many = 100_000;

function decoded(codec: Codec, events: Iterable<Event>): AssistantMessage {
  const decoder = codec.decoder(targetOf(codec.api, "p", "m"), () => {});
  for (const [event, payload] of events) decoder.push({ event, data: JSON.stringify(payload) });
  return decoder.end();
}

function* times(count: number, event: (at: number) => Event, ...end: Event[]): Iterable<Event> {
  for (let at = 0; at < count; at++) yield event(at);
  yield* end;
}

const delta = (change: Json): Event => [undefined, { choices: [{ index: 0, delta: change }] }];
const chatEnd: Event = [undefined, { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] }];
const chatCall = (call: Json): Event => delta({ tool_calls: [call] });

describe("Chat Completions", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it("parses arguments once, even if each piece repeats the name and ends like an object", () => {
    const body = "{}".repeat(20_000);
    const args = JSON.stringify({ code: body });
    const pieces = args.match(/[^}]*\}?/g)?.filter((piece) => piece !== "") ?? [];
    expect(pieces.length).toBeGreaterThan(10_000);
    let parsed = 0;
    const parse = JSON.parse;
    vi.spyOn(JSON, "parse").mockImplementation((text: string, ...rest) => {
      parsed += text.length;
      return parse(text, ...rest) as unknown;
    });
    const events = pieces.map((piece) =>
      chatCall({ index: 0, id: "c", function: { name: "f", arguments: piece } }),
    );
    const wire = events.reduce((sum, [, payload]) => sum + JSON.stringify(payload).length, 0);
    const message = decoded(openaiChat, [...events, chatEnd]);
    expect(callsOf(message).map((call) => call.args)).toEqual([{ code: body }]);
    expect(parsed).toBeLessThan(wire + 5 * args.length);
  });

  it.each<[string, (at: number) => Event]>([
    ["ids without numbers", (at) => chatCall({ id: `c${at}`, function: { name: "f", arguments: "{}" } })],
    [
      "one id with arguments of their own",
      (at) => chatCall({ index: at, id: "c", function: { name: "f", arguments: `{"a":${at}}` } }),
    ],
    ["no id", (at) => chatCall({ index: at, function: { name: "f", arguments: "{}" } })],
  ])("reads many calls with %s", (_, call) => {
    expect(callsOf(decoded(openaiChat, times(many, call, chatEnd)))).toHaveLength(many);
  });

  it("reads many empty pieces of arguments, and many unknown members", () => {
    const odd = Object.fromEntries(Array.from({ length: many }, (_, at) => [`k${at}`, at]));
    const message = decoded(openaiChat, [
      chatCall({ index: 0, id: "c", function: { name: "f", arguments: "" }, ...odd }),
      ...times(many, () => chatCall({ index: 0, id: "c", function: { name: "f", arguments: "" } })),
      ...times(many, (at) => chatCall({ index: 0, [`l${at}`]: at })),
      chatEnd,
    ]);
    expect(Object.keys(callsOf(message)[0]?.opaque ?? {})).toHaveLength(2 * many);
  });

  it("reads many entries of reasoning, and many citations", () => {
    const message = decoded(openaiChat, [
      ...times(many, (at) =>
        delta({ reasoning_details: [{ index: at, type: "reasoning.text", text: "x" }] }),
      ),
      ...times(many, (at) => delta({ content: "x", annotations: [{ at }] })),
      chatEnd,
    ]);
    const [reasoning, text] = message.content;
    expect(reasoning).toMatchObject({
      text: "x".repeat(many),
      opaque: { reasoning_details: { length: many } },
    });
    expect(text).toMatchObject({ text: "x".repeat(many), citations: { length: many } });
  });
});

describe("Responses", () => {
  const item = (at: number): Json => ({
    type: "function_call",
    id: `i${at}`,
    call_id: `c${at}`,
    name: "f",
    arguments: "{}",
  });
  const completed = (output: Json[]): Event => [
    undefined,
    { type: "response.completed", response: { status: "completed", output } },
  ];
  const done = (at: number, place: { output_index?: number }): Event => [
    undefined,
    { type: "response.output_item.done", ...place, item: item(at) },
  ];

  it.each<[string, (at: number) => Event]>([
    ["without a place", (at) => done(at, {})],
    ["with a place of their own", (at) => done(at, { output_index: at })],
  ])("reads many items %s", (_, event) => {
    expect(callsOf(decoded(openaiResponses, times(many, event, completed([]))))).toHaveLength(many);
  });

  it("compares many items with the list at the end, which has other ids", () => {
    const renamed = Array.from({ length: 20_000 }, (_, at) => ({
      type: "message",
      id: `m${at}`,
      content: [{ type: "output_text", text: `text ${at}` }],
    }));
    const events = times(20_000, (at): Event => {
      const text = { ...(renamed[at] as { [key: string]: Json }), id: `n${at}` };
      return [undefined, { type: "response.output_item.done", output_index: at + 30_000, item: text }];
    });
    const message = decoded(openaiResponses, [...events, completed(renamed)]);
    expect(message.content).toHaveLength(20_000);
  });
});

describe("Anthropic", () => {
  const started = (block: Json): Event => [
    undefined,
    { type: "content_block_start", index: 0, content_block: block },
  ];
  const changed = (change: Json): Event => [
    undefined,
    { type: "content_block_delta", index: 0, delta: change },
  ];
  const end: Event[] = [
    [undefined, { type: "message_delta", delta: { stop_reason: "tool_use" } }],
    [undefined, { type: "message_stop" }],
  ];

  it("reads many blank arguments, and many unknown parts of a block", () => {
    const blanks = decoded(anthropicMessages, [
      started({ type: "tool_use", id: "c", name: "f", input: {} }),
      ...times(many, () => changed({ type: "input_json_delta", partial_json: " " })),
      changed({ type: "input_json_delta", partial_json: '{"a":1}' }),
      ...end,
    ]);
    const [call] = callsOf(blanks);
    expect([call?.args, call?.rawArgs.length]).toEqual([{ a: 1 }, many + 7]);
    const unknown = decoded(anthropicMessages, [
      started({ type: "new_result", content: [] }),
      ...times(many, (at) => changed({ type: "new_delta", content: at })),
      ...end,
    ]);
    expect(unknown.content[0]).toMatchObject({ opaque: { content: { length: many } } });
  });
});

describe("Bedrock", () => {
  const changed = (change: Json): Event => ["contentBlockDelta", { contentBlockIndex: 0, delta: change }];
  const end: Event[] = [
    ["messageStop", { stopReason: "end_turn" }],
    ["metadata", { usage: {} }],
  ];

  it("joins many pieces of encrypted reasoning", () => {
    const message = decoded(
      bedrockConverse,
      times(many, () => changed({ reasoningContent: { redactedContent: btoa("x") } }), ...end),
    );
    const [reasoning] = message.content;
    const redacted = reasoning?.type === "reasoning" ? reasoning.opaque?.redacted : undefined;
    expect(atob(String(redacted)) === "x".repeat(many)).toBe(true);
  });

  it("joins many pieces of a result of the service's own tool", () => {
    const message = decoded(bedrockConverse, [
      ["contentBlockStart", { contentBlockIndex: 0, start: { toolResult: { toolUseId: "t" } } }],
      ...times(many, () => changed({ toolResult: [{ text: "x" }] }), ...end),
    ]);
    expect(message.content[0]).toMatchObject({ opaque: { toolResult: { content: { length: many } } } });
  });
});

describe("Google", () => {
  it("reads many members of grounding data", () => {
    const grounded = (at: number): Event => [
      undefined,
      { candidates: [{ content: { parts: [] }, groundingMetadata: { [`k${at}`]: at } }] },
    ];
    const message = decoded(
      googleGenerativeAi,
      times(many, grounded, [
        undefined,
        { candidates: [{ content: { parts: [{ text: "x" }] }, finishReason: "STOP" }] },
      ]),
    );
    const [text] = message.content;
    const [source] = text?.type === "text" ? (text.citations ?? []) : [];
    expect(Object.keys((source as { groundingMetadata: object }).groundingMetadata)).toHaveLength(many);
  });
});
