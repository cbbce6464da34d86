// The room of runs: consecutive values in an answer, and what was read from them.
//
// A run is read forward and once. Whether its calls may run is decided by the caller (`read-answer.ts`).

import type { StopKind } from "@rondo/core";
import { type CutCall, type Meaning, meaningOf, type OwnCall, plainName, type WrittenCall } from "./calls.ts";
import { around, bareCalls, closing, opening, ownCall } from "./native-calls.ts";
import { found, parsedLoosely, valueEnd } from "./scan.ts";

export interface ReadContext {
  known: ReadonlySet<string>;
  /** False: tools are off, and nothing is a call. */
  tools: boolean;
  /** What the inner model's finish reason means. */
  wire: StopKind;
  /** The text of an unclosed `response` so far. */
  begun?: string;
  /** Whether the text occurs in the conversation: a call in such a text is a quotation. Default: never. */
  isQuoted?(written: string): boolean;
}

/** Consecutive values, and what was read from them. */
export interface Run {
  from: number;
  calls: WrittenCall[];
  texts: string[];
  explicit: boolean;
  fenced: boolean;
  /** The offset where the run ends. */
  end: number;
  /** The offset up to which the text was looked at, so that nobody has to look there again. */
  seen: number;
  /** Whether the text looked at ends inside a fence that it opened. */
  inFence: boolean;
  malformed?: string;
  /** It ends with an envelope that the limit cut off before it showed what it was. */
  cut?: true;
}

/** The position while a run is read. */
interface Cursor {
  at: number;
  inTag: boolean;
  inFence: boolean;
}

/** Closing brackets too many behind a whole call, as small models write them: nothing else may follow on their line. */
const spareClosers = /\s{0,9}[}\]]{1,4}(?=\s{0,9}(?:$|```|[<{[]))/y;

const unclosedCall = "the answer was cut off before the call was closed";

/** Reads the runs of one answer. */
export class Runs {
  readonly #body: string;
  readonly #context: ReadContext;
  readonly #warn: (code: string, message: string) => void;

  constructor(body: string, context: ReadContext, warn: (code: string, message: string) => void) {
    this.#body = body;
    this.#context = context;
    this.#warn = warn;
  }

  /** The consecutive values from an offset on; fences and tags between them are skipped. */
  from(from: number): Run {
    const text = this.#body;
    const run: Run = {
      from,
      calls: [],
      texts: [],
      explicit: true,
      fenced: false,
      end: from,
      seen: from,
      inFence: false,
    };
    const cursor: Cursor = { at: from, inTag: false, inFence: false };
    for (let goesOn = true; goesOn; ) {
      this.#skip(run, cursor);
      const own = ownCall(text, cursor.at, cursor.inTag) ?? bareCalls(text, cursor.at);
      goesOn = own === undefined ? this.#value(run, cursor) : this.#own(run, cursor, own);
    }
    return run;
  }

  /** Skips what may come between values. */
  #skip(run: Run, cursor: Cursor): void {
    const text = this.#body;
    for (let next = found(around, text, cursor.at); next !== null; next = found(around, text, cursor.at)) {
      const [word] = next;
      // Only between values, not before the first: a text may begin with a comma.
      if ((word === "," || word === ";") && run.end === run.from) break;
      cursor.at += word.length;
      // Lines of only such words need not be looked at again. The last line may continue.
      if (word.includes("\n")) {
        run.seen = cursor.at;
        run.inFence = cursor.inFence;
      }
      if (word.startsWith("```")) {
        cursor.inFence = !cursor.inFence;
        cursor.inTag = cursor.inFence && word === "```tool_code";
        run.fenced = true;
      } else if (closing.test(word)) cursor.inTag = false;
      else if (opening.test(word)) cursor.inTag = true;
    }
    if (run.end !== run.from) run.end = cursor.at;
  }

  /** Reads a JSON value. False if nothing more belongs to the run. */
  #value(run: Run, cursor: Cursor): boolean {
    const text = this.#body;
    const { at, inTag } = cursor;
    if (!/[{[]/.test(text.charAt(at))) return false;
    const end = valueEnd(text, at);
    run.seen = end === -1 ? text.length : end;
    run.inFence = cursor.inFence;
    if (end === -1) {
      this.#unclosed(run, text.slice(at), inTag);
      return false;
    }
    const written = text.slice(at, end);
    const meaning = this.#meaning(written, inTag);
    // After a call only further calls belong to the message.
    if (meaning.kind === "other" || (meaning.kind === "response" && run.calls.length > 0)) return false;
    run.end = end;
    cursor.at = end;
    if (meaning.kind === "malformed") {
      if (meaning.thought !== "") run.texts.push(meaning.thought);
      if (run.calls.length === 0) run.malformed = meaning.why;
      return false;
    }
    if (meaning.kind === "response") {
      run.texts.push(meaning.text);
      if (meaning.beside !== undefined)
        this.#warn(
          "prompted_json_invalid",
          `beside its response the answer has ${meaning.beside.join(", ")}, which is left out`,
        );
    } else {
      run.explicit &&= meaning.explicit || inTag;
      run.calls.push(...meaning.calls);
      run.end += found(spareClosers, text, end)?.[0].length ?? 0;
      cursor.at = run.end;
      const said = meaning.thought !== "" ? meaning.thought : (meaning.response ?? "");
      if (said !== "") run.texts.push(said);
      // The tag was never closed. The call in it may be complete, unless the limit cut it off (F235).
      if (inTag && this.#isCutAt(end)) for (const call of meaning.calls) call.fault = unclosedCall;
    }
    return true;
  }

  /** What is between brackets, which may not be JSON. */
  #meaning(written: string, inTag: boolean): Meaning {
    const { known } = this.#context;
    const value = parsedLoosely(written);
    if (value !== undefined) return meaningOf(value, known, inTag);
    const name = attemptedName(written, known, inTag);
    if (name !== undefined)
      return { kind: "malformed", thought: "", why: `the JSON of a call of ${name} is not valid` };
    return this.#quoted(written) ?? { kind: "other" };
  }

  /** A response with unescaped quotes in its text. It ends where the object does. */
  #quoted(written: string): Meaning | undefined {
    const text = bareResponse(written);
    if (text === undefined) return undefined;
    this.#warn(
      "prompted_json_invalid",
      "the JSON of the response is not valid: its text is taken as it stands",
    );
    return { kind: "response", text };
  }

  /** Calls in a family's own notation. False if nothing more belongs to the run. */
  #own(run: Run, cursor: Cursor, own: OwnCall | CutCall | { calls: OwnCall[]; end: number }): boolean {
    const { known } = this.#context;
    run.inFence = cursor.inFence;
    if ("calls" in own) {
      // Without tokens they are like any bare call: the names must be those of tools.
      run.seen = own.end;
      if (!own.calls.every(({ name }) => known.has(plainName(name, known)))) return false;
      run.explicit &&= cursor.inTag;
      for (const { name, args } of own.calls) run.calls.push({ name: plainName(name, known), args });
    } else {
      const name = plainName(own.name, known);
      if (own.args === undefined) {
        run.seen = this.#body.length;
        if (known.has(name)) this.#cut(run, name, this.#body.slice(cursor.at));
        return false;
      }
      const fault = !own.closed && this.#isCutAt(own.end) ? { fault: unclosedCall } : {};
      run.calls.push({ name, args: own.args, ...fault });
      run.seen = own.end;
    }
    run.end = own.end;
    cursor.at = own.end;
    return true;
  }

  /** Whether the answer reached its limit here. */
  #isCutAt(end: number): boolean {
    return this.#context.wire === "max_tokens" && !/\S/.test(this.#body.slice(end));
  }

  /** A call that breaks off: cut by the limit, or not a call at all. */
  #cut(run: Run, name: string, rest: string): void {
    run.end = this.#body.length;
    if (this.#context.wire === "max_tokens")
      run.calls.push({ name, args: rest, fault: "the call was cut off at the output limit" });
    else if (run.calls.length === 0) run.malformed = `the call of ${name} is not closed`;
  }

  /** Brackets that never close: a truncated call, a truncated response, or not JSON at all. */
  #unclosed(run: Run, rest: string, inTag: boolean): void {
    const name = attemptedName(rest, this.#context.known, inTag);
    if (name === undefined) {
      if (run.calls.length > 0) return;
      const quoted = this.#quoted(rest);
      if (quoted?.kind === "response") {
        run.texts.push(quoted.text);
        run.end = this.#body.length;
        return;
      }
      if (this.#context.begun !== undefined && this.#context.begun !== "") {
        run.texts.push(this.#context.begun);
        run.end = this.#body.length;
        this.#warn(
          "prompted_json_invalid",
          "the answer's JSON was not closed; its response is taken as far as it goes",
        );
      } else this.#nameless(run, rest, inTag);
      return;
    }
    this.#cut(run, name, rest);
  }

  /** An envelope, or the content of a tag, that breaks off before it names a tool. */
  #nameless(run: Run, rest: string, inTag: boolean): void {
    if (this.#context.wire === "max_tokens" && (inTag || opensEnvelope(rest))) run.cut = true;
    else if (inTag || explicitCall.test(rest)) run.malformed = "it breaks off before it names a tool";
    else return;
    run.end = this.#body.length;
  }
}

const envelopeKeys: readonly string[] = ["thought", "response", "tool_call", "tool_calls", "function_call"];

/** Whether a text that breaks off began as the protocol's own object. */
function opensEnvelope(rest: string): boolean {
  const [whole, key, closed] = /^\{\s*"(\w*)(")?/.exec(rest) ?? [];
  if (whole === undefined || key === undefined) return false;
  if (closed !== undefined) return envelopeKeys.includes(key);
  return whole.length === rest.length && envelopeKeys.some((one) => one.startsWith(key));
}

const toResponse = /^\{\s*(?:"thought"\s*:\s*"(?:[^"\\]+|\\[\s\S])*"\s*,\s*)?"response"\s*:\s*"/;
const bareQuotes = /\\[\s\S]|"/g;

/** The text of an envelope with nothing after its response, which extends to the last quote. */
function bareResponse(written: string): string | undefined {
  const head = toResponse.exec(written)?.[0];
  if (head === undefined) return undefined;
  const end = written.trimEnd();
  const object = end.endsWith("```") ? end.slice(0, -3).trimEnd() : end;
  if (!object.endsWith("}")) return undefined;
  const inner = object.slice(0, -1).trimEnd();
  if (!inner.endsWith('"') || inner.length <= head.length) return undefined;
  const text = inner.slice(head.length, -1).replace(bareQuotes, (one) => (one === '"' ? '\\"' : one));
  const value = parsedLoosely(`"${text}"`);
  return typeof value === "string" ? value : undefined;
}

/** The protocol's own key, in any kind of quotes. */
const explicitCall = /["'“”]?\b(?:tool[-_]?calls?|function[-_]?call)["'“”]?\s*:/i;
const namesTool =
  /(?:^|[{,\s])["'“”]?(?:name|tool|tool_name|action)["'“”]?\s*:\s*["'“”]([^"'“”\\]{1,128})["'“”]/;

/** The tool that unparsable JSON was meant for; undefined if it does not look like a call. */
function attemptedName(text: string, known: ReadonlySet<string>, inTag: boolean): string | undefined {
  const name = namesTool.exec(text)?.[1];
  return name !== undefined && (inTag || explicitCall.test(text) || known.has(name)) ? name : undefined;
}
