// The room of children: what sub-agents may spend, and what they have spent.
//
// A sub-agent is a call of a tool, with a session of its own. Its share of what the parent has left is reserved before it
// starts, as a fact, so that children running in parallel cannot spend the same tokens twice; what it really spent is
// reported with its result, once. All of it is computed here from the state.

import { addUsage, type Usage } from "../message.ts";
import { type Rules, ruleFailed, speakersIn } from "../rules/rule.ts";
import { permissionOf } from "./batch.ts";
import type { CallKey } from "./call-key.ts";
import type { AgentFacts, Amounts, ChildCall, PassedAnswer, Spent, WaitingCall } from "./child-facts.ts";
import { type Call, isOpen, type State, withRun } from "./state.ts";

export const nothingSpent: Spent = { usage: {}, tokens: 0, usd: 0, uncounted: 0, modelCalls: 0, agents: 0 };

/** The member of a spending for what its uncounted calls took. */
export const estimatedIn = (estimated: number): Pick<Spent, "estimated"> =>
  estimated > 0 ? { estimated } : {};

/** The tokens that count for a budget: those that were counted, and an estimate of the others. */
export const tokensIn = ({ tokens, estimated = 0 }: Pick<Spent, "tokens" | "estimated">): number =>
  tokens + estimated;

/** The sum of two spendings. */
export function addSpent(one: Spent, more: Spent): Spent {
  return {
    usage: addUsage(one.usage, more.usage),
    tokens: one.tokens + more.tokens,
    ...(one.usd === undefined || more.usd === undefined ? {} : { usd: one.usd + more.usd }),
    uncounted: one.uncounted + more.uncounted,
    ...estimatedIn((one.estimated ?? 0) + (more.estimated ?? 0)),
    modelCalls: one.modelCalls + more.modelCalls,
    agents: one.agents + more.agents,
  };
}

/** What has been spent beyond what was reported already. */
export function spentSince(now: Spent, told: Spent): Spent {
  const usage: Usage = {};
  for (const [name, value] of Object.entries(now.usage) as [keyof Usage, number][])
    usage[name] = value - (told.usage[name] ?? 0);
  return {
    usage,
    tokens: now.tokens - told.tokens,
    ...(now.usd === undefined || told.usd === undefined ? {} : { usd: now.usd - told.usd }),
    uncounted: now.uncounted - told.uncounted,
    ...estimatedIn((now.estimated ?? 0) - (told.estimated ?? 0)),
    modelCalls: now.modelCalls - told.modelCalls,
    agents: now.agents - told.agents,
  };
}

/** What a run has spent, including everything below it. */
export function spentBy(state: State): Spent {
  const { spend, modelCalls, below } = withRun(state).run;
  return {
    usage: spend.usage,
    tokens: spend.tokens,
    ...(spend.usd === undefined ? {} : { usd: spend.usd }),
    uncounted: spend.uncounted,
    ...estimatedIn(spend.estimated ?? 0),
    modelCalls: modelCalls + (below?.modelCalls ?? 0),
    agents: below?.agents ?? 0,
  };
}

/** What all runs of a session have spent, the open one included. */
export function spentInSession(state: State): Spent {
  const before = state.spentBefore ?? nothingSpent;
  return state.run === undefined ? { ...before } : addSpent(before, spentBy(state));
}

const amountNames = ["tokens", "usd", "modelCalls", "agents"] as const;

/** The tighter of two limits, member by member. */
export function tighter(one: Amounts, other: Amounts): Amounts {
  const least: Amounts = { ...one };
  for (const name of [...amountNames, "until"] as const) {
    const limit = other[name];
    // Infinity is no limit, and not a number that JSON can hold.
    if (limit !== undefined && Number.isFinite(limit)) least[name] = Math.min(limit, least[name] ?? limit);
  }
  return least;
}

/** What was spent of a limited amount; all of the limit if that is unknown. */
const partOf = (spent: Spent, name: (typeof amountNames)[number], limit: number): number =>
  name === "tokens" ? tokensIn(spent) : (spent[name] ?? limit);

/** What is left of a budget; no money if it is unknown how much was spent. */
export function leftOf(budget: Amounts, spent: Spent): Amounts {
  const left: Amounts = { ...budget };
  for (const name of amountNames) {
    const limit = budget[name];
    if (limit !== undefined) left[name] = Math.max(0, limit - partOf(spent, name, limit));
  }
  return left;
}

/** What the run may still give away: what its rules leave, minus what is reserved for children without a result. */
export function freeAmounts(state: State, rules: Rules): Amounts {
  let free: Amounts = {};
  for (const { rule, place } of speakersIn(rules.list).left) {
    let left: Amounts | undefined;
    try {
      left = rule.left(state.memories[place], state);
    } catch (thrown) {
      throw ruleFailed(rule, "left", thrown);
    }
    if (left !== undefined) free = tighter(free, left);
  }
  for (const { child, result } of withRun(state).run.turn?.calls ?? [])
    if (child !== undefined && result === undefined) free = leftOf(free, heldFor(child));
  return free;
}

/** What is still reserved for a child: its share minus its reported spending. Without a limit nothing is reserved. */
function heldFor({ reserved, spent }: ChildCall): Spent {
  const held = { ...nothingSpent };
  for (const name of amountNames) {
    const given = reserved[name];
    if (given !== undefined) held[name] = Math.max(0, given - partOf(spent, name, given));
  }
  return held;
}

/** A sub-agent's share, or why it may not start. */
export type Share = { reserved: Amounts } | { refused: string };

/**
 * The share of each sub-agent of the open turn that has not begun: an equal part of what is
 * free, at most what its tool asks for. Together the shares never exceed what is free.
 */
export function sharesOf(state: State, rules: Rules): ReadonlyMap<CallKey, Share> {
  const { options, run } = withRun(state);
  const { turn, parent } = run;
  if (turn === undefined) return noShares;
  const calls = turn.calls.filter(
    (call) =>
      call.tool?.agent !== undefined &&
      call.child === undefined &&
      call.result === undefined &&
      call.startedAt === undefined &&
      call.verdict?.do === "run" &&
      !["deny", "stop"].includes(permissionOf(call, options)),
  );
  if (calls.length === 0) return noShares;
  const shares = new Map<CallKey, Share>();
  const depth = (parent?.depth ?? 0) + 1;
  let free = freeAmounts(state, rules);
  let left = calls.length;
  for (const call of calls) {
    const { maxDepth, most } = call.tool?.agent ?? { maxDepth: 0 };
    const share = depth > maxDepth ? tooDeep(depth, maxDepth) : shareOf(free, left, most, state.now);
    shares.set(call.key, share);
    if ("reserved" in share) free = without(free, share.reserved);
    left -= 1;
  }
  return shares;
}

const noShares: ReadonlyMap<CallKey, Share> = new Map();

const tooDeep = (depth: number, maxDepth: number): Share => ({
  refused: `sub-agents may stand at most ${maxDepth} deep, and it would be ${depth} deep`,
});

function shareOf(free: Amounts, among: number, most: AgentFacts["most"] = {}, now: number): Share {
  const reserved: Amounts = {};
  const { ms, ...asked } = most;
  for (const name of amountNames) {
    const there = free[name];
    const wish = asked[name];
    if (there === undefined) {
      if (wish !== undefined) reserved[name] = wish;
      continue;
    }
    // Each takes one from the number of sub-agents, and needs at least one model call.
    const whole = name !== "usd";
    const least = whole && there >= 1 ? 1 : 0;
    const share = Math.max(least, whole ? Math.floor(there / among) : there / among);
    if (share <= 0) return { refused: `nothing is left of what it would be paid from: ${amountWords[name]}` };
    if (name === "agents") reserved.agents = Math.min(share - 1, wish ?? share);
    else reserved[name] = Math.min(share, wish ?? share);
  }
  const until = ms === undefined ? free.until : Math.min(now + ms, free.until ?? Number.POSITIVE_INFINITY);
  if (until !== undefined && until <= now) return { refused: "no time is left for it" };
  return { reserved: until === undefined ? reserved : { ...reserved, until } };
}

const amountWords: { readonly [name in (typeof amountNames)[number]]: string } = {
  tokens: "tokens",
  usd: "money",
  modelCalls: "model calls",
  agents: "sub-agents",
};

function without(free: Amounts, reserved: Amounts): Amounts {
  const left: Amounts = { ...free };
  for (const name of amountNames) {
    const there = free[name];
    if (there !== undefined)
      left[name] = Math.max(0, there - (reserved[name] ?? 0) - (name === "agents" ? 1 : 0));
  }
  return left;
}

/** Whether an answer is one to what a call of a sub-agent waits for: its approval, or this question of its tool. */
export const isAnswerTo = (
  { inside, round }: Pick<PassedAnswer, "inside" | "round">,
  { id, question }: Pick<WaitingCall, "id" | "question">,
): boolean => inside === id && round === question?.round;

/** An answer without what else is in its record. */
export const passedIn = ({ inside, round, said }: PassedAnswer): PassedAnswer => ({
  inside,
  said,
  ...(round === undefined ? {} : { round }),
});

/** The calls inside sub-agents that wait for an answer, with the parent's call above them. */
export function waitingInside(state: State): { call: Call; inside: WaitingCall }[] {
  const { run } = state;
  if (!isOpen(run)) return [];
  return (run.turn?.calls ?? []).flatMap((call) => {
    const { child } = call;
    if (child === undefined || call.result !== undefined) return [];
    const isAnswered = (one: WaitingCall): boolean => child.answers.some((answer) => isAnswerTo(answer, one));
    return child.waiting.filter((one) => !isAnswered(one)).map((inside) => ({ call, inside }));
  });
}
