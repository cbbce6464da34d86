// The room of what people said and did during a recorded run: it is said and done again when the run has come so far.
//
// While a model or a tool is at work that is when its outcome is played. While nothing is (a call waits for somebody, a hook
// is asked, a retry waits) the tape does not move. But the loop has then written down what it did, and wherever its
// records are as many as stood in the recording before a word, the word is said.

import {
  type Grant,
  type LogRecord,
  RecordedResult,
  type RecordOf,
  type RunResult,
  type Session,
} from "@rondo/core";

type Spoken =
  | RecordOf<"queued" | "withdrawn" | "abort_asked" | "allowed" | "revoked">
  | (RecordOf<"mode"> & { mode: "compacting" });
type Answered = RecordOf<"approval_given" | "tool_answered" | "tool_finished">;

/** What is played whenever it is played, and not more often after a crash or with a sub-agent. */
const steps: ReadonlySet<LogRecord["type"]> = new Set([
  "run_started",
  "model_finished",
  "model_failed",
  "turn_judged",
  "hook_answered",
  "approval_asked",
  "approval_given",
  "tool_waits",
  "tool_answered",
  "tool_finished",
  "output_checked",
  "summary_finished",
  "summary_failed",
  "compacted",
  "trimmed",
  "delivered",
  "noted",
  "run_ended",
]);

const spokenTypes: ReadonlySet<LogRecord["type"]> = new Set(["queued", "withdrawn", "allowed", "revoked"]);

function isSpoken(record: LogRecord): record is Spoken {
  if (record.type === "abort_asked") return record.error === undefined;
  if (record.type === "mode") return record.mode === "compacting" && record.rule === "asked";
  return spokenTypes.has(record.type);
}

/** A word, and how many of the loop's steps stood before it. Absent: a model or a tool was at work. */
interface Word {
  record: Spoken;
  after?: number;
}

function wordsIn(records: readonly LogRecord[]): Word[] {
  const words: Word[] = [];
  const atWork = new Set<string>();
  let after = 0;
  for (const record of records) {
    if (isSpoken(record)) words.push({ record, ...(atWork.size === 0 ? { after } : {}) });
    if (steps.has(record.type)) after += 1;
    if (record.type === "opened") atWork.clear();
    if (record.type === "model_started" || record.type === "summary_started") atWork.add("model");
    if (/^(model|summary)_(finished|failed)$/.test(record.type)) atWork.delete("model");
    if (record.type === "tool_started") atWork.add(record.call);
    if (record.type === "tool_finished" || record.type === "tool_waits") atWork.delete(record.call);
  }
  return words;
}

/** What people said and did, said and done again when the tape has come to it. */
export class Said {
  readonly #session: Session;
  readonly #words: Word[];
  #steps = 0;
  readonly #answers: Answered[];

  constructor(records: readonly LogRecord[], session: Session) {
    this.#session = session;
    this.#words = wordsIn(records);
    this.#answers = records.filter((record): record is Answered =>
      record.type === "tool_finished"
        ? record.result.code === "answered"
        : record.type === "tool_answered" ||
          (record.type === "approval_given" &&
            !(record.approval.answer === "approve" && record.approval.grant)),
    );
  }

  /** The loop has written a group, and begins something or waits. */
  afterGroup(records: readonly LogRecord[]): void {
    this.#steps += records.filter(({ type }) => steps.has(type)).length;
    while (this.#words[0]?.after !== undefined && this.#words[0].after <= this.#steps) this.#sayNext();
  }

  /** The tape has come to a record. */
  until(seq: number): void {
    this.#sayUntil(seq);
    while (
      this.#answers[0] !== undefined &&
      this.#answers[0].seq < seq &&
      this.#session.status === "running"
    ) {
      const going = this.answer();
      if (going === undefined) return;
    }
  }

  /** Answers the next call that was answered, if it waits. */
  answer(): Promise<RunResult> | undefined {
    const [next] = this.#answers;
    const { pending } = this.#session;
    const call = pending.find((one) => one.key === next?.call) ?? pending[0];
    if (next === undefined || call === undefined) return undefined;
    this.#answers.shift();
    this.#sayUntil(next.seq);
    const going = this.#answerAs(call.id, next);
    going.catch(() => {});
    return going;
  }

  #answerAs(call: string, record: Answered): Promise<RunResult> {
    if (record.type === "tool_finished") return this.#session.answer(call, new RecordedResult(record.result));
    if (record.type === "tool_answered") return this.#session.answer(call, record.answer);
    const { approval } = record;
    if (approval.answer === "deny") {
      const { reason, stop } = approval;
      return this.#session.deny(call, reason, stop === undefined ? {} : { stop });
    }
    // One that did not fit was told to the model where it stands in a journal: by Restate, by a sub-agent's parent.
    if (approval.answer === "edit") return this.#session.edit(call, approval.args, { misfit: "told" });
    const { always } = approval;
    return this.#session.approve(call, always === undefined ? {} : { always: alwaysOf(always) });
  }

  #sayUntil(seq: number): void {
    while (this.#words[0] !== undefined && this.#words[0].record.seq < seq) this.#sayNext();
  }

  #sayNext(): void {
    this.#say((this.#words.shift() as Word).record);
  }

  #say(record: Spoken): void {
    switch (record.type) {
      case "queued": {
        const content = record.message.content as never;
        if (record.lane === "steer") this.#session.steer(content, record.id);
        else this.#session.followUp(content, record.id);
        return;
      }
      case "withdrawn":
        void this.#session.withdraw(record.id).catch(() => {});
        return;
      case "abort_asked":
        this.#session.abort(record.reason);
        return;
      case "allowed":
        void this.#session.allow(record.grant, record.by).catch(() => {});
        return;
      case "mode":
        void this.#session.compact().catch(() => {});
        return;
      case "revoked":
        void this.#session.revoke(record.id, record.by).catch(() => {});
        return;
    }
  }
}

/** A grant as it was asked for with an approval. */
const alwaysOf = ({ tool: _tool, args, ...rest }: Grant) => ({ ...rest, args: args ?? ("any" as const) });
