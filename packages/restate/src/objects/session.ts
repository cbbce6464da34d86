// The room of the session object: a virtual object per session, so that one invocation at a time writes it.
//
// `run`, `take` and `child` drive; `append`, `lease` and `delete` are for those who use the session as a journal; `read` is
// open to everybody at any time. An invocation is one turn of the user, or the rest of one after it waited for somebody: so
// a replay after a crash stays short, and old code can be retired once its invocations are over. An invocation stays with
// the deployment it began with, and is replayed with its code. Code changed in place would diverge from the journal:
// that is refused with a message before it does anything. A parked run is in no invocation; the next one records what changed.

import * as restate from "@restatedev/restate-sdk";
import { type LeaseState, RondoError, type State } from "@rondo/core";
import { checkContinuable, pendingIn } from "@rondo/core/driving";
import type { ChildCame } from "../drive/child-calls.ts";
import { drive, type Outcome, runStarted } from "../drive/session.ts";
import { append, erase, lease, readPage, refusable } from "../state/session-journal.ts";
import { Taken } from "../state/taken-mails.ts";
import {
  type AppendRequest,
  type ChildRequest,
  type DeleteAsk,
  type Driven,
  type EndRequest,
  type LeaseAsk,
  type Mail,
  type Page,
  pageBytes,
  type ReadRequest,
  type Refusable,
  type RunRequest,
  type TakenData,
} from "../wire.ts";
import { agentToEnd, type WorkerParts } from "../worker-parts.ts";
import { driveChild, endChild } from "./child-session.ts";

export function sessionObject(worker: WorkerParts): restate.VirtualObjectDefinition<string, unknown> {
  const { services } = worker;
  const { shared } = restate.handlers.object;
  return restate.object({
    name: services.session,
    // Otherwise all state comes with each invocation, and with a session of 32 MiB the server pauses it.
    options: { enableLazyState: true },
    handlers: {
      run: async (ctx: restate.ObjectContext, request: RunRequest): Promise<Driven> => {
        const { agent, id, ...what } = request;
        return drivenOf(
          await drive(
            ctx,
            worker,
            { agent, ...(id === undefined ? {} : { run: id }) },
            (state, { about }) => {
              const { run } = state;
              if (run !== undefined && run.end === undefined) return { refused: hasRun(ctx.key, state) };
              if (isContinuation(what)) checkContinuable(ctx.key, state);
              return {
                facts: [runStarted(worker.agentAt(agent).resolved, about, state, what)],
                drives: true,
              };
            },
          ),
        );
      },
      take: async (ctx: restate.ObjectContext, mail: Mail): Promise<Driven> => {
        const taken = new Taken((await ctx.get<TakenData>("mail")) ?? undefined);
        if (taken.has(mail.n)) return { seq: -1 };
        const { say } = mail;
        const agent = say.type === "abort_asked" ? agentToEnd(worker, mail.agent) : mail.agent;
        return drivenOf(
          await drive(ctx, worker, { agent }, (state, { about }) => {
            const isOpen = state.run !== undefined && state.run.end === undefined;
            if (say.type !== "mode" || isOpen) return { facts: [], mails: [mail], drives: true };
            // The run to be compacted has ended meanwhile: compaction becomes a run of its own.
            const what = { input: [], only: "compaction" as const };
            const started = runStarted(worker.agentAt(agent).resolved, about, state, what);
            return { facts: [started], mails: [mail], drives: true };
          }),
        );
      },
      wake: async (ctx: restate.ObjectContext, { agent }: { agent: string }): Promise<Driven> =>
        drivenOf(
          await drive(ctx, worker, { agent }, ({ run }) => ({
            facts: run === undefined || run.end !== undefined ? [] : [{ type: "woke" }],
            drives: true,
          })),
        ),
      child: (ctx: restate.ObjectContext, request: ChildRequest): Promise<ChildCame> =>
        driveChild(ctx, worker, request),
      end: (ctx: restate.ObjectContext, request: EndRequest): Promise<ChildCame> =>
        endChild(ctx, worker, request),
      append: (ctx: restate.ObjectContext, request: AppendRequest): Promise<Refusable<number>> =>
        refusable(() => append(ctx, services.index, request)),
      lease: (ctx: restate.ObjectContext, ask: LeaseAsk): Promise<Refusable<LeaseState | null>> =>
        refusable(() => lease(ctx, ask)),
      delete: (ctx: restate.ObjectContext, ask: DeleteAsk): Promise<Refusable<boolean>> =>
        refusable(() => erase(ctx, worker, ask)),
      read: shared(
        (ctx: restate.ObjectSharedContext, { from }: ReadRequest): Promise<Page> => readPage(ctx, from),
      ),
    },
  }) as restate.VirtualObjectDefinition<string, unknown>;
}

/** Whether a run has no task of its own. Another may have read the messages that it was to begin with. */
const isContinuation = ({ input, history, only }: Omit<RunRequest, "agent">): boolean =>
  input.length === 0 && history === undefined && only === undefined;

/** When nobody drives it now, it waits for somebody, or its invocation was killed at the server. */
function hasRun(session: string, state: State): RondoError {
  const how =
    pendingIn(state).length > 0
      ? "parked: answer what it waits for"
      : "interrupted: any word to it sets it going again, so abort() it";
  return new RondoError(
    "invalid_request",
    `session ${session} has a run that is ${how}, steer() it, or queue with followUp()`,
  );
}

const drivenOf = ({ state, driver, error }: Outcome): Driven => {
  if (error !== undefined) return { seq: -1, error: error.toJSON() };
  const lines = driver?.written ?? [];
  const seq = state?.seq ?? 0;
  const text = lines.join("\n");
  return text.length > pageBytes / 2 ? { seq } : { seq, from: seq - lines.length, text };
};
