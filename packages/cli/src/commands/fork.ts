// The room of `rondo fork`: starts a new run from a step of another, with something changed.
//
// The original run is only read. For scripts, stdout has only the new run's id (with --json as an object); with --go
// the new run is driven at once.

import { Agent, type ForkOptions, type Logger } from "@rondo/core";
import type { Console } from "../console/console.ts";
import { Failure, UsageError } from "../console/failure.ts";
import { jsonLine } from "../console/plain-text.ts";
import { listenForSignals } from "../console/signals.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import type { Invocation } from "../invocation.ts";
import type { Arguments } from "../line/arguments.ts";
import { type Command, journalOption, showOptions } from "../line/command.ts";
import { rondo } from "../line/command-name.ts";
import { shownBy } from "../line/output-options.ts";
import { makeAgent } from "../runs/agent.ts";
import { recordedModel } from "../runs/current-agent.ts";
import { driveRun, resumePermitted } from "../runs/drive-run.ts";
import { type FoundRun, withJournal } from "../runs/find-run.ts";
import { chooseModel } from "../runs/models.ts";
import { startOf } from "../runs/reopen.ts";
import { limitOptions, limitsOf, newId, systemOf, textOrFile } from "../runs/starting.ts";
import { summaryOf } from "../summary.ts";

export const fork: Command = {
  name: "fork",
  words: "RUN [STEP]",
  does: "Start a new run from a step of another, with a different model, prompt, limit or result; without STEP, from its end",
  maxWords: 2,
  options: {
    model: { type: "string", short: "m", value: "NAME", does: "A different model" },
    system: { type: "string", value: "TEXT|@FILE", does: "A different system prompt" },
    edit: {
      type: "string",
      value: "CALL=TEXT|@FILE",
      does: "A different result for a call of the step before STEP; without STEP, the fork is taken after that call",
    },
    record: { type: "string", value: "N", does: "Instead of STEP: share the first N records" },
    go: { type: "boolean", does: "Run the fork at once; otherwise `rondo resume` does" },
    ...limitOptions,
    "max-steps": {
      type: "string",
      value: "N",
      does: "Maximum number of model answers. Default: as in the run",
    },
    ...journalOption,
    ...showOptions,
  },
  act,
};

async function act(args: Arguments, console: Console): Promise<ExitCode> {
  const show = shownBy(args);
  const point = pointOf(args);
  return withJournal(args, console, "to write", async ({ journal, flag, find }) => {
    const found = await find(args.words[0]);
    const { invocation, changed } = forked(found, args);
    const chosen =
      args.has("go") || args.has("model")
        ? await chooseModel(args.text("model") ?? invocation.model, console.env)
        : undefined;
    const own: Invocation = chosen === undefined ? invocation : { ...invocation, model: chosen.name };
    const made = makeAgent({ invocation: own, model: chosen?.model ?? recordedModel(found), journal });
    const id = await newId(journal);
    // The agent already has all the changes.
    const options = changed ? { agent: {} } : {};
    await new Agent({ ...made.options, logger: warningsTo(console) }).fork(found.id, id, {
      ...point,
      ...options,
    });
    const where = args.words[1] === undefined ? "" : ` at step ${args.words[1]}`;
    console.aside(`run ${id}: forked from ${found.id}${where}`);
    const { end } = summaryOf(id, await journal.read(id));
    const goesOn =
      end === undefined
        ? `go on with it: ${rondo} resume ${id}${flag}`
        : `the run has ended there: say more with ${rondo} chat --resume ${id}${flag}`;
    if (!args.has("go")) {
      console.line(show === "json" ? jsonLine({ id, from: found.id }) : id);
      console.aside(goesOn);
      return exitCodes.completed;
    }
    if (end !== undefined) throw new Failure(`run ${id}: there is nothing to go on with; ${goesOn}`);
    const signals = listenForSignals();
    try {
      const session = await made.agent.open(id);
      const how = { session, tools: made.tools, console, signals, show, maxSteps: own.maxSteps };
      return await driveRun({ ...how, journalOption: flag }, () => resumePermitted(how, console));
    } finally {
      signals.dispose();
    }
  });
}

/** Prints warnings while the fork is made; warnings of the run itself come as its events. */
function warningsTo(console: Console): Logger {
  const silent = (): void => {};
  return { debug: silent, info: silent, warn: (message) => console.warn(message), error: silent };
}

function pointOf(args: Arguments): Pick<ForkOptions, "at" | "seq" | "edit"> {
  const step = args.words[1];
  const seq = args.wholeNumber("record");
  if (step !== undefined && !/^[1-9]\d*$/.test(step))
    throw new UsageError(`a step is a whole number of at least 1, not ${JSON.stringify(step)}`);
  if (step !== undefined && seq !== undefined)
    throw new UsageError("STEP and --record exclude each other; give one");
  const edit = args.text("edit");
  return {
    ...(step === undefined ? {} : { at: Number(step) }),
    ...(seq === undefined ? {} : { seq }),
    ...(edit === undefined ? {} : { edit: editOf(edit) }),
  };
}

function editOf(given: string): NonNullable<ForkOptions["edit"]> {
  const at = given.indexOf("=");
  if (at <= 0)
    throw new UsageError(
      `--edit takes CALL=TEXT or CALL=@FILE, not ${JSON.stringify(given)}; \`${rondo} show\` names the calls`,
    );
  return {
    call: given.slice(0, at),
    result: textOrFile(given.slice(at + 1), `--edit ${given.slice(0, at + 1)}`),
  };
}

/** How the fork is started: like the original run, except for the options given. */
function forked(found: FoundRun, args: Arguments): { invocation: Invocation; changed: boolean } {
  // Records that cannot be folded fail here, with the run's name.
  summaryOf(found.id, found.records);
  const started = startOf(found, "fork it");
  const limits = limitsOf(args);
  const system = systemOf(args);
  const changed = Object.keys(limits).length > 0 || system !== undefined || args.has("model");
  return { invocation: { ...started, ...limits, ...(system === undefined ? {} : { system }) }, changed };
}
