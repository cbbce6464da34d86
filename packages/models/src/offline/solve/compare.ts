// The room of comparing: two files side by side, two folders by their names.

import type { Goal } from "../goal.ts";
import { type Asking, type Finding, type Got, together, wholeFile } from "../plan.ts";
import type { FileText } from "../results.ts";
import { base, cutNote, type Files, filesBelow } from "./folders.ts";
import { type Context, type Found, open, type Thing } from "./where.ts";
import { bullets, code, counted, fenced } from "./words.ts";

/** What two places have in common, and what not. */
export function* compare(goal: Extract<Goal, { do: "compare" }>, context: Context): Asking<Finding> {
  const [left, right] = (yield* together([open(goal.left, context), open(goal.right, context)])) as [
    Found<Thing>,
    Found<Thing>,
  ];
  if (!left.ok) return left.finding;
  if (!right.ok) return right.finding;
  const note = left.note + right.note;
  if ("folder" in left.value && "folder" in right.value) return yield* folders(left.path, right.path, note);
  if (!("file" in left.value) || !("file" in right.value))
    return {
      text: `${note}${code(left.path)} and ${code(right.path)} cannot be compared: one is a folder, the other a file.`,
      reached: false,
    };
  const [a, b] = (yield* together([all(left.path, left.value.file), all(right.path, right.value.file)])) as [
    FileText,
    FileText,
  ];
  if (a.binary !== undefined || b.binary !== undefined || !a.whole || !b.whole)
    return {
      text: `${note}${sizes(left.path, a)} ${sizes(right.path, b)} I cannot compare them line by line.`,
      reached: false,
      subject: left.path,
    };
  const said = texts(left.path, a, right.path, b);
  return { ...said, text: `${note}${said.text}` };
}

function* all(path: string, opened: FileText): Asking<FileText> {
  if (opened.whole || opened.binary !== undefined) return opened;
  const whole = yield* wholeFile(path);
  return whole.ok ? whole.value : opened;
}

const sizes = (path: string, text: FileText): string =>
  `${code(path)} has ${text.totalLines === undefined ? "an unknown number of lines" : counted(text.totalLines, "line")}${text.totalBytes === undefined ? "" : `, ${counted(text.totalBytes, "byte")}`}.`;

function texts(left: string, a: FileText, right: string, b: FileText): Finding {
  const same =
    a.lines.length === b.lines.length &&
    a.lines.every((line, at) => line === b.lines[at]) &&
    a.totalBytes === b.totalBytes;
  const lead = `${sizes(left, a)} ${sizes(right, b)}`;
  const about = { subject: left, scope: left, reached: true, yes: same };
  if (same) return { ...about, text: `${code(left)} and ${code(right)} are the same. ${lead}`, number: 0 };
  const { common, onlyA, onlyB } = difference(a.lines, b.lines);
  const longer =
    a.lines.length === b.lines.length
      ? "Both are equally long."
      : `${code(a.lines.length > b.lines.length ? left : right)} is longer by ${counted(Math.abs(a.lines.length - b.lines.length), "line")}.`;
  const show = (mark: string, lines: readonly string[]): string[] =>
    lines
      .filter((line) => line.trim() !== "")
      .slice(0, 8)
      .map((line) => `${mark} ${line}`);
  const shown = [...show("-", onlyA), ...show("+", onlyB)];
  const rest = shown.length === 0 ? "" : `\n\nFirst differences (- ${left}, + ${right}):\n\n${fenced(shown)}`;
  return {
    ...about,
    text: `They differ. ${lead} ${longer} ${counted(common, "line")} are common; ${counted(onlyA.length, "line")} only in ${code(left)}, ${counted(onlyB.length, "line")} only in ${code(right)}.${rest}`,
    number: onlyA.length + onlyB.length,
  };
}

/** Lines in common, in order for texts of a moderate size, regardless of order for larger ones. */
function difference(
  a: readonly string[],
  b: readonly string[],
): { common: number; onlyA: string[]; onlyB: string[] } {
  if (a.length * b.length > 4_000_000) {
    const counts = new Map<string, number>();
    for (const line of b) counts.set(line, (counts.get(line) ?? 0) + 1);
    const onlyA = a.filter((line) => {
      const left = counts.get(line) ?? 0;
      if (left > 0) counts.set(line, left - 1);
      return left === 0;
    });
    const onlyB = [...counts].flatMap(([line, count]) => Array.from({ length: count }, () => line));
    return { common: a.length - onlyA.length, onlyA, onlyB };
  }
  const width = b.length + 1;
  const table = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      table[i * width + j] =
        a[i] === b[j]
          ? (table[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(table[(i + 1) * width + j] ?? 0, table[i * width + j + 1] ?? 0);
  const onlyA: string[] = [];
  const onlyB: string[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      i++;
      j++;
    } else if (
      j >= b.length ||
      (i < a.length && (table[(i + 1) * width + j] ?? 0) >= (table[i * width + j + 1] ?? 0))
    )
      onlyA.push(a[i++] ?? "");
    else onlyB.push(b[j++] ?? "");
  }
  return { common: table[0] ?? 0, onlyA, onlyB };
}

function* folders(left: string, right: string, note: string): Asking<Finding> {
  const [a, b] = (yield* together([filesBelow(left, undefined), filesBelow(right, undefined)])) as [
    Got<Files>,
    Got<Files>,
  ];
  if (!a.ok || !b.ok) return { text: `${note}${a.ok ? (b.ok ? "" : b.why) : a.why}.`, reached: false };
  const names = (path: string, paths: readonly string[]): Set<string> =>
    new Set(paths.map((one) => base(one, path)));
  const inA = names(left, a.value.paths);
  const inB = names(right, b.value.paths);
  const onlyA = [...inA].filter((one) => !inB.has(one));
  const onlyB = [...inB].filter((one) => !inA.has(one));
  const whole = !a.value.cut && !b.value.cut;
  const part = (path: string, list: readonly string[]): string =>
    list.length === 0
      ? ""
      : `\n\nOnly in ${code(path)}${whole ? "" : ", as far as I saw"}:\n\n${bullets(list.map(code), 20)}`;
  return {
    text: `${note}${code(left)} has ${counted(a.value.total, "file")}, ${code(right)} ${counted(b.value.total, "file")}, counting subfolders; ${counted(inA.size - onlyA.length, "name")} in both${whole ? "" : " that I saw"}.${part(left, onlyA)}${part(right, onlyB)}\n\nI compared names, not contents.${whole ? "" : ` ${cutNote}`}`,
    number: onlyA.length + onlyB.length,
    scope: left,
    reached: whole,
  };
}
