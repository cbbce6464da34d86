// The room of pruning: leaves old results out of one request, while they stay in the history.
//
// It waits until the provider's cache has expired, because only then a changed front costs nothing. What replaces a result
// depends only on that result and the settings, so that the same edits can be used again in later requests.

import type { AssistantMessage, Message, Part, ToolMessage } from "../message.ts";
import type { MessageList } from "../model.ts";
import { oncePer } from "../once-per.ts";
import { headOf, tailOf } from "../text/size.ts";
import { type CharWeights, charsBy, pruneWeights } from "./estimate.ts";
import { isPrunable, type PruneSettings } from "./prune/settings.ts";
import {
  Draft,
  grouped,
  hasFile,
  many,
  once,
  partsOf,
  resultText,
  type Staged,
  sumOf,
  withEdits,
  withText,
} from "./stage.ts";

/** What pruning needs besides the messages. Times in milliseconds since 1970. */
export interface PruneAt {
  now: number;
  /** When the provider's cache was last written or read: the last request. Absent: never, and nothing is pruned. */
  lastTouch?: number;
  /** The model's window, in tokens. Unknown: nothing is pruned. */
  contextWindow?: number;
  /** Used in place of the model's window, if above 0. */
  windowOverride?: number;
}

export interface Pruned extends Staged {
  /** When the cache was last touched, after this call: `now` if something was pruned. */
  lastTouch: number | undefined;
}

/** The request's messages with old results trimmed or cleared, if the cache has expired and the window fills. Counts in characters. */
export function prune(messages: MessageList, settings: PruneSettings | null, at: PruneAt): Pruned {
  const unchanged: Pruned = { messages, edits: [], lastTouch: at.lastTouch };
  if (settings === null || settings.ttlMs <= 0 || at.lastTouch === undefined) return unchanged;
  if (at.now - at.lastTouch <= settings.ttlMs) return unchanged;
  const window =
    at.windowOverride !== undefined && at.windowOverride > 0 ? at.windowOverride : at.contextWindow;
  if (window === undefined || !(window > 0)) return unchanged;
  const staged = pruneNow(messages, settings, window);
  return { ...staged, lastTouch: staged.edits.length === 0 ? at.lastTouch : at.now };
}

/** The same, whatever the state of the cache is. `window` in tokens. */
export function pruneNow(messages: MessageList, settings: PruneSettings, window: number): Staged {
  const chars = charsBy(weightsOf(settings));
  const before = sumOf(messages, chars);
  const room = window * 4;
  const isSoft = before / room >= settings.softTrimRatio;
  if (!isSoft && settings.maxToolResultChars === undefined) return { messages, edits: [] };

  const draft = new Draft(messages, chars, before);
  const prunable = trimPrunable(messages, draft, settings, isSoft);
  const cleared =
    isSoft && settings.hardClear.enabled ? clearOldest(messages, draft, settings, { prunable, room }) : 0;
  const { total, edits } = draft;
  if (edits.length === 0) return { messages, edits };
  const note = `${many(edits.length - cleared, "message")} trimmed and ${many(cleared, "result")} cleared in this request: ${grouped(total)} of ${grouped(room)} characters, from ${grouped(before)}`;
  return {
    messages: withEdits(messages, edits),
    edits,
    note: { stage: "prune", before: Math.ceil(before / 4), after: Math.ceil(total / 4), note },
  };
}

/**
 * Trims what may be pruned. Returns the places of the results that may.
 * @param isSoft whether the window is so full that all of them are trimmed, and not only those over their own limit
 */
function trimPrunable(
  messages: MessageList,
  draft: Draft,
  settings: PruneSettings,
  isSoft: boolean,
): readonly number[] {
  const chars = charsBy(weightsOf(settings));
  const to = cutoff(messages, settings.keepLastAssistants);
  const fileKept = keptFileResults(messages, settings.keepFileResults);
  const most = settings.maxToolResultChars;
  const prunable: number[] = [];
  for (let at = firstUser(messages); at < to; at += 1) {
    const message = messages.at(at) as Message;
    if (message?.role === "assistant" && settings.stripThinking && isSoft) draft.put(at, unthought(message));
    if (message?.role !== "tool" || !isPrunable(message.name, settings.tools) || fileKept(at)) continue;
    prunable.push(at);
    if (isSoft || (most !== undefined && chars(message) > most))
      draft.put(at, softTrimmed(message, settings));
  }
  return prunable;
}

/** Clears prunable results, oldest first, until the window is less full. Returns how many. */
function clearOldest(
  messages: MessageList,
  draft: Draft,
  settings: PruneSettings,
  { prunable, room }: { prunable: readonly number[]; room: number },
): number {
  const chars = charsBy(weightsOf(settings));
  const isFull = (): boolean => draft.total / room >= settings.hardClearRatio;
  if (!isFull()) return 0;
  const left = prunable.reduce((sum, at) => sum + chars(draft.at(at)), 0);
  if (left < settings.minPrunableToolChars) return 0;
  let count = 0;
  for (const at of prunable) {
    if (!isFull()) break;
    draft.put(at, hardCleared(messages.at(at) as Message, settings));
    count += 1;
  }
  return count;
}

const weighed = new Map<number, Readonly<CharWeights>>([[1, pruneWeights]]);

/** The same object for the same settings, so that measurements can be cached. */
function weightsOf({ cjkWeight: cjk }: PruneSettings): Readonly<CharWeights> {
  let weights = weighed.get(cjk);
  if (weights === undefined) {
    weights = { ...pruneWeights, cjk };
    weighed.set(cjk, weights);
  }
  return weights;
}

/** Messages before the user's first one (e.g. files read at the start) are never pruned. */
function firstUser(messages: MessageList): number {
  for (let at = 0; at < messages.length; at += 1) if (messages.at(at)?.role === "user") return at;
  return messages.length;
}

/** The answer before which results may be pruned: the Nth from the end. With fewer than N answers none may be. */
function cutoff(messages: MessageList, answers: number): number {
  let left = answers;
  for (let at = messages.length - 1; left > 0; at -= 1) {
    if (at < 0) return 0;
    if (messages.at(at)?.role === "assistant" && --left === 0) return at;
  }
  return messages.length;
}

function keptFileResults(messages: MessageList, keep: "all" | number): (at: number) => boolean {
  if (keep === "all") return (at) => hasFile(messages.at(at) as Message);
  const kept = new Set<number>();
  for (let at = messages.length - 1; at >= 0 && kept.size < keep; at -= 1) {
    const message = messages.at(at) as Message;
    if (message?.role === "tool" && hasFile(message)) kept.add(at);
  }
  return (at) => kept.has(at);
}

const softTrimmed = once((message, settings: PruneSettings): Message => {
  const result = message as ToolMessage;
  const { maxChars, headChars, tailChars } = settings.softTrim;
  const files = partsOf(result).filter((part) => part.type === "file").length;
  const text = resultText(result);
  const isLong = text.length > maxChars && headChars + tailChars < text.length;
  if (!isLong && files === 0) return result;
  const kept = isLong
    ? `${headOf(text, headChars)}\n...\n${tailOf(text, tailChars)}\n\n[Tool result trimmed: kept first ${headChars} chars and last ${tailChars} chars of ${text.length} chars.]`
    : text;
  const gone = files === 0 ? "" : `${kept === "" ? "" : "\n\n"}[Files left out of old tool result: ${files}]`;
  return withText(result, kept + gone);
});

const hardCleared = once(
  (message, settings: PruneSettings): Message =>
    withText(message as ToolMessage, settings.hardClear.placeholder),
);

/** The answer without its reasoning. If it has nothing else it keeps an empty text, because an answer must have a part. */
const unthought = oncePer((message: AssistantMessage): Message => {
  const parts = partsOf(message) as Part[];
  const content = parts.filter((part) => part.type !== "reasoning");
  if (content.length === parts.length) return message;
  return { ...message, content: content.length === 0 ? [{ type: "text", text: "" }] : content };
});
