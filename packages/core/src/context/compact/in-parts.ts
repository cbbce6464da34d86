// The room of summaries in parts: a text too long for one summary is summarised in parts that fit, and one more call joins
// them.
//
// Estimates are wrong by up to a fifth, so every limit has that margin. If messages are large, parts are planned smaller,
// because one more message would exceed the limit. A message that alone fills half the window is left out and named.

import type { Message } from "../../message.ts";

/** The estimated tokens of one message. */
export type Measure = (message: Message) => number;

/** The limits of a summary in parts. */
export const stagedBounds = {
  /** Estimates are multiplied by this. */
  safety: 1.2,
  /** Share of the window for one part; with large messages less, down to `minChunk`. */
  baseChunk: 0.4,
  minChunk: 0.15,
  /** The least number of parts if there is more than one. */
  parts: 2,
  /** Fewer messages are not split. */
  minMessagesToSplit: 4,
  /** Tokens of a summarising request without the transcript. */
  overheadTokens: 4096,
  /** A message with a larger share of the window is left out. */
  oversized: 0.5,
  /** For the caller: the attempts of a summarising call, the limits of the waits between them, and their random share. */
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
export function isTooLargeToRead(tokens: number, window: number): boolean {
  return tokens * stagedBounds.safety > window * stagedBounds.oversized;
}

/** The share of the window for one part: smaller if messages are large. */
export function chunkRatio(pieces: readonly Piece[], window: number): number {
  const { safety, baseChunk, minChunk } = stagedBounds;
  if (pieces.length === 0) return baseChunk;
  const average = (tokensOf(pieces) / pieces.length) * safety;
  const share = average / window;
  return share > 0.1 ? Math.max(minChunk, baseChunk - Math.min(share * 2, baseChunk - minChunk)) : baseChunk;
}

/** The parts to summarise: one if the text fits into the window together with the summary, else as many as needed. */
export function splitInParts(
  pieces: readonly Piece[],
  window: number,
  answerTokens: number,
): { from: number; to: number }[] {
  const first = pieces[0];
  const last = pieces.at(-1);
  if (first === undefined || last === undefined) return [];
  const { safety, overheadTokens, minMessagesToSplit, parts, minChunk } = stagedBounds;
  const total = tokensOf(pieces);
  const fitting = fittingTokens(window, answerTokens);
  if (total <= fitting || pieces.length < minMessagesToSplit)
    return [{ from: first.index, to: last.index + 1 }];
  const ratio = chunkRatio(pieces, window);
  const chunk = Math.max(window * minChunk, window * ratio - overheadTokens) / safety;
  const most = Math.min(Math.max(chunk, Math.min(fitting, worthACall)), Math.ceil(total / parts));
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

/** The most tokens that one call can read, beside its instructions and its answer. */
function fittingTokens(window: number, answerTokens: number): number {
  const { safety, overheadTokens } = stagedBounds;
  return (window - Math.min(overheadTokens + answerTokens, window / 2)) / safety;
}

/** Parts have at least so many tokens where they fit: in a small window the shares above would give each message a call of its own. */
const worthACall = 4 * stagedBounds.overheadTokens;

/** As a rule, a token of a summary has at least this many characters. */
const leastCharacters = 3;

/** The most characters of an earlier memory that a summariser with such a window reads: a quarter of it. */
export const earlierCharacters = (window: number): number =>
  Math.max(200, Math.floor((window / 4) * leastCharacters));

/** The most characters of each part's summary, so that one call can read and join all of them. */
export function joinedCharacters(parts: number, window: number, answerTokens: number): number {
  return Math.max(200, Math.floor((fittingTokens(window, answerTokens) * leastCharacters) / parts));
}

const tokensOf = (pieces: readonly Piece[]): number => pieces.reduce((sum, piece) => sum + piece.tokens, 0);
