// The room of finding a run: by its id, the beginning of it, or `last`.

import type { Journal, LogRecord } from "@rondo/core";
import { nearest } from "@rondo/core/checks";
import { Failure, UsageError } from "../console/failure.ts";
import { plainText } from "../console/plain-text.ts";
import { parentIn } from "./sub-agents.ts";

export interface FoundRun {
  id: string;
  records: LogRecord[];
}

/**
 * The run that is meant, with its records.
 * @param journalName for the complaint
 * @throws Failure when there is none or more than one
 */
export async function findRun(
  given: string | undefined,
  journal: Journal,
  journalName: string,
): Promise<FoundRun> {
  if (given === undefined || given.trim() === "")
    throw new UsageError("which run? Give its id, the beginning of it, or `last`; `rondo runs` lists them");
  const sessions = await journal.list();
  if (sessions.length === 0) throw new Failure(`there are no runs in the journal ${journalName} yet`);
  const ids = sessions.map((one) => one.id);
  const id = pick(given, ids, journalName);
  return { id, records: await journal.read(id) };
}

function pick(given: string, ids: readonly string[], journalName: string): string {
  if (ids.includes(given)) return given;
  // A sub-agent's run is meant only when nothing above it is.
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
    `there is no run ${name} in the journal ${journalName}.${hint} \`rondo runs\` lists them all`,
  );
}
