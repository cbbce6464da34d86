// The room of globs: file name patterns, matched in bounded time.
//
// Patterns come from a model or an untrusted repository, so they never become regular expressions, which a few
// stars too many can stall. A part without `/` is matched with backtracking to its last star only (at worst pattern
// length times name length), parts with `**` by dynamic programming.

type Piece = { kind: "char"; char: string } | { kind: "any" } | { kind: "star" } | CharSet;
interface CharSet {
  kind: "set";
  not: boolean;
  ranges: [number, number][];
}

/** One part of a pattern between slashes. A plain name stays a string, which compares a hundred times as fast. */
export type Segment = "**" | { name: string } | Piece[];

const maxAlternatives = 256;

/**
 * Compiles a glob over `/`-separated paths: `*`, `?`, `[a-z]`, `[!a]`, `**`, `{a,b}`, `\` escapes. A pattern without
 * a slash is matched against the last part of the path. `*` and `**` also match names that begin with a dot. Several
 * patterns are separated by commas; a pattern with a leading `!` excludes its matches, with everything below them.
 * @throws RangeError when the braces expand to more than 256 patterns
 */
export function glob(pattern: string): (path: string) => boolean {
  const listed = partedByCommas(pattern);
  const wanted = listed.filter((one) => !one.startsWith("!"));
  const unwanted = listed.filter((one) => one.startsWith("!")).map((one) => one.slice(1).replace(/\/+$/, ""));
  // A name may contain a comma.
  if (unwanted.length === 0 && wanted.length > 1) wanted.push(pattern);
  const isWanted = anyOf(wanted);
  const isUnwanted = anyOf(unwanted);
  return (path) => {
    const parts = path.split("/");
    if (!(wanted.length === 0 ? unwanted.length > 0 : isWanted(parts))) return false;
    return unwanted.length === 0 || !parts.some((_, at) => isUnwanted(parts.slice(0, at + 1)));
  };
}

function anyOf(patterns: readonly string[]): (parts: readonly string[]) => boolean {
  const all = patterns.flatMap(braces).flatMap(withItsBrackets);
  if (all.length > 2 * maxAlternatives) throw tooMany();
  const compiled = all.map((one) => {
    return { whole: one.includes("/"), segments: segmentsOf(one.replace(/^\.?\/+/, "")) };
  });
  return (parts) => {
    const last = parts.slice(-1);
    return compiled.some(({ whole, segments }) => matchPath(segments, whole ? parts : last));
  };
}

/** The pattern with its brackets as a set, and as plain characters: `app/[slug]/page.tsx` is a path in many repositories. */
function withItsBrackets(pattern: string): string[] {
  const plain = pattern.replace(/\\.|\[/gs, (found) => (found === "[" ? "\\[" : found));
  return plain === pattern ? [pattern] : [pattern, plain];
}

const tooMany = (): RangeError =>
  new RangeError(`the braces stand for more than ${maxAlternatives} patterns`);

/** Splits a list of patterns at commas, but not inside braces or sets. */
function partedByCommas(pattern: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at];
    if (char === "\\") at++;
    else if (char === "{" || char === "[") depth++;
    else if (char === "}" || char === "]") depth--;
    else if (char === "," && depth <= 0) {
      parts.push(pattern.slice(from, at));
      from = at + 1;
    }
  }
  parts.push(pattern.slice(from));
  return parts.map((one) => one.trim()).filter((one) => one !== "" && one !== "!");
}

/** The parts of a pattern without braces. */
export function segmentsOf(pattern: string): Segment[] {
  const segments: Segment[] = [];
  for (const part of pattern.split("/")) {
    if (part !== "**") segments.push(plainName(piecesOf(part)));
    else if (segments.at(-1) !== "**") segments.push("**");
  }
  return segments;
}

function plainName(pieces: Piece[]): Segment {
  let name = "";
  for (const piece of pieces) {
    if (piece.kind !== "char") return pieces;
    name += piece.char;
  }
  return { name };
}

/** Whether the parts of a path match; `**` stands for any number of parts, including none. */
export function matchPath(segments: readonly Segment[], parts: readonly string[]): boolean {
  const [first, second] = segments;
  if (first !== undefined && first !== "**" && second === undefined)
    return parts.length === 1 && matchPart(first, parts[0]!);
  // reach[i]: the segments so far match the first i parts.
  let reach: boolean[] = [true, ...parts.map(() => false)];
  for (const segment of segments) {
    const next: boolean[] = parts.map(() => false);
    next.unshift(false);
    if (segment === "**") {
      let seen = false;
      for (let at = 0; at <= parts.length; at++) {
        seen ||= reach[at]!;
        next[at] = seen;
      }
    } else
      for (let at = 0; at < parts.length; at++)
        if (reach[at] && matchPart(segment, parts[at]!)) next[at + 1] = true;
    reach = next;
  }
  return reach[parts.length]!;
}

function matchPart(pieces: Exclude<Segment, "**">, name: string): boolean {
  if ("name" in pieces) return pieces.name === name;
  const chars = [...name];
  let piece = 0;
  let at = 0;
  let star = -1;
  let starAt = 0;
  while (at < chars.length) {
    const one = pieces[piece];
    if (one?.kind === "star") {
      star = piece++;
      starAt = at;
    } else if (one !== undefined && fits(one, chars[at]!)) {
      piece++;
      at++;
    } else if (star >= 0) {
      piece = star + 1;
      at = ++starAt;
    } else return false;
  }
  while (pieces[piece]?.kind === "star") piece++;
  return piece === pieces.length;
}

function fits(piece: Exclude<Piece, { kind: "star" }>, char: string): boolean {
  if (piece.kind === "any") return true;
  if (piece.kind === "char") return piece.char === char;
  const code = char.codePointAt(0)!;
  return piece.ranges.some(([from, to]) => code >= from && code <= to) !== piece.not;
}

function piecesOf(part: string): Piece[] {
  const chars = [...part];
  const pieces: Piece[] = [];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at]!;
    if (char === "*") {
      if (pieces.at(-1)?.kind !== "star") pieces.push({ kind: "star" });
    } else if (char === "?") pieces.push({ kind: "any" });
    else if (char === "\\" && at + 1 < chars.length) pieces.push({ kind: "char", char: chars[++at]! });
    else if (char === "[") {
      const set = setOf(chars, at);
      if (set === undefined) pieces.push({ kind: "char", char });
      else {
        pieces.push(set.set);
        at = set.end;
      }
    } else pieces.push({ kind: "char", char });
  }
  return pieces;
}

/** POSIX character classes, as git knows them. */
const named: Record<string, [number, number][]> = {
  alpha: [
    [65, 90],
    [97, 122],
  ],
  digit: [[48, 57]],
  alnum: [
    [48, 57],
    [65, 90],
    [97, 122],
  ],
  upper: [[65, 90]],
  lower: [[97, 122]],
  space: [
    [9, 13],
    [32, 32],
  ],
  xdigit: [
    [48, 57],
    [65, 70],
    [97, 102],
  ],
  punct: [
    [33, 47],
    [58, 64],
    [91, 96],
    [123, 126],
  ],
};

function setOf(chars: readonly string[], start: number): { set: CharSet; end: number } | undefined {
  let at = start + 1;
  const not = chars[at] === "!" || chars[at] === "^";
  if (not) at++;
  const ranges: [number, number][] = [];
  for (let first = true; at < chars.length; first = false) {
    if (chars[at] === "]" && !first) return { set: { kind: "set", not, ranges }, end: at };
    const name = chars[at] === "[" && chars[at + 1] === ":" ? chars.slice(at + 2, at + 10).join("") : "";
    const close = name.indexOf(":]");
    if (close > 0 && Object.hasOwn(named, name.slice(0, close))) {
      ranges.push(...named[name.slice(0, close)]!);
      at += close + 4;
      continue;
    }
    if (chars[at] === "\\" && at + 1 < chars.length) at++;
    const from = chars[at++]!.codePointAt(0)!;
    let to = from;
    if (chars[at] === "-" && chars[at + 1] !== undefined && chars[at + 1] !== "]") {
      at++;
      if (chars[at] === "\\" && at + 1 < chars.length) at++;
      to = chars[at++]!.codePointAt(0)!;
    }
    ranges.push([from, to]);
  }
  return undefined;
}

/** Expands `{a,b}` into all its patterns. */
function braces(pattern: string): string[] {
  let done: string[] = [];
  let open = [pattern];
  while (open.length > 0) {
    const next: string[] = [];
    for (const one of open) {
      const group = firstGroup(one);
      if (group === undefined) done.push(one);
      else for (const choice of group.choices) next.push(group.before + choice + group.after);
    }
    if (done.length + next.length > maxAlternatives) throw tooMany();
    open = next;
  }
  done = [...new Set(done)];
  return done;
}

function firstGroup(pattern: string): { before: string; choices: string[]; after: string } | undefined {
  let from = 0;
  for (;;) {
    const start = indexOfPlain(pattern, "{", from);
    if (start < 0) return undefined;
    const choices: string[] = [];
    let depth = 0;
    let begun = start + 1;
    for (let at = start + 1; at < pattern.length; at++) {
      const char = pattern[at];
      if (char === "\\") at++;
      else if (char === "{") depth++;
      else if (char === "," && depth === 0) {
        choices.push(pattern.slice(begun, at));
        begun = at + 1;
      } else if (char === "}" && depth-- === 0) {
        if (choices.length === 0) break;
        choices.push(pattern.slice(begun, at));
        return { before: pattern.slice(0, start), choices, after: pattern.slice(at + 1) };
      }
    }
    from = start + 1;
  }
}

function indexOfPlain(text: string, char: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === char) return at;
  }
  return -1;
}
