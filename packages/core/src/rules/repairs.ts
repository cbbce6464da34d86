// The room of repairs: a request was refused because of something in it that can be left out.
//
// The request is sent again without it, once for each kind per run: a second refusal ends the run, because a server that
// refuses everything would be asked for ever. Files may be refused a few times, one by one or as too many, before all are
// left out. A field of the error says what can be left out; its text is never read.

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

/** After so many refusals because of single files, or of too many, all files are left out: each refusal costs a request. */
const mostPartings = 4;

/** Sends a refused request again without what the provider refused: reasoning or files in the history, a setting, or a schema; each once per run. */
export function repairs(): Rule {
  return {
    name: "repairs",
    version: 6,
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

/** The repair for refused files: some of them, or all if some were refused too often. */
function bounded(repair: Repair, dropped: readonly Repair[]): Repair {
  const some = (one: Repair): boolean => isOfOneFile(one) || isOfOldFiles(one);
  return some(repair) && dropped.filter(some).length >= mostPartings ? "files" : repair;
}

/** Whether leaving it out changes the request. */
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

/** How many files earlier refusals have left. */
const keptOf = (dropped: readonly Repair[]): number[] => dropped.filter(isOfOldFiles).map(keptFiles);

/** Whether leaving reasoning out changes the request. Walks the history, but only after a refusal. */
function hasReasoning(state: RunState): boolean {
  const { reasoning = "off" } = stepSettings(state);
  if (reasoning !== "off") return true;
  for (const message of state.history)
    if (message.role === "assistant" && message.content.some((part) => part.type === "reasoning"))
      return true;
  return false;
}
