// The room of comparable records: reduces a record to what it says, so that two sessions that did the same compare as equal.
//
// Times, random numbers and generated names are no difference. Neither is the order in which parallel calls finish.
// Everything else is.

import type { ErrorData } from "../errors.ts";
import { jsonCopy } from "../json/copy.ts";
import { canonical } from "../json/digest.ts";
import { placeIn } from "../loop/call-key.ts";
import type { Amounts } from "../loop/child-facts.ts";
import type { EndReason, HistoryEdit, LogRecord, RecordOf } from "../loop/records.ts";
import type { Json, JsonObject, Message } from "../message.ts";

/** Without records that are only about time, and with the records of parallel calls in the order of the calls. */
export function ordered(records: readonly LogRecord[]): LogRecord[] {
  const kept = records.filter((record) => record.type !== "woke" && record.type !== "late_result");
  const result: LogRecord[] = [];
  let group: RecordOf<"tool_started" | "tool_finished">[] = [];
  const close = (): void => {
    result.push(...group.sort((one, other) => rank(one) - rank(other)));
    group = [];
  };
  for (const record of kept) {
    if (record.type === "tool_started" || record.type === "tool_finished") group.push(record);
    else {
      close();
      result.push(record);
    }
  }
  close();
  return result;
}

const rank = ({ type, call }: RecordOf<"tool_started" | "tool_finished">): number =>
  placeIn(call) + (type === "tool_started" ? 0 : 1_000_000);

/** What a record says, without times, random numbers and generated names. */
export function comparable(record: LogRecord): string {
  const { seq: _seq, at: _at, rand: _rand, ...fact } = record;
  switch (fact.type) {
    case "run_started": {
      const { about: _about, parent, ...rest } = fact;
      const messages = { input: rest.input.map(plain), history: rest.history?.map(plain) };
      const given = parent && { depth: parent.depth, budget: untimed(parent.budget) };
      return text({ ...rest, ...messages, parent: given });
    }
    case "opened": {
      const { about: _about, from: _from, ...rest } = fact;
      return text(rest);
    }
    case "queued":
    case "withdrawn": {
      const { id: _id, ...rest } = fact;
      return text(rest);
    }
    case "delivered":
      return text({ ...fact, ids: fact.ids.length });
    case "model_started":
    case "summary_started": {
      const { digest: _digest, ...rest } = fact;
      return text(rest);
    }
    case "model_finished":
    case "summary_finished":
      return text({ ...fact, message: plain(fact.message) });
    case "model_failed":
    case "summary_failed":
      return text({ type: fact.type, error: plainError(fact.error) });
    case "tool_started": {
      const { type, call, child, reserved } = fact;
      return text({ type, call: place(call), child: child !== undefined, reserved: untimed(reserved) });
    }
    case "child_waits": {
      const pending = fact.pending.map(({ name, args, agents, question }) => ({
        name,
        args,
        agents,
        question,
      }));
      return text({ ...fact, call: place(fact.call), pending });
    }
    case "approval_passed": {
      const { inside: _inside, ...rest } = fact;
      return text(placed(rest));
    }
    case "approval_asked":
      return text({ ...fact, calls: fact.calls.map(place) });
    case "turn_judged": {
      const { follows } = fact;
      const { waitMs: _wait, ...evidence } = fact.evidence;
      const then = follows.do === "ask_again" ? { ...follows, until: undefined } : follows;
      const error = "error" in follows ? { error: plainError(follows.error) } : {};
      const reason = "reason" in follows ? follows.reason : undefined;
      return text({ ...fact, evidence: evidenceOf(evidence, reason), follows: { ...then, ...error } });
    }
    case "run_ended": {
      const { evidence, reason, error } = fact.end;
      const end = { ...fact.end, evidence: evidenceOf(evidence, reason), error: plainError(error) };
      return text({ ...fact, end, keep: fact.keep && plain(fact.keep) });
    }
    case "trimmed":
      return text({ ...fact, edits: fact.edits.map(({ at, message }) => ({ at, message: plain(message) })) });
    case "compacted":
      return text({ ...fact, edit: fact.edit && unnamed(fact.edit) });
    case "hook_answered":
      return text(
        placed(fact.hook === "transformContext" ? { ...fact, edit: fact.edit && unnamed(fact.edit) } : fact),
      );
    default: {
      if (!("evidence" in fact) || fact.evidence === undefined) return text(placed(fact));
      return text({
        ...placed(fact),
        evidence: evidenceOf(fact.evidence, "reason" in fact ? fact.reason : undefined),
      });
    }
  }
}

/** A key counts records, and one side may have more records that say nothing. So only the position counts. */
const place = (key: string): string => key.split(".")[1] ?? key;

/** A value that names a call by its key, with only the call's position in its answer. */
const placed = <About extends object>(about: About): About =>
  "call" in about && typeof about.call === "string" ? { ...about, call: place(about.call) } : about;

/** The evidence of a decision, without what is itself a time. */
const evidenceOf = (evidence: JsonObject, reason: EndReason | undefined): JsonObject =>
  reason === "deadline" ? {} : placed(evidence);

/** An error without the provider's raw text, which may name each request differently, and without its wait, which is a time. */
const plainError = (error: ErrorData | undefined): Partial<ErrorData> | undefined => {
  if (error === undefined) return undefined;
  const { raw: _raw, retryAfterMs: _wait, ...said } = error;
  return said;
};

/** What may be spent, without the time limit. */
const untimed = ({ until: _until, ...amounts }: Amounts = {}): Amounts => amounts;

/** An edit, with its messages reduced to what they say. */
const unnamed = (edit: HistoryEdit): unknown[] =>
  edit.map((one) => ("put" in one ? { put: plain(one.put) } : one));

const text = (value: unknown): string => canonical(jsonCopy(value, "", "lenient") as Json);

/** What a message says. */
function plain(message: Message): unknown {
  const content = message.content.map((part) => {
    if (part.type === "tool_call") return { type: part.type, name: part.name, args: part.args };
    if (part.type === "text" || part.type === "refusal") return { type: part.type, text: part.text };
    return part.type === "reasoning" ? { type: part.type, text: part.text } : part;
  });
  if (message.role !== "assistant") return { role: message.role, content };
  return { role: message.role, content, origin: message.origin, stop: message.stop.kind };
}
