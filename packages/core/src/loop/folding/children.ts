// The room of the children's fold: how a record changes the state of a sub-agent.
//
// A child reports what it spent in parts, each part once: when it parks, and with its result. Each part is added to what
// the run has spent, so that the run's limits cover everything below it. A child whose call got a result without it is
// abandoned: it stays in the state until it has ended, whoever drives by then.

import { addUsage } from "../../message.ts";
import type { ChildCall, LeftChild, PassedAnswer, Spent } from "../child-facts.ts";
import { addSpent, estimatedIn, isAnswerTo, nothingSpent, passedIn } from "../children.ts";
import type { CallResult, RecordOf } from "../records.ts";
import { type Call, callIn, type Run, type State } from "../state.ts";

/** The run after a child reported a part of its spending. */
export function rollUp(run: Run, spent: Spent | undefined): Run {
  if (spent === undefined) return run;
  const { spend } = run;
  return {
    ...run,
    spend: {
      usage: addUsage(spend.usage, spent.usage),
      tokens: spend.tokens + spent.tokens,
      usd: spend.usd === undefined || spent.usd === undefined ? undefined : spend.usd + spent.usd,
      uncounted: spend.uncounted + spent.uncounted,
      ...estimatedIn((spend.estimated ?? 0) + (spent.estimated ?? 0)),
    },
    below: addSpent(run.below ?? nothingSpent, spent),
  };
}

/** The run with one more sub-agent; one that is only resumed is counted already. */
export function countChild(run: Run, record: RecordOf<"tool_started">): Run {
  const call = callIn(run, record.call);
  if (record.child === undefined || call === undefined || call.child !== undefined) return run;
  return { ...run, below: addSpent(run.below ?? nothingSpent, { ...nothingSpent, agents: 1 }) };
}

/** The change to a call's child when it is started or resumed. It gets all answers given so far. */
export function startChild(call: Call, record: RecordOf<"tool_started">): { child?: ChildCall } {
  if (record.child === undefined) return {};
  const { child } = call;
  const answers = child?.answers ?? [];
  return {
    child: {
      session: record.child,
      reserved: record.reserved ?? child?.reserved ?? {},
      spent: child?.spent ?? nothingSpent,
      parked: false,
      waiting: child?.waiting ?? [],
      answers,
      told: answers.length,
    },
  };
}

/** A child's calls wait for somebody outside. While it is parked its call's timeout does not run. */
export function parkChild(call: Call, record: RecordOf<"child_waits">): Call {
  const { child } = call;
  if (child === undefined || call.result !== undefined) return call;
  const waiting = record.pending;
  if (!record.parked) return { ...call, child: { ...child, waiting } };
  const { startedAt: _startedAt, ...stopped } = call;
  // Answers that came while it was parking must still be passed on; those it has received are dropped.
  const isOpen = (answer: PassedAnswer): boolean => waiting.some((one) => isAnswerTo(answer, one));
  const answers = child.answers.slice(child.told).filter(isOpen);
  const spent = record.spent === undefined ? child.spent : addSpent(child.spent, record.spent);
  return { ...stopped, child: { ...child, parked: record.left !== true, waiting, answers, told: 0, spent } };
}

/** A call of a child was answered; the first answer counts. */
export function passAnswer(call: Call, record: RecordOf<"approval_passed">): Call {
  const { child } = call;
  const { inside, round } = record;
  const isKnown = (one: PassedAnswer): boolean => one.inside === inside && one.round === round;
  if (child === undefined || child.answers.some(isKnown)) return call;
  return { ...call, child: { ...child, answers: [...child.answers, passedIn(record)] } };
}

/** Ending a child takes a few writes to the journal: it is waited for at least this long, however short the grace. */
const leastMs = 1_000;

const timeToEnd = (state: State, from: number): number =>
  from + Math.max(state.options?.abortGraceMs ?? 0, leastMs);

/** The child that is abandoned when its call gets a result from elsewhere. A child's own result includes what it spent. */
export function leaveChild(
  state: State,
  run: Run,
  { child, key, name, startedAt }: Call,
  result: CallResult,
): State {
  if (child === undefined || result.spent !== undefined) return state;
  // A running child was aborted when its parent was.
  const since = startedAt === undefined ? state.now : (run.cancelledAt ?? state.now);
  const until = timeToEnd(state, since);
  const one = { call: key, name, session: child.session, told: child.spent, until };
  return { ...state, left: [...(state.left ?? []), one] };
}

/** Another process or another run gets the full time again to end abandoned children. */
export function takeLeft(state: State): State {
  if (state.left === undefined) return state;
  const until = timeToEnd(state, state.now);
  return withLeft(
    state,
    state.left.map((one) => ({ ...one, until })),
  );
}

/** How often ending an abandoned child is tried, and the waits after failures: longer each time, and within the shortest grace. */
const tries = 3;
const pauseMs = 100;
const pauseGrows = 4;

/** An abandoned child has ended; or it has only parked and reported its spending, or could not be ended. */
export function hearLeft(state: State, { call, open, result, error }: RecordOf<"late_result">): State {
  if (state.left === undefined) return state;
  const left = state.left.flatMap((one) => {
    if (one.call !== call) return [one];
    if (!open) return [];
    if (error !== undefined) return tryAgain(one, state.now);
    return [result?.spent === undefined ? one : { ...one, told: addSpent(one.told, result.spent) }];
  });
  return withLeft(state, left);
}

function tryAgain(one: LeftChild, now: number): LeftChild[] {
  const { failures = 0 } = one;
  if (failures + 1 >= tries) return [];
  return [{ ...one, failures: failures + 1, notBefore: now + pauseMs * pauseGrows ** failures }];
}

/** The abandoned sub-agent that a late result is about, if it says only whether that has ended. */
export const leftChildOf = (
  { call, result }: RecordOf<"late_result">,
  { left }: State,
): LeftChild | undefined =>
  (result?.content ?? []).length === 0 ? left?.find((one) => one.call === call) : undefined;

/** Forgets the abandoned children: they belong to another session. */
export const forgetLeft = (state: State): State => withLeft(state, []);

function withLeft({ left: _left, ...state }: State, left: readonly LeftChild[]): State {
  return left.length === 0 ? state : { ...state, left };
}
