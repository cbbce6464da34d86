// The room of results that rules remember: one for each call, whether its tool gave it, or somebody else in its place.

import type { CallKey, CallResult } from "../loop/records.ts";
import { type Call, callIn, type State } from "../loop/state.ts";
import type { Fold } from "./rule.ts";

/** What a rule remembers after the first result of a call. */
type Came<Memory> = (memory: Memory, call: Call, result: CallResult, before: State) => Memory;

interface OnResults<Memory> {
  tool_finished: Fold<Memory, "tool_finished">;
  hook_answered: Fold<Memory, "hook_answered">;
}

/** The folds of a rule that remembers results of calls. A hook's result counts if it is in place of running the call. */
export function onResults<Memory>(came: Came<Memory>): OnResults<Memory> {
  const first = (memory: Memory, key: CallKey, result: CallResult, before: State): Memory => {
    const call = callIn(before.run, key);
    return call === undefined || call.result !== undefined ? memory : came(memory, call, result, before);
  };
  return {
    tool_finished: (memory, { call, result }, before) => first(memory, call, result, before),
    hook_answered: (memory, record, before) =>
      record.hook === "beforeTool" && record.result !== undefined
        ? first(memory, record.call, record.result, before)
        : memory,
  };
}
