// The room of the page: layout of the lines of a rendered run, whatever they contain.

import type { Paint, Style } from "../console/console.ts";
import { joinedLines, plainLines, plainText } from "../console/plain-text.ts";
import { shortened, someLines } from "../console/shorten.ts";

export interface PageOptions {
  full: boolean;
  paint: Paint;
  width: number;
}

/** Lines shown of a text that is cut. */
const cutLines = 8;
const timeWidth = 9;
const wordWidth = 10;

export class RunPage {
  readonly options: PageOptions;
  readonly #lines: string[] = [];
  #start = 0;

  constructor(options: PageOptions) {
    this.options = options;
  }

  /** Times are relative to this. */
  startAt(at: number): void {
    this.#start = at;
  }

  blank(): void {
    if (this.#lines.length > 0 && this.#lines.at(-1) !== "") this.#lines.push("");
  }

  heading(text: string): void {
    this.blank();
    this.#lines.push(this.options.paint("bold", plainText(text)));
  }

  /** A fact: time, kind, text. */
  fact(at: number, word: string, text: string, style?: Style): void {
    const { paint } = this.options;
    const time = `+${((at - this.#start) / 1_000).toFixed(3)}`.padStart(timeWidth);
    const kind = word.padEnd(wordWidth);
    this.#lines.push(
      `${paint("dim", time)}  ${style === undefined ? kind : paint(style, kind)} ${this.#oneLine(text)}`.trimEnd(),
    );
  }

  /** More about the fact above: a text, cut unless the page is full or the text is what the reader came for. */
  more(text: string, style?: Style, whole: boolean = false): void {
    const { paint, width } = this.options;
    const full = this.options.full || whole;
    const indent = " ".repeat(timeWidth + 2 + wordWidth + 1);
    const lines = full ? plainLines(text) : someLines(text, cutLines, Math.max(40, width - indent.length));
    for (const line of lines)
      this.#lines.push(`${indent}${style === undefined ? line : paint(style, line)}`.trimEnd());
  }

  /** A line on its own. */
  plain(text: string): void {
    this.#lines.push(this.#oneLine(text));
  }

  note(text: string): void {
    this.#lines.push(this.options.paint("dim", this.#oneLine(text)));
  }

  text(): string {
    return `${this.#lines.join("\n")}\n`;
  }

  #oneLine(text: string): string {
    const line = joinedLines(text, " ⏎ ");
    return this.options.full ? line : shortened(line, 1_000);
  }
}
