// The room of limits: steps, tokens, money, time.
//
// A limit is checked before the model call that would exceed it, and by default lands the run. Usage that a provider did
// not report is unknown, never zero: tokens are estimated then, money is taken to be spent, and the evidence says so.

import { budgetWords } from "../checks/other-words.ts";
import {
  above0,
  type Check,
  checkGiven,
  count,
  either,
  membersOf,
  moment,
  needed,
  oneOf,
  some,
  text,
  unlimited,
  whole,
} from "../checks.ts";
import type { Amounts, Spent } from "../loop/child-facts.ts";
import {
  leftOf,
  nothingSpent,
  spentBy,
  spentInSession,
  spentSince,
  tighter,
  tokensIn,
} from "../loop/children.ts";
import type { RunOptions } from "../loop/run-options.ts";
import { type State, withRun } from "../loop/state.ts";
import type { Decision, Judgement, Rule } from "./rule.ts";

/** What happens at the step limit. `refuse_tools`: the calls of the last allowed answer are not run, and the run ends. */
export type OnLimit = "land" | "error" | "refuse_tools" | "stop";

export const onLimitCheck: Check = oneOf("land", "error", "refuse_tools", "stop");

interface StepLimit {
  onLimit?: OnLimit;
  message?: string;
}

/** Which numbers of steps may be allowed with this `onLimit`. With 0 steps there is nothing to land with. */
export const stepsUnder = (onLimit: OnLimit | undefined): Check =>
  needed(
    "a whole number above 0, or 0 where onLimit is error or stop,",
    (value) => (onLimit === "error" || onLimit === "stop" ? whole : count)(value) === undefined,
  );

const maxStepsOptions = (max: Check): Check =>
  membersOf<StepLimit & { max: number }>({ max, onLimit: onLimitCheck, message: text }, ["max"]);

/**
 * Ends a run that has had `max` model answers.
 * @param max answers allowed, each with its tools run; a paused answer and its continuation count as one. 0 only with `onLimit` `error` or `stop`
 * @param options.onLimit default: the agent's `onLimit`, else `land`: one more call without tools for a best-effort answer
 * @param options.message text of the error if `onLimit` is `error`. Default: that the limit was reached
 * @throws RondoError `invalid_request` naming what cannot be used
 */
export function maxSteps(max: number, options: StepLimit = {}): Rule {
  const rule = stepLimit(max, options);
  if (options.onLimit === undefined) wordless.set(rule, { ...options, max });
  return rule;
}

/** Step limits without their own `onLimit`, and the arguments they were made with. */
const wordless = new WeakMap<Rule, StepLimit & { max: number }>();

/** The same rule with the agent's `onLimit`; a rule with its own keeps that. */
export function underWord(rule: Rule, onLimit: OnLimit | undefined): Rule {
  if (onLimit === undefined) return rule;
  const made = wordless.get(rule);
  return made === undefined ? rule : maxSteps(made.max, { ...made, onLimit });
}

function stepLimit(max: number, options: StepLimit): Rule {
  const onLimit = options.onLimit ?? "land";
  checkGiven(maxStepsOptions(stepsUnder(onLimit)), { ...options, max }, "maxSteps");
  return {
    name: "max_steps",
    version: 1,
    decide(_memory, state): Decision | undefined {
      const steps = state.run?.steps ?? 0;
      if (steps < max) return undefined;
      const evidence = { steps, max };
      if (onLimit === "land") return { do: "land", reason: "max_steps", evidence };
      if (onLimit !== "error") return { do: "stop", reason: "max_steps", evidence };
      const { message = `the run reached its limit of ${max} steps without completing` } = options;
      return {
        do: "stop",
        reason: "max_steps",
        evidence,
        error: { kind: "loop_detected", message, retryable: false },
      };
    },
    judge(_memory, state, texts): Judgement | undefined {
      const { run } = state;
      if (onLimit !== "refuse_tools" || run === undefined || run.steps + 1 < max) return undefined;
      if (run.turn === undefined || run.turn.calls.length === 0) return undefined;
      return {
        follows: { do: "stop", reason: "max_steps" },
        evidence: { steps: run.steps + 1, max },
        answerAll: { code: "limit", text: (call) => texts.limitRefusal(call.name, `at most ${max} steps`) },
      };
    },
  };
}

export interface Budget {
  /** Input and output tokens of all model calls of the run, including those of its sub-agents. Those of answers without reported usage are estimated. */
  tokens?: number;
  /** US dollars, including those of sub-agents. Needs a price for every model of the run and of its sub-agents. */
  usd?: number;
  /** Milliseconds since the run started, including the time it waits for approvals and answers. What is in flight then is cancelled. */
  ms?: number;
  /** Model calls, including those of sub-agents and the last one of a landing. */
  modelCalls?: number;
  /** Limits for the run's own model calls, without those of sub-agents. `usd` is known only if that of the sub-agents is. */
  own?: { tokens?: number; usd?: number };
  /**
   * Limits for all runs of the session together, including those of sub-agents. A run that starts when they are used up
   * ends at once, without a model call. A fork starts with what the records that it shares have spent.
   */
  session?: { tokens?: number; usd?: number; modelCalls?: number };
}

const amounts = { tokens: above0, usd: above0 };
const calls = either(unlimited, count);

/** Checks the amounts of a budget. */
export const budgetAmounts: Check = some(
  membersOf<Budget>(
    {
      ...amounts,
      ms: above0,
      modelCalls: calls,
      own: some(membersOf<NonNullable<Budget["own"]>>(amounts, [], budgetWords), "tokens or usd"),
      session: some(
        membersOf<NonNullable<Budget["session"]>>({ ...amounts, modelCalls: calls }, [], budgetWords),
        "tokens, usd or modelCalls",
      ),
    },
    [],
    budgetWords,
  ),
  "tokens, usd, ms, modelCalls, own or session",
);

/** Lands a run that has used up its tokens, money, time or model calls, or those of its session. */
export function budget(limits: Budget): Rule {
  checkGiven(budgetAmounts, limits, "budget");
  const { own = {}, session, ...whole } = limits;
  return {
    name: "budget",
    version: 1,
    verify(options): string | undefined {
      const unpriced = unpricedIn(options);
      if ((limits.usd ?? own.usd ?? session?.usd) === undefined || unpriced.length === 0) return undefined;
      return `budget({ usd }) needs a price for every model, and none is known for ${unpriced.join(", ")}: give the model one (facts.price), or limit tokens`;
    },
    decide(_memory, state): Decision | undefined {
      const { run } = state;
      if (run === undefined) return undefined;
      // First, because it is the only one that also cancels what is in flight.
      const ms = state.now - run.startedAt;
      if (limits.ms !== undefined && ms >= limits.ms)
        return { do: "land", reason: "deadline", evidence: { ms, max: limits.ms }, cancel: true };
      const spent = overspent(spentBy(state), whole);
      if (spent !== undefined) return spent;
      const alone = overspent(spentAlone(state), own);
      if (alone !== undefined) return { ...alone, evidence: { ...alone.evidence, own: true } };
      return session === undefined ? undefined : sessionOverspent(state, session);
    },
    left(_memory, state): Amounts {
      const { tokens, usd, ms, modelCalls } = limits;
      const until = ms === undefined ? {} : { until: withRun(state).run.startedAt + ms };
      const left = leftOf({ ...beforeLanding({ tokens, usd, modelCalls }), ...until }, spentBy(state));
      return session === undefined
        ? left
        : tighter(left, leftOf(beforeLanding(session), spentInSession(state)));
    },
    wakeAt(_memory, state): number | undefined {
      return limits.ms === undefined || state.run === undefined ? undefined : state.run.startedAt + limits.ms;
    },
  };
}

/** The models of a run and of its sub-agents whose price is unknown. */
export function unpricedIn({ models, tools }: RunOptions): string[] {
  const own = models.filter((model) => model.facts.price === undefined).map((model) => model.id);
  return [...new Set([...own, ...tools.flatMap(({ agent }) => agent?.unpriced ?? [])])];
}

/** What may be given away of these limits: without the model call that a landing takes. */
const beforeLanding = ({
  tokens,
  usd,
  modelCalls,
}: { [limit in keyof Amounts]?: number | undefined }): Amounts => ({
  ...(tokens === undefined ? {} : { tokens }),
  ...(usd === undefined ? {} : { usd }),
  ...(modelCalls === undefined ? {} : { modelCalls: modelCalls - 1 }),
});

/**
 * The decision once one of the amounts is spent. A landing takes a model call, so one is reserved for it.
 * @param forLanding how many model calls are reserved
 */
export function overspent(
  spent: Spent,
  limits: Amounts,
  forLanding: number = 1,
): Extract<Decision, { do: "land" }> | undefined {
  const { tokens, usd, uncounted, estimated, modelCalls } = spent;
  if (limits.tokens !== undefined && tokensIn(spent) >= limits.tokens)
    return {
      do: "land",
      reason: "token_budget",
      evidence: {
        tokens,
        max: limits.tokens,
        uncountedCalls: uncounted,
        ...(estimated === undefined ? {} : { estimated }),
      },
    };
  if (limits.usd !== undefined && (usd === undefined || usd >= limits.usd)) {
    const unknown = usd === undefined ? { uncountedCalls: uncounted } : {};
    return {
      do: "land",
      reason: "cost_budget",
      evidence: { usd: usd ?? "unknown", max: limits.usd, ...unknown },
    };
  }
  if (limits.modelCalls !== undefined && modelCalls >= limits.modelCalls - forLanding)
    return { do: "land", reason: "max_steps", evidence: { modelCalls, max: limits.modelCalls } };
  return undefined;
}

/** The decision once a session has spent its limits. A run that has called no model does not land then: each message would spend more. */
function sessionOverspent(state: State, limits: Amounts): Decision | undefined {
  const spent = spentInSession(state);
  const nothingLeft = withRun(state).run.modelCalls === 0 ? overspent(spent, limits, 0) : undefined;
  const over = nothingLeft ?? overspent(spent, limits);
  if (over === undefined) return undefined;
  return {
    ...over,
    do: nothingLeft === undefined ? "land" : "stop",
    evidence: { ...over.evidence, session: true },
  };
}

/** What the run's own model calls cost. */
function spentAlone(state: State): Spent {
  return spentSince(spentBy(state), withRun(state).run.below ?? nothingSpent);
}

const deadlineOptions: Check = membersOf<{ when: Date | number }>({ when: moment }, ["when"]);

/**
 * Lands a run at a point in time: a Date, or milliseconds since 1970. What is in flight then is cancelled.
 * @throws RondoError `invalid_request` for anything else
 */
export function deadline(when: Date | number): Rule {
  checkGiven(deadlineOptions, { when }, "deadline");
  const at = Number(when);
  const rule: Rule = {
    name: "deadline",
    version: 1,
    decide: (_memory, state): Decision | undefined =>
      state.now < at
        ? undefined
        : { do: "land", reason: "deadline", evidence: { now: state.now, at }, cancel: true },
    left: () => ({ until: at }),
    wakeAt: () => at,
  };
  if (at < 1e11) likeDurations.set(rule, at);
  return rule;
}

/** Deadlines in the first three years from 1970 on, which were meant as durations unless the agent has a clock of its own. */
const likeDurations = new WeakMap<Rule, number>();

/** What is wrong with a deadline that was meant as a duration; undefined for any other rule. */
export function meantAsDuration(rule: Rule): string | undefined {
  const at = likeDurations.get(rule);
  return at === undefined
    ? undefined
    : `deadline(${at}) counts from 1970, and is long past: budget({ ms }) limits how long a run takes, deadline(Date.now() + ms) says until when`;
}
