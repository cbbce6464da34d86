// The room of plain text: makes text of a model or a tool safe for a terminal.
//
// A terminal obeys escape sequences: titles, clipboard, links, cursor moves. None of these may come from a model or a
// file. Text arrives in pieces that may split a sequence, so this is a state machine. A sequence that is never
// completed must not swallow the rest: the end of the line ends it.

const ESC = 0x1b;
const BEL = 0x07;

type Mode = "text" | "escape" | "control" | "string" | "string_escape" | "return";

/** Removes control characters and escape sequences from a text that comes in pieces. Newlines and tabs stay. */
export class TerminalText {
  #mode: Mode = "text";

  /** The harmless part of the next piece. */
  push(piece: string): string {
    let plain = "";
    let from = 0;
    for (let at = 0; at < piece.length; at += 1) {
      const code = piece.charCodeAt(at);
      if (this.#mode === "text" && !isUnsafe(code)) continue;
      if (this.#mode === "text") plain += piece.slice(from, at);
      plain += this.#step(code, piece, at);
      from = at + 1;
    }
    return this.#mode === "text" ? plain + piece.slice(from) : plain;
  }

  /** Ends the text: returns what is left of it. */
  end(): string {
    const left = this.#mode === "return" ? "\n" : "";
    this.#mode = "text";
    return left;
  }

  /** Takes in one character; returns what is shown for it. */
  #step(code: number, piece: string, at: number): string {
    switch (this.#mode) {
      case "text":
        this.#mode = opens(code);
        return "";
      case "return":
        // A lone carriage return would let the line be overwritten: start a new line instead.
        return code === 0x0a ? this.#again(code, piece, at) : `\n${this.#again(code, piece, at)}`;
      case "escape":
        this.#mode = afterEscape(code);
        return code >= 0x20 && code <= 0x7e ? "" : this.#again(code, piece, at);
      case "control":
        if (code >= 0x20 && code <= 0x3f) return "";
        this.#mode = "text";
        return code >= 0x40 && code <= 0x7e ? "" : this.#again(code, piece, at);
      case "string":
        if (code === 0x0a) return this.#again(code, piece, at);
        if (code === BEL || code === 0x9c) this.#mode = "text";
        else if (code === ESC) this.#mode = "string_escape";
        return "";
      case "string_escape":
        if (code === 0x5c) {
          this.#mode = "text";
          return "";
        }
        this.#mode = "escape";
        return this.#step(code, piece, at);
    }
  }

  /** The character does not belong to the sequence: process it as text. */
  #again(code: number, piece: string, at: number): string {
    this.#mode = "text";
    return isUnsafe(code) ? this.#step(code, piece, at) : piece.charAt(at);
  }
}

/** A complete text, made safe for a terminal. */
export function plainText(text: string): string {
  const machine = new TerminalText();
  return machine.push(text) + machine.end();
}

/** The lines of a text, made safe for a terminal, without trailing empty ones. */
export function plainLines(text: string): string[] {
  const plain = plainText(text);
  let end = plain.length;
  while (plain[end - 1] === "\n") end -= 1;
  return plain.slice(0, end).split("\n");
}

/** A text on one line, made safe for a terminal: each line break, with the whitespace around it, becomes `between`. */
export const joinedLines = (text: string, between: string): string =>
  plainText(text).replace(/\s+/g, (space) => (space.includes("\n") ? between : space));

/** A text with all invisible characters escaped: for what a person is asked to approve. */
export function visibleText(text: string): string {
  let shown = "";
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const hidden = (isUnsafe(code) || invisible.test(character)) && code !== 0x0a;
    shown += hidden ? `\\u{${code.toString(16)}}` : character;
  }
  return shown;
}

/** JSON on one line without anything a terminal would obey; the value stays the same. */
export const jsonLine = (value: unknown): string =>
  JSON.stringify(value).replace(/[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, escaped);

/** JSON on one line without invisible characters; the value stays the same. */
export const visibleJson = (value: unknown): string =>
  JSON.stringify(value)
    .replace(/[\u007f-\u009f]/g, escaped)
    .replace(allInvisible, escaped);

/** A character as JSON escapes: one, or two for a surrogate pair. */
const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");

/** Characters that show nothing or look like a space: marks, fillers, other spaces, lone surrogates. */
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\u2800]|(?! )\p{Zs}/u;
const allInvisible = new RegExp(invisible, "gu");

/** C0 except newline and tab, DEL, C1, and bidirectional controls. */
function isUnsafe(code: number): boolean {
  if (code < 0x20) return code !== 0x0a && code !== 0x09;
  if (code < 0x7f) return false;
  if (code <= 0x9f) return true;
  return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

function opens(code: number): Mode {
  if (code === ESC) return "escape";
  if (code === 0x0d) return "return";
  if (code === 0x9b) return "control";
  return code === 0x90 || code === 0x98 || code === 0x9d || code === 0x9e || code === 0x9f
    ? "string"
    : "text";
}

function afterEscape(code: number): Mode {
  const character = String.fromCharCode(code);
  if (character === "[") return "control";
  if ("]PX^_".includes(character)) return "string";
  // Intermediate bytes, then one final byte: `ESC ( B`.
  return code >= 0x20 && code <= 0x2f ? "escape" : "text";
}
