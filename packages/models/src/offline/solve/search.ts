// The room of searching: a text in files, a definition, a value in JSON.

import type { Goal, SearchGoal } from "../goal.ts";
import { type Asking, type Finding, type Got, hitsOf, wholeFile } from "../plan.ts";
import type { Hit, Hits } from "../results.ts";
import { at, type Context, pathOf } from "./where.ts";
import { bullets, clip, code, counted, fenced, humanList, placeName } from "./words.ts";

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

const isWord = (text: string): boolean => /^\w+$/.test(text);

/** The expression that finds where a name is made, in the languages most met. */
const definition = (name: string): string => {
  const x = escaped(name);
  return `(\\b(function\\*?|class|interface|type|enum|namespace|const|let|var|def|fn|func|struct|trait|impl|module|val|object|record|protocol|macro_rules!|sub|package|define)\\s+(\\([^)]*\\)\\s*)?\\*?${x}\\b)|(^\\s*((public|private|protected|static|async|override|readonly|get|set|export|abstract)\\s+)*#?${x}\\s*(<[^>]*>)?\\([^)]*\\)\\s*(:\\s*[^=;]+)?\\{\\s*$)|(^\\s*${x}\\s*=[^=])|(^\\s*#?${x}\\s*=\\s*(async\\s*)?\\()`;
};

/** A text in a file or folder, as the question wants it told. */
export function* search(goal: SearchGoal, context: Context): Asking<Finding> {
  const { needle, mode } = goal;
  const wants = goal.place.it === true && /^(count|yes_no|lines)$/.test(mode) ? "file" : "folder";
  const globs = goal.filter?.globs ?? [];
  const glob =
    globs.length === 0 ? {} : { glob: `**/${globs.length === 1 ? globs[0] : `{${globs.join(",")}}`}` };
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
  const said = `“${needle}”`;
  if (mode === "defined" && value.totalLines === 0) {
    const mentions = yield* hitsOf(needle, path, { ...glob, literal: true });
    if (!mentions.ok || mentions.value.totalLines === 0) return none(needle, path, note);
    return {
      ...hitLines(mentions.value, path),
      text: `${note}I found no definition of ${said} in ${placeName(path)} by the usual keywords, but ${counted(mentions.value.totalLines, "line")} in ${counted(mentions.value.totalFiles, "file")} that mention it:\n\n${hitBullets(mentions.value, 20)}`,
      yes: false,
    };
  }
  if (value.totalLines === 0) return none(needle, path, note);
  const cased = !loose || value.cut ? value.hits : value.hits.filter((hit) => hit.text.includes(needle));
  switch (mode) {
    case "count":
      return yield* countTimes(goal, path, note, value);
    case "count_files":
    case "files": {
      const files = [...new Set(value.hits.map((hit) => hit.path))];
      const text = `${note}**${counted(value.totalFiles, "file")}** in ${placeName(path)} ${value.totalFiles === 1 ? "mentions" : "mention"} ${said} (${counted(value.totalLines, "line")}):\n\n${bullets(
        files.map(
          (file) =>
            `${code(file)}${value.cut ? "" : ` (${counted(value.hits.filter((hit) => hit.path === file).length, "line")})`}`,
        ),
        60,
        value.totalFiles,
      )}`;
      return {
        text,
        number: value.totalFiles,
        items: files,
        yes: true,
        scope: path,
        ...(files.length === 1 ? { subject: files[0] as string } : {}),
        reached: true,
      };
    }
    case "yes_no": {
      const exact = cased.length > 0 || value.cut;
      const shape = exact ? "" : ` (written differently: upper and lower case)`;
      const first = (cased[0] ?? value.hits[0]) as Hit;
      const told = exact && !value.cut ? cased : value.hits;
      const lines = exact && !value.cut ? cased.length : value.totalLines;
      const files = value.cut ? value.totalFiles : new Set(told.map((hit) => hit.path)).size;
      const many = files > 1 ? ` in ${counted(files, "file")}` : "";
      return {
        text: `${note}Yes: ${placeName(path)} mentions ${said}${shape} on ${counted(lines, "line")}${many}. The first is line ${first.line} of ${code(first.path)}:\n\n${fenced([clip(first.text.trim(), 240)])}`,
        yes: true,
        number: value.totalLines,
        subject: first.path,
        scope: path,
        reached: true,
      };
    }
    case "defined": {
      const first = value.hits[0] as Hit;
      const rest =
        value.totalLines > 1
          ? `\n\nAlso:\n\n${hitBullets({ ...value, hits: value.hits.slice(1), totalLines: value.totalLines - 1 }, 10)}`
          : "";
      return {
        text: `${note}${said} is defined in ${code(first.path)}, line ${first.line}:\n\n${fenced([first.text.trim()])}${rest}`,
        yes: true,
        number: value.totalLines,
        items: value.hits.map((hit) => `${hit.path}:${hit.line}`),
        subject: first.path,
        scope: path,
        reached: true,
      };
    }
    case "used": {
      const made = new RegExp(definition(needle));
      const uses = value.hits.filter((hit) => !made.test(hit.text));
      const aside =
        uses.length < value.hits.length
          ? ` (${counted(value.hits.length - uses.length, "line")} that ${value.hits.length - uses.length === 1 ? "defines" : "define"} it not counted)`
          : "";
      if (uses.length === 0)
        return {
          text: `${note}${said} is defined in ${placeName(path)}, but I see no use of it there.`,
          yes: false,
          number: 0,
          scope: path,
          reached: true,
        };
      const total = value.totalLines - (value.hits.length - uses.length);
      return {
        ...hitLines(value, path),
        number: total,
        text: `${note}${said} appears on ${counted(total, "line")} in ${counted(new Set(uses.map((hit) => hit.path)).size, "file")}${value.cut ? " that I see" : ""}${aside}:\n\n${hitBullets({ ...value, hits: uses, totalLines: total }, 30)}`,
      };
    }
    default: {
      const differs =
        cased.length < value.hits.length && !value.cut ? ` (${cased.length} written just so)` : "";
      return {
        ...hitLines(value, path),
        text: `${note}${said} is on **${counted(value.totalLines, "line")}** in ${counted(value.totalFiles, "file")} of ${placeName(path)}, upper and lower case alike${differs}:\n\n${hitBullets(value, 30)}`,
      };
    }
  }
}

const none = (needle: string, path: string, note: string): Finding => ({
  text: `${note}No: I found no “${needle}” in ${placeName(path)}. Files that git ignores are not searched.`,
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

/** Occurrences, not lines: a line may hold several. Upper and lower case are told apart, as the question wrote it. */
function* countTimes(goal: SearchGoal, path: string, note: string, value: Hits): Asking<Finding> {
  const said = `“${goal.needle}”`;
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
  const source = goal.whole && isWord(goal.needle) ? `\\b${goal.needle}\\b` : escaped(goal.needle);
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

/** What a file says about something: a value where the file is JSON, the lines that mention it otherwise. */
export function* value(goal: Extract<Goal, { do: "value" }>, context: Context): Asking<Finding> {
  const path = pathOf(goal.place, context, "file");
  if (!/\.jsonc?$/i.test(path) && !(goal.place.it === true && /json/i.test(path)))
    return yield* search(
      { do: "search", needle: goal.key, mode: "lines", place: goal.place, whole: false },
      context,
    );
  const found = yield* at(goal.place, context, "file", (one) => wholeFile(one));
  if (!found.ok) return found.finding;
  const { note } = found;
  let data: unknown;
  try {
    data = JSON.parse(found.value.lines.join("\n"));
  } catch {
    return yield* search(
      { do: "search", needle: goal.key, mode: "lines", place: { path: found.path }, whole: false },
      context,
    );
  }
  const hit = lookUp(data, goal.key);
  const top = typeof data === "object" && data !== null ? Object.keys(data) : [];
  if (hit === undefined)
    return {
      text: `${note}${code(found.path)} says nothing about “${goal.key}”. Its keys are ${humanList(top.slice(0, 30).map(code))}.`,
      yes: false,
      subject: found.path,
      scope: found.path,
      reached: true,
    };
  const size = Array.isArray(hit.value)
    ? hit.value.length
    : typeof hit.value === "object" && hit.value !== null
      ? Object.keys(hit.value).length
      : undefined;
  const shown =
    typeof hit.value === "object"
      ? `\n\n${fenced(JSON.stringify(hit.value, null, 2).split("\n").slice(0, 80))}`
      : ` **${typeof hit.value === "string" ? hit.value : JSON.stringify(hit.value)}**`;
  const items = Array.isArray(hit.value)
    ? hit.value.map(String)
    : typeof hit.value === "object" && hit.value !== null
      ? Object.keys(hit.value)
      : [String(hit.value)];
  return {
    text: `${note}In ${code(found.path)} ${code(hit.path)} ${size === undefined ? "is" : `has ${counted(size, "entry", "entries")}:`}${shown}${typeof hit.value === "object" ? "" : "."}`,
    items,
    yes: true,
    ...(size !== undefined ? { number: size } : typeof hit.value === "number" ? { number: hit.value } : {}),
    subject: found.path,
    scope: found.path,
    reached: true,
  };
}

const flat = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, "");

/** The value whose key is the words asked for, in any spelling; words may lead down (`test script`, `scripts test`). */
function lookUp(data: unknown, key: string): { path: string; value: unknown } | undefined {
  const wanted = flat(key);
  const same = (one: string, other: string): boolean =>
    one === other ||
    one === `${other}s` ||
    `${one}s` === other ||
    one.replace(/ies$/, "y") === other.replace(/ies$/, "y");
  const walk = (node: unknown, path: string, depth: number): { path: string; value: unknown } | undefined => {
    if (typeof node !== "object" || node === null || depth > 6) return undefined;
    const entries = Object.entries(node);
    for (const [name, value] of entries) if (same(flat(name), wanted)) return { path: path + name, value };
    for (const [name, value] of entries) {
      const below = walk(value, `${path}${name}.`, depth + 1);
      if (below !== undefined) return below;
    }
    return undefined;
  };
  const direct = walk(data, "", 0);
  if (direct !== undefined) return direct;
  const words = key.split(/[\s.]+/).filter((word) => word !== "");
  if (words.length < 2)
    return /^licen[cs]e$/.test(wanted)
      ? walk({ license: (data as { license?: unknown })?.license }, "", 0)
      : undefined;
  for (const order of [words, [...words].reverse()]) {
    let node: { path: string; value: unknown } | undefined = { path: "", value: data };
    for (const word of order) {
      const from: { path: string; value: unknown } = node as { path: string; value: unknown };
      const below =
        typeof from.value === "object" && from.value !== null
          ? Object.entries(from.value).find(([name]) => same(flat(name), flat(word)))
          : undefined;
      node =
        below === undefined
          ? undefined
          : { path: from.path === "" ? below[0] : `${from.path}.${below[0]}`, value: below[1] };
      if (node === undefined) break;
    }
    if (node !== undefined) return node;
  }
  for (const word of words) {
    const below = /^versions?$/.test(flat(word)) ? undefined : lookUp(data, word);
    if (below !== undefined) return below;
  }
  return undefined;
}
