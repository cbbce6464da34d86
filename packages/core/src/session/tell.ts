// The room of telling a session something: how a message is read, whatever the session is doing when it comes.

import { invalidRequest } from "../errors.ts";
import type { CallView } from "../events.ts";
import type { RunResult } from "../result.ts";

/** What is needed of a session. */
interface Told<Output> {
  readonly status: "idle" | "running" | "parked" | "interrupted";
  readonly pending: readonly CallView[];
  readonly result: RunResult<Output> | undefined;
  settled(): Promise<void>;
  continue(): Promise<RunResult<Output>>;
  resume(): Promise<RunResult<Output>>;
  deny(call: string, reason: string): Promise<RunResult<Output>>;
  answer(call: string, text: string): Promise<RunResult<Output>>;
}

/** A message that was queued. */
interface Message {
  readonly text: string;
  /** The session's status when it came. */
  readonly came: Told<unknown>["status"];
  /** Whether it is still queued. */
  waits(): boolean;
}

const instead = "The user wrote a message instead.";

/**
 * Has the session read a message: starts or continues a run, unless the active one reads it. Whoever writes instead of answering has
 * not approved: calls that waited when it came are denied, and a question is answered with it.
 * @returns the result of the run that read it, or that parked or was drained before
 */
export async function haveRead<Output>(
  session: Told<Output>,
  { text, came, waits }: Message,
): Promise<RunResult<Output>> {
  await session.settled();
  let wasDriven = came === "running";
  while (waits()) {
    const { status } = session;
    if (status === "running") {
      await session.settled();
      wasDriven = true;
      continue;
    }
    // It was drained: the message is read where the run goes on.
    if (status === "interrupted" && wasDriven) break;
    const call = came === "parked" ? session.pending[0] : undefined;
    // The run may have ended without reading it: it was aborted, or failed.
    if (call === undefined) return status === "idle" ? session.continue() : session.resume();
    await (call.question === undefined ? session.deny(call.id, instead) : session.answer(call.id, text));
    wasDriven = true;
  }
  const { result } = session;
  if (result === undefined) throw invalidRequest("tell: a message with this id was taken back before");
  return result;
}
