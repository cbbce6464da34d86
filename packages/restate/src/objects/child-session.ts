// The room of the child's session: drives a sub-agent's run in its own object, on behalf of the parent's.
//
// A repeated call finds the child as it is: ended, waiting for somebody, or not yet begun.

import type * as restate from "@restatedev/restate-sdk";
import {
  formatVersion,
  messageOf,
  type RondoError,
  renderResult,
  type Spent,
  type State,
  spentBy,
  type Thrown,
  ToolResult,
  thrownIn,
  toRondoError,
} from "@rondo/core";
import {
  answerOf,
  lostChild,
  notChildOf,
  pendingIn,
  readInput,
  resultOf,
  spentSince,
  subAgentOf,
  waitingIn,
} from "@rondo/core/driving";
import { type ChildCame, insideFact } from "../drive/child-calls.ts";
import { cleaned } from "../drive/journaled-calls.ts";
import { type Begun, drive, runStarted } from "../drive/session.ts";
import { jsonOf } from "../state/kv.ts";
import type { ChildRequest, EndRequest, Mail } from "../wire.ts";
import { agentToEnd, type WorkerParts } from "../worker-parts.ts";

/** Drives a sub-agent's run until it has ended or waits for somebody. */
export async function driveChild(
  ctx: restate.ObjectContext,
  worker: WorkerParts,
  request: ChildRequest,
): Promise<ChildCame> {
  const { agent: path, answers, parent, graceMs } = request;
  const { call: key, id, args } = request;
  const name = path.slice(path.lastIndexOf("/") + 1);
  const above = [{ session: parent.session, call: { key, id, name, args } }, ...request.above];
  let failed: Thrown | undefined;
  let foreign: RondoError | undefined;
  const { state, error, at } = await drive(
    ctx,
    worker,
    { agent: path, graceMs, above, task: () => taskOf(worker, request) },
    (before, begun) => {
      const { run } = before;
      if (run === undefined) {
        foreign = lostChild(name, ctx.key, request);
        if (foreign !== undefined) return { refused: foreign };
        failed = begun.failed;
        if (begun.input === undefined) return { facts: [], drives: false };
        const started = runStarted(worker.agentAt(path).resolved, begun.about, before, {
          ...begun.input,
          parent,
        });
        return { facts: [started], drives: true };
      }
      foreign = notChildOf(parent, ctx.key, run);
      if (foreign !== undefined) return { refused: foreign };
      // It has ended, but its parent was not told.
      if (run.end !== undefined) return { facts: [], drives: false };
      const mails = answers.map((answer): Mail => ({ n: 0, at: 0, agent: path, say: insideFact(answer) }));
      return { facts: [], mails, drives: true };
    },
    (waiting) => tellParent(ctx, worker, request, waiting),
  );
  // Another session of that name, or none any more: nothing was spent, and nothing of it must be ended.
  if (foreign !== undefined) return finished(request, at, `Error: ${foreign.message}`, true, request.told);
  // It could not be continued, and is left as it is. As for any child left behind, it is made sure that it ends.
  const lost = error?.kind === "storage" ? { lost: error.toJSON() } : {};
  if (error !== undefined)
    return { ...lost, ...finished(request, at, `Error: ${error.message}`, true, undefined) };
  if (state?.run === undefined)
    return {
      ...finished(request, at, "", true, undefined),
      ...(failed === undefined ? {} : { threw: failed }),
    };
  return cameOf(ctx.key, worker, request, state, at);
}

/** Ends a sub-agent's run that is no longer needed. Works without its agent. */
export async function endChild(
  ctx: restate.ObjectContext,
  worker: WorkerParts,
  { agent, call, told, reason, graceMs }: EndRequest,
): Promise<ChildCame> {
  const { state, error, at } = await drive(
    ctx,
    worker,
    { agent: agentToEnd(worker, agent), graceMs },
    ({ run }) => {
      const isOpen = run !== undefined && run.end === undefined;
      return { facts: isOpen ? [{ type: "abort_asked", reason }] : [], drives: true };
    },
  );
  const late = { type: "late_result", call } as const;
  if (error !== undefined) return { call, at, fact: { ...late, error: error.message, open: true } };
  if (state?.run === undefined) return { call, at, fact: late };
  const since = spentSince(spentBy(state), told);
  const { tokens, modelCalls, agents, uncounted } = since;
  // Nothing was spent beyond what was already reported.
  if (Math.max(tokens, modelCalls, agents, uncounted) === 0) return { call, at, fact: late };
  return { call, at, fact: { ...late, result: { content: [], isError: true, spent: since } } };
}

/** The input of a run that has not begun, or why there is none. Secrets are redacted by its own agent in the input, by the parent's in the reason. */
async function taskOf(
  worker: WorkerParts,
  { agent, parentAgent, args }: ChildRequest,
): Promise<Partial<Begun>> {
  const { tool, resolved } = worker.agentAt(agent);
  try {
    const check = await tool?.check(args);
    if (check?.ok !== true) throw new Error(check?.error ?? "no such sub-agent");
    const input = readInput(subAgentOf(tool)?.task(check.value) ?? "");
    return { input: cleaned({ type: "run_started", format: formatVersion, ...input }, resolved) };
  } catch (thrown) {
    const { message, why } = thrownIn(thrown);
    const parent = worker.agentAt(parentAgent).resolved;
    const said = (reason: string): string => cleaned({ type: "abort_asked", reason }, parent).reason;
    return { failed: { message: said(message), why: said(why) } };
  }
}

/** Tells the parent's session what waits in the child's. */
function tellParent(
  ctx: restate.ObjectContext,
  { services }: WorkerParts,
  { call, parent, parentAgent }: ChildRequest,
  state: State,
): void {
  const pending = pendingIn(state).map(waitingIn(ctx.key));
  ctx.genericSend({
    service: services.inbox,
    method: "post",
    key: parent.session,
    parameter: {
      agent: parentAgent,
      say: { type: "child_waits", call, pending, parked: false },
    },
    inputSerde: jsonOf(),
  });
}

/** What the parent is told about a run that has ended, or waits. */
function cameOf(
  session: string,
  worker: WorkerParts,
  request: ChildRequest,
  state: State,
  at: number,
): ChildCame {
  const { agent: path, call, parentAgent, told } = request;
  const spent = spentBy(state);
  const result = resultOf(state, session);
  if (result.parked !== undefined) {
    const pending = result.parked.pending.map(waitingIn(session));
    return {
      call,
      at,
      fact: { type: "child_waits", call, pending, parked: true, spent: spentSince(spent, told) },
    };
  }
  // The parent's model reads it, so the parent's texts apply.
  const { texts } = worker.agentAt(parentAgent).resolved.rules;
  try {
    const { content, isError } = answerOf(result, worker.agentAt(path).name, texts);
    return finished(request, at, content, isError, spent);
  } catch (thrown) {
    const came = finished(request, at, `Error: ${messageOf(thrown)}`, true, spent);
    return { ...came, unsaid: toRondoError(thrown).toJSON() };
  }
}

/** The result of the parent's call. @param spent in total; what was reported before is subtracted. Undefined: unknown */
function finished(
  { call, told }: ChildRequest,
  at: number,
  text: string,
  isError: boolean,
  spent: Spent | undefined,
): ChildCame {
  const since = spent === undefined ? undefined : spentSince(spent, told);
  const result = new ToolResult([{ type: "text", text }], isError, false, [], since);
  return { call, at, fact: { type: "tool_finished", call, result: renderResult(result) } };
}
