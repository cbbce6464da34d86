// The room of replay: what the model was sent, made again from the records alone.
//
// No model, no tool, no clock. A request whose name differs from the recorded one means that the code has changed:
// another rule, another text, another tool. The first difference is the one to look at.

import { summaryOf } from "./loop/compacting.ts";
import { Prefix, requestName } from "./loop/prefix.ts";
import type { LogRecord } from "./loop/records.ts";
import { reduce } from "./loop/reduce.ts";
import { requestOf } from "./loop/request.ts";
import { emptyState } from "./loop/state.ts";
import type { ModelRequest } from "./model.ts";
import type { Rules } from "./rules/rule.ts";

/** One request of a run, as it follows from the records before it. */
export interface ReplayedRequest {
  /** Sequence number of the record that says the model was asked. */
  seq: number;
  step: number;
  attempt: number;
  /** Set when a part of the history was to be summed up. */
  summary?: { part: number; of: number };
  request: ModelRequest;
  /** Whether it is the request that was sent, byte for byte. */
  same: boolean;
}

export interface Replay {
  requests: ReplayedRequest[];
  /** The first request that differs from the recorded one. */
  firstDifference?: ReplayedRequest;
}

/** Stands where the records tell of a summary that would not be asked for today. */
const nothingAsked: ModelRequest = { messages: [], tools: [], toolChoice: "none", settings: {} };

/** Folds records and makes every request again. */
export function replay(records: Iterable<LogRecord>, rules: Rules): Replay {
  const requests: ReplayedRequest[] = [];
  const prefix = new Prefix();
  let state = emptyState;
  for (const record of records) {
    if (record.type === "model_started" && state.run !== undefined && state.run.end === undefined) {
      const request = requestOf(state, rules);
      const same = prefix.note(request).digest === record.digest;
      requests.push({ seq: record.seq, step: record.step, attempt: record.attempt, request, same });
    }
    if (record.type === "summary_started" && state.run?.compacting !== undefined) {
      const { part, of, attempt, digest } = record;
      const request = summaryOf(state, rules)?.request ?? nothingAsked;
      const same = requestName(request) === digest;
      const step = state.run.steps + 1;
      requests.push({ seq: record.seq, step, attempt, summary: { part, of }, request, same });
    }
    state = reduce(state, record, rules);
  }
  const firstDifference = requests.find((one) => !one.same);
  return { requests, ...(firstDifference === undefined ? {} : { firstDifference }) };
}
