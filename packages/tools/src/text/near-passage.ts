// The room of near passages: finds a passage that was given not quite as it is in the file.
//
// Much of what differs looks the same to a model: spaces that do not break, curly quotes, composed letters, an escape and what
// it stands for. So it is told where the passage is and what differs; nothing is changed on the strength of a likeness.

import { occurrences } from "./occurrences.ts";
import { lineNumbers } from "./passages.ts";
import { inOneOnly, spacing } from "./spacing.ts";
import { clip } from "./text-file.ts";

/** Where a similar passage is and what differs, as a continuation of a sentence; undefined if there is none. */
export function nearPassage(file: string, given: string): string | undefined {
  const text = file.replaceAll("\r\n", "\n");
  const passage = given.replaceAll("\r\n", "\n");
  const spaced = placeOf(text, passage);
  if (spaced !== undefined)
    return `. A passage that differs only in whitespace begins at line ${lineAt(text, spaced)}${spacing(text, spaced, passage)}`;
  const looking = placeOf(looks(text), looks(passage));
  if (looking !== undefined) {
    const line = lineAt(looks(text), looking);
    const chars = inOneOnly(linesFrom(text, line, passage), passage, isLookAlike);
    return (
      `. A passage that looks the same begins at line ${line}, with other quotes, dashes, dots or accents: ` +
      `give those of the file, or a passage without them${chars}`
    );
  }
  return readOtherwise(text, passage) ?? sharedLine(text, passage);
}

/** A text as it looks: in composed form (NFC), with one kind of quote and of dash. Line breaks stay. */
const looks = (text: string): string =>
  text
    .normalize("NFC")
    .replace(/[\u2018-\u201b\u02bc\u2032]/g, "'")
    .replace(/[\u201c-\u201f\u2033]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replaceAll("\u2026", "...")
    .replace(unseen, "");

/** Characters without a width. */
const unseen = /[\u00ad\u200b-\u200f\u2060\ufeff]/g;

/** A character that `looks` takes for another, or part of a letter. */
const isLookAlike = (char: string): boolean => looks(char) !== char || /[\p{M}\p{Zs}]/u.test(char);

/** What may stand between a model and a file, and take one thing for another on either side. Line breaks stay. */
const readings: readonly (readonly [what: string, read: (text: string) => string])[] = [
  ['an escape (\\n, \\t, \\", \\u2014) is taken for what it stands for', unescaped],
  ["an HTML entity (&lt;, &amp;, &quot;) is taken for what it stands for", withoutEntities],
];

/** A line break may become a space: whitespace is compared as one anyway. */
function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  return text
    .replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\[nrt]/g, " ")
    .replace(/\\(["'`\\/])/g, "$1");
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function withoutEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:(lt|gt|amp|quot|apos)|#0*39|#x0*27);/gi, (_, name: string | undefined) =>
    name === undefined ? "'" : (entities[name.toLowerCase()] ?? ""),
  );
}

/** A line as a tool shows it: `12\tcode`, `12 | code`, `12: code` or `src/a.ts:12: code`. */
const numbered = /^(?:[^\s:]+:)?[ \t]*\d+(?:\t|[ ]?[|→:] ?)/;

/** The passage without what was put around it or in front of its lines; `undefined` if there is nothing of that kind. */
const unwrapped: readonly (readonly [what: string, taken: (passage: string) => string | undefined])[] = [
  ["the line numbers in front of its lines", withoutNumbers],
  ["the code fence around it", withoutFence],
];

function withoutNumbers(passage: string): string | undefined {
  const lines = passage.replace(/\n$/, "").split("\n");
  if (!lines.every((line) => line.trim() === "" || numbered.test(line))) return undefined;
  return lines.map((line) => line.replace(numbered, "")).join("\n");
}

function withoutFence(passage: string): string | undefined {
  const lines = passage.trim().split("\n");
  const fence = /^(`{3,}|~{3,})[^`]*$/.exec(lines[0] ?? "")?.[1];
  return fence !== undefined && lines.length > 2 && lines.at(-1)?.trim() === fence
    ? lines.slice(1, -1).join("\n")
    : undefined;
}

/** The place that the passage has if it, or the file, is read in another way. */
function readOtherwise(text: string, passage: string): string | undefined {
  for (const [what, taken] of unwrapped) {
    const inner = taken(passage);
    const at = inner === undefined ? undefined : placeOf(text, inner);
    if (at !== undefined) return `. It begins at line ${lineAt(text, at)} without ${what}: leave that out`;
  }
  for (const [what, read] of readings) {
    const [there, here] = [read(text), read(passage)];
    if (there === text && here === passage) continue;
    const at = placeOf(there, here);
    if (at !== undefined)
      return `. A passage that is the same if ${what} begins at line ${lineAt(there, at)}: give it as it is in the file`;
  }
  return undefined;
}

/** Shorter lines say little, and longer ones are no lines of a text that people write. */
const minShared = 12;
const maxSharedLength = 1000;
const maxShared = 8;

/** The longest line of the passage that is once in the file. */
function sharedLine(text: string, passage: string): string | undefined {
  const lines = [...new Set(passage.split("\n").map((line) => line.trim()))]
    .filter((line) => line.length >= minShared && line.length <= maxSharedLength)
    .sort((one, other) => other.length - one.length);
  if (lines.length === 0) return undefined;
  const file = Buffer.from(text);
  for (const line of lines.slice(0, maxShared)) {
    const found = occurrences(file, Buffer.from(line), false, 2);
    if (found.length !== 1) continue;
    const [number] = lineNumbers(file, [{ from: found[0]!, to: found[0]! }]);
    return `. Of its lines the file has ${JSON.stringify(clip(line, 80))} at line ${number}: what is around it differs, so read the file there`;
  }
  return undefined;
}

const squeeze = (text: string): string => text.replace(/\s+/g, " ");

/** Where a passage begins, ignoring whitespace: the index of its first other character. */
function placeOf(text: string, passage: string): number | undefined {
  const wanted = squeeze(passage);
  if (wanted.trim() === "") return undefined;
  const squeezed = Buffer.from(squeeze(`\n${text}\n`));
  const [at] = occurrences(squeezed, Buffer.from(wanted), true, 1);
  if (at === undefined) return undefined;
  let before = squeezed.toString("utf8", 0, at).replaceAll(" ", "").length;
  for (let index = 0; index < text.length; index++)
    if (/\S/.test(text.charAt(index)) && before-- === 0) return index;
  return undefined;
}

/** The line of an index, from 1. */
function lineAt(text: string, at: number): number {
  let line = 1;
  for (let index = text.indexOf("\n"); index >= 0 && index < at; index = text.indexOf("\n", index + 1))
    line++;
  return line;
}

/** As many lines as the passage has, from a line on. */
const linesFrom = (text: string, line: number, passage: string): string =>
  text
    .split("\n")
    .slice(line - 1, line - 1 + passage.trim().split("\n").length)
    .join("\n");
