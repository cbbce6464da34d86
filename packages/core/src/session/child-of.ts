// The room of a sub-agent's session: whether the run in it is that sub-agent's.
//
// The session's id follows from the parent's, and a user may have given the same id to a session of their own. A run there
// is not the sub-agent's: its answer must not be read, and its driver must not be fenced off.

import { invalidRequest, type RondoError } from "../errors.ts";
import { readRecords } from "../journal/failure.ts";
import type { ParentFacts } from "../loop/child-facts.ts";
import type { ChildStart } from "../tool.ts";

/** @param run the last one of the session. @returns why it is not the run of the parent's call; undefined if it may be, or if there is none */
export function notChildOf(
  parent: Pick<ParentFacts, "session" | "call">,
  session: string,
  run: { readonly parent?: ParentFacts } | undefined,
): RondoError | undefined {
  const whose = run?.parent;
  if (run === undefined || (whose?.session === parent.session && whose.call === parent.call))
    return undefined;
  return invalidRequest(
    `the sub-agent was not started: the session ${JSON.stringify(session)}, which was to be its own, has a run of another; name no session like a sub-agent's`,
  );
}

/** The same for a sub-agent that is about to be started, read from the journal. */
export async function notItsOwn({ parent, session, journal }: ChildStart): Promise<RondoError | undefined> {
  const records = await readRecords(journal, session);
  return notChildOf(
    parent,
    session,
    records.findLast((record) => record.type === "run_started"),
  );
}
