// The room of a step's settings: the agent's own, and over them what the prepareStep hook set for this step.

import type { Settings } from "../../model.ts";
import { preparedOf, type RunState } from "../state.ts";

/** What is asked of the model in this step, before anything is raised, lowered or left out. The agent's own object where no hook set any. */
export function stepSettings(state: RunState): Settings {
  const { settings } = state.options;
  const forStep = preparedOf(state.run)?.settings;
  return forStep === undefined ? settings : { ...settings, ...forStep };
}
