// The room of results: what the tools returned, parsed from their text.
//
// Totals come from the tool's own count if it gives one, otherwise from the lines. A reader here never fails: what it
// cannot find is undefined, and the solvers report that.

import { cleanPath } from "./places.ts";

const number = (text: string): number => Number(text.replaceAll(",", ""));

export interface Listing {
  /** Paths as the tool returned them, relative to its root; folders without their slash. */
  files: string[];
  folders: string[];
  totalFiles: number;
  totalFolders: number;
  /** There is more than is shown. */
  cut: boolean;
  /** How many entries were left out because git ignores them. Undefined: the tool does not say. */
  ignored: number | undefined;
}

/** Reads the output of a listing of `path`. */
export function readListing(text: string, path: string): Listing {
  const lines = text.split("\n").map((line) => line.trimEnd());
  const isTotal = (line: string): boolean =>
    /^\(?\[?[\d,]+ (files?|entr(y|ies)|items?)\b/i.test(line.trim()) ||
    /^\(?\[?[\d,]+ (folders?|director(y|ies))\b/i.test(line.trim());
  const told = lines.filter((line) => isTotal(line) || /^\[.*\]$/.test(line.trim()));
  const entries = lines.filter(
    (line) => line.trim() !== "" && !told.includes(line) && !nothing.test(line.trim()),
  );
  const folders: string[] = [];
  const files: string[] = [];
  for (const entry of entries) {
    const bare = entry
      .replace(/^\s*[-*]\s+/, "")
      .replace(/ \((link|no plain file)\)$/, "")
      .replace(/ {2,}.*$/, "");
    if (/ \((link|no plain file)\)$/.test(entry)) continue;
    (bare.endsWith("/") ? folders : files).push(rooted(cleanPath(bare), path));
  }
  const total = told.filter(isTotal).join(" ");
  const fileCount = /([\d,]+) files?\b/i.exec(total)?.[1];
  const folderCount = /([\d,]+) (?:folders?|director(?:y|ies))\b/i.exec(total)?.[1];
  const totalFiles = fileCount === undefined ? files.length : number(fileCount);
  const totalFolders = folderCount === undefined ? folders.length : number(folderCount);
  const ignored = /([\d,]+) (?:git-?)?ignored/i.exec(told.join(" "))?.[1];
  return {
    files,
    folders,
    totalFiles,
    totalFolders,
    cut:
      totalFiles > files.length ||
      totalFolders > folders.length ||
      told.some((line) => /truncated|the first [\d,]+/i.test(line)),
    ignored: ignored === undefined ? undefined : number(ignored),
  };
}

/** What a tool writes instead of an empty list; `empty.ts` is a name. */
const nothing = /^(no files|error:)|^\(?empty( folder| directory)?\)?\.?$/i;

/** Some listings are relative to the folder listed, some to the root. */
function rooted(entry: string, path: string): string {
  if (path === "." || entry === path || entry.startsWith(`${path}/`) || entry.startsWith("/")) return entry;
  return `${path}/${entry}`;
}

export interface FileText {
  lines: string[];
  /** The number of the first line returned, from 1. */
  from: number;
  totalLines: number | undefined;
  totalBytes: number | undefined;
  /** The whole file is here, and no line of it is clipped. */
  whole: boolean;
  /** What the file is if it is not text. */
  binary: string | undefined;
  endsWithNewline: boolean;
}

/** Reads the output of a file read from line `from`. */
export function readText(text: string, from: number): FileText {
  const lines = text.split("\n");
  const isNote = (line: string | undefined): boolean =>
    line !== undefined && /^[[(].*\b(lines?|bytes?|[KMGT]iB)\b.*[\])]$/.test(line.trim());
  let note = "";
  while (lines.length > 0 && (lines.at(-1)?.trim() === "" || isNote(lines.at(-1)))) {
    const last = lines.pop() ?? "";
    if (isNote(last)) {
      note = last;
      break;
    }
  }
  if (note === "" && isNote(text.split("\n")[0])) note = lines.shift() ?? "";
  if (note === "") lines.splice(0, lines.length, ...text.replace(/\n$/, "").split("\n"));
  const newline = note !== "" ? !/no newline at the end/.test(note) : text.endsWith("\n");
  const binary =
    /not shown as text|larger than .* not shown|^\[[^\]]*: (image\/|[\w ]*(archive|data|document|program|database)).*\]$/.test(
      note,
    )
      ? note.replace(/^\[|\]$/g, "")
      : undefined;
  const total = /\bof (?:at least )?([\d,]+) lines?\b/.exec(note)?.[1] ?? /([\d,]+) lines?\b/.exec(note)?.[1];
  const bytes = /([\d,]+) bytes?\b/.exec(note)?.[1];
  const numbered = lines.length > 0 && lines.every((line) => /^\s*\d+(\t|\s*\| ?|→)/.test(line));
  const clean = numbered ? lines.map((line) => line.replace(/^\s*\d+(\t|\s*\| ?|→)/, "")) : lines;
  const totalLines = total === undefined ? undefined : number(total);
  const clipped = /clipped|at least/.test(note);
  return {
    lines: totalLines === 0 ? [] : clean,
    from,
    totalLines: clipped && /at least/.test(note) ? undefined : totalLines,
    totalBytes: bytes === undefined ? undefined : number(bytes),
    whole:
      from === 1 &&
      !clipped &&
      (totalLines === undefined
        ? !/truncated|goes on/.test(note) && text.length < 40_000
        : clean.length >= totalLines || totalLines === 0),
    binary,
    endsWithNewline: newline,
  };
}

export interface Hit {
  path: string;
  line: number;
  text: string;
}

export interface Hits {
  hits: Hit[];
  totalLines: number;
  totalFiles: number;
  /** More lines match than are shown, or shown lines are clipped. */
  cut: boolean;
}

/** Reads the output of a text search. */
export function readHits(text: string): Hits {
  const hits: Hit[] = [];
  let totalLines: number | undefined;
  let totalFiles: number | undefined;
  let cut = false;
  for (const line of text.split("\n")) {
    // A matching line may contain anything, so notes are looked for only among the other lines.
    const hit = /^(.+?):(\d+):\s?(.*)$/.exec(line);
    if (hit !== null) {
      const shown = hit[3] ?? "";
      if (/^\[\.\.\.\] | \[\.\.\.\]$/.test(shown)) cut = true;
      hits.push({ path: cleanPath(hit[1] ?? ""), line: Number(hit[2]), text: shown });
      continue;
    }
    const head = /^\[?\(?([\d,]+) (?:match(?:es|ing lines?)?|lines?)(?: in ([\d,]+) files?)?/i.exec(line);
    if (head !== null && totalLines === undefined) {
      totalLines = number(head[1] ?? "0");
      if (head[2] !== undefined) totalFiles = number(head[2]);
    } else if (/^\[the first /.test(line) || /truncated/i.test(line.slice(0, 40))) cut = true;
  }
  const files = new Set(hits.map((hit) => hit.path)).size;
  return {
    hits,
    totalLines: totalLines ?? hits.length,
    totalFiles: totalFiles ?? files,
    cut: cut || (totalLines ?? 0) > hits.length,
  };
}
