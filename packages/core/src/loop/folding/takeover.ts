// The room of the takeover: how a run changes when another process, other code or a fork continues it.
//
// What was in flight is lost, and uses up no attempt and no count: the world failed, not the call. A write may have had
// its effect, and so does not simply run again.

import { toolNamed } from "../offered-tools.ts";
import type { RecordOf } from "../records.ts";
import type { ModelRef, RunOptions } from "../run-options.ts";
import { type Call, isOpen, type Run, type State, withRun } from "../state.ts";
import { settleCancel } from "./cancelled.ts";
import { forgetLeft, takeLeft } from "./children.ts";
import { untransformed } from "./hooks.ts";
import { placeOf } from "./same-model.ts";
import { mapCalls } from "./turn.ts";

/** Marks what was in flight when a process died as lost, without using up an attempt or a count. */
function interrupt(run: Run, options: RunOptions): Run {
  return {
    ...run,
    stepBegun: undefined,
    call: undefined,
    compacting: run.compacting && { ...run.compacting, call: undefined },
    ...mapCalls(run, (call) => {
      if (call.startedAt === undefined || call.result !== undefined) return call;
      const { startedAt: _startedAt, begun: _begun, ...unstarted } = call;
      // A write may have had its effect. Anything else may simply run again; if it never does, it has still begun.
      if (call.tool?.effect !== "write")
        return call.tool?.effect === "idempotent" ? { ...unstarted, begun: true } : unstarted;
      const lost = { ...unstarted, interrupted: true };
      // The approval was for one run of the call, not for two.
      return options.onInterrupted === "ask"
        ? { ...lost, permission: { answer: "ask" as const }, asked: false }
        : lost;
    }),
  };
}

/** A process takes a run over, perhaps under other options, whose first model is then used. In a fork, the time before the fork does not count. */
export function reopen(before: State, record: RecordOf<"opened">, last: number): State {
  const { options, changed, from, at } = record;
  // Abandoned children of before the fork belong to the original session, as running ones do.
  const state = from === undefined ? takeLeft(before) : forgetLeft(before);
  const { run } = state;
  if (!isOpen(run)) return state;
  const timed = from === undefined ? run : { ...run, startedAt: run.startedAt + (at - last) };
  const interrupted = settleCancel(interrupt(timed, withRun(state).options));
  const own = from === undefined ? interrupted : { ...interrupted, ...mapCalls(interrupted, withoutChild) };
  if (options === undefined) return { ...state, run: own };
  // The same run under other code: its open turn and its models stay, if those models still exist.
  if (changed !== undefined)
    return { ...state, options, run: movedTo(options.models, own, withRun(state).options.models) };
  const calls = mapCalls(own, (call) => {
    const { tool: _tool, ...rest } = call;
    const tool = toolNamed(options.tools, call.name);
    return tool === undefined ? rest : { ...rest, tool };
  });
  // Another model's count says nothing about this one's window; what hooks returned for the next step was for the other options.
  const asked = { ...untransformed(own), prepared: undefined };
  return { ...state, options, counted: undefined, run: { ...asked, ...calls, model: 0 } };
}

/** The run with its models' indices in the new list. If the model chosen for the step is gone, the prepareStep hook is asked again. */
function movedTo(models: readonly ModelRef[], run: Run, before: readonly ModelRef[]): Run {
  const moved = { ...run, model: Math.max(0, placeOf(models, before[run.model], run.model)) };
  const { prepared } = run;
  if (prepared?.model === undefined) return moved;
  const model = placeOf(models, before[prepared.model], prepared.model);
  return { ...moved, prepared: model < 0 ? undefined : { ...prepared, model } };
}

/** A running sub-agent belongs to the original session: the fork starts a new one. */
function withoutChild({ child: _child, ...call }: Call): Call {
  return call;
}
