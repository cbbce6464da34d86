// The room of Google's shapes: what a GenerateContent answer may hold, as far as it is read here.
//
// Every member is optional, because every one of them has been seen missing.

import type { Json, JsonObject } from "@rondo/core";
import { objectIn } from "../../json-values.ts";
import { stopWord } from "../stop-word.ts";
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
  candidates?: GoogleCandidate[] | GoogleCandidate;
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

/** An object whose members have the names of the protocol's JSON: proxies write those of its buffers (`finish_reason`). */
export function inCamel<T extends object>(value: T): T {
  for (const key in value)
    if (key.includes("_")) {
      const renamed = Object.entries(value).map(([name, one]) => [
        name.replace(/(?<=[a-z])_([a-z])/g, (_whole, letter: string) => letter.toUpperCase()),
        one,
      ]);
      return Object.fromEntries(renamed) as T;
    }
  return value;
}

/** Members that answers are handed on in: Google's Code Assist's, and gateways'. */
const envelopes: readonly string[] = ["response", "data", "result"];

/** An answer without what it was put into. */
export function unwrapped(given: JsonObject): GoogleAnswer {
  const value = inCamel(given);
  const { candidates, promptFeedback, usageMetadata, error } = value;
  if ([candidates, promptFeedback, usageMetadata, error].some((one) => one !== undefined))
    return value as unknown as GoogleAnswer;
  const inner = envelopes.map((name) => objectIn(value[name])).find((one) => one !== undefined);
  return (inner === undefined ? value : inCamel(inner)) as unknown as GoogleAnswer;
}

/** The candidates of an answer. */
export const candidatesOf = ({ candidates }: GoogleAnswer): GoogleCandidate[] =>
  listed(candidates).filter(isObject).map(inCamel);

/** The parts of a candidate. */
export function partsOf({ content }: GoogleCandidate): GooglePart[] {
  const told: unknown = Array.isArray(content) ? content[0] : content;
  if (typeof told === "string") return [{ text: told }];
  const parts: unknown = isObject(told) ? (told as { parts?: unknown }).parts : undefined;
  return listed(parts as GooglePart[] | undefined)
    .filter(isObject)
    .map(inCamel);
}

/** A list, or the one value that stands where it belongs. */
const listed = <T>(value: T[] | T | undefined): T[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];

/** The protocol's numbers for the words that decide what may run. */
const finishNumbers: readonly string[] = ["", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER"];

/** The word that a candidate ends with; empty while it says none, be it in so many letters. */
export function finishWord(told: unknown): string {
  if (typeof told === "number") return finishNumbers[told] ?? String(told);
  const word = wordOf(told).replace(/^(?:FinishReason[._]|FINISH_REASON_(?!UNSPECIFIED))/i, "");
  return stopWord(word) ?? "";
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
