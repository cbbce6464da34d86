// The room of parsing an answer that came as text, tolerantly.
//
// What may run, in order of trust: a call under the protocol's own key or tag, first in the message or alone at its end; a
// call in the notation of the model's own family (`native-calls.ts`); a bare call with a known name, if the message
// consists only of calls. An example in prose, or in a fence inside prose, is prose; so is what a tool or a user wrote and
// the model only repeats: a model asked to read out a file must not run the calls in it (F240). After the first calls the
// message is over: a result that the model wrote itself is invented (F238). One pass over the text, never back (F243).

import type { WrittenCall } from "./calls.ts";
import { withoutLeaks } from "./control-tokens.ts";
import { firstNamed, opening, opensCalls } from "./native-calls.ts";
import { type ReadContext, type Run, Runs } from "./runs.ts";
import { found, valueEnd } from "./scan.ts";

export interface Reading {
  text: string;
  calls: WrittenCall[];
  /** The model tried to call a tool, but no call can be read. */
  malformed?: string;
  warnings: { code: string; message: string }[];
}

/** Parses a body whose reasoning was already removed. */
export function readAnswer(body: string, context: ReadContext): Reading {
  return new AnswerReader(body, context).read();
}

/** How a model begins to invent a result, or the turn of another speaker. */
const invented: RegExp =
  /^\s*(?:<\/?(?:tool_response|tool_result|tool_output|observation|function_result|result)\b|<\||<｜|<\/s>|<end_of_turn>|\[(?:TOOL_RESULTS|\/?INST)\]|(?:observation|tool (?:result|response|output)|function (?:result|response)|result|output|thought|action|final answer|user|human|assistant|system|tool)\s*:|\{\s*"(?:tool_result|tool_response|result|observation|response)")/i;

/** What is left of the end of a call that the limit cut off. */
const brokenTail: RegExp = /^\s*(?:`{1,2}|<[^<>\s]{0,40}|\[\/?[A-Z_]{0,24})$/;

/** The protocol's own tags: a call after one runs wherever it is, and what follows the call is left out. */
const ownTag = /^<(?:tool_call|function_call)>$/;

class AnswerReader {
  readonly #body: string;
  readonly #context: ReadContext;
  readonly #runs: Runs;
  readonly #warnings: Reading["warnings"] = [];

  constructor(body: string, context: ReadContext) {
    this.#body = body.replace(
      /^\s*(?:(?:<\|im_start\|>|<\|start_header_id\|>)assistant(?:<\|end_header_id\|>)?)?\s*/,
      "",
    );
    this.#context = context;
    this.#runs = new Runs(this.#body, context, (code, message) => this.#warn(code, message));
  }

  read(): Reading {
    const first = this.#runs.from(0);
    const rest = this.#body.slice(first.end);
    const after = withoutLeaks(rest).trim();
    if (first.malformed !== undefined) return this.#malformed(first);
    if (first.cut && first.calls.length === 0) return this.#cut(first);
    if (first.calls.length > 0) {
      const alone = after === "" || invented.test(rest) || (this.#isCut && brokenTail.test(rest));
      const isOwn = first.explicit && !first.fenced && !this.#isQuoted(0, first.end);
      if (alone || isOwn) return this.#called(first, "", rest);
      this.#ignore();
      return this.#plain();
    }
    if (first.texts.length > 0) {
      const more = after === "" || invented.test(rest) ? [] : [after];
      return this.#said([...first.texts, ...more].join("\n"));
    }
    // A text that begins a call and reached the limit was going to be a call.
    const cut = this.#isCut && opensCalls(this.#body) ? this.#cut({ texts: [] }) : undefined;
    return this.#inProse() ?? cut ?? this.#attempt() ?? this.#plain();
  }

  get #isCut(): boolean {
    return this.#context.wire === "max_tokens";
  }

  /** It begins like a call and names a tool: what was meant cannot be read, but it is not an answer. */
  #attempt(): Reading | undefined {
    const text = this.#body;
    if (!opensCalls(text)) return undefined;
    const name = firstNamed(text, this.#context.known);
    return name === undefined
      ? undefined
      : this.#malformed({ texts: [], malformed: `what it says of ${name} is no call` });
  }

  /** Calls after a text: under the protocol's own key or tag, on a line of their own, outside of fences, with nothing after them. */
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

  /** A reading; a run that was read in vain; or `over` if nothing more can follow. */
  #onLine(line: string, head: string, at: number, start: number): Reading | Run | "over" | undefined {
    const text = this.#body;
    const tag = opening.exec(line);
    if (tag !== null && !line.slice(0, tag.index).includes("`")) {
      const from = at + tag.index;
      const run = this.#runs.from(from);
      if (this.#isQuotation(run)) return run;
      if (run.malformed !== undefined) return this.#malformed(run, text.slice(0, from));
      if (run.cut && run.calls.length === 0) return this.#cut(run, text.slice(0, from));
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
        const run = this.#runs.from(start);
        if (this.#isQuotation(run)) return "over";
        if (run.malformed !== undefined) return this.#malformed(run, text.slice(0, start));
        if (run.cut && run.calls.length === 0) return this.#cut(run, text.slice(0, start));
        return run.calls.length > 0 ? this.#called(run, text.slice(0, start), "") : "over";
      }
      const run = this.#runs.from(start);
      const rest = text.slice(run.end);
      const alone = isOver(rest);
      if (alone && this.#isQuotation(run)) return run;
      if (alone && run.malformed !== undefined) return this.#malformed(run, text.slice(0, start));
      if (alone && run.calls.length > 0 && run.explicit) return this.#called(run, text.slice(0, start), rest);
      if (run.calls.length > 0) this.#ignore();
      return run;
    }
    const react = /^Action:[ \t]*(\S+)[ \t]*$/.exec(head);
    return react === null ? undefined : this.#react(react[1] ?? "", start, start + head.length);
  }

  /** `Action:` and `Action Input:` on lines of their own, as in ReAct prompts. */
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
    if (this.#isQuoted(start, end)) {
      this.#ignore();
      return undefined;
    }
    const calls = [{ name, args: text.slice(at, end).trim() }];
    return this.#called({ calls, texts: [] }, text.slice(0, start), text.slice(end));
  }

  /** Whether what was read as calls is a quotation of what others wrote. */
  #isQuotation({ calls, malformed, from, end }: Run): boolean {
    const mayRun = calls.some(({ fault }) => fault === undefined);
    if ((!mayRun && malformed === undefined) || !this.#isQuoted(from, end)) return false;
    this.#ignore();
    return true;
  }

  #isQuoted(from: number, end: number): boolean {
    return this.#context.isQuoted?.(this.#body.slice(from, end).trim()) ?? false;
  }

  #called(run: Pick<Run, "calls" | "texts">, before: string, rest: string): Reading {
    const said = joined(before, run.texts);
    if (!this.#context.tools) {
      this.#warn("text_call_ignored", "the answer calls a tool although none may be called; it was not run");
      // A quoted call of an existing tool adds nothing; one of any other may be what the user asked for.
      const meant = run.calls.every(({ name }) => this.#context.known.has(name));
      return { text: said === "" && !meant ? this.#body.trim() : said, calls: [], warnings: this.#warnings };
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

  /** The remains of a truncated envelope say nothing: the text before it is the answer. */
  #cut(run: Pick<Run, "texts">, before: string = ""): Reading {
    return this.#context.tools ? this.#said(joined(before, run.texts)) : this.#plain();
  }

  #said(text: string): Reading {
    return { text, calls: [], warnings: this.#warnings };
  }

  /** Without an envelope the whole text is the answer. */
  #plain(): Reading {
    const text = withoutLeaks(this.#body).trim();
    const isRefused = this.#context.wire === "refusal" || this.#context.wire === "content_filter";
    if (this.#context.tools && text !== "" && !isRefused && this.#warnings.length === 0)
      this.#warn(
        "prompted_json_invalid",
        "the answer is no JSON of the protocol: its whole text is taken as the answer",
      );
    return this.#said(text);
  }

  #ignore(): void {
    this.#warn("text_call_ignored", "a call that stands in a text is an example and was not run");
  }

  /** Each kind once: a text may have any number of examples. */
  #warn(code: string, message: string): void {
    if (!this.#warnings.some((one) => one.code === code)) this.#warnings.push({ code, message });
  }
}

/** In characters. A longer text is more than leftover control tokens. */
const farthestLeak = 4096;

/** Whether nothing of the answer follows. Called repeatedly on what remains, so it looks no further than it must. */
function isOver(rest: string): boolean {
  if (invented.test(rest)) return true;
  const near = rest.length > farthestLeak ? rest.slice(0, farthestLeak) : rest;
  return withoutLeaks(near).trim() === "" && (near === rest || withoutLeaks(rest).trim() === "");
}

/** The prose, and the responses in the JSON after it. */
function joined(before: string, texts: readonly string[]): string {
  return [withoutLeaks(before).trim(), ...texts].filter((text) => text !== "").join("\n");
}
