// The room of streamed arguments: a call's arguments assembled from values at JSON paths.
//
// Vertex streams arguments as `{ jsonPath, stringValue | numberValue | boolValue | nullValue }`, where pieces of a string
// are appended. Paths and keys come from a model: `__proto__` is a key like any other, an index must not create an array of
// a billion holes, and a path that contradicts an earlier one makes the call broken, never wrong.

import type { Json, JsonObject } from "@rondo/core";
import { ownMember, setOwn } from "@rondo/core/checks";

export interface PartialArg {
  jsonPath?: string;
  stringValue?: string;
  numberValue?: number;
  boolValue?: boolean;
  nullValue?: unknown;
  willContinue?: boolean;
}

type Step = string | number;

/** How far beyond its end an array may be written. Pieces come in order; this is for servers that skip a few. */
const maxGap = 1000;

/** Assembles one call's arguments. `add` returns the JSON text that the piece added, for display while it grows. */
export class StreamedArgs {
  readonly value: JsonObject = {};
  readonly pieces: PartialArg[] = [];
  /** Set once a piece did not fit: the arguments must not be trusted then. */
  broken = false;
  /** Whether the last piece is a text of which more is to come. */
  goesOn = false;
  readonly #writer = new Writer();

  add(piece: PartialArg): string {
    this.pieces.push(piece);
    this.goesOn = piece.willContinue === true;
    const path = typeof piece.jsonPath === "string" ? parsePath(piece.jsonPath) : undefined;
    const leaf = leafOf(piece);
    if (path === undefined || leaf === undefined || !put(this.value, path, leaf)) {
      this.broken = true;
      return "";
    }
    return this.#writer.write(path, leaf, piece.willContinue === true);
  }

  /** The text that closes what `add` has returned so far. */
  end(): string {
    return this.broken ? "" : this.#writer.end();
  }
}

function leafOf(piece: PartialArg): Json | undefined {
  if (typeof piece.stringValue === "string") return piece.stringValue;
  // A long integer may have been kept as raw JSON, whose type is not number.
  if (piece.numberValue !== undefined) return piece.numberValue;
  if (typeof piece.boolValue === "boolean") return piece.boolValue;
  if ("nullValue" in piece) return null;
  return undefined;
}

/** `$.a.b[0]['c d']` as steps; undefined if it is not such a path. The root alone is not one: arguments are an object. */
function parsePath(path: string): Step[] | undefined {
  if (!path.startsWith("$")) return undefined;
  const steps: Step[] = [];
  const step = /\.([^.[\]]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;
  step.lastIndex = 1;
  while (step.lastIndex < path.length) {
    const found = step.exec(path);
    if (found === null) return undefined;
    const [, name, index, single, double] = found;
    if (name !== undefined) steps.push(name);
    else if (index !== undefined) steps.push(Number(index));
    else {
      const key = unquote(single ?? double ?? "");
      if (key === undefined) return undefined;
      steps.push(key);
    }
  }
  return steps.length === 0 || typeof steps[0] === "number" ? undefined : steps;
}

function unquote(quoted: string): string | undefined {
  if (!quoted.includes("\\")) return quoted;
  try {
    // A path may escape its own quote, which JSON does not know, and leave the other kind unescaped, which JSON forbids.
    const json = quoted.replaceAll("\\'", "'").replaceAll(/(?<!\\)"/g, '\\"');
    return JSON.parse(`"${json}"`) as string;
  } catch {
    return undefined;
  }
}

function put(root: JsonObject, path: readonly Step[], leaf: Json): boolean {
  let at: Json = root;
  for (let i = 0; i < path.length; i++) {
    const step = path[i]!;
    const before = get(at, step);
    if (before === refused) return false;
    if (i === path.length - 1) {
      if (before === undefined) return set(at, step, leaf);
      if (typeof before === "string" && typeof leaf === "string") return set(at, step, before + leaf);
      return typeof before !== "object" || before === null ? set(at, step, leaf) : false;
    }
    let next: Json | undefined = before;
    if (next === undefined) {
      next = typeof path[i + 1] === "number" ? [] : {};
      set(at, step, next);
    }
    if (typeof next !== "object" || next === null) return false;
    at = next;
  }
  return false;
}

const refused = Symbol("refused");

function get(at: Json, step: Step): Json | undefined | typeof refused {
  if (Array.isArray(at)) {
    if (typeof step !== "number" || step > at.length + maxGap) return refused;
    return at[step];
  }
  if (typeof at !== "object" || at === null || typeof step === "number") return refused;
  return ownMember(at, step);
}

function set(at: Json, step: Step, value: Json): boolean {
  if (Array.isArray(at)) {
    while (at.length < (step as number)) at.push(null);
    at[step as number] = value;
  } else setOwn(at as JsonObject, step as string, value);
  return true;
}

/** Writes pieces that come in document order as JSON text. Out of order it stops writing: only the value counts. */
class Writer {
  readonly #open: { array: boolean; size: number; step: Step }[] = [];
  #inString = false;
  #silent = false;
  #started = false;
  readonly #done = new Set<string>();

  write(path: readonly Step[], leaf: Json, goesOn: boolean): string {
    if (this.#silent) return "";
    const quoted = typeof leaf === "string" ? JSON.stringify(leaf).slice(1, -1) : "";
    if (this.#inString && this.#at(path)) {
      this.#inString = goesOn;
      return goesOn ? quoted : `${quoted}"`;
    }
    let text = this.#closeString();
    const key = JSON.stringify(path);
    if (this.#done.has(key)) {
      // An empty last piece of a string that is already closed changes nothing; any other piece is out of order.
      if (leaf !== "") this.#silent = true;
      return text;
    }
    text += this.#moveTo(path);
    if (this.#silent) return text;
    this.#done.add(key);
    if (typeof leaf !== "string") return text + JSON.stringify(leaf);
    this.#inString = goesOn;
    return `${text}"${quoted}${goesOn ? "" : '"'}`;
  }

  end(): string {
    if (this.#silent) return "";
    if (!this.#started) return "{}";
    let text = this.#closeString();
    while (this.#open.length > 0) text += this.#pop();
    return text;
  }

  #closeString(): string {
    const text = this.#inString ? '"' : "";
    this.#inString = false;
    return text;
  }

  #at(path: readonly Step[]): boolean {
    return this.#open.length === path.length && this.#open.every((level, i) => level.step === path[i]);
  }

  #pop(): string {
    return this.#open.pop()?.array === true ? "]" : "}";
  }

  #moveTo(path: readonly Step[]): string {
    let same = 0;
    while (same < this.#open.length && same < path.length - 1 && this.#open[same]!.step === path[same])
      same++;
    let text = "";
    // Levels below the first difference are closed; the level of the difference stays open for a new member.
    while (this.#open.length > same + 1) text += this.#pop();
    for (let i = same; i < path.length; i++) {
      const step = path[i]!;
      const level = this.#open[i];
      const array = typeof step === "number";
      if (level === undefined) {
        if (array && step !== 0) this.#silent = true;
        text += array ? "[" : "{";
        this.#open.push({ array, size: 1, step });
      } else {
        const prefix = JSON.stringify(path.slice(0, i + 1));
        if (level.array ? step !== level.size : this.#done.has(prefix)) this.#silent = true;
        text += ",";
        level.step = step;
        level.size++;
      }
      if (this.#silent) return "";
      if (i < path.length - 1) this.#done.add(JSON.stringify(path.slice(0, i + 1)));
      if (!array) text += `${JSON.stringify(step)}:`;
    }
    this.#started = true;
    return text;
  }
}
