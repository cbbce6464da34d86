// The room of `rondo run`: a task, from the command line to its end.

import { isUtf8 } from "node:buffer";
import type { Console } from "../console/console.ts";
import { UsageError } from "../console/failure.ts";
import { listenForSignals } from "../console/signals.ts";
import type { ExitCode } from "../exit-codes.ts";
import type { Arguments } from "../line/arguments.ts";
import { type Command, showOptions } from "../line/command.ts";
import { rondo } from "../line/command-name.ts";
import { shownBy } from "../line/output-options.ts";
import { makeAgent } from "../runs/agent.ts";
import { driveRun } from "../runs/drive-run.ts";
import { chooseModel } from "../runs/models.ts";
import { keeping, newId, startedBy, startOptions, tellModel } from "../runs/starting.ts";

const defaultTask = "What is in this folder, and what is it for?";

export const run: Command = {
  name: "run",
  words: '["TASK"]',
  does: `Work on a task. Default: "${defaultTask}"; - reads the task from standard input, or, after a TASK, appends standard input to it`,
  maxWords: Number.POSITIVE_INFINITY,
  options: {
    ...startOptions,
    ...showOptions,
  },
  act,
};

async function act(args: Arguments, console: Console): Promise<ExitCode> {
  const show = shownBy(args);
  const task = await taskOf(args, console);
  const chosen = await chooseModel(args.text("model"), console.env);
  const invocation = startedBy(args, chosen);
  const kept = await keeping(args, console);
  // Only now: before this there is nothing to clean up, and Ctrl-C ends the process as usual.
  const signals = listenForSignals(kept !== undefined);
  try {
    const { agent, tools } = makeAgent({
      invocation,
      model: chosen.model,
      ...(kept === undefined ? {} : { journal: kept.journal }),
    });
    const session = await agent.open(await newId(kept?.journal));
    if (show !== "quiet") tellModel(chosen, console);
    return await driveRun(
      {
        session,
        tools,
        console,
        signals,
        show,
        maxSteps: invocation.maxSteps,
        journalOption: kept?.flag,
      },
      () => session.send(task),
    );
  } finally {
    await kept?.journal.close();
    signals.dispose();
  }
}

async function taskOf(args: Arguments, console: Console): Promise<string> {
  const { words } = args;
  if (words.length === 0) return defaultTask;
  // stdin is read only when asked for with `-`: the caller may hold it open, or go on reading from it.
  const isRead = words.at(-1) === "-";
  const given = (isRead ? words.slice(0, -1) : words).join(" ");
  const task = isRead ? [given, await stdinText(console)].filter((part) => part !== "").join("\n\n") : given;
  if (task.trim() === "")
    throw new UsageError(`the task is empty; give one, e.g. ${rondo} run "count the lines of notes.txt"`);
  return task;
}

async function stdinText(console: Console): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of console.streams.stdin) pieces.push(piece);
  const bytes = Buffer.concat(pieces);
  if (!isUtf8(bytes))
    console.warn("standard input is not valid UTF-8: invalid bytes reach the model as \ufffd");
  return new TextDecoder().decode(bytes);
}
