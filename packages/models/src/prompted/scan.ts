// The room of finding JSON in text: one pass, no backtracking, aware of strings.
//
// A model's text is hostile input: sixty thousand open braces must cost sixty thousand looks (F243). Brackets are never
// closed by guessing. Two harmless mistakes of small models are repaired: raw line breaks inside a string, and a comma
// after the last member; nothing else is changed (F091). Digits that a number would lose are kept (F093).

import type { Json } from "@rondo/core";
import { parseDigits } from "../exact-json.ts";
import { parseJson } from "../json-values.ts";

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
/** A comma followed by the end of its object or list. */
const lastMember = /,[ \t\r\n]*[}\]]/y;

/** The offset after the end of the object or list that begins at `from`; -1 if it is not closed. */
export function valueEnd(text: string, from: number): number {
  let depth = 0;
  let inString = false;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === backslash) at += 1;
      else if (code === quote) inString = false;
    } else if (code === quote) inString = true;
    else if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

/**
 * The value of a JSON text, tolerating raw line breaks and tabs inside strings, and commas after a last member. Undefined
 * if it is not JSON.
 */
export function parsedLoosely(text: string): Json | undefined {
  const value = parseJson(text, parseDigits);
  if (value !== undefined) return value;
  const mended = tidied(text);
  return mended === text ? undefined : parseJson(mended, parseDigits);
}

function tidied(text: string): string {
  let out = "";
  let kept = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) inString = !inString;
    else if (inString && code === backslash) at += 1;
    else if (inString && code < 0x20) {
      out += text.slice(kept, at) + JSON.stringify(text.charAt(at)).slice(1, -1);
      kept = at + 1;
    } else if (!inString && code === comma && found(lastMember, text, at) !== null) {
      out += text.slice(kept, at);
      kept = at + 1;
    }
  }
  return kept === 0 ? text : out + text.slice(kept);
}

/** The match of a sticky or global pattern from an offset on. */
export function found(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
