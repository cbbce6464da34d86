// The room of texts: reading files, measuring them, and finding the longest.

import type { Goal, MeasureGoal, Range } from "../goal.ts";
import {
  type Asking,
  type Finding,
  failureOf,
  type Got,
  head,
  hitsOf,
  readStep,
  wholeFile,
} from "../plan.ts";
import { type FileText, readText } from "../results.ts";
import { filesBelow, globOption } from "./folders.ts";
import { at, type Context, open, pathOf, sentence } from "./where.ts";
import { code, counted, fenced, humanList, placeName, plural } from "./words.ts";

/** A file, or some lines of it. */
export function* read(goal: Extract<Goal, { do: "read" }>, context: Context): Asking<Finding> {
  const range = goal.range;
  const found = yield* at(goal.place, context, "file", (path) => rangeOf(path, range));
  if (!found.ok) return found.finding;
  const { path, note, value } = found;
  if (value.binary !== undefined)
    return {
      text: `${note}${code(path)} is no text: ${value.binary}.`,
      subject: path,
      scope: path,
      reached: true,
    };
  const total = value.totalLines;
  const size = total === undefined ? "" : ` of ${total}`;
  if (value.lines.length === 0)
    return { text: `${note}${code(path)} is empty.`, subject: path, scope: path, number: 0, reached: true };
  const limit = range === undefined ? 200 : 1000;
  const shown = value.lines.slice(0, limit);
  const last = value.from + shown.length - 1;
  const all = value.from === 1 && total !== undefined && last >= total;
  const lead = all
    ? `${code(path)} (${counted(total ?? shown.length, "line")}):`
    : shown.length === 1
      ? `Line ${value.from}${size} of ${code(path)}:`.replace(`${size} of`, ` of`)
      : `Lines ${value.from} to ${last}${size} in ${code(path)}:`;
  const more =
    range === undefined && !all
      ? `\n\nThat is not all of it${total === undefined ? "" : `: ${counted(total - last, "line")} more`}. Ask for lines ${last + 1} to ${last + limit} to go on.`
      : range !== undefined && !("last" in range) && total !== undefined && range.to > total
        ? `\n\nThe file ends at line ${total}.`
        : "";
  return {
    text: `${note}${lead}\n\n${fenced(shown)}${more}`,
    items: shown,
    subject: path,
    scope: path,
    reached: true,
    ...(total === undefined ? {} : { number: total }),
  };
}

function* rangeOf(path: string, range: Range | undefined): Asking<Got<FileText>> {
  if (range === undefined) return yield* head(path);
  if (!("last" in range)) {
    const from = Math.max(1, Math.min(range.from, range.to));
    const limit = Math.abs(range.to - range.from) + 1;
    const part = yield* head(path, { ...(from === 1 ? {} : { offset: from }), limit });
    return part.ok ? { ok: true, value: { ...part.value, lines: part.value.lines.slice(0, limit) } } : part;
  }
  const size = yield* head(path, { limit: 1 });
  if (!size.ok || size.value.totalLines === undefined) return size;
  const from = Math.max(1, size.value.totalLines - range.last + 1);
  return yield* head(path, { offset: from, limit: range.last });
}

/** Lines, words, characters or bytes of a file, or of all files below a folder. */
export function* measure(goal: MeasureGoal, context: Context): Asking<Finding> {
  const { unit, filter } = goal;
  if (filter !== undefined)
    return unit === "line"
      ? yield* folderLines(pathOf(goal.place, context, "folder"), "", goal)
      : { text: `I count ${plural[unit]} of single files only, not of many at once.`, reached: false };
  const sizeOnly = unit === "line" || unit === "byte";
  const found = yield* open(goal.place, context, sizeOnly ? { limit: 1 } : {});
  if (!found.ok) return found.finding;
  const { path, note, value } = found;
  if ("file" in value) return yield* fileSize(path, note, unit, value.file);
  if (unit === "line") return yield* folderLines(path, note, goal);
  return {
    text: `${code(path)} is a folder: I count ${plural[unit]} of single files only. Ask me for its files, or for its lines.`,
    scope: path,
    reached: false,
  };
}

function* fileSize(path: string, note: string, unit: MeasureGoal["unit"], file: FileText): Asking<Finding> {
  const measured = yield* measureFile(path, unit, file);
  if (typeof measured === "string")
    return { text: `${note}${measured}`, subject: path, scope: path, reached: false };
  const lines = unit === "byte" ? file.totalLines : undefined;
  const aside = lines === undefined ? "" : ` (${counted(lines, "line")})`;
  return {
    text: `${note}${code(path)} has **${counted(measured, unit)}**${aside}.`,
    number: measured,
    subject: path,
    scope: path,
    reached: true,
  };
}

function* folderLines(path: string, note: string, goal: MeasureGoal): Asking<Finding> {
  const glob = globOption(goal.filter);
  if (goal.filter?.tests === true)
    return { text: "I count lines of all files of a kind, but not of test files alone.", reached: false };
  // Every line matches `^`, so the search's own total is the number of lines, however many there are.
  const found = yield* hitsOf("^", path, glob);
  if (!found.ok)
    return { text: `${sentence(found.why.replace(/^Error:\s*/i, ""))}.`, scope: path, reached: false };
  const { totalLines, totalFiles } = found.value;
  const kind =
    goal.filter === undefined ? counted(totalFiles, "text file") : `${totalFiles} ${goal.filter.says}`;
  return {
    text: `${note}${sentence(placeName(path))} has **${counted(totalLines, "line")}** in ${kind}, counting subfolders. Files that git ignores and binary files are not counted.`,
    number: totalLines,
    scope: path,
    reached: true,
  };
}

function* measureFile(path: string, unit: MeasureGoal["unit"], opened: FileText): Asking<number | string> {
  if (opened.binary !== undefined && unit !== "byte") return `${code(path)} is no text: ${opened.binary}.`;
  if (unit === "line" && opened.totalLines !== undefined) return opened.totalLines;
  if (unit === "byte" && opened.totalBytes !== undefined) return opened.totalBytes;
  if (unit === "byte") return `the read tool does not tell the size of ${code(path)}.`;
  const all =
    opened.whole && unit !== "line" ? ({ ok: true, value: opened } as const) : yield* wholeFile(path);
  if (!all.ok) return `${sentence(all.why)}.`;
  if (!all.value.whole)
    return `${code(path)} is too long, or its lines are, for me to count all of its ${plural[unit]}: I saw ${counted(all.value.lines.length, "line")} of ${all.value.totalLines ?? "more"}.`;
  const text =
    all.value.lines.join("\n") + (all.value.endsWithNewline && all.value.lines.length > 0 ? "\n" : "");
  if (unit === "word") return text.split(/\s+/).filter((word) => word !== "").length;
  return unit === "character" ? [...text].length : all.value.lines.length;
}

const maxMeasured = 24;

/** A file with its size. */
interface Sized {
  path: string;
  lines: number | undefined;
  bytes: number | undefined;
}

type ExtremeGoal = Extract<Goal, { do: "extreme" }>;

/** The longest, largest, shortest or smallest of the files below a folder. */
export function* extreme(goal: ExtremeGoal, context: Context): Asking<Finding> {
  const found = yield* at(goal.place, context, "folder", (path) => filesBelow(path, goal.filter));
  if (!found.ok) return found.finding;
  const { path, note, value } = found;
  if (value.paths.length === 0)
    return {
      text: `${note}There are no ${goal.filter?.says ?? "files"} in ${placeName(path)}.`,
      scope: path,
      reached: true,
    };
  const { sizes, failed } = yield* sizesOf(value.paths.slice(0, maxMeasured));
  const measured = sizes
    .filter((one) => sizeIn(one, goal) !== undefined)
    .sort((a, b) => ((sizeIn(b, goal) ?? 0) - (sizeIn(a, goal) ?? 0)) * (goal.most ? 1 : -1));
  const first = measured[0];
  if (first === undefined)
    return {
      text: `${sentence(placeName(path))} has ${counted(value.total, "file")}, but I could not measure any of them${failed === "" ? "" : `: ${failed}`}.`,
      scope: path,
      reached: false,
    };
  return {
    text: `${note}${extremeText(goal, measured, first, path, value.total)}`,
    number: sizeIn(first, goal) ?? 0,
    items: measured.map((one) => one.path),
    subject: first.path,
    scope: path,
    reached: measured.length === value.total,
  };
}

function* sizesOf(paths: readonly string[]): Asking<{ sizes: Sized[]; failed: string }> {
  const outcomes = yield paths.map((one) => readStep(one, { limit: 1 }));
  const sizes: Sized[] = [];
  let failed = "";
  outcomes.forEach((outcome, index) => {
    const path = paths[index] ?? "";
    const why = failureOf(outcome, `reading ${code(path)}`);
    if (why !== undefined) {
      failed = why;
      return;
    }
    const { binary, totalLines, totalBytes } = readText(outcome.text, 1);
    sizes.push({ path, lines: binary === undefined ? totalLines : undefined, bytes: totalBytes });
  });
  return { sizes, failed };
}

const sizeIn = ({ lines, bytes }: Sized, { unit }: ExtremeGoal): number | undefined =>
  unit === "line" ? lines : bytes;

function amountOf({ lines, bytes }: Sized, { unit }: ExtremeGoal): string {
  if (unit === "line") return counted(lines ?? 0, "line");
  return `${counted(bytes ?? 0, "byte")}${lines === undefined ? "" : `, ${counted(lines, "line")}`}`;
}

/** The winner, what ties with it, what comes next, and how far the search reached. */
function extremeText(
  goal: ExtremeGoal,
  measured: readonly Sized[],
  first: Sized,
  path: string,
  total: number,
): string {
  const word =
    goal.unit === "line" ? (goal.most ? "longest" : "shortest") : goal.most ? "largest" : "smallest";
  const whole = measured.length === total;
  const ties = measured.filter((one) => sizeIn(one, goal) === sizeIn(first, goal));
  const among = `${whole ? "" : " of those I measured"} in ${placeName(path)}`;
  const lead =
    ties.length > 1 && ties.length < 6
      ? `The ${word} files${among} are ${humanList(ties.map((one) => code(one.path)))}, each with **${amountOf(first, goal)}**.`
      : `The ${word} file${among} is **${code(first.path)}** with ${amountOf(first, goal)}.`;
  const next = measured.slice(ties.length, ties.length + 2);
  const then =
    next.length === 0
      ? ""
      : ` After ${ties.length > 1 ? "them" : "it"} ${next.length === 1 ? "comes" : "come"} ${humanList(next.map((one) => `${code(one.path)} (${amountOf(one, goal)})`))}.`;
  const extent = whole
    ? ""
    : ` I measured only ${measured.length} of the ${total} files there (the read tool tells sizes one file at a time, and I keep the calls of a task few), so a file I did not open may be ${goal.most ? "larger" : "smaller"}; a narrower folder would settle it.`;
  return `${lead}${then}${extent}`;
}
