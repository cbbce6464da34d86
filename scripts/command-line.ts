// The room of a script's command line: parses its options; an invalid one is reported in a line, with exit code 2.
// `--help` prints the comment at the top of the script.

import { readFileSync } from "node:fs";
import { type ParseArgsConfig, parseArgs } from "node:util";
import { messageOf } from "@rondo/core";

/** For `--help`, prints the comment at the top of the script, and exits. */
export function helpWhereAsked(): void {
  const [, script = "", ...args] = process.argv;
  if (!args.includes("--help")) return;
  const lines = readFileSync(script, "utf8").split("\n");
  const opening = lines.slice(
    0,
    lines.findIndex((line) => !line.startsWith("//")),
  );
  console.log(opening.map((line) => line.replace(/^\/\/ ?/, "")).join("\n"));
  process.exit(0);
}

export class CommandLine {
  readonly #script: string;

  constructor(script: string) {
    this.#script = script;
  }

  refuse(words: string): never {
    console.error(`${this.#script}: ${words}`);
    process.exit(2);
  }

  /** The values of the options, with their defaults. Handles `--help`, unless that is one of the options. */
  options<Options extends NonNullable<ParseArgsConfig["options"]>>(
    options: Options,
  ): ReturnType<typeof parseArgs<{ options: Options }>>["values"] {
    if (options.help === undefined) helpWhereAsked();
    return this.#read(() => parseArgs({ options }).values);
  }

  /** A whole number of at most nine digits. */
  whole(name: string, text: string, least: number = 0): number {
    if (!/^\d{1,9}$/.test(text) || Number(text) < least)
      this.refuse(`--${name} must be a whole number${least > 0 ? ` of at least ${least}` : ""}, not ${text}`);
    return Number(text);
  }

  /** A number up to a million. */
  number(name: string, text: string, least: number): number {
    const value = Number(text);
    if (!(value >= least && value <= 1e6))
      this.refuse(`--${name} must be a number from ${least} to a million, not ${text}`);
    return value;
  }

  pattern(name: string, text: string): RegExp {
    return this.#read(() => new RegExp(text), `--${name}: `);
  }

  /** The result of using a file that an option names; errors are reported with the option. */
  file<Value>(name: string, act: () => Value): Value {
    return this.#read(act, `--${name}: `);
  }

  #read<Value>(read: () => Value, what: string = ""): Value {
    try {
      return read();
    } catch (thrown) {
      return this.refuse(what + messageOf(thrown));
    }
  }
}
