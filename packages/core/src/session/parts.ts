// The room of the parts: what a session consists of, and the shell for its driver.
//
// Nothing here holds state: everything is looked up when it is needed.

import { type Clock, chanceIn } from "../clock.ts";
import type { BlobStore } from "../journal/blobs.ts";
import type { LeaseOptions } from "../journal/writer.ts";
import type { Journal } from "../journal.ts";
import type { Logger } from "../logger.ts";
import type { ParentFacts } from "../loop/child-facts.ts";
import type { Shell } from "../loop/driving/shell.ts";
import { placeOf } from "../loop/folding/same-model.ts";
import type { State } from "../loop/state.ts";
import type { JsonObject } from "../message.ts";
import type { Model } from "../model.ts";
import type { AgentOptions } from "../options/agent-options.ts";
import type { Resolved } from "../options/options.ts";
import { givenBy, type Provided } from "../tool/dependency.ts";
import { checkTold } from "./changes.ts";

export interface SessionParts {
  id: string;
  journal: Journal;
  /** The store for the full texts of cut results. */
  blobs?: BlobStore | undefined;
  resolved: Resolved;
  logger?: Logger | undefined;
  about?: JsonObject | undefined;
  gate?: Shell["gate"];
  clock: Clock;
  /** The dependencies given for this session, in addition to the agent's. */
  dependencies?: readonly Provided[] | undefined;
  lease?: LeaseOptions | undefined;
  /** Fence off the current holder of the session. */
  takeOver?: boolean | undefined;
  /** It is for one run without a journal: it is not opened again, unless that run parks. */
  isPassing?: boolean | undefined;
  /** It is the session of this sub-agent. A run in it that is not the sub-agent's is left alone. */
  childOf?: Pick<ParentFacts, "session" | "call"> | undefined;
  /** It is opened for a new run: if another run is open in it, that is refused. */
  forNewRun?: boolean | undefined;
  /** Ends a sub-agent of a run of this session whose tool is gone. */
  endChild?: Shell["endChild"];
  /** The agent's options with some of them changed, for a fork. */
  resolveWith(change: Partial<AgentOptions>): Resolved;
}

/**
 * Makes ids for messages and grants, such as `12_k3fx1`: the session's length, a random part for this object, and a count. Two
 * processes may write at the same position, and a second message with the same id would be dropped as a duplicate.
 */
export function idsOf({ clock }: Pick<SessionParts, "clock">): (state: State) => string {
  let count = 0;
  let own: string | undefined;
  return ({ seq }) => {
    own ??= chanceIn(clock, 4);
    count += 1;
    return `${seq}_${own}${count}`;
  };
}

/** The agent's `about`, for the records that start a run or take one over. */
export const aboutOf = ({ about }: SessionParts): { about?: JsonObject } =>
  about === undefined ? {} : { about };

/**
 * The shell for a session's driver.
 * @param journal the session's writer, which appends under its lease
 */
export function shellOf(parts: SessionParts, journal: Shell["journal"], state: () => State): Shell {
  const { id, blobs, resolved, gate, clock, dependencies, endChild } = parts;
  const { redact } = resolved;
  const given = givenBy(resolved.dependencies, dependencies);
  return {
    session: id,
    journal,
    journalOfChildren: parts.journal,
    blobs,
    redact,
    rules: resolved.rules,
    tools: resolved.tools,
    models: resolved.models,
    compactor: resolved.compactor,
    hooks: {
      hooks: resolved.hooks,
      tools: resolved.tools,
      modelIndex: (model: Model) => {
        const own = state().options?.models ?? [];
        const index = placeOf(own, model, resolved.models.indexOf(model));
        return index < 0 ? undefined : index;
      },
      session: id,
      given,
    },
    checkOutput: (text) => checkTold(text, state().options, resolved),
    ...(gate === undefined ? {} : { gate }),
    ...(endChild === undefined ? {} : { endChild }),
    clock,
    given,
    passedOn: { byAgent: resolved.dependencies, forRun: dependencies ?? [] },
    maskToolErrors: resolved.maskToolErrors,
  };
}
