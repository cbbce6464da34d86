// The room of shapes: what the AI SDK's pages read and post, of which its own types are a superset.

import type { Json, JsonObject } from "../../message.ts";

/** A chunk of the stream that `useChat` reads: the AI SDK's `UIMessageChunk`. */
export type UiChunk =
  | { type: "start"; messageId?: string }
  | { type: "start-step" | "finish-step" | "reset-step" }
  | { type: "text-start" | "text-end" | "reasoning-start" | "reasoning-end"; id: string }
  | { type: "text-delta" | "reasoning-delta"; id: string; delta: string }
  | { type: "file"; mediaType: string; url: string }
  | { type: "source-url"; sourceId: string; url: string; title?: string }
  | { type: "steering-message"; id: string; parts: (UiText | UiFile)[] }
  | { type: "tool-input-start"; toolCallId: string; toolName: string }
  | { type: "tool-input-delta"; toolCallId: string; inputTextDelta: string }
  | { type: "tool-input-available"; toolCallId: string; toolName: string; input: JsonObject }
  | { type: "tool-input-error"; toolCallId: string; toolName: string; input: JsonObject; errorText: string }
  | { type: "tool-approval-request"; approvalId: string; toolCallId: string }
  | { type: "tool-output-available"; toolCallId: string; output: Json; preliminary?: boolean }
  | { type: "tool-output-error"; toolCallId: string; errorText: string }
  | { type: "tool-output-denied"; toolCallId: string }
  | { type: "data-question"; id: string; data: Json }
  | { type: "abort" }
  | { type: "error"; errorText: string }
  | { type: "finish"; messageMetadata?: Json };

export interface UiText {
  type: "text";
  text: string;
}

export interface UiFile {
  type: "file";
  mediaType: string;
  url: string;
  filename?: string;
}

interface UiCall {
  type: `tool-${string}`;
  toolCallId: string;
  input: JsonObject;
}

/** A part of a message as a page shows it. */
export type UiPart =
  | UiText
  | UiFile
  | { type: "reasoning"; text: string }
  | { type: "step-start" }
  | { type: "data-question"; id: string; data: Json }
  | (UiCall & { state: "input-available" })
  | (UiCall & { state: "approval-requested"; approval: { id: string } })
  | (UiCall & { state: "output-available"; output: Json })
  | (UiCall & { state: "output-error"; errorText: string });

/** A message as a page shows it: the AI SDK's `UIMessage`. */
export interface UiMessage {
  id: string;
  role: "user" | "assistant";
  parts: UiPart[];
}

/** A message as a page posts it. Nothing in it is believed but what the user wrote, attached and answered. */
export interface PostedMessage {
  id: string;
  role: string;
  parts: readonly { type: string }[];
}

/** The body of a request of `useChat`. */
export interface Posted {
  /** The chat's: a claim, as everything here. */
  id: string;
  messages: readonly PostedMessage[];
  trigger?: string;
  messageId?: string;
}
