// The room of refused files: those that a model answered only without.
//
// They are remembered for the session; otherwise each of its runs would send them once more, and be refused in the same way.

import { isOfFiles, knownRefusals, leftOutFiles, modelId, withoutRefused } from "../request/omissions.ts";
import type { RunState, State } from "../state.ts";

/** The refused files after an answer to a request without some of the history's files. */
export function refusedFilesOf(state: RunState): Pick<State, "refusedFiles"> {
  const { dropped } = state.run;
  const known = knownRefusals(state);
  // The same list teaches nothing new.
  if (known?.dropped === dropped || !dropped.some(isOfFiles)) return {};
  const before = [...(known?.files ?? [])];
  const sent = withoutRefused(new Set(before), state.history);
  const files = new Set([...before, ...leftOutFiles(sent, dropped)]);
  return { refusedFiles: new Map(state.refusedFiles).set(modelId(state), { files, dropped }) };
}
