// The room of windows that nobody knew: a refusal names the one that a request did not fit into.
//
// It holds for the session, for its next run would else be refused where this one was.

import type { ErrorData } from "../../errors.ts";
import type { ModelRef } from "../run-options.ts";
import type { State } from "../state.ts";

/** What is known of windows once a model has failed. */
export function windowsOf(
  { windows }: State,
  { contextWindow = 0 }: ErrorData,
  model: ModelRef | undefined,
): Pick<State, "windows"> {
  if (model === undefined || !(contextWindow > 0)) return {};
  return { windows: new Map(windows).set(model.id, contextWindow) };
}
