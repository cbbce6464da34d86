// The room of searching: a text in files, where it is defined, and where it is used.

import { literal } from "../../patterns.ts";
import type { SearchGoal } from "../goal.ts";
import { type Asking, type Finding, type Got, hitsOf, wholeFile } from "../plan.ts";
import type { Hit, Hits } from "../results.ts";
import { globOption } from "./folders.ts";
import { at, type Context } from "./where.ts";
import { bullets, clip, code, counted, fenced, placeName } from "./words.ts";

const isWord = (text: string): boolean => /^\w+$/.test(text);

/** The pattern that finds where a name is defined, in the most common languages. */
const definition = (name: string): string => {
  const x = literal(name);
  return `(\\b(function\\*?|class|interface|type|enum|namespace|const|let|var|def|fn|func|struct|trait|impl|module|val|object|record|protocol|macro_rules!|sub|package|define)\\s+(\\([^)]*\\)\\s*)?\\*?${x}\\b)|(^\\s*((public|private|protected|static|async|override|readonly|get|set|export|abstract)\\s+)*#?${x}\\s*(<[^>]*>)?\\([^)]*\\)\\s*(:\\s*[^=;]+)?\\{\\s*$)|(^\\s*${x}\\s*=[^=])|(^\\s*#?${x}\\s*=\\s*(async\\s*)?\\()`;
};

/** A text in a file or folder, answered in the form of the question. */
export function* search(goal: SearchGoal, context: Context): Asking<Finding> {
  const { needle, mode } = goal;
  const wants = goal.place.it === true && /^(count|yes_no|lines)$/.test(mode) ? "file" : "folder";
  const glob = globOption(goal.filter);
  const pattern =
    mode === "defined"
      ? definition(needle)
      : (goal.whole || mode === "used") && isWord(needle)
        ? `\\b${needle}\\b`
        : needle;
  const literal = mode !== "defined" && pattern === needle;
  const loose = mode === "yes_no" || mode === "count" || mode === "lines";
  const found = yield* at(goal.place, context, wants, (path) =>
    hitsOf(pattern, path, {
      ...glob,
      ...(literal ? { literal: true } : {}),
      ...(loose ? { ignoreCase: true } : {}),
    }),
  );
  if (!found.ok) return found.finding;
  const { path, note, value } = found;
  if (value.totalLines === 0) {
    const mentions = mode === "defined" ? yield* hitsOf(needle, path, { ...glob, literal: true }) : undefined;
    return mentions?.ok === true && mentions.value.totalLines > 0
      ? undefinedBut({ needle, path, note, value: mentions.value })
      : none(needle, path, note);
  }
  const seen: Seen = { needle, path, note, value };
  const cased = !loose || value.cut ? value.hits : value.hits.filter((hit) => hit.text.includes(needle));
  switch (mode) {
    case "count":
      return yield* countTimes(goal, seen);
    case "count_files":
    case "files":
      return filesWith(seen);
    case "yes_no":
      return whether(seen, cased);
    case "defined":
      return definedAt(seen);
    case "used":
      return usesOf(seen);
    default:
      return linesWith(seen, cased);
  }
}

/** What was looked for, and what was seen of it. */
interface Seen {
  needle: string;
  path: string;
  note: string;
  value: Hits;
}

const inQuotes = (needle: string): string => `“${needle}”`;

function undefinedBut({ needle, path, note, value }: Seen): Finding {
  return {
    ...hitLines(value, path),
    text: `${note}I found no definition of ${inQuotes(needle)} in ${placeName(path)} by the usual keywords, but ${counted(value.totalLines, "line")} in ${counted(value.totalFiles, "file")} that mention it:\n\n${hitBullets(value, 20)}`,
    yes: false,
  };
}

function filesWith({ needle, path, note, value }: Seen): Finding {
  const lines = new Map<string, number>();
  for (const hit of value.hits) lines.set(hit.path, (lines.get(hit.path) ?? 0) + 1);
  const files = [...lines.keys()];
  const shown = [...lines].map(
    ([file, count]) => `${code(file)}${value.cut ? "" : ` (${counted(count, "line")})`}`,
  );
  return {
    text: `${note}**${counted(value.totalFiles, "file")}** in ${placeName(path)} ${value.totalFiles === 1 ? "mentions" : "mention"} ${inQuotes(needle)} (${counted(value.totalLines, "line")}):\n\n${bullets(shown, 60, value.totalFiles)}`,
    number: value.totalFiles,
    items: files,
    yes: true,
    scope: path,
    ...(files.length === 1 ? { subject: files[0] as string } : {}),
    reached: true,
  };
}

function whether({ needle, path, note, value }: Seen, cased: readonly Hit[]): Finding {
  const exact = cased.length > 0 || value.cut;
  const shape = exact ? "" : " (written differently: upper and lower case)";
  const first = (cased[0] ?? value.hits[0]) as Hit;
  const told = exact && !value.cut ? cased : value.hits;
  const lines = exact && !value.cut ? cased.length : value.totalLines;
  const files = value.cut ? value.totalFiles : new Set(told.map((hit) => hit.path)).size;
  const many = files > 1 ? ` in ${counted(files, "file")}` : "";
  return {
    text: `${note}Yes: ${placeName(path)} mentions ${inQuotes(needle)}${shape} on ${counted(lines, "line")}${many}. The first is line ${first.line} of ${code(first.path)}:\n\n${fenced([clip(first.text.trim(), 240)])}`,
    yes: true,
    number: value.totalLines,
    subject: first.path,
    scope: path,
    reached: true,
  };
}

function definedAt({ needle, path, note, value }: Seen): Finding {
  const [first, ...others] = value.hits as [Hit, ...Hit[]];
  const rest =
    value.totalLines > 1
      ? `\n\nAlso:\n\n${hitBullets({ ...value, hits: others, totalLines: value.totalLines - 1 }, 10)}`
      : "";
  return {
    ...hitLines(value, path),
    text: `${note}${inQuotes(needle)} is defined in ${code(first.path)}, line ${first.line}:\n\n${fenced([first.text.trim()])}${rest}`,
    subject: first.path,
  };
}

function usesOf({ needle, path, note, value }: Seen): Finding {
  const made = new RegExp(definition(needle));
  const uses = value.hits.filter((hit) => !made.test(hit.text));
  const definitions = value.hits.length - uses.length;
  if (uses.length === 0)
    return {
      text: `${note}${inQuotes(needle)} is defined in ${placeName(path)}, but I see no use of it there.`,
      yes: false,
      number: 0,
      scope: path,
      reached: true,
    };
  const aside =
    definitions === 0
      ? ""
      : ` (${counted(definitions, "line")} that ${definitions === 1 ? "defines" : "define"} it not counted)`;
  const total = value.totalLines - definitions;
  return {
    ...hitLines(value, path),
    number: total,
    text: `${note}${inQuotes(needle)} appears on ${counted(total, "line")} in ${counted(new Set(uses.map((hit) => hit.path)).size, "file")}${value.cut ? " that I see" : ""}${aside}:\n\n${hitBullets({ ...value, hits: uses, totalLines: total }, 30)}`,
  };
}

function linesWith({ needle, path, note, value }: Seen, cased: readonly Hit[]): Finding {
  const differs = cased.length < value.hits.length && !value.cut ? ` (${cased.length} written just so)` : "";
  return {
    ...hitLines(value, path),
    text: `${note}${inQuotes(needle)} is on **${counted(value.totalLines, "line")}** in ${counted(value.totalFiles, "file")} of ${placeName(path)}, upper and lower case alike${differs}:\n\n${hitBullets(value, 30)}`,
  };
}

const none = (needle: string, path: string, note: string): Finding => ({
  text: `${note}No: I found no ${inQuotes(needle)} in ${placeName(path)}. Files that git ignores are not searched.`,
  yes: false,
  number: 0,
  items: [],
  scope: path,
  reached: true,
});

const hitLines = (value: Hits, path: string): Finding => ({
  text: "",
  yes: true,
  number: value.totalLines,
  items: value.hits.map((hit) => `${hit.path}:${hit.line}`),
  scope: path,
  reached: true,
});

const hitBullets = (value: Hits, limit: number): string =>
  bullets(
    value.hits.map((hit) => `${code(`${hit.path}:${hit.line}`)} ${code(clip(hit.text.trim(), 160))}`),
    limit,
    value.totalLines,
  );

/** Occurrences, not lines: a line may have several. Case-sensitive, as the question wrote it. */
function* countTimes(goal: SearchGoal, { path, note, value }: Seen): Asking<Finding> {
  const said = inQuotes(goal.needle);
  let lines = value.hits.map((hit) => hit.text);
  if (value.cut) {
    const all: Got<{ lines: string[]; whole: boolean }> =
      value.totalFiles === 1 && value.hits[0]?.path === path
        ? yield* wholeFile(path)
        : { ok: false, why: "", missing: true };
    if (!all.ok || !all.value.whole)
      return {
        text: `${note}${said} is on **${counted(value.totalLines, "line")}** in ${counted(value.totalFiles, "file")} of ${placeName(path)}, upper and lower case alike. There are too many to count more than one a line.`,
        number: value.totalLines,
        yes: true,
        scope: path,
        reached: true,
      };
    lines = all.value.lines;
  }
  const source = goal.whole && isWord(goal.needle) ? `\\b${goal.needle}\\b` : literal(goal.needle);
  const times = (flags: string): number =>
    lines.reduce((sum, line) => sum + [...line.matchAll(new RegExp(source, flags))].length, 0);
  const exact = times("g");
  const either = times("gi");
  const onLines = lines.filter((line) => new RegExp(source).test(line)).length;
  const where =
    value.totalFiles > 1
      ? ` in ${counted(value.totalFiles, "file")} of ${placeName(path)}`
      : ` in ${value.hits[0] === undefined ? placeName(path) : code(value.hits[0].path)}`;
  const whole = goal.whole ? " as a whole word" : "";
  const aside = either === exact ? "" : `; ${either} when upper and lower case count alike`;
  return {
    text: `${note}${said} appears **${counted(exact, "time")}**${whole}${where}, on ${counted(onLines, "line")}${aside}.`,
    number: exact,
    yes: exact > 0,
    scope: path,
    reached: true,
  };
}
