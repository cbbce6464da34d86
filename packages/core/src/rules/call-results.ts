// The room of results that rules remember: one for each call, whether its tool gave it, or somebody else in its place.

import type { CallKey, CallResult } from "../loop/records.ts";
import { type Call, callIn, type State } from "../loop/state.ts";
import type { Fold } from "./rule.ts";

/** What a rule remembers after the first result of a call. */
type Came<Memory> = (memory: Memory, call: Call, result: CallResult, before: State) => Memory;

type OnFinished<Memory> = Fold<Memory, "tool_finished">;

interface OnResults<Memory> {
  tool_finished: OnFinished<Memory>;
  hook_answered: Fold<Memory, "hook_answered">;
}

/** The folds of a rule that remembers results of calls. A hook's result counts if it is in place of running the call. */
export function onResults<Memory>(came: Came<Memory>): OnResults<Memory> {
  return {
    tool_finished: onFinished(came),
    hook_answered: (memory, record, before) =>
      record.hook === "beforeTool" && record.result !== undefined
        ? first(came, memory, record.call, record.result, before)
        : memory,
  };
}

/** The fold of a rule to which a hook's results say nothing. */
export const onFinished =
  <Memory>(came: Came<Memory>): OnFinished<Memory> =>
  (memory, { call, result }, before) =>
    first(came, memory, call, result, before);

function first<Memory>(
  came: Came<Memory>,
  memory: Memory,
  key: CallKey,
  result: CallResult,
  before: State,
): Memory {
  const call = callIn(before.run, key);
  return call === undefined || call.result !== undefined ? memory : came(memory, call, result, before);
}
