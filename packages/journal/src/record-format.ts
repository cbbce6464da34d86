// The room of the record format: a session is read only by code that knows the format of all its runs.

import { formatVersion, type LogRecord, RondoError } from "@rondo/core";

/** The format that a record gives for its run; 0 for a record that gives none. */
export const formatOf = (record: LogRecord): number => (record.type === "run_started" ? record.format : 0);

/** The highest format among the records, and at least `known`. */
export function highestFormat(records: readonly LogRecord[], known: number): number {
  let highest = known;
  for (const record of records) if (formatOf(record) > highest) highest = formatOf(record);
  return highest;
}

/**
 * @param format the highest of a session's records
 * @param journal its name in errors
 * @throws RondoError `invalid_request` when it is newer than this code knows
 */
export function mustBeKnownFormat(format: number, session: string, journal: string): void {
  if (format > formatVersion)
    throw new RondoError(
      "invalid_request",
      `session ${JSON.stringify(session)} in the journal ${journal} has records of format ${format}, written by a ` +
        `newer Rondo (this one knows ${formatVersion}); update @rondo/core`,
    );
}
