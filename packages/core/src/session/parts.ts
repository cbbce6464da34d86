// The room of the parts: what a session is made of, and the shell its driver acts with.
//
// Nothing here holds anything: what it is told about is looked up when it is asked.

import { type Clock, chanceIn } from "../clock.ts";
import type { BlobStore } from "../journal/blobs.ts";
import type { LeaseOptions } from "../journal/writer.ts";
import type { Journal } from "../journal.ts";
import type { Logger } from "../logger.ts";
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
  /** Where the whole texts of cut results are kept. */
  blobs?: BlobStore | undefined;
  resolved: Resolved;
  logger?: Logger | undefined;
  about?: JsonObject | undefined;
  gate?: Shell["gate"];
  clock: Clock;
  /** What is given for the keys of tools in this session, beside the agent's. */
  dependencies?: readonly Provided[] | undefined;
  lease?: LeaseOptions | undefined;
  /** Fence off whoever holds the session. */
  takeOver?: boolean | undefined;
  /** Nobody can come back to it. */
  isPassing?: boolean | undefined;
  /** It is opened for a run of its own: one that is open in it is refused, and left to whoever has it. */
  forNewRun?: boolean | undefined;
  /** Ends a sub-agent of a run of this session whose tool is gone. */
  endChild?: Shell["endChild"];
  /** The agent's options with some of them changed, for a fork. */
  resolveWith(change: Partial<AgentOptions>): Resolved;
}

/**
 * Names for what is said here, such as `12_k3fx1`: where the session stood, this handle by chance, and a count. Two processes
 * may speak at one place, and of two of one name the second would be taken for a double.
 */
export function namesOf({ clock }: Pick<SessionParts, "clock">): (state: State) => string {
  let count = 0;
  let own: string | undefined;
  return ({ seq }) => {
    own ??= chanceIn(clock, 4);
    count += 1;
    return `${seq}_${own}${count}`;
  };
}

/** What the program says about itself in the records that begin a run or take one over. */
export const aboutOf = ({ about }: SessionParts): { about?: JsonObject } =>
  about === undefined ? {} : { about };

/**
 * What a session's driver acts with.
 * @param journal the session's own way to its journal, lease and all
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
