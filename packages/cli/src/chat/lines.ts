// The room of lines: a person types while the run writes, on one plain terminal.
//
// A half-typed line is never overwritten: the run's output waits until the line is sent or erased. A paste is one
// message, however many lines it has: bracketed paste mode tells where it begins and ends. Without a terminal, lines are
// taken one by one, each when the one before is done.

import { createInterface, type Interface } from "node:readline";
import type { Console } from "../console/console.ts";
import { counted } from "../render/usage.ts";

export interface LineHandlers {
  /** A line was typed while the run works. */
  working(line: string): void;
  /** Ctrl-C. `typed`: there was a half-typed line, which is discarded. */
  interrupt(typed: boolean): void;
}

export class Lines {
  readonly #console: Console;
  readonly #handlers: LineHandlers;
  readonly #terminal: boolean;
  #reader: Interface | undefined;
  #queue: string[] = [];
  #held = "";
  #idle = true;
  /** Input has ended. */
  #ended = false;
  #waiting: ((line: string | undefined) => void) | undefined;
  /** What was half-typed when the reader was paused. */
  #draft = "";
  /** Pasted lines that are not sent yet. */
  #pasted: string[] = [];
  #pasting = false;
  readonly #marksPastes: boolean;
  readonly #onKey = (_text: unknown, key: { name?: string } | undefined): void => this.#key(key?.name);
  readonly #onExit = (): void => this.#markPastes(false);

  constructor(console: Console, handlers: LineHandlers) {
    this.#console = console;
    this.#handlers = handlers;
    this.#terminal = console.isTerminal;
    this.#marksPastes = this.#terminal && console.env.TERM !== "dumb";
    this.open();
  }

  /** Reads again after `pause`. */
  open(): void {
    if (this.#ended || this.#reader !== undefined) return;
    const { stdin, stderr } = this.#console.streams;
    const reader = createInterface({
      input: stdin,
      ...(this.#terminal ? { output: stderr, terminal: true } : {}),
      historySize: 200,
    });
    this.#reader = reader;
    reader.setPrompt(this.#prompt());
    reader.on("line", (line) => this.#heard(line));
    reader.on("SIGINT", () => this.#interrupted(reader));
    reader.once("close", () => {
      if (this.#reader !== reader) return;
      this.#reader = undefined;
      this.#markPastes(false);
      this.#ended = true;
      this.#flush();
      const waiting = this.#waiting;
      this.#waiting = undefined;
      waiting?.(undefined);
    });
    this.#markPastes(true);
    if (this.#draft !== "") reader.write(this.#draft);
    this.#draft = "";
  }

  /** Releases the terminal, so that another reader can ask a question. */
  pause(): void {
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader !== undefined) this.#markPastes(false);
    if (this.#terminal) this.#draft = reader?.line ?? "";
    reader?.close();
    if (this.#draft !== "") this.#console.streams.stderr.write("\n");
    this.#flush();
  }

  /** Stops reading for good. */
  close(): void {
    this.pause();
    this.#ended = true;
    this.#waiting?.(undefined);
    this.#waiting = undefined;
  }

  /** False while the run works: lines typed then go to `working`, and there is no prompt. */
  set idle(idle: boolean) {
    this.#idle = idle;
    this.#flush();
    this.#reader?.setPrompt(this.#prompt());
  }

  /** The next line, with a prompt; undefined when input has ended. */
  next(): Promise<string | undefined> {
    const [line] = this.#queue.splice(0, 1);
    if (line !== undefined) return Promise.resolve(line);
    if (this.#ended) return Promise.resolve(undefined);
    if (this.#terminal) this.#reader?.prompt(true);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  /** Writes the run's output, at once or when the half-typed line is finished. */
  write(text: string): void {
    this.#held += text;
    if (!this.#typing) this.#flush();
  }

  get #typing(): boolean {
    return this.#terminal && (this.#pasted.length > 0 || (this.#reader?.line ?? "") !== "");
  }

  #flush(): void {
    const text = this.#held;
    if (text === "") return;
    this.#held = "";
    // The half-typed line stays above, and the next prompt repeats it below.
    if (this.#typing) this.#console.streams.stderr.write("\n");
    this.#console.write(text);
  }

  /** Turns bracketed paste mode on, or back off. */
  #markPastes(wanted: boolean): void {
    if (!this.#marksPastes) return;
    const { stdin, stderr } = this.#console.streams;
    stderr.write(wanted ? "\u001b[?2004h" : "\u001b[?2004l");
    stdin.off("keypress", this.#onKey);
    process.off("exit", this.#onExit);
    this.#pasting = false;
    if (!wanted) return;
    stdin.on("keypress", this.#onKey);
    process.on("exit", this.#onExit);
  }

  #key(name: string | undefined): void {
    if (name === "paste-start") this.#pasting = true;
    if (name !== "paste-end" || !this.#pasting) return;
    this.#pasting = false;
    const lines = this.#pasted.length;
    if (lines === 0 || this.#reader?.line !== "") return;
    const { paintError, streams } = this.#console;
    streams.stderr.write(`${paintError("dim", `(${counted(lines, "line")} pasted; Enter sends them)`)}\n`);
    this.#reader?.prompt();
  }

  #heard(typed: string): void {
    if (this.#pasting) {
      this.#pasted.push(typed);
      return;
    }
    const line = [...this.#pasted, typed].join("\n").trimEnd();
    this.#pasted = [];
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) waiting(line);
    else if (this.#terminal && !this.#idle) {
      this.#flush();
      this.#handlers.working(line);
    } else this.#queue.push(line);
  }

  #interrupted(reader: Interface): void {
    const typed = reader.line !== "" || this.#pasted.length > 0;
    this.#pasted = [];
    // Ctrl-E, Ctrl-U: erases the line as the person would.
    reader.write(null, { ctrl: true, name: "e" });
    reader.write(null, { ctrl: true, name: "u" });
    this.#console.streams.stderr.write("\n");
    this.#flush();
    this.#handlers.interrupt(typed);
    if (this.#waiting !== undefined) reader.prompt();
  }

  #prompt(): string {
    return this.#idle ? this.#console.paintError("bold", "> ") : "";
  }
}
