// The room of the streaming response: the text of `response`, read out of an object that is still being written.
//
// It is for display only. The whole answer is parsed again at its end, and only that counts.

import { found } from "./scan.ts";

const longestKey = 32;
/** Characters that mean themselves in a string, except for surrogates. */
const simple = /[^"\\\ud800-\udfff]+/y;

export class ResponseWatch {
  begun: string | undefined;
  #depth = 0;
  #inString = false;
  #escape = "";
  #isKey = false;
  #key = "";
  #over = false;
  #inResponse = false;
  /** The first half of a surrogate pair written as two escapes. */
  #half = "";
  #blank = "";

  push(piece: string): string {
    let show = "";
    for (let at = 0; at < piece.length && !this.#over; ) {
      const isPlain = this.#inString && this.#escape === "" && this.#half === "";
      const run = isPlain ? found(simple, piece, at)?.[0] : undefined;
      show += run === undefined ? this.#take(piece.charAt(at)) : this.#said(run);
      at += run?.length ?? 1;
    }
    if (show === "") return "";
    this.begun = (this.begun ?? "") + show;
    // White space at the end waits: a finished answer may have none there.
    const kept = show.trimEnd();
    const before = this.#blank;
    this.#blank = kept === "" ? before + show : show.slice(kept.length);
    return kept === "" ? "" : before + kept;
  }

  #take(char: string): string {
    if (this.#inString) return this.#inside(char);
    if (char === '"') {
      this.#inString = true;
      this.#inResponse = this.#depth === 1 && !this.#isKey && this.#key === "response";
      if (this.#inResponse) this.begun ??= "";
      if (this.#depth === 1 && this.#isKey) this.#key = "";
    } else if (char === "{" || char === "[") {
      this.#depth += 1;
      if (this.#depth === 1) this.#isKey = true;
    } else if (char === "}" || char === "]") {
      this.#depth -= 1;
      if (this.#depth <= 0) this.#over = true;
    } else if (this.#depth === 1 && char === ":") {
      this.#isKey = false;
      // A call is coming: its thought is text, but it has no response.
      if (this.#key.startsWith("tool_call") || this.#key === "function_call") this.#over = true;
    } else if (this.#depth === 1 && char === ",") this.#isKey = true;
    return "";
  }

  #inside(char: string): string {
    const text = this.#escape === "" ? this.#plain(char) : this.#escaped(char);
    return text === undefined ? "" : this.#said(text);
  }

  /** Takes text of a string. Of a key only as much is kept as distinguishes the names. */
  #said(text: string): string {
    if (!this.#inResponse) {
      if (this.#depth === 1 && this.#isKey && this.#key.length < longestKey)
        this.#key += text.slice(0, longestKey - this.#key.length);
      return "";
    }
    const whole = this.#half + text;
    this.#half = "";
    if (/[\ud800-\udbff]$/.test(whole)) {
      this.#half = whole.slice(-1);
      return whole.slice(0, -1);
    }
    return whole;
  }

  #plain(char: string): string | undefined {
    if (char === "\\") {
      this.#escape = char;
      return undefined;
    }
    if (char !== '"') return char;
    this.#inString = false;
    if (this.#inResponse) this.#over = true;
    return undefined;
  }

  /** Takes one more character of an escape. Returns nothing until the escape is complete. */
  #escaped(char: string): string | undefined {
    this.#escape += char;
    if (this.#escape.startsWith("\\u") && this.#escape.length < 6) return undefined;
    const written = this.#escape;
    this.#escape = "";
    try {
      return JSON.parse(`"${written}"`) as string;
    } catch {
      // Not JSON: what is shown of it is decided at the end.
      this.#over = true;
      return undefined;
    }
  }
}
