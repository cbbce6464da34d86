// The room of near passages: where a passage stands that was not given as it stands there.
//
// A model writes straight quotes where a text has round ones, and composed letters where it has them in two pieces: both
// look the same to it, so it is told. Nothing is changed on such a likeness.

import { occurrences } from "./occurrences.ts";

/** Where something like a passage stands and what differs, in words that follow a sentence; undefined where there is nothing like it. */
export function nearPassage(text: string, passage: string): string | undefined {
  const spaced = lineOf(text, passage);
  if (spaced !== undefined)
    return `. A passage that differs from it only in white space begins at line ${spaced}`;
  const alike = lineOf(looks(text), looks(passage));
  return alike === undefined
    ? undefined
    : `. A passage that looks the same begins at line ${alike}, with other quotes, dashes, dots or accents: ` +
        "give those of the file, or a passage without them";
}

/** A text as it looks: composed, each kind of quote and of dash one. It keeps its lines. */
const looks = (text: string): string =>
  text
    .normalize("NFC")
    .replace(/[\u2018-\u201b\u02bc\u2032]/g, "'")
    .replace(/[\u201c-\u201f\u2033]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replaceAll("\u2026", "...")
    .replace(/[\u200b-\u200d\u2060\ufeff]/g, "");

const squeeze = (text: string): string => text.replace(/\s+/g, " ");

/** The line, from 1, in which a passage begins, whatever its white space. */
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
