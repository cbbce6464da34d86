// The room of a command's outline: what can be seen of a shell command without running it.
//
// Only for what a model is told of a result: nothing is decided by it. A here-document is not read, and a command with one has
// no outline.

export interface Outline {
  /** The program of the last command, if it is written out. */
  last: string | undefined;
  /** The last command reads from another one through a pipe. */
  isPiped: boolean;
  /** What only bash reads as its writer means it, in the order of `bashOnly`; a plain shell runs it, and does something else. */
  misread: readonly string[];
}

/** A part of a command up to `|`, `;`, `&&` and the like, and what stands in front of it. */
interface Part {
  text: string;
  after: string;
}

/** Longer commands are programs: their last line says little. */
const maxLength = 20_000;

/** The outline of a command; `undefined` if it has none that can be seen. */
export function outlineOf(command: string): Outline | undefined {
  if (command.length > maxLength) return undefined;
  const parts = partsOf(command);
  const [part] = parts?.slice(-1) ?? [];
  if (parts === undefined || part === undefined) return undefined;
  const plain = parts.map(({ text }) => text).join("\n");
  return {
    last: programOf(part.text),
    isPiped: part.after === "|",
    misread: [
      ...bashOnly.flatMap(([said, found]) => (found.test(plain) ? [said] : [])),
      ...(parts.some(({ after }) => after === "&>") ? ["&>"] : []),
    ],
  };
}

/** Tested on a command whose quoted texts are left out. */
const bashOnly: readonly (readonly [said: string, found: RegExp])[] = [
  ["{a,b}", /(?<!\$)\{[^\s{}]*(?:,|\.\.)[^\s{}]*\}/],
  ["$'…'", /\$''/],
  ["echo -e", /(?:^|\s)echo\s+-(?:e|ne|en)(?:\s|$)/m],
];

function programOf(text: string): string | undefined {
  const word = text
    .trim()
    .split(/\s+/)
    .find((one) => one !== "!" && !/^\w+=/.test(one));
  return word !== undefined && /^[\w./+-]+$/.test(word) ? word.slice(word.lastIndexOf("/") + 1) : undefined;
}

/** What ends a command, longest first. */
const ends = ["&&", "||", "&>", "|&", "|", ";", "&", "\n"];

/** The commands of a line, quoted texts and what is in parentheses left out; `undefined` if there is a here-document. */
function partsOf(command: string): Part[] | undefined {
  const parts: Part[] = [];
  let text = "";
  let after = "";
  let depth = 0;
  const end = (by: string): void => {
    if (text.trim() !== "") parts.push({ text, after });
    if (text.trim() !== "" || by !== "\n") after = by;
    text = "";
  };
  for (let at = 0; at < command.length; ) {
    const char = command.charAt(at);
    if (char === "\\") {
      if (depth === 0) text += command.charAt(at + 1) === "\n" ? " " : "_";
      at += 2;
    } else if (char === "'" || char === '"' || char === "`") {
      if (depth === 0) text += "''";
      at = afterQuoted(command, at, char);
    } else if (char === "#" && /(?:^|\s)$/.test(command.charAt(at - 1))) {
      const newline = command.indexOf("\n", at);
      at = newline < 0 ? command.length : newline;
    } else if (command.startsWith("<<", at) && command.charAt(at + 2) !== "<") return undefined;
    else if (char === "(" || char === ")") {
      depth += char === "(" ? 1 : depth > 0 ? -1 : 0;
      if (depth === 0 || (char === "(" && depth === 1)) text += char;
      at++;
    } else {
      // In `2>&1` and `>|` they end nothing.
      const by =
        depth === 0 && command.charAt(at - 1) !== ">"
          ? ends.find((one) => command.startsWith(one, at))
          : undefined;
      if (by !== undefined) end(by);
      else if (depth === 0) text += char;
      at += by?.length ?? 1;
    }
  }
  const isBackground = after === "&" && text.trim() === "";
  end("");
  return isBackground ? undefined : parts;
}

/** A command up to its first here-document, without what is in quotes or behind a `#`. */
export function unquoted(command: string): string {
  const pieces: string[] = [];
  let from = 0;
  for (let at = 0; at < command.length; ) {
    const char = command.charAt(at);
    let next = at + 1;
    if (char === "\\") next = at + 2;
    else if (char === "'" || char === '"' || char === "`") next = afterQuoted(command, at, char);
    else if (command.startsWith("<<", at)) next = command.length;
    else if (char === "#" && /(?:^|\s)$/.test(command.charAt(at - 1)))
      next = command.indexOf("\n", at) < 0 ? command.length : command.indexOf("\n", at);
    if (next > at + 1) {
      pieces.push(command.slice(from, at), " ");
      from = next;
    }
    at = next;
  }
  pieces.push(command.slice(from));
  return pieces.join("");
}

function afterQuoted(command: string, from: number, quote: string): number {
  for (let at = from + 1; at < command.length; at++) {
    if (command.charAt(at) === quote) return at + 1;
    if (command.charAt(at) === "\\" && quote !== "'") at++;
  }
  return command.length;
}
