// The room of Google's shapes: what a GenerateContent answer may hold, as far as it is read here.
//
// Every member is optional, because every one of them has been seen missing.

import type { Json, JsonObject } from "@rondo/core";
import { objectIn } from "../../json-values.ts";
import type { PartialArg } from "./args.ts";

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

/** The member that says what a part is, where it is none of those that stand beside a text. */
export function kindOf(part: GooglePart): string | undefined {
  for (const key in part) if (!plainKeys.has(key) && part[key] !== null) return key;
  return undefined;
}

const plainKeys: ReadonlySet<string> = new Set([
  "text",
  "thought",
  "thoughtSignature",
  "partMetadata",
  "videoMetadata",
  "mediaResolution",
  "audioTranscription",
  "speechMetadata",
  "mediaProcessing",
]);

/** Google's Code Assist hands each answer on inside a `response`. */
export function unwrapped(value: JsonObject): GoogleAnswer {
  const { candidates, promptFeedback, usageMetadata, error, response } = value;
  const bare = [candidates, promptFeedback, usageMetadata, error].some((one) => one !== undefined);
  return (!bare && isObject(response) ? response : value) as unknown as GoogleAnswer;
}

export const isObject = (value: unknown): value is object => objectIn(value) !== undefined;

/** A text, or none: whatever else a server put there. */
export function wordOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A list, whatever a server put there. */
export function listOf<T>(value: T[] | undefined | null): T[] {
  return Array.isArray(value) ? value.filter((one) => one !== null && one !== undefined) : [];
}

/** No members, or no object at all. */
export const isEmpty = (args: unknown): boolean => !isObject(args) || Object.keys(args).length === 0;
