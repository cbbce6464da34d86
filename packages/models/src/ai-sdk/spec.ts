// The room of the AI SDK's types: its language model specification, as far as the bridge uses it.
//
// Types are structural, written from the specification's versions 2 to 4; nothing is imported, so that it costs nothing for
// those who do not use the AI SDK. Reading is lenient (the versions differ in small things), writing is exact.

import type { Json, JsonObject } from "@rondo/core";

/** By provider, e.g. `{ anthropic: { signature: "…" } }`. Called `providerOptions` in prompts, `providerMetadata` in answers. */
export type ByProvider = { [provider: string]: JsonObject };

/** Any language model of the AI SDK, of version 2, 3 or 4 of its specification. */
export interface AiSdkModelLike {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls?: unknown;
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<{ stream: ReadableStream<unknown> }>;
}

/** Bytes as version 4 writes them. Before, they were untagged: base64, bytes, or a URL. */
export type FileData =
  | { type: "data"; data: string | Uint8Array }
  | { type: "url"; url: URL }
  | { type: "text"; text: string }
  | { type: "reference"; reference: Record<string, string> };

export interface PromptFile {
  type: "file";
  mediaType: string;
  data: FileData | string | Uint8Array | URL;
  filename?: string;
  providerOptions?: ByProvider;
}

export interface PromptText {
  type: "text";
  text: string;
  providerOptions?: ByProvider;
}

/** What a tool returned. The parts of `content` differ from version to version. */
export type PromptOutput =
  | { type: "text" | "error-text"; value: string }
  | { type: "json" | "error-json"; value: Json }
  | { type: "execution-denied"; reason?: string }
  | { type: "content"; value: readonly PromptOutputPart[] };

export interface PromptOutputPart {
  type: string;
  text?: string;
  mediaType?: string;
  filename?: string;
  data?: FileData | string;
  url?: string;
}

export type AssistantPart =
  | PromptText
  | PromptFile
  | { type: "reasoning"; text: string; providerOptions?: ByProvider }
  | { type: "reasoning-file"; mediaType: string; data: FileData; providerOptions?: ByProvider }
  | { type: "custom"; kind?: string; providerOptions?: ByProvider }
  | {
      type: "tool-call";
      toolCallId: string;
      toolName: string;
      input: unknown;
      providerExecuted?: boolean;
      providerOptions?: ByProvider;
    }
  | PromptResult;

export interface PromptResult {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output: PromptOutput;
  providerOptions?: ByProvider;
}

export type PromptMessage =
  | { role: "system"; content: string; providerOptions?: ByProvider }
  | { role: "user"; content: readonly (PromptText | PromptFile)[]; providerOptions?: ByProvider }
  | { role: "assistant"; content: readonly AssistantPart[]; providerOptions?: ByProvider }
  | { role: "tool"; content: readonly (PromptResult | { type: string })[]; providerOptions?: ByProvider };

export type SpecTool =
  | { type: "function"; name: string; description?: string; inputSchema: JsonObject }
  | { type: "provider" | "provider-defined"; id: string; name: string; args: Record<string, unknown> };

export interface CallOptions {
  prompt: readonly PromptMessage[];
  maxOutputTokens?: number;
  temperature?: number;
  stopSequences?: string[];
  topP?: number;
  topK?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  seed?: number;
  responseFormat?: { type: "text" } | { type: "json"; schema?: JsonObject; name?: string };
  tools?: SpecTool[];
  toolChoice?: { type: "auto" | "none" | "required" } | { type: "tool"; toolName: string };
  abortSignal?: AbortSignal;
  headers?: Record<string, string | undefined>;
  /** Version 4 only. */
  reasoning?: string;
  providerOptions?: ByProvider;
}

export type Warning =
  | { type: "unsupported" | "compatibility"; feature: string; details?: string }
  | { type: "other"; message: string };

export type Unified = "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other";

export interface FinishReason {
  unified: Unified;
  raw: string | undefined;
}

export interface SpecUsage {
  inputTokens: {
    total: number | undefined;
    noCache: number | undefined;
    cacheRead: number | undefined;
    cacheWrite: number | undefined;
  };
  outputTokens: { total: number | undefined; text: number | undefined; reasoning: number | undefined };
}

/** The versions that `toAiSdk` writes. */
export type Version = "v3" | "v4";

type Generated<V extends Version> = V extends "v4"
  ?
      | {
          type: "file";
          mediaType: string;
          data: { type: "data"; data: string } | { type: "url"; url: URL };
          providerMetadata?: ByProvider;
        }
      | { type: "custom"; kind: `${string}.${string}`; providerMetadata?: ByProvider }
  : { type: "file"; mediaType: string; data: string; providerMetadata?: ByProvider };

interface SpecCall {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  input: string;
  providerMetadata?: ByProvider;
}

/** A whole part of an answer. */
export type Content<V extends Version = Version> =
  | { type: "text"; text: string; providerMetadata?: ByProvider }
  | { type: "reasoning"; text: string; providerMetadata?: ByProvider }
  | SpecCall
  | Generated<V>;

/** A part of a streamed answer. */
export type StreamPart<V extends Version = Version> =
  | { type: "stream-start"; warnings: Warning[] }
  | { type: "response-metadata"; modelId?: string }
  | { type: "text-start" | "reasoning-start"; id: string; providerMetadata?: ByProvider }
  | { type: "text-delta" | "reasoning-delta"; id: string; delta: string }
  | { type: "text-end" | "reasoning-end"; id: string; providerMetadata?: ByProvider }
  | { type: "tool-input-start"; id: string; toolName: string }
  | { type: "tool-input-delta"; id: string; delta: string }
  | { type: "tool-input-end"; id: string }
  | SpecCall
  | Generated<V>
  | { type: "finish"; usage: SpecUsage; finishReason: FinishReason; providerMetadata?: ByProvider }
  | { type: "error"; error: unknown };

export interface GenerateResult<V extends Version = Version> {
  content: Content<V>[];
  finishReason: FinishReason;
  usage: SpecUsage;
  warnings: Warning[];
  providerMetadata?: ByProvider;
  response?: { modelId?: string };
}
