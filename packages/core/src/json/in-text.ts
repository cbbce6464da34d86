// The room of JSON in a text: parses a text that may be JSON.

import type { Json } from "../message.ts";
import { parsedJson } from "./parse.ts";

/** The parsed value of a text; undefined if it is not JSON. In an object, because `null` is a value. */
export function jsonIn(text: string): { value: Json } | undefined {
  try {
    return { value: parsedJson(text) };
  } catch {
    return undefined;
  }
}

/**
 * Like `jsonIn`, but raw control characters in a string (a line break, a tab) and a comma after the last member are
 * accepted: nothing is guessed, because they have no meaning.
 */
export function nearlyJsonIn(text: string): { value: Json } | undefined {
  return jsonIn(text) ?? jsonIn(tidied(text));
}

function tidied(text: string): string {
  const pieces: string[] = [];
  let kept = 0;
  let quoted = false;
  const put = (from: number, piece: string, to: number): void => {
    pieces.push(text.slice(kept, from), piece);
    kept = to;
  };
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] as string;
    if (char === '"') quoted = !quoted;
    else if (quoted && char === "\\") at += 1;
    else if (quoted && char < " ") put(at, JSON.stringify(char).slice(1, -1), at + 1);
    else if (!quoted && char === ",") {
      let next = at + 1;
      while (" \n\r\t".includes(text[next] ?? ".")) next += 1;
      if (text[next] === "}" || text[next] === "]") put(at, "", at + 1);
    }
  }
  return pieces.length === 0 ? text : pieces.join("") + text.slice(kept);
}
