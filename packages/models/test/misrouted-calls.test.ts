// Whatever a gateway does to the places of blocks, no call runs with nothing that was told something.

import type { AssistantMessage, ToolCallPart } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { faultWithoutArgs } from "../src/answer/misrouted-calls.ts";
import { anthropicMessages } from "../src/codecs/anthropic-messages.ts";
import { bedrockConverse } from "../src/codecs/bedrock-converse.ts";
import { targetOf } from "./anthropic/feeding.ts";

/** A text at 0, calls at 1 and 2, nobody at 3. */
const places = [0, 1, 2, 3] as const;
type Place = (typeof places)[number];
interface Piece {
  at: Place;
  args: string;
}

function byAnthropic(pieces: readonly Piece[]): AssistantMessage {
  const decoder = anthropicMessages.decoder(targetOf("anthropic-messages", "p", "m"), () => {});
  const push = (event: object): void => decoder.push({ event: undefined, data: JSON.stringify(event) });
  push({ type: "message_start", message: { id: "m", content: [] } });
  push({ type: "content_block_start", index: 0, content_block: { type: "text", text: "Hi" } });
  for (const index of [1, 2])
    push({
      type: "content_block_start",
      index,
      content_block: { type: "tool_use", id: `t${index}`, name: "f", input: {} },
    });
  for (const { at, args } of pieces)
    push({
      type: "content_block_delta",
      index: at,
      delta: { type: "input_json_delta", partial_json: args },
    });
  for (const index of [0, 1, 2]) push({ type: "content_block_stop", index });
  push({ type: "message_delta", delta: { stop_reason: "tool_use" } });
  push({ type: "message_stop" });
  return decoder.end();
}

function byBedrock(pieces: readonly Piece[]): AssistantMessage {
  const decoder = bedrockConverse.decoder(targetOf("bedrock-converse", "p", "m"), () => {});
  const push = (event: string, payload: object): void =>
    decoder.push({ event, data: JSON.stringify(payload) });
  push("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Hi" } });
  for (const index of [1, 2])
    push("contentBlockStart", {
      contentBlockIndex: index,
      start: { toolUse: { toolUseId: `t${index}`, name: "f" } },
    });
  for (const { at, args } of pieces)
    push("contentBlockDelta", { contentBlockIndex: at, delta: { toolUse: { input: args } } });
  for (const index of [0, 1, 2]) push("contentBlockStop", { contentBlockIndex: index });
  push("messageStop", { stopReason: "tool_use" });
  return decoder.end();
}

const callsOf = (message: AssistantMessage): ToolCallPart[] =>
  message.content.filter((part) => part.type === "tool_call");

/** Where each of the pieces may come to lie. */
function* misplaced(pieces: readonly string[]): Generator<Piece[]> {
  const [first, ...rest] = pieces;
  if (first === undefined) {
    yield [];
    return;
  }
  for (const at of places) for (const others of misplaced(rest)) yield [{ at, args: first }, ...others];
}

describe.each([
  ["Anthropic", byAnthropic],
  ["Bedrock", byBedrock],
])("%s's blocks with their arguments in other blocks", (_name, decode) => {
  it.each([
    ["in one piece each", ['{"a":1}', '{"b":2}']],
    ["in pieces", ['{"a":', "1}", '{"b":', "2}"]],
  ])("run no call with empty arguments, and lose no text: %s", (_how, told) => {
    for (const pieces of misplaced(told)) {
      const message = decode(pieces);
      expect(message.content[0]).toMatchObject({ type: "text", text: "Hi" });
      for (const { args, argsError } of callsOf(message))
        expect(argsError !== undefined || Object.keys(args).length > 0, JSON.stringify(pieces)).toBe(true);
    }
  });

  it("let calls without any arguments run without them", () => {
    for (const call of callsOf(decode([]))) expect(call).toMatchObject({ args: {} });
    for (const call of callsOf(decode([]))) expect(call.argsError).toBeUndefined();
    const [told, silent] = callsOf(decode([{ at: 1, args: '{"a":"}{"}' }]));
    expect([told?.args, silent?.args, silent?.argsError]).toEqual([{ a: "}{" }, {}, undefined]);
  });
});

it.each([[["{ }"]], [["{", " }"]], [["{", " ", "}"]]])(
  "an empty object with a blank in it stays one, however it was cut: %j",
  (pieces) => {
    const call = { id: "a", name: "f", pieces };
    faultWithoutArgs([call], true);
    expect(call).not.toHaveProperty("fault");
  },
);
