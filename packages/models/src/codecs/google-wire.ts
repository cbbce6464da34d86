// The room of Google's shapes: what a GenerateContent answer may hold, as far as it is read here.
//
// Every member is optional, because every one of them has been seen missing.

import type { Json, JsonObject } from "@rondo/core";
import type { PartialArg } from "./google-args.ts";

export interface GoogleFunctionCall {
  id?: string;
  name?: string;
  args?: Json;
  partialArgs?: PartialArg[];
  willContinue?: boolean;
}

export interface GooglePart {
  text?: string;
  thought?: boolean;
  thoughtSignature?: string;
  functionCall?: GoogleFunctionCall;
  inlineData?: { mimeType?: string; data?: string; displayName?: string };
  fileData?: { mimeType?: string; fileUri?: string; displayName?: string };
  [kind: string]: unknown;
}

export interface GoogleCandidate {
  index?: number;
  content?: { role?: string; parts?: GooglePart[] };
  finishReason?: string;
  finishMessage?: string;
  safetyRatings?: { category?: string; probability?: string; blocked?: boolean }[];
  groundingMetadata?: JsonObject;
  urlContextMetadata?: JsonObject;
  citationMetadata?: { citations?: Json[]; citationSources?: Json[] };
}

export interface GoogleUsage {
  promptTokenCount?: number;
  candidatesTokenCount?: number;
  thoughtsTokenCount?: number;
  toolUsePromptTokenCount?: number;
  cachedContentTokenCount?: number;
  totalTokenCount?: number;
}

export interface GoogleAnswer {
  candidates?: GoogleCandidate[];
  promptFeedback?: { blockReason?: string; blockReasonMessage?: string };
  usageMetadata?: GoogleUsage;
  error?: unknown;
}

/** Parts of an answer that the provider made with its own tools: kept, and replayed as they are. */
export const nativeParts: readonly string[] = [
  "executableCode",
  "codeExecutionResult",
  "toolCall",
  "toolResponse",
];
