// The room of replay: what the model was sent, rebuilt from the records alone.
//
// It uses no model, no tool and no clock, and answers two questions. Does the code still build the requests that were sent?
// If a request's digest differs from the recorded one, the code, or one of the agent's texts, has changed; the
// first difference is the one to look at. And what would this agent send today, under its own options? For that question
// both requests are known, and are compared part by part.

import { charEstimator } from "../context/estimate.ts";
import { summaryOf } from "../loop/deciding/compacting.ts";
import type { LogRecord, RecordOf } from "../loop/records.ts";
import { reduce } from "../loop/reduce.ts";
import { Prefix, requestName } from "../loop/request/prefix.ts";
import { requestOf } from "../loop/request.ts";
import type { RunOptions } from "../loop/run-options.ts";
import { emptyState, isOpen, type State, withRun } from "../loop/state.ts";
import type { ModelRequest } from "../model.ts";
import type { Rules } from "../rules/rule.ts";
import { defaultTexts } from "../rules/texts.ts";
import { optionChanges } from "./changes.ts";
import { requestChanges, type ValueChange } from "./request-changes.ts";

/** One request of a run, as it follows from the records before it. */
export interface ReplayedRequest {
  /** Sequence number of the record that says the model was asked. */
  seq: number;
  step: number;
  attempt: number;
  /** Set if the request asks for a summary of a part of the history. */
  summary?: { part: number; of: number };
  request: ModelRequest;
  /** Whether it is the request that was sent, byte for byte. */
  same: boolean;
}

/** Why a request differs from the recorded one. */
export interface Difference {
  seq: number;
  step: number;
  summary?: { part: number; of: number };
  /** The parts of the request that differ, with what was sent and what would be. Empty if what was sent cannot be rebuilt: only its digest was stored. */
  parts: ValueChange[];
  /** What has changed in the agent: its options, the versions of its rules, its texts. Empty: only the code itself can have changed. */
  causes: ValueChange[];
}

export interface Replay {
  /** Every request of the session, in its order. */
  requests: ReplayedRequest[];
  /** The first request that differs from the recorded one. */
  firstDifference?: ReplayedRequest;
  /** Why it differs, as far as that can be known. */
  difference?: Difference;
  /** The first request that this agent would send differently under its own options, and why. */
  today?: Difference;
}

/** In place of a request for a summary that is in the records and would not be asked for today. */
const nothingAsked: ModelRequest = { messages: [], tools: [], toolChoice: "none", settings: {} };

/**
 * Folds records and rebuilds every request.
 * @param options the current agent's, to find out what it would send differently. Default: that question is not asked
 */
export function replay(records: Iterable<LogRecord>, rules: Rules, options?: RunOptions): Replay {
  const requests: ReplayedRequest[] = [];
  const prefix = new Prefix();
  const ownPrefix = new Prefix();
  let state = emptyState;
  let own = emptyState;
  let difference: Difference | undefined;
  let today: Difference | undefined;
  for (const record of records) {
    const request = requestAt(record, state, rules);
    if (request !== undefined) {
      const asked = record as RecordOf<"model_started" | "summary_started">;
      const place = placeOf(asked, state);
      const nameIn = (sent: Prefix, one: ModelRequest): string =>
        asked.type === "model_started" ? sent.note(one).digest : requestName(one);
      const name = nameIn(prefix, request);
      const same = name === asked.digest;
      requests.push({ seq: record.seq, attempt: asked.attempt, ...place, request, same });
      if (!same) difference ??= differenceOf(asked, state, request, rules, options);
      if (options !== undefined && today === undefined) {
        const is = requestAt(record, own, rules) ?? nothingAsked;
        // By digest first: comparing every message of every request would take quadratic time.
        const parts = nameIn(ownPrefix, is) === name ? [] : requestChanges(request, is);
        if (parts.length > 0)
          today = { seq: record.seq, ...place, parts, causes: causesOf(state.options, options) };
      }
    }
    state = reduce(state, record, rules);
    // Once the first difference is known, there is nothing more to compare.
    if (options !== undefined && today === undefined) own = reduce(own, underOptions(record, options), rules);
  }
  const firstDifference = requests.find((one) => !one.same);
  return {
    requests,
    ...(firstDifference === undefined ? {} : { firstDifference }),
    ...(difference === undefined ? {} : { difference }),
    ...(today === undefined ? {} : { today }),
  };
}

/** The request that a record is about; undefined if it is about none. */
function requestAt(record: LogRecord, state: State, rules: Rules): ModelRequest | undefined {
  if (record.type === "model_started" && isOpen(state.run)) return requestOf(withRun(state), rules);
  if (record.type === "summary_started" && state.run?.compacting !== undefined)
    return summaryOf(withRun(state), rules)?.request ?? nothingAsked;
  return undefined;
}

function placeOf(
  record: RecordOf<"model_started" | "summary_started">,
  state: State,
): Pick<ReplayedRequest, "step" | "summary"> {
  if (record.type === "model_started") return { step: record.step };
  const { part, of } = record;
  return { step: (state.run?.steps ?? 0) + 1, summary: { part, of } };
}

/** The same record, as it would have been under other options. */
function underOptions(record: LogRecord, options: RunOptions): LogRecord {
  const brings = (record.type === "run_started" || record.type === "opened") && record.options !== undefined;
  return brings ? { ...record, options } : record;
}

/** Only the digest of what was sent is known: tries to rebuild that request with the default texts and estimator. */
function differenceOf(
  record: RecordOf<"model_started" | "summary_started">,
  state: State,
  request: ModelRequest,
  rules: Rules,
  options: RunOptions | undefined,
): Difference {
  const place = { seq: record.seq, ...placeOf(record, state) };
  const guesses: [cause: string, Rules][] = [
    ["texts", { ...rules, texts: defaultTexts }],
    ["context.estimator", { ...rules, estimator: charEstimator() }],
  ];
  for (const [option, guess] of guesses) {
    const sent = requestAt(record, state, guess);
    if (sent === undefined || requestName(sent) !== record.digest) continue;
    const causes = [{ what: option, was: "the default", is: "the agent's own" }];
    return { ...place, parts: requestChanges(sent, request), causes };
  }
  const versions = options === undefined ? [] : causesOf(state.options, options);
  return { ...place, parts: [], causes: versions.filter(({ what }) => what.startsWith("rule ")) };
}

/** What has changed in the agent, as it is shown: a rule as `rule retry`, an option by its name. */
function causesOf(was: RunOptions | undefined, is: RunOptions): ValueChange[] {
  if (was === undefined) return [];
  return optionChanges(was, is).map(({ what, name, how: _how, ...sides }) => ({
    what: what === "option" ? name : `${what} ${name}`,
    ...sides,
  }));
}
