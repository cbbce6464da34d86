// The room of the unfinished value: JSON as far as it has arrived.
//
// It makes one pass, character by character, into a value that grows in place: nothing is read or copied twice, so the work
// is linear in the text, in whatever pieces it arrives. The value so far is always correct: a string may still grow; a
// number, `true` or a key appears only when it is complete. Text before the first bracket counts as prose.

import { setOwn } from "../json/object.ts";
import type { Json, JsonObject } from "../message.ts";

/** The type of a value while it arrives: any member may be missing, any string or list incomplete. */
export type Partially<T> = T extends readonly (infer Item)[]
  ? Partially<Item>[]
  : T extends object
    ? { [Key in keyof T]?: Partially<T[Key]> }
    : T;

interface Frame {
  container: JsonObject | Json[];
  /** The key of the next value in an object. */
  key: string;
}

type Expecting =
  | "value"
  | "first_value"
  | "key"
  | "first_key"
  | "colon"
  | "comma"
  | "string"
  | "word"
  | "over";

const escapes: { readonly [letter: string]: string } = {
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  '"': '"',
  "\\": "\\",
  "/": "/",
};

/** Builds a JSON value from pieces of its text. */
export class PartialJson {
  /** The object or list so far, always the same one. Undefined before it has begun, or after it turned out to be prose. */
  value: JsonObject | Json[] | undefined;
  /** How many characters were read. */
  looked: number = 0;
  readonly #roots: string;
  #stack: Frame[] = [];
  #expecting: Expecting = "over";
  #inKey: boolean = false;
  /** The text of the open key, number or word. */
  #token: string = "";
  /** The characters of an escape that has not ended, its backslash first. */
  #escape: string = "";
  /** The first half of a surrogate pair, which is invalid alone. */
  #half: string = "";

  /** @param schema of the value; if it has `type: "object"` or `"array"`, no other bracket begins the value */
  constructor(schema: JsonObject = {}) {
    this.#roots = schema.type === "object" ? "{" : schema.type === "array" ? "[" : "{[";
  }

  /** Whether the value is complete. */
  get done(): boolean {
    return this.value !== undefined && this.#expecting === "over";
  }

  /** Takes the next piece. Returns whether the value changed. */
  feed(piece: string): boolean {
    let changed = false;
    let at = 0;
    while (at < piece.length && !this.done) {
      const from = at;
      if (this.#expecting === "string" && this.#escape === "") {
        at = plainEnd(piece, at);
        if (at > from) changed = this.#append(piece.slice(from, at)) || changed;
        this.looked += at - from;
        if (at === piece.length) break;
      }
      changed = this.#take(piece[at] as string) || changed;
      this.looked += 1;
      at += 1;
    }
    return changed;
  }

  #take(char: string): boolean {
    if (this.value === undefined) return this.#roots.includes(char) && this.#open(char);
    if (this.#expecting === "string") return this.#inString(char);
    if (this.#expecting === "word") {
      if (/[\w.+-]/.test(char)) {
        this.#token += char;
        return false;
      }
      // A bracket may end the word, and begin the value if the word was prose.
      if (!this.#endWord()) this.#broken();
      this.#take(char);
      return true;
    }
    if (char === " " || char === "\n" || char === "\r" || char === "\t") return false;
    return this.#structure(char);
  }

  #structure(char: string): boolean {
    const expecting = this.#expecting;
    switch (char) {
      case "{":
      case "[":
        // Then what came before was prose, and this may be the value.
        if (!isValue(expecting)) this.#broken();
        return this.value !== undefined || this.#roots.includes(char) ? this.#open(char) : true;
      case "}":
      case "]": {
        const isList = Array.isArray(this.#stack.at(-1)?.container);
        // Also after a comma: the final parser accepts one there too.
        const mayEnd = expecting === "comma" || (isList ? isValue : isKey)(expecting);
        if (!mayEnd || isList !== (char === "]")) return this.#broken();
        this.#stack.pop();
        this.#expecting = this.#stack.length === 0 ? "over" : "comma";
        return this.#expecting === "over";
      }
      case ",":
        if (expecting !== "comma") return this.#broken();
        this.#expecting = Array.isArray(this.#stack.at(-1)?.container) ? "value" : "key";
        return false;
      case ":":
        if (expecting !== "colon") return this.#broken();
        this.#expecting = "value";
        return false;
      case '"':
        this.#inKey = isKey(expecting);
        if (!this.#inKey && !isValue(expecting)) return this.#broken();
        this.#token = "";
        this.#expecting = "string";
        if (this.#inKey) return false;
        this.#put("");
        return true;
      default:
        if (!isValue(expecting) || !/[-0-9tfn]/.test(char)) return this.#broken();
        this.#token = char;
        this.#expecting = "word";
        return false;
    }
  }

  #inString(char: string): boolean {
    if (this.#escape !== "") {
      this.#escape += char;
      const unicode = this.#escape[1] === "u";
      if (unicode && this.#escape.length < 6) return false;
      const sequence = this.#escape;
      this.#escape = "";
      if (unicode && !/^[0-9a-f]{4}$/i.test(sequence.slice(2))) return this.#broken();
      const letter = unicode ? String.fromCharCode(Number.parseInt(sequence.slice(2), 16)) : escapes[char];
      return letter === undefined ? this.#broken() : this.#append(letter);
    }
    if (char === "\\") {
      this.#escape = char;
      return false;
    }
    // Only the closing quote is missing. Half a surrogate pair that stays alone is kept as it came.
    const half = this.#half;
    this.#half = "";
    const changed = half !== "" && this.#write(half);
    if (this.#inKey) (this.#stack.at(-1) as Frame).key = this.#token;
    this.#expecting = this.#inKey ? "colon" : "comma";
    return changed;
  }

  #append(text: string): boolean {
    const whole = this.#half + text;
    const last = whole.charCodeAt(whole.length - 1);
    const cut = last >= 0xd800 && last < 0xdc00;
    this.#half = cut ? whole.slice(-1) : "";
    return this.#write(cut ? whole.slice(0, -1) : whole);
  }

  #write(text: string): boolean {
    if (text === "") return false;
    if (this.#inKey) {
      this.#token += text;
      return false;
    }
    // The engine joins strings without copying them.
    const { container, key } = this.#stack.at(-1) as Frame;
    if (Array.isArray(container)) container[container.length - 1] += text;
    else setOwn(container, key, (container[key] as string) + text);
    return true;
  }

  #endWord(): boolean {
    let value: Json;
    try {
      value = JSON.parse(this.#token) as Json;
    } catch {
      return false;
    }
    this.#put(value);
    this.#expecting = "comma";
    return true;
  }

  #open(bracket: string): boolean {
    const container: JsonObject | Json[] = bracket === "{" ? {} : [];
    if (this.value === undefined) this.value = container;
    else this.#put(container);
    this.#stack.push({ container, key: "" });
    this.#expecting = bracket === "{" ? "first_key" : "first_value";
    return true;
  }

  #put(value: Json): void {
    const { container, key } = this.#stack.at(-1) as Frame;
    if (Array.isArray(container)) container.push(value);
    else setOwn(container, key, value);
  }

  /** What looked like a value was prose: the next bracket may begin the value. */
  #broken(): boolean {
    this.value = undefined;
    this.#stack = [];
    this.#expecting = "over";
    this.#escape = "";
    this.#half = "";
    return true;
  }
}

const isValue = (expecting: Expecting): boolean => expecting === "value" || expecting === "first_value";

const isKey = (expecting: Expecting): boolean => expecting === "key" || expecting === "first_key";

/** Where the plain characters of a string end: at a quote, a backslash, or the end of the piece. */
function plainEnd(piece: string, from: number): number {
  let at = from;
  while (at < piece.length && piece[at] !== '"' && piece[at] !== "\\") at += 1;
  return at;
}
