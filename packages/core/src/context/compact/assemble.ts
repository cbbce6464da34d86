// The room of assembly: builds the history with its memory in place of what was summarised, or says why not.
//
// A compaction is useless if the history does not get smaller, and harmful if a result, a ref or the task is lost. All of
// this is checked before the edit is returned; an edit that fails a check is not made.

import type { HistoryEdit } from "../../loop/records.ts";
import type { AssistantMessage, Message, TextPart, UserMessage } from "../../message.ts";
import { callsOf, userText } from "../../message.ts";
import type { MessageList } from "../../model.ts";
import { editOf } from "../edit.ts";
import { isPaired } from "../repair/pairing.ts";
import { repairTexts } from "../repair/policy.ts";
import type { Measure } from "./in-parts.ts";
import { type Ledger, renderLedger } from "./ledger.ts";
import { isGoOn, memoriesOf, paragraphs, refsOf, structuredMemory, taggedMemory } from "./memory.ts";
import { parseSummary, readEarlier, type Summary, summaryBlocks, tagged } from "./parse.ts";
import type { CompactionPlan } from "./plan.ts";
import { type CompactionSettings, isMarked } from "./settings.ts";

/**
 * Why a history stayed as it is. `no_summary`: the model gave none; `no_gain`: it would not get smaller; `invalid`: the
 * new history would be invalid.
 */
export type Unhelpful = "no_summary" | "no_gain" | "invalid";

export type Compacted =
  | {
      edit: HistoryEdit;
      /** Estimated tokens. */
      before: number;
      after: number;
      /** In words, for events and logs. */
      note: string;
    }
  | { unchanged: Unhelpful; before: number; after?: number; note: string };

/** A message of the old history, by its index. */
type Kept = { at: number };

/** One place of the new history: a message of the old one, or a new one, with the indices of the messages it was made from. */
type Place = Kept | { put: Message; from?: readonly number[] };

const messageAt = (place: Place, history: MessageList): Message =>
  "put" in place ? place.put : (history.at(place.at) as Message);

/**
 * The history after a compaction, as an edit. Messages that were added since the plan was made stay.
 * @param answers texts of the summarising calls, in order; the last one is the summary. Empty if they failed.
 */
export function assemble(
  history: MessageList,
  plan: CompactionPlan,
  answers: readonly string[],
  ledger: Ledger,
  settings: CompactionSettings,
  measure: Measure,
): Compacted {
  const { before, scale } = plan;
  if (history.length < plan.length)
    return { unchanged: "invalid", before, note: "the plan was made from another history" };
  const last = answers.at(-1);
  const parsed =
    last !== undefined && answers.length >= plan.calls && plan.calls > 0
      ? parseSummary(last, settings)
      : undefined;
  const summary =
    parsed ?? (settings.onFailure === "note" ? withoutModel(history, plan, settings) : undefined);
  if (summary === undefined)
    return { unchanged: "no_summary", before, note: "the model gave no summary: the history stays as it is" };

  const places = placesOf(history, plan, settings, withNotes(summary, plan), ledger);
  const messages = places.map((place) => messageAt(place, history));
  const wrong = faultOf(history, messages);
  if (wrong !== undefined)
    return { unchanged: "invalid", before, note: `the history stays as it is: ${wrong}` };

  const after = Math.ceil(places.reduce((sum, place) => sum + sizeOf(place, history, measure, scale), 0));
  if (settings.minGain !== null && (after >= before || before - after < before * settings.minGain))
    return {
      unchanged: "no_gain",
      before,
      after,
      note: `the history stays as it is: about ${after} tokens in place of ${before} would be no help`,
    };
  return {
    edit: editOf(places.map((place) => ("put" in place ? place.put : place.at))),
    before,
    after,
    note: `${history.length} messages, about ${before} tokens, became ${messages.length}, about ${after}`,
  };
}

/** Estimated tokens of one place. Only what comes from the old history is scaled: its words are those that were counted. */
function sizeOf(place: Place, history: MessageList, measure: Measure, scale: number): number {
  const size = Math.max(0, measure(messageAt(place, history)));
  return "put" in place && place.from === undefined ? size : size * scale;
}

/** The fixed text for a history that no model could summarise. */
export function failureNote(plan: CompactionPlan): string {
  return `Context contained ${plan.length} messages (${plan.omitted.length} oversized). Summary unavailable due to size limits.`;
}

/** Replaces a summary that no model could make: the note, after the content of an earlier memory. */
function withoutModel(history: MessageList, plan: CompactionPlan, settings: CompactionSettings): Summary {
  const note = failureNote(plan);
  const earlier =
    settings.format === "structured" ? readEarlier(memoriesOf(history, settings).summary) : undefined;
  return earlier === undefined
    ? { summary: note }
    : { ...earlier, summary: paragraphs(earlier.summary, note) };
}

/** Adds notes about messages that no summariser read. */
function withNotes(summary: Summary, plan: CompactionPlan): Summary {
  if (plan.omitted.length === 0 || plan.calls === 0) return summary;
  const notes = plan.omitted.map(({ note }) => note).join("\n");
  return { ...summary, summary: paragraphs(summary.summary, notes) };
}

/** The new history: system messages, the task, the memory, what else is pinned, the tail. */
function placesOf(
  history: MessageList,
  plan: CompactionPlan,
  settings: CompactionSettings,
  summary: Summary,
  ledger: Ledger,
): Place[] {
  const { indices, retained } = memoriesOf(history, settings);
  const tail = tailOf(history, plan, settings, indices);
  const systems: Place[] = [];
  for (let at = 0; at < history.length; at += 1) if (history.at(at)?.role === "system") systems.push({ at });
  // The task comes before the record of the work on it; the newest request comes after that.
  const [task, ...rest] = plan.pinned;
  const taskFirst = task !== undefined && isTask(history, task, indices);
  const front: Place[] = taskFirst ? [{ at: task }] : [];
  const back: Place[] = (taskFirst ? rest : plan.pinned).map((at) => ({ at }));
  const ledgerText = settings.ledger ? renderLedger(ledger) : "";
  const memory = (refs: readonly string[]): UserMessage[] =>
    memoryOf(settings, { summary, retained, ledger: ledgerText, refs });
  const kept = [...systems, ...front, ...back, ...tail].map((place) => messageAt(place, history));
  const have = new Set([...refsOf(memory([])), ...refsOf(kept)]);
  const lost = refsOf(history)
    .filter((ref) => !have.has(ref))
    .slice(-mostRefs);
  return [...systems, ...front, ...memory(lost).map((put): Place => ({ put })), ...back, ...tail];
}

/** The messages of the memory. @param content.refs those that would be lost */
function memoryOf(
  settings: CompactionSettings,
  content: { summary: Summary; retained: readonly string[]; ledger: string; refs: readonly string[] },
): UserMessage[] {
  const { summary, retained, ledger, refs } = content;
  if (settings.format === "tagged") {
    const { retain = "" } = summary;
    return taggedMemory(settings, { retained, retain, summary: summary.summary, ledger, refs });
  }
  return [
    structuredMemory([
      ...summaryBlocks(summary),
      ...(ledger === "" ? [] : [tagged("ledger", ledger)]),
      ...(refs.length === 0 ? [] : [tagged("refs", refs.map((ref) => `ref=${ref}`).join(" "))]),
    ]),
  ];
}

/**
 * How many refs a memory names outside its ledger, the newest: a long run has thousands, which would fill the window. The
 * others can be found by a search without a ref.
 */
const mostRefs = 50;

/** Whether a pinned message is the user's first one, so that it is the task and not only the newest request. */
function isTask(history: MessageList, at: number, memories: ReadonlySet<number>): boolean {
  for (let before = 0; before < at; before += 1)
    if (history.at(before)?.role === "user" && !memories.has(before)) return false;
  return true;
}

function tailOf(
  history: MessageList,
  plan: CompactionPlan,
  settings: CompactionSettings,
  memories: ReadonlySet<number>,
): Place[] {
  const elsewhere = new Set([...plan.pinned, ...plan.told]);
  const tail: Kept[] = [];
  for (let at = plan.keepFrom; at < history.length; at += 1)
    if (history.at(at)?.role !== "system" && !memories.has(at) && !elsewhere.has(at)) tail.push({ at });
  return isMarked(settings) ? textsOf(history, tail, memories) : tail;
}

/** Only what was said: no calls, results or reasoning. Answers that become neighbours are joined. */
function textsOf(history: MessageList, tail: readonly Kept[], memories: ReadonlySet<number>): Place[] {
  const texts: Place[] = [];
  for (const place of tail) {
    const { at } = place;
    const message = history.at(at) as Message;
    if (message.role === "tool" || isGoOn(history, at, memories)) continue;
    if (message.role !== "assistant") {
      texts.push(place);
      continue;
    }
    const spoken = spokenIn(message);
    if (spoken.length === 0) continue;
    const whole = message.content.every((part) => isText(part) && part.text.trim() !== "");
    const before = texts.at(-1);
    const last = before && messageAt(before, history);
    if (before !== undefined && last?.role === "assistant") {
      const from = "put" in before ? (before.from ?? []) : [before.at];
      const joined = spokenOnly(message, [...last.content.filter(isText), ...apart(spoken, 1)]);
      texts[texts.length - 1] = { put: joined, from: [...from, at] };
    } else texts.push(whole ? place : { put: spokenOnly(message, apart(spoken, 0)), from: [at] });
  }
  const end = texts.at(-1);
  const last = end && messageAt(end, history);
  // The model is to continue, and many refuse a conversation that ends with an answer of their own.
  const newest = history.length - 1;
  if (last?.role !== "assistant") return texts;
  if (isGoOn(history, newest, memories)) texts.push({ at: newest });
  else if (history.at(newest)?.role === "tool") texts.push({ put: userText(repairTexts.proceed) });
  return texts;
}

const isText = (part: AssistantMessage["content"][number]): part is TextPart => part.type === "text";

/**
 * The text of an answer, in pieces: what was between two pieces is removed. Adjacent text parts form one piece, so they
 * are not separated.
 */
function spokenIn({ content }: AssistantMessage): string[] {
  const pieces: string[] = [];
  content.forEach((part, at) => {
    if (!isText(part)) return;
    const before = content[at - 1];
    if (before !== undefined && isText(before)) pieces.push(`${pieces.pop()}${part.text}`);
    else pieces.push(part.text);
  });
  return pieces.filter((piece) => piece.trim() !== "");
}

/** The pieces as parts, with a blank line before each, except before the very first. */
const apart = (pieces: readonly string[], before: 0 | 1): TextPart[] =>
  pieces.map((text, at) => ({ type: "text", text: before + at === 0 ? text : `\n\n${text}` }));

/** Content that only the provider understands is removed together with the parts it belonged to. */
function spokenOnly(message: AssistantMessage, parts: readonly TextPart[]): AssistantMessage {
  const hadCalls = callsOf(message).length > 0;
  return {
    role: "assistant",
    content: parts.map(({ text }): TextPart => ({ type: "text", text })),
    origin: message.origin,
    stop: hadCalls ? { kind: "end_turn", wire: "end_turn" } : message.stop,
  };
}

/** A fault of the new history that a provider would refuse, in words. */
function faultOf(history: MessageList, messages: readonly Message[]): string | undefined {
  if (!isPaired(messages)) return isPaired(history) ? "a call would lose its result" : "a call has no result";
  const first = messages.find((message) => message.role !== "system");
  if (first?.role !== "user") return "it would not begin with the user";
  return undefined;
}
