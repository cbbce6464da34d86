// The room of repairs: a request was refused for something in it that can be left out.
//
// It is left out and asked again, once for each kind in a run: a second refusal is the end, or a server that refuses
// everything would be asked for ever. Of files that are refused one by one, or as too many, there may be a few, before all are left out.
// What can be repaired is said by the error's own field, never read from its text.

import type { Repair } from "../errors.ts";
import {
  countFiles,
  isOfOldFiles,
  isOfOneFile,
  keptFiles,
  repairOfFile,
  settingOf,
} from "../loop/request/omissions.ts";
import { stepSettings } from "../loop/request/step-settings.ts";
import { type RunState, withRun } from "../loop/state.ts";
import { hasSpareSchema } from "../output/ways.ts";
import type { Judgement, Rule } from "./rule.ts";

/** Each costs a request: a history with more broken files than that, or in which ever fewer are too many, goes on without any. */
const mostPartings = 4;

/** Leaves out what the provider refuses, reasoning or files in a history, a setting or a schema, and asks again without it; once in a run. */
export function repairs(): Rule {
  return {
    name: "repairs",
    version: 5,
    judge(_memory, state): Judgement | undefined {
      const { run } = state;
      const said = run?.failure?.error.repair;
      if (run?.failure === undefined || said === undefined) return undefined;
      const repair = bounded(said, run.dropped);
      if (run.dropped.includes(repair) || !changes(repair, withRun(state))) return undefined;
      return {
        follows: { do: "ask_again", drop: repair },
        evidence: { kind: run.failure.error.kind, dropped: repair },
      };
    },
  };
}

/** Some files; all of them, where some were refused too often. */
function bounded(repair: Repair, dropped: readonly Repair[]): Repair {
  const some = (one: Repair): boolean => isOfOneFile(one) || isOfOldFiles(one);
  return some(repair) && dropped.filter(some).length >= mostPartings ? "files" : repair;
}

/** Whether leaving it out makes another request of it. */
function changes(repair: Repair, state: RunState): boolean {
  if (repair === "reasoning") return hasReasoning(state);
  if (repair === "schema") return hasSpareSchema(state);
  const { dropped } = state.run;
  const left = (): number => countFiles(state, (one) => !dropped.includes(repairOfFile(one)));
  if (repair === "files") return left() > 0;
  if (isOfOneFile(repair))
    return !dropped.includes("files") && countFiles(state, (one) => repairOfFile(one) === repair) > 0;
  if (isOfOldFiles(repair))
    return !dropped.includes("files") && keptFiles(repair) < Math.min(left(), ...keptOf(dropped));
  const { [settingOf(repair)]: setting } = stepSettings(state);
  return setting !== undefined;
}

/** To how many files what was refused before has brought it. */
const keptOf = (dropped: readonly Repair[]): number[] => dropped.filter(isOfOldFiles).map(keptFiles);

/** Whether leaving reasoning out makes another request of it. Looks at the history, but only after a refusal. */
function hasReasoning(state: RunState): boolean {
  const { reasoning = "off" } = stepSettings(state);
  if (reasoning !== "off") return true;
  for (const message of state.history)
    if (message.role === "assistant" && message.content.some((part) => part.type === "reasoning"))
      return true;
  return false;
}
