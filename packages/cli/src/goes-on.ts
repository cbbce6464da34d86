// The room of going on: a run of the journal is opened again, as it was started, to be driven on.

import type { RunResult, Session } from "@rondo/core";
import { makeAgent } from "./agent.ts";
import type { Arguments, OptionSpecs } from "./arguments.ts";
import { journalOption, showOptions } from "./command.ts";
import { conduct } from "./conduct.ts";
import type { Console } from "./console.ts";
import type { ExitCode } from "./exit-codes.ts";
import { Failure } from "./failure.ts";
import { type FoundRun, findRun } from "./find-run.ts";
import { driverOf, type Invocation, invocationOf } from "./invocation.ts";
import { type JournalPlace, journalPlace, openKnownJournal, placeName } from "./journal-place.ts";
import { chooseModel } from "./models.ts";
import { endText } from "./render/ending.ts";
import { counted } from "./render/usage.ts";
import { oneLine } from "./shorten.ts";
import { shownBy } from "./shown.ts";
import { listenForSignals } from "./signals.ts";
import { summaryOf } from "./summary.ts";

export const goOnOptions: OptionSpecs = {
  model: {
    type: "string",
    short: "m",
    value: "NAME",
    does: "Another model. Default: the one it was started with",
  },
  force: { type: "boolean", does: "Take the run over although another process seems to drive it" },
  ...journalOption,
  ...showOptions,
};

/** How a command line names this journal: nothing for the one that is found anyway. */
export function journalFlag(place: JournalPlace): string {
  if (place.named !== "option") return "";
  const name = placeName(place);
  return ` --journal ${/^[\w@%+=:,./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`}`;
}

/**
 * Opens the run that is meant and drives it on.
 * @param given the run's id, the beginning of it, or `last`
 * @param start what is done first, e.g. an answer to a call that waits
 */
export async function goOn(
  given: string | undefined,
  args: Arguments,
  console: Console,
  start: (session: Session) => Promise<RunResult>,
): Promise<ExitCode> {
  const show = shownBy(args);
  const place = journalPlace(args, console.env);
  const journal = openKnownJournal(place);
  const signals = listenForSignals();
  try {
    const found = await findRun(given, journal, place.file);
    checkOpen(found, journalFlag(place));
    const started = checkStart(found, args.has("force"));
    const chosen = await chooseModel(args.text("model") ?? started.model, console.env);
    const invocation: Invocation = { ...started, model: chosen.name };
    const { agent, tools } = makeAgent({ invocation, model: chosen.model, journal });
    const session = await agent.open(found.id, { takeOver: args.has("force") });
    if (show !== "quiet") {
      const { steps, task } = summaryOf(found.id, found.records);
      const after = steps === 0 ? "" : `, after ${counted(steps, "step")}`;
      console.errorLine(
        console.paintError(
          "dim",
          `run ${found.id} goes on with ${chosen.model.id}${after}: ${oneLine(task, 60)}`,
        ),
      );
    }
    const how = { session, tools, console, signals, show, maxSteps: invocation.maxSteps };
    return await conduct({ ...how, journalOption: journalFlag(place) }, () => start(session));
  } finally {
    await journal.close();
    signals.dispose();
  }
}

/** @throws Failure when the run has ended: nothing can be added to it */
function checkOpen({ id, records }: FoundRun, flag: string): void {
  const { end, status } = summaryOf(id, records);
  if (end !== undefined)
    throw new Failure(
      `run ${id} has ended already: ${endText(end)}; see it with rondo show ${id}${flag}, say more with rondo chat --resume ${id}${flag}`,
    );
  if (status === "empty") throw new Failure(`run ${id} was never started; begin another with rondo run`);
}

/** How the run was started. @throws Failure when that is not known, or another process seems to drive it */
export function checkStart({ id, records }: FoundRun, force: boolean): Invocation {
  const invocation = invocationOf(records);
  if (invocation === undefined)
    throw new Failure(
      `run ${id} was not started by the rondo command: its tools and its model are known only to the program that started it; go on with it there`,
    );
  // A run that waits is driven by nobody, though its process may be there and ask: whoever answers first has it.
  const driver = summaryOf(id, records).status === "waiting" ? undefined : driverOf(records);
  if (driver !== undefined && !force)
    throw new Failure(
      `run ${id} is being driven by process ${driver.pid}: wait for it or stop it; if that is another program by now, add --force`,
    );
  return invocation;
}
