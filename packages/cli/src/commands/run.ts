// The room of `rondo run`: a task, from the command line to its end.

import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Journal, messageOf } from "@rondo/core";
import { makeAgent } from "../agent.ts";
import type { Arguments } from "../arguments.ts";
import { type Command, journalOption, showOptions } from "../command.ts";
import { conduct } from "../conduct.ts";
import type { Console } from "../console.ts";
import type { ExitCode } from "../exit-codes.ts";
import { Failure, UsageError } from "../failure.ts";
import { journalFlag } from "../goes-on.ts";
import type { Invocation } from "../invocation.ts";
import { journalPlace, type LocalJournal, openJournal, whyNotWritable } from "../journal-place.ts";
import { type ChosenModel, chooseModel } from "../models.ts";
import { shownBy } from "../shown.ts";
import { listenForSignals } from "../signals.ts";

const defaultTask = "What is in this folder, and what is it for?";

export const run: Command = {
  name: "run",
  words: '["TASK"]',
  does: `Work on a task. Default: "${defaultTask}"; - reads it from standard input`,
  maxWords: Number.POSITIVE_INFINITY,
  options: {
    model: {
      type: "string",
      short: "m",
      value: "NAME",
      does: "A model, e.g. anthropic/claude-sonnet-5 or offline; or a module whose default export is a Model, e.g. ./model.ts",
    },
    root: { type: "string", value: "DIR", does: "The folder to work in. Default: this one" },
    system: { type: "string", value: "TEXT|@FILE", does: "The system prompt" },
    "max-steps": { type: "string", value: "N", does: "At most so many answers of the model. Default: 100" },
    "budget-usd": { type: "string", value: "AMOUNT", does: "At most so many US dollars" },
    "budget-tokens": { type: "string", value: "N", does: "At most so many tokens, in and out together" },
    timeout: { type: "string", value: "TIME", does: "At most so long: 90 (seconds), 90s, 5m, 1h" },
    yes: { type: "boolean", short: "y", does: "Approve everything that needs an approval" },
    allow: {
      type: "string",
      value: "TOOL",
      multiple: true,
      does: "Approve this tool beforehand (may be repeated)",
    },
    deny: { type: "string", value: "TOOL", multiple: true, does: "Never run this tool (may be repeated)" },
    ...journalOption,
    "no-journal": { type: "boolean", does: "Keep nothing" },
    ...showOptions,
  },
  act,
};

async function act(args: Arguments, console: Console): Promise<ExitCode> {
  const show = shownBy(args);
  const task = await taskOf(args, console);
  const system = systemOf(args);
  const chosen = await chooseModel(args.text("model"), console.env);
  const invocation = invocationOf(args, chosen);
  const kept = keeping(args, console);
  // Not before: until here there is nothing to settle, and Ctrl-C ends the process as it always does.
  const signals = listenForSignals();
  try {
    const { agent, tools } = makeAgent({
      invocation,
      model: chosen.model,
      ...(system === undefined ? {} : { system }),
      ...(kept === undefined ? {} : { journal: kept.journal }),
    });
    const session = await agent.open(await newId(kept?.journal));
    if (show !== "quiet") tellModel(chosen, console);
    return await conduct(
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

/** One line on which model works, and why that one. */
function tellModel({ model, why }: ChosenModel, console: Console): void {
  const id = model.id === "offline/planner" ? "offline" : model.id;
  console.errorLine(console.paintError("dim", `model: ${id} (${why})`));
}

async function taskOf(args: Arguments, console: Console): Promise<string> {
  if (args.words.length === 0) return defaultTask;
  const task =
    args.words.length === 1 && args.words[0] === "-" ? await stdinText(console) : args.words.join(" ");
  if (task.trim() === "")
    throw new UsageError('the task is empty; give one, e.g. rondo run "count the lines of notes.txt"');
  return task;
}

async function stdinText(console: Console): Promise<string> {
  const { stdin } = console.streams;
  let text = "";
  stdin.setEncoding("utf8");
  for await (const piece of stdin) text += piece;
  return text;
}

function systemOf(args: Arguments): string | undefined {
  const given = args.text("system");
  if (given === undefined || !given.startsWith("@")) return given;
  const file = given.slice(1);
  if (file === "") throw new UsageError("--system @ names no file; write --system @FILE");
  try {
    return readFileSync(file, "utf8");
  } catch (thrown) {
    throw new Failure(`--system ${given}: the file cannot be read: ${messageOf(thrown)}`, { cause: thrown });
  }
}

function invocationOf(args: Arguments, chosen: ChosenModel): Invocation {
  const maxSteps = args.wholeNumber("max-steps");
  const budgetUsd = args.number("budget-usd");
  const budgetTokens = args.wholeNumber("budget-tokens");
  const timeoutMs = args.duration("timeout");
  return {
    root: resolve(args.text("root") ?? "."),
    model: chosen.name,
    ...(maxSteps === undefined ? {} : { maxSteps }),
    ...(budgetUsd === undefined ? {} : { budgetUsd }),
    ...(budgetTokens === undefined ? {} : { budgetTokens }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    yes: args.has("yes"),
    allow: args.texts("allow"),
    deny: args.texts("deny"),
  };
}

interface Kept {
  journal: LocalJournal;
  flag: string;
}

/** The journal, or undefined when nothing is to be kept, or nothing can be and nobody asked for it. */
function keeping(args: Arguments, console: Console): Kept | undefined {
  if (args.has("no-journal")) {
    if (args.has("journal")) throw new UsageError("--journal and --no-journal exclude each other; give one");
    return undefined;
  }
  const place = journalPlace(args, console.env);
  const why = place.named === "default" ? whyNotWritable(place) : undefined;
  if (why !== undefined) {
    console.errorLine(`rondo: this run is not kept: ${why}; name a journal with --journal FILE`);
    return undefined;
  }
  return { journal: openJournal(place), flag: journalFlag(place) };
}

/** A new run's id: short, and different from its first letters on, so that a few of them will do. */
async function newId(journal: Journal | undefined): Promise<string> {
  for (;;) {
    const id = Array.from({ length: 8 }, () => randomInt(36).toString(36)).join("");
    if (journal === undefined || (await journal.read(id)).length === 0) return id;
  }
}
