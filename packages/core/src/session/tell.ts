// The room of telling a session something: how a message is read, whatever the session is doing when it comes.

import { invalidRequest, toRondoError } from "../errors.ts";
import type { CallView } from "../events.ts";
import type { RunResult } from "../result.ts";

/** What is needed of a session. */
export interface Told<Output> {
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
  /** Whether a run was driven when it came. */
  readonly wasDriven: boolean;
  /** Whether calls waited for a person when it came. */
  readonly isInstead: boolean;
  /** Whether it is still queued. */
  waits(): boolean;
  /** Whether the session was drained since it came. */
  wasDrained(): boolean;
}

const instead = "The user wrote a message instead.";

/**
 * Has the session read a message: starts or continues a run, unless the active one reads it. Whoever writes instead of answering has
 * not approved: if calls waited when it came, they are denied, and a question is answered with it.
 * @returns the result of the run that read it, or that parked or was drained before
 */
export async function haveRead<Output>(session: Told<Output>, message: Message): Promise<RunResult<Output>> {
  const { text, isInstead, waits, wasDrained } = message;
  await session.settled();
  let { wasDriven } = message;
  while (waits()) {
    const { status } = session;
    if (status === "running") {
      await session.settled();
      wasDriven = true;
      continue;
    }
    // It was drained, or another process took it over: the message is read where the run goes on.
    if (wasDrained() || (status === "interrupted" && wasDriven)) break;
    const call = isInstead ? session.pending[0] : undefined;
    try {
      // The run may have ended without reading it: it was aborted, or failed.
      if (call === undefined) return await (status === "idle" ? session.continue() : session.resume());
      await (call.question === undefined ? session.deny(call.id, instead) : session.answer(call.id, text));
    } catch (thrown) {
      const isNeeded =
        waits() && session.status !== "running" && (call === undefined || isPending(session, call));
      // Otherwise somebody was faster, with another message or an answer.
      if (isNeeded || toRondoError(thrown).kind !== "invalid_request") throw thrown;
      await session.settled();
    }
    wasDriven = true;
  }
  const { result } = session;
  if (result !== undefined) return result;
  throw invalidRequest(
    waits()
      ? "tell: the session was drained before its first run; the message waits in it"
      : "tell: a message with this id was taken back before",
  );
}

const isPending = ({ pending }: Told<unknown>, { id }: CallView): boolean =>
  pending.some((one) => one.id === id);
