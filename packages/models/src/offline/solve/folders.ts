// The room of folders: what is in one, how much of it, and where a name is.

import type { CountGoal, Filter, Goal } from "../goal.ts";
import { type Asking, type Finding, type Got, listing } from "../plan.ts";
import type { Listing } from "../results.ts";
import { at, type Context, sentence } from "./where.ts";
import { bullets, code, counted, placeName, plural } from "./words.ts";

/** The paths of a listing that match a filter. */
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

/** Matches simple globs (`*`, `?`); ignores case only if the glob has no capitals and no wildcard. */
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

/** A filter's names as one glob, at any depth. */
const globOf = (globs: readonly string[]): string =>
  `**/${globs.length === 1 ? globs[0] : `{${globs.join(",")}}`}`;

/** The same as an argument of a search; none if every file is meant. */
export const globOption = (filter: Filter | undefined): { glob?: string } =>
  filter === undefined || filter.globs.length === 0 ? {} : { glob: globOf(filter.globs) };

/** The files below a path that match a filter. */
export interface Files {
  paths: string[];
  total: number;
  /** False: the listing was cut, and `total` only counts what was seen. */
  exact: boolean;
  folders: string[];
  totalFolders: number;
  ignored: number | undefined;
  cut: boolean;
}

/** Lists the files below a path. The tool itself applies a filter of globs, so that its total is exact however long the list. */
export function* filesBelow(path: string, filter: Filter | undefined): Asking<Got<Files>> {
  const usable =
    filter !== undefined &&
    filter.tests !== true &&
    filter.globs.length > 0 &&
    !filter.globs.some(
      (glob) => /^\*[a-z]+\*$/.test(glob) || (!/[*?]/.test(glob) && glob === glob.toLowerCase()),
    );
  const pattern = usable ? globOf(filter.globs) : undefined;
  const found = yield* listing(path, { recursive: true, ...(pattern === undefined ? {} : { pattern }) });
  if (!found.ok) return found;
  const all = found.value;
  const paths = passing(all.files, filter);
  if (usable && all.totalFiles === 0 && filter.globs.length > 1) {
    // Nothing, or a tool without braces in its globs: one more listing with a plain glob decides.
    const plain = yield* listing(path, { recursive: true, pattern: `**/${filter.globs[0]}` });
    if (plain.ok && plain.value.totalFiles > 0)
      return { ok: true, value: filesOf(plain.value, passing(plain.value.files, filter), true) };
  }
  const counts = filter === undefined || (usable && paths.length === all.files.length);
  return { ok: true, value: filesOf(all, paths, counts) };
}

/** @param counts whether the tool's own total counts these files */
const filesOf = (all: Listing, paths: string[], counts: boolean): Files => ({
  paths,
  total: counts ? all.totalFiles : paths.length,
  exact: counts || !all.cut,
  folders: all.folders,
  totalFolders: all.totalFolders,
  ignored: all.ignored,
  cut: all.cut,
});

/** How much is directly in a folder. */
interface Direct {
  files: number;
  folders: number;
}

/** What is directly in a folder; listed separately if the listing of everything below it was cut. Undefined: unknown. */
function* directOf(path: string, filter: Filter | undefined, below: Files): Asking<Direct | undefined> {
  if (!below.cut)
    return { files: directIn(below.paths, path).length, folders: directIn(below.folders, path).length };
  const listed = yield* listing(path);
  if (!listed.ok) return undefined;
  const { files, totalFiles, totalFolders, cut } = listed.value;
  if (filter === undefined) return { files: totalFiles, folders: totalFolders };
  return cut ? undefined : { files: passing(files, filter).length, folders: totalFolders };
}

const directIn = (paths: readonly string[], path: string): string[] => {
  const depth = path === "." ? 1 : path.split("/").length + 1;
  return paths.filter((one) => one.split("/").length === depth);
};

/** What a folder's listing leaves out, as a sentence. */
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
  const found = yield* at(goal.place, context, "folder", (path) => filesBelow(path, goal.filter));
  if (!found.ok) return found.finding;
  const { path, note, value } = found;
  const { cut, exact, total, paths } = value;
  const wantsDirect = goal.what !== "file" || goal.deep === false;
  const direct = wantsDirect || !cut ? yield* directOf(path, goal.filter, value) : undefined;
  if (!exact && !(goal.deep === false && direct !== undefined))
    return {
      text: `${note}At least ${total} ${what(goal.filter, "file", total)} in ${placeName(path)}: the listing was too long to see all of it.`,
      reached: false,
      scope: path,
    };
  const told =
    goal.what === "folder"
      ? countedFolders(goal, value, direct)
      : goal.what === "entry"
        ? countedEntries(value, direct)
        : countedFiles(goal, value, direct);
  return {
    text: `${note}${sentence(placeName(path))} has ${told.text}${ignoredNote(value.ignored)}`,
    number: told.number,
    ...(goal.what === "file" ? { items: paths } : {}),
    scope: path,
    ...(goal.what === "file" && paths.length === 1 ? { subject: paths[0] as string } : {}),
    reached: true,
  };
}

/** A number, and the words after "has". */
interface Told {
  text: string;
  number: number;
}

function countedFolders({ deep }: CountGoal, { totalFolders }: Files, direct: Direct | undefined): Told {
  if (direct === undefined)
    return { text: `**${counted(totalFolders, "folder")}**, counting nested ones.`, number: totalFolders };
  const number = deep === true ? totalFolders : direct.folders;
  const other = deep === true ? `${direct.folders} directly in it` : `${totalFolders} counting nested ones`;
  const aside = direct.folders === totalFolders ? "" : ` (${other})`;
  return { text: `**${counted(number, "folder")}**${aside}.`, number };
}

function countedEntries({ total, totalFolders }: Files, direct: Direct | undefined): Told {
  const { files, folders } = direct ?? { files: total, folders: totalFolders };
  const where = direct === undefined ? ", counting its subfolders" : " directly in it";
  const number = files + folders;
  const kinds = `${counted(files, "file")} and ${counted(folders, "folder")}`;
  return { text: `**${counted(number, "entry", "entries")}**${where}: ${kinds}.`, number };
}

function countedFiles(
  { deep, filter }: CountGoal,
  { total, paths, exact }: Files,
  direct: Direct | undefined,
): Told {
  const isDirect = deep === false && direct !== undefined;
  const number = isDirect ? direct.files : total;
  const aside =
    direct === undefined
      ? ", counting its subfolders"
      : direct.files === total
        ? ""
        : isDirect
          ? ` directly in it (${exact ? "" : "at least "}${total} counting subfolders)`
          : `, counting its subfolders (${direct.files} directly in it)`;
  const byName = filter?.tests === true ? testsAside(paths) : "";
  return { text: `**${number}** ${what(filter, "file", number)}${aside}.${byName}`, number };
}

const testsAside = (paths: readonly string[]): string =>
  paths.length === 0
    ? ""
    : paths.some((path) => testName.test(path))
      ? " I went by names such as `x.test.ts`, `x.spec.ts` or `test_x.py`."
      : " I went by the folders they lie in.";

type ListGoal = Extract<Goal, { do: "list" }>;

/** The files, folders or entries themselves. */
export function list(goal: ListGoal, context: Context): Asking<Finding> {
  return goal.filter === undefined && goal.deep !== true
    ? listDirect(goal, context)
    : listBelow(goal, context);
}

/** What is directly in a folder. */
function* listDirect(goal: ListGoal, context: Context): Asking<Finding> {
  const found = yield* at(goal.place, context, "folder", (path) => listing(path));
  if (!found.ok) return found.finding;
  const { path, note, value } = found;
  const { totalFiles, totalFolders } = value;
  const folders = value.folders.map((one) => `${base(one, path)}/`);
  const files = value.files.map((one) => base(one, path));
  const items = goal.what === "folder" ? folders : goal.what === "file" ? files : [...folders, ...files];
  const total = totalOf(goal.what, totalFiles, totalFolders);
  const more =
    goal.what === "file" && folders.length > 0
      ? `There ${totalFolders === 1 ? "is" : "are"} also ${counted(totalFolders, "folder")}.`
      : "";
  const size =
    goal.what === "entry"
      ? `${counted(totalFiles, "file")} and ${counted(totalFolders, "folder")}`
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

/** Added if a listing was cut and it is unknown what was left out. */
export const cutNote = "The listing was cut, so I did not see all of it.";

/** What matches a filter below a folder, or everything below it. */
function* listBelow(goal: ListGoal, context: Context): Asking<Finding> {
  const found = yield* at(goal.place, context, "folder", (path) => filesBelow(path, goal.filter));
  if (!found.ok) return found.finding;
  const { path, note, value } = found;
  const isDirect = goal.deep === false;
  const folders = goal.what === "file" ? [] : value.folders.map((one) => `${one}/`);
  const files = goal.what === "folder" ? [] : isDirect ? directIn(value.paths, path) : value.paths;
  const items = [...folders, ...files].sort();
  const total =
    goal.what === "file" && isDirect ? files.length : totalOf(goal.what, value.total, value.totalFolders);
  const unseen = value.cut && (isDirect || !value.exact);
  const text =
    total === 0
      ? `${note}${unseen ? "I see no" : "No"} ${what(goal.filter, goal.what, 2)} in ${placeName(path)}.`
      : `${note}${sentence(placeName(path))} has ${unseen ? "at least " : ""}**${total}** ${what(goal.filter, goal.what, total)}:\n\n${bullets(items.map(code), 100, total)}`;
  const left = unseen ? `${total > 0 ? "\n\n" : " "}${cutNote}` : "";
  return {
    text: `${text}${left}${ignoredNote(value.ignored, total > 0)}`.trimEnd(),
    number: total,
    items,
    yes: total > 0,
    scope: path,
    ...(items.length === 1 ? { subject: items[0] as string } : {}),
    reached: true,
  };
}

const totalOf = (kind: ListGoal["what"], files: number, folders: number): number =>
  kind === "folder" ? folders : kind === "file" ? files : files + folders;

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
  const exact = passing(goal.what === "folder" ? value.folders : value.files, goal.filter);
  const { hits, hint } =
    exact.length === 0 && goal.what === "file"
      ? yield* widened(path, goal.filter, value)
      : { hits: exact, hint: "" };
  if (hits.length === 0)
    return {
      text: `${note}There are no ${goal.filter.says} in ${placeName(path)}.${hint}${value.cut ? ` ${cutNote}` : ""}${ignoredNote(value.ignored)}`,
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

/** If there is no such file: the same name may be a folder, or lack its extension. @param seen what was listed so far */
function* widened(
  path: string,
  filter: Filter,
  seen: Listing,
): Asking<{ hits: readonly string[]; hint: string }> {
  const all = exactGlob(filter) ? yield* listing(path, { recursive: true }) : undefined;
  const { folders, files } = all?.ok === true ? all.value : seen;
  const loose = { says: "", globs: filter.globs.map((glob) => (/[*?]/.test(glob) ? glob : `${glob}.*`)) };
  const wider = [
    ...passing(folders, filter).map((one) => `${one}/`),
    ...passing(files, loose),
    ...passing(files, filter),
  ];
  if (wider.length === 0) return { hits: [], hint: "" };
  if (filter.globs.every((glob) => !glob.includes("."))) return { hits: wider, hint: "" };
  return { hits: [], hint: ` Near it I see ${wider.slice(0, 5).map(code).join(", ")}.` };
}

const exactGlob = (filter: Filter): boolean =>
  filter.globs.length === 1 &&
  /[A-Z]|\.|\*/.test(filter.globs[0] ?? "") &&
  !/^\*[a-z]+\*$/.test(filter.globs[0] ?? "") &&
  !/^[a-z]+$/.test(filter.globs[0] ?? "");
