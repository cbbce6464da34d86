// The room of the console: the two streams of the command, and what may be done with them.
//
// Everything the command says leaves through here. Colour is for terminals only, and nobody who has asked for none
// gets any. A reader that goes away (`| head`) is no error: whoever works is told, and the command ends quietly.

import type { Writable } from "node:stream";
import { styleText } from "node:util";
import { Failure } from "./failure.ts";
import { oneLine } from "./shorten.ts";

export type Style = Parameters<typeof styleText>[0];

/** A text in a style, or as it is. */
export type Paint = (style: Style, text: string) => string;

/** No colours. */
export const plain: Paint = (_style, text) => text;

interface TerminalLike {
  isTTY?: boolean;
  columns?: number;
}

export interface ConsoleStreams {
  stdin: NodeJS.ReadStream;
  stdout: Writable & TerminalLike;
  stderr: Writable & TerminalLike;
}

export class Console {
  readonly streams: ConsoleStreams;
  readonly env: { readonly [name: string]: string | undefined };
  /** Somebody sits there who can be asked. */
  readonly isTerminal: boolean;
  #colours = true;
  #gone = false;
  readonly #onGone = new Set<() => void>();

  constructor(streams: ConsoleStreams, env: { readonly [name: string]: string | undefined }) {
    this.streams = streams;
    this.env = env;
    this.isTerminal = streams.stdin.isTTY === true && streams.stderr.isTTY === true;
    if (streams.stdin.isTTY === true) letGoQuietly(streams.stdin);
    streams.stdout.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE" && error.code !== "EIO")
        throw new Failure(`the output cannot be written: ${error.message}`, { cause: error });
      this.#gone = true;
      for (const tell of this.#onGone) tell();
    });
    // Nobody hears a complaint about stderr.
    streams.stderr.on("error", () => {});
  }

  /** Whoever read stdout has gone away. */
  get readerGone(): boolean {
    return this.#gone;
  }

  /** Is told when the reader of stdout goes away. Returns how to stop. */
  onReaderGone(tell: () => void): () => void {
    this.#onGone.add(tell);
    return () => this.#onGone.delete(tell);
  }

  noColours(): void {
    this.#colours = false;
  }

  /** What paints for stdout. */
  get paint(): Paint {
    return this.#paintFor(this.streams.stdout);
  }

  /** What paints for stderr. */
  get paintError(): Paint {
    return this.#paintFor(this.streams.stderr);
  }

  /** Characters a line of stdout holds. Default: 100. */
  get width(): number {
    // A terminal that does not know its size says 0.
    return Math.max(40, this.streams.stdout.columns || 100);
  }

  write(text: string): void {
    if (!this.#gone) this.streams.stdout.write(text);
  }

  line(text: string): void {
    this.write(`${text}\n`);
  }

  errorLine(text: string): void {
    this.streams.stderr.write(`${text}\n`);
  }

  /** Says what a script need not hear, and a person may pass over. */
  aside(text: string): void {
    this.errorLine(this.paintError("dim", text));
  }

  /** Says what is not an error, but should be known. */
  warn(message: string): void {
    this.errorLine(this.paintError("yellow", `warning: ${oneLine(message, 500)}`));
  }

  /** Resolves once everything that was written has left, or can no longer leave. */
  async drained(): Promise<void> {
    const { stdout, stderr } = this.streams;
    // An error that has just happened is not told at once, and whoever ended before that would have ended well.
    if (stdout.errored) await new Promise((resolve) => setImmediate(resolve));
    for (const stream of [stdout, stderr])
      if (stream.writableLength > 0 && !stream.destroyed && !stream.errored)
        await new Promise<void>((resolve) => {
          stream.once("error", () => resolve());
          stream.write("", () => resolve());
        });
  }

  #paintFor(stream: Writable & TerminalLike): Paint {
    const { NO_COLOR, TERM } = this.env;
    const wanted = this.#colours && stream.isTTY === true && !NO_COLOR && TERM !== "dumb";
    return wanted ? (style, text) => styleText(style, text, { validateStream: false }) : plain;
  }
}

/**
 * A terminal that has gone away takes no modes any more. Node's line reader sets one as it closes, in an event of its own
 * where nobody can catch what that throws: the process would be gone in the midst of its work.
 */
function letGoQuietly(stdin: NodeJS.ReadStream): void {
  const setMode = stdin.setRawMode.bind(stdin);
  function setRawMode(mode: boolean): NodeJS.ReadStream {
    try {
      return setMode(mode);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== "EIO") throw thrown;
      return stdin;
    }
  }
  stdin.setRawMode = setRawMode as typeof stdin.setRawMode;
}
