// The room of the driven session: a session as the drivers' suite speaks to it, whoever drives it.

import type { Always, CallView, Grant, Input, JsonObject, LogRecord, RunResult, Session } from "@rondo/core";

/** A session as the suite speaks to it. What is said while a run goes on resolves when it is kept. */
export interface DrivenSession {
  send(input: Input): Promise<RunResult>;
  continue(): Promise<RunResult>;
  compact(): Promise<RunResult>;
  clear(): Promise<void>;
  steer(text: string, id: string): void | Promise<void>;
  followUp(text: string, id: string): void | Promise<void>;
  withdraw(id: string): unknown;
  approve(call: string, options?: { always?: Always }): Promise<RunResult>;
  deny(call: string, reason?: string, options?: { stop?: boolean }): Promise<RunResult>;
  /** Arguments that do not fit are told to the model: not every driver can refuse them. */
  edit(call: string, args: JsonObject): Promise<RunResult>;
  answer(call: string, result: unknown): Promise<RunResult>;
  allow(grant: Grant): Promise<unknown>;
  revoke(id: string): Promise<void>;
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
    compact: () => session.compact(),
    clear: () => session.clear(),
    steer: (text, id) => session.steer(text, id),
    followUp: (text, id) => session.followUp(text, id),
    withdraw: (id) => session.withdraw(id),
    approve: (call, options) => session.approve(call, options),
    deny: (call, reason, options) => session.deny(call, reason, options),
    edit: (call, args) => session.edit(call, args, { misfit: "told" }),
    answer: (call, result) => session.answer(call, result),
    allow: (grant) => session.allow(grant),
    revoke: (id) => session.revoke(id),
    abort: (reason) => session.abort(reason),
    settled: () => session.settled(),
    pending: () => session.pending,
    records,
  };
}
