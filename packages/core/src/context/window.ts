// The room of the window: how many tokens the model in use can take.

import type { State } from "../loop/state.ts";

/** The option's, else that of the model in use; undefined when nobody knows. */
export function windowOf({ options, run }: State): number | undefined {
  return options?.window ?? options?.models[run?.model ?? 0]?.facts.contextWindow;
}
