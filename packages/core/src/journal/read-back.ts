// The room of reading back: folds a session's records into a state.
//
// A fold accepts everything that this library wrote, with any rules. If it throws, the journal did not return what it was
// given, and the error says which record that was.

import { messageOf, RondoError } from "../errors.ts";
import type { LogRecord } from "../loop/records.ts";
import { reduce } from "../loop/reduce.ts";
import { emptyState, type State } from "../loop/state.ts";
import type { Rules } from "../rules/rule.ts";

/**
 * @param before the state before the records. Default: that of a new session
 * @throws RondoError `storage` naming the record that cannot be folded
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
