// The room of comparison: an answer in a common format that every official client's result can be converted to.

import type { AssistantMessage, ModelEvent, Usage } from "@rondo/core";
import type { Codec } from "../../packages/models/src/codec.ts";
import { anthropicMessages } from "../../packages/models/src/codecs/anthropic-messages.ts";
import { bedrockConverse } from "../../packages/models/src/codecs/bedrock-converse.ts";
import { googleGenerativeAi } from "../../packages/models/src/codecs/google-generative-ai.ts";
import { openaiChat } from "../../packages/models/src/codecs/openai-chat.ts";
import { openaiResponses } from "../../packages/models/src/codecs/openai-responses.ts";
import { EventStreamDecoder } from "../../packages/models/src/transport/event-stream.ts";
import { SseDecoder } from "../../packages/models/src/transport/sse.ts";
import type { Loose, Protocol, Recording } from "./corpus.ts";

export interface Said {
  text: string;
  reasoning: string;
  calls: { name: string; args: unknown }[];
  /** The provider's own stop word. */
  stop: string | undefined;
  usage: Usage;
}

/** The official client's result, and that of its convenience helper if it differs. */
export interface Theirs extends Said {
  helper?: { said: { text: string; calls: unknown[]; stop: string | undefined }; quirks: string[] };
}

/** A call of a Responses answer. GPT's wrapper for several calls, which the official client does not know, is those calls. */
export function responsesCalls(name: string, args: Loose): Said["calls"] {
  const uses = name === "parallel" ? (args.tool_uses as Loose[]) : [];
  return uses.length === 0
    ? [{ name, args }]
    : uses.map((use) => ({
        name: String(use.recipient_name).replace("functions.", ""),
        args: use.parameters,
      }));
}

export const codecs: { readonly [P in Protocol]: Codec } = {
  "anthropic-messages": anthropicMessages,
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
  "google-generative-ai": googleGenerativeAi,
  "bedrock-converse": bedrockConverse,
};

export type Feeding = "frames" | "bytes" | "at once";

/** The answer as our codec reads it from the wire. */
export function decode(recording: Recording, feeding: Feeding): AssistantMessage {
  const codec = codecs[recording.protocol];
  const target = { origin: { api: codec.api, provider: "fixtures", model: "recorded" }, facts: {} };
  const emit = (_event: ModelEvent): void => {};
  if (recording.whole)
    return codec.decodeWhole(JSON.parse(new TextDecoder().decode(recording.frames[0])), target, emit);
  const decoder = codec.decoder(target, emit);
  const onFrame = (frame: Parameters<typeof decoder.push>[0]): void => {
    if (!decoder.finished) decoder.push(frame);
  };
  const framer = codec.framing === "sse" ? new SseDecoder(onFrame) : new EventStreamDecoder(onFrame);
  for (const chunk of chunked(recording.frames, feeding)) framer.push(chunk);
  if (framer.end()) throw new Error("the stream ends inside a frame");
  return decoder.end();
}

function chunked(frames: readonly Uint8Array[], feeding: Feeding): Uint8Array[] {
  if (feeding === "frames") return [...frames];
  const all = Buffer.concat(frames);
  return feeding === "at once" ? [all] : Array.from(all, (byte) => Uint8Array.of(byte));
}

export function said(message: AssistantMessage): Said {
  const of = (type: "text" | "reasoning"): string =>
    message.content.map((part) => (part.type === type ? part.text : "")).join("");
  return {
    text: of("text"),
    reasoning: of("reasoning"),
    calls: message.content.flatMap((part) =>
      part.type === "tool_call" ? [{ name: part.name, args: part.args }] : [],
    ),
    stop: message.stop.raw,
    usage: message.usage ?? {},
  };
}

/** Numbers only: what a provider left out or set to null is unknown. */
export function counted(usage: { [K in keyof Usage]: unknown }): Usage {
  return Object.fromEntries(
    Object.entries(usage).filter(([, value]) => typeof value === "number" && Number.isFinite(value)),
  ) as Usage;
}
