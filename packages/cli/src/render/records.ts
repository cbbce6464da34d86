// The room of the records' lines: each kind of record, in words.
//
// The switch is exhaustive: a new kind of record does not compile before it has its line here.

import { type LogRecord, type State, textOf } from "@rondo/core";
import { leftChildOf } from "@rondo/core/driving";
import { contentText } from "../console/shorten.ts";
import { stageText } from "./context.ts";
import { grantText } from "./grant.ts";
import type { RunPage } from "./page.ts";
import { modelFinished, modelStarted, turnJudged } from "./record-answer.ts";
import { approvalGiven, hookAnswered, reconciledText, toolFinished } from "./record-call.ts";
import { modeChanged, opened, runEnded, runStarted } from "./record-run.ts";
import { amountsText, attemptText, because, byText, called, errorText, since } from "./record-words.ts";
import { usageText } from "./usage.ts";

/** Writes the lines of one record. `before` and `after` are the states around it. */
export function recordLines(record: LogRecord, before: State, after: State, page: RunPage): void {
  const { at } = record;
  switch (record.type) {
    case "run_started":
      runStarted(record, after, page);
      return;
    case "opened":
      opened(record, page);
      return;
    case "queued":
      page.fact(at, "queued", `a message (${record.lane}, ${record.id})`);
      page.more(textOf(record.message));
      return;
    case "delivered":
      page.fact(at, "delivered", `${record.lane}: ${record.ids.join(", ")}`);
      return;
    case "noted":
      page.fact(at, "note", `to the model${because(record)}`, "yellow");
      page.more(record.text);
      return;
    case "mode":
      modeChanged(record, page);
      return;
    case "model_started":
      modelStarted(record, before, page);
      return;
    case "model_finished":
      modelFinished(record, before, after, page);
      return;
    case "model_failed":
      page.fact(
        at,
        "failed",
        `${errorText(record.error)}${since(before.run?.call?.startedAt, at)}; ${usageText(record.usage)}`,
        "red",
      );
      if (record.partial !== undefined) {
        page.more("what had arrived:");
        page.more(textOf(record.partial), "dim");
      }
      return;
    case "turn_judged":
      turnJudged(record, before, page);
      return;
    case "tool_started":
      page.fact(
        at,
        "start",
        `${called(before, record.call)}; ${record.child === undefined ? `key ${record.idempotencyKey}` : `as session ${record.child}`}`,
      );
      if (record.reserved !== undefined && Object.keys(record.reserved).length > 0)
        page.more(`may spend: ${amountsText(record.reserved, at)}`, "dim");
      return;
    case "tool_finished":
      toolFinished(record, before, page);
      return;
    case "approval_asked":
      page.fact(
        at,
        "approval",
        `asked for ${record.calls.map((key) => called(before, key)).join(", ")}`,
        "yellow",
      );
      return;
    case "approval_given":
      approvalGiven(record, before, page);
      return;
    case "child_waits":
      page.fact(
        at,
        "approval",
        record.pending.length === 0
          ? `${called(before, record.call)} has stopped`
          : `asked inside ${called(before, record.call)} for ${record.pending.map(({ id, name, args }) => `${id} ${name} ${JSON.stringify(args)}`).join(", ")}`,
        "yellow",
      );
      return;
    case "approval_passed": {
      const { said, inside } = record;
      const words = { approve: "approved", deny: "denied", edit: "approved with other arguments" };
      page.fact(
        at,
        "approval",
        `${inside} inside ${called(before, record.call)} ${words[said.answer]}${byText(record)}`,
        said.answer === "deny" ? "red" : "green",
      );
      return;
    }
    case "output_checked":
      page.fact(
        at,
        "output",
        record.ok ? "fits its schema" : `does not fit: ${record.error ?? "no reason given"}`,
      );
      if (record.value !== undefined) page.more(JSON.stringify(record.value));
      return;
    case "hook_answered":
      hookAnswered(record, before, page);
      return;
    case "trimmed":
      page.fact(at, record.stage, stageText(record));
      return;
    case "summary_started":
      page.fact(
        at,
        "summary",
        `part ${record.part} of ${record.of} asked for${attemptText(record.attempt)}`,
        "dim",
      );
      return;
    case "summary_finished":
      page.fact(at, "summary", usageText(record.message.usage));
      page.more(textOf(record.message), "dim");
      return;
    case "summary_failed":
      page.fact(at, "summary", errorText(record.error), "yellow");
      return;
    case "compacted":
      page.fact(at, record.edit === undefined ? "as it was" : "compacted", stageText(record));
      return;
    case "allowed":
      page.fact(at, "allowed", `${grantText(record.grant)}${byText(record)}`, "green");
      return;
    case "revoked":
      page.fact(at, "revoked", `grant ${record.id}${byText(record)}`, "yellow");
      return;
    case "reconciled":
      page.fact(
        at,
        "reconciled",
        reconciledText(record, before),
        record.found === "unknown" ? "yellow" : "green",
      );
      return;
    case "abort_asked":
      page.fact(
        at,
        "abort",
        `asked: ${record.reason}${record.error === undefined ? "" : `; ${errorText(record.error)}`}`,
        "yellow",
      );
      return;
    case "woke":
      page.fact(at, "woke", "a wait ran out", "dim");
      return;
    case "late_result": {
      const left = leftChildOf(record, before);
      if (left !== undefined) {
        const became = record.open ? "has stopped" : "is over";
        const what = record.error === undefined ? became : `could not be ended: ${record.error}`;
        page.fact(
          at,
          "left",
          `the sub-agent ${left.name}, for which nobody waits any more, ${what}`,
          "yellow",
        );
        return;
      }
      page.fact(
        at,
        "late",
        `${record.call === null ? "the model's answer" : called(before, record.call)} came after it was given up` +
          `${record.error === undefined ? "" : `: ${record.error}`}`,
        "yellow",
      );
      if (record.result !== undefined) page.more(contentText(record.result.content), "dim");
      return;
    }
    case "run_ended":
      runEnded(record, page);
      return;
  }
  unknownRecord(record, page);
}

/** A record of a newer version that says it can be read: shown as it is. */
function unknownRecord(record: never, page: RunPage): void {
  const { type, at } = record as LogRecord;
  page.fact(at, String(type), JSON.stringify(record));
}
