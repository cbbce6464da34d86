// The room of ending a sub-agent: one that waits for somebody whom nobody needs any more.
//
// Its session is opened, its run aborted, and what it spent told. Nothing of its agent is needed for that: where its tool
// is gone, whoever has its parent opens it.

import type { Spent } from "../loop/child-facts.ts";
import { spentBy } from "../loop/children.ts";
import type { Session } from "../session.ts";

/** @returns what it spent in all; undefined where it never began */
export async function endChild(opening: Promise<Session>, reason: string): Promise<Spent | undefined> {
  const session = await opening;
  session.abort(reason);
  await session.settled();
  return session.result === undefined ? undefined : spentBy(session.state);
}
