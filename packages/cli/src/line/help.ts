// The room of help: what the command says of itself, made from what it can do.

import { wrapped } from "../console/shorten.ts";
import { type Command, commonOptions } from "./command.ts";

/** @param width characters a line has; infinite off a terminal, for those who search it */
export function generalHelp(commands: readonly Command[], width: number): string {
  const rows = commands.map(({ name, words, does }): [string, string] => [`${name} ${words}`.trim(), does]);
  const about = [
    "RUN is a run's id, the beginning of it, or `last`. Each command tells of its options: rondo COMMAND --help.",
    "rondo --version tells which one this is.",
    "",
    "Exit codes: 0 completed, 1 error, 2 wrong command line, 3 stopped at a limit or by a rule, 4 refused,",
    "5 waits for an approval, 130 interrupted, 141 nobody reads on, 143 left by SIGTERM to be resumed.",
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

/** @param width characters a line has; infinite off a terminal, for those who search it */
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

/** Two columns; where the left one would take half of a line and more, what it says stands below it. */
function table(rows: readonly (readonly [string, string])[], width: number): string[] {
  const left = Math.max(...rows.map(([one]) => one.length));
  const beside = left + 4 <= width / 2;
  const indent = " ".repeat(beside ? left + 4 : 10);
  return rows.flatMap(([one, right]) => {
    const [first = "", ...more] = wrapped(right, width - indent.length).map((line) => indent + line);
    return beside ? [`  ${one.padEnd(left)}${first.slice(left + 2)}`, ...more] : [`  ${one}`, first, ...more];
  });
}
