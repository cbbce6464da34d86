// The room of the command line: the first word names the command, which handles the rest.

import { hintAt } from "@rondo/core/checks";
import { allow, revoke } from "./commands/allow.ts";
import { answer, approve, deny } from "./commands/approve.ts";
import { chat } from "./commands/chat.ts";
import { deleteRun } from "./commands/delete.ts";
import { diffRuns } from "./commands/diff.ts";
import { explainRun } from "./commands/explain.ts";
import { fork } from "./commands/fork.ts";
import { journal } from "./commands/journal.ts";
import { models } from "./commands/models.ts";
import { replayRun } from "./commands/replay.ts";
import { resume } from "./commands/resume.ts";
import { run } from "./commands/run.ts";
import { runs } from "./commands/runs.ts";
import { show } from "./commands/show.ts";
import type { Console } from "./console/console.ts";
import { failureOf, UsageError } from "./console/failure.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { type Arguments, readArguments } from "./line/arguments.ts";
import { type Command, commonOptions } from "./line/command.ts";
import { rondo } from "./line/command-name.ts";
import { commandHelp, generalHelp } from "./line/help.ts";
import { version } from "./version.ts";

const commands: readonly Command[] = [
  run,
  chat,
  runs,
  show,
  explainRun,
  resume,
  approve,
  deny,
  answer,
  allow,
  revoke,
  replayRun,
  fork,
  diffRuns,
  deleteRun,
  journal,
  models,
];

/** Runs the command line. Never rejects: errors are printed to stderr. */
export async function perform(words: readonly string[], console: Console): Promise<ExitCode> {
  try {
    return await dispatch(words, console);
  } catch (thrown) {
    const { line, code } = failureOf(thrown, console.env);
    console.errorLine(line);
    return code;
  }
}

async function dispatch(words: readonly string[], console: Console): Promise<ExitCode> {
  const [first, ...rest] = words;
  if (first === undefined) {
    console.errorLine(generalHelp(commands, widthOf(console)).trimEnd());
    return exitCodes.usage;
  }
  if (first === "--help" || first === "-h" || first === "help") return help(rest[0], console);
  if (first === "--version" || first === "-v") {
    console.line(version());
    return exitCodes.completed;
  }
  const command = commandNamed(first);
  const args = readArguments(rest, { ...command.options, ...commonOptions }, command.name);
  if (args.has("no-color")) console.noColours();
  if (args.has("help")) {
    console.write(commandHelp(command, widthOf(console)));
    return exitCodes.completed;
  }
  checkWords(args, command);
  return command.act(args, console);
}

function help(about: string | undefined, console: Console): ExitCode {
  const width = widthOf(console);
  console.write(about === undefined ? generalHelp(commands, width) : commandHelp(commandNamed(about), width));
  return exitCodes.completed;
}

/** Output that is not a terminal is not wrapped. */
const widthOf = ({ streams, width }: Console): number =>
  streams.stdout.isTTY === true ? width : Number.POSITIVE_INFINITY;

function commandNamed(name: string): Command {
  const command = commands.find((one) => one.name === name);
  if (command !== undefined) return command;
  if (name.startsWith("-"))
    throw new UsageError(`${name} must follow a command, e.g. ${rondo} run ${name}; see ${rondo} --help`);
  const names = commands.map((one) => one.name);
  throw new UsageError(
    `there is no command ${JSON.stringify(name)}.${hintAt(name, names)} There are ${names.join(", ")}; ` +
      `a task is given by ${rondo} run "TASK"`,
  );
}

function checkWords(args: Arguments, { name, maxWords }: Command): void {
  const extra = args.words[maxWords];
  if (extra !== undefined)
    throw new UsageError(`rondo ${name} cannot use ${JSON.stringify(extra)}; see ${rondo} ${name} --help`);
}
