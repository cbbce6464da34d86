// The room of the reference's pages: a package's exports as Markdown, one page per package, grouped by source file, each
// group with that file's head comment.

import { basename, join } from "node:path";
import { Anchors } from "../docs/pages.ts";
import { packagesInOrder } from "../packages.ts";
import { type Exported, exportsOf, ruleOf } from "./exports.ts";

export interface ReferencePage {
  /** Of the package. */
  name: string;
  /** Relative to the repository. */
  path: string;
  file: string;
  text: string;
  exports: Exported[];
}

/** A package with more exports than this has a separate page for each larger folder of its sources. */
const pageful = 200;
const few = 5;

/** Every package's pages. */
export function referencePages(): ReferencePage[] {
  return packagesInOrder().flatMap((one) => {
    const exports = exportsOf(one);
    const parts = exports.length > pageful ? partsOf(exports) : new Map([["", exports]]);
    const short = basename(one.folder);
    const files = [...parts.keys()].sort().map((part) => ({ part, file: fileOf(short, part) }));
    return files.map(({ part, file }) => {
      const own = parts.get(part) ?? [];
      const text = [
        `# \`${one.name}\`${part === "" ? "" : `: ${part}`}`,
        "",
        ...(part === "" ? [one.manifest.description ?? "", ""] : []),
        "Made from the sources by `npm run -s reference`.",
        "",
        ...beside(files, part),
        ...body(one.name, join(one.folder, "src"), own),
      ];
      const path = `docs/reference/${file}`;
      return { name: one.name, path, file, text: `${text.join("\n").trimEnd()}\n`, exports: own };
    });
  });
}

const fileOf = (short: string, part: string): string => `${part === "" ? short : `${short}-${part}`}.md`;

/** Exports by the folder of their sources (with the file of the same name beside it); not for other files and small folders. */
function partsOf(exports: readonly Exported[]): Map<string, Exported[]> {
  const inFolders = exports.flatMap(({ room }) => (room.includes("/") ? room.split("/")[0] : []));
  const folderOf = ({ room }: Exported): string =>
    inFolders.find((folder) => room === `${folder}.ts` || room.startsWith(`${folder}/`)) ?? "";
  const folders = grouped(exports, folderOf);
  const isPart = (folder: string): boolean => (folders.get(folder)?.length ?? 0) > few;
  return grouped(exports, (one) => (isPart(folderOf(one)) ? folderOf(one) : ""));
}

/** Links to the package's other pages. */
function beside(files: readonly { part: string; file: string }[], here: string): string[] {
  const others = files.filter(({ part }) => part !== here);
  if (others.length === 0) return [];
  const links = others.map(({ part, file }) => `[${part === "" ? "the face" : part}](${file})`);
  return [`The package's other pages: ${links.join(", ")}.`, ""];
}

function body(name: string, src: string, exports: readonly Exported[]): string[] {
  const rooms = grouped(exports, (one) => one.room);
  const ordered = [...rooms].sort(([a], [b]) => depth(a) - depth(b) || a.localeCompare(b));
  const anchors = new Anchors();
  const sections = ordered.map(([room, all]) => {
    anchors.next(room);
    return { room, all: all.map((one) => ({ ...one, anchor: anchors.next(one.name) })) };
  });
  return [
    ...sections.map(
      ({ room, all }) =>
        `- **${room.replace(/\.ts$/, "")}**: ${all.map((one) => `[\`${one.name}\`](#${one.anchor})`).join(", ")}`,
    ),
    "",
    ...sections.flatMap(({ room, all }) => [
      `## ${room}`,
      "",
      ...quoted(ruleOf(join(src, room))),
      ...all.flatMap((one) => section(one, name)),
    ]),
  ];
}

function section(one: Exported, name: string): string[] {
  return [
    `### ${one.name}`,
    "",
    ...(one.entry === name ? [] : [`From \`${one.entry}\`.`, ""]),
    ...(one.doc === "" ? [] : [docText(one.doc), ""]),
    "```ts",
    one.signature,
    "```",
    "",
  ];
}

/** A docstring as Markdown: its tags become a list. */
function docText(doc: string): string {
  const [about = "", ...tags] = doc.split(/^@(?=\w)/m);
  const items = tags.map((tag) => {
    const [, word = "", rest = ""] =
      /^(\w+)\s*([\s\S]*)$/.exec(tag.replaceAll(/\s*\n\s*/g, " ").trim()) ?? [];
    const [, which = "", what = ""] = /^(\S+)\s*(.*)$/.exec(rest) ?? [];
    if (word === "param") return `- \`${which}\`: ${escaped(what)}`;
    return `- *${word}*: ${escaped(rest)}`;
  });
  return [escaped(about.trim()), ...(items.length === 0 ? [] : ["", ...items])].join("\n").trim();
}

const quoted = (text: string): string[] =>
  text === "" ? [] : [...text.split("\n").map((line) => `> ${escaped(line)}`.trimEnd()), ""];

/** Escapes angle brackets and braces outside of code. */
const escaped = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((piece, at) =>
      at % 2 === 1
        ? piece
        : piece
            .replaceAll("<", "&lt;")
            .replaceAll("{{", "&#123;&#123;")
            .replaceAll(/(?<=\w)\*|\*(?=\w)/g, "\\*"),
    )
    .join("");

function grouped(exports: readonly Exported[], by: (one: Exported) => string): Map<string, Exported[]> {
  const groups = new Map<string, Exported[]>();
  for (const one of exports) groups.set(by(one), [...(groups.get(by(one)) ?? []), one]);
  return groups;
}

const depth = (room: string): number => (room.includes("/") ? 1 : 0);
