// The room of words that must not be said: an answer in which one occurs is broken off while it arrives, and not kept.
//
// The model is asked again, with a note. No call of such an answer runs, and its text is not the run's, not even at a landing.
// What of it arrived before the words did has been emitted by then; the words of a text that is given, and not a pattern, have
// not.

import { type Check, checkGiven, membersOf, needed, text, whole } from "../checks.ts";
import { textOf } from "../message.ts";
import { counting } from "./answers.ts";
import type { Judgement, Rule } from "./rule.ts";

interface MustNotSayOptions {
  /** How often the model is asked again in a run. Default: 1 */
  max?: number;
  /** What the model reads then, as a note of that one request. Default: that its answer was rejected because of what it said, and to answer without it. The note does not repeat the words */
  note?: string;
}

const defaultNote =
  "Your answer was rejected because it contained something that must not be said. Answer again without it.";

/** An empty text, or a pattern that matches one, would occur in every answer. */
const isEmpty = (given: unknown): boolean => (given instanceof RegExp ? given.test("") : given === "");
const isWord = (given: unknown): boolean =>
  (typeof given === "string" || given instanceof RegExp) && !isEmpty(given);
const words = needed(
  "a text or a pattern that does not match an empty text, or a list of these,",
  (given) => isWord(given) || (Array.isArray(given) && given.length > 0 && given.every(isWord)),
);

type Words = string | RegExp;

const ownOptions: Check = membersOf<{ words: Words | readonly Words[] } & MustNotSayOptions>(
  { words, max: whole, note: text },
  ["words"],
);

/** Something that must not be said. */
interface Forbidden {
  /** As it was given, for the evidence. */
  readonly words: string;
  /** Whether it occurs in a whole text. */
  isIn(text: string): boolean;
  /** Whether it occurs in a text that may go on, of which `from` characters came before. */
  isComing(text: string, from: number): boolean;
}

const forbidden = (words: Words): Forbidden =>
  typeof words === "string" ? forbiddenText(words) : forbiddenPattern(words);

function forbiddenText(words: string): Forbidden {
  const isIn = (text: string): boolean => text.includes(words);
  return { words, isIn, isComing: isIn };
}

function forbiddenPattern(words: RegExp): Forbidden {
  const pattern = new RegExp(words.source, `${words.flags.replace(/[gy]/g, "")}g`);
  // `^`, `$` and `\b` match at the borders of what is there, though the whole text begins before it, or may go on.
  const ends = (text: string, begin: number): number | undefined => {
    pattern.lastIndex = begin;
    return pattern.test(text) ? pattern.lastIndex : undefined;
  };
  return {
    words: String(words),
    isIn: (text) => ends(text, 0) !== undefined,
    isComing: (text, from) => (ends(text, from === 0 ? 0 : 1) ?? text.length) < text.length,
  };
}

/**
 * Breaks off an answer in whose text one of these occurs, and asks the model again. After `max` times the run ends as `no_progress`.
 * Only the text of an answer is searched, not the model's thoughts and not the arguments of calls; while it arrives, the last 4,000 characters of it.
 * @param words a text, compared exactly; a pattern; or several of both. While an answer arrives, a pattern counts once a character follows what it matches
 * @throws RondoError `invalid_request` for anything else
 */
export function mustNotSay(words: Words | readonly Words[], options: MustNotSayOptions = {}): Rule<number> {
  checkGiven(ownOptions, { ...options, words }, "mustNotSay");
  const { max = 1, note = defaultNote } = options;
  const all = (Array.isArray(words) ? words : [words]).map(forbidden);
  return {
    ...counting("must_not_say", (count, state): Judgement | undefined => {
      const turn = state.run?.turn;
      if (turn === undefined) return undefined;
      const said = textOf(turn.message);
      const found = all.find((one) => one.isIn(said));
      if (found === undefined) return undefined;
      const evidence = { words: found.words, asked: count, max };
      if (count < max) return { follows: { do: "ask_again", note }, store: false, evidence };
      return { follows: { do: "stop", reason: "no_progress" }, store: false, evidence };
    }),
    hear(_count, { type, text, from }) {
      const found = type === "text" ? all.find((one) => one.isComing(text, from)) : undefined;
      return found && `it contained ${found.words}`;
    },
  };
}
