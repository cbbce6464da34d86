// The room of declarations: what a file declares, by the typical forms of its language. This is not parsing: nested and
// unusual forms are missed, and the answer says how it looked.

import type { Unit } from "./lexicon.ts";

export interface Declared {
  kind: Unit;
  name: string;
  line: number;
  /** Depth of a heading; otherwise 0. */
  depth: number;
}

type Shape = [Unit, RegExp];

const script: Shape[] = [
  [
    "function",
    /^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:async\s+)?function\s*\*?\s*([\w$]+)?\s*[<(]/,
  ],
  [
    "function",
    /^\s*(?:export\s+)?(?:const|let|var)\s+([\w$]+)(?:\s*:[^=]+)?\s*=\s*(?:async\s*)?(?:function\b|(?:<[^>]*>\s*)?\([^()]*(?:\([^()]*\)[^()]*)*\)(?:\s*:\s*[^=]+?)?\s*=>|[\w$]+\s*=>)/,
  ],
  ["class", /^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?class\s+([\w$]+)/],
  ["interface", /^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?interface\s+([\w$]+)/],
  ["type", /^\s*(?:export\s+)?(?:declare\s+)?type\s+([\w$]+)\s*(?:<[^=]*>)?\s*=/],
  [
    "export",
    /^\s*export\s+(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\s*\*?|class|interface|type|enum|namespace|const|let|var)\s+([\w$]+)/,
  ],
  ["export", /^\s*export\s+(?:type\s+)?(\{[^}]*\}?|\*[^;]*)/],
  ["export", /^\s*export\s+default\s+(?!function|class|abstract|async)(\S+)/],
  ["import", /^\s*import\s+(?:type\s+)?(?:[^"']*\sfrom\s+)?["']([^"']+)["']/],
  ["import", /^\s*\}\s*from\s+["']([^"']+)["']/],
];

const python: Shape[] = [
  ["function", /^\s*(?:async\s+)?def\s+(\w+)/],
  ["class", /^\s*class\s+(\w+)/],
  ["import", /^\s*(?:from\s+(\S+)\s+import|import\s+(\S+))/],
];

const curly: Shape[] = [
  [
    "function",
    /^\s*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?(?:unsafe\s+)?(?:fn|func)\s+(?:\([^)]*\)\s*)?(\w+)/,
  ],
  [
    "class",
    /^\s*(?:pub(?:\([^)]*\))?\s+)?(?:public\s+|private\s+|protected\s+|final\s+|abstract\s+|static\s+)*(?:class|struct|enum|trait|object|record)\s+(\w+)/,
  ],
  ["interface", /^\s*(?:public\s+)?interface\s+(\w+)|^type\s+(\w+)\s+interface/],
  ["type", /^\s*(?:pub\s+)?type\s+(\w+)/],
  [
    "function",
    /^(?:\s|(?:public|private|protected|static|final)\b)[\w<>[\],\s]*?\s(?!(?:if|for|foreach|while|switch|catch|synchronized|using|lock)\b)(\w+)\s*\([^;]*\)\s*(?:throws [\w, ]+)?\{/,
  ],
  ["import", /^\s*(?:import|use|#include)\s+["<]?([^\s;">]+)/],
];

const ruby: Shape[] = [
  ["function", /^\s*def\s+([\w.?!]+)/],
  ["class", /^\s*(?:class|module)\s+([\w:]+)/],
];

const shellShapes: Shape[] = [["function", /^\s*(?:function\s+)?([\w-]+)\s*\(\)\s*\{?/]];

function shapesOf(path: string): readonly Shape[] | undefined {
  const ending = path.split(".").at(-1)?.toLowerCase() ?? "";
  if (/^([mc]?[jt]s|[jt]sx|vue)$/.test(ending)) return script;
  if (/^pyi?$/.test(ending)) return python;
  if (/^(go|rs|java|kt|swift|c|h|cc|cpp|hpp|cs|php|scala|dart)$/.test(ending)) return curly;
  if (ending === "rb") return ruby;
  return /^(sh|bash|zsh)$/.test(ending) ? shellShapes : undefined;
}

/** Everything a file declares, in order; undefined if its kind is not known. */
export function declarationsOf(path: string, lines: readonly string[]): Declared[] | undefined {
  if (/\.(md|markdown|mdx|adoc|rst)$/i.test(path)) return headings(lines);
  const shapes = shapesOf(path);
  if (shapes === undefined) return undefined;
  const found: Declared[] = [];
  lines.forEach((text, at) => {
    if (/^\s*(\/\/|\*|\/\*)/.test(text)) return;
    const seen = new Set<Unit>();
    for (const [kind, shape] of shapes) {
      const match = shape.exec(text);
      if (match === null || seen.has(kind)) continue;
      seen.add(kind);
      found.push({ kind, name: match[1] ?? match[2] ?? "(default)", line: at + 1, depth: 0 });
    }
  });
  return found;
}

function headings(lines: readonly string[]): Declared[] {
  const found: Declared[] = [];
  let fence: string | undefined;
  lines.forEach((text, at) => {
    const mark = /^\s*(```+|~~~+)/.exec(text)?.[1];
    if (mark !== undefined)
      fence = fence === undefined ? mark.slice(0, 3) : mark.startsWith(fence) ? undefined : fence;
    if (fence !== undefined) return;
    const heading = /^(#{1,6})\s+(.+?)\s*#*$/.exec(text);
    if (heading !== null)
      found.push({ kind: "heading", name: heading[2] ?? "", line: at + 1, depth: heading[1]?.length ?? 1 });
  });
  return found;
}

/** The comment or paragraph with which a file opens, without comment markers. */
export function openingOf(path: string, lines: readonly string[]): string {
  if (/\.(md|markdown|mdx)$/i.test(path)) return firstParagraph(lines);
  const words: string[] = [];
  for (const line of lines.slice(0, 40)) {
    if (/^#!/.test(line) || (words.length === 0 && line.trim() === "")) continue;
    const comment = /^\s*(?:\/\/+|\/\*+|\*+\/|\*|#+|"""|'''|--|;+)\s?(.*?)(?:\*\/|"""|''')?\s*$/.exec(line);
    if (comment === null) break;
    if (words.length > 0 && (comment[1] ?? "").trim() === "" && words.join(" ").length > 40) break;
    words.push((comment[1] ?? "").trim());
  }
  return words.join(" ").replace(/\s+/g, " ").trim();
}

/** The first plain paragraph of a Markdown text. */
export function firstParagraph(lines: readonly string[]): string {
  const words: string[] = [];
  let fence = false;
  for (const line of lines) {
    if (/^\s*```/.test(line)) fence = !fence;
    const plain = !fence && line.trim() !== "" && !/^\s*(#|```|\||<|!\[|\[!\[|---|===|>|- |\* )/.test(line);
    if (plain) words.push(line.trim());
    else if (words.length > 0) break;
  }
  return words.join(" ");
}
