// The room of the plan: what is summarised, in which parts, and what stays as it is.
//
// System messages stay, the task and the newest request (if the settings say so), and the last turns. The history is cut
// only between units. If a compaction cannot help there is no plan, so that no model is called in vain.

import type { Message } from "../../message.ts";
import type { MessageList } from "../../model.ts";
import {
  earlierCharacters,
  isTooLargeToRead,
  joinedCharacters,
  type Measure,
  type Piece,
  splitInParts,
} from "./in-parts.ts";
import { isGoOn, memoriesOf } from "./memory.ts";
import { type CompactionSettings, isMarked } from "./settings.ts";
import { messageText, omittedText } from "./transcript.ts";
import { unitStarts } from "./units.ts";

/** What a plan is made from, besides the history. */
export interface CompactionFacts {
  /** Window of the run's model, in tokens. Unknown: the history's own size, and everything fits. */
  window?: number;
  /** Window of the model that summarises, in tokens. Default: `window`. */
  summariserWindow?: number;
  /** Tokens of the last request, as the provider counted them, or as it refused them. Estimates are scaled up to this. */
  used?: number;
  /** Tokens of that request without the history: system prompt, tools. Default: 0. */
  overhead?: number;
  /** Messages of the history with which the loop asked for the typed output: they are nobody's request. Default: none. */
  asked?: readonly Message[];
  /** Tokens of one message. Must always be the same for the same message. */
  estimator: Measure;
}

/** The plan. Plain JSON; valid only for the history it was made from. */
export interface CompactionPlan {
  /** How many messages that history has. */
  length: number;
  /** What the summariser reads, by index, without `to`; one call for each, and one more that joins several. */
  parts: { from: number; to: number }[];
  /** Number of summarising calls: 0 if everything is too large to be summarised. */
  calls: number;
  /** Messages too large to be summarised: index, and the text in place of each. */
  omitted: { index: number; note: string }[];
  /** Messages before the tail that stay word for word, besides system messages. */
  pinned: number[];
  /** Where the tail, the last turns, begins. */
  keepFrom: number;
  /** Messages of the tail that do not stay: answers that an earlier compaction has summarised. */
  told: number[];
  /** Tokens before: the estimate times `scale`. */
  before: number;
  /** How many counted tokens correspond to one estimated token; at least 1. */
  scale: number;
  /** The most of one tool result that the summariser reads; null: all of it. */
  resultCharacters: number | null;
  /** The most of each part's summary that is read when they are joined; null: all of it. */
  partCharacters: number | null;
  /** The most that is read of an earlier memory and of the ledger; null: all of it. */
  earlierCharacters: number | null;
}

/** Share of the window for messages that were sent during the work, before the newest. */
const saidShare = 0.1;

/** Plans a compaction; undefined if none would help. */
export function planCompaction(
  history: MessageList,
  settings: CompactionSettings,
  facts: CompactionFacts,
): CompactionPlan | undefined {
  const sizes = sizesOf(history, facts);
  const { before, scale, used } = sizes;
  const stays = stayingIn(history, settings, sizes, facts);
  if (!mayHelp(history, settings, sizes, stays)) return undefined;

  const { keepFrom, pinned, told, memories } = stays;
  // The tagged format summarises everything, because its last turns lose their calls or are sent twice.
  const end = settings.format === "tagged" ? history.length : keepFrom;
  const reading = facts.summariserWindow ?? facts.window ?? (used > 0 ? before : Number.POSITIVE_INFINITY);
  const resultCharacters = cutFor(settings, reading);
  // For texts that an estimator knows badly, the real count is up to about three times the estimate; a larger `scale` has
  // other causes than the history's text.
  const measure: Measure = (message) => Math.ceil(facts.estimator(message) * Math.min(scale, 3));
  const read = indicesOf(history, (_message, at) => at < end && !memories.has(at));
  const { pieces, omitted } = readOf(history, read, { measure, reading, resultCharacters });
  if (pieces.length === 0 && (omitted.length === 0 || settings.onFailure === "keep")) return undefined;
  const answerTokens = settings.summaryMaxTokens ?? 8192;
  const parts = splitInParts(pieces, reading, answerTokens);
  return {
    length: history.length,
    parts,
    calls: parts.length > 1 ? parts.length + 1 : parts.length,
    omitted,
    pinned,
    keepFrom,
    told,
    before,
    scale,
    resultCharacters,
    partCharacters:
      parts.length > 1 && Number.isFinite(reading)
        ? joinedCharacters(parts.length, reading, answerTokens)
        : null,
    earlierCharacters: Number.isFinite(reading) ? earlierCharacters(reading) : null,
  };
}

/** How large a history is. */
interface Sizes {
  /** Of each message, estimated. */
  each: readonly number[];
  /** All of them. */
  estimated: number;
  /** As the provider counted the history; 0: it did not. */
  used: number;
  scale: number;
  before: number;
}

function sizesOf(
  history: MessageList,
  { estimator, used: counted = 0, overhead = 0 }: CompactionFacts,
): Sizes {
  const each = Array.from(history, (message) => Math.max(0, estimator(message)));
  const estimated = each.reduce((sum, size) => sum + size, 0);
  const used = Math.max(0, counted - overhead);
  const scale = estimated > 0 && used > estimated ? used / estimated : 1;
  return { each, estimated, used, scale, before: Math.ceil(estimated * scale) };
}

/** What of a history stays, and what it has of earlier compactions. */
interface Staying extends Pick<CompactionPlan, "keepFrom" | "pinned" | "told"> {
  memories: ReadonlySet<number>;
}

function stayingIn(
  history: MessageList,
  settings: CompactionSettings,
  { each: sizes, scale, before }: Sizes,
  { window = Math.max(1, before), asked = [] }: CompactionFacts,
): Staying {
  const tagged = settings.format === "tagged";
  const { indices: memories } = memoriesOf(history, settings);
  const isOurs = (at: number): boolean => memories.has(at) || (tagged && isGoOn(history, at, memories));
  const users = indicesOf(
    history,
    (message, at) => message.role === "user" && !isOurs(at) && !asked.includes(message),
  );
  const turn = settings.keepTurns === 0 ? history.length : (users.at(-settings.keepTurns) ?? 0);
  const room = (settings.keepShare * window) / scale;
  const keepFrom = tagged ? turn : tailStart(history, sizes, turn, room, (0.5 * window) / scale);
  const pinned = settings.keepTask
    ? pinnedOf(history, users, sizes, (saidShare * window) / scale).filter((at) => at < keepFrom)
    : [];
  const told = isMarked(settings) ? toldBefore(history, sizes, { keepFrom, isOurs, room }) : [];
  return { keepFrom, pinned, told, memories };
}

/** Whether enough of a history goes, and not only what an earlier compaction put there. */
function mayHelp(
  history: MessageList,
  settings: CompactionSettings,
  { each: sizes, estimated }: Sizes,
  { keepFrom, pinned, told, memories }: Staying,
): boolean {
  const kept = new Set(pinned);
  const gone = indicesOf(
    history,
    (message, at) =>
      message.role !== "system" && !kept.has(at) && (at < keepFrom || memories.has(at) || told.includes(at)),
  );
  const thinned = isMarked(settings) ? thinnedOf(history, keepFrom, memories) : [];
  const least = settings.minGain === null ? -1 : settings.minGain * estimated;
  const most = [...gone, ...thinned].reduce((sum, at) => sum + (sizes[at] as number), 0);
  const isAnyNew = thinned.length > 0 || gone.some((at) => !memories.has(at));
  return most > least && (isAnyNew || (settings.format === "tagged" && settings.minGain === null));
}

/** The oldest answers of a turn that was compacted before, if they exceed their share: a long turn must not fill the window. */
function toldBefore(
  history: MessageList,
  sizes: readonly number[],
  { keepFrom, isOurs, room }: { keepFrom: number; isOurs(at: number): boolean; room: number },
): number[] {
  const last = indicesOf(history, (message, at) => at > keepFrom && message.role === "user" && isOurs(at)).at(
    -1,
  );
  const answers = indicesOf(
    history,
    (message, at) => at >= keepFrom && at < (last ?? 0) && message.role === "assistant",
  );
  let size = answers.reduce((sum, at) => sum + (sizes[at] as number), 0);
  const told: number[] = [];
  for (const at of answers) {
    if (size <= room) break;
    told.push(at);
    size -= sizes[at] as number;
  }
  return told;
}

/** What the summariser reads of these messages, and the notes on those that are too large. */
function readOf(
  history: MessageList,
  told: readonly number[],
  {
    measure,
    reading,
    resultCharacters,
  }: { measure: Measure; reading: number; resultCharacters: number | null },
): { pieces: Piece[]; omitted: CompactionPlan["omitted"] } {
  const pieces: Piece[] = [];
  const omitted: CompactionPlan["omitted"] = [];
  for (const index of told) {
    const message = history.at(index) as Message;
    const text = messageText(message, resultCharacters, index === history.length - 1);
    if (text === "") continue;
    const tokens = measure({ role: "user", content: [{ type: "text", text }] });
    if (isTooLargeToRead(tokens, reading)) omitted.push({ index, note: omittedText(message, tokens) });
    else pieces.push({ index, tokens });
  }
  return { pieces, omitted };
}

/**
 * With a small window less of each result is read, so that a summary does not take many calls: a twentieth of it, at four
 * characters a token.
 */
function cutFor({ resultCharacters }: CompactionSettings, window: number): number | null {
  if (resultCharacters === null) return null;
  return Math.min(resultCharacters, Math.max(200, Math.floor(window / 5)));
}

function indicesOf(history: MessageList, test: (message: Message, at: number) => boolean): number[] {
  const found: number[] = [];
  for (let at = 0; at < history.length; at += 1) if (test(history.at(at) as Message, at)) found.push(at);
  return found;
}

/**
 * The pinned messages: the task; the newest request, which is all user messages in a row at the end; and if that was sent
 * during the work, the request being worked on, and the newest messages in between, as far as they fit.
 */
function pinnedOf(
  history: MessageList,
  users: readonly number[],
  sizes: readonly number[],
  room: number,
): number[] {
  const [task] = users;
  if (task === undefined) return [];
  const begins = users.filter((at, nth) => nth === 0 || users[nth - 1] !== at - 1);
  const newest = begins.at(-1) as number;
  const request = begins.findLast((at) => at === 0 || history.at(at - 1)?.role !== "tool") ?? newest;
  const pinned = new Set([task, request, ...users.filter((at) => at >= newest)]);
  let left = room;
  for (const at of users.filter((one) => one > request && one < newest).reverse()) {
    left -= sizes[at] as number;
    if (left < 0) break;
    pinned.add(at);
  }
  return [...pinned].sort((one, other) => one - other);
}

/** Where the tail begins: it has as many whole units as fit, none from before the turn. The last unit stays unless it is huge. */
function tailStart(
  history: MessageList,
  sizes: readonly number[],
  turn: number,
  room: number,
  roomOfLast: number,
): number {
  const starts = unitStarts(history);
  let from = history.length;
  let size = 0;
  for (const start of starts.reverse()) {
    if (start < turn) break;
    for (let at = start; at < from; at += 1) size += sizes[at] as number;
    if (size > (from === history.length ? Math.max(room, roomOfLast) : room)) break;
    from = start;
  }
  return from;
}

/** Messages of the tail that lose content if only its texts stay. */
function thinnedOf(history: MessageList, keepFrom: number, memories: ReadonlySet<number>): number[] {
  return indicesOf(
    history,
    (message, at) =>
      at >= keepFrom &&
      !memories.has(at) &&
      (message.role === "tool" ||
        (message.role === "assistant" && message.content.some((part) => part.type !== "text"))),
  );
}
