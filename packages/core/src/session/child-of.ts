// The room of a sub-agent's session: whether the run that stands in it is that sub-agent's.
//
// Its name follows from its parent's, and anybody may have given that name to a session of their own. A run there is not the
// sub-agent's: its answer is nobody else's to read, and whoever drives it must not be fenced off.

import { invalidRequest, type RondoError } from "../errors.ts";
import { readRecords } from "../journal/failure.ts";
import type { ParentFacts } from "../loop/child-facts.ts";
import type { ChildStart } from "../tool.ts";

/** @param run the last of the session. @returns why it cannot be that of the parent's call. Undefined: it can, or there is none */
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

/** The same of a sub-agent that is about to be started, by the journal. */
export async function notItsOwn({ parent, session, journal }: ChildStart): Promise<RondoError | undefined> {
  const records = await readRecords(journal, session);
  return notChildOf(
    parent,
    session,
    records.findLast((record) => record.type === "run_started"),
  );
}
