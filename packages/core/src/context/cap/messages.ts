// The room of the cap over a whole conversation: for a history that was made elsewhere, or must fit into a smaller window.
//
// Only tool results change. All other messages, and results that fit, stay the same objects.

import { messageOf } from "../../errors.ts";
import type { Message, ToolMessage } from "../../message.ts";
import { type HeadTailNumbers, headTailNumbers } from "./cap-options.ts";
import { cutContent, textLength } from "./content.ts";
import type { ExcerptAbout } from "./excerpt.ts";
import { maxResultChars, moreSuffix } from "./head-tail.ts";

/** The options for capping a conversation: the numbers of `head_tail`. */
export interface MessagesCap extends Partial<HeadTailNumbers> {
  /** The most characters of one result, in place of its share of the window. */
  maxChars?: number;
}

/** Whether a message is a tool result with more text than one result may have in a window of so many tokens. */
export function isOversized(message: Message, window: number | undefined, cap: MessagesCap = {}): boolean {
  return message.role === "tool" && textLength(message.content) > limitOf(window, cap);
}

/** The result with at most `maxChars` characters of text; the same object if it fits. @param about more facts for an excerpt's header */
export function capMessage(
  message: ToolMessage,
  maxChars: number,
  cap: MessagesCap = {},
  about: ExcerptAbout = {},
): ToolMessage {
  const content = cutContent(message.content, maxChars, headTailNumbers(cap), {
    tool: message.name,
    callId: message.callId,
    isError: message.isError,
    ...(message.ref === undefined ? {} : { ref: message.ref }),
    ...about,
  });
  return content === message.content ? message : { ...message, content: [...content] };
}

/** The conversation with no result larger than its share of the window. */
export function capMessages(
  messages: readonly Message[],
  window: number | undefined,
  cap: MessagesCap = {},
): { messages: Message[]; count: number } {
  const limit = limitOf(window, cap);
  let count = 0;
  const capped = messages.map((message) => {
    if (message.role !== "tool" || textLength(message.content) <= limit) return message;
    count += 1;
    return capMessage(message, limit, cap);
  });
  return { messages: capped, count };
}

/** The outcome of shrinking a history. `reason`: why nothing was done. */
export interface Shrunk {
  messages: Message[];
  count: number;
  reason?: string;
}

/**
 * A history whose results together have no more text than one result may have. First each result is cut to that size. In
 * the form `excerpt` the newest are then cut further until all together fit; in the form `notice` that step is left out.
 * It never throws: an error becomes the reason why nothing was done.
 */
export function shrinkHistory(
  messages: readonly Message[],
  window: number | undefined,
  cap: MessagesCap = {},
): Shrunk {
  if (messages.length === 0) return { messages: [], count: 0, reason: "empty session" };
  try {
    const { form } = headTailNumbers(cap);
    // In recovery no text has a guaranteed minimum.
    const own = form === "excerpt" ? { ...cap, minKeep: 0 } : cap;
    const each = capMessages(messages, window, own).messages;
    const all = form === "excerpt" ? shrinkNewest(each, limitOf(window, own), own) : each;
    const count = all.filter((message, at) => message !== messages[at]).length;
    if (count > 0) return { messages: all, count };
    const none = form === "excerpt" ? "no oversized or aggregate tool results" : "no oversized tool results";
    return { messages: [...messages], count: 0, reason: none };
  } catch (thrown) {
    return { messages: [...messages], count: 0, reason: messageOf(thrown) };
  }
}

/** Shrinks the newest results first, until all together have at most `budget` characters. A single result is never too large here. */
function shrinkNewest(messages: readonly Message[], budget: number, cap: MessagesCap): Message[] {
  const shrunk = [...messages];
  const lengths = messages.flatMap(({ role, content }) => (role === "tool" ? [textLength(content)] : []));
  if (lengths.filter((length) => length > 0).length < 2) return shrunk;
  let over = lengths.reduce((sum, length) => sum + length, 0) - budget;
  const least = (cap.minKeep ?? 0) + moreSuffix(1).length;
  for (let at = shrunk.length - 1; at >= 0 && over > 0; at -= 1) {
    const message = shrunk[at];
    if (message?.role !== "tool") continue;
    const length = textLength(message.content);
    if (length <= least) continue;
    const smaller = capMessage(message, Math.max(least, length - over), cap);
    const gained = length - textLength(smaller.content);
    if (gained <= 0) continue;
    shrunk[at] = smaller;
    over -= gained;
  }
  return shrunk;
}

function limitOf(window: number | undefined, cap: MessagesCap): number {
  return Math.max(1, cap.maxChars ?? maxResultChars(window, headTailNumbers(cap)));
}
