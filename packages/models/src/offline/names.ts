// The room of names: what a file or folder is called.

import { fillers, happenings, prepositions } from "./lexicon.ts";
import type { Sheet } from "./sheet.ts";

/** A name as it is given, and the token that has it. */
interface GivenName {
  at: number;
  glob: string;
  how: "is" | "has" | "start" | "end";
}

type Reader = (sheet: Sheet, at: number) => GivenName | undefined;

/** Claims the first name of a clause. */
export function claimNames(sheet: Sheet): void {
  for (let at = 0; at < sheet.tokens.length && sheet.name === undefined; at++) {
    const given = nameFrom(sheet, at);
    if (given !== undefined) claimName(sheet, given);
  }
}

/** The first reader whose words stand here reads the name; the others are for other words. */
const nameFrom: Reader = (sheet, at) => {
  const next = sheet.lower(at + 1);
  const isStart =
    /^(start|begin|starting|beginning|prefixed)$/.test(sheet.stem(at)) && /^(with|in|by)$/.test(next);
  if (isStart) return edgeName(sheet, at + 2, "start");
  const isEnd = /^(end|ending)$/.test(sheet.stem(at)) && /^(with|in|by|on)$/.test(next);
  if (isEnd) return edgeName(sheet, at + 2, "end");
  const isNamed =
    /^(named|called|titled)$/.test(sheet.lower(at)) ||
    (/^(name|filename)$/.test(sheet.lower(at)) && next === "is");
  if (isNamed) return wholeName(sheet, at);
  const isContained =
    /^(name|filename|path)$/.test(sheet.stem(at)) &&
    /^(contain|include|ha|has|have|match|containing|matching|including)$/.test(sheet.stem(at + 1));
  if (isContained) return partOfName(sheet, at + 2);
  const isInName =
    /^(in|as)$/.test(sheet.lower(at)) &&
    /^(the|its|their|it)$/.test(next) &&
    /^(name|filename|title)$/.test(sheet.stem(at + 2));
  return isInName && !fillers.has(sheet.tokens[at - 1]?.lower ?? "") ? partOfName(sheet, at - 1) : undefined;
};

/** "starting with x", "ending with x". An extension ("ending in .ts") is left to the filters. */
function edgeName(sheet: Sheet, at: number, how: "start" | "end"): GivenName | undefined {
  const value = sheet.tokens[at];
  if (value === undefined || !/^\.?[a-z0-9.]+$/.test(value.lower) || value.lower === "the") return undefined;
  if (how === "start") return { at, glob: `${value.text}*`, how };
  return value.text.startsWith(".") ? undefined : { at, glob: endsWithGlob(value.text), how };
}

/** "named x", "whose name is x"; not "where x is called". */
function wholeName(sheet: Sheet, at: number): GivenName | undefined {
  let from = at + (sheet.lower(at + 1) === "is" ? 2 : 1);
  while (/^(as|like|exactly|the)$/.test(sheet.lower(from))) from++;
  const value = sheet.tokens[from];
  if (value === undefined || value.kind === "sign") return undefined;
  if (value.kind === "word" && prepositions.has(value.lower)) return undefined;
  const isHappening =
    sheet.lower(at - 1) === "is" &&
    happenings.has(sheet.lower(at)) &&
    !/file|folder|directory/.test(sheet.stem(at - 2));
  return isHappening ? undefined : { at: from, glob: value.text, how: "is" };
}

/** "whose name contains x", "with x in the name". */
function partOfName(sheet: Sheet, at: number): GivenName | undefined {
  const value = sheet.tokens[at];
  if (value === undefined || value.kind === "sign") return undefined;
  return { at, glob: `*${value.text}*`, how: "has" };
}

const endsWithGlob = (text: string): string =>
  text.includes(".") || !/^[a-z]{1,4}$/.test(text) ? `*${text}` : `*.${text}`;

function claimName(sheet: Sheet, { at, glob, how }: GivenName): void {
  const text = sheet.tokens[at]?.text ?? "";
  if (how === "is" && text.includes("/")) return;
  const folder =
    sheet.tokens.some((token) => /^(folder|directory|dir|subfolder)$/.test(token.stem)) &&
    !sheet.tokens.some((token) => token.stem === "file");
  const says = {
    is: `named \`${text}\``,
    has: `with “${text}” in the name`,
    start: `whose name starts with “${text}”`,
    end: `whose name ends with “${text}”`,
  }[how];
  sheet.name = {
    filter: { says: `${folder ? "folders" : "files"} ${says}`, globs: [glob] },
    text,
    unit: folder ? "folder" : "file",
  };
  sheet.claim(at, "NAME");
}
