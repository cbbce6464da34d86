// The room of a step's settings: the agent's, overridden by what the prepareStep hook returned for this step.

import type { Settings } from "../../model.ts";
import { preparedOf, type RunState } from "../state.ts";

/** The settings of this step, before anything is raised, lowered or left out. The agent's own object if no hook set any. */
export function stepSettings(state: RunState): Settings {
  const { settings } = state.options;
  const forStep = preparedOf(state.run)?.settings;
  return forStep === undefined ? settings : { ...settings, ...forStep };
}
