// The room of runs: values that stand one after another in an answer, and what is read of them.
//
// A run is read forward and once. Whether its calls may run is decided by who asked for it (`read-answer.ts`).

import type { StopKind } from "@rondo/core";
import { type CutCall, type Meaning, meaningOf, type OwnCall, plainName, type WrittenCall } from "./calls.ts";
import { around, bareCalls, closing, opening, ownCall } from "./native-calls.ts";
import { found, parsedLoosely, valueEnd } from "./scan.ts";

export interface ReadContext {
  known: ReadonlySet<string>;
  /** False: tools are off, and nothing is a call. */
  tools: boolean;
  /** What the inner model's stop word means. */
  wire: StopKind;
  /** What of an unclosed `response` had been read when the text ended. */
  begun?: string;
  /** Whether the conversation says this: a call below a text that does is a quotation. Default: never. */
  isQuoted?(written: string): boolean;
}

/** Values one after another, and what was read of them. */
export interface Run {
  from: number;
  calls: WrittenCall[];
  texts: string[];
  explicit: boolean;
  fenced: boolean;
  /** Where what belongs to the run ends. */
  end: number;
  /** How far it was looked at: nobody has to look there again. */
  seen: number;
  /** Whether what was looked at ends in a fence that it opened. */
  inFence: boolean;
  malformed?: string;
  /** It ends with an envelope that the limit cut before it said what it was. */
  cut?: true;
}

/** Where a run is being read. */
interface Cursor {
  at: number;
  inTag: boolean;
  inFence: boolean;
}

const unclosedCall = "the answer was cut off before the call was closed";

/** Reads runs of one answer. */
export class Runs {
  readonly #body: string;
  readonly #context: ReadContext;
  readonly #warn: (code: string, message: string) => void;

  constructor(body: string, context: ReadContext, warn: (code: string, message: string) => void) {
    this.#body = body;
    this.#context = context;
    this.#warn = warn;
  }

  /** The values one after another from a place on, fences and tags between them skipped. */
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

  /** What stands between values. */
  #skip(run: Run, cursor: Cursor): void {
    const text = this.#body;
    for (let next = found(around, text, cursor.at); next !== null; next = found(around, text, cursor.at)) {
      const [word] = next;
      // Between values, never before the first: a text may begin with a comma.
      if ((word === "," || word === ";") && run.end === run.from) break;
      cursor.at += word.length;
      // Lines of nothing but such words need not be gone through again. The last one may go on.
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

  /** A value in JSON. False where nothing more belongs to the run. */
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
    // After a call nothing but calls belongs to the message.
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
      const said = meaning.thought !== "" ? meaning.thought : (meaning.response ?? "");
      if (said !== "") run.texts.push(said);
      // The tag was never closed. What stands in it may be all there was to come, unless the limit cut it (F235).
      if (inTag && this.#isCutAt(end)) for (const call of meaning.calls) call.fault = unclosedCall;
    }
    return true;
  }

  /** What stands between brackets, which may be no JSON. */
  #meaning(written: string, inTag: boolean): Meaning {
    const { known } = this.#context;
    const value = parsedLoosely(written);
    if (value !== undefined) return meaningOf(value, known, inTag);
    const name = attemptedName(written, known, inTag);
    if (name !== undefined)
      return { kind: "malformed", thought: "", why: `the JSON of a call of ${name} is not valid` };
    return this.#quoted(written) ?? { kind: "other" };
  }

  /** A response in whose text quotes stand bare. It is over where the object is. */
  #quoted(written: string): Meaning | undefined {
    const text = bareResponse(written);
    if (text === undefined) return undefined;
    this.#warn(
      "prompted_json_invalid",
      "the JSON of the response is not valid: its text is taken as it stands",
    );
    return { kind: "response", text };
  }

  /** Calls in a family's own words. False where nothing more belongs to the run. */
  #own(run: Run, cursor: Cursor, own: OwnCall | CutCall | { calls: OwnCall[]; end: number }): boolean {
    const { known } = this.#context;
    run.inFence = cursor.inFence;
    if ("calls" in own) {
      // Without a mark they are like any bare call: the names must be those of tools.
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

  /** A call that breaks off: the limit's doing, or no call at all. */
  #cut(run: Run, name: string, rest: string): void {
    run.end = this.#body.length;
    if (this.#context.wire === "max_tokens")
      run.calls.push({ name, args: rest, fault: "the call was cut off at the output limit" });
    else if (run.calls.length === 0) run.malformed = `the call of ${name} is not closed`;
  }

  /** Brackets that never close: a call that was cut, a response that was cut, or no JSON at all. */
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

  /** An envelope that breaks off before it names a tool, or what stands in a tag. */
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

/** The text of an envelope with nothing behind its response, which goes on to the last quote there is. */
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

/** The protocol's own key, in whatever quotes. */
const explicitCall = /["'“”]?\b(?:tool[-_]?calls?|function[-_]?call)["'“”]?\s*:/i;
const namesTool =
  /(?:^|[{,\s])["'“”]?(?:name|tool|tool_name|action)["'“”]?\s*:\s*["'“”]([^"'“”\\]{1,128})["'“”]/;

/** The tool that JSON which cannot be parsed was meant for; undefined when it does not look like a call. */
function attemptedName(text: string, known: ReadonlySet<string>, inTag: boolean): string | undefined {
  const name = namesTool.exec(text)?.[1];
  return name !== undefined && (inTag || explicitCall.test(text) || known.has(name)) ? name : undefined;
}
