// The room of the result: what `run` and `send` resolve with.

import { invalidRequest } from "./errors.ts";
import type { CallView } from "./events.ts";
import { jsonCopy, shown } from "./json/copy.ts";
import { permissionOf } from "./loop/batch.ts";
import { waitingInside } from "./loop/children.ts";
import { viewInside, viewOf } from "./loop/driving/announce.ts";
import type { RunEnd } from "./loop/records.ts";
import { awaitsAnswer, type State } from "./loop/state.ts";
import { callsOf, type Message, type ToolCallPart, type Usage } from "./message.ts";

export interface RunResult<Output = unknown> {
  /** The final answer. If the run was refused, the refusal; if it landed without an answer or broke off, the last text in the history. */
  text: string;
  /** The typed output, if the agent has a schema and the run completed or landed with a value that fits. */
  output?: Output;
  /** How and why the run ended. Absent if it is parked. */
  end?: RunEnd;
  /** Set if the run waits for approvals or answers: give them with `approve`, `deny`, `answer`, … of `await agent.open(session)`, in this process or another. */
  parked?: { pending: CallView[] };
  /** With `autoExecuteTools: false`: the calls that you must run yourself. */
  pending?: ToolCallPart[];
  /** Sums of the usage that providers reported, including sub-agents; absent numbers are unknown. */
  usage: Usage;
  /** Cost in US dollars, including sub-agents; absent if unknown. */
  usd?: number;
  /** Number of model answers. */
  steps: number;
  /** Number of requests to models, including retries, summaries and the landing, without those of sub-agents. */
  modelCalls: number;
  /** Number of tool calls that ran or were answered with `answer`; not those that were refused, denied or skipped. */
  toolCalls: number;
  /** The whole conversation of the session. If the session can be continued, these are the messages of its history itself, frozen. */
  messages: Message[];
  /** The session's id: `agent.open` continues it. */
  session: string;
}

/**
 * The result of the session's last run, ended or parked.
 * @param isPassing the session cannot be continued: its messages belong to the caller, and need not be frozen
 */
export function resultOf<Output>(state: State, session: string, isPassing = false): RunResult<Output> {
  const { run } = state;
  if (run === undefined)
    throw invalidRequest(
      `session ${session} has no run yet: send() starts one; a run of another process is only in the journal that both open`,
    );
  const { usd, usage } = run.spend;
  const { checked, end } = run;
  const pending = end?.reason === "requires_action" ? pendingCalls(state) : undefined;
  return {
    text: run.text ?? run.lastText,
    ...(checked?.ok && (end?.reason === "completed" || end?.landed)
      ? { output: jsonCopy(checked.value) as Output }
      : {}),
    ...(end === undefined ? { parked: { pending: pendingIn(state) } } : { end }),
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

/** The calls that wait for somebody outside, for an approval or an answer, including those inside sub-agents. */
export function pendingIn(state: State): CallView[] {
  const { options, run } = state;
  if (options === undefined || run?.turn?.judged === undefined || run.end !== undefined) return [];
  const own = run.turn.calls
    .filter(
      (call) =>
        call.result === undefined &&
        (awaitsAnswer(call) || (call.asked && permissionOf(call, options) === "ask")),
    )
    .map(viewOf);
  return shown([...own, ...pendingInside(state)]);
}

/** The calls inside sub-agents that wait for somebody outside. */
export function pendingInside(state: State): CallView[] {
  return waitingInside(state).map(({ call, inside }) => viewInside(call, inside));
}

function pendingCalls(state: State): ToolCallPart[] {
  for (let at = state.history.length - 1; at >= 0; at -= 1) {
    const message = state.history.at(at);
    if (message?.role === "assistant") return callsOf(message);
  }
  return [];
}
