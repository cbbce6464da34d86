// The room of explanation: why a run continued, and why it stopped, from its records alone.
//
// Nothing is guessed: each reason is a record, with the rule that made it and what the rule saw. If the decision table makes
// the same fact from the same state again, its row says in words what applied.

import { checkGiven, count, membersOf, whole } from "../checks.ts";
import { invalidRequest } from "../errors.ts";
import type { Action } from "../loop/action.ts";
import { decide } from "../loop/next.ts";
import { phaseOf } from "../loop/phase.ts";
import type { Follows, LogRecord, RunEnd } from "../loop/records.ts";
import { reduce } from "../loop/reduce.ts";
import { emptyState, isOpen, type State } from "../loop/state.ts";
import type { Rules } from "../rules/rule.ts";
import { checkOne, records as recordsCheck, rules } from "./inputs.ts";
import { noStep } from "./no-step.ts";
import { type Reason, reasonsOf } from "./reasons.ts";
import { type Remedy, remedyOf } from "./remedy.ts";

export interface StepReasons {
  /** From 1; 0 is everything before the first step. */
  step: number;
  reasons: Reason[];
  /** What followed from the step's answer: the run continued, this was its answer, it landed or it stopped. Absent: not judged. */
  follows?: Follows["do"];
}

export interface Explanation {
  run: number;
  steps: StepReasons[];
  /** Why the run ended. */
  end?: RunEnd & { seq: number; remedy: Remedy };
  /** For a run that has not ended: what would be done now. */
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
    rules,
  },
  ["rules"],
);

/**
 * Why a run did what it did.
 * @param options.step only the reasons of this step, and the end if it is the last one
 * @param options.run from 1; default: the last
 * @param options.rules those that the run was driven with: only with them can the rows of the table say what applied
 * @throws RondoError `invalid_request` for a run or a step that does not exist, with those that do; for an unknown option;
 * for something that is no list of records: a journal may return a promise of one
 */
export function explain(records: Iterable<LogRecord>, options: ExplainOptions): Explanation {
  checkGiven(explainOptions, options, "explain");
  checkOne(recordsCheck, records, "records", "explain");
  const all = [...records];
  const runs = all.filter((record) => record.type === "run_started").length;
  const run = options.run ?? runs;
  if (run < 1 || run > runs)
    throw invalidRequest(
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
    // What is decided after an answer was judged belongs to the next step.
    if (record.type === "model_started") step = record.step;
    const of = stepReasons(explanation, step);
    for (const reason of reasonsOf(record, before, rowAt(before, options.rules, record.type)))
      of.reasons.push(reason);
    if (record.type === "turn_judged") of.follows = record.follows.do;
    if (record.type === "run_ended" && explanation.end === undefined)
      explanation.end = { ...record.end, seq: record.seq, remedy: remedyOf(record.end, before.options) };
  }
  if (isOpen(state.run) && run === number) {
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
  if (steps.length === 0) throw invalidRequest(noStep(`run ${explanation.run}`, step, last));
  if (step === last) return { ...explanation, steps };
  const { end: _end, now: _now, ...rest } = explanation;
  return { ...rest, steps };
}

/** The row that applies; undefined if the given rules cannot determine it. @param type of the record that the row must make */
function rowAt(state: State, rules: Rules, type?: LogRecord["type"]): Reason["row"] | undefined {
  try {
    const { action, row } = decide(state, rules);
    return type === undefined || madeBy(action) === type ? { when: row.when, does: row.does } : undefined;
  } catch {
    return undefined;
  }
}

/** The record that an action makes at once; the first one if it makes several. */
function madeBy(action: Action): LogRecord["type"] | undefined {
  switch (action.do) {
    case "record":
      return action.facts[0]?.type;
    case "call_model":
      return "model_started";
    case "ask":
      return "approval_asked";
    default:
      return undefined;
  }
}
