// The room of telling a session something: how a message is read, whatever the session is doing when it comes.

import { type CallView, RondoError, type RunResult } from "@rondo/core";

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
  /** The session's status when it came. */
  readonly came: "idle" | "running" | "parked";
  /** Whether it is still queued. */
  waits(): boolean;
}

/** Has the session read a message: as a local session's `tell` does. */
export async function haveRead<Output>(
  session: Told<Output>,
  { text, came, waits }: Message,
): Promise<RunResult<Output>> {
  while (waits()) {
    const status = await session.status();
    const [call] = came === "parked" ? await session.pending() : [];
    if (status === "running") await session.settled();
    else if (call !== undefined) await answerInstead(session, call, text);
    // The run may have ended without reading it: it was aborted, or failed.
    else if (status === "idle") return session.continue();
    else break;
  }
  const result = await session.settled();
  if (result === undefined)
    throw new RondoError("invalid_request", "tell: a message with this id was taken back before");
  return result;
}

/** Whoever writes instead of answering has not approved. */
async function answerInstead<Output>(
  session: Told<Output>,
  { id, question }: CallView,
  text: string,
): Promise<void> {
  try {
    await (question === undefined
      ? session.deny(id, "The user wrote a message instead.")
      : session.answer(id, text));
  } catch (thrown) {
    // Somebody else has answered it by now.
    if ((await session.pending()).some((one) => one.id === id)) throw thrown;
  }
}
