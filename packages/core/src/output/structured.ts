// The room of typed output: a value read out of a text.
//
// The whole text first; then each complete JSON value in it, found by a scanner that knows strings, so that a
// fence inside a string or prose around the value does no harm. What was cut off is never completed by guessing.

import type { Json } from "../message.ts";

/** The JSON values a text holds, the likeliest first: the whole text, else each complete value in it, in order. */
export function* jsonValues(text: string): Generator<Json> {
  const whole = parsed(text);
  if (whole !== undefined) {
    yield whole.value;
    return;
  }
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] !== "{" && text[at] !== "[") continue;
    const end = valueEnd(text, at);
    if (end === undefined) return;
    const found = parsed(text.slice(at, end));
    // Brackets in prose are no value: what stands inside them may still be one.
    if (found === undefined) continue;
    yield found.value;
    at = end - 1;
  }
}

function parsed(text: string): { value: Json } | undefined {
  try {
    return { value: JSON.parse(text) as Json };
  } catch {
    return undefined;
  }
}

/** The end of the bracketed value that starts at `from`; undefined when it is not complete. */
function valueEnd(text: string, from: number): number | undefined {
  let depth = 0;
  let quoted = false;
  for (let at = from; at < text.length; at += 1) {
    const char = text[at];
    if (quoted) {
      if (char === "\\") at += 1;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === "{" || char === "[") depth += 1;
    else if (char === "}" || char === "]") {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}
