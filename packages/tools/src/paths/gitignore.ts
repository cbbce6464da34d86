// The room of what git ignores: `.gitignore` files, nested and negated, read as git reads them.
//
// These files come from the repository's authors (or the model) and must not be able to stall the process, so matching
// is our own, in bounded time; see `glob.ts`. The user's global excludes are not read.

import { matchPath, type Segment, segmentsOf } from "./glob.ts";

interface IgnoreRule {
  negated: boolean;
  foldersOnly: boolean;
  /** Matched against the whole path below the file's folder; otherwise against the last part only. */
  anchored: boolean;
  segments: Segment[];
}

/** The rules of one file. `base`: its folder relative to where the walk starts, as parts. */
export interface IgnoreFile {
  base: readonly string[];
  rules: readonly IgnoreRule[];
}

/** Parses an ignore file. */
export function parseIgnore(text: string, base: readonly string[]): IgnoreFile {
  const rules: IgnoreRule[] = [];
  for (const raw of text.replace(/^\ufeff/, "").split("\n")) {
    const rule = ruleOf(raw.endsWith("\r") ? raw.slice(0, -1) : raw);
    if (rule !== undefined) rules.push(rule);
  }
  return { base, rules };
}

/**
 * Whether the last matching rule ignores `parts`. The files go from the outermost to the innermost. The caller must know
 * that no parent of `parts` is ignored: nothing below an ignored folder can be re-included.
 */
export function isIgnored(files: readonly IgnoreFile[], parts: readonly string[], folder: boolean): boolean {
  for (let one = files.length - 1; one >= 0; one--) {
    const { base, rules } = files[one]!;
    const below = parts.slice(base.length);
    const last = below.slice(-1);
    for (let at = rules.length - 1; at >= 0; at--) {
      const rule = rules[at]!;
      if (rule.foldersOnly && !folder) continue;
      if (matchPath(rule.segments, rule.anchored ? below : last)) return !rule.negated;
    }
  }
  return false;
}

function ruleOf(line: string): IgnoreRule | undefined {
  let text = trimmed(line);
  if (text === "" || text.startsWith("#")) return undefined;
  const negated = text.startsWith("!");
  if (negated) text = text.slice(1);
  const foldersOnly = text.endsWith("/");
  if (foldersOnly) text = text.slice(0, -1);
  const anchored = text.includes("/");
  if (text.startsWith("/")) text = text.slice(1);
  if (text === "") return undefined;
  const segments = segmentsOf(text);
  // `a/**` means everything inside a, not a itself.
  if (segments.length > 1 && segments.at(-1) === "**") segments.push([{ kind: "star" }]);
  // A trailing backslash escapes nothing: for git such a pattern matches nothing.
  if (/(^|[^\\])(\\\\)*\\$/.test(text)) return undefined;
  return { negated, foldersOnly, anchored, segments };
}

/** Without trailing spaces, except an escaped one. */
function trimmed(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === " ") {
    let slashes = 0;
    while (end - 2 - slashes >= 0 && line[end - 2 - slashes] === "\\") slashes++;
    if (slashes % 2 === 1) break;
    end--;
  }
  return line.slice(0, end);
}
