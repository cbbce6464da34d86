// The room of solving: each goal has its solver; together they produce the next steps of the plan, or the findings.

import type { Conversation, Task } from "./conversation.ts";
import type { Goal } from "./goal.ts";
import { advance, type Finding, type Known, type Solver } from "./plan.ts";
import { compare } from "./solve/compare.ts";
import { count, find, list } from "./solve/folders.ts";
import { calculate, edit, weigh, write } from "./solve/orders.ts";
import { describe, outline, overview } from "./solve/outline.ts";
import { search } from "./solve/search.ts";
import { extreme, measure, read } from "./solve/texts.ts";
import { value } from "./solve/value.ts";
import type { Context } from "./solve/where.ts";
import type { Step, Toolbox } from "./toolbox.ts";

/** The next calls, or what was found, goal by goal. */
export type Plan = { steps: Step[] } | { findings: Finding[] };

/** A goal that changes something waits for all before it, and all after it wait for it. */
const changes = (goal: Goal): boolean => goal.do === "write" || goal.do === "edit";

const leans = (goal: Goal): boolean =>
  ("place" in goal && goal.place.it === true) ||
  (goal.do === "compare" && (goal.left.it === true || goal.right.it === true)) ||
  (goal.do === "weigh" && goal.parts.some((part) => part.place.it === true));

/** Takes the task as far as its results allow. */
export function planOf(
  conversation: Conversation,
  toolbox: Toolbox,
  options: { bound: number; toolsOff: boolean },
): Plan {
  const context = contextOf(conversation.before, toolbox);
  const { task } = conversation;
  const known: Known = {
    results: task.results,
    made: task.made,
    bound: options.bound + (task.goals.some((goal) => goal.do === "extreme") ? 14 : 0),
    toolsOff: options.toolsOff,
  };
  return run(task.goals, known, toolbox, context);
}

function run(goals: readonly Goal[], known: Known, toolbox: Toolbox, start: Context): Plan {
  const steps: Step[] = [];
  const findings: Finding[] = [];
  const asked = new Set<string>();
  let context = start;
  let pending = false;
  for (const goal of goals) {
    const waits = pending && (leans(goal) || changes(goal));
    if (waits) break;
    const progress = advance(solverOf(goal, context, toolbox), known, toolbox, asked);
    if (!progress.done) {
      pending = true;
      steps.push(...progress.steps);
      if (changes(goal)) break;
      continue;
    }
    findings.push(progress.finding);
    context = {
      subject:
        progress.finding.subject ?? (progress.finding.scope === undefined ? context.subject : undefined),
      scope: progress.finding.scope ?? context.scope,
    };
  }
  return pending ? { steps } : { findings };
}

/** What "it" means when the task begins: what the tasks before it found, from their own results. */
function contextOf(before: readonly Task[], toolbox: Toolbox): Context {
  let context: Context = { subject: undefined, scope: undefined };
  for (const task of before) {
    const plan = run(
      task.goals,
      { results: task.results, made: 0, bound: 0, toolsOff: true },
      toolbox,
      context,
    );
    if (!("findings" in plan)) continue;
    const last = plan.findings.findLast(
      (finding) => finding.scope !== undefined || finding.subject !== undefined,
    );
    if (last !== undefined) context = { subject: last.subject, scope: last.scope ?? last.subject };
  }
  return context;
}

function solverOf(goal: Goal, context: Context, toolbox: Toolbox): Solver {
  switch (goal.do) {
    case "overview":
      return overview(goal, context);
    case "list":
      return list(goal, context);
    case "count":
      return count(goal, context);
    case "measure":
      return measure(goal, context);
    case "outline":
      return outline(goal, context);
    case "search":
      return search(goal, context);
    case "extreme":
      return extreme(goal, context);
    case "weigh":
      return weigh(goal, context);
    case "compare":
      return compare(goal, context);
    case "read":
      return read(goal, context);
    case "describe":
      return describe(goal, context);
    case "value":
      return value(goal, context);
    case "find":
      return find(goal, context);
    case "calculate":
      return calculate(goal, toolbox);
    case "write":
      return write(goal);
    case "edit":
      return edit(goal);
    case "about_me":
      return said({ text: "", reached: true });
    case "beyond":
      return said({ text: goal.why, reached: false });
  }
}

// biome-ignore lint/correctness/useYield: a solver that needs no tool
function* said(finding: Finding): Solver {
  return finding;
}
