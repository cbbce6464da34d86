// npm run -s table -- [--check]
//
// Generates the loop's transition table in the pages that show it, from the table itself. `--check` writes nothing, and
// exits with 1 when a page is out of date.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Phase, table } from "@rondo/core";
import { writeOrCheck } from "./docs/drawn.ts";
import { root } from "./packages.ts";

/** The pages that show it, relative to the repository. */
export const tablePages: readonly string[] = ["ARCHITECTURE.md", "docs/concepts/loop.md"];

const begin = "<!-- table: drawn by `npm run -s table` from packages/core/src/loop/next.ts -->";
const end = "<!-- /table -->";

/** The diagram and the table as Markdown. */
export function drawTable(): string {
  const phases = Object.keys(table) as Phase[];
  const edges = phases.flatMap((from) => {
    const to = new Set(table[from].flatMap((row) => row.to));
    return [...to].filter((phase) => phase !== from).map((phase) => `    ${from} --> ${phase}`);
  });
  const rows = phases.flatMap((phase) => [
    `**${phase}**`,
    "",
    ...table[phase].map((row, at) => `${at + 1}. When ${row.when}: ${row.does}. *(${row.to.join(", ")})*`),
    "",
  ]);
  return ["```mermaid", "stateDiagram-v2", "    [*] --> ready", ...edges, "```", "", ...rows].join("\n");
}

/**
 * The page with the table inserted.
 * @param path named in the error when the page has no place for it
 */
export function withTable(page: string, path: string): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < 0) throw new Error(`${path} has no place for the table (${begin} … ${end})`);
  return `${page.slice(0, from + begin.length)}\n\n${drawTable()}\n${page.slice(to)}`;
}

if (import.meta.main)
  writeOrCheck(
    "table",
    tablePages.map((path) => ({ path, text: withTable(readFileSync(join(root, path), "utf8"), path) })),
  );
