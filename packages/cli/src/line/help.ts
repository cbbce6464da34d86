// The room of help: what the command says of itself, made from what it can do.

import { type Command, commonOptions } from "./command.ts";

export function generalHelp(commands: readonly Command[]): string {
  const rows = commands.map(({ name, words, does }): [string, string] => [`${name} ${words}`.trim(), does]);
  return `${[
    "rondo: run an agent on the files in front of you",
    "",
    "  rondo COMMAND [OPTIONS]",
    "",
    ...table(rows),
    "",
    "RUN is a run's id, the beginning of it, or `last`. Each command tells of its options: rondo COMMAND --help.",
    "rondo --version tells which one this is.",
    "",
    "Exit codes: 0 completed, 1 error, 2 wrong command line, 3 stopped at a limit or by a rule, 4 refused,",
    "5 waits for an approval, 130 interrupted, 141 nobody reads on, 143 left by SIGTERM to be resumed.",
  ].join("\n")}\n`;
}

export function commandHelp({ name, words, does, options }: Command): string {
  const rows = Object.entries({ ...options, ...commonOptions }).map(
    ([option, { short, value, does: meaning }]): [string, string] => [
      `${short === undefined ? "    " : `-${short}, `}--${option}${value === undefined ? "" : ` ${value}`}`,
      meaning,
    ],
  );
  return `${[`rondo ${name} ${words}`.trim(), "", `  ${does}`, "", ...table(rows)].join("\n")}\n`;
}

function table(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
