// The room of queued messages: what was sent to a session and has not been delivered.

import { readRecords } from "../journal/failure.ts";
import type { Journal } from "../journal.ts";
import type { Fact } from "../loop/records.ts";
import type { Queued, State } from "../loop/state.ts";

/** The messages that wait, the oldest first. @param unwritten facts that were handed in, and are not in the records yet */
export function waitingMessages({ inbox, seen }: State, unwritten: readonly Fact[]): Queued[] {
  let waiting = [...inbox];
  const known = new Set<string>();
  for (const fact of unwritten) {
    if (fact.type === "queued" && !seen.has(fact.id) && !known.has(fact.id)) {
      known.add(fact.id);
      waiting.push({ id: fact.id, lane: fact.lane, message: fact.message });
    }
    if (fact.type === "withdrawn") waiting = waiting.filter(({ id }) => id !== fact.id);
  }
  return waiting;
}

/**
 * Whether a message was taken back, as the journal has it: another process may have delivered it before the withdrawal was written.
 * @param from a sequence number up to which it was neither delivered nor taken back
 */
export async function isWithdrawn(
  journal: Journal,
  session: string,
  message: string,
  from: number,
): Promise<boolean> {
  const records = await readRecords(journal, session, from);
  const end = records.find(
    (record) =>
      (record.type === "withdrawn" && record.id === message) ||
      (record.type === "delivered" && record.ids.includes(message)),
  );
  return end?.type === "withdrawn";
}
