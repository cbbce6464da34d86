// The room of grants in force: which of them lets a call run that somebody would have to be asked about.

import { grantFor, type HeldGrant } from "../../rules/grants.ts";
import { toolNamed } from "../offered-tools.ts";
import type { Call, RunState } from "../state.ts";

/** The grant that covers a call. None covers one that was cut off: nobody has said that it may run twice. */
export function grantOf(call: Call, state: RunState): HeldGrant | undefined {
  if (call.interrupted) return undefined;
  return grantFor(state.grants, call, state.now, toolNamed(state.options.tools, call.name));
}
