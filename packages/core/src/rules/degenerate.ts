// The room of degenerate answers: a model that repeats itself until it is stopped.
//
// An answer that ran into the output limit is suspect. If it ended by itself, repetition may have been asked for: then only
// a sentence counts that is repeated over and over and does not occur in the conversation before. Such an answer is not
// stored, because it would lead the model to continue it. It is broken off while it arrives, so that the rest is not paid for.

import { checkMax } from "../checks.ts";
import type { State, Turn } from "../loop/state.ts";
import { type AssistantMessage, textOf } from "../message.ts";
import { headOf } from "../text/size.ts";
import { counting } from "./answers.ts";
import type { Judgement, Rule } from "./rule.ts";

/** From how many repeats on an answer is degenerate, and how long they must be together, in characters. */
const bound = { times: 10, length: 300 };
/** The same for an answer that ended by itself. */
const endedBound = { times: 20, length: 500 };
/** The same for an answer that is still arriving. */
const arrivingBound = { times: 20, length: 1_500 };
/** After how many new characters it is checked again. */
const arrivingEvery = 2_000;
/** From how many calls on an answer is degenerate if most of them are the same call. */
const manyCalls = 64;
/** The longest unit that counts as prose, in characters: a sentence or a few. */
const proseChars = 200;
const proseWords = 3;
/** The same in a script that has no spaces between words. */
const proseSigns = 6;
/** A letter of a script without spaces between words. */
const sign =
  "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}ー\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}]";
/** Made when it is needed: an engine takes a millisecond to compile it. */
const signs = (): RegExp => new RegExp(sign, "gu");
/** What a broken model repeats without a word. Rulers, empty cells, spaces and digits are not meant. */
const wordless = (): RegExp => new RegExp(`${sign}|\\p{Extended_Pictographic}|^[!?]+$`, "u");
const sentenceEnd: RegExp = /[.!?…](?:\s|$)|[。！？]/;
/** The beginning of a list item, a table cell or code. */
const listed: RegExp = /^\s*(?:[-*+•>|#]|\d+[.)])|[|{};=<>`\t]/m;

/** How many characters at the end of a text are checked: a repetition goes on to the end. */
const window = 20_000;

/** Asks again, with a note, if an answer repeats itself until it is cut off, repeats one sentence of its own over and over, or makes dozens of calls until it is cut off that are mostly one and the same: at most `max` times per run (default 1), then the run ends as `no_progress`. Such an answer is never stored. */
export function degenerateAnswers(max: number = 1): Rule<number> {
  checkMax(max, "degenerateAnswers");
  return {
    ...counting("degenerate_answers", (count, state, texts): Judgement | undefined => {
      const turn = state.run?.turn;
      if (turn === undefined) return undefined;
      const found = turn.calls.length > 0 ? repeatedCall(turn) : repeated(turn.message, state);
      if (found === undefined) return undefined;
      const evidence = { ...found, retries: count, max };
      // The same request would probably give the same answer.
      if (count < max) return { follows: { do: "ask_again", note: texts.degenerateAnswer() }, evidence };
      const message = `the model repeated ${JSON.stringify(found.unit)} ${found.times} times`;
      const error = { kind: "loop_detected" as const, message, retryable: false };
      return { follows: { do: "stop", reason: "no_progress", error }, store: false, evidence };
    }),
    version: 5,
    hearEvery: arrivingEvery,
    hear: (_count, { text }, state) => (isRepeating(text, state) ? "it repeated itself" : undefined),
  };
}

/** The call that a broken model makes over and over in an answer until it is cut off, and how often; undefined if it does not. */
export function repeatedCall({
  calls,
  message,
}: Pick<Turn, "calls" | "message">): { part: string; unit: string; times: number } | undefined {
  // In an answer that ended by itself, those above the limit are answered, and the others run (F194).
  if (calls.length < manyCalls || message.stop.kind !== "max_tokens") return undefined;
  const counts = new Map<string, number>();
  let most = { unit: "", times: 0 };
  for (const { name, rawArgs } of calls) {
    const unit = `${name} ${rawArgs}`;
    const times = (counts.get(unit) ?? 0) + 1;
    counts.set(unit, times);
    if (times > most.times) most = { unit, times };
  }
  return most.times * 4 < calls.length * 3
    ? undefined
    : { part: "calls", unit: headOf(most.unit, 100), times: most.times };
}

function isRepeating(text: string, state: State): boolean {
  if (!endsTwice(text)) return false;
  const found = repetition(text);
  if (found === undefined || found.times < arrivingBound.times || found.length < arrivingBound.length)
    return false;
  return isOwnSentence(found.unit, state);
}

/** What an answer repeats until it is stopped: in which part, the unit (its first 100 characters), and how often; undefined if it does not. */
export function repeated(
  { content, stop: { kind } }: AssistantMessage,
  state: State,
): { part: string; unit: string; times: number } | undefined {
  if (kind !== "max_tokens" && kind !== "end_turn") return undefined;
  for (const part of content) {
    if (part.type !== "text" && part.type !== "reasoning") continue;
    if (kind === "end_turn" && !endsTwice(part.text)) continue;
    const found = repetition(part.text);
    const { times, length } = kind === "max_tokens" ? bound : endedBound;
    if (found === undefined || found.times < times || found.length < length) continue;
    if (kind === "end_turn" && !isOwnSentence(found.unit, state)) continue;
    return { part: part.type, unit: headOf(found.unit, 100), times: found.times };
  }
  return undefined;
}

/** Whether the end of a text occurs a second time within one unit before it: a cheap test that settles most answers. */
export function endsTwice(text: string): boolean {
  const end = text.trimEnd().slice(-2 * proseChars);
  return end.length === 2 * proseChars && end.lastIndexOf(end.slice(proseChars), proseChars - 1) >= 0;
}

/** Whether a unit is prose that does not occur in the conversation: otherwise its repetition may have been asked for. */
export function isOwnSentence(unit: string, { history }: State): boolean {
  if (unit.length > proseChars || !sentenceEnd.test(unit) || listed.test(unit)) return false;
  const isProse =
    [...unit.matchAll(/\p{L}{2,}/gu)].length >= proseWords ||
    [...unit.matchAll(signs())].length >= proseSigns;
  if (!isProse) return false;
  const letters = lettersOf(unit);
  for (const message of history)
    if (message.role !== "assistant" && lettersOf(textOf(message)).includes(letters)) return false;
  return true;
}

/** Only the letters of a text, lower-cased: quotes and punctuation do not count in a comparison. */
const lettersOf = (text: string): string => text.toLowerCase().replace(/[^\p{L}]/gu, "");

/** The unit that the end of a text repeats, how often, and how long that is together; undefined if there is none. Linear time. */
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
  // Rulers, empty cells and numbers repeat in tables and drawings, so a unit must contain a word, or what is no ruler. The
  // text may be cut off within a word, whose letters are then at both ends of the unit.
  if (!/\p{L}{2}/u.test(best.period > 1 ? unit + unit[0] : unit) && !wordless().test(unit)) return undefined;
  return { unit, times: Math.floor(best.length / best.period), length: best.length };
}
