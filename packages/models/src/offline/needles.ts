// The room of needles: what a clause wants found inside files.
//
// A needle is recognised by its position: after "mention", after "the word", between "does" and "appear", after "search
// for". A quoted span that is not a path is one anywhere.

import { looksLikeFilter } from "./filters.ts";
import { fillers, happenings, hereWords, languages, prepositions, units, wordSet } from "./lexicon.ts";
import { claimNames } from "./names.ts";
import { looksLikePath } from "./places.ts";
import { claimRange } from "./ranges.ts";
import type { Sheet } from "./sheet.ts";

/** Nouns that the needle stands after: "the word foo". */
const nouns: ReadonlySet<string> = wordSet(
  "word string text term phrase identifier symbol keyword literal pattern regex function class variable",
  "constant method type interface name substring expression token enum struct module package",
);
/** What a file does with the needle: "files that mention foo". */
const holders: ReadonlySet<string> = wordSet(
  "mention mentioning contain containing include including use using import importing reference",
  "referencing call calling define defining declare declaring implement implementing export exporting",
  "cite invoke match matching say saying instantiate extend extending",
);
const seekers = /^(search|grep|look|scan|hunt|searching|looking|query)$/;

/** Claims names, line ranges and needles, in this order. */
export function claimNeedles(sheet: Sheet): void {
  claimNames(sheet);
  claimRange(sheet);
  claimTopic(sheet);
  if (sheet.topic === undefined) claimNeedle(sheet);
}

/** "What does package.json say about engines": the file is asked about something. */
function claimTopic(sheet: Sheet): void {
  const { tokens } = sheet;
  if (!tokens.some((token) => looksLikePath(token) || /^(readme|it|package)$/.test(token.lower))) return;
  for (let at = 1; at < tokens.length; at++) {
    if (!/^(about|regarding|concerning)$/.test(sheet.lower(at))) continue;
    const from = /^(the|its|our)$/.test(sheet.lower(at + 1)) ? at + 2 : at + 1;
    const words = capture(sheet, from);
    const first = tokens[words[0] ?? -1];
    if (
      first === undefined ||
      looksLikePath(first) ||
      looksLikeFilter(first) ||
      /^(this|it|that|here|these|them|everything|all|project|repo|repository)$/.test(first.lower)
    )
      return;
    if (
      /^(folder|directory|dir|package)$/.test(sheet.lower((words.at(-1) ?? at) + 1)) ||
      words.some((one) => /^(folder|directory|package)$/.test(sheet.lower(one)))
    )
      return;
    sheet.topic = words.map((one) => tokens[one]?.text ?? "").join(" ");
    for (const one of words) sheet.claim(one, "TOPIC");
    return;
  }
}

/** Nouns that may follow the needle: "TODO comments". */
const labels: ReadonlySet<string> = wordSet(
  "comment marker note item string symbol identifier function class method type interface variable",
  "constant enum struct",
);

function claimNeedle(sheet: Sheet): void {
  const at = needleAt(sheet);
  if (at === undefined) return;
  const words = capture(sheet, at);
  if (words.length === 0) return;
  const first = sheet.tokens[at];
  const whole = words.length === 1 && first?.kind === "word" && /^word$/.test(sheet.stem(at - 1));
  const last = words.at(-1) ?? at;
  if (words.length > 1 && labels.has(sheet.stem(last))) words.pop();
  const text = words.map((one) => sheet.tokens[one]?.text ?? "").join(" ");
  sheet.needle = { text, whole: whole || sheet.stem(at - 1) === "word", quoted: first?.kind === "quoted" };
  for (const one of words) sheet.claim(one, "NEEDLE");
}

/** The tokens of a needle that begins here: a quoted span alone, or words up to a preposition or the next verb. */
function capture(sheet: Sheet, from: number): number[] {
  const first = sheet.tokens[from];
  if (first === undefined || first.kind === "sign" || sheet.taken(from)) return [];
  if (first.kind === "quoted") return [from];
  const found: number[] = [];
  for (let at = from; at < sheet.tokens.length && found.length < 6; at++) {
    const token = sheet.tokens[at];
    if (token === undefined || token.kind !== "word" || sheet.taken(at)) break;
    if (
      prepositions.has(token.lower) ||
      /^(is|are|does|do|and|or|anywhere|somewhere|please|get|gets)$/.test(token.lower)
    )
      break;
    if (
      found.length > 0 &&
      (happenings.has(token.stem) || happenings.has(token.lower) || units.get(token.stem) === "file")
    )
      break;
    found.push(at);
  }
  return found;
}

function needleAt(sheet: Sheet): number | undefined {
  const { tokens } = sheet;
  for (const rule of [
    afterNoun,
    beforeNoun,
    afterOccurrence,
    afterSeeker,
    afterHolder,
    beforeHappening,
    afterFind,
    marker,
  ]) {
    for (let at = 0; at < tokens.length; at++) {
      if (sheet.taken(at)) continue;
      const found = rule(sheet, at);
      if (found !== undefined && !sheet.taken(found) && tokens[found] !== undefined) return found;
    }
  }
  const quoted = tokens.findIndex(
    (token, at) =>
      token.kind === "quoted" &&
      !sheet.taken(at) &&
      !looksLikePath(token) &&
      !looksLikeFilter(token) &&
      !placed(sheet, at),
  );
  return quoted < 0 ? undefined : quoted;
}

/** A quoted word after "in" or beside "folder" is a place. */
const placed = (sheet: Sheet, at: number): boolean =>
  /^(in|under|inside|within|below|into|from|beneath|of)$/.test(sheet.lower(at - 1)) ||
  /^(folder|directory|dir|file)$/.test(sheet.stem(at - 1)) ||
  /^(folder|directory|dir)$/.test(sheet.stem(at + 1)) ||
  (/^(the|a)$/.test(sheet.lower(at - 1)) && /^(in|under|inside|within|below)$/.test(sheet.lower(at - 2)));

function meaty(sheet: Sheet, at: number): boolean {
  const token = sheet.tokens[at];
  if (token === undefined || token.kind === "sign" || sheet.taken(at)) return false;
  if (looksLikeFilter(token)) return false;
  if (token.kind === "quoted") return true;
  if (token.lower === "todo" || token.lower === "todos") return true;
  return (
    !fillers.has(token.lower) &&
    !units.has(token.stem) &&
    !prepositions.has(token.lower) &&
    !/^(what|which)$/.test(token.lower)
  );
}

const skip = (sheet: Sheet, from: number, pattern: RegExp): number => {
  let at = from;
  while (pattern.test(sheet.lower(at))) at++;
  return at;
};

const articles = /^(the|a|an|any|all|some|exact|literal|every|my|our)$/;

/** "the word foo", "string 'foo'", "the function foo". */
function afterNoun(sheet: Sheet, at: number): number | undefined {
  const word = sheet.lower(at);
  if (!nouns.has(word) || sheet.tokens[at]?.kind !== "word") return undefined;
  const next = sheet.tokens[at + 1];
  if (next === undefined || next.kind === "sign") return undefined;
  if (next.kind === "quoted" && !looksLikePath(next)) return at + 1;
  if (
    /^(word|string|term|phrase|identifier|symbol|keyword|substring)$/.test(word) ||
    (word === "text" && units.get(next.stem) === undefined)
  )
    return units.has(next.stem) && next.stem !== "time" && word !== "word"
      ? undefined
      : prepositions.has(next.lower) || /^(is|are|count|do|doe|does|appear|and|or)$/.test(next.lower)
        ? undefined
        : at + 1;
  if (/^(function|class|variable|constant|method|type|interface|enum|struct)$/.test(word))
    return /^(the|a|is|which|what|where|find|does|do|how|uses|calls|of)$/.test(sheet.lower(at - 1)) &&
      meaty(sheet, at + 1) &&
      !looksLikePath(next) &&
      !happenings.has(next.lower) &&
      !holders.has(next.stem)
      ? at + 1
      : undefined;
  return undefined;
}

/** "where is the add function", "show me the User class". */
function beforeNoun(sheet: Sheet, at: number): number | undefined {
  if (!/^(function|class|method|type|interface|variable|constant|enum|struct)$/.test(sheet.lower(at + 1)))
    return undefined;
  if (
    !/^(the|a|is)$/.test(sheet.lower(at - 1)) ||
    !/^(where|where's|find|show|locate|read|is|does|who|which|what|how|search)$/.test(sheet.lower(0))
  )
    return undefined;
  return meaty(sheet, at) &&
    /^[\w$]+$/.test(sheet.tokens[at]?.text ?? "") &&
    !/(est|main|first|last|second|only)$/.test(sheet.lower(at))
    ? at
    : undefined;
}

/** Nouns that stand before what occurs: "occurrences of foo". */
const occurrences: ReadonlySet<string> = wordSet(
  "occurrence occurence mention use usage instance match reference hit definition declaration",
  "appearance import caller call implementation user todo",
);

/** "occurrences of foo", "references to foo", "the definition of foo". */
function afterOccurrence(sheet: Sheet, at: number): number | undefined {
  if (!occurrences.has(sheet.stem(at))) return undefined;
  if (!/^(of|for|to)$/.test(sheet.lower(at + 1))) return undefined;
  let from = skip(sheet, at + 2, articles);
  if (nouns.has(sheet.lower(from)) && meatyOrWord(sheet, from + 1)) from++;
  return meatyOrWord(sheet, from) ? from : undefined;
}

const meatyOrWord = (sheet: Sheet, at: number): boolean => {
  const token = sheet.tokens[at];
  return (
    token !== undefined &&
    token.kind !== "sign" &&
    !sheet.taken(at) &&
    (token.kind === "quoted" || !prepositions.has(token.lower))
  );
};

/** "search packages for foo", "look for foo", "grep foo". */
function afterSeeker(sheet: Sheet, at: number): number | undefined {
  if (!seekers.test(sheet.stem(at))) return undefined;
  for (let one = at + 1; one < sheet.tokens.length; one++)
    if (sheet.lower(one) === "for") {
      let from = skip(sheet, one + 1, articles);
      if (nouns.has(sheet.lower(from)) && meatyOrWord(sheet, from + 1)) from++;
      const token = sheet.tokens[from];
      const aboutFiles = sheet.tokens
        .slice(from)
        .some((each) => units.get(each.stem) === "file" || units.get(each.stem) === "folder");
      if (
        token === undefined ||
        (token.kind === "word" && (looksLikePath(token) || /[*?]/.test(token.text) || aboutFiles))
      )
        return undefined;
      return from;
    }
  return sheet.lower(at) === "grep" || sheet.lower(at) === "search"
    ? meaty(sheet, at + 1) && !placeFirst(sheet, at + 1)
      ? at + 1
      : undefined
    : undefined;
}

const placeFirst = (sheet: Sheet, at: number): boolean => {
  const token = sheet.tokens[at];
  return token !== undefined && (looksLikePath(token) || hereWords.has(token.lower));
};

/** "files that mention foo", "does README.md contain foo", "who calls foo". */
function afterHolder(sheet: Sheet, at: number): number | undefined {
  const stem = sheet.stem(at);
  if (!holders.has(stem) || sheet.lower(at) === "called") return undefined;
  if (/^(the|a|of|to|how|my)$/.test(sheet.lower(at - 1)) && stem !== "mention") return undefined;
  // A noun: "list the imports of a.ts", "how many exports". Not a verb with an object.
  if (
    /^(import|export|type|match|reference|call)$/.test(stem) &&
    /^(many|of|the|all|list|show|its|count)$/.test(sheet.lower(at - 1))
  )
    return undefined;
  let from = skip(sheet, at + 1, articles);
  if (nouns.has(sheet.lower(from)) && meaty(sheet, from + 1)) from++;
  const token = sheet.tokens[from];
  if (token === undefined) return undefined;
  const next = sheet.stem(from + 1);
  if (units.get(next) === "file" || units.get(next) === "folder" || next === "test") return undefined;
  if (units.get(token.stem) === "file" || units.get(token.stem) === "folder") return undefined;
  if (/[*?]/.test(token.text) && token.kind === "word") return undefined;
  // "which folder contains a.ts" asks where a file is.
  if (
    /^(contain|include)/.test(stem) &&
    looksLikePath(token) &&
    token.kind === "word" &&
    /^(which|what)$/.test(sheet.lower(0)) &&
    /^(folder|directory)$/.test(sheet.stem(1))
  )
    return undefined;
  // "how often does export occur": the verb is the needle, and another rule finds it.
  if (token.kind === "word" && happenings.has(token.lower)) return undefined;
  if (stem === "say" && /^(about|on|for)$/.test(token.lower)) return undefined;
  return meaty(sheet, from) || languages.has(token.lower) ? from : undefined;
}

/** Words right before the needle: "where is foo defined". */
const beforeSubject: ReadonlySet<string> = wordSet(
  "is are does do where the often time times word string function class method type interface if text",
  "that",
);

/** Where a subject of several words begins: right after one of these. */
const endsSubject: ReadonlySet<string> = new Set([...beforeSubject, "how", "which", "who"]);

/** "where is foo defined", "how often does foo appear", "how many times is foo used". */
function beforeHappening(sheet: Sheet, at: number): number | undefined {
  if (!happenings.has(sheet.lower(at)) && !happenings.has(sheet.stem(at))) return undefined;
  if (sheet.tokens[at]?.kind !== "word") return undefined;
  let from = at - 1;
  if (/^(being|get|gets|ever|also|actually)$/.test(sheet.lower(from))) from--;
  if (/^(is|are|was|gets|get)$/.test(sheet.lower(from))) from--; // "where foo is defined"
  const end = from;
  while (
    from > 0 &&
    sheet.tokens[from - 1]?.kind === "word" &&
    !endsSubject.has(sheet.lower(from - 1)) &&
    end - from < 5
  )
    from--;
  const token = sheet.tokens[from];
  if (
    token === undefined ||
    token.kind === "sign" ||
    (token.kind === "word" &&
      (looksLikePath(token) ||
        fillers.has(token.lower) ||
        (units.has(token.stem) && !/^(does|do|word|string)$/.test(sheet.lower(from - 1)))))
  )
    return undefined;
  if (!beforeSubject.has(sheet.lower(from - 1))) return undefined;
  if (/^(exist|present|found)$/.test(sheet.stem(at)) && looksLikePath(token)) return undefined;
  return from;
}

/** "find fooBar in packages": only what looks like a name in code. */
function afterFind(sheet: Sheet, at: number): number | undefined {
  if (!/^(find|locate|where|where's)$/.test(sheet.lower(at))) return undefined;
  const from = skip(sheet, at + 1, /^(is|are|the|all|every|me|any)$/);
  const token = sheet.tokens[from];
  if (token === undefined || looksLikePath(token) || token.kind === "sign") return undefined;
  const inCode = token.kind === "quoted" || /[a-z][A-Z]|_|^[A-Z][a-z]+[A-Z]|::|->/.test(token.text);
  return inCode && units.get(sheet.stem(from + 1)) !== "file" && units.get(sheet.stem(from + 1)) !== "folder"
    ? from
    : undefined;
}

const marker = (sheet: Sheet, at: number): number | undefined =>
  /^(TODO|FIXME|XXX|HACK)S?$/i.test(sheet.tokens[at]?.text ?? "") &&
  /^(TODO|FIXME|XXX|HACK)s?$/.test((sheet.tokens[at]?.text ?? "").replace(/^todo/, "TODO"))
    ? at
    : undefined;
