// The room of filters: which files a clause means, by extension, language, glob, name or test naming convention.

import type { Filter } from "./goal.ts";
import {
  endings,
  fillers,
  type Language,
  languages,
  numberOf,
  units,
  unknowable,
  wordSet,
} from "./lexicon.ts";
import type { Sheet } from "./sheet.ts";
import type { Token } from "./tokens.ts";

const codeEndings =
  "ts tsx mts cts js jsx mjs cjs py go rs java kt swift rb php c h cc cpp hpp cs lua scala sh sql".split(" ");

export const globsOf = (list: readonly string[]): string[] => list.map((ending) => `*.${ending}`);

export function languageFilter(language: Language): Filter {
  const globs = globsOf(language.endings);
  return { says: `${language.name} files (${globs.map((glob) => `\`${glob}\``).join(", ")})`, globs };
}

export const testFilter: Filter = { says: "test files", globs: [], tests: true };

export function globFilter(glob: string): Filter {
  const last = glob.replace(/^\.?\/+/, "");
  return { says: `files matching \`${last}\``, globs: [last] };
}

export function endingFilter(ending: string): Filter {
  return { says: `\`.${ending}\` files`, globs: [`*.${ending}`] };
}

/** A glob or an extension, quoted or not. */
export const looksLikeFilter = (token: Token): boolean =>
  (/[*]/.test(token.text) && /[./]/.test(token.text) && !/\s/.test(token.text)) ||
  (/^\.[a-z0-9]+(\.[a-z0-9]+)*$/i.test(token.text) && endings.has(token.lower.split(".").at(-1) ?? ""));

/** Languages whose names are common words too: they only count beside a word for files. */
const ambiguous = new Set(["c", "go", "text", "image", "shell", "swift", "vue", "rust", "java", "json"]);
const fileWords = new Set(["file", "source", "module", "code", "script", "document", "test"]);

/** Claims every token that says which files are meant. Names are claimed before, like needles. */
export function claimFilters(sheet: Sheet): void {
  const { tokens } = sheet;
  tokens.forEach((token, at) => {
    if (sheet.taken(at)) return;
    const next = sheet.stem(at + 1);
    const before = sheet.stem(at - 1);
    const plain = token.kind === "word";
    const { lower } = token;
    if (
      /[*?]/.test(token.text) &&
      !/\s/.test(token.text) &&
      !/^\*+$|^\?+$/.test(token.text) &&
      !/\d\*/.test(token.text)
    ) {
      const slash = token.text.lastIndexOf("/");
      const folder = token.text.slice(0, Math.max(slash, 0)).replace(/\/?\*\*.*$/, "");
      if (slash > 0 && folder !== "" && !/[*?]/.test(folder)) sheet.addPlace({ path: folder }, at);
      const rest = folder === "" ? token.text : token.text.slice(folder.length + 1);
      sheet.filters.push(globFilter(rest.replace(/^(\*\*\/)+/, "")));
      sheet.claim(at, "FILTER");
    } else if (/^\.[a-z0-9]+(\.[a-z0-9]+)*$/.test(lower) && endings.has(lower.split(".").at(-1) ?? "")) {
      sheet.filters.push(endingFilter(lower.slice(1)));
      sheet.claim(at, "FILTER");
    } else if (
      endings.has(lower) &&
      (fileWords.has(next) || /^(extension|ending|suffix)$/.test(before)) &&
      plain
    ) {
      const known = languages.get(lower);
      sheet.filters.push(known === undefined ? endingFilter(lower) : languageFilter(known));
      sheet.claim(at, "FILTER");
    } else if (plain && languages.has(lower) && isLanguageHere(sheet, at)) {
      sheet.filters.push(languageFilter(languages.get(lower) as Language));
      sheet.claim(at, "FILTER");
    } else if (plain && /^(test|spec|testing|unit-test)$/.test(token.stem) && isTestHere(sheet, at)) {
      if (!sheet.filters.some((one) => one.tests)) sheet.filters.push(testFilter);
      sheet.claim(at, "FILTER");
    } else if (
      plain &&
      /^(source|code)$/.test(lower) &&
      next === "file" &&
      !sheet.filters.some((one) => !one.tests)
    ) {
      sheet.filters.push({
        says: "source files (by the endings of common programming languages)",
        globs: globsOf(codeEndings),
      });
      sheet.claim(at, "FILTER");
    }
  });
  narrowTests(sheet);
  claimModifiers(sheet);
}

function isLanguageHere(sheet: Sheet, at: number): boolean {
  const { lower } = sheet.tokens[at] as { lower: string };
  const around = fileWords.has(sheet.stem(at + 1)) || /^(written)$/.test(sheet.stem(at - 2));
  if (around) return true;
  if (
    /^(folder|directory|dir)$/.test(sheet.stem(at + 1)) ||
    /^(folder|directory|dir|named|called)$/.test(sheet.stem(at - 1))
  )
    return false;
  if (/^(of|how)$/.test(sheet.stem(at - 1)) && /^(line)$/.test(sheet.stem(at - 2))) return true;
  if (ambiguous.has(lower))
    return (
      /^(one|many|and|or|about)$/.test(sheet.stem(at - 1)) &&
      lower !== "go" &&
      lower !== "c" &&
      sheet.tokens.length <= 5
    );
  return true;
}

function isTestHere(sheet: Sheet, at: number): boolean {
  const next = sheet.stem(at + 1);
  const before = sheet.stem(at - 1);
  if (/^(folder|directory|dir)$/.test(next)) return false;
  if (next === "file" || next === "source" || next === "module" || sheet.role(at + 1) === "FILTER")
    return true;
  // "in test" is a place; "how many tests", "are tests", "list the tests" are files.
  if (/^(in|under|inside|within|from|below)$/.test(before) && sheet.tokens[at]?.lower !== "tests")
    return false;
  return sheet.tokens[at]?.lower === "tests" && !/^(in|under|inside|within|below)$/.test(before);
}

/** "TypeScript test files" is one filter, not two. */
function narrowTests(sheet: Sheet): void {
  if (sheet.filters.length !== 2) return;
  const tests = sheet.filters.find((one) => one.tests);
  const other = sheet.filters.find((one) => !one.tests);
  if (tests === undefined || other === undefined || /\b(and|or)\b/.test(sheet.between("FILTER"))) return;
  sheet.filters = [{ says: `${other.says} that are tests`, globs: other.globs, tests: true }];
}

/**
 * "config files": an unknown word before "files" is taken as part of the name, and the answer says so; some words cannot be
 * judged by any tool.
 */
function claimModifiers(sheet: Sheet): void {
  sheet.tokens.forEach((token, at) => {
    const unit = units.get(sheet.stem(at + 1));
    if (unit !== undefined && unit !== "file" && unit !== "folder" && narrows(sheet, at))
      // "blank lines", "exported functions": counting all of them would answer another question.
      sheet.unknown = `${token.text} ${sheet.tokens[at + 1]?.text ?? ""}`;
    if (
      token.kind !== "word" ||
      sheet.taken(at) ||
      (unit !== "file" && unit !== "folder") ||
      sheet.taken(at + 1)
    )
      return;
    if (unknowable.has(token.lower) && !/^(largest|biggest|smallest|longest|shortest)$/.test(token.lower)) {
      sheet.unknown = `${token.text} ${sheet.tokens[at + 1]?.text ?? ""}`;
      return;
    }
    if (fillers.has(token.lower) || units.has(token.stem) || !/^[a-z][a-z-]*$/.test(token.lower)) return;
    if (
      /(est|ing|ly|able|ible)$/.test(token.lower) ||
      /^(hidden|root|sub|parent|child|main|single|nested|top-level|toplevel|direct)$/.test(token.lower)
    )
      return;
    if (sheet.tokens[at + 1]?.lower === "folder" || sheet.tokens[at + 1]?.lower === "directory") return;
    if (sheet.filters.length > 0 || /^(which|what|the)$/.test(token.lower)) return;
    if (verbs.has(token.lower)) return;
    sheet.filters.push({ says: `${unit}s with “${token.text}” in the name`, globs: [`*${token.stem}*`] });
    sheet.claim(at, "FILTER");
  });
}

/** Words that do not narrow what is counted. */
const countable: ReadonlySet<string> = wordSet(
  "md text word source code total line file time heading section markdown second compare outline",
);

/** Whether an unclaimed word before a countable noun changes what is counted. */
function narrows(sheet: Sheet, at: number): boolean {
  const token = sheet.tokens[at];
  if (
    token === undefined ||
    token.kind !== "word" ||
    sheet.taken(at) ||
    sheet.taken(at + 1) ||
    sheet.needle !== undefined
  )
    return false;
  if (!/^[a-z][a-z-]*$/.test(token.lower) || fillers.has(token.lower) || verbs.has(token.lower)) return false;
  if (numberOf(token.lower) !== undefined || units.has(token.stem) || /(est|th|nd|st|rd)$/.test(token.lower))
    return false;
  // Only where something is counted or listed right here: "how many blank lines", "list the exported functions".
  if (!/^(many|of|the|all|count|list|any|which|what|show|number)$/.test(sheet.lower(at - 1))) return false;
  return !countable.has(token.stem) && sheet.lower(at + 1) !== "";
}

/** What is done to files, and is no part of a name. */
const verbs: ReadonlySet<string> = wordSet(
  "list show count find read open print search compare enumerate locate tally display name identify",
  "return output fetch check see summarize describe outline",
);
