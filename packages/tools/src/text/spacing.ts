// The room of spacing: says in words how the whitespace of two texts differs, and which characters only one of them has.
//
// A model sees neither: told only that whitespace differs, it reads the file again and gives the same passage again.

import { counted } from "../reasons.ts";

const names: Readonly<Record<string, string>> = {
  " ": "space",
  "\t": "tab",
  "\n": "line break",
  "\r": "carriage return",
  "\u00a0": "no-break space (U+00A0)",
};

/**
 * Where the whitespace of a passage first differs from that of a text, as a continuation of a sentence; empty if it does not.
 * @param at where the passage's first other character is in the text
 */
export function spacing(text: string, at: number, passage: string): string {
  const lead = /^\s*/.exec(passage)?.[0] ?? "";
  let from = at;
  while (
    from > 0 &&
    /\s/.test(text.charAt(from - 1)) &&
    (lead.includes("\n") || text.charAt(from - 1) !== "\n")
  )
    from--;
  const before = text.slice(from, at);
  if (!before.endsWith(lead)) return told(before, lead, from === 0);
  let here = at;
  let there = lead.length;
  while (there < passage.length && text.charAt(here) === passage.charAt(there)) {
    here++;
    there++;
  }
  if (there === passage.length) return "";
  // Back to where the whitespace begins in both.
  while (there > 0 && /\s/.test(passage.charAt(there - 1)) && /\s/.test(text.charAt(here - 1))) {
    here--;
    there--;
  }
  const [run = ""] = /^\s*/.exec(text.slice(here, here + maxRun)) ?? [];
  const [wanted = ""] = /^\s*/.exec(passage.slice(there, there + maxRun)) ?? [];
  return told(run, wanted, here === text.length);
}

const maxRun = 1000;
const maxGroups = 4;

const told = (there: string, given: string, isEdge: boolean): string =>
  `: the file has ${inWords(there, isEdge)} where the old text has ${inWords(given, false)}`;

/** Whitespace in words: "a line break and 4 spaces". */
function inWords(run: string, isEdge: boolean): string {
  if (run === "") return isEdge ? "nothing, for it ends there" : "nothing";
  const groups = [...run.matchAll(/(.)\1*/gsu)].map(([group, char = ""]) =>
    counted(group.length, names[char] ?? codeOf(char)),
  );
  const shown = groups.slice(0, maxGroups).join(", ");
  return groups.length > maxGroups ? `${shown} and more` : shown;
}

const codeOf = (char: string): string =>
  `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

const maxChars = 5;

/** The characters of a kind that only one of two texts has, as a continuation of a sentence; empty if there are none. */
export function inOneOnly(there: string, given: string, isOne: (char: string) => boolean): string {
  const only = (one: string, other: string): string =>
    [...new Set(one)]
      .filter((char) => char !== " " && isOne(char) && !other.includes(char))
      .slice(0, maxChars)
      .map((char) => (/[\p{Z}\p{M}\p{C}]/u.test(char) ? codeOf(char) : `${char} (${codeOf(char)})`))
      .join(", ");
  const [file, passage] = [only(there, given), only(given, there)];
  const parts = [
    ...(file === "" ? [] : [`the file has ${file} there`]),
    ...(passage === "" ? [] : [`the old text has ${passage}`]),
  ];
  return parts.length === 0 ? "" : ` (${parts.join("; ")})`;
}
