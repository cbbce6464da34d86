// The room of telling a session something: how a message is read, whatever the session is doing when it comes.

import { type CallView, RondoError, type RunResult } from "@rondo/core";
import { answerInstead } from "@rondo/core/driving";

/** What is needed of a session. */
interface Told<Output> {
  status(): Promise<"idle" | "running" | "parked">;
  pending(): Promise<readonly CallView[]>;
  settled(): Promise<RunResult<Output> | undefined>;
  continue(): Promise<RunResult<Output>>;
  deny(call: string, reason: string): Promise<RunResult<Output>>;
  answer(call: string, text: string): Promise<RunResult<Output>>;
}

/** A message that the session has taken. */
interface Message {
  readonly text: string;
  /** Whether calls waited for a person when it came. */
  readonly isInstead: boolean;
  /** Whether it is still queued. */
  waits(): boolean;
}

/** Has the session read a message: as a local session's `tell` does. */
export async function haveRead<Output>(
  session: Told<Output>,
  { text, isInstead, waits }: Message,
): Promise<RunResult<Output>> {
  while (waits()) {
    const status = await session.status();
    if (status === "running") {
      await session.settled();
      continue;
    }
    const [call] = isInstead ? await session.pending() : [];
    if (call === undefined && status === "parked") break;
    try {
      // The run may have ended without reading it: it was aborted, or failed.
      if (call === undefined) return await session.continue();
      await answerInstead(session, call, text);
    } catch (thrown) {
      const isPending = call === undefined || (await session.pending()).some(({ id }) => id === call.id);
      const isNeeded = isPending && (await session.status()) === status && waits();
      // Otherwise somebody was faster, with another message or an answer.
      if (isNeeded || !(thrown instanceof RondoError) || thrown.kind !== "invalid_request") throw thrown;
    }
  }
  const result = await session.settled();
  if (result === undefined)
    throw new RondoError("invalid_request", "tell: a message with this id was taken back before");
  return result;
}
