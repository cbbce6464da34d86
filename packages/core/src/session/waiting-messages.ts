// The room of queued messages: what was sent to a session and has not been delivered.

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
