// The room of babble: an answer that has come to one sentence over and over, seen while it comes.
//
// It need not be heard, and paid for, to its end. What is made of it is the rule's to say (`rules/degenerate.ts`), to which
// it is an answer that ran into a limit.

import { endsTwice, isOwnSentence, repetition } from "../../rules/degenerate.ts";
import type { Rules } from "../../rules/rule.ts";
import type { State } from "../state.ts";

/** Looked at each time so many characters have come. */
export const lookedEvery = 2_000;
/** The end of them, as much as may tell. */
const lookedAt = 4_000;
/** Repeats that are too many, and how long they must be together, in characters. */
const bound = { times: 20, length: 1_500 };

/** A part of an answer that is coming. */
export interface Coming {
  readonly pieces: readonly string[];
  /** How many of them were looked at. */
  looked: number;
  /** What those end with. */
  end: string;
}

export class Babble {
  readonly #state: State;

  /** @param state of the run, when the answer was asked for: what somebody said in it may be what is to be repeated */
  constructor(state: State) {
    this.#state = state;
  }

  /** What watches an answer; undefined where no rule judges what it sees. */
  static under(rules: Rules, state: State): Babble | undefined {
    return rules.list.some(({ name }) => name === "degenerate_answers") ? new Babble(state) : undefined;
  }

  /** Takes what has come of a part since it was last looked at. @returns whether it has only been repeating itself for a while */
  takes(part: Coming): boolean {
    part.end = (part.end + part.pieces.slice(part.looked).join("")).slice(-lookedAt);
    part.looked = part.pieces.length;
    if (!endsTwice(part.end)) return false;
    const found = repetition(part.end);
    if (found === undefined || found.times < bound.times || found.length < bound.length) return false;
    return isOwnSentence(found.unit, this.#state);
  }
}
