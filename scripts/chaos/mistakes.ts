// The room of mistakes: agents, journals and workers that deliberately break promises, to show that each check can fail.
//
// Some mistakes happen while agents work. Others are made by a journal that returns something else than it was given,
// so that a reader finds the broken promise.

import type { LogRecord, Rule } from "@rondo/core";

/** Each mistake, the promise it breaks, and what it does. */
export const mistakes = {
  lose_result: { breaks: "P1", does: "gives back a history that has a call without its result" },
  moody_rule: { breaks: "P2", does: "a rule that says something else each time it is asked" },
  forget_records: { breaks: "P3", does: "forgets the last records of each session when its process died" },
  change_decision: { breaks: "P3", does: "gives back another decision than the one that was made" },
  write_again: { breaks: "P4", does: "starts a write again whose outcome nobody knows" },
  start_after_abort: { breaks: "P5", does: "gives back a model call behind an abort" },
  end_twice: { breaks: "P6", does: "gives back the end of a run twice" },
  never_settle: { breaks: "P6", does: "a user's promise of a run that never settles" },
  leave_rejections: { breaks: "other", does: "leaves rejections that nobody hears" },
  change_result: { breaks: "P7", does: "gives back another result than the model was sent" },
  deliver_twice: { breaks: "P8", does: "gives back a message as delivered twice" },
  lose_message: { breaks: "P8", does: "loses the messages that are queued" },
  keep_sessions: { breaks: "other", does: "keeps what ended sessions held" },
} as const;

export type Mistake = keyof typeof mistakes;

export const isMistake = (name: string): name is Mistake => Object.hasOwn(mistakes, name);

/** What a journal with the mistake returns. */
export function damaged(records: readonly LogRecord[], mistake: Mistake | undefined): readonly LogRecord[] {
  switch (mistake) {
    case "lose_result":
      return changing(records, "run_started", (record) => [
        {
          ...record,
          history: [
            {
              role: "assistant",
              content: [{ type: "tool_call", id: "lost", name: "look", args: {}, rawArgs: "{}" }],
              origin: { api: "none", provider: "none", model: "none" },
              stop: { kind: "tool_use", wire: "tool_use" },
            },
          ],
        },
      ]);
    case "change_decision":
      return changing(records, "turn_judged", (record) => [
        {
          ...record,
          follows: record.follows.do === "stop" ? { do: "act" } : { do: "stop", reason: "no_progress" },
        },
      ]);
    case "start_after_abort":
      return changing(records, "abort_asked", (record) => [
        record,
        { ...record, type: "model_started", step: 1, attempt: 1, model: 0, digest: "none" },
      ]);
    case "end_twice":
      return changing(records, "run_ended", (record) => [record, record]);
    case "change_result":
      return changing(records, "tool_finished", (record) => [
        { ...record, result: { ...record.result, content: [{ type: "text", text: "something else" }] } },
      ]);
    case "deliver_twice":
      return changing(records, "delivered", (record) => [record, record]);
    default:
      return records;
  }
}

/** The records with each one of a type replaced, renumbered. */
function changing<T extends LogRecord["type"]>(
  records: readonly LogRecord[],
  type: T,
  change: (record: LogRecord & { type: T }) => LogRecord[],
): LogRecord[] {
  return records
    .flatMap((record) => (record.type === type ? change(record as LogRecord & { type: T }) : [record]))
    .map((record, seq) => ({ ...record, seq }));
}

/** A rule whose memory is not in the records. */
export function moodyRule(): Rule {
  let asked = 0;
  return {
    name: "moody",
    version: 1,
    decide: (_memory, state) => {
      asked += 1;
      return (state.run?.spoken.length ?? 0) > 3
        ? undefined
        : { do: "nudge", text: `mood ${asked}`, evidence: { asked } };
    },
  };
}
