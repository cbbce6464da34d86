// The room of babble: an answer that has come to one sentence over and over, seen while it comes.
//
// It need not be heard, and paid for, to its end. What is made of it is the rule's to say (`rules/degenerate.ts`), to which
// it is an answer that ran into a limit. An answer may be many thousand deltas: each costs two looks and a push.

import { endsTwice, isOwnSentence, repetition } from "../../rules/degenerate.ts";
import type { Rules } from "../../rules/rule.ts";
import type { State } from "../state.ts";

/** Looked at each time so many characters have come: the end of them, as much as may tell. */
const looked = { every: 2_000, end: 4_000 };
/** Repeats that are too many, and how long they must be together, in characters. */
const bound = { times: 20, length: 1_500 };

export class Babble {
  readonly #state: State;
  #type?: string;
  #index?: number;
  #pieces: string[] = [];
  #fresh = 0;

  /** @param state of the run, when the answer was asked for: what somebody said in it may be what is to be repeated */
  constructor(state: State) {
    this.#state = state;
  }

  /** What watches an answer; undefined where no rule judges what it sees. */
  static under(rules: Rules, state: State): Babble | undefined {
    return rules.list.some(({ name }) => name === "degenerate_answers") ? new Babble(state) : undefined;
  }

  /** The end of the part that is coming. */
  get end(): string {
    return this.#pieces.join("");
  }

  /** Takes the next piece of a part. @returns whether that has only been repeating itself for a while */
  takes(type: string, index: number, piece: string): boolean {
    if (type !== this.#type || index !== this.#index) {
      this.#type = type;
      this.#index = index;
      this.#pieces = [];
    }
    this.#pieces.push(piece);
    this.#fresh += piece.length;
    return this.#fresh >= looked.every && this.#repeats();
  }

  #repeats(): boolean {
    const end = this.end.slice(-looked.end);
    this.#pieces = [end];
    this.#fresh = 0;
    if (!endsTwice(end)) return false;
    const found = repetition(end);
    if (found === undefined || found.times < bound.times || found.length < bound.length) return false;
    return isOwnSentence(found.unit, this.#state);
  }
}
