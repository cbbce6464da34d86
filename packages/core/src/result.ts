// The room of the result: what a run came to, for the one who asked for it.

import { invalidRequest } from "./errors.ts";
import type { CallView } from "./events.ts";
import { jsonCopy, shown } from "./json/copy.ts";
import { permissionOf } from "./loop/batch.ts";
import { waitingInside } from "./loop/children.ts";
import { viewInside, viewOf } from "./loop/driving/announce.ts";
import type { RunEnd } from "./loop/records.ts";
import type { State } from "./loop/state.ts";
import { callsOf, type Message, type ToolCallPart, type Usage } from "./message.ts";

export interface RunResult<Output = unknown> {
  /** The answer; the refusal's words when it was refused; where it landed or broke off, what was said last of what stands in the history. */
  text: string;
  /** The typed output, when one was asked for and the run completed, or landed with one. */
  output?: Output;
  /** How and why the run ended. Absent when it is parked. */
  end?: RunEnd;
  /** Set when the run waits for approvals; it goes on when they come (`agent.open(session)`, then `approve`), in this process or another. */
  parked?: { pending: CallView[] };
  /** Calls the run was told not to execute itself (`autoExecuteTools: false`). */
  pending?: ToolCallPart[];
  /** Sums of what the providers counted, for sub-agents as well; absent numbers are unknown. */
  usage: Usage;
  /** US dollars; absent when unknown. */
  usd?: number;
  /** Model answers. */
  steps: number;
  /** Requests to models: retries, summaries and the last one of a landing among them, those of sub-agents not. */
  modelCalls: number;
  toolCalls: number;
  /** The whole conversation of the session. Where the session can be gone on with, they are its history itself, and frozen. */
  messages: Message[];
  session: string;
}

/**
 * The result of the session's last run, ended or parked.
 * @param isPassing nobody goes on with the session: what is shown of its history is the reader's own
 */
export function resultOf<Output>(state: State, session: string, isPassing = false): RunResult<Output> {
  const { run } = state;
  if (run === undefined) throw invalidRequest(`session ${session} has no run yet`);
  const { usd, usage } = run.spend;
  const { checked, end } = run;
  const pending = end?.reason === "requires_action" ? pendingCalls(state) : undefined;
  return {
    text: run.text ?? run.lastText,
    ...(checked?.ok && (end?.reason === "completed" || end?.landed)
      ? { output: jsonCopy(checked.value) as Output }
      : {}),
    ...(end === undefined ? { parked: { pending: awaitingApproval(state) } } : { end }),
    ...(pending === undefined ? {} : { pending }),
    usage: { ...usage },
    ...(usd === undefined ? {} : { usd }),
    steps: run.steps,
    modelCalls: run.modelCalls,
    toolCalls: run.toolCalls,
    messages: isPassing && end !== undefined ? state.history.slice() : shown(state.history),
    session,
  };
}

/** The calls that wait for somebody's approval, those inside sub-agents among them. */
export function awaitingApproval(state: State): CallView[] {
  const { options, run } = state;
  if (options === undefined || run?.turn?.judged === undefined || run.end !== undefined) return [];
  const own = run.turn.calls
    .filter((call) => call.result === undefined && call.asked && permissionOf(call, options) === "ask")
    .map(viewOf);
  return shown([...own, ...awaitingInside(state)]);
}

/** The calls inside sub-agents that wait for somebody's approval. */
export function awaitingInside(state: State): CallView[] {
  return waitingInside(state).map(({ call, inside }) => viewInside(call, inside));
}

function pendingCalls(state: State): ToolCallPart[] {
  for (let at = state.history.length - 1; at >= 0; at -= 1) {
    const message = state.history.at(at);
    if (message?.role === "assistant") return callsOf(message);
  }
  return [];
}
