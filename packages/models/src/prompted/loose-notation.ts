// The room of notations that are not JSON: Python's calls, and Gemma's own.
//
// Models write them if they were trained on them, so they are parsed strictly, and only where a call is expected: anything
// that does not fit is not a call. One pass, bounded depth. A text that merely breaks off is distinguished from a wrong
// one.

import type { Json, JsonObject } from "@rondo/core";
import { ownMember, setOwn } from "@rondo/core/checks";
import type { CutCall, OwnCall } from "./calls.ts";
import { found } from "./scan.ts";

const deepest = 64;
const pythonName = /[A-Za-z_][\w.-]{0,127}(?=\s{0,9}\()/y;
const gemmaName = /:?(?:call|declaration):([\w.:-]{1,128})(?=\{)/y;
const blank = /\s*/y;
const key = /[A-Za-z_][\w.-]{0,127}/y;
const number = /-?\d{1,400}(?:\.\d{1,400})?(?:[eE][+-]?\d{1,4})?(?![\w.])/y;
const word = /(?:[Tt]rue|[Ff]alse|None|null)(?!\w)/y;
/** Quotes that cannot occur in a text: Gemma's own. */
const tokens: readonly string[] = ['<|"|>', "<escape>"];
const longestToken = 8;
/** Unquoted text, as Gemma sometimes writes it. Python has none. */
const bare = /[^{}[\],<>"']{1,4096}/y;
const escapes: { readonly [letter: string]: string } = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };
const coded = /u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}/y;

/** How a call is written: what follows its arguments, and what separates a name from its value. */
interface Form {
  close: string;
  between: string;
  /** Texts may be unquoted; values and commas may be missing. */
  isLax: boolean;
}

const python: Form = { close: ")", between: "=", isLax: false };
const gemma: Form = { close: "}", between: ":", isLax: true };

/** `name(key=value, …)` at an offset; undefined if there is none. */
export function pythonCall(text: string, at: number): OwnCall | CutCall | undefined {
  const name = found(pythonName, text, at)?.[0];
  if (name === undefined) return undefined;
  return new Notation(text, text.indexOf("(", at) + 1, python).call(name);
}

/** `call:name{key:value, …}` at an offset. */
export function gemmaCall(text: string, at: number): OwnCall | CutCall | undefined {
  const head = found(gemmaName, text, at);
  if (head === null) return undefined;
  return new Notation(text, at + head[0].length + 1, gemma).call(head[1] ?? "");
}

/** Thrown if the text is not a call. */
class NoCall extends Error {}

/** Thrown if it merely ended too early. */
class CutOff extends NoCall {}

class Notation {
  readonly #text: string;
  readonly #form: Form;
  #at: number;

  /** @param at the offset of the arguments */
  constructor(text: string, at: number, form: Form) {
    this.#text = text;
    this.#at = at;
    this.#form = form;
  }

  call(name: string): OwnCall | CutCall | undefined {
    const { close, between } = this.#form;
    try {
      const args = this.#members(close, between, 0);
      return { name, args, end: this.#at, closed: true };
    } catch (thrown) {
      if (!(thrown instanceof NoCall)) throw thrown;
      return thrown instanceof CutOff ? { name } : undefined;
    }
  }

  /** The next character that is not white space. There must be one. */
  #next(): string {
    this.#at += found(blank, this.#text, this.#at)?.[0].length ?? 0;
    if (this.#at >= this.#text.length) throw new CutOff();
    return this.#text.charAt(this.#at);
  }

  #take(pattern: RegExp): string | undefined {
    const taken = found(pattern, this.#text, this.#at)?.[0];
    if (taken !== undefined) this.#at += taken.length;
    return taken;
  }

  #closes(close: string): boolean {
    if (this.#next() !== close) return false;
    this.#at += 1;
    return true;
  }

  /** After an item there must be a comma, or the end. */
  #comma(close: string, needed: boolean): void {
    const char = this.#next();
    if (char === ",") this.#at += 1;
    else if (needed && char !== close) throw new NoCall();
  }

  #members(close: string, between: string, depth: number): JsonObject {
    const members: JsonObject = {};
    while (!this.#closes(close)) {
      const name = this.#string() ?? this.#take(key);
      if (name === undefined || this.#next() !== between) throw new NoCall();
      this.#at += 1;
      setOwn(members, name, this.#empty(close) ? "" : this.#value(depth + 1));
      this.#comma(close, !this.#form.isLax);
    }
    return members;
  }

  /** Gemma sometimes leaves out a value, or the comma between two members. */
  #empty(close: string): boolean {
    const char = this.#next();
    return this.#form.isLax && (char === "," || char === close);
  }

  #items(close: string, depth: number): Json[] {
    const items: Json[] = [];
    while (!this.#closes(close)) {
      items.push(this.#value(depth + 1));
      this.#comma(close, true);
    }
    return items;
  }

  #value(depth: number): Json {
    if (depth > deepest) throw new NoCall();
    const opens = this.#next();
    const string = this.#string();
    if (string !== undefined) return string;
    if (opens === "{" || opens === "[" || opens === "(") {
      this.#at += 1;
      if (opens === "{") return this.#members("}", ":", depth);
      return this.#items(opens === "[" ? "]" : ")", depth);
    }
    const named = this.#take(word);
    if (named !== undefined) return /^n/i.test(named) ? null : named.endsWith("rue");
    const digits = this.#take(number);
    if (digits !== undefined) return exact(digits);
    const text = this.#form.isLax ? this.#take(bare)?.trim() : undefined;
    if (text === undefined || text === "") throw new NoCall();
    return text;
  }

  /** A quoted text; undefined if none begins here. */
  #string(): string | undefined {
    const text = this.#text;
    const token = tokens.find((one) => text.startsWith(one, this.#at));
    if (token !== undefined) {
      const end = text.indexOf(token, this.#at + token.length);
      if (end === -1) throw new CutOff();
      const value = text.slice(this.#at + token.length, end);
      this.#at = end + token.length;
      return value;
    }
    const left = text.slice(this.#at, this.#at + longestToken);
    if (this.#at + left.length === text.length && tokens.some((one) => one.startsWith(left)))
      throw new CutOff();
    const single = text.charAt(this.#at);
    if (single !== '"' && single !== "'") return undefined;
    const quote = text.startsWith(single.repeat(3), this.#at) ? single.repeat(3) : single;
    let value = "";
    let kept = this.#at + quote.length;
    for (let at = kept; at < text.length; at++) {
      if (text.startsWith(quote, at)) {
        this.#at = at + quote.length;
        return value + text.slice(kept, at);
      }
      if (text.charAt(at) !== "\\") continue;
      const code = found(coded, text, at + 1)?.[0];
      value += text.slice(kept, at);
      value +=
        code === undefined
          ? escaped(text.charAt(at + 1))
          : String.fromCharCode(Number.parseInt(code.slice(1), 16));
      at += code?.length ?? 1;
      kept = at + 1;
    }
    throw new CutOff();
  }
}

/** The character for an escape. Python keeps an unknown escape as it is. */
function escaped(letter: string): string {
  if (letter === "\n") return "";
  if (/["'\\/]/.test(letter)) return letter;
  return ownMember(escapes, letter) ?? `\\${letter}`;
}

/** A number that would lose digits stays text: the tool's schema decides what becomes of it. */
function exact(digits: string): Json {
  const value = Number(digits);
  return Number.isFinite(value) && (!/^-?\d+$/.test(digits) || Number.isSafeInteger(value)) ? value : digits;
}
