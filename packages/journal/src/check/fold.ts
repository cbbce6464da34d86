// The room of the fold check: whether a session's records fold into a state.
//
// It uses no rules: whether records fold must not depend on which agent wrote them.

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

/** Folds records one after another, and says why they do not fold. */
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

  /** What is wrong with the records as a whole, now that all have come. */
  end(): string | undefined {
    return isPaired([...this.#state.history])
      ? undefined
      : "a call in its history has no result, or a result no call";
  }
}
