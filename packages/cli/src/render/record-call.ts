// The room of the lines about a call: its start, result and approval, what a hook said, and what a crash left open.

import type { JsonObject, State } from "@rondo/core";
import { leftChildOf } from "@rondo/core/driving";
import { contentText } from "../console/shorten.ts";
import { cappedText } from "./context.ts";
import { grantText } from "./grant.ts";
import type { RunPage } from "./page.ts";
import { amountsText, because, byText, called, doneText, type RecordOf, since } from "./record-words.ts";
import { usageText } from "./usage.ts";

export function toolStarted(record: RecordOf<"tool_started">, page: RunPage, before: State): void {
  const { at, child, idempotencyKey, reserved = {} } = record;
  const as = child === undefined ? `key ${idempotencyKey}` : `as session ${child}`;
  page.fact(at, "start", `${called(before, record.call)}; ${as}`);
  if (Object.keys(reserved).length > 0) page.more(`may spend: ${amountsText(reserved, at)}`, "dim");
}

export function toolFinished(record: RecordOf<"tool_finished">, page: RunPage, before: State): void {
  const { result } = record;
  const call = before.run?.turn?.calls.find((one) => one.key === record.call);
  const how = [result.code, result.isError ? "error" : undefined, doneText(result)].filter((one) => one);
  const by = record.rule === undefined ? "" : because({ rule: record.rule, evidence: record.evidence ?? {} });
  page.fact(
    record.at,
    "result",
    `${called(before, record.call)}${how.length === 0 ? "" : `, ${how.join(", ")}`}${by}${since(call?.startedAt, record.at)}`,
    result.isError ? "red" : "cyan",
  );
  const capped = cappedText(result);
  // Shown whole: a ref cut short is useless.
  if (capped !== "") page.more(capped, "dim", true);
  page.more(contentText(result.content), "dim");
}

export function reconciled(record: RecordOf<"reconciled">, page: RunPage, before: State): void {
  const style = record.found === "unknown" ? "yellow" : "green";
  page.fact(record.at, "reconciled", reconciledText(record, before), style);
}

function reconciledText(record: RecordOf<"reconciled">, before: State): string {
  const call = called(before, record.call);
  if (record.found === "done") return `${call} was done before the crash`;
  if (record.found === "not_done") return `${call} had no effect before the crash, and may start again`;
  return `what came of ${call} could not be found out${record.error === undefined ? "" : `: ${record.error}`}`;
}

/** A result that came when nobody waited for it any more: of an abandoned sub-agent, an answer, or a tool. */
export function lateResult(record: RecordOf<"late_result">, page: RunPage, before: State): void {
  const { at, call, error, result, usage } = record;
  const left = leftChildOf(record, before);
  if (left !== undefined) {
    const became = record.open ? "has stopped" : "is over";
    const what = error === undefined ? became : `could not be ended: ${error}`;
    page.fact(at, "left", `the sub-agent ${left.name}, for which nobody waits any more, ${what}`, "yellow");
    return;
  }
  const what = call === null ? "the model's answer" : called(before, call);
  const why = error === undefined ? "" : `: ${error}`;
  const cost = usage === undefined ? "" : `; ${usageText(usage)}`;
  page.fact(at, "late", `${what} came after it was given up${why}${cost}`, "yellow");
  if (result !== undefined) page.more(contentText(result.content), "dim");
}

export function approvalAsked({ at, calls }: RecordOf<"approval_asked">, page: RunPage, before: State): void {
  page.fact(at, "approval", `asked for ${calls.map((key) => called(before, key)).join(", ")}`, "yellow");
}

export function toolWaits(
  { at, call, question }: RecordOf<"tool_waits">,
  page: RunPage,
  before: State,
): void {
  page.fact(at, "question", `${called(before, call)} asks ${JSON.stringify(question)}`, "yellow");
}

export function toolAnswered(
  { at, call, answer }: RecordOf<"tool_answered">,
  page: RunPage,
  before: State,
): void {
  page.fact(at, "answer", `${called(before, call)} was answered ${JSON.stringify(answer)}`, "green");
}

export function childWaits(
  { at, call, pending }: RecordOf<"child_waits">,
  page: RunPage,
  before: State,
): void {
  const asked = pending
    .map(({ id, name, args, question }) => `${id} ${name} ${JSON.stringify(question?.asked ?? args)}`)
    .join(", ");
  const child = called(before, call);
  const what = pending.length === 0 ? `${child} has stopped` : `asked inside ${child} for ${asked}`;
  page.fact(at, "approval", what, "yellow");
}

export function approvalPassed(record: RecordOf<"approval_passed">, page: RunPage, before: State): void {
  const { said, inside } = record;
  const words = {
    approve: "approved",
    deny: "denied",
    edit: "approved with other arguments",
    result: "answered",
  };
  const what = `${inside} inside ${called(before, record.call)} ${words[said.answer]}${byText(record)}`;
  page.fact(record.at, "approval", what, said.answer === "deny" ? "red" : "green");
}

export function approvalGiven(record: RecordOf<"approval_given">, page: RunPage, before: State): void {
  const { approval } = record;
  const call = called(before, record.call);
  const by = byText(record);
  switch (approval.answer) {
    case "approve":
      page.fact(
        record.at,
        "approval",
        `${call} approved${by}${approval.grant === undefined ? "" : ` by grant ${approval.grant}`}${approval.always === undefined ? "" : `, and always: ${grantText(approval.always)}`}`,
        "green",
      );
      return;
    case "deny":
      page.fact(
        record.at,
        "approval",
        `${call} denied${by}${approval.reason === undefined ? "" : `: ${approval.reason}`}${approval.stop ? "; the run ends" : ""}`,
        "red",
      );
      return;
    case "edit":
      page.fact(
        record.at,
        "approval",
        `${call} approved${by} with ${JSON.stringify(approval.args)}`,
        "green",
      );
      if (!approval.check.ok) page.more(`which do not fit: ${approval.check.error}`, "red");
      return;
  }
}

export function hookAnswered(record: RecordOf<"hook_answered">, page: RunPage, before: State): void {
  const about =
    "call" in record
      ? ` about ${called(before, record.call)}`
      : "step" in record
        ? ` about step ${record.step}`
        : "";
  const { seq: _seq, at, rand: _rand, type: _type, hook, error, ...answer } = record;
  const { call: _call, step: _step, ...said } = answer as JsonObject;
  const words = Object.keys(said).length === 0 ? "nothing to change" : JSON.stringify(said);
  page.fact(
    at,
    "hook",
    `${hook}${about}: ${error === undefined ? words : `failed: ${error}`}`,
    error === undefined ? "dim" : "red",
  );
}
