// The room of a sub-agent's session: whether the run that stands in it is that sub-agent's.
//
// Its name follows from its parent's, and anybody may have given that name to a session of their own. A run there is not the
// sub-agent's: its answer is nobody else's to read, and whoever drives it must not be fenced off.

import { RondoError } from "../errors.ts";
import type { ParentFacts } from "../loop/child-facts.ts";
import type { State } from "../loop/state.ts";
import type { SessionParts } from "./parts.ts";

/** Somebody else has a run in the session that was to be a sub-agent's. */
export class OthersSession extends RondoError {
  constructor(session: string) {
    super(
      "invalid_request",
      `the sub-agent was not started: the session ${JSON.stringify(session)}, which was to be its own, has a run of another; name no session like a sub-agent's`,
    );
  }
}

/** @param run the last of the session. @returns why it cannot be that of the parent's call. Undefined: it can, or there is none */
export function notChildOf(
  parent: Pick<ParentFacts, "session" | "call">,
  session: string,
  run: { readonly parent?: ParentFacts } | undefined,
): OthersSession | undefined {
  const whose = run?.parent;
  if (run === undefined || (whose?.session === parent.session && whose.call === parent.call))
    return undefined;
  return new OthersSession(session);
}

/** @throws OthersSession for the session of a sub-agent in which somebody else has a run */
export function demandOwn({ id, childOf }: Pick<SessionParts, "id" | "childOf">, run: State["run"]): void {
  const foreign = childOf && notChildOf(childOf, id, run);
  if (foreign !== undefined) throw foreign;
}
