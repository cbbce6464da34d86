// The room of the check: examines a whole journal and reports what is wrong, and where.
//
// It changes nothing, with one exception: `repair` cuts off the torn tail of a JSONL file, which was never acknowledged.
// Any other damaged data may be the only copy of something, and is left for a person to decide about.

import { statSync } from "node:fs";
import { messageOf, RondoError } from "@rondo/core";
import { checkGiven, flag, membersOf } from "@rondo/core/checks";
import { checkJsonl } from "./check/jsonl.ts";
import type { CheckOptions, CheckReport } from "./check/report.ts";
import { checkSqlite } from "./check/sqlite.ts";
import { waitable } from "./file-journal.ts";
import { placeOf } from "./location.ts";
import { isOfSystem } from "./system-says.ts";

const optionChecks = membersOf<CheckOptions>({ repair: flag, busyTimeoutMs: waitable });

/**
 * Verifies a SQLite journal, the folder of a JSONL journal, or one file in it: that it is undamaged, that records are
 * numbered without a gap, that they fold, and that the whole texts kept with them match the digests in their names.
 * @param path a path or a `file:` URL
 * @throws RondoError `invalid_request` when it is not a journal or cannot be read, or an option is invalid
 */
export function checkJournal(path: string | URL, options: CheckOptions = {}): CheckReport {
  const at = placeOf(path, "a check", "file or folder");
  checkGiven(optionChecks, options);
  try {
    const stat = statSync(at, { throwIfNoEntry: false });
    if (stat === undefined) throw new RondoError("invalid_request", `there is no journal ${at}`);
    const isLines = stat.isDirectory() || at.endsWith(".jsonl");
    return { path: at, ...(isLines ? checkJsonl(at, options) : checkSqlite(at, options)) };
  } catch (thrown) {
    if (!isOfSystem(thrown)) throw thrown;
    throw new RondoError("invalid_request", `cannot read the journal ${at}: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
}
