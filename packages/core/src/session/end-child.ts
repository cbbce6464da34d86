// The room of ending a sub-agent that waits for somebody outside and is no longer needed.
//
// Its session is opened, its run aborted, and what it spent returned. This does not need the sub-agent's own agent: if its
// tool is gone, the parent's agent opens the session.

import { isA } from "../errors.ts";
import type { Spent } from "../loop/child-facts.ts";
import { spentBy } from "../loop/children.ts";
import type { Session } from "../session.ts";
import { OthersSession } from "./child-of.ts";

/**
 * @returns what it spent in all; undefined if it never began, or if its session has a run of somebody else
 * @throws RondoError why it has not ended
 */
export async function endChild(opening: Promise<Session>, reason: string): Promise<Spent | undefined> {
  let session: Session;
  try {
    session = await opening;
  } catch (thrown) {
    if (isA(OthersSession, thrown)) return undefined;
    throw thrown;
  }
  session.abort(reason);
  await session.settled();
  if (session.result === undefined) return undefined;
  // Rejects if the end could not be stored.
  await session.resume();
  return spentBy(session.state);
}
