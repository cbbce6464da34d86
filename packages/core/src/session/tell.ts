// The room of telling a session something: how a message is read, whatever the session is doing when it comes.

import { invalidRequest, toRondoError } from "../errors.ts";
import type { CallView } from "../events.ts";
import type { RunResult } from "../result.ts";

/** A session whose calls are answered, here or on Restate. */
interface Answered<Output> {
  deny(call: string, reason: string): Promise<RunResult<Output>>;
  answer(call: string, text: string): Promise<RunResult<Output>>;
}

/** What is needed of a session. */
export interface Told<Output> extends Answered<Output> {
  readonly status: "idle" | "running" | "parked" | "interrupted";
  readonly pending: readonly CallView[];
  readonly result: RunResult<Output> | undefined;
  settled(): Promise<void>;
  continue(): Promise<RunResult<Output>>;
  resume(): Promise<RunResult<Output>>;
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
  /** Whether the journal has it. */
  isStored(): boolean;
  /** Reads what others have written to the session. */
  look(): void | Promise<void>;
  /** Whether the session was drained since it came. */
  wasDrained(): boolean;
}

/** Answers a call that waits for a person who has written a message instead: whoever does has not approved. */
export const answerInstead = <Output>(
  session: Answered<Output>,
  { id, question }: CallView,
  text: string,
): Promise<RunResult<Output>> =>
  question === undefined ? session.deny(id, "The user wrote a message instead.") : session.answer(id, text);

/** How often a run is started if other writers are faster every time. */
const mostTries = 3;

/**
 * Has the session read a message: starts or continues a run, unless the active one reads it. If calls waited when it came, it takes the
 * place of their answers.
 * @returns the result of the run that read it, or that parked or was drained before, or is driven by another process
 */
export async function haveRead<Output>(session: Told<Output>, message: Message): Promise<RunResult<Output>> {
  const { text, isInstead, waits, isStored, look, wasDrained } = message;
  await session.settled();
  let { wasDriven } = message;
  let tries = 1;
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
      await answerInstead(session, call, text);
    } catch (thrown) {
      const { kind } = toRondoError(thrown);
      if (kind !== "invalid_request" && kind !== "conflict") throw thrown;
      await look();
      await session.settled();
      // Another process drives the run: it reads the message, if the journal has it.
      if (kind === "conflict" && isStored() && session.status !== "idle") break;
      // Somebody was faster: with another message, an answer, or a run.
      const isLate = call === undefined ? status !== session.status : !isPending(session, call);
      const mayTry = kind === "conflict" && isStored() && tries < mostTries;
      if (waits() && !isLate && !mayTry) throw thrown;
      tries += 1;
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
