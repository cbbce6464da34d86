// The room of record types: all that this version knows.
//
// The fold would ignore a record of another type, and its content would be lost.

import type { Fact } from "../loop/records.ts";

/** Each type of record. */
export const recordTypes: { readonly [type in Fact["type"]]: true } = {
  run_started: true,
  opened: true,
  queued: true,
  delivered: true,
  withdrawn: true,
  noted: true,
  mode: true,
  model_started: true,
  model_finished: true,
  model_failed: true,
  turn_judged: true,
  tool_started: true,
  tool_finished: true,
  tool_waits: true,
  tool_answered: true,
  approval_asked: true,
  approval_given: true,
  allowed: true,
  revoked: true,
  reconciled: true,
  child_waits: true,
  approval_passed: true,
  output_checked: true,
  hook_answered: true,
  trimmed: true,
  summary_started: true,
  summary_finished: true,
  summary_failed: true,
  compacted: true,
  abort_asked: true,
  woke: true,
  late_result: true,
  run_ended: true,
};

/** Whether this version knows a record's type. */
export const isKnownType = ({ type }: { type: string }): boolean => Object.hasOwn(recordTypes, type);
