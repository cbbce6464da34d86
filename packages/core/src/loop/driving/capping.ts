// The room of capping: how a call's results are cut.
//
// Whether a tool, a hook or `answer` gave the result, the order is the same: first secrets are removed, then the full text
// is stored, then it is cut. After a cut, half a secret would not be found any more.

import { capGiven, type Keeping, keepWhole } from "../../context/cap/keep-whole.ts";
import type { CapPlace } from "../../context/cap.ts";
import type { CallResult } from "../records.ts";
import { windowOf } from "../request/window.ts";
import type { Call, State } from "../state.ts";
import type { Shell } from "./shell.ts";

/** Cuts the results of one call. Returns promises only if a store must be waited for. */
export interface Capping {
  /** Cuts a result of a tool, or one given to `answer`. */
  arrived(whole: CallResult): CallResult | Promise<CallResult>;
  /** Cuts a result that a hook gave, which may contain the call's own. */
  given(result: CallResult): CallResult | Promise<CallResult>;
}

/** Makes the capping for `call`. @param warn is called for a text that could not be kept */
export function cappingOf(
  { session, blobs, redact }: Shell,
  state: State,
  call: Call,
  warn: Keeping["warn"],
): Capping {
  const clean = (result: CallResult): CallResult => {
    const fact = { type: "tool_finished", call: call.key, result } as const;
    return redact === undefined ? result : (redact(fact) as typeof fact).result;
  };
  const facts = state.options?.context?.cap;
  const place: CapPlace = { tool: call.name, callId: call.id, window: windowOf(state) };
  const keeping: Keeping = { session, blobs, warn };
  return {
    arrived: (whole) => keepWhole(clean(whole), facts, place, keeping),
    given: (result) => capGiven(clean(result), call.result, facts, place, keeping),
  };
}
