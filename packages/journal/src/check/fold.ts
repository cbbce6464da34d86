// The room of the fold check: whether a session's records mean something together.
//
// Without rules: whether a record folds must not hang on which agent wrote it.

import {
  charEstimator,
  defaultTexts,
  emptyState,
  type Fact,
  isPaired,
  type LogRecord,
  messageOf,
  reduce,
} from "@rondo/core";

/** A record of another type would be passed over by the fold, and what it said be lost. */
const types = {
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
} satisfies { readonly [type in Fact["type"]]: true };

/** Folds records as they come, and says why they do not fold. */
export class FoldCheck {
  #state = emptyState;
  readonly #rules = { list: [], texts: defaultTexts, estimator: charEstimator() };

  add(record: LogRecord): string | undefined {
    if (!Object.hasOwn(types, record.type))
      return `record ${record.seq} is of type ${JSON.stringify(record.type)}, which this Rondo does not know`;
    try {
      this.#state = reduce(this.#state, record, this.#rules);
      return undefined;
    } catch (thrown) {
      return `record ${record.seq} (${record.type}) does not fold: ${messageOf(thrown)}`;
    }
  }

  /** What is wrong with all of them together. */
  end(): string | undefined {
    return isPaired([...this.#state.history])
      ? undefined
      : "a call in its history has no result, or a result no call";
  }
}
