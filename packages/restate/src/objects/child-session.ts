// The room of the child's session: a sub-agent's run, driven by the object of its session for the one of its parent.
//
// Whoever calls it again finds it where it is: it came to its end, it waits for somebody, or it has not begun.

import type * as restate from "@restatedev/restate-sdk";
import { messageOf, renderResult, type State, spentBy, ToolResult, toRondoError } from "@rondo/core";
import {
  answerOf,
  awaitingApproval,
  readInput,
  resultOf,
  spentSince,
  subAgentOf,
  waitingIn,
} from "@rondo/core/driving";
import type { ChildCame } from "../drive/child-calls.ts";
import { type Begun, drive, runStarted } from "../drive/session.ts";
import { jsonOf } from "../state/kv.ts";
import type { ChildRequest, Mail } from "../wire.ts";
import type { WorkerParts } from "../worker-parts.ts";

/** A sub-agent's run, until it has ended or waits for somebody. */
export async function driveChild(
  ctx: restate.ObjectContext,
  worker: WorkerParts,
  request: ChildRequest,
): Promise<ChildCame> {
  const { agent: path, call, args, parent, answers, told, graceMs, parentAgent } = request;
  const agent = worker.agentAt(path);
  const { tool } = agent;
  const toParent = (state: State): void => {
    const pending = awaitingApproval(state).map(waitingIn(ctx.key));
    ctx.genericSend({
      service: worker.services.inbox,
      method: "post",
      key: parent.session,
      parameter: {
        agent: parentAgent,
        say: { type: "child_waits", call, pending, parked: false },
      },
      inputSerde: jsonOf(),
    });
  };
  const task = async (): Promise<Partial<Begun>> => {
    try {
      const check = await tool?.check(args);
      if (check?.ok !== true) return { failed: check?.error ?? "no such sub-agent" };
      return { input: readInput(subAgentOf(tool)?.task(check.value) ?? "") };
    } catch (thrown) {
      return { failed: toRondoError(thrown).message };
    }
  };
  let failed: string | undefined;
  const { state, error, at } = await drive(
    ctx,
    worker,
    { agent: path, graceMs, task },
    (before, begun) => {
      const { run } = before;
      if (run === undefined) {
        failed = begun.failed;
        if (begun.input === undefined) return { facts: [], drives: false };
        return {
          facts: [runStarted(agent.resolved, begun.about, before, { ...begun.input, parent })],
          drives: true,
        };
      }
      // It came to its end, and its parent has not heard of it.
      if (run.end !== undefined) return { facts: [], drives: false };
      const mails = answers.map(
        ({ inside, said }): Mail => ({
          n: 0,
          at: 0,
          agent: path,
          say: { type: "answer", call: inside, said },
        }),
      );
      return { facts: [], mails, drives: true };
    },
    toParent,
  );
  const toolFinished = (text: string, isError: boolean, spent = told): ChildCame => ({
    call,
    at,
    fact: {
      type: "tool_finished",
      call,
      result: renderResult(
        new ToolResult([{ type: "text", text }], isError, false, [], spentSince(spent, told)),
      ),
    },
  });
  if (error !== undefined || state?.run === undefined)
    return toolFinished(`Error: ${error?.message ?? failed ?? "the sub-agent did not start"}`, true);
  const spent = spentBy(state);
  const result = resultOf(state, ctx.key);
  if (result.parked === undefined) {
    // The parent's model reads it: in its words.
    const { texts } = worker.agentAt(parentAgent).resolved.rules;
    try {
      const { content, isError } = answerOf(result, agent.name, texts);
      return toolFinished(content, isError, spent);
    } catch (thrown) {
      const came = toolFinished(`Error: ${messageOf(thrown)}`, true, spent);
      return { ...came, unsaid: toRondoError(thrown).toJSON() };
    }
  }
  const pending = result.parked.pending.map(waitingIn(ctx.key));
  return {
    call,
    at,
    fact: { type: "child_waits", call, pending, parked: true, spent: spentSince(spent, told) },
  };
}
