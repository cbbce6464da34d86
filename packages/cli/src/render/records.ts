// The room of the record lines: renders each type of record.
//
// A new record type does not compile until it has an entry in the table.

import type { LogRecord, State } from "@rondo/core";
import type { RunPage } from "./page.ts";
import { modelFailed, modelFinished, modelStarted, turnJudged } from "./record-answer.ts";
import {
  approvalAsked,
  approvalGiven,
  approvalPassed,
  childWaits,
  hookAnswered,
  lateResult,
  reconciled,
  toolAnswered,
  toolFinished,
  toolStarted,
  toolWaits,
} from "./record-call.ts";
import { compacted, summaryFailed, summaryFinished, summaryStarted, trimmed } from "./record-context.ts";
import {
  abortAsked,
  allowed,
  delivered,
  modeChanged,
  noted,
  opened,
  outputChecked,
  queued,
  revoked,
  runEnded,
  runStarted,
  withdrawn,
  woke,
} from "./record-run.ts";
import type { RecordOf } from "./record-words.ts";

type Lines<Told extends LogRecord> = (record: Told, page: RunPage, before: State, after: State) => void;

const lines: { readonly [Type in LogRecord["type"]]: Lines<RecordOf<Type>> } = {
  run_started: runStarted,
  opened,
  queued,
  delivered,
  withdrawn,
  noted,
  mode: modeChanged,
  model_started: modelStarted,
  model_finished: modelFinished,
  model_failed: modelFailed,
  turn_judged: turnJudged,
  tool_started: toolStarted,
  tool_finished: toolFinished,
  approval_asked: approvalAsked,
  approval_given: approvalGiven,
  tool_waits: toolWaits,
  tool_answered: toolAnswered,
  child_waits: childWaits,
  approval_passed: approvalPassed,
  output_checked: outputChecked,
  hook_answered: hookAnswered,
  trimmed,
  summary_started: summaryStarted,
  summary_finished: summaryFinished,
  summary_failed: summaryFailed,
  compacted,
  allowed,
  revoked,
  reconciled,
  abort_asked: abortAsked,
  woke,
  late_result: lateResult,
  run_ended: runEnded,
};

/** Writes the lines of one record. `before` and `after` are the states around it. */
export function recordLines(record: LogRecord, before: State, after: State, page: RunPage): void {
  const { type } = record;
  const own = Object.hasOwn(lines, type) ? (lines[type] as Lines<LogRecord>) : unknownRecord;
  own(record, page, before, after);
}

/** A record type of a newer version that is marked as ignorable: shown as it is. */
function unknownRecord(record: LogRecord, page: RunPage): void {
  page.fact(record.at, String(record.type), JSON.stringify(record));
}
