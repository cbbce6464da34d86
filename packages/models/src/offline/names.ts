// The room of names and ranges: what a file is called, and which of its lines are meant.

import { fillers, happenings, numberOf, ordinalOf, prepositions } from "./lexicon.ts";
import type { Sheet } from "./sheet.ts";

/** Claims "named x", "whose name contains x", "starting with x". */
export function claimNames(sheet: Sheet): void {
  const { tokens } = sheet;
  for (let at = 0; at < tokens.length && sheet.name === undefined; at++) {
    const word = sheet.lower(at);
    const next = sheet.lower(at + 1);
    // "ending in .ts", "with the extension ts" are left to the filters.
    const startsWith =
      /^(start|begin|starting|beginning|prefixed)$/.test(sheet.stem(at)) && /^(with|in|by)$/.test(next);
    const endsWith = /^(end|ending)$/.test(sheet.stem(at)) && /^(with|in|by|on)$/.test(next);
    if (startsWith || endsWith) {
      const value = tokens[at + 2];
      if (value === undefined || /^\.?[a-z0-9.]+$/.test(value.lower) !== true || value.lower === "the")
        continue;
      if (endsWith && value.text.startsWith(".")) continue;
      name(
        sheet,
        at + 2,
        startsWith ? `${value.text}*` : endsWithGlob(value.text),
        startsWith ? "start" : "end",
      );
    } else if (/^(named|called|titled)$/.test(word) || (/^(name|filename)$/.test(word) && next === "is")) {
      let from = at + (next === "is" ? 2 : 1);
      while (/^(as|like|exactly|the)$/.test(sheet.lower(from))) from++;
      const value = tokens[from];
      if (
        value === undefined ||
        value.kind === "sign" ||
        (value.kind === "word" && prepositions.test(value.lower))
      )
        continue;
      if (
        sheet.lower(at - 1) === "is" &&
        happenings.test(word) &&
        !/file|folder|directory/.test(sheet.stem(at - 2))
      )
        continue;
      name(sheet, from, value.text, "is");
    } else if (
      /^(name|filename|path)$/.test(sheet.stem(at)) &&
      /^(contain|include|ha|has|have|match|containing|matching|including)$/.test(sheet.stem(at + 1))
    ) {
      const value = tokens[at + 2];
      if (value !== undefined && value.kind !== "sign") name(sheet, at + 2, `*${value.text}*`, "has");
    } else if (
      /^(in|as)$/.test(word) &&
      /^(the|its|their|it)$/.test(next) &&
      /^(name|filename|title)$/.test(sheet.stem(at + 2))
    ) {
      const value = tokens[at - 1];
      if (value !== undefined && value.kind !== "sign" && !fillers.has(value.lower))
        name(sheet, at - 1, `*${value.text}*`, "has");
    }
  }
}

const endsWithGlob = (text: string): string =>
  text.includes(".") || !/^[a-z]{1,4}$/.test(text) ? `*${text}` : `*.${text}`;

function name(sheet: Sheet, at: number, glob: string, how: "is" | "has" | "start" | "end"): void {
  const text = sheet.tokens[at]?.text ?? "";
  if (how === "is" && text.includes("/")) return;
  const folder =
    sheet.tokens.some((token) => /^(folder|directory|dir|subfolder)$/.test(token.stem)) &&
    !sheet.tokens.some((token) => token.stem === "file");
  const told = {
    is: `named \`${text}\``,
    has: `with “${text}” in the name`,
    start: `whose name starts with “${text}”`,
    end: `whose name ends with “${text}”`,
  }[how];
  sheet.name = {
    filter: { says: `${folder ? "folders" : "files"} ${told}`, globs: [glob] },
    text,
    unit: folder ? "folder" : "file",
  };
  sheet.claim(at, "NAME");
}

/** Claims "first 3 lines", "lines 5 to 9", "the last line". */
export function claimRange(sheet: Sheet): void {
  const { tokens } = sheet;
  const claim = (from: number, to: number): void => {
    for (let at = from; at <= to; at++) sheet.claim(at, "RANGE");
  };
  for (let at = 0; at < tokens.length; at++) {
    const word = sheet.lower(at);
    const number = numberOf(sheet.lower(at + 1));
    if (/^(first|last|top|bottom|final|initial|opening|closing)$/.test(word)) {
      const isLast = /^(last|bottom|final|closing)$/.test(word);
      const few = sheet.lower(at + 1) === "few" || sheet.lower(at + 1) === "couple" ? 5 : undefined;
      const count = number ?? few;
      if (
        count !== undefined &&
        (sheet.stem(at + 2) === "line" || sheet.stem(at + 2) === "row" || sheet.lower(at + 2) === "of")
      ) {
        sheet.range = isLast ? { last: count } : { from: 1, to: count };
        claim(at, sheet.stem(at + 2) === "line" || sheet.stem(at + 2) === "row" ? at + 2 : at + 1);
        return;
      }
      if (sheet.lower(at + 1) === "line") {
        sheet.range = isLast ? { last: 1 } : { from: 1, to: 1 };
        claim(at, at + 1);
        return;
      }
    }
    const nth = ordinalOf(word);
    if (nth !== undefined && sheet.lower(at + 1) === "line") {
      sheet.range = { from: nth, to: nth };
      claim(at, at + 1);
      return;
    }
    if (/^lines?$/.test(word)) {
      const span = /^(\d+)(?:-|–|\.\.)(\d+)$/.exec(sheet.lower(at + 1));
      if (span !== null) {
        sheet.range = { from: Number(span[1]), to: Number(span[2]) };
        claim(at, at + 1);
        return;
      }
      if (number === undefined) continue;
      const second = /^(to|through|until|till|and|-|–|up)$/.test(sheet.lower(at + 2))
        ? numberOf(sheet.lower(at + 3))
        : undefined;
      sheet.range = { from: number, to: second ?? number };
      claim(at, second === undefined ? at + 1 : at + 3);
      return;
    }
    if (word === "line" && /^(number|no|#)$/.test(sheet.lower(at + 1))) {
      const value = numberOf(sheet.lower(at + 2));
      if (value === undefined) continue;
      sheet.range = { from: value, to: value };
      claim(at, at + 2);
      return;
    }
  }
}
