// The room of folders: what is in one, how much of it, and where a name is.

import type { CountGoal, Filter, Goal } from "../goal.ts";
import { type Asking, type Finding, type Got, listing } from "../plan.ts";
import type { Listing } from "../results.ts";
import { at, type Context, type Found, sentence } from "./where.ts";
import { bullets, code, counted, placeName, plural } from "./words.ts";

/** Paths of a listing that a filter lets pass. */
export function passing(paths: readonly string[], filter: Filter | undefined): string[] {
  if (filter === undefined) return [...paths];
  const globs = filter.globs.map(globTest);
  const named = globs.length === 0 ? [...paths] : paths.filter((path) => globs.some((test) => test(path)));
  if (filter.tests !== true) return named;
  const byName = named.filter((path) => testName.test(path));
  return byName.length > 0 ? byName : named.filter((path) => testFolder.test(path));
}

const testName = /(\.|_|-)(test|tests|spec)\.[a-z]+$|(^|\/)test_[^/]*\.[a-z]+$|(^|\/)[A-Z]\w*Tests?\.[a-z]+$/;
const testFolder = /(^|\/)(test|tests|__tests__|spec)\//;

/** Names of simple globs (`*`, `?`), without regard to case only where the glob has no capitals and no wildcard. */
function globTest(glob: string): (path: string) => boolean {
  const source = glob
    .replace(/^(\*\*\/)+/, "")
    .replace(/[.+^$()|[\]\\]/g, "\\$&")
    .replace(/\*\*\/?/g, "\u0000")
    .replace(/\*/g, "[^/]*")
    .replaceAll("\u0000", ".*")
    .replace(/\?/g, "[^/]")
    .replace(/\{([^{}]*)\}/g, (_, list: string) => `(?:${list.split(",").join("|")})`);
  const test = new RegExp(`(^|/)${source}$`, /[A-Z*?]/.test(glob) && !/^\*[a-z]+\*$/.test(glob) ? "" : "i");
  return (path) => test.test(path);
}

/** The files below a path that a filter lets pass, with an exact total. */
export interface Files {
  paths: string[];
  total: number;
  /** How many lie directly in the folder. Undefined when the listing was cut. */
  direct: number | undefined;
  folders: string[];
  totalFolders: number;
  ignored: number | undefined;
  cut: boolean;
}

/** Lists the files below a path. A filter of globs is the tool's own work, so that its total is exact however long the list. */
export function* filesBelow(path: string, filter: Filter | undefined): Asking<Got<Files>> {
  const usable =
    filter !== undefined &&
    filter.tests !== true &&
    filter.globs.length > 0 &&
    !filter.globs.some(
      (glob) => /^\*[a-z]+\*$/.test(glob) || (!/[*?]/.test(glob) && glob === glob.toLowerCase()),
    );
  const glob = usable
    ? filter.globs.length === 1
      ? filter.globs[0]
      : `{${filter.globs.join(",")}}`
    : undefined;
  const found = yield* listing(path, {
    recursive: true,
    ...(glob === undefined ? {} : { pattern: `**/${glob}` }),
  });
  if (!found.ok) return found;
  const all = found.value;
  const paths = passing(all.files, filter);
  if (glob !== undefined && all.totalFiles === 0 && filter !== undefined && filter.globs.length > 1) {
    // Nothing: or a tool that knows no braces. One plain glob more settles it.
    const plain = yield* listing(path, { recursive: true, pattern: `**/${filter.globs[0]}` });
    if (plain.ok && plain.value.totalFiles > 0)
      return { ok: true, value: filesOf(plain.value, passing(plain.value.files, filter), path, true) };
  }
  return {
    ok: true,
    value: filesOf(all, paths, path, glob !== undefined && paths.length === all.files.length),
  };
}

function filesOf(all: Listing, paths: string[], path: string, exact: boolean): Files {
  const filtered = paths.length !== all.files.length;
  return {
    paths,
    total: exact || (!filtered && paths.length === all.files.length) ? all.totalFiles : paths.length,
    direct: all.cut ? undefined : directIn(paths, path).length,
    folders: all.folders,
    totalFolders: all.totalFolders,
    ignored: all.ignored,
    cut: all.cut,
  };
}

const directIn = (paths: readonly string[], path: string): string[] => {
  const depth = path === "." ? 1 : path.split("/").length + 1;
  return paths.filter((one) => one.split("/").length === depth);
};

/** What a folder does not show, as a sentence. */
const ignoredNote = (ignored: number | undefined, bulleted = false): string =>
  ignored !== undefined && ignored > 0
    ? `${bulleted ? "\n\n" : " "}Left out: ${counted(ignored, "entry", "entries")} that git ignores or that are dependencies (node_modules).`
    : "";

const what = (filter: Filter | undefined, noun: string, count: number): string => {
  if (filter === undefined) return count === 1 ? noun : (plural[noun] ?? `${noun}s`);
  return count === 1
    ? filter.says
        .replace(/^files\b/, "file")
        .replace(/\bfiles( |$)/, "file$1")
        .replace(/ that are tests$/, " that is a test")
    : filter.says;
};

/** How many files, folders or entries. */
export function* count(goal: CountGoal, context: Context): Asking<Finding> {
  const found: Found<Files> = yield* at(goal.place, context, "folder", (path) =>
    filesBelow(path, goal.filter),
  );
  if (!found.ok) return found.finding;
  const { path, note, value } = found;
  const notes = ignoredNote(value.ignored);
  if (
    value.cut &&
    goal.filter !== undefined &&
    value.total === value.paths.length &&
    value.total !== 0 &&
    goal.filter.tests === true
  )
    return {
      text: `${note}At least ${value.total} ${goal.filter.says} in ${placeName(path)}: the listing was too long to see all of it.`,
      reached: false,
      scope: path,
    };
  if (goal.what === "folder") {
    const direct = value.cut ? undefined : directIn(value.folders, path).length;
    const answer = goal.deep === true || direct === undefined ? value.totalFolders : direct;
    const other =
      goal.deep === true ? `${direct ?? "?"} directly in it` : `${value.totalFolders} counting nested ones`;
    const aside = direct === undefined || direct === value.totalFolders ? "" : ` (${other})`;
    return {
      text: `${note}${sentence(placeName(path))} has **${counted(answer, "folder")}**${aside}.${notes}`,
      number: answer,
      scope: path,
      reached: true,
    };
  }
  if (goal.what === "entry") {
    const entries = directIn([...value.paths, ...value.folders], path).length;
    return {
      text: `${note}${sentence(placeName(path))} has **${counted(entries, "entry", "entries")}** directly in it: ${counted(value.direct ?? 0, "file")} and ${counted(directIn(value.folders, path).length, "folder")}.${notes}`,
      number: entries,
      scope: path,
      reached: true,
    };
  }
  const direct = value.direct;
  const answer = goal.deep === false && direct !== undefined ? direct : value.total;
  const aside =
    goal.deep === false
      ? answer === value.total
        ? ""
        : ` directly in it (${value.total} counting subfolders)`
      : direct === undefined || direct === value.total
        ? ""
        : `, counting its subfolders (${direct} directly in it)`;
  const byName = goal.filter?.tests === true ? testsAside(value.paths) : "";
  return {
    text: `${note}${sentence(placeName(path))} has **${answer}** ${what(goal.filter, "file", answer)}${aside}.${byName}${notes}`,
    number: answer,
    items: value.paths,
    scope: path,
    ...(value.paths.length === 1 ? { subject: value.paths[0] as string } : {}),
    reached: true,
  };
}

const testsAside = (paths: readonly string[]): string =>
  paths.length === 0
    ? ""
    : paths.some((path) => testName.test(path))
      ? " I went by names such as `x.test.ts`, `x.spec.ts` or `test_x.py`."
      : " I went by the folders they lie in.";

/** The files, folders or entries themselves. */
export function* list(goal: Extract<Goal, { do: "list" }>, context: Context): Asking<Finding> {
  if (goal.filter === undefined && goal.deep !== true) {
    const found = yield* at(goal.place, context, "folder", (path) => listing(path));
    if (!found.ok) return found.finding;
    const { path, note, value } = found;
    const folders = value.folders.map((one) => `${base(one, path)}/`);
    const files = value.files.map((one) => base(one, path));
    const items = goal.what === "folder" ? folders : goal.what === "file" ? files : [...folders, ...files];
    const total =
      goal.what === "folder"
        ? value.totalFolders
        : goal.what === "file"
          ? value.totalFiles
          : value.totalFiles + value.totalFolders;
    const more =
      goal.what === "file" && folders.length > 0
        ? `There ${value.totalFolders === 1 ? "is" : "are"} also ${counted(value.totalFolders, "folder")}.`
        : "";
    const size =
      goal.what === "entry"
        ? `${counted(value.totalFiles, "file")} and ${counted(value.totalFolders, "folder")}`
        : counted(total, goal.what);
    const text =
      total === 0
        ? `${note}${sentence(placeName(path))} has no ${goal.what === "entry" ? "files or folders" : plural[goal.what]} directly in it. ${more}`
        : `${note}${sentence(placeName(path))} has ${size} directly in it:\n\n${bullets(items.map(code), 100, total)}\n\n${more}`;
    return {
      text: `${text.trimEnd()}${ignoredNote(value.ignored, items.length > 0)}`,
      number: total,
      items,
      yes: total > 0,
      scope: path,
      reached: true,
    };
  }
  const found = yield* at(goal.place, context, "folder", (path) => filesBelow(path, goal.filter));
  if (!found.ok) return found.finding;
  const { path, note, value } = found;
  const folders = goal.what === "file" ? [] : value.folders.map((one) => `${one}/`);
  const files = goal.what === "folder" ? [] : goal.deep === false ? directIn(value.paths, path) : value.paths;
  const items = [...folders, ...files].sort();
  const total =
    goal.what === "folder"
      ? value.totalFolders
      : goal.what === "entry"
        ? value.total + value.totalFolders
        : goal.deep === false
          ? files.length
          : value.total;
  const noun = goal.what === "entry" ? "entry" : goal.what;
  const text =
    total === 0
      ? `${note}No ${what(goal.filter, noun, 2)} in ${placeName(path)}.`
      : `${note}${sentence(placeName(path))} has **${total}** ${what(goal.filter, noun, total)}:\n\n${bullets(items.map(code), 100, total)}`;
  return {
    text: `${text}${ignoredNote(value.ignored, total > 0)}`.trimEnd(),
    number: total,
    items,
    yes: total > 0,
    scope: path,
    ...(items.length === 1 ? { subject: items[0] as string } : {}),
    reached: true,
  };
}

export const base = (path: string, folder: string): string =>
  folder !== "." && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;

/** Whether a name is there, and where. */
export function* find(goal: Extract<Goal, { do: "find" }>, context: Context): Asking<Finding> {
  const found = yield* at(goal.place, context, "folder", (path) =>
    listing(path, {
      recursive: true,
      ...(goal.what === "file" && exactGlob(goal.filter) ? { pattern: `**/${goal.filter.globs[0]}` } : {}),
    }),
  );
  if (!found.ok) return { ...found.finding, yes: false };
  const { path, note, value } = found;
  let hits = passing(goal.what === "folder" ? value.folders : value.files, goal.filter);
  let hint = "";
  if (hits.length === 0 && goal.what === "file") {
    // The same name may be a folder, or lack its ending.
    const all = exactGlob(goal.filter) ? yield* listing(path, { recursive: true }) : found;
    const pool = all.ok ? all.value : value;
    const folders = passing(pool.folders, goal.filter);
    const loose = {
      says: "",
      globs: goal.filter.globs.map((glob) => (/[*?]/.test(glob) ? glob : `${glob}.*`)),
    };
    const wider = [
      ...folders.map((one) => `${one}/`),
      ...passing(pool.files, loose),
      ...passing(pool.files, goal.filter),
    ];
    if (wider.length > 0 && goal.filter.globs.every((glob) => !glob.includes("."))) hits = wider;
    else if (wider.length > 0) hint = ` Near it I see ${wider.slice(0, 5).map(code).join(", ")}.`;
  }
  if (hits.length === 0)
    return {
      text: `${note}There are no ${goal.filter.says} in ${placeName(path)}.${hint}${value.cut ? " The listing was cut, so I did not see all of it." : ""}${ignoredNote(value.ignored)}`,
      number: 0,
      yes: false,
      items: [],
      scope: path,
      reached: true,
    };
  const only = hits.length === 1 ? hits[0] : undefined;
  const text =
    only !== undefined
      ? `${note}There is one: ${code(only)}.`
      : `${note}There are **${hits.length}**:\n\n${bullets(hits.map(code))}`;
  return {
    text,
    number: hits.length,
    yes: true,
    items: hits,
    scope: path,
    ...(only === undefined ? {} : { subject: only }),
    reached: true,
  };
}

const exactGlob = (filter: Filter): boolean =>
  filter.globs.length === 1 &&
  /[A-Z]|\.|\*/.test(filter.globs[0] ?? "") &&
  !/^\*[a-z]+\*$/.test(filter.globs[0] ?? "") &&
  !/^[a-z]+$/.test(filter.globs[0] ?? "");
