// The room of the documentation's pages: lists them, their code blocks, and their links.
//
// A page is a Markdown file of the repository. Code blocks are recognized by their fence: `ts` is type-checked and run,
// `ts types-only` is type-checked, `ts not-run` is only shown (another library's code on a page on migrating).

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../packages.ts";

export interface Page {
  /** Relative to the repository, with forward slashes. */
  path: string;
  text: string;
}

export type BlockUse = "run" | "types_only" | "not_run";

export interface Block {
  page: string;
  /** The line of the page where it begins, from 1. */
  line: number;
  use: BlockUse;
  code: string;
}

/** What a console.log is expected to print: a comment after it, or on the lines below. */
export interface Expected {
  /** The line of the page. */
  line: number;
  /** The parts of the text, in order, between ellipses (`…`), which stand for anything. */
  parts: string[];
}

const uses: Readonly<Record<string, BlockUse>> = {
  ts: "run",
  "ts types-only": "types_only",
  "ts not-run": "not_run",
};

/** All pages for readers: the front page, the architecture, the documentation. */
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

/** The reference is generated from the sources and not kept, except for its front page. */
export const isGenerated = (path: string): boolean =>
  path.startsWith("docs/reference/") && path !== "docs/reference/README.md";

/**
 * The TypeScript blocks of a page.
 * @throws Error naming the line of a fence with unknown words
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

/** The output that comments after a block's console.log calls promise. */
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
  /** As written, without the part after `#`. */
  to: string;
  anchor: string;
}

/** The links of a page to other places in the repository. Code is skipped. */
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

/** The anchors of a page, as GitHub generates them from its headings. */
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

/** Anchors of one page: a repeated one gets a number. */
export class Anchors {
  readonly #counts = new Map<string, number>();

  next(heading: string): string {
    const anchor = anchorOf(heading);
    const count = this.#counts.get(anchor) ?? 0;
    this.#counts.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  }
}

/** The anchor of a heading: lower case, words joined by hyphens, punctuation removed. */
export function anchorOf(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
}
