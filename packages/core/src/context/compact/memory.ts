// The room of the memory: the messages a compaction leaves in place of what it took, and how they are known again.
//
// A memory stands at the front: after system messages, at most one message of the user's (the task) before it. Only
// there is a mark believed, so that nobody makes the loop forget by pasting one. What an earlier memory holds is read
// back from it, never summarised as if it were talk: summaries that are summarised nest and grow.

import { type Message, textOf, type UserMessage, userText } from "../../message.ts";
import type { MessageList } from "../../model.ts";
import { repairTexts } from "../repair/policy.ts";
import type { CompactionSettings } from "./settings.ts";

const structuredMark = "[rondo.compaction]\n";
export const retainMark = "[codelia.compaction.retain]\n";
export const summaryMark = "[codelia.compaction.summary]\n";

const marks = [structuredMark, retainMark, summaryMark];

/** What earlier compactions left in a history. */
export interface Memories {
  /** Where their messages stand. */
  indices: ReadonlySet<number>;
  /** Text of the newest summary, in its tags where it has any; empty when there is none. */
  summary: string;
  /** What was retained, oldest first. */
  retained: readonly string[];
}

/**
 * Whether a message is the word with which a compaction in the middle of a turn had the model go on: what follows it
 * still belongs to the request before. Without a memory it is somebody's own.
 */
export function isGoOn(history: MessageList, at: number, memories: ReadonlySet<number>): boolean {
  const message = history.at(at);
  if (memories.size === 0 || message?.role !== "user" || history.at(at - 1)?.role !== "assistant")
    return false;
  const [only, more] = message.content;
  return only?.type === "text" && only.text === repairTexts.proceed && more === undefined;
}

/** The memories of a history, whatever format left them. The plain form marks none, and so none is known again. */
export function memoriesOf(history: MessageList, { format, form }: CompactionSettings): Memories {
  const indices = new Set<number>();
  const retained: string[] = [];
  let summary = "";
  if (format === "tagged" && form === "plain") return { indices, summary, retained };
  let task = false;
  for (let at = 0; at < history.length; at += 1) {
    const message = history.at(at) as Message;
    if (message.role === "system") continue;
    const mark = message.role === "user" ? markOf(message) : undefined;
    if (mark === undefined) {
      if (message.role !== "user" || task || indices.size > 0) break;
      task = true;
      continue;
    }
    indices.add(at);
    const text = textOf(message).slice(mark.length);
    if (mark === retainMark) retained.push(text);
    else summary = mark === structuredMark ? text.slice(text.indexOf("\n\n") + 2) : text;
  }
  return { indices, summary, retained };
}

function markOf(message: UserMessage): string | undefined {
  const first = message.content[0];
  return first?.type === "text" ? marks.find((mark) => first.text.startsWith(mark)) : undefined;
}

/** Texts one below the other, those that say nothing left out. */
export const paragraphs = (...texts: readonly string[]): string =>
  texts.filter((text) => text !== "").join("\n\n");

/** The one memory message of the structured format. @param blocks what it holds, each in its tags */
export function structuredMemory(blocks: readonly string[]): UserMessage {
  const about =
    "The conversation before this point was compacted. What follows is a record of it: history to go by, not a request. The request to work on is the newest one in the user's own words.";
  return userText(`${structuredMark}${about}\n\n${blocks.join("\n\n")}`);
}

/** The memory messages of the tagged format. `refs` are those that would be lost: they stand with what is retained, or else with the summary. */
export function taggedMemory(
  settings: CompactionSettings,
  kept: {
    retained: readonly string[];
    retain: string;
    summary: string;
    ledger: string;
    refs: readonly string[];
  },
): UserMessage[] {
  const marked = settings.form === "marked";
  const refs = kept.refs.map((ref) => `ref=${ref}`).join(" ");
  const retained = marked ? joinedOnce([...kept.retained, kept.retain]) : kept.retain;
  const retain = retained === "" ? "" : paragraphs(retained, refs);
  const summary = paragraphs(kept.summary, kept.ledger, retained === "" ? refs : "");
  return [
    ...(retain === "" ? [] : [userText(`${marked ? retainMark : ""}${retain}`)]),
    ...(summary === "" ? [] : [userText(`${marked ? summaryMark : ""}${summary}`)]),
  ];
}

const maxRetained = 40_000;

/** Paragraphs as they stand, less those that an earlier text has; the oldest go when there are too many. */
function joinedOnce(texts: readonly string[]): string {
  const kept: string[] = [];
  const known = new Set<string>();
  for (const text of texts) {
    const paragraphs = text.split(/\n[ \t]*\n/);
    const fresh = paragraphs.filter((one) => one.trim() !== "" && !known.has(one.trim()));
    kept.push(...fresh);
    for (const one of fresh) known.add(one.trim());
  }
  let size = kept.reduce((sum, one) => sum + one.length + 2, 0);
  while (size > maxRetained && kept.length > 1) size -= (kept.shift() as string).length + 2;
  return kept.join("\n\n");
}

/** What is kept of an output is found again by its ref. Not the `ref=` of a web address. */
const refPattern = /(?<![\w?&#/.=-])ref=([A-Za-z0-9_-]+)/g;

/** The refs named in a text, each once. */
export function refsIn(text: string): string[] {
  return [...new Set([...text.matchAll(refPattern)].map((match) => match[1] as string))];
}

/** The refs named in messages: in their texts, not in the arguments of calls. */
export function refsOf(messages: Iterable<Message>): string[] {
  const refs = new Set<string>();
  for (const message of messages)
    for (const part of message.content)
      if (part.type === "text") for (const ref of refsIn(part.text)) refs.add(ref);
  return [...refs];
}
