// The room of Google's shapes: the members of a GenerateContent answer that are read here.
//
// Every member is optional, because each of them has been seen missing.

import type { Json, JsonObject } from "@rondo/core";
import { isHollow, objectIn, writtenIn } from "../../json-values.ts";
import { unwrapped } from "../envelopes.ts";
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
  continuationToken?: string;
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

/** Parts made by the provider's own tools: kept, and sent back unchanged. */
export const nativeParts: readonly string[] = [
  "executableCode",
  "codeExecutionResult",
  "toolCall",
  "toolResponse",
];

/** The member that says what a part is, unless it is one that may accompany a text. */
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

/** The object with member names in the protocol's JSON form: some proxies write its protobuf names (`finish_reason`). */
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

/** An answer without its wrapper, which Google's Code Assist has, too. */
export const answerIn = (given: JsonObject): GoogleAnswer =>
  inCamel(unwrapped(given, isAnswer)) as unknown as GoogleAnswer;

const isAnswer = (given: JsonObject): boolean => {
  const { candidates, promptFeedback, usageMetadata, error } = inCamel(given);
  return (candidates ?? promptFeedback ?? usageMetadata ?? error) !== undefined;
};

/** The candidates of an answer. */
export const candidatesOf = ({ candidates }: GoogleAnswer): GoogleCandidate[] =>
  listed(candidates).filter(isObject).map(inCamel);

/** The parts of a candidate. */
export function partsOf({ content }: GoogleCandidate): GooglePart[] {
  const told = (Array.isArray(content) ? content[0] : content) as Json | undefined;
  const text = writtenIn(told);
  if (text !== undefined) return [{ text }];
  return listed(objectIn(told)?.parts).map(partOf).filter(isObject).map(inCamel).flatMap(meantIn);
}

/**
 * What a part means, which says only one thing: members that say nothing are not meant, and a text beside a call or a file
 * is a part of its own. An empty call closes an open one.
 */
function meantIn(part: GooglePart): GooglePart[] {
  if (kindOf(part) === undefined) return [part];
  const text = wordOf(part.text);
  const told = Object.entries(part).filter(
    ([key, one]) => plainKeys.has(key) || (key === "functionCall" && text === "") || !isHollow(one),
  );
  const meant: GooglePart = Object.fromEntries(told);
  const kind = kindOf(meant);
  if (text === "" || kind === undefined || !kindsBesideText.has(kind)) return [meant];
  return [
    { text, thought: part.thought === true },
    { ...meant, text: "" },
  ];
}

const kindsBesideText: ReadonlySet<string> = new Set(["functionCall", "inlineData", "fileData"]);

/** A part; some servers send its text alone, or read it as JSON. */
function partOf(given: Json): GooglePart {
  const part = objectIn(given);
  if (typeof part?.text === "string") return part;
  const text = writtenIn(part === undefined ? given : part.text);
  return text === undefined ? (given as GooglePart) : { ...part, text };
}

/** A list, also if the server sent its only value without one. */
const listed = <T>(value: T[] | T | undefined): T[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];

/** The protobuf numbers of the finish reasons that decide what may run. */
const finishNumbers: readonly string[] = ["", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER"];

/** A candidate's finish reason; empty if it has none, or a word like "null". */
export function finishWord(told: unknown): string {
  if (typeof told === "number") return finishNumbers[told] ?? String(told);
  const word = wordOf(told).replace(/^(?:FinishReason[._]|FINISH_REASON_(?!UNSPECIFIED))/i, "");
  return stopWord(word) ?? "";
}

export const isObject = (value: unknown): value is object => objectIn(value) !== undefined;

/** The string, or an empty one if the server put anything else there. */
export function wordOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The list, or an empty one if the server put anything else there. */
export function listOf<T>(value: T[] | undefined | null): T[] {
  return Array.isArray(value) ? value.filter((one) => one !== null && one !== undefined) : [];
}

/** Without members, or not an object at all. */
export const isEmpty = (args: unknown): boolean => !isObject(args) || Object.keys(args).length === 0;
