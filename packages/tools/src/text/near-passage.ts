// The room of near passages: finds a passage that was given not quite as it is in the file.
//
// A model writes straight quotes for curly ones, and composed letters for decomposed ones: both look the same to it. So
// it is told where the passage is; nothing is changed on the strength of a likeness.

import { occurrences } from "./occurrences.ts";

/** Where a similar passage is and what differs, as a continuation of a sentence; undefined if there is none. */
export function nearPassage(text: string, passage: string): string | undefined {
  const spaced = lineOf(text, passage);
  if (spaced !== undefined) return `. A passage that differs only in whitespace begins at line ${spaced}`;
  const alike = lineOf(looks(text), looks(passage));
  return alike === undefined
    ? undefined
    : `. A passage that looks the same begins at line ${alike}, with other quotes, dashes, dots or accents: ` +
        "give those of the file, or a passage without them";
}

/** A text as it looks: in composed form (NFC), with one kind of quote and of dash. Line breaks stay. */
const looks = (text: string): string =>
  text
    .normalize("NFC")
    .replace(/[\u2018-\u201b\u02bc\u2032]/g, "'")
    .replace(/[\u201c-\u201f\u2033]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replaceAll("\u2026", "...")
    .replace(/[\u200b-\u200d\u2060\ufeff]/g, "");

const squeeze = (text: string): string => text.replace(/\s+/g, " ");

/** The line, from 1, in which a passage begins, ignoring whitespace. */
function lineOf(text: string, passage: string): number | undefined {
  const wanted = squeeze(passage);
  if (wanted.trim() === "") return undefined;
  const squeezed = Buffer.from(squeeze(`\n${text}\n`));
  const [at] = occurrences(squeezed, Buffer.from(wanted), true, 1);
  if (at === undefined) return undefined;
  let before = squeezed.toString("utf8", 0, at).replaceAll(" ", "").length;
  let line = 1;
  for (let index = 0; index < text.length; index++) {
    const char = text.charAt(index);
    if (char === "\n") line++;
    else if (/\S/.test(char) && before-- === 0) return line;
  }
  return undefined;
}
