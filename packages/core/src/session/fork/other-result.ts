// The room of the other result: replaces the result of a call in a fork.
//
// The new result replaces the old one, whether the tool, a rule that did not let the call run, or a hook gave it. That is
// possible only if no shared record was made from the old result.

import { invalidRequest } from "../../errors.ts";
import type { CallKey, CallResult, Fact, LogRecord } from "../../loop/records.ts";
import { reduce } from "../../loop/reduce.ts";
import { callIn, emptyState } from "../../loop/state.ts";
import type { Rules } from "../../rules/rule.ts";
import { type Edited, reads } from "./cut.ts";

/** A record as it would be if a call had another result. */
export function withResult(
  record: LogRecord,
  { seq, key }: Edited,
  redact: (fact: Fact) => Fact,
  result: CallResult,
): LogRecord {
  if (record.type === "tool_finished" && record.seq === seq) {
    // Another result of a sub-agent does not change what it spent.
    const { spent } = record.result;
    const other = { ...result, ...(spent === undefined ? {} : { spent }) };
    return { ...record, ...redact({ type: "tool_finished", call: key, result: other }) };
  }
  if (record.type !== "hook_answered" || !("call" in record) || record.call !== key) return record;
  if (record.hook === "beforeTool" && record.seq === seq) {
    const { error: _void, ...rest } = record;
    return { ...rest, ...redact({ type: "hook_answered", hook: "beforeTool", call: key, result }) };
  }
  if (record.hook !== "afterTool") return record;
  // What the afterTool hook made of the old result no longer applies, and neither does its error.
  const { result: _result, error: _error, ...rest } = record;
  return rest;
}

/** The record of a call's result, given by its tool or by the beforeTool hook in place of running it. */
export function resultAt(session: string, records: readonly LogRecord[], call: string, rules: Rules): Edited {
  const keys: string[] = [];
  let state = emptyState;
  let found: Edited | undefined;
  for (const record of records) {
    const key = answeredBy(record);
    const answered = key === undefined ? undefined : callIn(state.run, key);
    // A late result changed nothing.
    if (key !== undefined && answered?.result === undefined) {
      keys.push(key);
      if (key === call || answered?.id === call) found = { seq: record.seq, key };
    }
    state = reduce(state, record, rules);
  }
  if (found !== undefined) return found;
  const known = keys.length === 0 ? "none has a result" : `those with a result are ${keys.join(", ")}`;
  throw invalidRequest(`no call ${JSON.stringify(call)} with a result in session ${session}: ${known}`);
}

/** The call whose result is in a record. */
function answeredBy(record: LogRecord): CallKey | undefined {
  if (record.type === "tool_finished") return record.call;
  const isGiven =
    record.type === "hook_answered" && record.hook === "beforeTool" && record.result !== undefined;
  return isGiven ? record.call : undefined;
}

/** @throws RondoError `invalid_request` if a shared request was made with the old result, or it is not shared */
export function checkEdit(
  records: readonly LogRecord[],
  { seq }: { seq: number },
  cut: number,
  call: string,
): void {
  if (seq >= cut)
    throw invalidRequest(
      `call ${call} has no result yet where the fork is taken: take it later, or edit another call`,
    );
  const read = records.slice(seq, cut).find(reads);
  if (read === undefined) return;
  const isStep = read.type === "model_started";
  const isSummary = read.type === "summary_started";
  const how = isStep ? `in step ${read.step}` : isSummary ? "in a summary" : "to make room";
  const where = isStep ? `fork at step ${read.step}` : `fork at record ${read.seq}`;
  throw invalidRequest(
    `the result of call ${call} was read already where the fork is taken, ${how}: ${where}`,
  );
}
