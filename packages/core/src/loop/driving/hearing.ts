// The room of hearing: rules that listen to an answer while it arrives, and may break it off.
//
// An answer that is broken off is cancelled, so that the rest is neither shown nor paid for. It is then judged, as an answer that
// was cut off at a limit.

import { oncePer } from "../../once-per.ts";
import { type Rule, ruleFailed, type Speaker, speakersIn } from "../../rules/rule.ts";
import { heard } from "../../rules/verdicts.ts";
import type { State } from "../state.ts";

/** How many of the characters that a rule has heard it hears again before new ones. */
const heardAgain = 4_000;

/** A text or a thought of an answer that is arriving. */
export interface Coming {
  readonly type: "text_delta" | "reasoning_delta";
  readonly pieces: readonly string[];
  /** How many characters of it have arrived since the rules were asked. */
  unheard: number;
  /** What each rule that listens has heard of it; made when they are first asked. */
  ears?: Ear[];
}

interface Ear {
  /** How many of the pieces it has heard. */
  pieces: number;
  /** How many characters have arrived since. */
  due: number;
  /** The end of what it has heard. */
  end: string;
  /** At which character of the part that end begins. */
  from: number;
}

/** Why an answer is broken off: what the rule said, its name, and the end of the part that made it do so. */
export interface BrokenOff {
  readonly rule: string;
  readonly why: string;
  readonly end: string;
}

/** The rules that listen to one answer. */
export interface Hearing {
  /** After how many new characters of a part it is time to ask: the smallest number of the rules. */
  readonly every: number;
  /** Asks each rule for which enough of a part is new. @throws RondoError naming a rule that failed */
  hear(part: Coming): BrokenOff | undefined;
}

/**
 * Who listens to an answer; undefined if no rule does.
 * @param state when the answer was asked for
 */
export function hearing(list: readonly Rule[], state: State): Hearing | undefined {
  const every = shortestIn(list);
  return every === undefined ? undefined : { every, hear: (part) => heardBy(list, state, part) };
}

const shortestIn = oncePer((list: readonly Rule[]): number | undefined => {
  const { hear } = speakersIn(list);
  return hear.length === 0 ? undefined : Math.min(...hear.map(({ rule }) => rule.hearEvery ?? 1));
});

function heardBy(list: readonly Rule[], state: State, part: Coming): BrokenOff | undefined {
  const { hear } = speakersIn(list);
  part.ears ??= hear.map(() => ({ pieces: 0, due: 0, end: "", from: 0 }));
  for (const [at, ear] of part.ears.entries()) {
    const { rule, place } = hear[at] as Speaker<"hear">;
    ear.due += part.unheard;
    if (ear.due < (rule.hearEvery ?? 1)) continue;
    const text = ear.end + part.pieces.slice(ear.pieces).join("");
    const why = saidBy(rule, state.memories[place], part, { text, from: ear.from }, state);
    if (why !== undefined) return { rule: rule.name, why, end: text.slice(-heardAgain) };
    const over = Math.max(0, text.length - heardAgain);
    part.ears[at] = { pieces: part.pieces.length, due: 0, end: text.slice(over), from: ear.from + over };
  }
  part.unheard = 0;
  return undefined;
}

/** @throws RondoError naming the rule, if it throws or says something else than a text */
function saidBy(
  rule: Speaker<"hear">["rule"],
  memory: unknown,
  { type }: Coming,
  { text, from }: { text: string; from: number },
  state: State,
): string | undefined {
  try {
    const said = rule.hear(memory, { type: type === "text_delta" ? "text" : "reasoning", text, from }, state);
    return said === undefined ? undefined : heard("hear", said);
  } catch (thrown) {
    throw ruleFailed(rule, "hear", thrown);
  }
}
