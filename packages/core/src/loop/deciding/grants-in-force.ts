// The room of grants in force: which grant lets a call run that would otherwise need an approval.

import { grantFor, type HeldGrant } from "../../rules/grants.ts";
import { toolNamed } from "../offered-tools.ts";
import type { Call, RunState } from "../state.ts";

/** The grant that covers a call. None covers an interrupted call: nobody approved that it may run twice. */
export function grantOf(call: Call, state: RunState): HeldGrant | undefined {
  if (call.interrupted) return undefined;
  return grantFor(state.grants, call, state.now, toolNamed(state.options.tools, call.name));
}
