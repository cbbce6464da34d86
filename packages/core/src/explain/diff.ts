// The room of the diff: where two sessions diverge, and what follows on each side, in words.

import { invalidRequest } from "../errors.ts";
import type { CallKey, CallResult, LogRecord, RecordOf, RunEnd } from "../loop/records.ts";
import { reduce } from "../loop/reduce.ts";
import { callIn, emptyState, type State } from "../loop/state.ts";
import { callsOf, type JsonObject, textOf } from "../message.ts";
import type { Rules } from "../rules/rule.ts";
import { comparable, ordered } from "./comparable.ts";
import { checkOne, records, rules as rulesCheck } from "./inputs.ts";

/** One event of one side, in words. */
export interface Moment {
  seq: number;
  /** Its run and step; step 0 is before the first. */
  run: number;
  step: number;
  what: "task" | "message" | "model" | "answer" | "call" | "result" | "failure" | "decision" | "fork" | "end";
  /** For a call: its name. */
  name?: string;
  args?: JsonObject;
  text: string;
}

/** One of the two sessions. */
export interface Side {
  /** Its first record that differs from the other's; absent if it has no more records. */
  parts?: LogRecord;
  /** What happened from there on. */
  moments: Moment[];
  /** The last run: how far it got, what it cost. */
  models: string[];
  steps: number;
  toolCalls: number;
  /** Input and output together; absent if none were counted, and a lower bound if `uncounted` is not 0. */
  tokens?: number;
  /** Model calls whose tokens were not counted. */
  uncounted: number;
  /** Absent if unknown. */
  usd?: number;
  end?: RunEnd;
  text: string;
}

export interface SessionDiff {
  /** How many records both have in common. */
  shared: number;
  /** The run and the step in which they diverge. */
  run: number;
  step: number;
  /** Neither has a record that the other does not have. */
  same: boolean;
  a: Side;
  b: Side;
}

/**
 * Compares two sessions. `rules` are used only for folding.
 * @throws RondoError `invalid_request` for a session without records: a journal returns the same for an unknown session
 */
export function diff(a: readonly LogRecord[], b: readonly LogRecord[], rules: Rules): SessionDiff {
  checkOne(records, a, "a", "diff");
  checkOne(records, b, "b", "diff");
  checkOne(rulesCheck, rules, "rules", "diff");
  for (const [which, { length }] of [
    ["first", a],
    ["second", b],
  ] as const)
    if (length === 0)
      throw invalidRequest(
        `diff: the ${which} session has no records: nothing was begun in it, or the journal does not know it`,
      );
  const [left, right] = [ordered(a), ordered(b)];
  let shared = 0;
  let state = emptyState;
  for (;;) {
    const [one, other] = [left[shared], right[shared]];
    if (one === undefined || other === undefined || comparable(one) !== comparable(other)) break;
    state = reduce(state, one, rules);
    shared += 1;
  }
  return {
    shared,
    run: state.run?.number ?? 0,
    step: stepAt(state),
    same: shared === left.length && shared === right.length,
    a: sideOf(left, shared, rules),
    b: sideOf(right, shared, rules),
  };
}

const stepAt = ({ run }: State): number =>
  run === undefined ? 0 : run.end !== undefined ? run.steps : run.steps + (run.turn?.judged ? 0 : 1);

function sideOf(records: readonly LogRecord[], from: number, rules: Rules): Side {
  let state = emptyState;
  const moments: Moment[] = [];
  const models = new Set<string>();
  records.forEach((record, at) => {
    const before = state;
    state = reduce(state, record, rules);
    if (record.type === "run_started") models.clear();
    if (record.type === "model_started") models.add(before.options?.models[record.model]?.id ?? "unknown");
    if (at >= from) moments.push(...momentsOf(record, before, state));
  });
  const { run } = state;
  const { tokens, uncounted } = run?.spend ?? { tokens: 0, uncounted: 0 };
  const parts = records[from];
  return {
    ...(parts === undefined ? {} : { parts }),
    moments,
    models: [...models],
    steps: run?.steps ?? 0,
    toolCalls: run?.toolCalls ?? 0,
    ...(tokens === 0 && uncounted > 0 ? {} : { tokens }),
    uncounted,
    ...(run?.spend.usd === undefined ? {} : { usd: run.spend.usd }),
    ...(run?.end === undefined ? {} : { end: run.end }),
    text: run?.text ?? run?.lastText ?? "",
  };
}

function momentsOf(record: LogRecord, before: State, after: State): Moment[] {
  const place = { seq: record.seq, run: after.run?.number ?? 0, step: momentStep(record, before, after) };
  const one = (what: Moment["what"], words: string, call: Partial<Moment> = {}): Moment[] => [
    { ...place, what, text: words, ...call },
  ];
  const named = (key: CallKey): string => callIn(before.run, key)?.name ?? key;
  switch (record.type) {
    case "run_started":
      return one("task", record.input.map(textOf).join("\n"));
    case "queued":
      return one("message", textOf(record.message));
    case "opened":
      return record.by === "fork" ? one("fork", forkText(record)) : [];
    case "model_started": {
      const model = before.options?.models[record.model]?.id ?? "unknown";
      return one("model", record.attempt === 1 ? model : `${model}, attempt ${record.attempt}`);
    }
    case "model_finished": {
      const said = textOf(record.message);
      const calls = callsOf(record.message);
      return [
        ...(said === "" && calls.length > 0 ? [] : one("answer", said)),
        ...calls.flatMap((call) => one("call", call.argsError ?? "", { name: call.name, args: call.args })),
      ];
    }
    case "model_failed":
    case "summary_failed":
      return one("failure", `${record.error.kind}: ${record.error.message}`);
    case "tool_finished":
      return one("result", resultText(record.result), { name: named(record.call) });
    case "hook_answered":
      return "result" in record && record.result !== undefined
        ? one("result", resultText(record.result), { name: named(record.call) })
        : [];
    case "approval_given":
      return one("decision", `${named(record.call)}: ${record.approval.answer}`);
    case "noted":
      return one("decision", `rule ${record.rule} to the model: ${record.text}`);
    case "mode":
      return one("decision", `rule ${record.rule}: ${record.mode}`);
    case "compacted":
    case "trimmed":
      return one("decision", `${record.stage}: ${record.note}`);
    case "abort_asked":
      return one("decision", `abort: ${record.reason}`);
    case "run_ended":
      return one("end", `${record.end.reason}, rule ${record.end.rule}`);
    default:
      return [];
  }
}

function momentStep(record: LogRecord, before: State, after: State): number {
  if (record.type === "model_started") return record.step;
  if (record.type === "run_started") return 0;
  if (record.type === "run_ended") return before.run?.steps ?? 0;
  const isOfTurn = ["tool_finished", "hook_answered", "model_finished"].includes(record.type);
  return stepAt(isOfTurn ? before : after);
}

function resultText({ content, code }: CallResult): string {
  const words = content.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`)).join("\n");
  return `${code === undefined ? "" : `(${code}) `}${words}`;
}

function forkText(record: RecordOf<"opened">): string {
  const { from, options } = record;
  const edited = from?.edited === undefined ? "" : `, the result of ${from.edited} edited`;
  const other = options === undefined ? "" : `, ${options.models.map((model) => model.id).join(", ")}`;
  const shared = from?.seq ?? 0;
  const after = `${shared} ${shared === 1 ? "record" : "records"}`;
  return `forked from ${from?.session ?? "another session"} after ${after}${edited}${other}`;
}
