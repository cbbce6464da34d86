// The room of lines: what a person types while the run writes, on one plain terminal.
//
// Nobody's half-written line is written over: while there is one, what the run writes waits until it is sent or
// erased. What is pasted is one message, however many lines it has: the terminal is asked to say where it begins and
// ends. Off a terminal lines are taken one by one, each when the one before it is done with.

import { createInterface, type Interface } from "node:readline";
import type { Console } from "../console/console.ts";
import { counted } from "../render/usage.ts";

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
  /** No more will be typed. */
  #ended = false;
  #waiting: ((line: string | undefined) => void) | undefined;
  /** What was typed when the reader had to go for a while. */
  #draft = "";
  /** Lines that were pasted, and not sent yet. */
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

  /** Lets the terminal go, for somebody else who asks. */
  pause(): void {
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader !== undefined) this.#markPastes(false);
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
    return this.#terminal && (this.#pasted.length > 0 || (this.#reader?.line ?? "") !== "");
  }

  #flush(): void {
    const text = this.#held;
    if (text === "") return;
    this.#held = "";
    // A line that is being typed stays above, and is shown again below by the next prompt.
    if (this.#typing) this.#console.streams.stderr.write("\n");
    this.#console.write(text);
  }

  /** Whether the terminal tells where something pasted begins and ends; it is left as it was found. */
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
    // Ctrl-E and Ctrl-U, to its end and back: the line is erased as its writer would.
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
