// The room of one drive: opens a session in its object, drives its run until it ends or waits for somebody, and writes
// the outcome.
//
// What the drive begins with depends on the reason for it; everything else is always the same.

import * as restate from "@restatedev/restate-sdk";
import {
  canonical,
  checkToken,
  emptyState,
  type Fact,
  formatVersion,
  type JsonObject,
  type LeaseState,
  type LogRecord,
  parsedJson,
  RecordReader,
  RondoError,
  reduceAll,
  type State,
  type Thrown,
} from "@rondo/core";
import { inFlight, newsOf, type readInput, type SessionParts } from "@rondo/core/driving";
import type { Above } from "../hub.ts";
import { shardOf } from "../names.ts";
import { jsonOf, kvOf } from "../state/kv.ts";
import { createdAt } from "../state/session-journal.ts";
import { RecordStore } from "../state/store.ts";
import { Taken } from "../state/taken-mails.ts";
import { type ListenRequest, linesOf, type Mail, type TakenData } from "../wire.ts";
import type { AgentAt, WorkerParts } from "../worker-parts.ts";
import { AbandonedRuns } from "./abandoned-runs.ts";
import { ChildCalls } from "./child-calls.ts";
import { RestateDriver } from "./driver.ts";
import type { StepOutcome } from "./journaled-step.ts";

/** What a drive begins with. */
export type Opening = { facts: Fact[]; mails?: Mail[]; drives: boolean } | { refused: RondoError };

export interface Begun extends StepOutcome {
  code: string;
  about?: JsonObject;
  /** The input of a sub-agent, or why there is none. */
  input?: ReturnType<typeof readInput>;
  failed?: Thrown;
}

export interface Outcome {
  /** Absent: the drive was refused. */
  state?: State;
  driver?: RestateDriver;
  error?: RondoError;
  at: number;
}

/** The fact that starts a run of an agent in this session. */
export function runStarted(
  resolved: AgentAt["resolved"],
  about: JsonObject | undefined,
  state: State,
  what: Omit<Fact & { type: "run_started" }, "type" | "format" | "options" | "about">,
): Fact {
  // Options are recorded only when they changed.
  const same = state.options !== undefined && sameOptions(state.options, resolved.options);
  return {
    type: "run_started",
    format: formatVersion,
    ...what,
    ...(same ? {} : { options: resolved.options }),
    ...(about === undefined ? {} : { about }),
  };
}

const sameOptions = (one: State["options"], other: State["options"]): boolean =>
  canonical(plain(one)) === canonical(plain(other));

/** Options as they come out of a record. */
const plain = (options: State["options"]): JsonObject => parsedJson<JsonObject>(JSON.stringify(options));

/** Whose run is driven, and how. */
interface Wanted {
  agent: string;
  /** The id that the requester gave the run. */
  run?: string;
  graceMs?: number;
  above?: readonly Above[];
  task?: () => Promise<Partial<Begun>>;
}

/** Opens the session, and drives its run until it ends or waits for somebody. */
export async function drive(
  ctx: restate.ObjectContext,
  worker: WorkerParts,
  wanted: Wanted,
  open: (state: State, begun: Begun) => Opening,
  waiting: (state: State) => void = () => {},
): Promise<Outcome> {
  const { agent: path, task } = wanted;
  const opened = await openedIn(ctx, worker, wanted, waiting).catch(whyNot);
  if (opened instanceof RondoError) return { error: opened, at: 0 };
  const { agent, driver, parts, store, lines } = opened;
  let ended = false;
  ctx.request().attemptCompletedSignal.addEventListener("abort", () => driver.leave(ended), { once: true });
  const begun = await driver.start<Begun>(async () => ({
    code: agent.code,
    ...(agent.about === undefined ? {} : { about: agent.about }),
    ...(await task?.()),
  }));
  if (begun.code !== agent.code)
    throw new Error(
      `session ${ctx.key}: this invocation was begun by other code than is here now (agent ${path}); ` +
        "deploy changed code at an address of its own and register it, and keep the old until its invocations are over",
    );
  const { at } = begun;
  // As recorded at the beginning; a replay may run in another process.
  parts.about = begun.about;
  try {
    const { drives } = await begin(ctx.key, opened, wanted.run, begun, open);
    const isOpen = driver.state.run !== undefined && driver.state.run.end === undefined;
    if (isOpen && drives) {
      if (store.seq === 0) tellIndex(ctx, worker.services.index, driver.state, at);
      // From now on readers see that it is being driven.
      driver.flush(true);
      const { how, until } = await driver.run();
      if (how === "parked" && until !== undefined) wakeIn(ctx, worker, path, until - driver.state.now);
    }
    driver.flush(false);
    if (driver.written.length > 0) tellIndex(ctx, worker.services.index, driver.state, createdAt(lines, at));
    ended = true;
    return { state: driver.state, driver, at: driver.state.now };
  } catch (thrown) {
    const isOurs = thrown instanceof RondoError;
    // Any other error makes Restate retry from the beginning: the drive has not ended.
    if (!isOurs && !(thrown instanceof restate.TerminalError)) throw thrown;
    driver.flush(false);
    ended = true;
    if (!isOurs) throw thrown;
    return { error: thrown, at };
  }
}

/**
 * Makes the first records of a drive: what has become of a run that is open, then what the opening asks for.
 * @param run the id that the requester gave the run
 * @throws RondoError why nothing is begun
 */
async function begin(
  session: string,
  { driver, parts, lease, abandoned, state }: Opened,
  run: string | undefined,
  begun: Begun,
  open: (state: State, begun: Begun) => Opening,
): Promise<{ drives: boolean }> {
  if (abandoned.take(run)) throw new RondoError("aborted", "the run was not started: its signal had fired");
  checkToken(session, lease ?? undefined, undefined, begun.at);
  const opening = open(state, begun);
  if ("refused" in opening) throw opening.refused;
  if (state.run !== undefined && state.run.end === undefined) {
    const news = newsOf(session, state.options, parts.resolved);
    const about = begun.about === undefined ? {} : { about: begun.about };
    // Work in flight when an earlier invocation was killed is lost, and that is recorded.
    if (news.changed !== undefined || inFlight(state.run))
      driver.begin([{ type: "opened", by: "session", ...about, ...news }]);
  }
  driver.begin(opening.facts);
  if (opening.mails !== undefined) await driver.take(opening.mails);
  return { drives: opening.drives };
}

/**
 * The agent is unknown, or this code cannot read the records. A retry would not help: an invocation stays with the
 * deployment it came to.
 */
function whyNot(thrown: unknown): RondoError {
  if (thrown instanceof RondoError) return thrown;
  throw thrown;
}

interface Opened {
  agent: AgentAt;
  driver: RestateDriver;
  parts: SessionParts;
  store: RecordStore;
  lines: readonly string[];
  lease: LeaseState | null;
  abandoned: AbandonedRuns;
  /** The state according to its records. */
  state: State;
}

/** The session as its object stores it, with what drives it. */
async function openedIn(
  ctx: restate.ObjectContext,
  worker: WorkerParts,
  { agent: path, run, graceMs, above = [] }: Wanted,
  waiting: (state: State) => void,
): Promise<Opened> {
  const agent = worker.agentAt(path);
  const kv = kvOf(ctx);
  const keys = await kv.keys();
  const { store, lines } = await RecordStore.load(kv, keys);
  const lease = keys.includes("lease") ? await ctx.get<LeaseState>("lease") : null;
  const abandoned = await AbandonedRuns.in(ctx, keys);
  const data = keys.includes("mail") ? await ctx.get<TakenData>("mail") : null;
  const { rules, options } = agent.resolved;
  const resolved =
    graceMs === undefined
      ? agent.resolved
      : { ...agent.resolved, options: { ...options, abortGraceMs: Math.min(options.abortGraceMs, graceMs) } };
  const records = await recordsOf(ctx.key, lines);
  // The state at the last model call: the next request is compared with it.
  const asked = records.findLastIndex(({ type }) => type === "model_started");
  const before = reduceAll(records.slice(0, Math.max(0, asked)), rules, emptyState);
  const state = reduceAll(records.slice(Math.max(0, asked)), rules, before);
  const taken = new Taken(data ?? undefined);
  const parts: SessionParts = {
    id: ctx.key,
    journal: noJournal,
    blobs: agent.blobs,
    resolved,
    logger: agent.logger,
    about: agent.about,
    clock: agent.clock,
    resolveWith: () => resolved,
  };
  const driver = new RestateDriver(
    {
      ctx,
      parts,
      store,
      hub: worker.hub,
      workplaces: worker.workplaces,
      above,
      children: new ChildCalls(ctx, worker.services, { session: ctx.key, agent: path, above }),
      run,
      unwanted: abandoned,
      listen: (awakeable) =>
        ctx.genericSend<ListenRequest>({
          service: worker.services.inbox,
          method: "listen",
          key: ctx.key,
          parameter: { awakeable, taken: taken.data },
          inputSerde: jsonOf(),
        }),
      waiting,
      gate: worker.gate,
    },
    state,
    taken,
    asked < 0 ? undefined : before,
  );
  return { agent, driver, parts, store, lines, lease, abandoned, state };
}

/** Schedules a call that continues a run waiting for a time. */
function wakeIn(ctx: restate.ObjectContext, { services }: WorkerParts, agent: string, ms: number): void {
  ctx.genericSend({
    service: services.session,
    method: "wake",
    key: ctx.key,
    parameter: { agent },
    inputSerde: jsonOf(),
    delay: Math.max(0, ms),
  });
}

/** Sub-agents keep their sessions in objects of their own: there is no journal to give. */
const noJournal: SessionParts["journal"] = {
  append: () => {
    throw new RondoError("internal", "a session that Restate drives is written by its object alone");
  },
  read: () => [],
  list: () => [],
};

async function recordsOf(session: string, lines: readonly string[]): Promise<LogRecord[]> {
  if (lines.length === 0) return [];
  const records = lines.flatMap(linesOf);
  // The reader migrates older formats.
  return new RecordReader({ ...noJournal, read: (_, from = 0) => records.slice(from) }, session).read();
}

/** Tells the index how long this session is. */
function tellIndex(ctx: restate.ObjectContext, index: string, { seq, now }: State, created: number): void {
  ctx.genericSend({
    service: index,
    method: "note",
    key: shardOf(ctx.key),
    parameter: { id: ctx.key, length: seq, createdAt: created, updatedAt: now },
    inputSerde: jsonOf(),
  });
}
