// The room of arguments that come in pieces: what they are so far, and whether they are whole.
//
// Some servers raise that question with every fragment. So each character is looked at once, and only text whose brackets
// close is parsed, once: parsing everything again with every piece would be quadratic (F244).

import { objectIn, parseJson } from "../../json-values.ts";

const blank = /^[ \t\n\r]*$/;
/** Characters of a string that neither end it nor escape anything. */
const plain = /[^"\\]+/y;

export class GrowingArgs {
  #pieces: string[] = [];
  /** Characters in the pieces. */
  length = 0;
  /** True once there was a piece, even an empty one. */
  begun = false;
  /** Number of pieces whose brackets were counted. */
  #counted = 0;
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #state: "before" | "open" | "shut" | "never" = "before";
  #isObject: boolean | undefined;

  add(piece: string): void {
    this.begun = true;
    if (piece === "") return;
    this.#pieces.push(piece);
    this.length += piece.length;
  }

  /** Whether the pieces are a whole object, with nothing after it. */
  get whole(): boolean {
    for (; this.#counted < this.#pieces.length; this.#counted++)
      this.#count(this.#pieces[this.#counted] ?? "");
    if (this.#state !== "shut") return false;
    this.#isObject ??= objectIn(parseJson(this.text)) !== undefined;
    return this.#isObject;
  }

  get text(): string {
    return this.#pieces.join("");
  }

  #count(piece: string): void {
    for (let at = 0; at < piece.length; at++) {
      if (this.#state === "never") return;
      const char = piece.charAt(at);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (this.#inString) {
        plain.lastIndex = at;
        at += (plain.exec(piece)?.[0].length ?? 1) - 1;
        if (char === '"') this.#inString = false;
        else if (char === "\\") this.#isEscaped = true;
      } else this.#mark(char);
    }
  }

  /** Takes a character outside of strings. */
  #mark(char: string): void {
    if (this.#state !== "open") {
      if (char === "{" && this.#state === "before") {
        this.#state = "open";
        this.#depth = 1;
      } else if (!blank.test(char)) this.#state = "never";
    } else if (char === '"') this.#inString = true;
    else if (char === "{" || char === "[") this.#depth += 1;
    else if (char === "}" || char === "]") {
      this.#depth -= 1;
      if (this.#depth === 0) this.#state = "shut";
    }
  }
}
