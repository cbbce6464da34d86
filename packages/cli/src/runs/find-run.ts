// The room of finding a run: by id, the beginning of it, or `last`; the journal stays open while it is used.

import type { LogRecord } from "@rondo/core";
import { nearest } from "@rondo/core/checks";
import type { Console } from "../console/console.ts";
import { Failure, UsageError } from "../console/failure.ts";
import { plainText } from "../console/plain-text.ts";
import type { Arguments } from "../line/arguments.ts";
import { rondo } from "../line/command-name.ts";
import { unreadable } from "../summary.ts";
import {
  type JournalPlace,
  journalFlag,
  journalPlace,
  type OpenJournal,
  openKnownJournal,
  type Purpose,
} from "./journal-place.ts";
import { parentIn } from "./sub-agents.ts";

export interface FoundRun {
  id: string;
  records: LogRecord[];
}

export interface KnownJournal {
  journal: OpenJournal;
  /** The option that a command needs to find it. */
  flag: string;
  /** The run that is meant, with its records. @throws Failure when there is none or more than one */
  find(given: string | undefined): Promise<FoundRun>;
}

/** Uses the journal that is meant, which must exist. @throws Failure when it does not */
export async function withJournal<Done>(
  args: Arguments,
  console: Console,
  purpose: Purpose,
  act: (known: KnownJournal) => Promise<Done>,
): Promise<Done> {
  const place = journalPlace(args, console.env);
  const journal = await openKnownJournal(place, console, purpose);
  const found: string[] = [];
  const find = async (given: string | undefined): Promise<FoundRun> => {
    const run = await findRun(given, journal, place);
    found.push(run.id);
    return run;
  };
  try {
    return await act({ journal, flag: journalFlag(place), find });
  } catch (thrown) {
    // A command that only reads runs no code but ours: what its records lack is what failed.
    throw purpose === "to read" ? unreadable(found.join(" or "), thrown) : thrown;
  } finally {
    await journal.close();
  }
}

/** The run that is meant, with its records. @throws Failure when there is none or more than one */
export async function findRun(
  given: string | undefined,
  journal: OpenJournal,
  place: JournalPlace,
): Promise<FoundRun> {
  const flag = journalFlag(place);
  if (given === undefined || given.trim() === "")
    throw new UsageError(
      `which run? Give its id, the beginning of it, or \`last\`; \`${rondo} runs${flag}\` lists them`,
    );
  const sessions = await journal.list();
  if (sessions.length === 0) throw new Failure(`there are no runs in the journal ${place.file} yet`);
  const ids = sessions.map((one) => one.id);
  const id = pick(given, ids, place.file, flag);
  return { id, records: await journal.read(id) };
}

function pick(given: string, ids: readonly string[], journalName: string, flag: string): string {
  if (ids.includes(given)) return given;
  // `last` means a sub-agent's run only if the journal has no run above it.
  const known = new Set(ids);
  const newest = ids.find((id) => parentIn(id, known) === undefined);
  if (given === "last" && newest !== undefined) return newest;
  const begin = new Set(ids.filter((id) => id.startsWith(given)));
  const meant = [...begin].filter((id) => parentIn(id, begin) === undefined);
  const [only] = meant;
  if (meant.length === 1 && only !== undefined) return only;
  const name = JSON.stringify(plainText(given));
  if (meant.length > 1) {
    const some = meant.slice(0, 5).join(", ");
    throw new Failure(
      `${meant.length} runs begin with ${name}: ${some}${meant.length > 5 ? ", …" : ""}; give more of the id`,
    );
  }
  const near = nearest(given, ids);
  const hint = near.length === 0 ? "" : ` Did you mean ${near.join(" or ")}?`;
  throw new Failure(
    `there is no run ${name} in the journal ${journalName}.${hint} \`${rondo} runs${flag}\` lists them all`,
  );
}
