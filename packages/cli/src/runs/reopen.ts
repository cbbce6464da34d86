// The room of reopening: opens a run of the journal again, as it was started, to continue it.

import type { RunResult, Session, Tool } from "@rondo/core";
import type { Console } from "../console/console.ts";
import { Failure } from "../console/failure.ts";
import { oneLine } from "../console/shorten.ts";
import { listenForSignals } from "../console/signals.ts";
import type { ExitCode } from "../exit-codes.ts";
import { driverOf, type Invocation, invocationOf } from "../invocation.ts";
import type { Arguments, OptionSpecs } from "../line/arguments.ts";
import { journalOption, showOptions } from "../line/command.ts";
import { rondo } from "../line/command-name.ts";
import { shownBy } from "../line/output-options.ts";
import { endText } from "../render/ending.ts";
import { counted } from "../render/usage.ts";
import { summaryOf } from "../summary.ts";
import { makeAgent } from "./agent.ts";
import { driveRun } from "./drive-run.ts";
import { type FoundRun, withJournal } from "./find-run.ts";
import { chooseModel } from "./models.ts";

export const modelOptions: OptionSpecs = {
  model: {
    type: "string",
    short: "m",
    value: "NAME",
    does: "Another model. Default: the one it was started with",
  },
  force: { type: "boolean", does: "Take the run over although another process seems to drive it" },
};

export const goOnOptions: OptionSpecs = {
  ...modelOptions,
  ...journalOption,
  ...showOptions,
};

interface OpenRun {
  found: FoundRun;
  session: Session;
  tools: readonly Tool[];
  invocation: Invocation;
  /** The name of the current model. */
  model: string;
  /** The option that a command needs to find the run. */
  flag: string;
}

/**
 * Opens a run, as it was started, while `act` runs.
 * @param given the run's id, the beginning of it, or `last`
 * @param check throws beforehand when the run is not suitable
 */
export function withRun<Done>(
  given: string | undefined,
  args: Arguments,
  console: Console,
  act: (run: OpenRun) => Promise<Done>,
  check: (found: FoundRun, flag: string) => void = () => {},
): Promise<Done> {
  return withJournal(args, console, "to write", async ({ journal, flag, find }) => {
    const found = await find(given);
    check(found, flag);
    const started = checkStart(found, args.has("force"));
    const chosen = await chooseModel(args.text("model") ?? started.model, console.env);
    const invocation: Invocation = { ...started, model: chosen.name };
    const { agent, tools } = makeAgent({ invocation, model: chosen.model, journal });
    const session = await agent.open(found.id, { takeOver: args.has("force") });
    return await act({ found, session, tools, invocation, model: chosen.model.id, flag });
  });
}

/**
 * Opens a run and drives it on.
 * @param given the run's id, the beginning of it, or `last`
 * @param start what to do first, e.g. answer a waiting call
 * @param check throws beforehand when an open run is not suitable
 */
export async function goOn(
  given: string | undefined,
  args: Arguments,
  console: Console,
  start: (session: Session, tools: readonly Tool[]) => Promise<RunResult>,
  check: (found: FoundRun, flag: string) => void = () => {},
): Promise<ExitCode> {
  const show = shownBy(args);
  const signals = listenForSignals();
  const drive = async ({ found, session, tools, invocation, model, flag }: OpenRun): Promise<ExitCode> => {
    if (show !== "quiet") {
      const { steps, task } = summaryOf(found.id, found.records);
      const after = steps === 0 ? "" : `, after ${counted(steps, "step")}`;
      console.aside(`run ${found.id} goes on with ${model}${after}: ${oneLine(task, 60)}`);
    }
    const how = { session, tools, console, signals, show, maxSteps: invocation.maxSteps };
    return await driveRun({ ...how, journalOption: flag }, () => start(session, tools));
  };
  try {
    return await withRun(given, args, console, drive, (found, flag) => {
      checkOpen(found, flag);
      check(found, flag);
    });
  } finally {
    signals.dispose();
  }
}

/** @throws Failure when the run has ended: nothing can be added to it */
function checkOpen({ id, records }: FoundRun, flag: string): void {
  const { end, status } = summaryOf(id, records);
  if (end !== undefined)
    throw new Failure(
      `run ${id} has ended already: ${endText(end)}; see it with ${rondo} show ${id}${flag}, say more with ${rondo} chat --resume ${id}${flag}`,
    );
  if (status === "empty") throw new Failure(`run ${id} was never started; begin another with ${rondo} run`);
}

/** How the run was started. @throws Failure when only another program knows. @param deed what is to be done with it */
export function startOf({ id, records }: FoundRun, deed: string): Invocation {
  const invocation = invocationOf(records);
  if (invocation === undefined)
    throw new Failure(
      `run ${id} was not started by the rondo command: its tools and its model are known only to the program that started it; ${deed} there`,
    );
  return invocation;
}

/** How the run was started. @throws Failure when that is unknown, or another process seems to drive it */
export function checkStart(found: FoundRun, force: boolean): Invocation {
  const { id, records } = found;
  const { status } = summaryOf(id, records);
  const invocation = startOf(found, "go on with it");
  // A waiting run is driven by nobody, even if its process is alive and asking: the first answer wins.
  const driver = status === "waiting" ? undefined : driverOf(records);
  if (driver !== undefined && !force)
    throw new Failure(
      `run ${id} is being driven by process ${driver.pid}: wait for it or stop it; if that is another program by now, add --force`,
    );
  return invocation;
}
