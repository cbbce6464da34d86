// The room of refused files: those that a model answered only without.
//
// They are remembered for the session; otherwise each of its runs would send them once more, and be refused in the same way.

import { isOfFiles, leftOutFiles, withoutRefused } from "../request/omissions.ts";
import { modelInUse, type Run, type State } from "../state.ts";

/** The refused files after an answer to a request without some of the history's files. */
export function refusedFilesOf(
  { refusedFiles, options, history }: State,
  run: Run,
): Pick<State, "refusedFiles"> {
  const { dropped } = run;
  const model = options?.models[modelInUse(run)]?.id;
  if (model === undefined || !dropped.some(isOfFiles)) return {};
  const known = refusedFiles?.get(model);
  if (known?.dropped === dropped) return {};
  const sent = known === undefined ? history : withoutRefused(known.files, history);
  const files = new Set([...(known?.files ?? []), ...leftOutFiles(sent, dropped)]);
  return { refusedFiles: new Map(refusedFiles).set(model, { files, dropped }) };
}
