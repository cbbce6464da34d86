// The room of the documentation's pages: which there are, what runs in them, and where their links lead.
//
// A page is a Markdown file of the repository. Its blocks are found by their fence: `ts` is type-checked and run,
// `ts types-only` is type-checked, `ts not-run` is shown as it is: another library's side of a page on migrating.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../packages.ts";

export interface Page {
  /** From the root of the repository, with forward slashes. */
  path: string;
  text: string;
}

export type BlockUse = "run" | "types_only" | "not_run";

export interface Block {
  page: string;
  /** The line of the page its first line is, from 1. */
  line: number;
  use: BlockUse;
  code: string;
}

/** What a console.log is said to print: a comment behind it, or on the lines below it. */
export interface Expected {
  /** The line of the page. */
  line: number;
  /** Parts of it, in order: what stands for anything (`…`) is between them. */
  parts: string[];
}

const uses: Readonly<Record<string, BlockUse>> = {
  ts: "run",
  "ts types-only": "types_only",
  "ts not-run": "not_run",
};

/** The pages with what people read of the project: its front, its architecture, its documentation. */
export function allPages(): Page[] {
  const paths = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    ...globSync("docs/**/*.md", { cwd: root })
      .map((path) => path.replaceAll("\\", "/"))
      .filter((path) => !isGenerated(path))
      .sort(),
  ];
  return paths.map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

/** The reference is made from the sources and not kept; only its front page is. */
export const isGenerated = (path: string): boolean =>
  path.startsWith("docs/reference/") && path !== "docs/reference/README.md";

/**
 * The TypeScript blocks of a page.
 * @throws Error naming the line of a fence whose words nobody knows
 */
export function blocksOf({ path, text }: Page): Block[] {
  const found: Block[] = [];
  let open: { words: string; line: number; lines: string[] } | undefined;
  for (const [at, line] of text.split("\n").entries()) {
    if (open === undefined) {
      if (line.startsWith("```")) open = { words: line.slice(3).trim(), line: at + 2, lines: [] };
      continue;
    }
    if (line !== "```") {
      open.lines.push(line);
      continue;
    }
    const { words, line: first, lines } = open;
    open = undefined;
    if (!/^(ts|typescript|tsx|js|javascript)\b/.test(words)) continue;
    const use = uses[words];
    if (use === undefined)
      throw new Error(
        `${path}:${first - 1}: a block is one of ${Object.keys(uses).join(", ")}, not ${words}`,
      );
    found.push({ page: path, line: first, use, code: `${lines.join("\n")}\n` });
  }
  return found;
}

/** What the comments behind a block's calls of console.log promise. */
export function expectedOf({ code, line }: Block): Expected[] {
  const lines = code.split("\n");
  return lines.flatMap((text, at) => {
    if (!/\bconsole\.log\(/.test(text)) return [];
    const behind = / \/\/ (.*)$/.exec(text)?.[1];
    const below: string[] = [];
    for (let next = at + 1; lines[next]?.startsWith("// "); next += 1)
      below.push((lines[next] as string).slice(3));
    const promised = behind ?? below.join(" ");
    if (promised === "") return [];
    const parts = promised
      .split("…")
      .map((part) => part.trim())
      .filter((part) => part !== "");
    return parts.length === 0 ? [] : [{ line: line + at, parts }];
  });
}

export interface Link {
  line: number;
  /** As it is written, without what stands behind `#`. */
  to: string;
  anchor: string;
}

/** The links of a page that lead to another place of the repository. Code is skipped. */
export function linksOf({ text }: Page): Link[] {
  let fenced = false;
  return text.split("\n").flatMap((line, at) => {
    if (line.startsWith("```")) fenced = !fenced;
    if (fenced) return [];
    return [...line.replaceAll(/`[^`]*`/g, "``").matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = ""]) => {
      if (/^[a-z]+:/i.test(target)) return [];
      const [to = "", anchor = ""] = target.split("#");
      return [{ line: at + 1, to, anchor }];
    });
  });
}

/** The anchors of a page, as GitHub makes them of its headings. */
export function anchorsOf(text: string): Set<string> {
  const anchors = new Anchors();
  const found = new Set<string>();
  let fenced = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) fenced = !fenced;
    const heading = fenced ? undefined : /^#{1,6} (.+)$/.exec(line)?.[1];
    if (heading !== undefined) found.add(anchors.next(heading));
  }
  return found;
}

/** Anchors of one page: the second of a name gets a number. */
export class Anchors {
  readonly #counts = new Map<string, number>();

  next(heading: string): string {
    const anchor = anchorOf(heading);
    const count = this.#counts.get(anchor) ?? 0;
    this.#counts.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  }
}

/** The anchor of a heading: lower case, words joined by hyphens, marks left out. */
export function anchorOf(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
}
