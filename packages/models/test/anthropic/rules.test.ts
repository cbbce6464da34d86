import type { AssistantMessage, Json, JsonObject, Message, ModelRequest, Part } from "@rondo/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkAnthropicRequest } from "../../../testkit/src/wire/rules/anthropic.ts";
import { checkBedrockRequest } from "../../../testkit/src/wire/rules/bedrock.ts";
import { nameFromWire, nameToWire } from "../../src/codecs/anthropic/names.ts";
import {
  anthropicMessages,
  anthropicOnBedrock,
  anthropicOnVertex,
} from "../../src/codecs/anthropic-messages.ts";
import { bedrockConverse } from "../../src/codecs/bedrock-converse.ts";
import { history, origins, request } from "./conversations.ts";
import { answerTo, targetOf } from "./feeding.ts";

const models = [
  "claude-3-5-haiku-20241022",
  "claude-sonnet-4-5",
  "claude-opus-4-6",
  "claude-sonnet-5",
  "claude-opus-5-5",
  "some-compatible-model",
];

describe("every conversation, valid or not, becomes a request that the provider accepts", () => {
  it("Anthropic Messages, for every generation of models", () => {
    fc.assert(
      fc.property(request, fc.constantFrom(...models), fc.boolean(), (asked, model, offersInPlace) => {
        const { body } = anthropicMessages
          .encoder(targetOf("anthropic-messages", "anthropic", model, { facts: { offersInPlace } }))
          .encode(asked);
        expect(checkAnthropicRequest(JSON.parse(body))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it("Anthropic on Bedrock and on Vertex", () => {
    fc.assert(
      fc.property(request, fc.constantFrom(anthropicOnBedrock, anthropicOnVertex), (asked, codec) => {
        const target = targetOf("anthropic-messages", "vertex", "claude-sonnet-4-5@20250929");
        const body = JSON.parse(codec.encoder(target).encode(asked).body) as JsonObject;
        expect(checkAnthropicRequest(body)).toEqual([]);
        expect(body.model).toBeUndefined();
        expect(body.anthropic_version).toMatch(/^(bedrock|vertex)-/);
      }),
      { numRuns: 50 },
    );
  });

  it("Bedrock Converse", () => {
    fc.assert(
      fc.property(
        request,
        fc.constantFrom(
          ...models.map((model) => `us.anthropic.${model}-v1:0`),
          "amazon.nova-2-lite-v1:0",
          "meta.llama3",
        ),
        (asked, model) => {
          const { body } = bedrockConverse
            .encoder(targetOf("bedrock-converse", "bedrock", model))
            .encode(asked);
          expect(checkBedrockRequest(JSON.parse(body))).toEqual([]);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("a model switch in the middle of a history leaves no opaque data of another origin in the request", () => {
    fc.assert(
      fc.property(history, fc.constantFrom(...origins.slice(0, 2)), (messages, origin) => {
        const { body } = anthropicMessages.encoder({ origin, facts: {} }).encode(plainRequest(messages));
        const foreign = messages.filter(
          (message): message is AssistantMessage =>
            message.role === "assistant" && message.origin.model !== origin.model,
        );
        const own = messages.filter(
          (message): message is AssistantMessage =>
            message.role === "assistant" && message.origin.model === origin.model,
        );
        const signed = (list: AssistantMessage[]): number =>
          list
            .flatMap((message) => message.content)
            .filter((part) => part.type === "reasoning" && part.opaque?.signature).length;
        const sent = (body.match(/"signature":"c2ln"/g) ?? []).length;
        expect(sent).toBeLessThanOrEqual(signed(own));
        if (own.length === 0) expect(sent).toBe(0);
        expect(foreign.length + own.length).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 200 },
    );
  });
});

function plainRequest(messages: Message[]): ModelRequest {
  return { messages, tools: [], toolChoice: "auto", settings: {} };
}

const unmarked = (body: string): string => body.replaceAll(/,"cache_control":\{"type":"ephemeral"\}/g, "");
const messagesPart = (body: string): string => body.slice(body.indexOf('"messages":'));

describe("the prefix is stable and nothing is encoded twice", () => {
  it("each request extends the one before, byte for byte, except for cache marks and closing brackets", () => {
    const step = fc.tuple(fc.nat(3), fc.string({ minLength: 1 }));
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
        const target = targetOf("anthropic-messages", "anthropic", "claude-sonnet-4-5");
        const encoder = anthropicMessages.encoder(target);
        const messages: Message[] = [{ role: "user", content: [{ type: "text", text: "go" }] }];
        let before: string | undefined;
        for (const [index, [calls, words]] of steps.entries()) {
          const body = unmarked(encoder.encode(plainRequest(messages)).body);
          const now = messagesPart(body).replace(/[\]}]+$/, "");
          if (before !== undefined) expect(now.startsWith(before)).toBe(true);
          before = now;
          const parts: Part[] = Array.from({ length: calls }, (_, nth) => ({
            type: "tool_call",
            id: `toolu_${index}_${nth}`,
            name: "weather",
            args: { words },
            rawArgs: JSON.stringify({ words }),
          }));
          messages.push({
            role: "assistant",
            content: [
              { type: "reasoning", text: words, opaque: { signature: "s" } },
              { type: "text", text: `x${words}` },
              ...parts,
            ],
            origin: target.origin,
            stop: { kind: calls > 0 ? "tool_use" : "end_turn", wire: "end_turn" },
          });
          for (const part of parts)
            if (part.type === "tool_call")
              messages.push({ role: "tool", callId: part.id, name: part.name, content: [], isError: false });
          if (calls !== 1)
            messages.push({ role: "user", content: [{ type: "text", text: `more ${words}` }] });
        }
      }),
      { numRuns: 100 },
    );
  });

  it("an encoder that has seen the history before writes what a new one writes, including warnings", () => {
    for (const codec of [anthropicMessages, bedrockConverse])
      fc.assert(
        fc.property(
          fc.array(history, { minLength: 1, maxLength: 3 }),
          fc.array(fc.nat(12)),
          (parts, cuts) => {
            const target = targetOf(codec.api, "anthropic", "claude-sonnet-4-5");
            const encoder = codec.encoder(target);
            const messages = parts.flat();
            const lengths = [
              ...messages.keys(),
              messages.length,
              ...cuts.filter((cut) => cut <= messages.length),
            ];
            for (const length of lengths) {
              const asked = plainRequest(messages.slice(0, length));
              expect(encoder.encode(asked)).toEqual(codec.encoder(target).encode(asked));
            }
          },
        ),
        { numRuns: 100 },
      );
  });

  it("two sessions that take turns with one encoder do not affect each other", () => {
    const target = targetOf("anthropic-messages", "anthropic", "claude-sonnet-4-5");
    const encoder = anthropicMessages.encoder(target);
    const sessions = ["a", "b"].map((name): Message[] => [
      { role: "user", content: [{ type: "text", text: name }] },
    ]);
    for (let step = 0; step < 6; step++)
      for (const messages of sessions) {
        expect(encoder.encode(plainRequest(messages))).toEqual(
          anthropicMessages.encoder(target).encode(plainRequest(messages)),
        );
        messages.push(
          {
            role: "assistant",
            content: [{ type: "tool_call", id: `t${step}`, name: "f", args: {}, rawArgs: "{}" }],
            origin: target.origin,
            stop: { kind: "tool_use", wire: "tool_use" },
          },
          { role: "tool", callId: `t${step}`, name: "f", content: [], isError: false },
        );
      }
  });

  it("a message that was sent before is not read again", () => {
    const target = targetOf("anthropic-messages", "anthropic", "claude-sonnet-4-5");
    for (const codec of [anthropicMessages, bedrockConverse]) {
      let reads = 0;
      const watched = (text: string): Message => ({
        role: "user",
        content: [
          {
            type: "text",
            get text() {
              reads++;
              return text;
            },
          },
        ],
      });
      const encoder = codec.encoder(target);
      const messages = [watched("a"), watched("b")];
      encoder.encode(plainRequest(messages));
      const afterFirst = reads;
      encoder.encode(plainRequest(messages));
      expect(reads).toBe(afterFirst);
      messages.push(watched("c"));
      encoder.encode(plainRequest(messages));
      expect(reads).toBe(afterFirst + afterFirst / 2);
    }
  });
});

describe("names and ids", () => {
  it("a tool's name is restored from the wire, unless it is too long", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ minLength: 1, unit: "binary", maxLength: 12 }),
          fc.stringMatching(/^[_x25E.F]{1,12}$/),
        ),
        (name) => {
          const wire = nameToWire(name, 200);
          expect(wire).toMatch(/^[a-zA-Z0-9_-]{1,200}$/);
          expect(nameFromWire(wire)).toBe(name);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("different ids stay different, whatever they contain", () => {
    const encoder = anthropicMessages.encoder(
      targetOf("anthropic-messages", "anthropic", "claude-sonnet-4-5"),
    );
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ maxLength: 90 }), { minLength: 2, maxLength: 6 }), (ids) => {
        const calls: Part[] = ids.map((id) => ({ type: "tool_call", id, name: "f", args: {}, rawArgs: "" }));
        const answer: AssistantMessage = {
          role: "assistant",
          content: calls,
          origin: origins[3] as AssistantMessage["origin"],
          stop: { kind: "tool_use", wire: "tool_use" },
        };
        const results = [...ids].reverse().map(
          (id): Message => ({
            role: "tool",
            callId: id,
            name: "f",
            content: [{ type: "text", text: `r:${id}` || "r" }],
            isError: false,
          }),
        );
        const body = JSON.parse(
          encoder.encode(
            plainRequest([{ role: "user", content: [{ type: "text", text: "go" }] }, answer, ...results]),
          ).body,
        ) as {
          messages: { content: { id?: string; tool_use_id?: string; content?: { text: string }[] }[] }[];
        };
        const sent = body.messages[1]?.content.map((block) => block.id) ?? [];
        expect(new Set(sent).size).toBe(ids.length);
        expect(body.messages[2]?.content.map((block) => block.tool_use_id)).toEqual(sent);
      }),
    );
  });
});

describe("an answer is decoded as it was sent", () => {
  const textPart = fc.string({ minLength: 1 }).map((words): Part => ({ type: "text", text: words }));
  const callPart = fc
    .dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
    .map((args): Part => {
      const value = JSON.parse(JSON.stringify(args)) as JsonObject;
      return { type: "tool_call", id: "", name: "weather", args: value, rawArgs: JSON.stringify(value) };
    });
  const thought = fc
    .string()
    .map((words): Part => ({ type: "reasoning", text: words, opaque: { signature: "c2ln" } }));
  const parts = fc
    .array(fc.oneof(textPart, callPart, thought), { maxLength: 5 })
    .map((list) =>
      list.map((part, at): Part => (part.type === "tool_call" ? { ...part, id: `toolu_${at}` } : part)),
    );

  it("streamed by Anthropic, cut into pieces of any length", () => {
    fc.assert(
      fc.property(parts, fc.integer({ min: 1, max: 7 }), (content, length) => {
        const events: Json[] = [
          {
            type: "message_start",
            message: { id: "msg_1", content: [], usage: { input_tokens: 1, output_tokens: 1 } },
          },
          ...content.flatMap((part, index) => blockEvents(part, index, length)),
          { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } },
          { type: "message_stop" },
        ];
        const target = targetOf("anthropic-messages", "anthropic", "claude-sonnet-4-5");
        const answer = answerTo(anthropicMessages, target, events);
        expect(answer.content).toEqual(content);
        expect(answer.stop.kind).toBe(
          content.some((part) => part.type === "tool_call") ? "tool_use" : "end_turn",
        );
      }),
      { numRuns: 100 },
    );
  });

  it("streamed by Bedrock, cut into pieces of any length", () => {
    fc.assert(
      fc.property(parts, fc.integer({ min: 1, max: 7 }), (content, length) => {
        const decoder = bedrockConverse.decoder(targetOf("bedrock-converse", "bedrock", "m"), () => {});
        const push = (event: string, payload: Json): void =>
          decoder.push({ event, data: JSON.stringify(payload) });
        push("messageStart", { role: "assistant" });
        for (const [index, part] of content.entries()) {
          if (part.type === "tool_call")
            push("contentBlockStart", {
              contentBlockIndex: index,
              start: { toolUse: { toolUseId: part.id, name: part.name } },
            });
          for (const delta of bedrockDeltas(part, length))
            push("contentBlockDelta", { contentBlockIndex: index, delta });
          push("contentBlockStop", { contentBlockIndex: index });
        }
        push("messageStop", { stopReason: "end_turn" });
        expect(decoder.end().content).toEqual(content);
      }),
      { numRuns: 100 },
    );
  });
});

function cut(text: string, length: number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += length) pieces.push(text.slice(at, at + length));
  return pieces;
}

function blockEvents(part: Part, index: number, length: number): Json[] {
  const around = (block: Json, deltas: Json[]): Json[] => [
    { type: "content_block_start", index, content_block: block },
    ...deltas.map((delta): Json => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
  if (part.type === "text")
    return around(
      { type: "text", text: "" },
      cut(part.text, length).map((text) => ({ type: "text_delta", text })),
    );
  if (part.type === "reasoning")
    return around({ type: "thinking", thinking: "" }, [
      ...cut(part.text, length).map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature: "c2ln" },
    ]);
  if (part.type !== "tool_call") return [];
  return around(
    { type: "tool_use", id: part.id, name: part.name, input: {} },
    cut(part.rawArgs, length).map((piece) => ({ type: "input_json_delta", partial_json: piece })),
  );
}

function bedrockDeltas(part: Part, length: number): Json[] {
  if (part.type === "text") return cut(part.text, length).map((text) => ({ text }));
  if (part.type === "reasoning")
    return [
      ...cut(part.text, length).map((text) => ({ reasoningContent: { text } })),
      { reasoningContent: { signature: "c2ln" } },
    ];
  return part.type === "tool_call" ? cut(part.rawArgs, length).map((input) => ({ toolUse: { input } })) : [];
}
