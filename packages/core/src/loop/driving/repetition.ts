// The room of repetition: notices while an answer streams that it repeats one sentence over and over.
//
// The answer is then cancelled, so that the rest is not paid for. What follows is decided by a rule (`rules/degenerate.ts`),
// which sees an answer that was cut off at a limit.

import { oncePer } from "../../once-per.ts";
import { endsTwice, isOwnSentence, repetition } from "../../rules/degenerate.ts";
import type { Rule, Rules } from "../../rules/rule.ts";
import type { State } from "../state.ts";

/** After how many new characters the answer is checked again. */
export const lookedEvery = 2_000;
/** How many of the last characters are checked. */
const lookedAt = 4_000;
/** From how many repeats on an answer is cancelled, and how long they must be together, in characters. */
const bound = { times: 20, length: 1_500 };

/** A part of an answer that is arriving. */
export interface Coming {
  readonly pieces: readonly string[];
  /** How many of the pieces were checked. */
  looked: number;
  /** The end of the text of those pieces. */
  end: string;
}

/** Checks what has arrived of a part since the last check. @returns whether the part has been repeating itself for a while */
export type RepetitionWatch = (part: Coming) => boolean;

/**
 * Watches an answer; undefined if no rule judges repetition.
 * @param state when the answer was asked for: a text that the conversation asks to repeat may be repeated
 */
export const repetitionWatch = ({ list }: Rules, state: State): RepetitionWatch | undefined =>
  judgeRepetition(list) ? (part) => isRepeating(part, state) : undefined;

const judgeRepetition = oncePer((list: readonly Rule[]) =>
  list.some(({ name }) => name === "degenerate_answers"),
);

function isRepeating(part: Coming, state: State): boolean {
  part.end = (part.end + part.pieces.slice(part.looked).join("")).slice(-lookedAt);
  part.looked = part.pieces.length;
  if (!endsTwice(part.end)) return false;
  const found = repetition(part.end);
  if (found === undefined || found.times < bound.times || found.length < bound.length) return false;
  return isOwnSentence(found.unit, state);
}
