// The room of the lines about a call: its result, who let it run, what a hook said of it, what a crash left of it.

import type { JsonObject, State } from "@rondo/core";
import { contentText } from "../console/shorten.ts";
import { cappedText } from "./context.ts";
import { grantText } from "./grant.ts";
import type { RunPage } from "./page.ts";
import { byText, called, doneText, type RecordOf, since } from "./record-words.ts";

export function toolFinished(record: RecordOf<"tool_finished">, before: State, page: RunPage): void {
  const { result } = record;
  const call = before.run?.turn?.calls.find((one) => one.key === record.call);
  const how = [result.code, result.isError ? "error" : undefined, doneText(result)].filter((one) => one);
  page.fact(
    record.at,
    "result",
    `${called(before, record.call)}${how.length === 0 ? "" : `, ${how.join(", ")}`}${since(call?.startedAt, record.at)}`,
    result.isError ? "red" : "cyan",
  );
  const capped = cappedText(result);
  // A ref that is cut short is none.
  if (capped !== "") page.more(capped, "dim", true);
  page.more(contentText(result.content), "dim");
}

export function reconciledText(record: RecordOf<"reconciled">, before: State): string {
  const call = called(before, record.call);
  if (record.found === "done") return `${call} was done before the crash`;
  if (record.found === "not_done") return `${call} had no effect before the crash, and may start again`;
  return `what came of ${call} could not be found out${record.error === undefined ? "" : `: ${record.error}`}`;
}

export function approvalGiven(record: RecordOf<"approval_given">, before: State, page: RunPage): void {
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

export function hookAnswered(record: RecordOf<"hook_answered">, before: State, page: RunPage): void {
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
