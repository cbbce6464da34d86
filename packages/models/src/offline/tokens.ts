// The room of tokens: a task cut into words, quoted spans and signs. Nothing here knows what a word means.
//
// Positions are kept, because literal content (a file to write, an expression) is taken from the text itself.

export interface Token {
  /** As written, without quotes and surrounding punctuation. */
  text: string;
  lower: string;
  /** Lower case, in the singular. */
  stem: string;
  kind: "word" | "quoted" | "sign";
  start: number;
  end: number;
}

const quotePairs: Record<string, string> = { '"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»" };

/** Cuts a text into tokens. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const char = text[at] as string;
    if (char === "\n") {
      tokens.push(sign("\n", at));
      at++;
    } else if (/\s/.test(char)) at++;
    else {
      const quoted = quotedAt(text, at);
      if (quoted !== undefined) {
        tokens.push(quoted);
        at = quoted.end;
      } else {
        const end = chunkEnd(text, at);
        tokens.push(...chunk(text, at, end));
        at = end;
      }
    }
  }
  return tokens;
}

function quotedAt(text: string, at: number): Token | undefined {
  const close = quotePairs[text[at] as string];
  if (close === undefined) return undefined;
  // Apostrophes inside words were consumed before this. One that opens a span must close before a non-letter.
  let end = at + 1;
  for (;;) {
    end = text.indexOf(close, end);
    if (end < 0) return undefined;
    if (close !== "'" || !/[A-Za-z0-9]/.test(text[end + 1] ?? "")) break;
    end++;
  }
  const inner = text.slice(at + 1, end);
  if (inner === "" || (inner.includes("\n") && close === "'")) return undefined;
  return make(inner, "quoted", at, end + 1);
}

function chunkEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length && !/\s/.test(text[end] as string)) {
    if (end > from && quotedAt(text, end) !== undefined && /[([{:=,]/.test(text[end - 1] as string)) break;
    end++;
  }
  return end;
}

/** No name and no path is longer; beyond this nothing is looked for. */
const longestName = 1000;

function chunk(text: string, from: number, to: number): Token[] {
  if (to - from > longestName) return [make(text.slice(from, to), "word", from, to)];
  let start = from;
  let end = to;
  while (start < end && /[([{<,;:!?"'“”‘’]/.test(text[start] as string) && !balanced(text.slice(start, end)))
    start++;
  const after: Token[] = [];
  for (;;) {
    const last = text[end - 1];
    if (end <= start || last === undefined) break;
    const body = text.slice(start, end);
    if (/[,;:!?]/.test(last)) after.unshift(sign(last, end - 1));
    else if (last === "." && !/^\.{1,2}$/.test(body)) after.unshift(sign(".", end - 1));
    else if (!(/[)\]}]/.test(last) && !balanced(body)) && !/[>"'“”‘’`]/.test(last)) break;
    end--;
  }
  const body = text
    .slice(start, end)
    .replace(/['’]s$/i, "")
    .replace(/\(\)$/, "");
  if (body === "") return after;
  return [make(body, "word", start, end), ...after];
}

function balanced(text: string): boolean {
  let depth = 0;
  for (const char of text) {
    if ("([{".includes(char)) depth++;
    else if (")]}".includes(char) && --depth < 0) return false;
  }
  return depth === 0 && /[)\]}]/.test(text);
}

function sign(char: string, at: number): Token {
  return { text: char, lower: char, stem: char, kind: "sign", start: at, end: at + 1 };
}

function make(text: string, kind: Token["kind"], start: number, end: number): Token {
  const lower = text.toLowerCase();
  return { text, lower, stem: stemOf(lower), kind, start, end };
}

const unchanged = new Set([
  "this",
  "has",
  "was",
  "its",
  "is",
  "as",
  "us",
  "less",
  "lens",
  "contents",
  "vs",
  "js",
  "ts",
]);

/** A word without its plural: `directories` is `directory`, `matches` is `match`, `files` is `file`. */
export function stemOf(lower: string): string {
  if (lower.length <= 3 || unchanged.has(lower) || !/^[a-z]+s$/.test(lower)) return lower;
  if (/(ss|us|is)$/.test(lower)) return lower;
  if (/[^aeiou]ies$/.test(lower)) return `${lower.slice(0, -3)}y`;
  if (/(sses|ches|shes|xes)$/.test(lower)) return lower.slice(0, -2);
  return lower.slice(0, -1);
}

const starters = new Set(
  (
    "how what what's whats which where where's who when why is are does do count list show tell give find read search compare print open " +
    "name calculate compute display summarize summarise describe explain create write replace look locate outline also then please grep " +
    "can could would check view ls tree grep tally number length size sum add subtract multiply divide square half biggest longest largest smallest shortest first last contents tell cat say report determine work"
  ).split(" "),
);

const heads = /^(how|what|which|where|tell|give|show|count|list|find|read)/;

/** Cuts tokens into clauses: at the ends of sentences, and at "and", "then" or a comma if another question or order begins there. */
export function clausesOf(tokens: readonly Token[]): Token[][] {
  const clauses: Token[][] = [];
  let open: Token[] = [];
  const close = (): void => {
    if (open.some((token) => token.kind !== "sign")) clauses.push(open);
    open = [];
  };
  tokens.forEach((token, at) => {
    const ends = token.kind === "sign" && /[?!;.\n]/.test(token.text);
    const turns = token.lower === "then" && token.kind === "word" && open.length > 1;
    if (ends || turns) {
      close();
      return;
    }
    if (open.length > 0 && joins(token) && startsClause(tokens, at + 1) && !isBare(open) && asks(open))
      close();
    open.push(token);
  });
  close();
  return clauses.map((clause) =>
    clause.filter((token, at) => token.kind !== "sign" || (at > 0 && at < clause.length - 1)),
  );
}

const joins = (token: Token): boolean =>
  token.text === "," ||
  (token.kind === "word" && (token.lower === "and" || token.lower === "but" || token.lower === "&"));

/** "Please", "hi" or "now" with a comma is not a clause of its own. */
const isBare = (tokens: readonly Token[]): boolean =>
  tokens.filter((token) => token.kind !== "sign").length < 2;

/** "In packages, how many …": text without a question or order only leads in. */
const asks = (tokens: readonly Token[]): boolean =>
  tokens.some((token) => token.kind === "word" && starters.has(token.lower)) ||
  /\d/.test(tokens[0]?.text ?? "");

function startsClause(tokens: readonly Token[], from: number): boolean {
  let at = from;
  while (
    at < tokens.length &&
    tokens[at]?.kind === "word" &&
    /^(and|then|also|please|now|finally)$/.test(tokens[at]?.lower ?? "")
  )
    at++;
  const token = tokens[at];
  if (token === undefined || token.kind !== "word") return false;
  if (at > from && heads.test(token.lower)) return true;
  if (
    token.lower === "the" &&
    /^(number|total|count|size|length|sum|first|last)$/.test(tokens[at + 1]?.lower ?? "")
  )
    return true;
  return starters.has(token.lower);
}
