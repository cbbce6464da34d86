// The room of reading an answer that came as text, forgivingly.
//
// What may run, in this order of trust: a call under the protocol's own key or tag, first in the message or alone at
// its end; a call in the words of the model's own family (`own-calls.ts`); a bare call with a known name, when the whole
// message is calls. An example in prose, or in a fence inside prose, is prose. After the first calls the message is over: a
// result the model wrote itself is invention (F238). One pass over the text, never back (F243).

import type { StopKind } from "@rondo/core";
import { type CutCall, type Meaning, meaningOf, type OwnCall, plainName, type WrittenCall } from "./calls.ts";
import { withoutLeaks } from "./control-tokens.ts";
import { around, bareCalls, closing, firstNamed, opening, opensCalls, ownCall } from "./own-calls.ts";
import { found, parsedLoosely, valueEnd } from "./scan.ts";

export interface Reading {
  text: string;
  calls: WrittenCall[];
  /** It tried to call and nothing can be read from it. */
  malformed?: string;
  warnings: { code: string; message: string }[];
}

export interface ReadContext {
  known: ReadonlySet<string>;
  /** False: tools are off, and nothing is a call. */
  tools: boolean;
  /** What the inner model's stop word means. */
  wire: StopKind;
  /** What of an unclosed `response` had been read when the text ended. */
  begun?: string;
}

/** Reads a body from which thoughts have been taken already. */
export function readAnswer(body: string, context: ReadContext): Reading {
  return new AnswerReader(body, context).read();
}

/** Values one after another, and what was read of them. */
interface Run {
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
}

/** Where a run is being read. */
interface Cursor {
  at: number;
  inTag: boolean;
  inFence: boolean;
}

/** What a model writes when it goes on to invent the result, or another's turn. */
const invented: RegExp =
  /^\s*(?:<\/?(?:tool_response|tool_result|tool_output|observation|function_result|result)\b|<\||<｜|<\/s>|<end_of_turn>|\[(?:TOOL_RESULTS|\/?INST)\]|(?:observation|tool (?:result|response|output)|function (?:result|response)|result|output|thought|action|final answer|user|human|assistant|system|tool)\s*:|\{\s*"(?:tool_result|tool_response|result|observation|response)")/i;

/** The protocol's own tags: behind them a call runs wherever it stands, and what follows it is left out. */
const ownTag = /^<(?:tool_call|function_call)>$/;
const unclosedCall = "the answer was cut off before the call was closed";

class AnswerReader {
  readonly #body: string;
  readonly #context: ReadContext;
  readonly #warnings: Reading["warnings"] = [];

  constructor(body: string, context: ReadContext) {
    this.#body = body.replace(
      /^\s*(?:(?:<\|im_start\|>|<\|start_header_id\|>)assistant(?:<\|end_header_id\|>)?)?\s*/,
      "",
    );
    this.#context = context;
  }

  read(): Reading {
    const first = this.#run(0);
    const rest = this.#body.slice(first.end);
    const after = withoutLeaks(rest).trim();
    if (first.malformed !== undefined) return this.#malformed(first);
    if (first.calls.length > 0) {
      const alone = after === "" || invented.test(rest);
      if (alone || (first.explicit && !first.fenced)) return this.#called(first, "", rest);
      this.#ignore();
      return this.#plain();
    }
    if (first.texts.length > 0) {
      const more = after === "" || invented.test(rest) ? [] : [after];
      return this.#said([...first.texts, ...more].join("\n"));
    }
    return this.#inProse() ?? this.#attempt() ?? this.#plain();
  }

  /** It begins as nothing but a call does and names a tool: what it meant cannot be read, but an answer it is not. */
  #attempt(): Reading | undefined {
    const text = this.#body;
    if (!opensCalls(text)) return undefined;
    const name = firstNamed(text, this.#context.known);
    return name === undefined
      ? undefined
      : this.#malformed({ texts: [], malformed: `what it says of ${name} is no call` });
  }

  /** Values one after another from here on, fences and tags between them skipped. */
  #run(from: number): Run {
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
    const meaning = this.#meaning(text.slice(at, end), inTag);
    // After a call nothing but calls belongs to the message.
    if (meaning.kind === "other" || (meaning.kind === "response" && run.calls.length > 0)) return false;
    run.end = end;
    cursor.at = end;
    if (meaning.kind === "malformed") {
      if (meaning.thought !== "") run.texts.push(meaning.thought);
      if (run.calls.length === 0) run.malformed = meaning.why;
      return false;
    }
    if (meaning.kind === "response") run.texts.push(meaning.text);
    else {
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
    return name === undefined
      ? { kind: "other" }
      : { kind: "malformed", thought: "", why: `the JSON of a call of ${name} is not valid` };
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
      if (this.#context.begun !== undefined && this.#context.begun !== "" && run.calls.length === 0) {
        run.texts.push(this.#context.begun);
        run.end = this.#body.length;
        this.#warn(
          "prompted_json_invalid",
          "the answer's JSON was not closed; its response is taken as far as it goes",
        );
      }
      return;
    }
    this.#cut(run, name, rest);
  }

  /** Calls below a text: under the protocol's own key or tag, on a line of their own, outside fences, with nothing after. */
  #inProse(): Reading | undefined {
    const text = this.#body;
    let inFence = false;
    for (let at = 0; at < text.length; ) {
      const newline = text.indexOf("\n", at);
      const end = newline === -1 ? text.length : newline;
      const line = text.slice(at, end);
      const head = line.trimStart();
      const start = end - head.length;
      let next = end + 1;
      if (head.startsWith("```")) inFence = !inFence;
      else if (!inFence) {
        const read = this.#onLine(line, head, at, start);
        if (read === "over") return undefined;
        if (read !== undefined && "text" in read) return read;
        if (read !== undefined && read.seen >= next) {
          next = read.seen;
          if (read.inFence) inFence = !inFence;
        }
      }
      at = next;
    }
    return undefined;
  }

  /** A reading; what was looked at in vain; `over` when nothing can come any more. */
  #onLine(line: string, head: string, at: number, start: number): Reading | Run | "over" | undefined {
    const text = this.#body;
    const tag = opening.exec(line);
    if (tag !== null && !line.slice(0, tag.index).includes("`")) {
      const from = at + tag.index;
      const run = this.#run(from);
      if (run.malformed !== undefined) return this.#malformed(run, text.slice(0, from));
      if (run.calls.length === 0) return run;
      const rest = text.slice(run.end);
      if (ownTag.test(tag[0]) || isOver(rest)) return this.#called(run, text.slice(0, from), rest);
      this.#ignore();
      return run;
    }
    if (head.startsWith("{")) {
      if (valueEnd(text, start) === -1) {
        const attempt = text.slice(start);
        if (!/"(?:tool_calls?|function_call)"\s*:/.test(attempt)) return "over";
        const run = this.#run(start);
        if (run.malformed !== undefined) return this.#malformed(run, text.slice(0, start));
        return run.calls.length > 0 ? this.#called(run, text.slice(0, start), "") : "over";
      }
      const run = this.#run(start);
      const rest = text.slice(run.end);
      const alone = isOver(rest);
      if (alone && run.malformed !== undefined) return this.#malformed(run, text.slice(0, start));
      if (alone && run.calls.length > 0 && run.explicit) return this.#called(run, text.slice(0, start), rest);
      if (run.calls.length > 0) this.#ignore();
      return run;
    }
    const react = /^Action:[ \t]*(\S+)[ \t]*$/.exec(head);
    return react === null ? undefined : this.#react(react[1] ?? "", start, start + head.length);
  }

  /** `Action:` and `Action Input:` on lines of their own, as older prompts taught it. */
  #react(name: string, start: number, from: number): Reading | undefined {
    const text = this.#body;
    if (!this.#context.known.has(name)) return undefined;
    const input = found(/\n[ \t]*Action Input:[ \t]*/y, text, from);
    if (input === null) return undefined;
    const at = from + input[0].length;
    const line = text.indexOf("\n", at);
    const brace = found(/\s*\{/y, text, at);
    const closed = brace === null ? -1 : valueEnd(text, at + brace[0].length - 1);
    const end = closed !== -1 ? closed : line === -1 ? text.length : line;
    const calls = [{ name, args: text.slice(at, end).trim() }];
    return this.#called({ calls, texts: [] }, text.slice(0, start), text.slice(end));
  }

  #called(run: Pick<Run, "calls" | "texts">, before: string, rest: string): Reading {
    const said = joined(before, run.texts);
    if (!this.#context.tools) {
      this.#warn("text_call_ignored", "the answer calls a tool although none may be called; it was not run");
      return { text: said === "" ? this.#body.trim() : said, calls: [], warnings: this.#warnings };
    }
    if (withoutLeaks(rest).trim() !== "")
      this.#warn(
        "text_after_call_dropped",
        "what the model wrote after its calls was left out: no result can be known yet",
      );
    return { text: said, calls: run.calls, warnings: this.#warnings };
  }

  #malformed(run: Pick<Run, "texts" | "malformed">, before: string = ""): Reading {
    const why = run.malformed ?? "";
    if (!this.#context.tools) return this.#plain();
    this.#warn("prompted_json_invalid", `the answer tries to call a tool and cannot be read: ${why}`);
    return { text: joined(before, run.texts), calls: [], malformed: why, warnings: this.#warnings };
  }

  #said(text: string): Reading {
    return { text, calls: [], warnings: this.#warnings };
  }

  /** No envelope: the whole text is the answer. */
  #plain(): Reading {
    const text = withoutLeaks(this.#body).trim();
    if (this.#context.tools && text !== "" && this.#warnings.length === 0)
      this.#warn(
        "prompted_json_invalid",
        "the answer is no JSON of the protocol: its whole text is taken as the answer",
      );
    return this.#said(text);
  }

  #ignore(): void {
    this.#warn("text_call_ignored", "a call that stands in a text is an example and was not run");
  }

  /** Each kind once: a text may hold any number of examples. */
  #warn(code: string, message: string): void {
    if (!this.#warnings.some((one) => one.code === code)) this.#warnings.push({ code, message });
  }
}

/** Characters after which a text is no mere rest of control tokens. */
const farthestLeak = 4096;

/** Whether nothing of the answer follows. Asked again and again of what remains, so it looks no further than it must. */
function isOver(rest: string): boolean {
  if (invented.test(rest)) return true;
  const near = rest.length > farthestLeak ? rest.slice(0, farthestLeak) : rest;
  return withoutLeaks(near).trim() === "" && (near === rest || withoutLeaks(rest).trim() === "");
}

/** Prose and what was said in JSON below it. */
function joined(before: string, texts: readonly string[]): string {
  return [withoutLeaks(before).trim(), ...texts].filter((text) => text !== "").join("\n");
}

/** The tool that JSON which cannot be parsed was meant for; undefined when it does not look like a call. */
function attemptedName(text: string, known: ReadonlySet<string>, inTag: boolean): string | undefined {
  const explicit = inTag || /"(?:tool_calls?|function_call)"\s*:/.test(text);
  const name = /["'](?:name|tool|tool_name|action)["']\s*:\s*["']([^"'\\]{1,128})["']/.exec(text)?.[1];
  if (name !== undefined && (explicit || known.has(name))) return name;
  return undefined;
}
