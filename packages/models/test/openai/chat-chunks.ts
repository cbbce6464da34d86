// The room of Chat Completions streams in tests: short words for chunks, and a reader that reads each in every chunking.

import { type AssistantMessage, type Json, RondoError, type ToolCallPart } from "@rondo/core";
import { expect } from "vitest";
import type { Target } from "../../src/codec.ts";
import { openaiChat } from "../../src/codecs/openai-chat.ts";
import { type Chunking, decodeStream, target } from "./corpus.ts";

export type Loose = { [member: string]: Json };

export const origin = target("openai-chat");
export const usage: Loose = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

export function chunk(delta: Loose, more: Loose = {}): Loose {
  return {
    id: "c",
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: null, ...more }],
  };
}

export function finish(word: string): Loose {
  return chunk({}, { finish_reason: word });
}

export function calls(...list: Loose[]): Loose {
  return chunk({ tool_calls: list });
}

function sse(chunks: readonly (Loose | string)[]): string {
  return chunks.map((one) => `data: ${typeof one === "string" ? one : JSON.stringify(one)}\n\n`).join("");
}

/** The answer of a stream, which must be the same in every chunking. */
export function read(chunks: readonly (Loose | string)[], to: Target = origin): AssistantMessage {
  const [frames, ...others] = (["frames", "bytes", "whole"] as const).map((how: Chunking) => {
    const { message } = decodeStream(openaiChat, to, sse(chunks), how);
    return message;
  });
  for (const other of others) expect(anyIds(other)).toEqual(anyIds(frames!));
  return frames!;
}

function anyIds(message: AssistantMessage): AssistantMessage {
  return {
    ...message,
    content: message.content.map((part) =>
      part.type === "tool_call" && part.id.length === 29 ? { ...part, id: "*" } : part,
    ),
  };
}

export function callsOf(message: AssistantMessage): ToolCallPart[] {
  return message.content.filter((part) => part.type === "tool_call");
}

export function called(message: AssistantMessage): [string, Json][] {
  return callsOf(message).map((call) => [call.name, call.args]);
}

export function thrown(chunks: readonly (Loose | string)[], to: Target = origin): RondoError {
  try {
    read(chunks, to);
  } catch (error) {
    expect(error).toBeInstanceOf(RondoError);
    return error as RondoError;
  }
  throw new Error("nothing was thrown");
}

export const fn = (name: string, args: Json): Loose => ({ name, arguments: args });
