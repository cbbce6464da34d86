// The room of `rondo run`: a task, from the command line to its end.

import { isUtf8 } from "node:buffer";
import type { Console } from "../console/console.ts";
import { UsageError } from "../console/failure.ts";
import { listenForSignals } from "../console/signals.ts";
import type { ExitCode } from "../exit-codes.ts";
import type { Arguments } from "../line/arguments.ts";
import { type Command, showOptions } from "../line/command.ts";
import { shownBy } from "../line/output-options.ts";
import { makeAgent } from "../runs/agent.ts";
import { driveRun } from "../runs/drive-run.ts";
import { chooseModel } from "../runs/models.ts";
import { keeping, newId, startedBy, startOptions, tellModel } from "../runs/starting.ts";

const defaultTask = "What is in this folder, and what is it for?";

export const run: Command = {
  name: "run",
  words: '["TASK"]',
  does: `Work on a task. Default: "${defaultTask}"; - reads it from standard input, and at the end of a task adds that to it`,
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
  // Not before: until here there is nothing to settle, and Ctrl-C ends the process as it always does.
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
  // Nobody else's input is waited for, or taken: whoever starts the command may hold it open, or read on in it.
  const isRead = words.at(-1) === "-";
  const given = (isRead ? words.slice(0, -1) : words).join(" ");
  const task = isRead ? [given, await stdinText(console)].filter((part) => part !== "").join("\n\n") : given;
  if (task.trim() === "")
    throw new UsageError('the task is empty; give one, e.g. rondo run "count the lines of notes.txt"');
  return task;
}

async function stdinText(console: Console): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of console.streams.stdin) pieces.push(piece);
  const bytes = Buffer.concat(pieces);
  if (!isUtf8(bytes))
    console.warn("standard input is not all UTF-8: what is none reaches the model as \ufffd");
  return new TextDecoder().decode(bytes);
}
