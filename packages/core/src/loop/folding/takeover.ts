// The room of the takeover: what becomes of a run whose process is another one now, or whose code is, or that is a fork's.
//
// What was in flight is lost, and that is an answer of the world: it uses up no attempt and no count. Only a write may have
// had its effect, and so it does not simply run again.

import { toolNamed } from "../offered-tools.ts";
import type { RecordOf } from "../records.ts";
import type { ModelRef, RunOptions } from "../run-options.ts";
import { type Call, isOpen, type Run, type State, settleCancel, withRun } from "../state.ts";
import { forgetLeft, takeLeft } from "./children.ts";
import { untransformed } from "./hooks.ts";
import { placeOf } from "./same-model.ts";
import { mapCalls } from "./turn.ts";

/** What was in flight when a process died is lost. It was an answer of the world, so it uses up no attempt and no count. */
function interrupt(run: Run, options: RunOptions): Run {
  return {
    ...run,
    stepBegun: undefined,
    call: undefined,
    compacting: run.compacting && { ...run.compacting, call: undefined },
    ...mapCalls(run, (call) => {
      if (call.startedAt === undefined || call.result !== undefined) return call;
      const { startedAt: _startedAt, begun: _begun, ...unstarted } = call;
      // A write may have had its effect. Anything else may simply run again; should it never do so, it has begun all the same.
      if (call.tool?.effect !== "write")
        return call.tool?.effect === "idempotent" ? { ...unstarted, begun: true } : unstarted;
      const lost = { ...unstarted, interrupted: true };
      // Whoever let it run once has not let it run twice.
      return options.onInterrupted === "ask"
        ? { ...lost, permission: { answer: "ask" as const }, asked: false }
        : lost;
    }),
  };
}

/** A process takes a run over, under other options where it brings some: the model then is the first of those. The time that lies before a fork is not the fork's. */
export function reopen(before: State, record: RecordOf<"opened">, last: number): State {
  const { options, changed, from, at } = record;
  // What was left behind before a fork belongs to the session that was forked, as what is at work does.
  const state = from === undefined ? takeLeft(before) : forgetLeft(before);
  const { run } = state;
  if (!isOpen(run)) return state;
  const own = from === undefined ? run : { ...run, startedAt: run.startedAt + (at - last) };
  const taken = settleCancel(interrupt(own, withRun(state).options));
  const left = from === undefined ? taken : { ...taken, ...mapCalls(taken, withoutChild) };
  if (options === undefined) return { ...state, run: left };
  // The same run under other code: its open turn stays as it is, and so do its models, if they are still there.
  if (changed !== undefined)
    return { ...state, options, run: movedTo(options.models, left, withRun(state).options.models) };
  const calls = mapCalls(left, (call) => {
    const { tool: _tool, ...rest } = call;
    const tool = toolNamed(options.tools, call.name);
    return tool === undefined ? rest : { ...rest, tool };
  });
  // What another model counted says nothing of this one's window; what hooks said of the coming step, was said of the other options.
  const asked = { ...untransformed(left), prepared: undefined };
  return { ...state, options, counted: undefined, run: { ...asked, ...calls, model: 0 } };
}

/** The same run where its models stand in another list. The step that was to have one that is gone is prepared again. */
function movedTo(models: readonly ModelRef[], run: Run, before: readonly ModelRef[]): Run {
  const moved = { ...run, model: Math.max(0, placeOf(models, before[run.model], run.model)) };
  const { prepared } = run;
  if (prepared?.model === undefined) return moved;
  const model = placeOf(models, before[prepared.model], prepared.model);
  return { ...moved, prepared: model < 0 ? undefined : { ...prepared, model } };
}

/** A sub-agent that was at work belongs to the session that was forked: the fork starts one of its own. */
function withoutChild({ child: _child, ...call }: Call): Call {
  return call;
}
