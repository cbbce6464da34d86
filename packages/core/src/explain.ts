// The room of explanation: why a run went on, and why it stopped, from its records alone.
//
// Nothing is guessed: each reason is a record, with the rule that made it and what the rule saw. Where the table that
// decides makes the same fact of the same state again, its row says in words what applied.

import { checkGiven, count, having, listOf, membersOf, object, whole } from "./checks.ts";
import { type ErrorData, RondoError } from "./errors.ts";
import { decide, phaseOf } from "./loop/next.ts";
import type { CallKey, Follows, LogRecord, ResultCode, RunEnd, Verdict } from "./loop/records.ts";
import { reduce } from "./loop/reduce.ts";
import { emptyState, type State } from "./loop/state.ts";
import type { JsonObject } from "./message.ts";
import { type Remedy, remedyOf } from "./remedy.ts";
import type { Rules } from "./rules/rule.ts";

/** What a reason is about. */
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

/** One reason: a fact and, where somebody decided it, who and from what. */
export interface Reason {
  seq: number;
  at: number;
  kind: ReasonKind;
  /** In words. */
  text: string;
  rule?: string;
  evidence?: JsonObject;
  call?: { key: CallKey; name: string };
  /** How long was waited, in milliseconds. */
  waitMs?: number;
  error?: ErrorData;
  /** The row of the table that decided it: what applied, and what is done then. */
  row?: { when: string; does: string };
}

export interface StepReasons {
  /** From 1; 0 is what came before the first. */
  step: number;
  reasons: Reason[];
  /** What followed from the step's answer: it went on, it was the answer, the run landed or stopped. Absent: not judged. */
  follows?: Follows["do"];
}

export interface Explanation {
  run: number;
  steps: StepReasons[];
  /** Why the run ended. */
  end?: RunEnd & { seq: number; remedy: Remedy };
  /** A run that has not ended: what would be done now. */
  now?: { phase: string; when: string; does: string };
}

interface ExplainOptions {
  step?: number;
  run?: number;
  rules: Rules;
}

const explainOptions = membersOf<ExplainOptions>(
  {
    step: whole,
    run: count,
    rules: having("Rules, e.g. of resolve(options),", { list: listOf(object) }),
  },
  ["rules"],
);

/**
 * Why a run did what it did.
 * @param options.step only this step's reasons, and the end when it is the last
 * @param options.run from 1; default: the last
 * @param options.rules those the run was driven with: only with them do the rows of the table say what applied
 * @throws RondoError `invalid_request` for a run or a step that is not there, saying which there are, or an option there is not
 */
export function explain(records: Iterable<LogRecord>, options: ExplainOptions): Explanation {
  checkGiven(explainOptions, options, "explain");
  const all = [...records];
  const runs = all.filter((record) => record.type === "run_started").length;
  const run = options.run ?? runs;
  if (run < 1 || run > runs)
    throw noSuch(
      runs === 0
        ? "there is no run yet"
        : `there is no run ${run}: there ${runs === 1 ? "is run 1 alone" : `are 1 to ${runs}`}`,
    );
  const explanation: Explanation = { run, steps: [] };
  let state = emptyState;
  let number = 0;
  let step = 0;
  for (const record of all) {
    const before = state;
    state = reduce(state, record, options.rules);
    if (record.type === "run_started") [number, step] = [number + 1, 0];
    if (number !== run) continue;
    // What is decided after an answer was judged is about the next step, and stands where it is asked for.
    if (record.type === "model_started") step = record.step;
    const of = stepReasons(explanation, step);
    for (const reason of reasonsOf(record, before, options.rules)) of.reasons.push(reason);
    if (record.type === "turn_judged") of.follows = record.follows.do;
    if (record.type === "run_ended" && explanation.end === undefined)
      explanation.end = { ...record.end, seq: record.seq, remedy: remedyOf(record.end, before.options) };
  }
  const open = state.run !== undefined && state.run.end === undefined && run === number;
  if (open) {
    const row = rowAt(state, options.rules);
    if (row !== undefined) explanation.now = { phase: phaseOf(state), ...row };
  }
  return options.step === undefined ? explanation : only(explanation, options.step);
}

function stepReasons({ steps }: Explanation, step: number): StepReasons {
  const known = steps.at(-1);
  if (known?.step === step) return known;
  const made: StepReasons = { step, reasons: [] };
  steps.push(made);
  return made;
}

function only(explanation: Explanation, step: number): Explanation {
  const steps = explanation.steps.filter((one) => one.step === step);
  const last = explanation.steps.at(-1)?.step ?? 0;
  if (steps.length === 0)
    throw noSuch(
      `run ${explanation.run} has no step ${step}: ` +
        (last === 0 ? "no model was asked" : `it has ${last === 1 ? "step 1 alone" : `1 to ${last}`}`),
    );
  if (step === last) return { ...explanation, steps };
  const { end: _end, now: _now, ...rest } = explanation;
  return { ...rest, steps };
}

const noSuch = (message: string): RondoError => new RondoError("invalid_request", message);

/** The row that applies; undefined where the rules at hand cannot say. */
function rowAt(state: State, rules: Rules, type?: LogRecord["type"]): Reason["row"] | undefined {
  try {
    const { action, row } = decide(state, rules);
    const does =
      action.do === "record"
        ? action.facts[0]?.type
        : action.do === "call_model"
          ? "model_started"
          : undefined;
    return type === undefined || does === type ? { when: row.when, does: row.does } : undefined;
  } catch {
    return undefined;
  }
}

function reasonsOf(record: LogRecord, before: State, rules: Rules): Reason[] {
  const { seq, at } = record;
  const row = rowAt(before, rules, record.type);
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
      return [one("start", record.only === undefined ? "a task was given" : "a compaction was asked for")];
    case "opened": {
      const { from } = record;
      if (from === undefined)
        return [
          one(
            "taken_over",
            "a process took the run over; what was in flight is lost and counts as no attempt",
          ),
        ];
      const edited = from.edited === undefined ? "" : `, with another result of call ${from.edited}`;
      const options = record.options === undefined ? "" : ", under other options";
      return [
        one("fork", `forked from ${from.session} after its first ${from.seq} records${edited}${options}`),
      ];
    }
    case "delivered":
      return [
        one(
          "message",
          record.lane === "steer"
            ? "a message came while the run worked, and was delivered"
            : "more work was queued, so the run went on",
          decided,
        ),
      ];
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
    case "tool_finished": {
      const { code, done } = record.result;
      if (code === undefined && (done === undefined || done === false)) return [];
      const what = code === undefined ? "it ended the run" : `its result is ${code}`;
      return [one("result", what, { call: callAt(before, record.call), ...decided })];
    }
    case "approval_asked":
      return record.calls.map((key) =>
        one("approval", "needs an approval", { call: callAt(before, key), ...decided }),
      );
    case "child_waits":
      return record.pending.map(({ name }) =>
        one("approval", `a call of ${name} inside it needs an approval`, {
          call: callAt(before, record.call),
        }),
      );
    case "approval_given": {
      const { approval, by } = record;
      const reason = approval.answer === "deny" && approval.reason ? `: ${approval.reason}` : "";
      const words = { approve: "approved", deny: "denied", edit: "approved with other arguments" };
      const who = by === undefined ? "" : ` by ${by}`;
      return [
        one("approval", `${words[approval.answer]}${who}${reason}`, { call: callAt(before, record.call) }),
      ];
    }
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
      return [one("abort", `an abort was asked for: ${record.reason}`)];
    case "run_ended":
      return [
        one("end", record.end.reason, { rule: record.end.rule, evidence: record.end.evidence, ...decided }),
      ];
    default:
      return [];
  }
}

type MakeReason = (kind: ReasonKind, text: string, more?: Partial<Reason>) => Reason;

function requestReasons(
  record: LogRecord & { type: "model_started" },
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
  record: LogRecord & { type: "turn_judged" },
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
    return one("verdict", verdict.do === "run" ? "may run" : `is not run: ${verdict.code}`, {
      ...(call === undefined ? {} : { call: { key: call.key, name: call.name } }),
      ...whoJudged(verdict, record),
    });
  });
  return [one("judged", followsText(follows, record), { ...wait, ...error, ...decided }), ...verdicts];
}

/** A verdict without a rule of its own follows from the call's own checks, or from what was judged of the whole answer. */
function whoJudged(
  verdict: Verdict,
  { rule, evidence }: LogRecord & { type: "turn_judged" },
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
]);

function followsText(follows: Follows, { store }: LogRecord & { type: "turn_judged" }): string {
  const stored = store ? "" : "; the answer is not kept";
  switch (follows.do) {
    case "act":
      return "it goes on: the calls are settled, then the model is asked again";
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
        follows.drop === undefined ? "" : `without the ${follows.drop} in the history`,
        follows.reduce === undefined ? "" : "once the history is smaller",
      ].filter((word) => word !== "");
      return `the model is asked again${how.length === 0 ? "" : ` ${how.join(", ")}`}${stored}`;
    }
  }
}

function modeText(record: LogRecord & { type: "mode" }): string {
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
function hookReasons(
  record: LogRecord & { type: "hook_answered" },
  before: State,
  one: MakeReason,
): Reason[] {
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
      const changed = ["model", "tools", "toolChoice"].filter((name) => name in record);
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
  name: state.run?.turn?.calls.find((one) => one.key === key)?.name ?? "",
});
