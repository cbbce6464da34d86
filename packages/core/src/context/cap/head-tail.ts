// The room of head and tail: cuts a text to a number of characters, and keeps its end if that says how things went.
//
// Characters are UTF-16 code units, as in a text's length; a cut never falls inside a surrogate pair.

import { cutAfter, cutBefore } from "../../text/size.ts";
import type { HeadTailNumbers } from "./cap-options.ts";

/** Replaces the middle. */
export const omissionMarker = "\n\n⚠️ [... middle content omitted — showing head and tail ...]\n\n";

/** After a text that was cut, in the form `notice`. */
export const noticeSuffix =
  "\n\n⚠️ [Content truncated — original was too large for the model's context window. The content above is a partial view. If you need more, request specific sections or use offset/limit parameters to read smaller chunks.]";

/** After a text that was cut, in the form `excerpt`. */
export const moreSuffix = (dropped: number): string => `[... ${dropped} more characters truncated]`;

export interface TextCap {
  /**
   * The text after a cut text. A function gets the number of removed characters; then the whole never exceeds the limit.
   * Default: `moreSuffix`.
   */
  suffix?: string | ((dropped: number) => string);
  /** Default: 2,000. */
  minKeep?: number;
}

/** The most characters of one result in a window of so many tokens; if the window is unknown, the hard cap. */
export function maxResultChars(window: number | undefined, numbers: HeadTailNumbers): number {
  const { share, charsPerToken, hardCap } = numbers;
  if (window === undefined) return hardCap;
  return Math.max(1, Math.min(Math.floor(window * share) * charsPerToken, hardCap));
}

/**
 * A text of at most `max` characters; the same text if it fits. If the suffix is a string, the suffix and `minKeep` may
 * make the text longer than `max`.
 */
export function capText(text: string, max: number, options: TextCap = {}): string {
  if (text.length <= max) return text;
  const { suffix = moreSuffix } = options;
  const fits = typeof suffix === "function";
  const suffixOf = fits ? suffix : (): string => suffix;
  const wanted = options.minKeep ?? 2_000;
  const minKeep = fits ? Math.max(0, Math.min(wanted, max - suffixOf(1).length)) : wanted;
  const budget = Math.max(minKeep, max - suffixOf(Math.max(1, text.length - max)).length);
  const kept = keep(text, budget, minKeep);
  return fits ? withSuffix(kept, text.length, max, suffixOf) : kept + suffix;
}

function keep(text: string, budget: number, minKeep: number): string {
  if (budget > 2 * minKeep && hasImportantTail(text)) {
    const tail = Math.min(Math.floor(budget * 0.3), 4_000);
    const head = budget - tail - omissionMarker.length;
    if (head > minKeep)
      return (
        text.slice(0, headEnd(text, head, 0.8)) + omissionMarker + text.slice(tailStart(text, tail, 0.2))
      );
  }
  return text.slice(0, headEnd(text, budget, 0.8));
}

/** Where a head of so many characters ends: at the last line end after that share of it, if there is one. */
export function headEnd(text: string, chars: number, share: number): number {
  const line = text.lastIndexOf("\n", chars);
  return cutBefore(text, line > chars * share ? line : chars);
}

/** Where a tail of so many characters begins: after the first line end within that share of it, if there is one. */
export function tailStart(text: string, chars: number, share: number, from: number = 0): number {
  const start = Math.max(from, text.length - chars);
  const line = text.indexOf("\n", start);
  return cutAfter(text, line >= 0 && line < start + chars * share ? line + 1 : start);
}

/** Found also inside a word, because names of errors mostly contain one: TypeError. */
const failure = /error|exception|failed|fatal|traceback|panic|stack trace|errno|exit code/;
const outcome = /\b(total|summary|result|complete|finished|done)\b/;

/** Whether the end of a text says how things went: an error, a closing bracket, a summary. */
export function hasImportantTail(text: string): boolean {
  const tail = text.slice(-2_000).toLowerCase().trimEnd();
  return tail.endsWith("}") || failure.test(tail) || outcome.test(tail);
}

/** The kept text and its suffix, together at most `max` characters: the text is shortened for it. */
export function withSuffix(
  kept: string,
  total: number,
  max: number,
  suffixOf: (dropped: number) => string,
): string {
  let text = kept;
  for (;;) {
    const whole = text + suffixOf(Math.max(1, total - text.length));
    if (whole.length <= max) return whole;
    // The suffix alone is too long: it is cut to the limit.
    if (text === "") return whole.slice(0, cutBefore(whole, max));
    text = text.slice(0, cutBefore(text, Math.max(0, text.length - (whole.length - max))));
  }
}
