// The room of trimming: keeps all results together within a budget by replacing the oldest for good.
//
// What is trimmed stays trimmed: the history itself changes, so that the next request has the same front as this one.
// Each trimming breaks the provider's cache once. So by default it goes well below the budget and then leaves the history
// alone for a long time. If a result's text was kept, its ref stays, and it can be read again.

import type { Message, ToolMessage } from "../message.ts";
import type { MessageList } from "../model.ts";
import { oncePer } from "../once-per.ts";
import { byteLength } from "../text/size.ts";
import {
  grouped,
  knownWindow,
  many,
  partsOf,
  type Replacement,
  resultText,
  type Staged,
  storedRef,
  sumOf,
  type WindowFacts,
  withEdits,
  withText,
} from "./stage.ts";

export interface TrimOptions {
  /** Tokens that all results together may take. Default: a quarter of the window, but at least `minTokens` and at most `maxTokens`. */
  budgetTokens?: number;
  /** Default: 20,000. */
  minTokens?: number;
  /** Also the budget if the window is unknown. Default: 100,000. */
  maxTokens?: number;
  /** Which size of the model counts as its window if both are known. Default: `contextWindow`. */
  window?: keyof WindowFacts;
  /** Once over the budget, results are trimmed down to this share of it, 0 to 1. Default: 0.5. */
  to?: number;
  /** `last_answer`: results of the last answer are never trimmed, nor those that would not become shorter. Default: `last_answer`. */
  keep?: "last_answer" | "none";
  /** Tools whose results are never trimmed, and do not count. Default: none. */
  exempt?: readonly string[];
}

export interface TrimSettings {
  budgetTokens: number | undefined;
  minTokens: number;
  maxTokens: number;
  window: keyof WindowFacts;
  to: number;
  keep: "last_answer" | "none";
  /** Absent: none. */
  exempt?: readonly string[];
}

/** Options with their defaults. */
export function trimSettings(given: TrimOptions = {}): TrimSettings {
  return {
    budgetTokens: given.budgetTokens,
    minTokens: given.minTokens ?? 20_000,
    maxTokens: given.maxTokens ?? 100_000,
    window: given.window ?? "contextWindow",
    to: Math.min(1, Math.max(0, given.to ?? 0.5)),
    keep: given.keep ?? "last_answer",
    ...(given.exempt === undefined || given.exempt.length === 0 ? {} : { exempt: [...given.exempt] }),
  };
}

/** Tokens that all results together may take. */
export function trimBudget(settings: TrimSettings, facts: WindowFacts): number {
  if (settings.budgetTokens !== undefined) return Math.max(0, settings.budgetTokens);
  const window = knownWindow(facts, settings.window);
  if (window === undefined) return settings.maxTokens;
  return Math.min(settings.maxTokens, Math.max(settings.minTokens, Math.floor(window * 0.25)));
}

/**
 * The history with its oldest results replaced by a short note, if all results together exceed the budget. The tokens of a
 * result are its bytes (UTF-8) divided by 4; a file counts as 8,000 bytes. The result is meant to be stored in place of
 * the given history.
 * @param refOf the ref of a result's full text. Default: `refIn`.
 */
export function trim(
  messages: MessageList,
  settings: TrimSettings,
  facts: WindowFacts,
  refOf: (result: ToolMessage) => string | undefined = refIn,
): Staged {
  const budget = trimBudget(settings, facts);
  const before = sumOf(messages, counted(settings));
  if (before <= budget) return { messages, edits: [] };
  const goal = Math.floor(budget * settings.to);
  const end = settings.keep === "last_answer" ? lastAnswer(messages) : messages.length;
  const edits: Replacement[] = [];
  let after = before;
  for (let at = 0; at < end && after > goal; at += 1) {
    const message = messages.at(at) as Message;
    if (message.role !== "tool" || isExempt(message, settings)) continue;
    const trimmed = trimmedResult(message, { ref: refOf(message) });
    const saved = resultTokens(message) - resultTokens(trimmed);
    if (trimmed === message || (settings.keep === "last_answer" && saved <= 0)) continue;
    edits.push({ at, message: trimmed });
    after -= saved;
  }
  if (edits.length === 0) return { messages, edits };
  const note = `${many(edits.length, "old result")} trimmed: all results are now ${grouped(after)} tokens, the budget is ${grouped(budget)}`;
  return {
    messages: withEdits(messages, edits),
    edits,
    note: { stage: "trim", before, after, note },
  };
}

/** The placeholder of a result: says that it is gone, and where it can be read again, if anywhere. The same object for the same result. */
export function trimmedResult(result: ToolMessage, { ref }: { ref: string | undefined }): ToolMessage {
  const text = ref === undefined ? "[tool output trimmed]" : `[tool output trimmed; ref=${ref}]`;
  const { content } = result;
  const only = content[0];
  if (content.length === 1 && only?.type === "text" && only.text === text) return result;
  let trimmed = made.get(result);
  if (trimmed === undefined || resultText(trimmed) !== text) {
    trimmed = withText(result, text);
    made.set(result, trimmed);
  }
  return trimmed;
}

const made = new WeakMap<ToolMessage, ToolMessage>();

/**
 * The ref of a result's full text: the message's own, else the one in the note at its end, as capping and trimming write
 * it (`[tool output truncated; ref=ID]`).
 */
export function refIn(result: ToolMessage): string | undefined {
  const stored = storedRef(result);
  if (stored !== undefined) return stored;
  const part = partsOf(result).findLast((one) => one.type === "text");
  const text = part?.type === "text" && typeof part.text === "string" ? part.text : "";
  // Only the very end is searched: a note in the middle was written by the tool, not about it.
  const end = text.slice(-300);
  const note = end.slice(end.lastIndexOf("["));
  return /^\[(?:tool output (?:truncated|trimmed)|full output)\b[^\]\n]*\bref=([\w.:-]+)\]\s*$/.exec(
    note,
  )?.[1];
}

const isExempt = (message: Message, { exempt = [] }: TrimSettings): boolean =>
  message?.role === "tool" && exempt.includes(message.name);

/** The measure of what counts. One for the same settings: the history's log keeps a sum for each measure. */
const counted = oncePer((settings: TrimSettings) =>
  settings.exempt === undefined
    ? resultTokens
    : (message: Message) => (isExempt(message, settings) ? 0 : resultTokens(message)),
);

/** Tokens of a result, from its bytes; 0 for other messages. The history's log keeps the sum, so each is measured once. */
function resultTokens(message: Message): number {
  if (message?.role !== "tool") return 0;
  let bytes = 0;
  for (const part of partsOf(message))
    if (part.type === "file") bytes += 8_000;
    else if (part.type === "text" && typeof part.text === "string") bytes += byteLength(part.text);
  return Math.ceil(bytes / 4);
}

/** The index of the last answer, which its results follow; the end if there is none. */
function lastAnswer(messages: MessageList): number {
  for (let at = messages.length - 1; at >= 0; at -= 1) if (messages.at(at)?.role === "assistant") return at;
  return messages.length;
}
