// A long conversation's request in pieces, part of it bytes from before, is the request as a text.

import type { Message, ModelRequest } from "@rondo/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Codec, WireRequest } from "../src/codec.ts";
import { anthropicMessages } from "../src/codecs/anthropic-messages.ts";
import { bedrockConverse } from "../src/codecs/bedrock-converse.ts";
import { openaiChat } from "../src/codecs/openai-chat.ts";
import { openaiResponses } from "../src/codecs/openai-responses.ts";
import { KeptText } from "../src/kept-text.ts";

const decoded = (bytes: Uint8Array | undefined): string =>
  bytes === undefined ? "" : new TextDecoder().decode(bytes);

test("a growing text is its kept bytes and the rest, and bytes that were handed out never change", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.string({ unit: "grapheme" }), fc.nat(20_000), fc.boolean()), { maxLength: 12 }),
      (pieces) => {
        const kept = new KeptText();
        let text = "";
        const given: [bytes: Uint8Array | undefined, said: string][] = [];
        for (const [letters, count, asked] of pieces) {
          const piece = `${letters} `.repeat(count / 4);
          kept.append(piece);
          text += piece;
          if (!asked) continue;
          const now = kept.now();
          expect(now.text).toBe(text);
          expect(decoded(now.bytes) + now.rest).toBe(text);
          given.push([now.bytes, decoded(now.bytes)]);
        }
        for (const [bytes, said] of given) expect(decoded(bytes)).toBe(said);
      },
    ),
    { numRuns: 50 },
  );
});

const origin = { api: "a", provider: "p", model: "m" };

function turn(at: number): Message[] {
  const id = `call_${at}`;
  return [
    {
      role: "assistant",
      content: [
        { type: "text", text: `Step ${at} é` },
        { type: "tool_call", id, name: "look", args: { at }, rawArgs: `{"at":${at}}` },
      ],
      origin,
      stop: { kind: "tool_use", wire: "tool_use" },
    },
    {
      role: "tool",
      callId: id,
      name: "look",
      content: [{ type: "text", text: `${at} 你好 🙂 `.repeat(at % 7 === 0 ? 900 : 40) }],
      isError: false,
    },
  ];
}

const asked: Message = { role: "user", content: [{ type: "text", text: "Look." }] };
const requestOf = (messages: Message[]): ModelRequest => ({
  system: "Look well.",
  messages,
  tools: [{ name: "look", description: "Looks.", inputSchema: { type: "object" } }],
  toolChoice: "auto",
  settings: {},
});

function inPieces({ body, parts }: WireRequest): string {
  return parts === undefined ? body : parts.before + decoded(parts.kept) + parts.after;
}

describe.each<[string, Codec]>([
  ["Chat Completions", openaiChat],
  ["Responses", openaiResponses],
  ["Anthropic Messages", anthropicMessages],
  ["Bedrock Converse", bedrockConverse],
])("a request of %s", (_name, codec) => {
  test("gives the same text in pieces, while it grows, when it is sent again, and when the history is another one", () => {
    const encoder = codec.encoder({ origin, facts: {} });
    const fresh = (messages: Message[]): string =>
      codec.encoder({ origin, facts: {} }).encode(requestOf(messages)).body;
    const history: Message[] = [asked];
    let sentInPieces = 0;
    const sent: [wire: WireRequest, body: string][] = [];
    const send = (messages: Message[]): void => {
      const wire = encoder.encode(requestOf([...messages]));
      expect(inPieces(wire)).toBe(wire.body);
      expect(wire.body).toBe(fresh(messages));
      if (wire.parts !== undefined) sentInPieces += 1;
      sent.push([wire, wire.body]);
    };
    for (let at = 0; at < 60; at += 1) {
      send(history);
      if (at % 9 === 0) send(history);
      if (at % 20 === 19) send([...history.slice(0, -2), ...turn(at + 1_000)]);
      history.push(...turn(at));
      if (at % 11 === 0) history.push({ role: "user", content: [{ type: "text", text: `And ${at}?` }] });
    }
    expect(sentInPieces).toBeGreaterThan(20);
    for (const [wire, body] of sent) expect(inPieces(wire)).toBe(body);
  });
});
