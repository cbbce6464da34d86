// The room of tasks: a tool that its server runs as a task only. An ordinary call of it is refused, so it is started as one, asked about
// until it has ended, and cancelled with its call.

import type { JsonObject } from "@rondo/core";
import type { McpCallOptions } from "./client.ts";
import { takingAnything } from "./unchecked.ts";
import { untilAborted } from "./until-aborted.ts";

interface Task {
  taskId: string;
  status: string;
  statusMessage?: string | undefined;
}

type Told =
  | { type: "taskCreated" | "taskStatus"; task: Task }
  | { type: "result"; result: unknown }
  | { type: "error"; error: unknown };

/** What the SDK's first clients have for tasks. */
export interface Tasks {
  callToolStream(
    params: { name: string; arguments: JsonObject },
    resultSchema: object,
    options: McpCallOptions & { task: object },
  ): AsyncIterable<Told>;
  getTaskResult(id: string, resultSchema: object): Promise<unknown>;
  cancelTask(id: string): Promise<unknown>;
}

/** A client's way to run a tool as a task; undefined if the tool can be called, or the client has none. */
export function tasksFor(tool: object, client: object): Tasks | undefined {
  const { execution } = tool as { execution?: { taskSupport?: unknown } | null };
  if (execution?.taskSupport !== "required") return undefined;
  const { tasks } = (client as { experimental?: { tasks?: Tasks } }).experimental ?? {};
  return typeof tasks?.callToolStream === "function" ? tasks : undefined;
}

/** Runs a tool as a task. @returns the server's answer, unchecked */
export async function runTask(
  tasks: Tasks,
  params: { name: string; arguments: JsonObject },
  options: McpCallOptions,
): Promise<unknown> {
  const { signal } = options;
  let last: Task | undefined;
  const listening = async (): Promise<unknown> => {
    for await (const told of tasks.callToolStream(params, takingAnything, { ...options, task: {} })) {
      if (told.type === "result") return told.result;
      if (told.type === "error") return answerAfter(told.error, last, tasks);
      const message = told.task.statusMessage ?? told.task.status;
      if (message !== (last?.statusMessage ?? last?.status)) options.onprogress({ progress: 0, message });
      last = told.task;
    }
    throw new Error(`the task of ${params.name} ended without a result`);
  };
  return untilAborted(listening(), signal).finally(() => {
    if (signal.aborted && last !== undefined) tasks.cancelTask(last.taskId).catch(() => {});
  });
}

/** A failed task has an answer too, which says why: the client only says that it failed. */
async function answerAfter(error: unknown, last: Task | undefined, tasks: Tasks): Promise<unknown> {
  if (last?.status !== "failed") throw error;
  try {
    return await tasks.getTaskResult(last.taskId, takingAnything);
  } catch {
    throw last.statusMessage === undefined ? error : new Error(last.statusMessage, { cause: error });
  }
}
