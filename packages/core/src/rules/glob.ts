// The room of globs: whether a text is one of those that a pattern means.
//
// `*` stands for any text without `/`, `\` and control characters, `**` for any text, `?` for one character as of `*`,
// and a backslash takes the meaning from the star, question mark or backslash behind it. The whole text must match.
// What wildcards match never climbs: a text with a `..` segment, also as URLs may write it, is matched only where no
// wildcard is in the pattern. Nor do they end the host of an address early, which would make another host of it.
// In a program for a shell they match nothing by which the shell would do more than the pattern says (`isWords`).
// All places in the pattern are followed at once, so that no text makes it slow.

/** A longer pattern is refused where it is given: time grows with both lengths. */
export const maxGlobLength = 1_000;

type Token = { char: string } | { wild: "some" | "all" | "one" };

/**
 * Whether the whole text matches. Time: at most the product of both lengths.
 * @param isProgram the text is one for a shell: wildcards stand for words of the command, and never for another one
 */
export function matchesGlob(pattern: string, text: string, isProgram: boolean = false): boolean {
  const tokens = tokensOf(pattern);
  if (tokens.every((token) => "char" in token)) return tokens.map(({ char }) => char).join("") === text;
  // A program is covered by what its pattern says itself.
  if (climbs(text, isProgram) > (isProgram ? climbs(pattern, true) : 0)) return false;
  const ends = hostEnds(text, isProgram);
  const end = tokens.findLastIndex((token) => "char" in token);
  // Every place of the pattern that the text so far may have come to.
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
 * How many `..` segments a text has, for a URL too: in one dots may be coded, tabs and line breaks are not there, and a
 * path ends at `?` and `#`. In a program any word may be a path.
 */
const climbs = (text: string, isProgram: boolean): number =>
  text
    .replace(/[\t\r\n]/g, isProgram ? " " : "")
    .replace(/%2e/gi, ".")
    .split(isProgram ? /[/\\?#\s"'=]/ : /[/\\?#]/)
    .filter((segment) => segment.trim() === "..").length;

/**
 * Where `?`, `#` and `@` stand up to the end of a host: of a text that is an address, also without slashes as URLs take it,
 * and of those in a program.
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

/** The places, and those that a star which stands for nothing leads to. */
function reached(places: Set<number>, tokens: readonly Token[]): Set<number> {
  for (const place of places) {
    const token = tokens[place];
    // A set that grows while it is walked is walked to its end.
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
 * Whether a character joins, substitutes, redirects or ends nothing for a shell, in quotes or not. Where more of the
 * pattern follows (`isLast` is false), it takes that not into quotes or a comment either, nor out of its own quotes.
 */
function isWords(char: string, isLast: boolean): boolean {
  if (/[;&|<>()$`\p{Cc}\u2028\u2029]/u.test(char)) return false;
  return isLast || !/["'\\#]/.test(char);
}
