// The room of the console: the command's output streams.
//
// All output goes through here. Colour is for terminals only, and never when it was turned off. A reader
// that goes away (`| head`) is no error: the run is told to stop, and the command ends quietly.

import type { Writable } from "node:stream";
import { styleText } from "node:util";
import { Failure } from "./failure.ts";
import { plainText } from "./plain-text.ts";
import { oneLine } from "./shorten.ts";

export type Style = Parameters<typeof styleText>[0];

/** A text in a style, or unchanged. */
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
  /** A person is there who can be asked. */
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
    // Errors of stderr itself cannot be reported anywhere.
    streams.stderr.on("error", () => {});
  }

  /** The reader of stdout has gone away. */
  get readerGone(): boolean {
    return this.#gone;
  }

  /** Calls `tell` when the reader of stdout goes away. Returns how to unsubscribe. */
  onReaderGone(tell: () => void): () => void {
    this.#onGone.add(tell);
    return () => this.#onGone.delete(tell);
  }

  noColours(): void {
    this.#colours = false;
  }

  /** Styles for stdout. */
  get paint(): Paint {
    return this.#paintFor(this.streams.stdout);
  }

  /** Styles for stderr. */
  get paintError(): Paint {
    return this.#paintFor(this.streams.stderr);
  }

  /** Width of stdout in characters. Default: 100. */
  get width(): number {
    // A terminal of unknown size reports 0.
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

  /** Prints a remark for people to stderr; scripts can ignore it. It may name what a journal or a model's module calls itself. */
  aside(text: string): void {
    this.errorLine(this.paintError("dim", plainText(text)));
  }

  /** Prints what is no error but should be known. */
  warn(message: string): void {
    this.errorLine(this.paintError("yellow", `warning: ${oneLine(message, 500)}`));
  }

  /** Resolves once all output was written, or can no longer be. */
  async drained(): Promise<void> {
    const { stdout, stderr } = this.streams;
    // An error that just happened is reported an event later; without this wait the exit code would say success.
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
 * A terminal that has gone away refuses mode changes. Node's readline makes one as it closes, in an event where nobody
 * can catch the error: it would crash the process in the middle of its work.
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
