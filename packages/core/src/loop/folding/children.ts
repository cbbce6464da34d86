// The room of the children's fold: how a record changes what is known of a sub-agent.
//
// What a child spent is told piece by piece, each piece once: when it stops for somebody, and with its result. Each is
// added to what the run has spent, so that every limit of the run holds for all it started. A child whose call got its
// result from somebody else is left behind: it is known until it has come to its end, whoever drives by then.

import { addUsage } from "../../message.ts";
import type { ChildCall, LeftChild, Spent } from "../child-facts.ts";
import { addSpent, nothingSpent } from "../children.ts";
import type { CallResult, RecordOf } from "../records.ts";
import { type Call, callIn, type Run, type State } from "../state.ts";

/** A run with a piece of what a child spent. */
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
    },
    below: addSpent(run.below ?? nothingSpent, spent),
  };
}

/** A run with one more sub-agent; one that only goes on is counted already. */
export function countChild(run: Run, record: RecordOf<"tool_started">): Run {
  const call = callIn(run, record.call);
  if (record.child === undefined || call === undefined || call.child !== undefined) return run;
  return { ...run, below: addSpent(run.below ?? nothingSpent, { ...nothingSpent, agents: 1 }) };
}

/** What starting a call, or starting it again, says of its child. It is started with all that was answered so far. */
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

/** A child tells what its calls wait for. One that has stopped takes no time: its call runs again when it goes on. */
export function parkChild(call: Call, record: RecordOf<"child_waits">): Call {
  const { child } = call;
  if (child === undefined || call.result !== undefined) return call;
  const waiting = record.pending;
  if (!record.parked) return { ...call, child: { ...child, waiting } };
  const { startedAt: _startedAt, ...stopped } = call;
  // What came while it was stopping is still to be told; what it took is no longer anybody's business.
  const isOpen = (id: string): boolean => waiting.some((one) => one.id === id);
  const answers = child.answers.slice(child.told).filter(({ inside }) => isOpen(inside));
  const spent = record.spent === undefined ? child.spent : addSpent(child.spent, record.spent);
  return { ...stopped, child: { ...child, parked: record.left !== true, waiting, answers, told: 0, spent } };
}

/** Somebody answered a call of a child; the first answer counts. */
export function passAnswer(call: Call, record: RecordOf<"approval_passed">): Call {
  const { child } = call;
  const { inside, said } = record;
  if (child === undefined || child.answers.some((one) => one.inside === inside)) return call;
  return { ...call, child: { ...child, answers: [...child.answers, { inside, said }] } };
}

/** However short the grace is, what only has to be written down is waited for this long. */
const leastMs = 1_000;

const timeToEnd = (state: State, from: number): number =>
  from + Math.max(state.options?.abortGraceMs ?? 0, leastMs);

/** What is left behind where a call gets a result. What a child says itself has what it spent. */
export function leaveChild(
  state: State,
  run: Run,
  { child, key, name, startedAt }: Call,
  result: CallResult,
): State {
  if (child === undefined || result.spent !== undefined) return state;
  // One that is at work was told to stop when its run was.
  const since = startedAt === undefined ? state.now : (run.cancelledAt ?? state.now);
  const until = timeToEnd(state, since);
  const one = { call: key, name, session: child.session, told: child.spent, until };
  return { ...state, left: [...(state.left ?? []), one] };
}

/** Whoever goes on with a session, in another process or with another run, has the whole time again for what was left behind. */
export function takeLeft(state: State): State {
  if (state.left === undefined) return state;
  const until = timeToEnd(state, state.now);
  return withLeft(
    state,
    state.left.map((one) => ({ ...one, until })),
  );
}

/** How often it is tried to end what was left behind, and how long after a failure: longer each time, and within the shortest grace. */
const tries = 3;
const pauseMs = 100;
const pauseGrows = 4;

/** What was left behind is over; or it is not: it has only stopped, and has told what it spent, or could not be ended. */
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

/** The sub-agent left behind that a late result speaks of, where that is all it says: that it is over, or is not. */
export const leftChildOf = (
  { call, result }: RecordOf<"late_result">,
  { left }: State,
): LeftChild | undefined =>
  (result?.content ?? []).length === 0 ? left?.find((one) => one.call === call) : undefined;

/** What was left behind is somebody else's. */
export const forgetLeft = (state: State): State => withLeft(state, []);

function withLeft({ left: _left, ...state }: State, left: readonly LeftChild[]): State {
  return left.length === 0 ? state : { ...state, left };
}
