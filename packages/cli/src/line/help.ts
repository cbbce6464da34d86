// The room of help: generates the help texts from the commands.

import { wrapped } from "../console/shorten.ts";
import { type Command, commonOptions } from "./command.ts";

/** @param width line width in characters; infinite when not on a terminal, so that `grep` finds whole entries */
export function generalHelp(commands: readonly Command[], width: number): string {
  const rows = commands.map(({ name, words, does }): [string, string] => [`${name} ${words}`.trim(), does]);
  const about = [
    "RUN is a run's id, the beginning of it, or `last`. For the options of a command: rondo COMMAND --help.",
    "rondo --version prints the version.",
    "",
    "Exit codes: 0 completed, 1 error, 2 wrong command line, 3 stopped at a limit or by a rule, 4 refused,",
    "5 waits for an approval, 130 interrupted, 141 output closed, 143 stopped by SIGTERM and can be resumed.",
  ];
  return `${[
    "rondo: run an agent on the files in front of you",
    "",
    "  rondo COMMAND [OPTIONS]",
    "",
    ...table(rows, width),
    "",
    ...about.flatMap((line) => wrapped(line, width)),
  ].join("\n")}\n`;
}

/** @param width line width in characters; infinite when not on a terminal, so that `grep` finds whole entries */
export function commandHelp({ name, words, does, options }: Command, width: number): string {
  const rows = Object.entries({ ...options, ...commonOptions }).map(
    ([option, { short, value, does: meaning }]): [string, string] => [
      `${short === undefined ? "    " : `-${short}, `}--${option}${value === undefined ? "" : ` ${value}`}`,
      meaning,
    ],
  );
  const about = wrapped(does, width - 2).map((line) => `  ${line}`);
  return `${[`rondo ${name} ${words}`.trim(), "", ...about, "", ...table(rows, width)].join("\n")}\n`;
}

/** Two columns; if the left one would take more than half of a line, its text goes on the line below. */
function table(rows: readonly (readonly [string, string])[], width: number): string[] {
  const left = Math.max(...rows.map(([one]) => one.length));
  const beside = left + 4 <= width / 2;
  const indent = " ".repeat(beside ? left + 4 : 10);
  return rows.flatMap(([one, right]) => {
    const [first = "", ...more] = wrapped(right, width - indent.length).map((line) => indent + line);
    return beside ? [`  ${one.padEnd(left)}${first.slice(left + 2)}`, ...more] : [`  ${one}`, first, ...more];
  });
}
