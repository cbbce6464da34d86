// The one place that decides.
//
// `next` takes the state and the rules and returns the next action. It is pure: no I/O, no clock, no randomness, no
// await; time and random numbers come in with the records. It is total: every state has exactly one action.
//
// The decisions are a table in plain words: in each phase the rows are tried from the top, and the first that applies
// gives the action. `to` lists the phases that may follow; the model checker verifies them, and the diagram in the
// documentation is drawn from them.

import { offersOutput } from "../output/ways.ts";
import type { Rules } from "../rules/rule.ts";
import { type Action, record } from "./action.ts";
import { askApprovals, reconcileCalls, useGrant } from "./deciding/approvals.ts";
import {
  abandonedResult,
  callsOfTurn,
  closeAll,
  closing,
  deniedResult,
  endedResult,
  interjectedResult,
  interruptedResult,
  judgedResult,
  misfitResult,
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
import { deliver, deliverAny } from "./deciding/delivering.ts";
import {
  askForOutput,
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
  unjudgedAfterAbort,
} from "./deciding/ending.ts";
import { judgeTurn } from "./deciding/judge.ts";
import { endTooLate, lastAnswerLate } from "./deciding/last-answer.ts";
import { compactionDue, guarded, tooLarge, trimmed } from "./deciding/making-room.ts";
import { type Row, row } from "./deciding/row.ts";
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

export type Table = { readonly [phase in Phase]: readonly Row[] };

/** The transition table: phase by phase, row by row, the first that applies. */
export const table: Table = {
  idle: [row("no run is active", "there is nothing to do", ["idle"], () => ({ do: "done" }))],

  cancelling: [
    row(
      "something is in flight and its grace has not run out",
      "wait for it",
      ["cancelling", "compacting", "ready", "idle"],
      (state) => {
        const until = graceEnd(state);
        return inFlight(state.run) && state.now < until ? { do: "wait", until } : undefined;
      },
    ),
    row(
      "the model's answer is still in flight",
      "abandon it",
      ["cancelling", "compacting", "ready"],
      (state) => (isThinking(state.run) ? record(givenUpModel(state.run)) : undefined),
    ),
    row(
      "an answer has not been judged",
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
    row("a landing's typed answer is unchecked", "check it", ["ready", "cancelling"], checkLanded),
    row(
      "a turn was judged to complete the run, and more messages are queued",
      "deliver them and continue",
      ["ready"],
      (state) => (state.run.stopping?.reason === "completed" ? deliverAny(state) : undefined),
    ),
    row("a turn was judged to stop the run", "end the run", ["idle"], endStopped),
    row(
      "the run was only to compact or clear the history",
      "end the run, unless a message came during the compaction",
      ["ready", "idle"],
      (state, rules) => {
        const { only } = state.run;
        if (only === undefined) return undefined;
        return only === "clearing" ? endClearing() : (deliverAny(state) ?? endCompaction(state, rules));
      },
    ),
    row(
      "the run was started without a message, and the model has nothing to answer",
      "deliver queued messages, or end the run",
      ["ready", "idle"],
      (state) => (hasNothingToAnswer(state) ? (deliverAny(state) ?? endGoingOn()) : undefined),
    ),
    row("a rule's time has come", "record its decision", ["ready", "idle"], timedDecision),
    row(
      "a run lands, and a retry waits for longer than is left of its time",
      "end the run",
      ["idle"],
      endTooLate,
    ),
    row("a retry is waiting", "wait", ["ready", "cancelling"], waitForRetry),
    row("a message came while the run was working", "deliver the messages", ["ready"], (state) =>
      state.run.paused ? undefined : deliver(state, "steer"),
    ),
    row("a rule has a decision", "record its decision", ["ready", "idle"], ruleDecision),
    row("results are over their budget", "trim the oldest for good", ["ready"], trimmed),
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
      "the request does not fit as shaped for this one time",
      "compact, or end the run",
      ["compacting", "idle"],
      tooLarge,
    ),
    row("nothing else has to be done first", "call the model", ["thinking"], callModel),
  ],

  compacting: [
    leftBehind(["compacting", "cancelling"]),
    row(
      "a rule's time has come",
      "record its decision",
      ["compacting", "cancelling", "ready", "finishing", "idle"],
      timedDecision,
    ),
    row(
      "a summary is in flight",
      "wait for it",
      ["compacting", "cancelling", "ready", "finishing"],
      (state, rules) => (state.run.compacting?.call === undefined ? undefined : wait(state, rules)),
    ),
    row("a summary waits for its retry", "wait", ["compacting", "cancelling"], waitForSummary),
    row("a part of the history has no summary yet", "call a model for it", ["compacting"], askForSummary),
    row(
      "all summaries are there, or have failed",
      "replace the summarised messages, or keep them",
      ["ready", "finishing"],
      (state, rules) => record(compactionOf(state, rules)),
    ),
  ],

  thinking: [
    row("a rule's time has come", "record its decision", ["thinking", "cancelling"], timedDecision),
    row(
      "a run lands, and its last answer takes longer than is left of its time",
      "cancel it",
      ["cancelling"],
      lastAnswerLate,
    ),
    row("the answer is in flight", "wait for it", ["thinking", "judging", "cancelling", "ready"], wait),
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
      "record its decision",
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
      "a write was interrupted by a crash, and its tool has not reported the outcome",
      "ask the tool, if it can find out",
      ["acting", "cancelling", "compacting", "ready", "finishing"],
      reconcileCalls,
    ),
    row(
      "a write was interrupted by a crash",
      "answer with its outcome, or that it is unknown, unless a person is to be asked",
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
      "a message came between two sequential calls",
      "skip those after the first that have not started, and any that needs an approval",
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
      "a call has exceeded its timeout",
      "answer that it timed out",
      ["acting", "compacting", "ready"],
      closing(timedOutResult),
    ),
    row(
      "a rule answers calls that have not started",
      "answer them with its text",
      ["acting", "compacting", "ready", "finishing"],
      closing(opposedResult),
    ),
    row(
      "a sub-agent may not start",
      "answer with the limit that prevents it",
      ["acting", "compacting", "ready", "finishing"],
      refuseChildren,
    ),
    row("calls may start", "start them", ["acting"], startCalls),
    row("a grant covers a call", "let it run, and count the use", ["acting"], useGrant),
    row("calls need an approval", "ask for it", ["acting"], askApprovals),
    row(
      "hooks have not been asked about calls",
      "ask them",
      ["acting", "compacting", "cancelling", "ready", "finishing"],
      callHooks,
    ),
    leftBehind(["acting", "compacting", "cancelling", "ready", "finishing"]),
    row(
      "tools are running",
      "wait for them",
      ["acting", "compacting", "cancelling", "ready", "finishing"],
      (state, rules) => (callsOfTurn(state).some(isRunning) ? wait(state, rules) : undefined),
    ),
    row(
      "only answers from outside are missing",
      "park",
      ["acting", "compacting", "cancelling", "ready"],
      (state, rules) => ({ do: "park", ...untilWake(state, rules) }),
    ),
  ],

  finishing: [
    leftBehind(["finishing", "cancelling"]),
    row("a hook of the run failed", "end the run with its error", ["idle"], endBroken),
    row("a message came during the last answer", "deliver the messages and continue", ["ready"], (state) =>
      deliver(state, "steer"),
    ),
    row("the typed output was not asked for yet", "ask for it", ["ready"], (state, rules) =>
      state.options.output === undefined || offersOutput(state) ? undefined : askForOutput(0, state, rules),
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
    row("follow-ups are queued", "deliver and continue", ["ready"], (state) => deliver(state, "follow_up")),
    row("results are over their budget at the end", "trim the oldest for good", ["finishing"], (state) =>
      compactsAtEnd(state) ? trimmed(state) : undefined,
    ),
    row(
      "the history fills its share of the window at the end",
      "decide to compact it",
      ["compacting"],
      (state, rules) => (compactsAtEnd(state) ? compactionDue(state, rules) : undefined),
    ),
    row("the answer is final", "end the run as completed", ["idle"], (state) =>
      end(state, { reason: "completed", rule: "answer", evidence: { steps: state.run.steps } }),
    ),
  ],
};

/** The next action. */
export function next(state: State, rules: Rules): Action {
  return decide(state, rules).action;
}

/** The next action, and the row of the table that gave it. */
export function decide(state: State, rules: Rules, rows: Table = table): { action: Action; row: Row } {
  const phase = phaseOf(state);
  const tried = rows[phase];
  for (let at = 0; at < tried.length; at += 1) {
    const one = tried[at] as Row;
    // Without a run the phase is `idle`, whose only row does not look at the state.
    const action = one.act(state as RunState, rules);
    if (action !== undefined) return { action, row: one };
  }
  throw new Error(`no row of the table applies in phase ${phase}: this is a defect of the table`);
}

function leftBehind(to: readonly Phase[]): Row {
  const when = "a sub-agent was abandoned and has not ended";
  return row(when, "end it", to, endChildren);
}
