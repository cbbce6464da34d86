// The room of summaries in parts: a stretch too long for one summary, in parts that fit, and one call more that joins them.
//
// Estimates are off by a fifth, so every bound has that much air. Where messages are large, parts are planned smaller:
// one message more would burst them. A message that alone fills half the window is left out and named.

import type { Message } from "../../message.ts";

/** The tokens of one message, estimated. */
export type Measure = (message: Message) => number;

/** The bounds of a summary in stages. */
export const stagedBounds = {
  /** Estimates are taken times this. */
  safety: 1.2,
  /** Share of the window one part may have; with large messages less, down to the least. */
  baseChunk: 0.4,
  minChunk: 0.15,
  /** Parts there are at least, once there is more than one. */
  parts: 2,
  /** Fewer messages are not split. */
  minMessagesToSplit: 4,
  /** Tokens of a summarising request beside the transcript. */
  overheadTokens: 4096,
  /** A message with a larger share of the window is left out. */
  oversized: 0.5,
  /** For the caller: how often a summarising call is tried, with waits between these bounds, and how far they scatter. */
  attempts: 3,
  minWaitMs: 500,
  maxWaitMs: 5000,
  jitter: 0.2,
} as const;

export interface Piece {
  index: number;
  /** Tokens of its text in the transcript. */
  tokens: number;
}

/** Whether a message is too large to be summarised at all. */
export function isOversized(tokens: number, window: number): boolean {
  return tokens * stagedBounds.safety > window * stagedBounds.oversized;
}

/** The share of the window one part may have: less where the messages are large. */
export function chunkRatio(pieces: readonly Piece[], window: number): number {
  const { safety, baseChunk, minChunk } = stagedBounds;
  if (pieces.length === 0) return baseChunk;
  const average = (sumOf(pieces) / pieces.length) * safety;
  const share = average / window;
  return share > 0.1 ? Math.max(minChunk, baseChunk - Math.min(share * 2, baseChunk - minChunk)) : baseChunk;
}

/** The parts a stretch is summarised in: one when it fits the window with its answer, else as many as need be. */
export function partsOf(
  pieces: readonly Piece[],
  window: number,
  answerTokens: number,
): { from: number; to: number }[] {
  const first = pieces[0];
  const last = pieces.at(-1);
  if (first === undefined || last === undefined) return [];
  const { safety, overheadTokens, minMessagesToSplit, parts, minChunk } = stagedBounds;
  const total = sumOf(pieces);
  const fits = total * safety + Math.min(overheadTokens + answerTokens, window / 2) <= window;
  if (fits || pieces.length < minMessagesToSplit) return [{ from: first.index, to: last.index + 1 }];
  const ratio = chunkRatio(pieces, window);
  const room = Math.max(window * minChunk, window * ratio - overheadTokens) / safety;
  const most = Math.min(room, Math.ceil(total / parts));
  const found: { from: number; to: number }[] = [];
  let from = first.index;
  let size = 0;
  for (const piece of pieces) {
    if (size > 0 && size + piece.tokens > most) {
      found.push({ from, to: piece.index });
      from = piece.index;
      size = 0;
    }
    size += piece.tokens;
  }
  found.push({ from, to: last.index + 1 });
  return found;
}

/** A token of a summary has so many characters at least, as a rule. */
const leastCharacters = 3;

/** The most characters of what an earlier compaction left that a reader with such a window is shown: a quarter of it. */
export const earlierCharacters = (window: number): number =>
  Math.max(200, Math.floor((window / 4) * leastCharacters));

/** The most characters of each part's summary that the call which joins so many of them can read. */
export function joinedCharacters(parts: number, window: number, answerTokens: number): number {
  const { safety, overheadTokens } = stagedBounds;
  const room = (window - Math.min(overheadTokens + answerTokens, window / 2)) / safety;
  return Math.max(200, Math.floor((room * leastCharacters) / parts));
}

const sumOf = (pieces: readonly Piece[]): number => pieces.reduce((sum, piece) => sum + piece.tokens, 0);
