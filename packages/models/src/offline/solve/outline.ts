// The room of outlines: what files declare, what a file is, what a folder is for.

import { type Declared, declarationsOf, firstParagraph, openingOf } from "../declarations.ts";
import type { Goal, OutlineGoal } from "../goal.ts";
import type { Unit } from "../lexicon.ts";
import { type Asking, type Finding, failureOf, hitsOf, readStep, wholeFile } from "../plan.ts";
import { type FileText, type Listing, readText } from "../results.ts";
import { base, filesBelow, globOption } from "./folders.ts";
import { type Context, open, sentence } from "./where.ts";
import { bullets, clip, code, counted, fenced, humanList, placeName, plural } from "./words.ts";

const howSeen = "I went by the shape of the lines; I do not parse code.";

const noun = (kind: Unit, count: number): string => counted(count, kind, plural[kind]);

/** What a file (or each file of a folder) declares. */
export function* outline(goal: OutlineGoal, context: Context): Asking<Finding> {
  const found = yield* open(goal.place, context);
  if (!found.ok) return found.finding;
  const { path, note } = found;
  if ("folder" in found.value) return yield* outlineFolder(path, note, goal);
  const opened = found.value.file;
  if (opened.binary !== undefined)
    return { text: `${note}${code(path)} is no text: ${opened.binary}.`, subject: path, reached: false };
  const all = opened.whole ? ({ ok: true, value: opened } as const) : yield* wholeFile(path);
  const lines = all.ok ? all.value.lines : opened.lines;
  const cut =
    all.ok && all.value.whole ? "" : ` I saw only the first ${counted(lines.length, "line")} of it.`;
  if (/\.jsonc?$/i.test(path) && goal.only === undefined) return jsonKeys(path, note, lines);
  const declared = declarationsOf(path, lines);
  if (declared === undefined)
    return {
      text: `${note}I know no outline for the kind of file ${code(path)} is.`,
      subject: path,
      scope: path,
      reached: false,
    };
  const list =
    goal.only === undefined
      ? declared.filter(
          (one) =>
            one.kind !== "import" &&
            (one.kind !== "export" || !declared.some((other) => other !== one && other.line === one.line)),
        )
      : declared.filter((one) => one.kind === goal.only);
  const label = goal.only === undefined ? "declarations" : noun(goal.only, list.length);
  const seen = goal.only === "heading" || /\.md$/i.test(path) ? "" : `\n${howSeen}`;
  if (list.length === 0)
    return {
      text: `${note}I see no ${goal.only === undefined ? "declarations" : plural[goal.only]} in ${code(path)}.${seen}${cut}`,
      number: 0,
      yes: false,
      items: [],
      subject: path,
      scope: path,
      reached: true,
    };
  const lead =
    goal.count === true || goal.only !== undefined
      ? `${code(path)} has **${label}**`
      : `${code(path)} declares`;
  return {
    text: `${note}${lead}:\n\n${bullets(list.map(declaredLine), goal.count === true ? 40 : 80)}\n${seen}${cut}`.trimEnd(),
    number: list.length,
    yes: true,
    items: list.map((one) => one.name),
    subject: path,
    scope: path,
    reached: true,
  };
}

const declaredLine = (one: Declared): string =>
  one.kind === "heading"
    ? `${"  ".repeat(one.depth - 1)}${one.name} (line ${one.line})`
    : `${one.kind} ${code(one.name)}, line ${one.line}`;

function jsonKeys(path: string, note: string, lines: readonly string[]): Finding {
  try {
    const data: unknown = JSON.parse(lines.join("\n"));
    const keys = typeof data === "object" && data !== null ? Object.keys(data) : [];
    return {
      text: `${note}${code(path)} has ${counted(keys.length, "key")} at its top: ${humanList(keys.map(code))}.`,
      number: keys.length,
      items: keys,
      subject: path,
      scope: path,
      reached: true,
    };
  } catch {
    return {
      text: `${note}${code(path)} could not be read as JSON.`,
      subject: path,
      scope: path,
      reached: false,
    };
  }
}

const most = 8;

/** What a declaring line contains at least; the forms of the language are checked afterwards. */
const marks: Partial<Record<Unit, string>> = {
  function: "\\b(function|def|fn|func)\\b|=>|\\w\\s*\\([^;]*\\)[^;]*\\{\\s*$",
  class: "\\b(class|struct|enum|trait|object|record|module)\\b",
  interface: "\\binterface\\b",
  type: "\\btype\\b",
  heading: "^#{1,6}\\s",
  export: "^\\s*export\\b",
  import: "^\\s*(import|from|use|#include|\\}\\s*from)\\b",
};

/** All declarations of one kind below a folder, with one search. Undefined: there are too many to show, or there is no search tool. */
function* bySearch(path: string, note: string, goal: OutlineGoal): Asking<Finding | undefined> {
  const mark = goal.only === undefined ? undefined : marks[goal.only];
  if (mark === undefined || goal.filter?.tests === true) return undefined;
  const found = yield* hitsOf(mark, path, globOption(goal.filter));
  if (!found.ok || found.value.cut) return undefined;
  const declared = found.value.hits.flatMap((hit) =>
    (declarationsOf(hit.path, [hit.text]) ?? [])
      .filter((one) => one.kind === goal.only)
      .map((one) => ({ ...one, line: hit.line, path: hit.path })),
  );
  const label = noun(goal.only as Unit, declared.length);
  const lines = declared.map((one) => `${code(one.name)}, ${code(`${base(one.path, path)}:${one.line}`)}`);
  return {
    text:
      declared.length === 0
        ? `${note}I see no ${plural[goal.only as Unit]} in ${placeName(path)}. ${howSeen}`
        : `${note}${sentence(placeName(path))} has **${label}**:\n\n${bullets(lines, 60)}\n\n${howSeen}`,
    number: declared.length,
    yes: declared.length > 0,
    items: declared.map((one) => one.name),
    scope: path,
    reached: true,
  };
}

function* outlineFolder(path: string, note: string, goal: OutlineGoal): Asking<Finding> {
  const searched = yield* bySearch(path, note, goal);
  if (searched !== undefined) return searched;
  const found = yield* filesBelow(path, goal.filter);
  if (!found.ok) return { text: `${sentence(found.why)}.`, scope: path, reached: false };
  const known = found.value.paths.filter(
    (one) =>
      declarationsOf(one, []) !== undefined &&
      (goal.only !== "heading") === !/\.(md|markdown|mdx)$/i.test(one),
  );
  const chosen = known.slice(0, most);
  if (chosen.length === 0)
    return {
      text: `${note}I see no files in ${placeName(path)} that I could outline.`,
      scope: path,
      reached: true,
      number: 0,
    };
  const outcomes = yield chosen.map((one) => readStep(one));
  let total = 0;
  let whole = known.length === chosen.length;
  const lines: string[] = [];
  outcomes.forEach((outcome, at) => {
    const file = chosen[at] ?? "";
    if (failureOf(outcome, "") !== undefined) {
      whole = false;
      return;
    }
    const text = readText(outcome.text, 1);
    if (!text.whole) whole = false;
    const declared = (declarationsOf(file, text.lines) ?? []).filter((one) =>
      goal.only === undefined ? one.kind !== "import" && one.kind !== "export" : one.kind === goal.only,
    );
    total += declared.length;
    const names = declared.map((one) => code(one.name));
    lines.push(
      `${code(base(file, path))}: ${declared.length === 0 ? "none" : `${goal.count === true ? `${declared.length}` : clip(names.join(", "), 400)}`}`,
    );
  });
  const label = goal.only === undefined ? `${total} declarations` : noun(goal.only, total);
  const extent = whole
    ? ""
    : ` That is from ${counted(chosen.length, "file")} of ${known.length}, so there may be more.`;
  return {
    text: `${note}${sentence(placeName(path))} has ${whole ? "" : "at least "}**${label}**:\n\n${bullets(lines)}\n\n${howSeen}${extent}`,
    number: total,
    yes: total > 0,
    scope: path,
    reached: whole,
  };
}

/** What a file is: how large it is, how it opens, what it declares. Reported, not judged. */
export function* describe(goal: Extract<Goal, { do: "describe" }>, context: Context): Asking<Finding> {
  const found = yield* open(goal.place, context);
  if (!found.ok) return found.finding;
  const { path, note, value } = found;
  if ("folder" in value) return yield* tell(path, note, value.folder, true);
  const file = value.file;
  if (file.binary !== undefined)
    return {
      text: `${note}${code(path)} is no text: ${file.binary}.`,
      subject: path,
      scope: path,
      reached: true,
    };
  const size = [
    file.totalLines === undefined ? "" : counted(file.totalLines, "line"),
    file.totalBytes === undefined ? "" : counted(file.totalBytes, "byte"),
  ]
    .filter((one) => one !== "")
    .join(", ");
  if (/(^|\/)package\.json$/.test(path))
    return {
      text: `${note}${packageText(path, file.lines) ?? `${code(path)} (${size}) is not whole JSON.`}`,
      subject: path,
      scope: path,
      reached: true,
    };
  if (/\.json$/i.test(path) && file.whole) return { ...jsonKeys(path, note, file.lines), subject: path };
  const opening = clip(openingOf(path, file.lines), 600);
  const declared = (declarationsOf(path, file.lines) ?? []).filter(
    (one) => one.kind !== "import" && one.kind !== "export" && (one.kind !== "heading" || one.depth <= 2),
  );
  const opens = opening === "" ? "" : ` It opens so: “${opening}”`;
  const has =
    declared.length === 0
      ? ""
      : declared[0]?.kind === "heading"
        ? ` Its headings: ${humanList(declared.slice(0, 12).map((one) => `“${one.name}”`))}.`
        : ` It declares ${humanList(declared.slice(0, 15).map((one) => `${one.kind} ${code(one.name)}`))}${declared.length > 15 ? ` and ${declared.length - 15} more` : ""}.`;
  const rest =
    opening === "" && declared.length === 0 && file.lines.length > 0
      ? `\n\n${fenced(file.lines.slice(0, 10))}`
      : "";
  return {
    text: `${note}${code(path)} has ${size || "no known size"}.${opens}${has}${rest}`,
    subject: path,
    scope: path,
    reached: true,
    ...(file.totalLines === undefined ? {} : { number: file.totalLines }),
  };
}

/** What is in a folder and, where its own files say so, what it is for. */
export function* overview(goal: Extract<Goal, { do: "overview" }>, context: Context): Asking<Finding> {
  const found = yield* open(goal.place, context);
  if (!found.ok) return found.finding;
  if ("file" in found.value) return yield* describe({ do: "describe", place: { path: found.path } }, context);
  return yield* tell(found.path, found.note, found.value.folder, goal.purpose);
}

const manifests =
  /^(package\.json|pyproject\.toml|Cargo\.toml|go\.mod|composer\.json|Gemfile|pom\.xml|setup\.py|deno\.json)$/i;

function* tell(path: string, note: string, listed: Listing, purpose: boolean): Asking<Finding> {
  const names = listed.files.map((one) => base(one, path));
  const readme = names.find((one) => /^readme(\.(md|markdown|txt|rst))?$/i.test(one));
  const manifest = names.find((one) => manifests.test(one));
  const fallback =
    readme === undefined && manifest === undefined
      ? (names.find((one) => /^(index|main|mod|lib|app)\.[a-z]+$/i.test(one)) ??
        names.find((one) => /\.(md|txt)$/i.test(one)) ??
        (purpose ? names.find((one) => !/^\./.test(one)) : undefined))
      : undefined;
  const chosen = [readme, manifest, fallback]
    .filter((one) => one !== undefined)
    .map((one) => (path === "." ? one : `${path}/${one}`));
  const outcomes = chosen.length === 0 ? [] : yield chosen.map((one) => readStep(one, { limit: 200 }));
  const total = listed.totalFiles + listed.totalFolders;
  const entries = [...listed.folders.map((one) => `${base(one, path)}/`), ...names];
  const inside =
    total === 0
      ? `${sentence(placeName(path))} is empty${listed.ignored ? ` but for ${counted(listed.ignored, "ignored entry", "ignored entries")}` : ""}.`
      : `${sentence(placeName(path))} has ${counted(listed.totalFiles, "file")} and ${counted(listed.totalFolders, "folder")} directly in it:\n\n${bullets(entries.map(code), 40, total)}`;
  const told: string[] = [];
  const troubles: string[] = [];
  outcomes.forEach((outcome, at) => {
    const file = chosen[at] ?? "";
    const why = failureOf(outcome, `reading ${code(file)}`);
    if (why !== undefined) troubles.push(`${sentence(why.replace(/^Error:\s*/i, "").replace(/\.$/, ""))}.`);
    else told.push(purposeOf(file, readText(outcome.text, 1)));
  });
  const says = told.filter((one) => one !== "").join("\n\n");
  const unsaid =
    says === "" && purpose && total > 0 ? "What it is for, none of its own files that I read says." : "";
  const left =
    listed.ignored === undefined || listed.ignored === 0
      ? ""
      : `Left out: ${counted(listed.ignored, "entry", "entries")} that git ignores or that are dependencies (node_modules).`;
  return {
    text: [`${note}${inside}`, says, unsaid, ...troubles, left].filter((one) => one !== "").join("\n\n"),
    items: entries,
    number: total,
    scope: path,
    reached: troubles.length === 0,
  };
}

function purposeOf(file: string, text: FileText): string {
  if (/package\.json$/.test(file)) return packageText(file, text.lines) ?? "";
  if (/\.(toml|xml|mod)$|Gemfile$/i.test(file)) {
    const said = text.lines
      .filter((line) => /^\s*(name|description|version|module)\b/.test(line))
      .slice(0, 4);
    return said.length === 0
      ? ""
      : `${code(file)} says: ${said.map((line) => code(line.trim())).join(", ")}.`;
  }
  if (/readme/i.test(file)) {
    const title = text.lines.find((line) => /^#\s+/.test(line))?.replace(/^#\s+/, "");
    const paragraph = clip(firstParagraph(text.lines), 700);
    const sections = (declarationsOf("x.md", text.lines) ?? [])
      .filter((one) => one.depth === 2)
      .map((one) => `“${one.name}”`);
    const parts = [
      title === undefined ? "" : `It is headed “${title}”.`,
      paragraph === "" ? "" : `It says: “${paragraph}”`,
      sections.length === 0 ? "" : `Its sections: ${humanList(sections.slice(0, 12))}.`,
    ].filter((one) => one !== "");
    return parts.length === 0 ? "" : `${code(file)} tells what this is for. ${parts.join(" ")}`;
  }
  const opening = clip(openingOf(file, text.lines), 500);
  return opening === "" ? "" : `${code(file)} opens so: “${opening}”`;
}

function packageText(path: string, lines: readonly string[]): string | undefined {
  let data: Record<string, unknown>;
  try {
    data = JSON.parse(lines.join("\n")) as Record<string, unknown>;
  } catch {
    return undefined;
  }
  if (typeof data !== "object" || data === null) return undefined;
  const keys = (value: unknown): string[] =>
    typeof value === "object" && value !== null ? Object.keys(value) : [];
  const name =
    typeof data.name === "string"
      ? ` names the package ${code(data.name)}${typeof data.version === "string" ? `, version ${data.version}` : ""}`
      : " has no name";
  const about = typeof data.description === "string" ? `: “${data.description}”` : "";
  const scripts = keys(data.scripts);
  const dependencies = keys(data.dependencies);
  return `${code(path)}${name}${about}.${scripts.length === 0 ? "" : ` Its scripts: ${scripts.slice(0, 12).map(code).join(", ")}.`}${dependencies.length === 0 ? "" : ` It depends on ${dependencies.slice(0, 12).map(code).join(", ")}.`}`;
}
