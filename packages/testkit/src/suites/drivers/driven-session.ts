// The room of the driven session: a session as the drivers' suite speaks to it, whoever drives it.

import type { CallView, Input, JsonObject, LogRecord, RunResult, Session } from "@rondo/core";

/** A session as the suite speaks to it. What is said while a run goes on resolves when it is kept. */
export interface DrivenSession {
  send(input: Input): Promise<RunResult>;
  continue(): Promise<RunResult>;
  steer(text: string, id: string): void | Promise<void>;
  followUp(text: string, id: string): void | Promise<void>;
  withdraw(id: string): unknown;
  approve(call: string): Promise<RunResult>;
  deny(call: string, reason?: string): Promise<RunResult>;
  /** Arguments that do not fit are told to the model: not every driver can refuse them. */
  edit(call: string, args: JsonObject): Promise<RunResult>;
  answer(call: string, result: unknown): Promise<RunResult>;
  abort(reason: string): void | Promise<void>;
  /** Resolves when nobody drives any more. */
  settled(): Promise<unknown>;
  pending(): readonly CallView[] | Promise<readonly CallView[]>;
  records(): readonly LogRecord[] | Promise<readonly LogRecord[]>;
}

/** A session of core's as the suite speaks to one. */
export function coreSession(
  session: Session,
  records: () => LogRecord[] | Promise<LogRecord[]>,
): DrivenSession {
  return {
    send: (input) => session.send(input),
    continue: () => session.continue(),
    steer: (text, id) => session.steer(text, id),
    followUp: (text, id) => session.followUp(text, id),
    withdraw: (id) => session.withdraw(id),
    approve: (call) => session.approve(call),
    deny: (call, reason) => session.deny(call, reason),
    edit: (call, args) => session.edit(call, args, { misfit: "told" }),
    answer: (call, result) => session.answer(call, result),
    abort: (reason) => session.abort(reason),
    settled: () => session.settled(),
    pending: () => session.pending,
    records,
  };
}
