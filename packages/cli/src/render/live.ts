// The room of the live view: shows a run as it happens.
//
// Text is written as it comes, piece by piece, made safe for the terminal. Calls run in parallel and end in any order,
// so a result names its call unless it follows it directly.

import { type CallView, callsOf, type RondoEvent, textOf } from "@rondo/core";
import type { Paint } from "../console/console.ts";
import { TerminalText } from "../console/plain-text.ts";
import { contentText, evidenceText, oneLine, shortArgs, someLines } from "../console/shorten.ts";
import { stageLine } from "./context.ts";
import { spanText } from "./usage.ts";

export interface LiveOptions {
  write(text: string): void;
  paint: Paint;
  /** Line width in characters. */
  width: number;
  /** Show reasoning as it comes. */
  reasoning: boolean;
  /** Show calls that wait for an approval. */
  approvals: boolean;
}

type EventOf<Type extends RondoEvent["type"]> = RondoEvent & { type: Type };

const resultLines = 6;

export class LiveView {
  readonly #options: LiveOptions;
  #atLineStart = true;
  /** What was written last: a change of kind is set off by an empty line. */
  #last: "nothing" | "text" | "reasoning" | "line" = "nothing";
  #part: { kind: "text" | "reasoning"; index: number; text: TerminalText } | undefined;
  /** Text of the current answer that was shown, and of the last complete one. */
  #shown = "";
  #said = "";
  #lastCall: string | undefined;
  /** Warnings already shown: what a model lacks is reported with each request, but shown once. */
  readonly #warned = new Set<string>();

  constructor(options: LiveOptions) {
    this.#options = options;
  }

  hear(event: RondoEvent): void {
    switch (event.type) {
      case "step_start":
      case "request":
        this.#shown = "";
        return;
      case "text_delta":
        this.#shown += event.text;
        this.#stream("text", event.index, event.text);
        return;
      case "reasoning_delta":
        if (this.#options.reasoning) this.#stream("reasoning", event.index, event.text);
        return;
      case "message":
        this.#message(event);
        return;
      case "tool_start":
        this.#lastCall = event.call.key;
        this.#line(this.#callLine(event.call));
        return;
      case "tool_end":
        this.#toolEnd(event);
        return;
      case "run_end":
        this.#runEnd(event);
        return;
      default:
        this.#remark(event);
    }
  }

  /** Ends an unfinished line. */
  endLine(): void {
    const left = this.#part?.text.end() ?? "";
    this.#part = undefined;
    if (left !== "") this.#put(left);
    if (!this.#atLineStart) this.#put("\n");
  }

  #remark(event: RondoEvent): void {
    const { paint, approvals } = this.#options;
    if (event.type === "child") {
      // The parent's call already shows how a sub-agent's run began and ended.
      if (event.event.type !== "run_start" && event.event.type !== "run_end") this.hear(event.event);
    } else if (event.type === "approval_request") {
      if (approvals) this.#line(`${this.#callLine(event.call)} ${paint("yellow", "needs approval")}`);
    } else if (event.type !== "warning" || this.#isNew(event)) {
      const said = remarkOn(event);
      if (said !== undefined) this.#line(paint(...said));
    }
  }

  #isNew({ code, message }: EventOf<"warning">): boolean {
    const before = this.#warned.size;
    return this.#warned.add(`${code} ${message}`).size > before;
  }

  #message({ message }: EventOf<"message">): void {
    // A model may answer without deltas; text that was not streamed is shown now.
    const text = textOf(message);
    if (this.#shown === "" && text !== "") this.#stream("text", 0, text);
    this.endLine();
    const refused = message.content.flatMap((part) => (part.type === "refusal" ? [part.text] : []));
    for (const words of refused) this.#line(this.#options.paint("yellow", oneLine(words, 2_000)));
    // An answer without text but with a refusal: the refusal is then the run's text.
    this.#said = text === "" ? refused.join("") : text;
    this.#shown = "";
    if (callsOf(message).length > 0) this.#last = this.#last === "nothing" ? "nothing" : "text";
  }

  #toolEnd({ call, content, isError, code, ms }: EventOf<"tool_end">): void {
    const { paint, width } = this.#options;
    if (this.#lastCall !== call.key) this.#line(paint("dim", `${nameOf(call)} ${shortArgs(call.args, 60)}:`));
    this.#lastCall = undefined;
    const lines = someLines(contentText(content), resultLines, width - 4);
    for (const line of lines) this.#line(`    ${paint(isError ? "red" : "dim", line)}`);
    if (code !== undefined || ms >= 1_000)
      this.#line(
        paint("dim", `    (${[code, spanText(ms)].filter((part) => part !== undefined).join(", ")})`),
      );
  }

  #runEnd({ text }: EventOf<"run_end">): void {
    // The run's text may come from a tool or a rule instead of the last answer. Of an interrupted answer it is what was
    // already shown.
    if (!["", this.#said.trim(), this.#shown.trim()].includes(text.trim())) {
      this.#stream("text", -1, text);
      this.endLine();
    }
    this.endLine();
    if (this.#last !== "nothing") this.#put("\n");
    this.#last = "nothing";
  }

  #callLine(call: CallView): string {
    const { paint, width } = this.#options;
    const name = nameOf(call);
    const args = shortArgs(call.args, Math.max(20, width - name.length - 3));
    return `${paint("cyan", `→ ${name}`)}${args === "" ? "" : ` ${args}`}`;
  }

  #stream(kind: "text" | "reasoning", index: number, piece: string): void {
    if (this.#part?.kind !== kind || this.#part.index !== index) {
      if (this.#part !== undefined && this.#part.kind !== kind) this.endLine();
      this.#gap(kind);
      this.#part = { kind, index, text: new TerminalText() };
    }
    const text = this.#part.text.push(piece);
    if (text !== "") this.#put(kind === "reasoning" ? this.#options.paint("dim", text) : text, text);
  }

  #line(text: string): void {
    this.endLine();
    this.#gap("line");
    this.#put(`${text}\n`);
  }

  /** An empty line when the kind of output changes. */
  #gap(kind: "text" | "reasoning" | "line"): void {
    if (this.#last !== "nothing" && this.#last !== kind) {
      this.endLine();
      this.#put("\n");
    }
    this.#last = kind;
  }

  #put(text: string, shown: string = text): void {
    this.#options.write(text);
    this.#atLineStart = shown.endsWith("\n");
  }
}

/** The name of a call, which may not be a tool's: models make names up. */
const nameOf = ({ name }: CallView): string => oneLine(name, 60);

const voided = (discard: boolean = false): string =>
  discard ? "; what was shown of this answer is void" : "";

/** A remark on an event other than text and calls; undefined for none. */
function remarkOn(event: RondoEvent): ["yellow" | "dim", string] | undefined {
  switch (event.type) {
    case "approval_result": {
      const { approval, call } = event;
      const reason =
        approval.answer === "deny" && approval.reason ? `: ${oneLine(approval.reason, 200)}` : "";
      const word = { approve: "approved", deny: "denied", edit: "approved with other arguments" };
      return ["yellow", `${nameOf(call)} ${word[approval.answer]}${reason}`];
    }
    case "retry": {
      const wait = event.delayMs > 0 ? ` in ${spanText(event.delayMs)}` : "";
      const failed = `${event.error.kind}: ${oneLine(event.error.message, 300)}`;
      return ["yellow", `${failed}; trying again${wait}${voided(event.discard)}`];
    }
    case "fallback": {
      const failed = `${event.from} failed (${event.error.kind})`;
      return ["yellow", `${failed}; going on with ${event.to}${voided(event.discard)}`];
    }
    case "limit": {
      const lands = event.lands ? "; one last answer without tools" : "";
      return ["yellow", `limit ${event.reason}: ${evidenceText(event.evidence)}${lands}`];
    }
    case "nudge":
      return ["dim", `rule ${event.rule} to the model: ${oneLine(event.text, 300)}${voided(event.discard)}`];
    case "message_delivered":
      return ["dim", `message delivered: ${oneLine(textOf(event.message), 300)}`];
    case "warning":
      return ["yellow", `warning ${event.code}: ${oneLine(event.message, 500)}`];
    case "compaction_start": {
      const seen = evidenceText(event.evidence);
      return ["dim", `the history is summed up (rule ${event.rule})${seen === "" ? "" : `: ${seen}`}`];
    }
    case "context":
      return ["dim", stageLine(event)];
    default:
      return undefined;
  }
}
