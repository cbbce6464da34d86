// The room of the format of records: a session is read only by code that knows the format of all its runs.

import { formatVersion, type LogRecord, RondoError } from "@rondo/core";

/** The format that a record says its run has; 0 for a record that says none. */
export const formatOf = (record: LogRecord): number => (record.type === "run_started" ? record.format : 0);

/** The highest format among records, and at least the one that is known already. */
export function highestFormat(records: readonly LogRecord[], known: number): number {
  let highest = known;
  for (const record of records) if (formatOf(record) > highest) highest = formatOf(record);
  return highest;
}

/**
 * @param format the highest of a session's records
 * @param journal as errors name it
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
