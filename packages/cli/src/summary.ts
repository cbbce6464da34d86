// The room of summaries: a session of the journal in short, from its records alone.

import {
  type CallView,
  charEstimator,
  defaultTexts,
  emptyState,
  type LogRecord,
  messageOf,
  type Rules,
  type RunEnd,
  reduceAll,
  type State,
  textOf,
} from "@rondo/core";
import { pendingIn } from "@rondo/core/driving";
import { Failure } from "./console/failure.ts";
import { driverOf } from "./invocation.ts";
import { rondo } from "./line/command-name.ts";

/** Rules for folding: only rules that keep state matter to it, and for mere reading none do. */
export const noRules: Rules = { list: [], texts: defaultTexts, estimator: charEstimator() };

export interface RunSummary {
  id: string;
  /** Milliseconds since 1970: when the session's last run started. */
  startedAt: number;
  steps: number;
  /** The end reason; or `waiting` for an approval, `running` in a live process, `interrupted` when that is gone, `empty`. */
  status: string;
  end?: RunEnd;
  /** The last task that was given. */
  task: string;
  /** The run whose sub-agent it is. */
  parent?: string;
}

/** What a person calls a call: its key; inside a sub-agent, its id with the path to it. */
export const callName = ({ key, id, child }: CallView): string => (child === undefined ? key : id);

/** The task a run was started with, as text. */
export function taskOf(record: LogRecord & { type: "run_started" }): string {
  const texts = [...record.input, ...(record.history ?? [])]
    .filter((message) => message.role === "user")
    .map(textOf);
  return texts.join("\n");
}

/** The state that the records fold to. */
export const stateOf = (records: readonly LogRecord[]): State => reduceAll(records, noRules, emptyState);

/** @throws Failure when a record does not have its form */
export function summaryOf(id: string, records: readonly LogRecord[]): RunSummary {
  try {
    return summed(id, records);
  } catch (thrown) {
    throw unreadable(id, thrown);
  }
}

/** A record that does not have its form is found only where it is used: this names the run, and what to do. @param id empty when no run was read yet */
export function unreadable(id: string, thrown: unknown): unknown {
  if (id === "" || !(thrown instanceof TypeError)) return thrown;
  return new Failure(
    `run ${id} cannot be read, as a record does not have its form (${messageOf(thrown)}); \`${rondo} journal check\` verifies all of them, and \`${rondo} show RUN --json\` prints them`,
    { cause: thrown },
  );
}

function summed(id: string, records: readonly LogRecord[]): RunSummary {
  const state = stateOf(records);
  const runs = records.filter((record) => record.type === "run_started");
  // A run that only compacts or clears the history has no task: the session's subject was given before.
  const started = runs.findLast((record) => taskOf(record) !== "") ?? runs.at(-1);
  const { run } = state;
  return {
    id,
    startedAt: run?.startedAt ?? records[0]?.at ?? 0,
    steps: run?.steps ?? 0,
    status: statusOf(state, records),
    ...(run?.end === undefined ? {} : { end: run.end }),
    task: started === undefined ? "" : taskOf(started),
    ...(started?.parent === undefined ? {} : { parent: started.parent.session }),
  };
}

function statusOf(state: State, records: readonly LogRecord[]): string {
  const { run } = state;
  if (run === undefined) return "empty";
  if (run.end !== undefined) return run.end.reason;
  if (pendingIn(state).length > 0) return "waiting";
  return driverOf(records) === undefined ? "interrupted" : "running";
}
