// The room of typed output: a value read out of a text.
//
// The whole text first; then the first complete JSON value in it, found by a scanner that knows strings, so that a
// fence inside a string or prose around the value does no harm. What was cut off is never completed by guessing.

import type { Json } from "../message.ts";

/** The JSON value a text holds, or why it holds none. */
export function readJson(text: string): { ok: true; value: Json } | { ok: false; error: string } {
  try {
    return { ok: true, value: JSON.parse(text) as Json };
  } catch (thrown) {
    for (let at = 0; at < text.length; at += 1) {
      if (text[at] !== "{" && text[at] !== "[") continue;
      const end = valueEnd(text, at);
      if (end === undefined) break;
      try {
        return { ok: true, value: JSON.parse(text.slice(at, end)) as Json };
      } catch {
        // Brackets in prose: whatever follows them may still hold the value.
        at = end - 1;
      }
    }
    return { ok: false, error: `there is no JSON value in the text (${(thrown as Error).message})` };
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
