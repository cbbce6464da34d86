// The room of the guard: the last check before a request is sent, so that none is sent that cannot fit.
//
// It may shorten results that are too large by themselves; it never cuts what a person or the model wrote. If the request is
// still too large it is not sent: the caller compacts, or ends the run. It counts in characters, tool results twice, so it
// rather overestimates.

import type { Message, ToolMessage } from "../message.ts";
import type { MessageList } from "../model.ts";
import { oncePer } from "../once-per.ts";
import { headOf } from "../text/size.ts";
import { charsBy, guardWeights } from "./estimate.ts";
import { Draft, grouped, many, once, resultText, type Staged, sumOf, withEdits, withText } from "./stage.ts";

export interface GuardOptions {
  /**
   * `truncate`: results over their own limit are shortened, nothing else changes. `truncate_and_replace`: where that is
   * not enough, the oldest results also give way to a note, until three quarters of the window are left. Default: `truncate`.
   */
  results?: "truncate" | "truncate_and_replace";
}

export interface Guarded extends Staged {
  /** Set if the messages still do not fit, as an error text: they must not be sent. */
  overflow?: string;
  /** The size of the messages, and its limit: in characters, with tool results counted twice. */
  chars: number;
  maxChars: number;
}

/** The guard's texts: what replaces removed content, and the errors if nothing helps. */
export const guardTexts = {
  truncated: "\n[truncated: output exceeded context limit]",
  replaced: "[compacted: tool output removed to free context]",
  overflow: "Context overflow: estimated context size exceeds safe threshold during tool loop.",
  overflowAfterReplacing:
    "Preemptive context overflow: estimated context size exceeds safe threshold during tool loop",
  precheck: "Context overflow: prompt too large for the model (precheck).",
} as const;

/** The guard's limits for a window of so many tokens, in characters (tool results counted twice). */
export function guardLimits(contextWindow: number): {
  /** For one result. */
  result: number;
  /** For all messages. */
  total: number;
  /** The size down to which `truncate_and_replace` makes room. */
  input: number;
} {
  const window = Math.max(1, Math.floor(contextWindow));
  const atLeast = (chars: number): number => Math.max(1_024, Math.floor(chars));
  return {
    result: atLeast(window * 2 * 0.5),
    total: atLeast(window * 4 * 0.9),
    input: atLeast(window * 4 * 0.75),
  };
}

const chars = charsBy(guardWeights);

/**
 * The messages with every result shortened that is too large by itself, and whether they fit now. For this request only.
 * @param at `contextWindow` in tokens; `beside`: tokens of what is sent besides the messages (system prompt, tools).
 * Default: 0.
 */
export function guard(
  messages: MessageList,
  options: GuardOptions,
  at: { contextWindow: number; beside?: number },
): Guarded {
  const limits = guardLimits(at.contextWindow);
  const replaces = options.results === "truncate_and_replace";
  const settings = settingsFor(limits.result, replaces);
  const beside = Math.max(0, at.beside ?? 0) * 4;
  const before = sumOf(messages, chars) + beside;
  const draft = new Draft(messages, chars, before);
  // How many are too large is known without looking at them again.
  if (sumOf(messages, settings.isOversized) > 0) truncateOversized(messages, draft, settings);
  const shortened = draft.count;
  const removed = replaces ? replaceOldest(messages, draft, limits.input) : 0;
  const { total, edits } = draft;
  const overflow = replaces ? guardTexts.overflowAfterReplacing : guardTexts.overflow;
  const note = `${many(shortened, "result")} shortened and ${removed} removed for this request: ${grouped(total)} of at most ${grouped(limits.total)} characters, tool results counted twice`;
  return {
    messages: withEdits(messages, edits),
    edits,
    ...(edits.length === 0
      ? {}
      : { note: { stage: "guard", before: Math.ceil(before / 4), after: Math.ceil(total / 4), note } }),
    ...(total <= limits.total ? {} : { overflow }),
    chars: total,
    maxChars: limits.total,
  };
}

/** Shortens every result that is too large by itself. */
function truncateOversized(messages: MessageList, draft: Draft, settings: Settings): void {
  for (let place = 0; place < messages.length; place += 1) {
    const message = messages.at(place) as Message;
    if (settings.isOversized(message) > 0) draft.put(place, truncated(message, settings));
  }
}

/** Puts a note in the place of the oldest results until the messages have at most so many characters. Returns how many it replaced. */
function replaceOldest(messages: MessageList, draft: Draft, most: number): number {
  let count = 0;
  for (let place = 0; place < messages.length && draft.total > most; place += 1) {
    const message = messages.at(place) as Message;
    if (message?.role !== "tool") continue;
    const now = replaced(message);
    if (chars(now) >= chars(draft.at(place))) continue;
    draft.put(place, now);
    count += 1;
  }
  return count;
}

interface Settings {
  /** In characters counted twice. */
  most: number;
  replaces: boolean;
  /** 1 for a result over its limit, else 0; always the same function for the same limit, so that a log can keep the sum. */
  isOversized(message: Message): number;
}

const known = new Map<string, Settings>();

function settingsFor(most: number, replaces: boolean): Settings {
  const key = `${most} ${replaces}`;
  let settings = known.get(key);
  if (settings === undefined) {
    settings = {
      most,
      replaces,
      isOversized: (message) => (message?.role === "tool" && chars(message) > most ? 1 : 0),
    };
    // A process uses few windows. A caller that invents new ones must not fill the memory.
    if (known.size > 64) known.clear();
    known.set(key, settings);
  }
  return settings;
}

const truncated = once((message, settings: Settings): Message => {
  const text = resultText(message);
  const most = Math.floor(settings.most / guardWeights.toolResult);
  // Files count too, and cannot be shortened: if the text alone fits, only the text stays.
  if (text !== "" && text.length <= most) return withText(message as ToolMessage, text);
  const noteFor = settings.replaces
    ? (): string => guardTexts.truncated
    : (left: number): string => `[... ${Math.max(1, left)} more characters truncated]`;
  if (text === "")
    return withText(message as ToolMessage, noteFor(Math.ceil((chars(message) - settings.most) / 2)));
  return withText(message as ToolMessage, cut(text, most, noteFor));
});

const replaced = oncePer((result: ToolMessage): Message => withText(result, guardTexts.replaced));

/** The head of the text, in whole lines if that costs little, and a note, together at most `most` characters. */
function cut(text: string, most: number, noteFor: (left: number) => string): string {
  const room = Math.max(0, most - noteFor(text.length).length);
  const line = text.lastIndexOf("\n", room);
  const head = headOf(text, line > room * 0.7 ? line : room);
  return head + noteFor(text.length - head.length);
}
