// The room of the open run: whether another one may start in its session, and what to do if not.

import { invalidRequest, type RondoError } from "../errors.ts";
import type { CallView } from "../events.ts";
import type { Fact } from "../loop/records.ts";
import { isOpen, type State } from "../loop/state.ts";

/** Whether the open run was asked to abort. `unwritten`: facts that the loop has not got to yet. */
export const isAborting = ({ run }: State, unwritten: readonly Fact[]): boolean =>
  isOpen(run) && (run?.abort !== undefined || unwritten.some(({ type }) => type === "abort_asked"));

interface Busy {
  readonly id: string;
  readonly status: string;
  readonly pending: readonly CallView[];
}

/** The error of an operation that would start a run while a session has an open one. */
export function hasRun(session: Busy, status: string = session.status): RondoError {
  const { id: name, pending } = session;
  // Whether it is driven elsewhere is not known here: a lease tells, and not every journal has one.
  if (status === "interrupted")
    return invalidRequest(
      `session ${name} has a run that is interrupted, or another Session or process drives it: resume() it if it was interrupted, else wait for its end, or use the one that drives it`,
    );
  const what =
    status === "parked" && pending.length > 0
      ? `${waitsFor(pending)}; or abort() it`
      : "wait for it or resume() it, steer() it, or queue with followUp()";
  return invalidRequest(`session ${name} has a run that is ${status}: ${what}`);
}

/** What to do with each waiting call: one whose tool has begun, and asks a question, can only be answered. */
function waitsFor(pending: readonly CallView[]): string {
  const named = (calls: readonly CallView[]): string =>
    calls.map((call) => `${call.id} (${call.name})`).join(", ");
  const approvals = pending.filter(({ question }) => question === undefined);
  const questions = pending.filter(({ question }) => question !== undefined);
  return [
    ...(approvals.length === 0 ? [] : [`approve(), deny() or edit() what it waits for: ${named(approvals)}`]),
    ...(questions.length === 0 ? [] : [`answer() what its tool asks: ${named(questions)}`]),
  ].join("; ");
}
