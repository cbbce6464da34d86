// The room of spellings: the path behind one that was copied from where paths are written otherwise.
//
// Git writes bytes in octal, a shell wants blanks escaped, a URL has %20, HTML has &amp;. No spelling names another folder than
// the words do: what it would add of `/` or `..` is no spelling of a path.

/**
 * The path that git means by its octal bytes (`"\346\226\207.md"`, also without the quotes); `undefined` if there are none.
 * Nobody calls a file that.
 */
export function gitUnquoted(path: string): string | undefined {
  if (!/\\[23][0-7]{2}/.test(path)) return undefined;
  const inner = /^"(.*)"$/s.exec(path)?.[1] ?? path;
  const bytes: Buffer[] = [];
  let plain = 0;
  for (const match of inner.matchAll(/\\(?:([23][0-7]{2})|(["\\]))/g)) {
    const [whole, octal, char = ""] = match;
    bytes.push(Buffer.from(inner.slice(plain, match.index)));
    bytes.push(octal === undefined ? Buffer.from(char) : Buffer.from([Number.parseInt(octal, 8)]));
    plain = match.index + whole.length;
  }
  bytes.push(Buffer.from(inner.slice(plain)));
  return sameFolder(path, utf8Of(Buffer.concat(bytes)));
}

/** Other spellings of a path. Each counts only for something that exists. */
export function spellings(path: string): string[] {
  return [shellUnescaped(path), percentDecoded(path), withoutEntities(path)].flatMap((one) =>
    sameFolder(path, one) === undefined || one === path ? [] : [one as string],
  );
}

/** `My\ File.txt` */
const shellUnescaped = (path: string): string | undefined =>
  /\\[^\\\w/.]/.test(path) ? path.replace(/\\([^\\\w/.])/g, "$1") : undefined;

function percentDecoded(path: string): string | undefined {
  if (!/%[0-9a-f]{2}/i.test(path)) return undefined;
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  "#39": "'",
};

const withoutEntities = (path: string): string | undefined =>
  path.includes("&")
    ? path.replace(/&(amp|lt|gt|quot|apos|#39);/g, (_, name: string) => entities[name] ?? "")
    : undefined;

function utf8Of(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** A spelling that leads through as many folders as the given words; `undefined` for any other. */
function sameFolder(path: string, spelling: string | undefined): string | undefined {
  if (spelling === undefined || spelling.includes("\0")) return undefined;
  const [given, meant] = [path, spelling].map((one) => one.split("/"));
  return given?.length === meant?.length && !meant?.includes("..") ? spelling : undefined;
}
