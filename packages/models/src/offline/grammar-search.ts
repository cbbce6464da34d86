// The room of looking things up: text in files, files by name, values in JSON.

import { type Clause, countCue } from "./clause.ts";
import { globFilter } from "./filters.ts";
import type { Goal, Place, SearchGoal } from "./goal.ts";
import { placesOf, type Rule } from "./grammar-rule.ts";
import { wordSet } from "./lexicon.ts";
import { isFileName } from "./places.ts";
import type { Token } from "./tokens.ts";

/** Anything with a needle. */
export const searchRule: Rule = (clause) => {
  const { needle } = clause.sheet;
  if (needle === undefined) return undefined;
  const filter = clause.filters[0];
  return placesOf(clause).map((place) => ({
    do: "search",
    needle: needle.text.replace(/^todos$/i, "TODO"),
    mode: modeOf(clause),
    place,
    whole: needle.whole,
    ...(filter === undefined ? {} : { filter }),
  }));
};

function modeOf(clause: Clause): SearchGoal["mode"] {
  const { skeleton, units } = clause;
  const files = units.includes("file") || clause.filters.length > 0;
  if (/\bhow often\b/.test(skeleton)) return "count";
  if (countCue.test(skeleton))
    return clause.counted.includes("file") || (clause.counted.length === 0 && clause.filters.length > 0)
      ? "count_files"
      : "count";
  if (
    /^(which|what|list|find|show|name|give|in which|in what|all|search|locate|identify|any)\b/.test(
      skeleton,
    ) &&
    files &&
    !/\b(defined|defines|declared|implemented)\b/.test(skeleton)
  ) {
    if (/\b(define|declare|implement)\b/.test(skeleton)) return "defined";
    return "files";
  }
  if (/^(doe|do|is|are|can|ha|have|has|doesn't|isn't)\b/.test(skeleton)) return "yes_no";
  if (
    /\b(defined|define|definition|declared|declare|declaration|implemented|implement|implementation|created)\b/.test(
      skeleton,
    )
  )
    return "defined";
  if (/\b(used|usage|use|called|call|caller|imported|import|reference|referenced|user)\b/.test(skeleton))
    return "used";
  if (
    /^(where|find|show|locate)\b.*\b(function|class|method|type|interface|variable|constant|enum)\b/.test(
      skeleton,
    )
  )
    return "defined";
  if (/^(where|where's) (is|are)? ?(the )?NEEDLE$/.test(skeleton)) return "defined";
  return "lines";
}

/** Files and folders by name: whether, and where. */
export const findRule: Rule = (clause) => {
  const { skeleton, sheet, places } = clause;
  const asks =
    /^(is there|are there|is|are|doe|do|find|locate|where|where's|search|look for|any|ha|have|which|what|can you find|list|show)\b/.test(
      skeleton,
    );
  if (!asks) return undefined;
  if (sheet.name !== undefined) {
    const { filter, unit } = sheet.name;
    return placesOf(clause).map((place) => ({ do: "find", filter, place, what: unit }));
  }
  const place = places[0];
  if (place === undefined || clause.filters.length > 0) return undefined;
  const whether =
    /^(is|are) there (a|an|any|some|the)?( file| folder)?( PLACEWORD)? ?PATH|^(doe|do) (the )?(file |folder )?(PLACEWORD )?PATH (PLACEWORD )?exist|^(do|doe) (we|you|i|it|this project|the project|this repo|the repo|the repository|this repository|this folder) have (a|an|any|the)?( file| folder)?( PLACEWORD)? ?PATH|^(where|where's) ?(is|are|can i find|doe)? ?(the )?(file |folder )?(PLACEWORD )?PATH|^(find|locate|search for|look for) (me )?(the |a |all |every |any )*(file |folder )?(PLACEWORD )?PATH|^any PATH|^(which|what) (folder|directory) (contain|hold|include|ha|has) (the )?(file )?PATH|^is (the )?(file )?PATH (here|there|present|in)|exist/;
  if (!whether.test(skeleton)) return undefined;
  return [findGoal(place.path, places[1]?.path, /PLACEWORD|\bfolder\b/.test(skeleton))];
};

function findGoal(path: string, within: string | undefined, folder: boolean): Goal {
  const slash = path.lastIndexOf("/");
  const base = slash < 0 ? path : path.slice(slash + 1);
  const start = slash < 0 ? (within ?? ".") : path.slice(0, slash);
  const what = folder && !isFileName(path) ? "folder" : "file";
  const glob = /^readme$/i.test(base) ? "README*" : base;
  return {
    do: "find",
    filter: { ...globFilter(glob), says: `${what}s named \`${base}\`` },
    place: { path: start },
    what,
  };
}

const projectKeys: ReadonlySet<string> = wordSet(
  "version license licence dependency devdependency peerdependency script engine author description",
  "homepage keyword repository type main workspace bin export private package maintainer",
);

/** A value of a JSON file: "which version is in package.json", "what does package.json say about engines". */
export const valueRule: Rule = (clause) => {
  const { sheet, places, skeleton } = clause;
  if (/\b(than|longer|shorter|larger|bigger|smaller)\b/.test(skeleton)) return undefined;
  const file =
    places.find((place) => isFileName(place.path)) ??
    places[0] ??
    (sheet.says === "there" || isJson(clause.place) ? clause.place : undefined);
  if (sheet.topic !== undefined && file !== undefined)
    return [{ do: "value", key: sheet.topic, place: file }];
  const needle = sheet.needle?.text;
  if (file !== undefined && isJson(file)) {
    if (needle === undefined) return valueIn(file, clause);
    return /\b(field|key|property|value|entry|setting|option)\b/.test(skeleton)
      ? [{ do: "value", key: needle, place: file }]
      : undefined;
  }
  return needle === undefined && places.length === 0 ? valueOfProject(clause) : undefined;
};

const isJson = ({ path }: Place): boolean => /\.jsonc?$/i.test(path);

/** The most words of a key. */
const longestKey = 3;

/** The words of a clause that nothing else has claimed. */
const freeTokens = ({ sheet }: Clause): Token[] =>
  sheet.tokens.filter((token, at) => !sheet.taken(at) && token.kind !== "sign");

const wordOf = (token: Token): string => (token.kind === "quoted" ? token.text : token.stem);

function valueIn(file: Place, clause: Clause): Goal[] | undefined {
  const key = freeTokens(clause).filter((token) => !jsonFillers.has(wordOf(token)));
  if (key.length === 0 || key.length > longestKey || otherOrder.test(clause.skeleton)) return undefined;
  return [{ do: "value", key: key.map(({ text }) => text).join(" "), place: file }];
}

/** What can be asked of a JSON file as of any other. */
const otherOrder =
  /^(compare|diff|read|open|cat|find|locate|list file|count line|how many line|how many word|how long|how big)\b/;

/** Without a file: only what every package states about itself, and only as a question about this project. */
function valueOfProject(clause: Clause): Goal[] | undefined {
  const { skeleton } = clause;
  const words = freeTokens(clause).map(wordOf);
  const key = words.filter((word) => projectKeys.has(word));
  if (key.length === 0 || key.length > longestKey) return undefined;
  // "which version of jest": about jest, not about the package.
  const others = words.filter(
    (word) => !projectKeys.has(word) && !jsonFillers.has(word) && !projectWords.has(word),
  );
  if (others.length > 1) return undefined;
  const asks = /^(what|which|who|under what|under which|list|show|how many|tell)\b/.test(skeleton);
  const isOfProject =
    /\b(project|package|repo|repository|codebase|it|this|workspace|the|npm)\b/.test(skeleton) &&
    !/\b(file|folder|line|function|type|export)\b/.test(skeleton);
  if (!asks || !isOfProject) return undefined;
  const narrow = key.filter((word) => !/^(package|repository|workspace)$/.test(word));
  const name = others[0] ?? (narrow.length > 0 ? narrow.join(" ") : (key[0] ?? ""));
  return [{ do: "value", key: name, place: { path: "package.json" } }];
}

const projectWords: ReadonlySet<string> = wordSet(
  "project package repo repository codebase workspace npm folder directory this the current our my",
  "software library under tell me run available",
);

const jsonFillers: ReadonlySet<string> = wordSet(
  "what what's which is are the a an in of doe does do say tell me show give for from to how many count",
  "number value field key property list print get and at by under inside it its declare specify set",
  "state require need have has ha contain all with there you line word byte character file long big",
  "large size content contents time outline structure about describe explain summarize any according",
  "name's read mention please on used use defined listed exist where compare longest larger longer json",
  "section block object that this define come npm project available look open check see now exactly",
  "currently s",
);
