// The room of syntax: a source as a syntax tree, loosely typed: users only know the nodes they look for.

import { parseAst } from "rolldown/parseAst";

export interface Node {
  type: string;
  /** Its position in the text. */
  start: number;
  end: number;
  [key: string]: unknown;
}

export const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";

export const childrenOf = (node: Node): Node[] =>
  Object.values(node).flatMap((value) =>
    Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [],
  );

/**
 * The tree of a module.
 * @param path its extension determines the language: `.d.ts`, TypeScript or JavaScript
 */
export function parse(text: string, path: string): Node {
  const lang = path.endsWith(".d.ts") ? "dts" : path.endsWith("ts") ? "ts" : "js";
  return parseAst(text, { lang, sourceType: "module" }, path) as unknown as Node;
}
