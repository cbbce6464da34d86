// The room of learnt windows: a refusal names the window that a request did not fit into.
//
// It is remembered for the session; otherwise its next run would be refused in the same way.

import type { ErrorData } from "../../errors.ts";
import type { ModelRef } from "../run-options.ts";
import type { State } from "../state.ts";

/** The known windows after a model call failed. */
export function windowsOf(
  { windows }: State,
  { contextWindow = 0 }: ErrorData,
  model: ModelRef | undefined,
): Pick<State, "windows"> {
  if (model === undefined || !(contextWindow > 0)) return {};
  return { windows: new Map(windows).set(model.id, contextWindow) };
}
