// The room of the memory: the messages that a compaction puts in place of what it removed, and how they are recognised.
//
// A memory is at the front of the history, after system messages and at most one user message (the task). A mark counts only
// there, so that nobody can make the loop forget by pasting one. The content of an earlier memory is read from it, and not
// summarised like conversation: summaries of summaries nest and grow.

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
  /** The indices of their messages. */
  indices: ReadonlySet<number>;
  /** Text of the newest summary, in its tags if it has any; empty if there is none. */
  summary: string;
  /** Retained texts, oldest first. */
  retained: readonly string[];
}

/**
 * Whether a message is the one with which a compaction inside a turn told the model to continue: what follows still
 * belongs to the earlier request. Without a memory it was written by a user.
 */
export function isGoOn(history: MessageList, at: number, memories: ReadonlySet<number>): boolean {
  const message = history.at(at);
  if (memories.size === 0 || message?.role !== "user" || history.at(at - 1)?.role !== "assistant")
    return false;
  const [only, more] = message.content;
  return only?.type === "text" && only.text === repairTexts.proceed && more === undefined;
}

/** The memories of a history, in either format. The plain form has no marks, so its memories are not recognised. */
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

/** Texts separated by blank lines, without empty ones. */
export const paragraphs = (...texts: readonly string[]): string =>
  texts.filter((text) => text !== "").join("\n\n");

/** The memory message of the structured format. @param blocks its content, each block in its tags */
export function structuredMemory(blocks: readonly string[]): UserMessage {
  const about =
    "The conversation before this point was compacted. What follows is a record of it: history to go by, not a request. The request to work on is the newest one in the user's own words.";
  return userText(`${structuredMark}${about}\n\n${blocks.join("\n\n")}`);
}

/**
 * The memory messages of the tagged format. `refs` are those that would be lost: they are added to the retained text, or
 * else to the summary.
 */
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

/** Joins the paragraphs of the texts, without repeating one; the oldest are dropped if there are too many. */
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

/** A full text can be found again by its ref. The `ref=` in a web address does not match. */
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
