// The room of lines: what a person types while the run writes, on one plain terminal.
//
// Nobody's half-written line is written over: while there is one, what the run writes waits until it is sent or
// erased. Off a terminal lines are taken one by one, each when the one before it is done with.

import { createInterface, type Interface } from "node:readline";
import type { Console } from "../console.ts";

export interface LineHandlers {
  /** A line that was typed while the run works. */
  working(line: string): void;
  /** Ctrl-C. `typed`: there was a line, which is gone now. */
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
  #ended = false;
  #waiting: ((line: string | undefined) => void) | undefined;
  /** What was typed when the reader had to go for a while. */
  #draft = "";

  constructor(console: Console, handlers: LineHandlers) {
    this.#console = console;
    this.#handlers = handlers;
    this.#terminal = console.isTerminal;
    this.open();
  }

  /** No more will be typed. */
  get ended(): boolean {
    return this.#ended;
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
      this.#ended = true;
      this.#flush();
      const waiting = this.#waiting;
      this.#waiting = undefined;
      waiting?.(undefined);
    });
    if (this.#draft !== "") reader.write(this.#draft);
    this.#draft = "";
  }

  /** Lets the terminal go, for somebody else who asks. */
  pause(): void {
    const reader = this.#reader;
    this.#reader = undefined;
    if (this.#terminal) this.#draft = reader?.line ?? "";
    reader?.close();
    if (this.#draft !== "") this.#console.streams.stderr.write("\n");
    this.#flush();
  }

  /** Nothing is read any more, by anybody. */
  close(): void {
    this.pause();
    this.#ended = true;
    this.#waiting?.(undefined);
    this.#waiting = undefined;
  }

  /** Whether the run works: lines that are typed then are handed to `working`, without a prompt. */
  set idle(idle: boolean) {
    this.#idle = idle;
    this.#flush();
    this.#reader?.setPrompt(this.#prompt());
  }

  /** The next line, with a prompt; undefined when no more will come. */
  next(): Promise<string | undefined> {
    const [line] = this.#queue.splice(0, 1);
    if (line !== undefined) return Promise.resolve(line);
    if (this.#ended) return Promise.resolve(undefined);
    if (this.#terminal) this.#reader?.prompt(true);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  /** Writes what the run has to say, at once or when the line that is being typed is done. */
  write(text: string): void {
    this.#held += text;
    if (!this.#typing) this.#flush();
  }

  get #typing(): boolean {
    return this.#terminal && (this.#reader?.line ?? "") !== "";
  }

  #flush(): void {
    const text = this.#held;
    if (text === "") return;
    this.#held = "";
    // A line that is being typed stays above, and is shown again below by the next prompt.
    if (this.#typing) this.#console.streams.stderr.write("\n");
    this.#console.write(text);
  }

  #heard(line: string): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) waiting(line);
    else if (this.#terminal && !this.#idle) {
      this.#flush();
      this.#handlers.working(line);
    } else this.#queue.push(line);
  }

  #interrupted(reader: Interface): void {
    const typed = reader.line !== "";
    // Ctrl-U and Ctrl-K: the line is erased as its writer would.
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
