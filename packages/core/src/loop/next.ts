// The one place that decides.
//
// `next` looks at the state and the rules and names the one thing to do now. It is pure: no I/O, no clock, no
// randomness, no await; time and chance come in with the records. It is total: every state has exactly one action.
//
// The decisions are a table that can be read aloud: in each phase the rows are tried from the top, and the first that
// applies names the action. `to` says which phases may follow; the model checker holds the code to it, and the
// documentation's diagram is drawn from it.

import { offersOutput } from "../output/ways.ts";
import type { Rules } from "../rules/rule.ts";
import { type Action, record } from "./action.ts";
import { askApprovals, reconcileCalls, useGrant } from "./deciding/approvals.ts";
import {
  abandonedResult,
  closeAll,
  closing,
  deniedResult,
  endedResult,
  interjectedResult,
  interruptedResult,
  judgedResult,
  misfitResult,
  openCalls,
  opposedResult,
  timedOutResult,
} from "./deciding/closing.ts";
import { askForSummary, compactionOf, compactsAtEnd, waitForSummary } from "./deciding/compacting.ts";
import {
  graceEnd,
  ruleDecision,
  timedDecision,
  untilWake,
  wait,
  waitForRetry,
} from "./deciding/consulting.ts";
import { deliver, deliverAll } from "./deciding/delivering.ts";
import {
  badOutput,
  checkLanded,
  end,
  endAborted,
  endBroken,
  endClearing,
  endCompaction,
  endGoingOn,
  endStopped,
  givenUpModel,
  outputMode,
  unjudgedAfterAbort,
} from "./deciding/ending.ts";
import { judgeTurn } from "./deciding/judge.ts";
import { compactionDue, guarded, tooLarge, trimmed } from "./deciding/making-room.ts";
import {
  callHooks,
  callModel,
  endChildren,
  refuseChildren,
  runHook,
  startCalls,
} from "./deciding/starting.ts";
import { type Phase, phaseOf } from "./phase.ts";
import {
  hasNothingToAnswer,
  inFlight,
  isRunning,
  isThinking,
  preparedOf,
  type RunState,
  type State,
  stepOf,
  transformedOf,
} from "./state.ts";

/** One row of the table. */
export interface Row {
  /** When this row applies, in words. */
  when: string;
  /** What is done then, in words. */
  does: string;
  /** The phases that may follow. */
  to: readonly Phase[];
  /** The action, or undefined when the row does not apply. */
  act(state: RunState, rules: Rules): Action | undefined;
}

export type Table = { readonly [phase in Phase]: readonly Row[] };

/** The transition table: phase by phase, row by row, the first that applies. */
export const table: Table = {
  idle: [row("no run is active", "there is nothing to do", ["idle"], () => ({ do: "done" }))],

  cancelling: [
    row(
      "something is in flight and its grace has not run out",
      "wait for it",
      ["cancelling", "ready", "idle"],
      (state) => {
        const until = graceEnd(state);
        return inFlight(state.run) && state.now < until ? { do: "wait", until } : undefined;
      },
    ),
    row("the model's answer is still in flight", "give it up", ["cancelling", "ready"], (state) =>
      isThinking(state.run) ? record(givenUpModel(state.run)) : undefined,
    ),
    row(
      "an answer came that nobody judged",
      "judge it: none of its calls runs",
      ["cancelling"],
      unjudgedAfterAbort,
    ),
    row(
      "calls are open",
      "close them, saying what is known of their outcome",
      ["cancelling", "acting", "ready"],
      (state, rules) => closeAll(state, rules, abandonedResult),
    ),
    leftBehind(["cancelling"]),
    row("everything is closed", "end the run as aborted", ["idle"], endAborted),
  ],

  ready: [
    leftBehind(["ready", "cancelling"]),
    row("a hook of the run failed", "end the run with its error", ["idle"], endBroken),
    row("the answer of a landing was to be typed", "check it", ["ready", "cancelling"], checkLanded),
    row(
      "a judged turn said that all is done, and more is queued",
      "deliver it and go on",
      ["ready"],
      (state) => (state.run.stopping?.reason === "completed" ? deliverAll(state) : undefined),
    ),
    row("a judged turn said stop", "end the run", ["idle"], endStopped),
    row(
      "a compaction was all that was asked for, or a clearing",
      "end the run, unless somebody wrote during a compaction",
      ["ready", "idle"],
      (state, rules) => {
        const { only } = state.run;
        if (only === undefined) return undefined;
        return only === "clearing" ? endClearing() : (deliverAll(state) ?? endCompaction(state, rules));
      },
    ),
    row(
      "a run was to go on without a new message, and the model has nothing to answer",
      "deliver what waits, or end the run",
      ["ready", "idle"],
      (state) => (hasNothingToAnswer(state) ? (deliverAll(state) ?? endGoingOn()) : undefined),
    ),
    row("a rule's time has come", "record what it decided", ["ready", "idle"], timedDecision),
    row("a retry waits for its time", "wait", ["ready", "cancelling"], waitForRetry),
    row("somebody wrote while the run was working", "deliver the messages", ["ready"], (state) =>
      state.run.paused ? undefined : deliver(state, "steer"),
    ),
    row("a rule speaks", "record what it decided", ["ready", "idle"], ruleDecision),
    row("results are over their budget", "cut the oldest for good", ["ready"], trimmed),
    row("the history fills its share of the window", "decide to compact it", ["compacting"], compactionDue),
    row(
      "the request would not fit into the window",
      "make it smaller, or end the run",
      ["ready", "compacting", "idle"],
      guarded,
    ),
    row(
      "the prepareStep hook has not been asked about this step",
      "ask it",
      ["ready", "cancelling"],
      (state, rules) =>
        state.run.landing !== undefined || preparedOf(state.run) !== undefined
          ? undefined
          : runHook(state, { hook: "prepareStep", step: stepOf(state) }, rules),
    ),
    row(
      "the transformContext hook has not been asked about this step",
      "ask it",
      ["ready", "cancelling"],
      (state, rules) =>
        transformedOf(state.run) !== undefined
          ? undefined
          : runHook(state, { hook: "transformContext", step: stepOf(state) }, rules),
    ),
    row(
      "the request does not fit, as it was made for this once",
      "compact, or end the run",
      ["compacting", "idle"],
      tooLarge,
    ),
    row("nothing stands against it", "ask the model", ["thinking"], callModel),
  ],

  compacting: [
    leftBehind(["compacting", "cancelling"]),
    row(
      "a rule's time has come",
      "record what it decided",
      ["compacting", "cancelling", "ready", "finishing", "idle"],
      timedDecision,
    ),
    row(
      "a summary is on its way",
      "wait for it",
      ["compacting", "cancelling", "ready", "finishing"],
      (state, rules) => (state.run.compacting?.call === undefined ? undefined : wait(state, rules)),
    ),
    row("a summary waits to be tried again", "wait", ["compacting", "cancelling"], waitForSummary),
    row("a part of the history has no summary yet", "ask a model for it", ["compacting"], askForSummary),
    row(
      "the summaries are there, or cannot be had",
      "put them in place of what they sum up",
      ["ready", "finishing"],
      (state, rules) => record(compactionOf(state, rules)),
    ),
  ],

  thinking: [
    row("a rule's time has come", "record what it decided", ["thinking", "cancelling"], timedDecision),
    row("the answer is on its way", "wait for it", ["thinking", "judging", "cancelling", "ready"], wait),
  ],

  judging: [
    row(
      "the model answered or failed",
      "judge it, once",
      ["acting", "ready", "compacting", "finishing"],
      (state, rules) => record(judgeTurn(state, rules)),
    ),
  ],

  acting: [
    row(
      "a rule's time has come",
      "record what it decided",
      ["acting", "compacting", "cancelling", "ready"],
      timedDecision,
    ),
    row(
      "calls were judged not to run",
      "answer them",
      ["acting", "compacting", "ready", "finishing"],
      closing(judgedResult),
    ),
    row(
      "a write was interrupted by a crash, and its tool has not said what came of it",
      "ask the tool, where it has a way to find out",
      ["acting", "cancelling", "compacting", "ready", "finishing"],
      reconcileCalls,
    ),
    row(
      "a write was interrupted by a crash",
      "answer what came of it, or that its outcome is unknown, unless somebody is to be asked",
      ["acting", "compacting", "ready"],
      closing(interruptedResult),
    ),
    row(
      "calls were denied",
      "answer them with the reason",
      ["acting", "compacting", "ready"],
      closing(deniedResult),
    ),
    row(
      "an edited call does not fit its schema",
      "answer it with what is wrong",
      ["acting", "compacting", "ready"],
      closing(misfitResult),
    ),
    row(
      "the run is to end, or to land",
      "skip the calls that have not started",
      ["acting", "compacting", "ready"],
      (state, rules) =>
        state.run.stopping === undefined && state.run.landing === undefined
          ? undefined
          : closing(endedResult)(state, rules),
    ),
    row(
      "somebody wrote between two calls in sequence",
      "skip those behind the first that have not started, and any that needs an approval",
      ["acting", "compacting", "ready"],
      (state, rules) => {
        const { toolOrder, steering } = state.options;
        if (toolOrder !== "sequential" || steering === "after_calls") return undefined;
        return state.inbox.some((one) => one.lane === "steer")
          ? closing(interjectedResult)(state, rules)
          : undefined;
      },
    ),
    row(
      "a call has run past its time",
      "answer that it timed out",
      ["acting", "compacting", "ready"],
      closing(timedOutResult),
    ),
    row(
      "a rule speaks against calls that have not started",
      "answer them with what it says",
      ["acting", "compacting", "ready", "finishing"],
      closing(opposedResult),
    ),
    row(
      "there is nothing to start a sub-agent with",
      "answer with what is missing",
      ["acting", "compacting", "ready", "finishing"],
      refuseChildren,
    ),
    row("calls may start", "start them", ["acting"], startCalls),
    row("a grant covers a call", "let it run, and count that", ["acting"], useGrant),
    row("calls need somebody's approval", "ask", ["acting"], askApprovals),
    row(
      "hooks have not been asked about calls",
      "ask them",
      ["acting", "compacting", "cancelling", "ready", "finishing"],
      callHooks,
    ),
    leftBehind(["acting", "compacting", "cancelling", "ready", "finishing"]),
    row(
      "tools are at work",
      "wait for them",
      ["acting", "compacting", "cancelling", "ready", "finishing"],
      (state, rules) => (openCalls(state).some(isRunning) ? wait(state, rules) : undefined),
    ),
    row(
      "somebody's approval is all that is missing",
      "park",
      ["acting", "compacting", "cancelling", "ready"],
      (state, rules) => ({ do: "park", ...untilWake(state, rules) }),
    ),
  ],

  finishing: [
    leftBehind(["finishing", "cancelling"]),
    row("a hook of the run failed", "end the run with its error", ["idle"], endBroken),
    row("somebody wrote while the answer was made", "deliver the messages and go on", ["ready"], (state) =>
      deliver(state, "steer"),
    ),
    row("typed output is wanted and tools were in the way so far", "ask for it", ["ready"], (state, rules) =>
      state.options.output === undefined || offersOutput(state) ? undefined : outputMode(0, state, rules),
    ),
    row("typed output has not been checked", "check it", ["finishing", "cancelling"], (state) => {
      const { answer, checked } = state.run;
      if (state.options.output === undefined || checked !== undefined) return undefined;
      return { do: "check_output", text: answer?.text ?? "" };
    }),
    row(
      "the output does not fit its schema",
      "ask for it again, or end the run",
      ["ready", "idle"],
      badOutput,
    ),
    row(
      "the onFinish hook has not been asked",
      "ask it for more work",
      ["finishing", "ready", "cancelling"],
      (state) => (state.run.finishAsked ? undefined : runHook(state, { hook: "onFinish" })),
    ),
    row("more work is queued", "deliver it and go on", ["ready"], (state) => deliver(state, "follow_up")),
    row("results are over their budget at the end", "cut the oldest for good", ["finishing"], (state) =>
      compactsAtEnd(state) ? trimmed(state) : undefined,
    ),
    row(
      "the history fills its share of the window at the end",
      "decide to compact it",
      ["compacting"],
      (state, rules) => (compactsAtEnd(state) ? compactionDue(state, rules) : undefined),
    ),
    row("the answer stands", "end the run as completed", ["idle"], (state) =>
      end(state, { reason: "completed", rule: "answer", evidence: { steps: state.run.steps } }),
    ),
  ],
};

/** The one thing to do now. */
export function next(state: State, rules: Rules): Action {
  return decide(state, rules).action;
}

/** The one thing to do now, and the row that says so. */
export function decide(state: State, rules: Rules, rows: Table = table): { action: Action; row: Row } {
  const phase = phaseOf(state);
  const tried = rows[phase];
  for (let at = 0; at < tried.length; at += 1) {
    const one = tried[at] as Row;
    // Without a run there is one row, which looks at nothing.
    const action = one.act(state as RunState, rules);
    if (action !== undefined) return { action, row: one };
  }
  throw new Error(`no row of the table applies in phase ${phase}: this is a defect of the table`);
}

function row(when: string, does: string, to: readonly Phase[], act: Row["act"]): Row {
  return { when, does, to, act };
}

function leftBehind(to: readonly Phase[]): Row {
  const when = "a sub-agent was left behind that nobody waits for any more";
  return row(when, "see to it that it ends", to, endChildren);
}
