// The room of degenerate answers: a model that says the same thing until it is stopped.
//
// Only an answer that ran into the output limit is suspected: where it ended by itself, somebody may have asked for
// repetition. Stored, such text teaches the model to go on with it, so it is not.

import { checkMax } from "../checks.ts";
import { runOf } from "../loop/state.ts";
import { counting } from "./answers.ts";
import type { Judgement, Rule } from "./rule.ts";

/** Repeats that are too many, and how long they must be together, in characters. */
const bound = { times: 10, length: 300 };

/** Looked at from the end of a text: what repeats itself does so to the end. */
const window = 20_000;

/** An answer that repeats itself until it is cut off is asked for again with a word, at most `max` times a run; then the run ends. It is never stored. */
export function degenerateAnswers(max: number = 1): Rule<number> {
  checkMax(max, "degenerateAnswers");
  return {
    ...counting("degenerate_answers", (count, state, texts): Judgement | undefined => {
      const { turn } = runOf(state);
      if (turn === undefined || turn.calls.length > 0) return undefined;
      if (turn.message.stop.kind !== "max_tokens") return undefined;
      for (const part of turn.message.content) {
        if (part.type !== "text" && part.type !== "reasoning") continue;
        const found = repetition(part.text);
        if (found === undefined || found.times < bound.times || found.length < bound.length) continue;
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
    version: 2,
  };
}

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
