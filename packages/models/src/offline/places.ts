// The room of places: which words of a clause are files and folders.
//
// A path is recognised by its form (a slash, a known extension, a well-known name) or by its position ("in packages", "the
// core folder"). Only the second kind may turn out to be a name deeper down.

import type { Place } from "./goal.ts";
import { bareFiles, endings, fillers, hereWords, languages, notPaths, units, wordSet } from "./lexicon.ts";
import type { Sheet } from "./sheet.ts";
import type { Token } from "./tokens.ts";

/** Whether a token looks like a path in any position. */
export function looksLikePath(token: Token): boolean {
  const { text, lower } = token;
  if (token.kind === "sign" || notPaths.has(lower) || /:\/\//.test(text)) return false;
  if (token.kind === "quoted" && (/\s{2}|[<>|"]/.test(text) || text.length > 200)) return false;
  if (/[*?{}()=]/.test(text) && token.kind === "word") return false;
  if (/^[\d.]+([/+*-][\d.]+)+$/.test(text) || /^(and\/or|he\/she|yes\/no|i\/o|tcp\/ip)$/.test(lower))
    return false;
  if (/^(\.{1,2}|~)$/.test(text)) return true;
  if (text.includes("/"))
    return (
      /^[^\s]/.test(text) &&
      !/^\/.*\\.*\/[a-z]*$/.test(text) &&
      text !== "/" &&
      !(token.kind === "quoted" && /\s/.test(text) && !/\.\w+$/.test(text))
    );
  if (token.kind === "quoted" && /\s/.test(text) && !/^[\w -]+\.\w{1,5}$/.test(text)) return false;
  if (bareFiles.has(lower) || /^(LICENSE|LICENCE|CONTRIBUTING|NOTICE|COPYING|AUTHORS)$/.test(text))
    return true;
  const ending = /^[\w@$+-][\w@$.+ -]*\.([a-z][a-z0-9]{0,8})$/i.exec(text)?.[1]?.toLowerCase();
  if (ending !== undefined) return endings.has(ending);
  return (
    /^\.[a-z][\w-]*(\.[\w-]+)*$/i.test(text) &&
    !endings.has(lower.slice(1)) &&
    token.text.length > 2 &&
    !endings.has(lower.split(".").at(-1) ?? "")
  );
}

/** A path without `./` before it and slashes after it; `.` for the root. */
export function cleanPath(path: string): string {
  let clean = path.replaceAll("\\", "/").replace(/\/{2,}/g, "/");
  while (clean.startsWith("./")) clean = clean.slice(2);
  if (clean.length > 1) clean = clean.replace(/\/+$/, "");
  return clean === "" ? "." : clean;
}

/** Words before a place. */
const inside: ReadonlySet<string> = wordSet(
  "in under inside within below beneath into from underneath through throughout across at of for on",
);
/** Those that stand before nothing else. */
const strong: ReadonlySet<string> = wordSet(
  "in under inside within below beneath into underneath throughout across from",
);
const folderWord = /^(folder|directory|dir|subfolder|subdirectory|package|module)$/;
const itWords = /^(it|its|them|they|those|these)$/;

/** Claims every token that names a place. */
export function claimPlaces(sheet: Sheet): void {
  const { tokens } = sheet;
  tokens.forEach((token, at) => {
    if (sheet.taken(at) || !looksLikePath(token)) return;
    add(sheet, at, { path: cleanPath(token.text) });
    for (const beside of [at - 1, at + 1])
      if (
        /^(folder|directory|dir|subfolder)$/.test(sheet.lower(beside)) &&
        !sheet.taken(beside) &&
        sheet.tokens[beside]?.kind === "word"
      )
        sheet.claim(beside, "PLACEWORD");
  });
  tokens.forEach((token, at) => {
    if (!sheet.taken(at) && token.kind !== "sign") claimByPosition(sheet, token, at);
  });
  joinNested(sheet);
  claimHere(sheet);
}

function add(sheet: Sheet, at: number, place: Place): void {
  sheet.claim(at, "PATH");
  sheet.addPlace(place, at);
}

function claimByPosition(sheet: Sheet, token: Token, at: number): void {
  const before = sheet.lower(at - 1);
  const prior = /^(the|my|our|your|a|this|that|folder|directory|dir|package|called|named)$/.test(before)
    ? sheet.lower(at - 2)
    : before;
  const afterFolder = folderWord.test(before) || (/^(called|named)$/.test(before) && folderWord.test(prior));
  const besideFolder = token.kind === "quoted" || !fillers.has(token.lower);
  const place: Place = { path: cleanPath(token.text), bare: true };
  if (
    /^licen[cs]e$/.test(token.lower) &&
    (sheet.lower(at + 1) === "file" ||
      /^(where|where's|is there|find|read|show|open|locate|cat|do|doe)\b/.test(sheet.skeleton))
  ) {
    add(sheet, at, { path: "LICENSE", bare: true });
    return;
  }
  const nameable = token.kind === "quoted" ? !/\s/.test(token.text) : isNameable(token);
  if (
    nameable &&
    besideFolder &&
    folderWord.test(sheet.lower(at + 1)) &&
    !/^(each|every|which|what|any|how|of|no|many)$/.test(token.lower)
  ) {
    add(sheet, at, place);
    sheet.claim(at + 1, "PLACEWORD");
  } else if (nameable && afterFolder && !sheet.taken(at - 1)) {
    add(sheet, at, place);
    sheet.claim(at - 1, "PLACEWORD");
  } else if (
    nameable &&
    (strong.has(prior) || strong.has(before)) &&
    !(languages.has(token.lower) && token.kind === "word")
  )
    add(sheet, at, place);
  else if (
    nameable &&
    /^(of|for)$/.test(prior) &&
    /\b(content|contents|structure|size|tree|outline|layout|inside|overview|summary|purpose|top|bottom|rest|root)\b/.test(
      sheet.skeleton,
    )
  )
    add(sheet, at, place);
  else if (nameable && isSubject(sheet, at)) add(sheet, at, place);
}

function isNameable(token: Token): boolean {
  if (!/^[@\w][\w.@-]*$/.test(token.text) || /^\d+$/.test(token.text)) return false;
  if (fillers.has(token.lower) || hereWords.has(token.lower) || notPaths.has(token.lower))
    return token.lower === "source" || token.lower === "code";
  return (
    !units.has(token.stem) ||
    token.lower === "types" ||
    token.lower === "functions" ||
    token.lower === "classes"
  );
}

/** Orders to show a place. */
const showing: ReadonlySet<string> = wordSet(
  "list ls show open tree explore describe summarize summarise explain outline cat read about browse",
);

/** "does packages contain", "files packages holds", "list packages", "what is packages for". */
function isSubject(sheet: Sheet, at: number): boolean {
  const next = sheet.stem(at + 1);
  const before = sheet.lower(at - 1);
  const token = sheet.tokens[at];
  if (/^(doe|does|do)$/.test(before) && /^(have|contain|hold|include|look|do|consist|comprise)$/.test(next))
    return true;
  if (units.has(sheet.stem(at - 1)) && /^(contain|hold|has|have|ha|include)$/.test(next)) return true;
  if (at === 0 && /^(contain|hold|has|have|ha)$/.test(next)) return true;

  if (
    at === sheet.tokens.length - 1 &&
    (showing.has(before) || (/^(me|the|my)$/.test(before) && showing.has(sheet.lower(at - 2))))
  )
    return token?.kind === "quoted" || sheet.tokens.length <= 4;
  // "list src and test", "in src or test", "compare src with test": one place makes its neighbour one.
  const joint = /^(and|or|,|with|to|than|vs|versus)$/;
  const previous = joint.test(sheet.tokens[at - 1]?.lower ?? "") ? at - 2 : -1;
  if (
    previous >= 0 &&
    sheet.role(previous) === "PATH" &&
    (at === sheet.tokens.length - 1 || sheet.lower(at + 1) !== "")
  )
    return !/^(is|are|how|what|count|list|show|tell)$/.test(sheet.lower(at));
  const comparative = /^(bigger|larger|longer|shorter|smaller|heavier)$/;
  if (/^(is|are)$/.test(before) && comparative.test(next)) return true;
  if (before === "than" && sheet.places.length > 0) return true;
  const following = joint.test(sheet.tokens[at + 1]?.lower ?? "");
  if (
    following &&
    /^[,:]$/.test(sheet.tokens[at - 1]?.text ?? "") &&
    /^(which|what|is|are)$/.test(sheet.lower(0))
  )
    return true;
  if (following && (/^(compare|list|ls|between)$/.test(before) || (showing.has(before) && at === 1)))
    return true;
  return /^(is|what's|about)$/.test(before) && /^(for|about)$/.test(next) && /^what/.test(sheet.lower(0));
}

/** "README of packages/core", "the src folder of packages/core", "loop.ts in packages": a name and where it lies. */
function joinNested(sheet: Sheet): void {
  if (sheet.places.length !== 2) return;
  const [inner, outer] = sheet.places as [Place, Place];
  const skeleton = sheet.skeleton;
  if (inner.path.includes("/") || outer.it === true || isFileName(outer.path) || inner.path === ".") return;
  if (
    !/PATH (?:PLACEWORD )?(?:file )?(?:of|in|inside|under|within|from|below) (?:the )?(?:PLACEWORD )?PATH/.test(
      skeleton,
    )
  )
    return;
  sheet.places = [
    outer.path === "."
      ? inner
      : { path: `${outer.path}/${inner.path}`, ...(inner.bare ? { bare: true } : {}) },
  ];
}

/** Whether a path is a file, judged by its form. */
export const isFileName = (path: string): boolean => {
  const last = path.split("/").at(-1) ?? "";
  return (
    (/\.[a-z0-9]{1,9}$/i.test(last) &&
      !/^\.{1,2}$/.test(last) &&
      endings.has((last.split(".").at(-1) ?? "").toLowerCase())) ||
    bareFiles.has(last.toLowerCase()) ||
    /^(LICENSE|NOTICE|COPYING)$/.test(last)
  );
};

function claimHere(sheet: Sheet): void {
  const { tokens } = sheet;
  for (let at = 0; at < tokens.length; at++) {
    const word = sheet.lower(at);
    const next = sheet.stem(at + 1);
    if (sheet.taken(at) || tokens[at]?.kind !== "word") continue;
    if (
      itWords.test(word) &&
      !(
        word === "it" &&
        /^(is|does|doe)$/.test(sheet.lower(at - 1)) &&
        /^(called|named|possible|true)$/.test(next)
      )
    )
      sheet.says ??= "there";
    else if (
      /^(that|same|the)$/.test(word) &&
      /^(file|folder|directory|one)$/.test(sheet.lower(at + 1)) &&
      word !== "the"
    ) {
      sheet.says ??= "there";
      sheet.claim(at + 1, "PLACEWORD");
    } else if (
      word === "here" ||
      (/^(this|current|the|my|our|whole|entire|root|working)$/.test(word) &&
        (folderWord.test(sheet.lower(at + 1)) || hereWords.has(sheet.lower(at + 1))))
    ) {
      sheet.says ??= "here";
      // The noun is used up: "what is in this folder" does not ask for folders.
      if (word !== "here") sheet.claim(at + 1, "PLACEWORD");
      if (/^(folder|directory|dir)$/.test(sheet.lower(at + 2))) sheet.claim(at + 2, "PLACEWORD");
    } else if (hereWords.has(word) && inside.has(sheet.lower(at - 1))) sheet.says ??= "here";
  }
}
