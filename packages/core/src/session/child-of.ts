// The room of a sub-agent's session: whether the run in it is that sub-agent's, and whether one that had begun is gone.
//
// The session's id follows from the parent's, and a user may have given the same id to a session of their own. A run there
// is not the sub-agent's: its answer must not be read, and its driver must not be fenced off.

import { RondoError } from "../errors.ts";
import type { ParentFacts, PassedAnswer, Spent } from "../loop/child-facts.ts";
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

/** @param run the last one of the session. @returns why it is not the run of the parent's call; undefined if it may be, or if there is none */
export function notChildOf(
  parent: Pick<ParentFacts, "session" | "call">,
  session: string,
  run: { readonly parent?: ParentFacts } | undefined,
): RondoError | undefined {
  const whose = run?.parent;
  if (run === undefined || (whose?.session === parent.session && whose.call === parent.call))
    return undefined;
  return new OthersSession(session);
}

/** @throws OthersSession if `childOf` is set and somebody else has a run in the session */
export function demandOwn({ id, childOf }: Pick<SessionParts, "id" | "childOf">, run: State["run"]): void {
  const foreign = childOf && notChildOf(childOf, id, run);
  if (foreign !== undefined) throw foreign;
}

/**
 * Why a sub-agent whose session has no run must not begin one: as its parent knows, it had begun, and its calls would run a
 * second time.
 * @param told what it had reported of its spending; with the answers that were passed on to it, all that its parent knows
 */
export function lostChild(
  name: string,
  session: string,
  { told, answers }: { readonly told: Spent; readonly answers: readonly PassedAnswer[] },
): RondoError | undefined {
  if (told.modelCalls === 0 && answers.length === 0) return undefined;
  return new RondoError(
    "storage",
    `the sub-agent ${name} cannot go on: its session ${JSON.stringify(session)} was deleted, moved or replaced. What it did before is unknown.`,
  );
}
