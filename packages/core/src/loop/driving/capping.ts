// The room of what is cut from a call's results.
//
// Whoever made the result (a tool, a hook, somebody who brought it), the order is the same: secrets first, then its
// whole text is kept, then it is cut. Half a secret would be found no more.

import { capArrival, capGiven, type Keeping } from "../../context/cap/arrival.ts";
import type { CapPlace } from "../../context/cap.ts";
import type { CallResult } from "../records.ts";
import { windowOf } from "../request/window.ts";
import { type Call, optionsOf, type State } from "../state.ts";
import type { Shell } from "./shell.ts";

/** What cuts the results of one call. Not promises unless a store must be waited for. */
export interface Capping {
  /** A result that a tool made, or that somebody brought. */
  arrived(whole: CallResult): CallResult | Promise<CallResult>;
  /** A result that a hook gave, maybe made of the call's own. */
  given(result: CallResult): CallResult | Promise<CallResult>;
}

/** What cuts the results of `call`. @param warn is told of a text that could not be kept */
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
  const facts = optionsOf(state).context?.cap;
  const place: CapPlace = { tool: call.name, callId: call.id, window: windowOf(state) };
  const keeping: Keeping = { session, blobs, warn };
  return {
    arrived: (whole) => capArrival(clean(whole), facts, place, keeping),
    given: (result) => capGiven(clean(result), call.result, facts, place, keeping),
  };
}
