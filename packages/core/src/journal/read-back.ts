// The room of reading back: a session's records as the state they come to.
//
// A fold is total over what this library wrote, whatever rules are asked. Where one throws, the journal did not give back
// what it was given, and whoever opens the session is told which record that was.

import { messageOf, RondoError } from "../errors.ts";
import type { LogRecord } from "../loop/records.ts";
import { reduce } from "../loop/reduce.ts";
import { emptyState, type State } from "../loop/state.ts";
import type { Rules } from "../rules/rule.ts";

/**
 * @param before the state that the records follow. Default: that of a new session
 * @throws RondoError `storage` naming the record that does not fold
 */
export function readBack(
  session: string,
  records: readonly LogRecord[],
  rules: Rules,
  before: State = emptyState,
): State {
  let state = before;
  for (const record of records)
    try {
      state = reduce(state, record, rules);
    } catch (thrown) {
      const what = `session ${JSON.stringify(session)}: record ${record.seq} (${record.type}) does not fold`;
      throw new RondoError(
        "storage",
        `${what}: ${messageOf(thrown)}; the journal is damaged: see \`rondo journal check\``,
        { cause: thrown },
      );
    }
  return state;
}
