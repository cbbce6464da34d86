// The room of the current agent: what this version of the command would make of a recorded run.
//
// It drives nothing, so it knows the model only by its recorded name and facts: no key, no network.

import { emptyState, type Model, messageOf, type Resolved, reduceAll, resolve } from "@rondo/core";
import { Failure } from "../console/failure.ts";
import { invocationOf } from "../invocation.ts";
import { noRules } from "../summary.ts";
import { makeAgent } from "./agent.ts";
import type { FoundRun } from "./find-run.ts";

/** The rules and options the run would have today, or why they are unknown. */
export type Today = { resolved: Resolved } | { unknown: string };

export function todayOf(run: FoundRun): Today {
  const invocation = invocationOf(run.records);
  if (invocation === undefined)
    return {
      unknown: "the run was not started by the rondo command, and only its own program knows its agent",
    };
  try {
    return { resolved: resolve(makeAgent({ invocation, model: recordedModel(run) }).options) };
  } catch (thrown) {
    return { unknown: messageOf(thrown) };
  }
}

/** A run's model, as far as records know it. It cannot answer. @throws Failure when the run was never started */
export function recordedModel({ id, records }: FoundRun): Model {
  const [model] = reduceAll(records, noRules, emptyState).options?.models ?? [];
  if (model === undefined) throw new Failure(`run ${id} was never started: there is nothing in it yet`);
  return {
    ...model,
    call: () => {
      throw new Failure(`the model ${model.id} is known by its name only`);
    },
  };
}
