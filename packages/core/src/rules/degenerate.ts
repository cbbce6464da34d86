// The room of degenerate answers: a model that says the same thing until it is stopped.
//
// An answer that ran into the output limit is suspected. Where it ended by itself, somebody may have asked for repetition:
// then only a sentence counts that comes again and again and that nobody said before. Stored, such text teaches the model to
// go on with it, so it is not.

import { checkMax } from "../checks.ts";
import type { State } from "../loop/state.ts";
import { textOf } from "../message.ts";
import { counting } from "./answers.ts";
import type { Judgement, Rule } from "./rule.ts";

/** Repeats that are too many, and how long they must be together, in characters. */
const bound = { times: 10, length: 300 };
/** The same of an answer that ended by itself. */
const endedBound = { times: 20, length: 500 };
/** Of one sentence, or a few. What is longer is a text of its own. */
const proseChars = 200;
const proseWords = 3;
const sentenceEnd: RegExp = /[.!?…。！？](?:\s|$)/;
/** The beginning of an item of a list, of a cell, of code. */
const listed: RegExp = /^\s*(?:[-*+•>|#]|\d+[.)])|[|{};=<>`\t]/m;

/** Looked at from the end of a text: what repeats itself does so to the end. */
const window = 20_000;

/** An answer that repeats itself until it is cut off, or one sentence of its own over and over, is asked for again with a word, at most `max` times a run; then the run ends. It is never stored. */
export function degenerateAnswers(max: number = 1): Rule<number> {
  checkMax(max, "degenerateAnswers");
  return {
    ...counting("degenerate_answers", (count, state, texts): Judgement | undefined => {
      const turn = state.run?.turn;
      if (turn === undefined || turn.calls.length > 0) return undefined;
      const { kind } = turn.message.stop;
      if (kind !== "max_tokens" && kind !== "end_turn") return undefined;
      for (const part of turn.message.content) {
        if (part.type !== "text" && part.type !== "reasoning") continue;
        if (kind === "end_turn" && !endsTwice(part.text)) continue;
        const found = repetition(part.text);
        const { times, length } = kind === "max_tokens" ? bound : endedBound;
        if (found === undefined || found.times < times || found.length < length) continue;
        if (kind === "end_turn" && !isOwnSentence(found.unit, state)) continue;
        const evidence = {
          part: part.type,
          unit: found.unit.slice(0, 100),
          times: found.times,
          retries: count,
          max,
        };
        // The same request may well bring the same answer.
        if (count < max) return { follows: { do: "ask_again", note: texts.degenerateAnswer() }, evidence };
        const message = `the model repeated ${JSON.stringify(evidence.unit)} ${found.times} times`;
        const error = { kind: "loop_detected" as const, message, retryable: false };
        return { follows: { do: "stop", reason: "no_progress", error }, store: false, evidence };
      }
      return undefined;
    }),
    version: 3,
  };
}

/** Whether the end of a text stands a second time within a unit of prose before it. Most answers cost no more than this look. */
export function endsTwice(text: string): boolean {
  const end = text.trimEnd().slice(-2 * proseChars);
  return end.length === 2 * proseChars && end.lastIndexOf(end.slice(proseChars), proseChars - 1) >= 0;
}

/** Whether a unit is prose that nobody but the model came up with: what somebody said may be what is to be repeated. */
export function isOwnSentence(unit: string, { history }: State): boolean {
  if (unit.length > proseChars || !sentenceEnd.test(unit) || listed.test(unit)) return false;
  if ([...unit.matchAll(/\p{L}{2,}/gu)].length < proseWords) return false;
  const letters = lettersOf(unit);
  for (const message of history)
    if (message.role !== "assistant" && lettersOf(textOf(message)).includes(letters)) return false;
  return true;
}

/** Neither quotes nor the end of a sentence tell two apart. */
const lettersOf = (text: string): string => text.toLowerCase().replace(/[^\p{L}]/gu, "");

/** The unit that the end of a text repeats, how often, and how long that is; undefined when it repeats none. In linear time. */
export function repetition(text: string): { unit: string; times: number; length: number } | undefined {
  const tail = text.slice(-window).trimEnd();
  // The borders of each suffix: a suffix of length n with border b repeats its last n - b characters.
  const borders = new Int32Array(tail.length + 1);
  const at = (place: number): number => tail.charCodeAt(tail.length - 1 - place);
  let best: { period: number; length: number } | undefined;
  let border = 0;
  for (let length = 2; length <= tail.length; length += 1) {
    while (border > 0 && at(border) !== at(length - 1)) border = borders[border] ?? 0;
    if (at(border) === at(length - 1)) border += 1;
    borders[length] = border;
    const period = length - border;
    if (length >= period * 3 && (best === undefined || length / period >= best.length / best.period))
      best = { period, length };
  }
  if (best === undefined) return undefined;
  const unit = tail.slice(-best.period);
  // Rulers, empty cells and numbers repeat in tables and drawings; words do not. The text may be cut off within a word:
  // its letters are then at both ends of the unit.
  if (!/\p{L}{2}/u.test(best.period > 1 ? unit + unit[0] : unit)) return undefined;
  return { unit, times: Math.floor(best.length / best.period), length: best.length };
}
