// The room of what is explained: survivors that no test can kill, each with its reason, in survivors.md.
//
// An entry names a mutant by its file, the line it begins in and what it changes, never by a number: it stays true when
// lines move, and is told as stale when what it speaks of has gone.

import { readFileSync } from "node:fs";
import type { Mutant } from "./instrument.ts";

export interface Explained {
  /** Which mutant. Equal ones in equal lines of a file are one. */
  key: string;
  file: string;
  why: string;
}

const quoted = (text: string): string => text.replaceAll("`", "´");

/** An entry for a mutant, its reason still to be written. */
export const entryOf = (mutant: Mutant): string =>
  `- \`${quoted(mutant.code)}\`: \`${quoted(mutant.before)}\` → \`${quoted(mutant.after)}\`:`;

export const keyOf = (mutant: Mutant): string => `${mutant.file} ${entryOf(mutant)}`;

/**
 * Reads the entries below each `## file` heading.
 * @throws Error where an entry has no reason, or cannot be read
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
