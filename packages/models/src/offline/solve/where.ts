// The room of where: a place in the task becomes an existing path, or an answer that says that it does not exist.

import type { JsonObject } from "@rondo/core";
import type { Place } from "../goal.ts";
import { isFileName } from "../places.ts";
import { type Asking, type Finding, type Got, head, listing } from "../plan.ts";
import type { FileText, Listing } from "../results.ts";
import { code, humanList } from "./words.ts";

/** What "it" means: the file mentioned last, and the folder. */
export interface Context {
  subject: string | undefined;
  scope: string | undefined;
}

/** The path a place means before anything was looked up. */
export const pathOf = (place: Place, context: Context, wants: "file" | "folder"): string => {
  if (place.it !== true) return place.path;
  return (wants === "file" ? (context.subject ?? context.scope) : (context.scope ?? context.subject)) ?? ".";
};

export type Found<T> = { ok: true; path: string; note: string; value: T } | { ok: false; finding: Finding };

/** Does something with a place; if it does not exist, looks for its name below and tries the one that fits. */
export function* at<T>(
  place: Place,
  context: Context,
  wants: "file" | "folder",
  act: (path: string) => Asking<Got<T>>,
): Asking<Found<T>> {
  const path = pathOf(place, context, wants);
  const first = yield* act(path);
  if (first.ok) return { ok: true, path, note: "", value: first.value };
  if (first.missing)
    return { ok: false, finding: { text: `${sentence(first.why)}.`, reached: false, scope: path } };
  const near = yield* nearTo(path, wants);
  const only = near.exact.length === 1 ? near.exact[0] : undefined;
  if (only !== undefined && only !== path) {
    const second = yield* act(only);
    if (second.ok)
      return {
        ok: true,
        path: only,
        note: `(${code(path)} is not there as such; I took ${code(only)}.) `,
        value: second.value,
      };
  }
  return { ok: false, finding: { text: missingText(path, first.why, near), reached: false, scope: path } };
}

interface Near {
  /** Same name elsewhere. */
  exact: string[];
  similar: string[];
}

/** Paths with the same name, or nearly, from a real listing. */
function* nearTo(path: string, wants: "file" | "folder"): Asking<Near> {
  const slash = path.lastIndexOf("/");
  const name = slash < 0 ? path : path.slice(slash + 1);
  if (name === "" || /^\.+$/.test(name) || path.startsWith("/") || path.startsWith(".."))
    return { exact: [], similar: [] };
  const all = yield* listing(".", { recursive: true });
  if (!all.ok) return { exact: [], similar: [] };
  const pool =
    wants === "folder"
      ? [...all.value.folders, ...all.value.files]
      : [...all.value.files, ...all.value.folders];
  const last = (one: string): string => (one.split("/").at(-1) ?? one).toLowerCase();
  const stem = (one: string): string => one.replace(/\.[^.]+$/, "");
  const wanted = name.toLowerCase();
  const same = pool.filter(
    (one) =>
      last(one) === wanted ||
      (isReadme(wanted) && isReadme(last(one))) ||
      (!wanted.includes(".") && wants === "file" && stem(last(one)) === wanted),
  );
  // A path with folders in it means one file: the same name elsewhere is another file, which can be suggested but not used.
  const exact =
    slash < 0
      ? shallowest(same)
      : same.filter((one) => one.toLowerCase() === path.toLowerCase() || one.endsWith(`/${path}`));
  const similar = [
    ...new Set([...same, ...pool.filter((one) => close(stem(last(one)), stem(wanted)))]),
  ].filter((one) => !exact.includes(one));
  return { exact, similar: similar.slice(0, 5) };
}

const isReadme = (name: string): boolean => /^readme(\.\w+)?$/.test(name);

function shallowest(paths: readonly string[]): string[] {
  const depth = (path: string): number => path.split("/").length;
  const least = Math.min(...paths.map(depth));
  const top = paths.filter((path) => depth(path) === least);
  return top.length === 1 ? top : [...paths];
}

function close(a: string, b: string): boolean {
  if (a === b) return true;
  if (Math.min(a.length, b.length) >= 3 && (a.startsWith(b) || b.startsWith(a))) return true;
  return (
    a.length > 3 &&
    b.length > 3 &&
    distance(a, b) <= Math.max(1, Math.floor(Math.max(a.length, b.length) / 4))
  );
}

/** Edit distance, counting two swapped letters as one edit; bounded by the lengths of file names. */
function distance(a: string, b: string): number {
  if (a.length > 60 || b.length > 60) return 99;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const step = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
      );
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next.push(swapped ? Math.min(step, (before[j - 2] ?? 0) + 1) : step);
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 99;
}

function missingText(path: string, why: string, near: Near): string {
  const offers = [...near.exact, ...near.similar].filter((one) => one !== path);
  const said = why.replace(/^Error:\s*/i, "");
  const gone = /not found|no such|does not exist|enoent|not exist/i.test(said);
  const lead = gone
    ? `There is no ${code(path)} here.`
    : `${code(path)} could not be read: ${said.replace(/\.$/, "")}.`;
  return offers.length === 0 ? lead : `${lead} Near it I see ${humanList(offers.map(code))}.`;
}

export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Either the text of a file or the listing of a folder, depending on what the place is. */
export type Thing = { file: FileText } | { folder: Listing };

/** @param more further arguments of the read, e.g. a limit if only the size is needed */
export const open = (place: Place, context: Context, more: JsonObject = {}): Asking<Found<Thing>> =>
  at<Thing>(
    place,
    context,
    place.it === true || isFileName(place.path) ? "file" : "folder",
    function* (path) {
      const readFirst = isFileName(path);
      const first: Got<Thing> = readFirst ? asFile(yield* head(path, more)) : asFolder(yield* listing(path));
      if (first.ok || first.missing || /not found|no such|does not exist/i.test(first.why)) return first;
      const second: Got<Thing> = readFirst ? asFolder(yield* listing(path)) : asFile(yield* head(path, more));
      return second.ok ? second : first;
    },
  );

const asFile = (found: Got<FileText>): Got<Thing> =>
  found.ok ? { ok: true, value: { file: found.value } } : found;
const asFolder = (found: Got<Listing>): Got<Thing> =>
  found.ok ? { ok: true, value: { folder: found.value } } : found;
