// The room of the records' lines: each kind of record, in words.
//
// The switch is exhaustive: a new kind of record does not compile before it has its line here.

import {
  type Amounts,
  type AssistantMessage,
  type CallKey,
  type CallResult,
  changeText,
  type ErrorData,
  type Follows,
  type JsonObject,
  type LogRecord,
  type State,
  textOf,
} from "@rondo/core";
import { contentText, evidenceText } from "../shorten.ts";
import { taskOf } from "../summary.ts";
import { cappedText, stageText } from "./context.ts";
import { endStyle, endText } from "./ending.ts";
import { grantText } from "./grant.ts";
import type { RunPage } from "./page.ts";
import { counted, spanText, timeText, usageText } from "./usage.ts";

type RecordOf<Type extends LogRecord["type"]> = LogRecord & { type: Type };

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
        `${inside} inside ${called(before, record.call)} ${words[said.answer]}${record.by === undefined ? "" : ` by ${record.by}`}`,
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
    case "late_result":
      page.fact(
        at,
        "late",
        `${record.call === null ? "the model's answer" : called(before, record.call)} came after it was given up` +
          `${record.error === undefined ? "" : `: ${record.error}`}`,
        "yellow",
      );
      if (record.result !== undefined) page.more(contentText(record.result.content), "dim");
      return;
    case "run_ended":
      runEnded(record, page);
      return;
  }
  unknownRecord(record, page);
}

/** Amounts in words; a time counts from `at`. */
function amountsText({ until, usd, ...rest }: Amounts, at: number): string {
  const names = { tokens: "tokens", modelCalls: "model calls", agents: "sub-agents" };
  return [
    ...Object.entries(rest).map(([name, amount]) => `${amount} ${names[name as keyof typeof rest]}`),
    ...(usd === undefined ? [] : [`$${usd}`]),
    ...(until === undefined ? [] : [`${until - at} ms`]),
  ].join(", ");
}

/** A record of a newer version that says it can be read: shown as it is. */
function unknownRecord(record: never, page: RunPage): void {
  const { type, at } = record as LogRecord;
  page.fact(at, String(type), JSON.stringify(record));
}

function runStarted(record: RecordOf<"run_started">, after: State, page: RunPage): void {
  page.startAt(record.at);
  page.heading(`run ${after.run?.number ?? 1}, ${timeText(record.at)}`);
  if (record.parent !== undefined)
    page.fact(
      record.at,
      "parent",
      `a sub-agent of session ${record.parent.session}, call ${record.parent.call}, ${record.parent.depth} deep`,
      "dim",
    );
  page.fact(
    record.at,
    "task",
    record.history === undefined
      ? ""
      : `with a given history of ${counted(record.history.length, "message")}`,
  );
  page.more(taskOf(record));
  const { options } = record;
  if (options === undefined) {
    page.fact(record.at, "options", "as in the run before");
    return;
  }
  page.fact(record.at, "models", options.models.map((model) => model.id).join(", then "));
  const tools = options.tools.map(
    ({ definition, permission }) => `${definition.name}${permission === "allow" ? "" : ` (${permission})`}`,
  );
  page.fact(record.at, "tools", tools.length === 0 ? "none" : tools.join(", "));
  page.fact(record.at, "rules", options.rules.map(({ name }) => name).join(", "));
  if (options.hooks.length > 0) page.fact(record.at, "hooks", options.hooks.join(", "));
  if (options.system !== undefined) {
    page.fact(record.at, "system", "");
    page.more(options.system, "dim");
  }
}

function modeChanged(record: RecordOf<"mode">, page: RunPage): void {
  const { at } = record;
  const cancels = "cancel" in record && record.cancel ? "; what is in flight is cancelled" : "";
  switch (record.mode) {
    case "landing":
      page.fact(
        at,
        "limit",
        `${record.reason}: lands with one last answer${because(record)}${cancels}`,
        "yellow",
      );
      return;
    case "stopping":
      page.fact(at, "limit", `${record.reason}: stops${because(record)}${cancels}`, "yellow");
      return;
    case "output":
      page.fact(at, "output", `asked for, attempt ${record.attempt + 1}${because(record)}`);
      return;
    case "compacting":
      page.fact(at, "compaction", `decided on${because(record)}`);
      return;
    case "hide_tool":
      page.fact(at, "rule", `the tool ${record.tool} is no longer offered${because(record)}`, "yellow");
      return;
  }
}

function modelStarted(record: RecordOf<"model_started">, before: State, page: RunPage): void {
  if (record.attempt === 1) page.heading(`step ${record.step}`);
  const model = before.options?.models[record.model]?.id ?? `model ${record.model}`;
  for (const stage of record.stages ?? []) page.fact(record.at, stage.stage, stageText(stage));
  page.fact(record.at, "request", `${model}${attemptText(record.attempt)}, digest ${record.digest}`);
  if (record.broke !== undefined)
    page.more(`the prefix of the requests before it broke: ${record.broke}`, "yellow");
}

const attemptText = (attempt: number): string => (attempt === 1 ? "" : `, attempt ${attempt}`);

function modelFinished(record: RecordOf<"model_finished">, before: State, after: State, page: RunPage): void {
  // The state's own message has the calls' final ids.
  const message: AssistantMessage = after.run?.turn?.message ?? record.message;
  const { stop, usage } = message;
  const raw = stop.raw === undefined || stop.raw === stop.kind ? "" : ` (${stop.raw})`;
  const detail = stop.detail === undefined ? "" : `: ${stop.detail}`;
  const took = since(before.run?.call?.startedAt, record.at);
  page.fact(record.at, "answer", `${stop.kind}${raw}${detail}${took}; ${usageText(usage)}`, "green");
  let index = 0;
  for (const part of message.content) {
    switch (part.type) {
      case "text":
        page.more(part.text);
        break;
      case "reasoning":
        page.more(part.text === "" ? "(reasoning that cannot be read)" : part.text, "dim");
        break;
      case "refusal":
        page.more(`refusal: ${part.text}`, "yellow");
        break;
      case "file":
        page.more(contentText([part]));
        break;
      case "native":
        page.more(`(${part.kind}, run by the provider)`, "dim");
        break;
      case "tool_call": {
        const check = record.checks[index];
        page.fact(
          record.at,
          "call",
          `${record.seq}.${index} ${part.name} ${JSON.stringify(part.args)}`,
          "cyan",
        );
        if (part.argsError !== undefined) page.more(`${part.argsError}: ${part.rawArgs}`, "red");
        else if (check?.ok === false) page.more(`${check.code}: ${check.error}`, "red");
        index += 1;
        break;
      }
    }
  }
}

function opened({ at, from, options, changed }: RecordOf<"opened">, page: RunPage): void {
  if (from === undefined) {
    page.fact(at, "opened", "a process took the session over; what was in flight is lost", "yellow");
    if (changed !== undefined) page.more(changed.map(changeText).join("; "), "yellow");
    return;
  }
  const step = from.step === undefined ? "" : ` at step ${from.step}`;
  page.fact(
    at,
    "forked",
    `from ${from.session}${step}, after its first ${counted(from.seq, "record")}`,
    "yellow",
  );
  if (from.edited !== undefined) page.more(`with another result of call ${from.edited}`);
  if (options !== undefined) {
    page.more(`goes on with ${options.models.map((model) => model.id).join(", ")}`);
    if (options.system !== undefined) page.more(`system: ${options.system}`, "dim");
  }
}

function turnJudged(record: RecordOf<"turn_judged">, before: State, page: RunPage): void {
  const stored = record.store || before.run?.turn === undefined ? "" : "; the answer is not stored";
  page.fact(record.at, "judged", `${followsText(record.follows, record.at)}${because(record)}${stored}`);
  const seq = before.run?.turn?.seq;
  record.verdicts.forEach((verdict, index) => {
    const call = seq === undefined ? `call ${index}` : called(before, `${seq}.${index}`);
    const by =
      verdict.rule === undefined ? "" : because({ rule: verdict.rule, evidence: verdict.evidence ?? {} });
    if (verdict.do === "run") page.more(`${call}: may run${by}`);
    else page.more(`${call}: not run, ${verdict.code}${by}`, "yellow");
  });
}

function followsText(follows: Follows, at: number): string {
  switch (follows.do) {
    case "act":
      return "the calls are run";
    case "finish":
      return "this is the answer";
    case "land":
      return `${follows.reason}: one last answer`;
    case "stop":
      return `${follows.reason}: the run ends${follows.error === undefined ? "" : `; ${errorText(follows.error)}`}`;
    case "ask_again": {
      const wait =
        follows.until === undefined || follows.until <= at ? "" : ` after ${spanText(follows.until - at)}`;
      const model = follows.model === undefined ? "" : `, model ${follows.model + 1} of the run`;
      const limit = follows.maxOutputTokens === undefined ? "" : `, up to ${follows.maxOutputTokens} tokens`;
      const drop = follows.drop === undefined ? "" : `, without the ${follows.drop} in the history`;
      const note = follows.note === undefined ? "" : `, with the note: ${follows.note}`;
      return `the model is asked again${wait}${model}${limit}${drop}${note}`;
    }
  }
}

function toolFinished(record: RecordOf<"tool_finished">, before: State, page: RunPage): void {
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

const doneText = ({ done }: CallResult): string | undefined => (done ? "ends the run" : undefined);

const byText = ({ by }: { by?: string }): string => (by === undefined ? "" : ` by ${by}`);

function reconciledText(record: RecordOf<"reconciled">, before: State): string {
  const call = called(before, record.call);
  if (record.found === "done") return `${call} was done before the crash`;
  if (record.found === "not_done") return `${call} had no effect before the crash, and may start again`;
  return `what came of ${call} could not be found out${record.error === undefined ? "" : `: ${record.error}`}`;
}

function approvalGiven(record: RecordOf<"approval_given">, before: State, page: RunPage): void {
  const { approval } = record;
  const call = called(before, record.call);
  const by = record.by === undefined ? "" : ` by ${record.by}`;
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

function hookAnswered(record: RecordOf<"hook_answered">, before: State, page: RunPage): void {
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

function runEnded(record: RecordOf<"run_ended">, page: RunPage): void {
  const { end } = record;
  page.heading("end");
  // Also where the reason is plain: who decided it, and from what.
  const evidence = evidenceText(end.evidence);
  const by = `rule ${end.rule}${evidence === "" ? "" : `: ${evidence}`}`;
  page.fact(
    record.at,
    "end",
    endText(end).includes("rule ") ? endText(end) : `${endText(end)}, ${by}`,
    endStyle(end),
  );
  if (end.landed) page.more("landed: one last answer was asked for, without tools", "dim");
  page.more(end.resumable ? "the session can go on from here" : "the session cannot go on from here", "dim");
  if (record.keep !== undefined) {
    page.more("what had arrived of an answer that will not be finished:");
    page.more(textOf(record.keep), "dim");
  }
  if (record.text) {
    page.fact(record.at, "text", "");
    page.more(record.text, undefined, true);
  }
}

const because = ({ rule, evidence }: { rule: string; evidence: JsonObject }): string => {
  const seen = evidenceText(evidence);
  return ` (rule ${rule}${seen === "" ? "" : `: ${seen}`})`;
};

const errorText = ({ kind, message, status }: ErrorData): string =>
  `${kind}${status === undefined ? "" : ` ${status}`}: ${message}`;

const since = (start: number | undefined, at: number): string =>
  start === undefined ? "" : `, ${spanText(at - start)}`;

function called(state: State, key: CallKey | string): string {
  const name = state.run?.turn?.calls.find((call) => call.key === key)?.name;
  return name === undefined ? key : `${key} ${name}`;
}
