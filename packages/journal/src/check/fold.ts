// The room of the fold check: whether a session's records mean something together.
//
// Without rules: whether a record folds must not hang on which agent wrote it.

import {
  charEstimator,
  defaultTexts,
  emptyState,
  isPaired,
  type LogRecord,
  messageOf,
  RecordJudge,
  reduce,
} from "@rondo/core";

/** Folds records as they come, and says why they do not fold. */
export class FoldCheck {
  #state = emptyState;
  readonly #judge = new RecordJudge();
  readonly #rules = { list: [], texts: defaultTexts, estimator: charEstimator() };

  add(record: LogRecord): string | undefined {
    try {
      this.#state = reduce(this.#state, this.#judge.judge(record, record.seq, [record]), this.#rules);
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
