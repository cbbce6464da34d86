// The room of reasons: what one record says about why a run continued or stopped, in words.

import type { ErrorData, Repair } from "../errors.ts";
import type { CallKey, Follows, LogRecord, RecordOf, ResultCode, Verdict } from "../loop/records.ts";
import { isOfOldFiles, isOfOneFile, isOfSetting, keptFiles, settingOf } from "../loop/request/omissions.ts";
import { callIn, type State } from "../loop/state.ts";
import type { JsonObject } from "../message.ts";

/** The subject of a reason. */
export type ReasonKind =
  | "start"
  | "fork"
  | "taken_over"
  | "message"
  | "request"
  | "prefix"
  | "failure"
  | "judged"
  | "verdict"
  | "result"
  | "approval"
  | "hook"
  | "note"
  | "mode"
  | "context"
  | "abort"
  | "output"
  | "end";

/** One reason: a fact and, if it was decided, the rule that decided and what the rule saw. */
export interface Reason {
  seq: number;
  at: number;
  kind: ReasonKind;
  /** In words. */
  text: string;
  rule?: string;
  evidence?: JsonObject;
  call?: { key: CallKey; name: string };
  /** The length of a wait, in milliseconds. */
  waitMs?: number;
  error?: ErrorData;
  /** The row of the table that decided it: what applied, and what is done then. */
  row?: { when: string; does: string };
}

/** @param row of the table that decided it, if known */
export function reasonsOf(record: LogRecord, before: State, row: Reason["row"]): Reason[] {
  const { seq, at } = record;
  const one = (kind: ReasonKind, text: string, more: Partial<Reason> = {}): Reason => ({
    seq,
    at,
    kind,
    text,
    ...("rule" in record && typeof record.rule === "string" ? { rule: record.rule } : {}),
    ...("evidence" in record ? { evidence: record.evidence as JsonObject } : {}),
    ...more,
  });
  const decided = row === undefined ? {} : { row };
  switch (record.type) {
    case "run_started":
      return [one("start", startText(record))];
    case "opened":
      return [one(record.from === undefined ? "taken_over" : "fork", openedText(record))];
    case "delivered":
      return [one("message", deliveredText(record), decided)];
    case "noted":
      return [one("note", `the model was told: ${record.text}`, decided)];
    case "mode":
      return [one("mode", modeText(record), decided)];
    case "model_started":
      return requestReasons(record, before, one, decided);
    case "model_failed":
      return [one("failure", `${record.error.kind}: ${record.error.message}`, { error: record.error })];
    case "turn_judged":
      return judgedReasons(record, before, one, decided);
    case "tool_finished":
      return resultReasons(record, before, one, decided);
    case "tool_waits":
      return [
        one("approval", `it asks: ${JSON.stringify(record.question)}`, { call: callAt(before, record.call) }),
      ];
    case "tool_answered":
      return [
        one("approval", `it was answered: ${JSON.stringify(record.answer)}`, {
          call: callAt(before, record.call),
        }),
      ];
    case "approval_asked":
      return record.calls.map((key) =>
        one("approval", "needs an approval", { call: callAt(before, key), ...decided }),
      );
    case "child_waits": {
      const call = callAt(before, record.call);
      return record.pending.map(({ name, question }) =>
        one(
          "approval",
          `a call of ${name} inside it needs an ${question === undefined ? "approval" : "answer"}`,
          {
            call,
          },
        ),
      );
    }
    case "approval_given":
      return [one("approval", approvalText(record), { call: callAt(before, record.call) })];
    case "hook_answered":
      return hookReasons(record, before, one);
    case "output_checked":
      return [
        one("output", record.ok ? "the output fits its schema" : `the output does not fit: ${record.error}`),
      ];
    case "trimmed":
    case "compacted":
      return [one("context", `${record.stage}: ${record.note}`, decided)];
    case "summary_failed":
      return [one("context", `a summary failed: ${record.error.message}`, { error: record.error })];
    case "abort_asked":
      return [one("abort", abortText(record), record.error === undefined ? {} : { error: record.error })];
    case "run_ended": {
      const { reason, rule, evidence } = record.end;
      return [one("end", reason, { rule, evidence, ...decided })];
    }
    default:
      return [];
  }
}

/** What a result's code says about its call. */
const codeText: { readonly [code in ResultCode]: string } = {
  unknown_tool: "there is no such tool",
  invalid_args: "its arguments do not fit",
  truncated_args: "its answer was cut off",
  too_many_calls: "there are too many calls in one answer",
  tool_choice: "its request did not allow it",
  repeated: "it was made before",
  limit: "a limit was reached",
  denied: "it was denied",
  skipped: "it was skipped",
  not_executed: "nobody was to run it",
  threw: "it threw",
  timeout: "it ran out of time",
  aborted: "it was aborted",
  outcome_unknown: "it was interrupted, and its outcome is unknown",
  reconciled: "it was interrupted, and found out its outcome later",
  answered: "somebody brought its result",
  hook_failed: "a hook failed",
};

type MakeReason = (kind: ReasonKind, text: string, more?: Partial<Reason>) => Reason;

function openedText({ from, options }: RecordOf<"opened">): string {
  if (from === undefined)
    return "a process took the run over; what was in flight is lost and counts as no attempt";
  const edited = from.edited === undefined ? "" : `, with another result of call ${from.edited}`;
  const under = options === undefined ? "" : ", under other options";
  return `forked from ${from.session} after its first ${from.seq} records${edited}${under}`;
}

function startText({ only, input, history }: RecordOf<"run_started">): string {
  if (only === "clearing") return "the conversation was cleared";
  if (only !== undefined) return "a compaction was asked for";
  return input.length === 0 && history === undefined
    ? "the conversation was to go on, without a new word"
    : "a task was given";
}

const deliveredText = ({ lane }: RecordOf<"delivered">): string =>
  lane === "steer"
    ? "a message came while the run worked, and was delivered"
    : "more work was queued, so the run went on";

const abortText = ({ reason, error }: RecordOf<"abort_asked">): string =>
  error === undefined ? `an abort was asked for: ${reason}` : `the run could not go on: ${reason}`;

function approvalText({ approval, by }: RecordOf<"approval_given">): string {
  const reason = approval.answer === "deny" && approval.reason ? `: ${approval.reason}` : "";
  const words = { approve: "approved", deny: "denied", edit: "approved with other arguments" };
  const who = by === undefined ? "" : ` by ${by}`;
  return `${words[approval.answer]}${who}${reason}`;
}

/** Only results that the loop itself gave, or that ended the run, are reasons. */
function resultReasons(
  record: RecordOf<"tool_finished">,
  before: State,
  one: MakeReason,
  decided: Partial<Reason>,
): Reason[] {
  const { code, done } = record.result;
  if (code === undefined && (done === undefined || done === false)) return [];
  const what = code === undefined ? "it ended the run" : codeText[code];
  return [one("result", what, { call: callAt(before, record.call), ...decided })];
}

function requestReasons(
  record: RecordOf<"model_started">,
  before: State,
  one: MakeReason,
  decided: Partial<Reason>,
): Reason[] {
  const model = before.options?.models[record.model]?.id ?? `model ${record.model + 1}`;
  const again = record.attempt === 1 ? "" : `, attempt ${record.attempt}`;
  return [
    one("request", `${model} was asked${again}`, decided),
    ...(record.broke === undefined ? [] : [one("prefix", `the request's prefix changed: ${record.broke}`)]),
    ...(record.stages ?? []).map((stage) =>
      one("context", `${stage.stage}, for this request: ${stage.note}`),
    ),
  ];
}

function judgedReasons(
  record: RecordOf<"turn_judged">,
  before: State,
  one: MakeReason,
  decided: Partial<Reason>,
): Reason[] {
  const { follows } = record;
  const until = follows.do === "ask_again" ? follows.until : undefined;
  const since = before.run?.failure?.at ?? record.at;
  const wait = until === undefined || until <= since ? {} : { waitMs: until - since };
  const error = follows.do === "stop" && follows.error !== undefined ? { error: follows.error } : {};
  const verdicts = record.verdicts.map((verdict, index) => {
    const call = before.run?.turn?.calls[index];
    return one("verdict", verdict.do === "run" ? "may run" : `is not run: ${codeText[verdict.code]}`, {
      ...(call === undefined ? {} : { call: { key: call.key, name: call.name } }),
      ...whoJudged(verdict, record),
    });
  });
  return [one("judged", followsText(follows, record), { ...wait, ...error, ...decided }), ...verdicts];
}

/** A verdict without a rule follows from the call's own checks, or from the judgement of the whole answer. */
function whoJudged(
  verdict: Verdict,
  { rule, evidence }: RecordOf<"turn_judged">,
): Pick<Reason, "rule" | "evidence"> {
  if (verdict.rule !== undefined) return { rule: verdict.rule, evidence: verdict.evidence ?? {} };
  if (verdict.do === "run") return { rule: "checks", evidence: {} };
  return ownChecks.has(verdict.code) ? { rule: "checks", evidence: {} } : { rule, evidence };
}

const ownChecks: ReadonlySet<ResultCode> = new Set<ResultCode>([
  "unknown_tool",
  "invalid_args",
  "truncated_args",
  "too_many_calls",
  "tool_choice",
]);

function followsText(follows: Follows, { store }: RecordOf<"turn_judged">): string {
  const stored = store ? "" : "; the answer is not kept";
  switch (follows.do) {
    case "act":
      return "the run goes on: its calls are finished, then the model is asked again";
    case "finish":
      return "this is the answer";
    case "land":
      return `it lands (${follows.reason}): one last answer without tools`;
    case "stop":
      return `it stops: ${follows.reason}${stored}`;
    case "ask_again": {
      const how = [
        follows.model === undefined ? "" : "of the next model",
        follows.note === undefined ? "" : "with a note",
        follows.maxOutputTokens === undefined ? "" : `with up to ${follows.maxOutputTokens} tokens of output`,
        follows.drop === undefined ? "" : `without ${droppedText(follows.drop)}`,
        follows.reduce === undefined ? "" : "once the history is smaller",
      ].filter((word) => word !== "");
      return `the model is asked again${how.length === 0 ? "" : ` ${how.join(", ")}`}${stored}`;
    }
  }
}

function droppedText(drop: Repair): string {
  if (drop === "schema") return "the schema of the output, which is asked for in another way";
  if (isOfSetting(drop)) return `the setting ${settingOf(drop)}`;
  if (isOfOldFiles(drop)) return `all but the last ${keptFiles(drop)} files of the history`;
  return isOfOneFile(drop) ? "a file of the history" : `the ${drop} in the history`;
}

function modeText(record: RecordOf<"mode">): string {
  switch (record.mode) {
    case "landing":
      return `the run lands (${record.reason}): one last answer without tools${record.cancel ? ", and what is in flight is cancelled" : ""}`;
    case "stopping":
      return `the run stops (${record.reason})`;
    case "output":
      return record.attempt === 0 ? "the typed output is asked for" : "the typed output is asked for again";
    case "hide_tool":
      return `the tool ${record.tool} is no longer offered`;
    case "compacting":
      return "the history is summed up";
  }
}

/** Only hooks that changed something, or failed, are reasons. */
function hookReasons(record: RecordOf<"hook_answered">, before: State, one: MakeReason): Reason[] {
  const call = "call" in record ? { call: callAt(before, record.call) } : {};
  if (record.error !== undefined)
    return [one("hook", `the ${record.hook} hook failed: ${record.error}`, call)];
  switch (record.hook) {
    case "permission": {
      const reason = record.reason === undefined ? "" : `: ${record.reason}`;
      return [one("hook", `permission: ${record.answer}${reason}`, call)];
    }
    case "beforeTool":
      if (record.args === undefined && record.result === undefined) return [];
      return [
        one(
          "hook",
          record.result === undefined ? "its arguments were changed" : "it was answered by the hook",
          call,
        ),
      ];
    case "afterTool":
      return record.result === undefined ? [] : [one("hook", "its result was changed", call)];
    case "prepareStep": {
      if (record.stop !== undefined) return [one("hook", `prepareStep: stop: ${record.stop}`)];
      const changed = ["model", "tools", "toolChoice", "settings"].filter((name) => name in record);
      return changed.length === 0 ? [] : [one("hook", `prepareStep set ${changed.join(", ")}`)];
    }
    case "transformContext":
      return record.edit === undefined
        ? []
        : [one("hook", "transformContext changed the history of this request")];
    case "onFinish":
      return record.messages.length === 0 ? [] : [one("hook", "onFinish gave more work")];
  }
}

const callAt = (state: State, key: CallKey): { key: CallKey; name: string } => ({
  key,
  name: callIn(state.run, key)?.name ?? "",
});
