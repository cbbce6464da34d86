// The room of globs: whether a pattern matches a text.
//
// `*` matches any text without `/`, `\` and control characters, `**` any text, `?` one character that `*` may match. A
// backslash escapes a star, question mark or backslash. The whole text must match. Wildcards never match a `..` segment,
// also URL-encoded; they do not match what would end the host of a URL early, which would make it another host; and in
// shell code they match nothing that would make the shell do more than the pattern says (`isWords`).
// All positions in the pattern are followed at once, so that no text makes matching slow.

/** The longest allowed pattern, in characters: matching time grows with both lengths. */
export const maxGlobLength = 1_000;

type Token = { char: string } | { wild: "some" | "all" | "one" };

/**
 * Whether the whole text matches. Time: at most proportional to the product of both lengths.
 * @param isProgram the text is shell code: wildcards match words of the command, and never another command
 */
export function matchesGlob(pattern: string, text: string, isProgram: boolean = false): boolean {
  const tokens = tokensOf(pattern);
  if (tokens.every((token) => "char" in token)) return tokens.map(({ char }) => char).join("") === text;
  // What the pattern of a shell command spells out is allowed.
  if (climbs(text, isProgram) > (isProgram ? climbs(pattern, true) : 0)) return false;
  const ends = hostEnds(text, isProgram);
  const end = tokens.findLastIndex((token) => "char" in token);
  // All positions in the pattern that the text so far may have reached.
  let places = reached(new Set([0]), tokens);
  let at = 0;
  for (const char of text) {
    const endsHost = ends.has(at);
    at += char.length;
    const next = new Set<number>();
    for (const place of places) {
      const token = tokens[place];
      if (token === undefined) continue;
      if ("char" in token) {
        if (token.char === char) next.add(place + 1);
      } else if (
        (token.wild === "all" || isPlain(char)) &&
        !endsHost &&
        (!isProgram || isWords(char, place > end))
      )
        next.add(token.wild === "one" ? place + 1 : place);
    }
    places = reached(next, tokens);
  }
  return places.has(tokens.length);
}

/**
 * How many `..` segments a text has, also read as a URL: there dots may be encoded, tabs and line breaks are ignored, and a
 * path ends at `?` and `#`. In shell code any word may be a path.
 */
const climbs = (text: string, isProgram: boolean): number =>
  text
    .replace(/[\t\r\n]/g, isProgram ? " " : "")
    .replace(/%2e/gi, ".")
    .split(isProgram ? /[/\\?#\s"'=]/ : /[/\\?#]/)
    .filter((segment) => segment.trim() === "..").length;

/**
 * The positions of `?`, `#` and `@` before the end of a host: in a text that is a URL, also one without slashes, and in the
 * URLs of shell code.
 */
function hostEnds(text: string, isProgram: boolean): ReadonlySet<number> {
  const hosts = isProgram
    ? text.matchAll(/:\/\/[^/\\?#\s]*[?#]?/g)
    : text.matchAll(/^\s*(?:(?:https?|wss?|ftp):[/\\]*|[a-z][a-z\d+.-]*:\/\/)[^/\\?#]*[?#]?/gi);
  const ends = new Set<number>();
  for (const { index, 0: host } of hosts)
    for (const end of host.matchAll(/[?#@]/g)) ends.add(index + end.index);
  return ends;
}

/** The positions, and those that are reached by a star that matches nothing. */
function reached(places: Set<number>, tokens: readonly Token[]): Set<number> {
  for (const place of places) {
    const token = tokens[place];
    // Iterating a set also visits what is added meanwhile.
    if (token !== undefined && "wild" in token && token.wild !== "one") places.add(place + 1);
  }
  return places;
}

function tokensOf(pattern: string): Token[] {
  const tokens: Token[] = [];
  const chars = [...pattern];
  for (let at = 0; at < chars.length; at += 1) {
    const char = chars[at] as string;
    const after = chars[at + 1];
    if (char === "\\" && (after === "*" || after === "?" || after === "\\")) {
      tokens.push({ char: after });
      at += 1;
    } else if (char === "*" && after === "*") {
      tokens.push({ wild: "all" });
      at += 1;
    } else if (char === "*") tokens.push({ wild: "some" });
    else if (char === "?") tokens.push({ wild: "one" });
    else tokens.push({ char });
  }
  return tokens;
}

function isPlain(char: string): boolean {
  const code = char.charCodeAt(0);
  return char !== "/" && char !== "\\" && code >= 32 && code !== 127;
}

/**
 * Whether a character is harmless in shell code: it starts no other command, substitution or redirection, quoted or not. If
 * more of the pattern follows (`isLast` is false), it must not put that into or out of quotes, or into a comment, either.
 */
function isWords(char: string, isLast: boolean): boolean {
  if (/[;&|<>()$`\p{Cc}\u2028\u2029]/u.test(char)) return false;
  return isLast || !/["'\\#]/.test(char);
}
