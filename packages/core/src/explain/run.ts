// The room of explanation: why a run went on, and why it stopped, from its records alone.
//
// Nothing is guessed: each reason is a record, with the rule that made it and what the rule saw. Where the table that
// decides makes the same fact of the same state again, its row says in words what applied.

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
    rules,
  },
  ["rules"],
);

/**
 * Why a run did what it did.
 * @param options.step only this step's reasons, and the end when it is the last
 * @param options.run from 1; default: the last
 * @param options.rules those the run was driven with: only with them do the rows of the table say what applied
 * @throws RondoError `invalid_request` for a run or a step that is not there, saying which there are, or an option there is not;
 *   for what is no list of records: a journal may give a promise of one
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
    // What is decided after an answer was judged is about the next step, and stands where it is asked for.
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

/** The row that applies; undefined where the rules at hand cannot say. @param type of the record it is to have made */
function rowAt(state: State, rules: Rules, type?: LogRecord["type"]): Reason["row"] | undefined {
  try {
    const { action, row } = decide(state, rules);
    return type === undefined || madeBy(action) === type ? { when: row.when, does: row.does } : undefined;
  } catch {
    return undefined;
  }
}

/** The record that an action makes at once; of several facts the first. */
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
