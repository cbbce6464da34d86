// The room of explained survivors: mutants that no test can kill, each with its reason, in survivors.md.
//
// An entry identifies a mutant by its file, the line it begins in and its change, never by a number: so it stays valid when
// lines move, and is reported as stale when its code is gone.

import { readFileSync } from "node:fs";
import type { Mutant } from "./instrument.ts";

export interface Explained {
  /** Identifies the mutant. Equal ones in equal lines of a file count as one. */
  key: string;
  file: string;
  why: string;
}

const quoted = (text: string): string => text.replaceAll("`", "´");

/** The entry for a mutant, without a reason yet. */
export const entryOf = (mutant: Mutant): string =>
  `- \`${quoted(mutant.code)}\`: \`${quoted(mutant.before)}\` → \`${quoted(mutant.after)}\`:`;

export const keyOf = (mutant: Mutant): string => `${mutant.file} ${entryOf(mutant)}`;

/**
 * Parses the entries below each `## file` heading.
 * @throws Error when an entry has no reason, or is malformed
 */
export function readExplained(path: string): Explained[] {
  const found: Explained[] = [];
  let file = "";
  for (const [at, line] of readFileSync(path, "utf8").split("\n").entries()) {
    if (line.startsWith("## ")) file = line.slice(3).trim();
    if (!line.startsWith("- `")) continue;
    const [, entry, why] = /^(- `[^`]*`: `[^`]*` → `[^`]*`:) +(\S.*)$/.exec(line) ?? [];
    if (entry === undefined || why === undefined || file === "")
      throw new Error(`${path}:${at + 1} is no entry with a reason`);
    found.push({ key: `${file} ${entry}`, file, why });
  }
  return found;
}
