// The room of the scripts that every driver is tried with: agents, and what is said to them.
//
// Each script makes its agent anew. Where two things happen at once, the script says which comes first, by a word that
// one waits for: what is compared is what the loop made of it, not who was faster.

import type { DriverScript } from "./scenes.ts";
import { contextScripts } from "./scripts-context.ts";
import { grantScripts } from "./scripts-grants.ts";
import { questionScripts } from "./scripts-questions.ts";
import { runScripts } from "./scripts-runs.ts";
import { spokenScripts } from "./scripts-spoken.ts";
import { stepScripts } from "./scripts-steps.ts";
import { subAgentScripts } from "./scripts-sub-agents.ts";
import { treeScripts } from "./scripts-trees.ts";

export type { DriverScript } from "./scenes.ts";

export const driverScripts: readonly DriverScript[] = [
  ...runScripts,
  ...stepScripts,
  ...spokenScripts,
  ...grantScripts,
  ...questionScripts,
  ...contextScripts,
  ...subAgentScripts,
  ...treeScripts,
];
