// The room of the session object: one virtual object per session, so that one invocation writes it at a time.
//
// `run`, `take` and `child` drive; `append` and `lease` are for those who use the session as a journal; `read` is for
// everybody, at any time. An invocation is one turn of the user, or what is left of one after it waited for somebody:
// so what is gone through again after a crash stays short, and old code can be retired once its invocations are over.
//
// An invocation stays with the deployment it began with, and goes through its past again with its code. Code that was
// changed in place would go another way than it did: that is refused in words, before anything is done by it. A run
// that waits for somebody is in no invocation; what goes on with it says what changed, as after any other pause.

import * as restate from "@restatedev/restate-sdk";
import {
  canonical,
  checkAppend,
  checkToken,
  emptyState,
  type Fact,
  formatVersion,
  type JsonObject,
  type LeaseState,
  type LogRecord,
  RecordReader,
  RondoError,
  reduceAll,
  releaseLease,
  renderResult,
  renewLease,
  type State,
  spentBy,
  ToolResult,
  takeLease,
  toRondoError,
} from "@rondo/core";
import {
  answerOf,
  awaitingApproval,
  inFlight,
  newsOf,
  readInput,
  resultOf,
  type SessionParts,
  spentSince,
  waitingIn,
} from "@rondo/core/driving";
import { ChildCalls, type ChildCame } from "./child-calls.ts";
import { type Came, RestateDriver } from "./driver.ts";
import { jsonOf, kvOf } from "./kv.ts";
import { shardOf } from "./names.ts";
import { lineOf, RecordStore, readLines } from "./store.ts";
import { Taken } from "./taken.ts";
import {
  type AppendRequest,
  type ChildRequest,
  type Driven,
  type LeaseAsk,
  type ListenRequest,
  linesOf,
  type Mail,
  type Page,
  pageBytes,
  type ReadRequest,
  type Refusable,
  type RunRequest,
  type TakenData,
} from "./wire.ts";
import type { AgentAt, WorkerParts } from "./worker-parts.ts";

/** What a drive begins with. */
type Opening = { facts: Fact[]; mails?: Mail[]; drives: boolean } | { refused: RondoError };

interface Begun extends Came {
  code: string;
  about?: JsonObject;
  /** The input of a sub-agent, or why there is none. */
  input?: ReturnType<typeof readInput>;
  failed?: string;
}

interface Outcome {
  /** Absent: it was refused. */
  state?: State;
  driver?: RestateDriver;
  error?: RondoError;
  at: number;
}

export function sessionObject(worker: WorkerParts): restate.VirtualObjectDefinition<string, unknown> {
  const { services } = worker;
  const { shared } = restate.handlers.object;
  return restate.object({
    name: services.session,
    handlers: {
      run: async (ctx: restate.ObjectContext, request: RunRequest): Promise<Driven> => {
        const { agent, ...what } = request;
        return drivenOf(
          await drive(ctx, worker, { agent }, (state) => {
            const { run } = state;
            if (run !== undefined && run.end === undefined)
              return {
                refused: new RondoError(
                  "invalid_request",
                  `session ${ctx.key} has a run that is parked: answer what it waits for, steer() it, or queue with followUp()`,
                ),
              };
            return { facts: [runStarted(worker.agentAt(agent), state, what)], drives: true };
          }),
        );
      },
      take: async (ctx: restate.ObjectContext, mail: Mail): Promise<Driven> => {
        const taken = new Taken((await ctx.get<TakenData>("mail")) ?? undefined);
        if (taken.has(mail.n)) return { seq: -1 };
        return drivenOf(await drive(ctx, worker, mail, () => ({ facts: [], mails: [mail], drives: true })));
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
      append: (ctx: restate.ObjectContext, request: AppendRequest): Promise<Refusable<number>> =>
        refusable(() => append(ctx, services.index, request)),
      lease: (ctx: restate.ObjectContext, ask: LeaseAsk): Promise<Refusable<LeaseState | null>> =>
        refusable(() => lease(ctx, ask)),
      read: shared(
        { enableLazyState: true },
        (ctx: restate.ObjectSharedContext, { from }: ReadRequest): Promise<Page> => readPage(ctx, from),
      ),
    },
  }) as restate.VirtualObjectDefinition<string, unknown>;
}

/** A run of an agent, begun over what the session holds. */
function runStarted(
  { resolved, about }: Pick<AgentAt, "resolved" | "about">,
  state: State,
  what: Omit<Fact & { type: "run_started" }, "type" | "format" | "options" | "about">,
): Fact {
  // They stand in the records already, unless they are others now.
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

/** What is left of it in a record. */
const plain = (options: State["options"]): JsonObject => JSON.parse(JSON.stringify(options)) as JsonObject;

/** Opens the session, and drives its run until it ends or waits for somebody. */
async function drive(
  ctx: restate.ObjectContext,
  worker: WorkerParts,
  { agent: path, graceMs, task }: { agent: string; graceMs?: number; task?: () => Promise<Partial<Begun>> },
  open: (state: State, begun: Begun) => Opening,
  waiting: (state: State) => void = () => {},
): Promise<Outcome> {
  const agent = worker.agentAt(path);
  const kv = kvOf(ctx);
  const keys = await kv.keys();
  const { store, lines } = await RecordStore.load(kv, keys);
  const held = keys.includes("lease") ? await ctx.get<LeaseState>("lease") : null;
  const data = keys.includes("mail") ? await ctx.get<TakenData>("mail") : null;
  const { rules, options } = agent.resolved;
  const resolved =
    graceMs === undefined
      ? agent.resolved
      : { ...agent.resolved, options: { ...options, abortGraceMs: Math.min(options.abortGraceMs, graceMs) } };
  const state = reduceAll(await recordsOf(ctx.key, lines), rules, emptyState);
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
      children: new ChildCalls(ctx, worker.services, ctx.key, path),
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
  );
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
  try {
    checkToken(ctx.key, held ?? undefined, undefined, at);
    const opening = open(state, begun);
    if ("refused" in opening) throw opening.refused;
    const { run } = state;
    if (run !== undefined && run.end === undefined) {
      const news = newsOf(ctx.key, state.options, resolved);
      const about = begun.about === undefined ? {} : { about: begun.about };
      // What was in flight when an invocation was ended by force is lost, and that is a fact.
      if (news.changed !== undefined || inFlight(run))
        driver.begin([{ type: "opened", by: "session", ...about, ...news }]);
    }
    driver.begin(opening.facts);
    if (opening.mails !== undefined) await driver.take(opening.mails);
    const isOpen = driver.state.run !== undefined && driver.state.run.end === undefined;
    if (isOpen && opening.drives) {
      if (store.seq === 0) note(ctx, worker.services.index, driver.state, at);
      const { how, until } = await driver.run();
      if (how === "parked" && until !== undefined)
        ctx.genericSend({
          service: worker.services.session,
          method: "wake",
          key: ctx.key,
          parameter: { agent: path },
          inputSerde: jsonOf(),
          delay: Math.max(0, until - driver.state.now),
        });
    }
    driver.flush(false);
    if (driver.written.length > 0) note(ctx, worker.services.index, driver.state, createdAt(lines, at));
    ended = true;
    return { state: driver.state, driver, at: driver.state.now };
  } catch (thrown) {
    if (!(thrown instanceof RondoError)) throw thrown;
    driver.flush(false);
    ended = true;
    return { error: thrown, at };
  }
}

/** Sub-agents keep their sessions in objects of their own: nothing here has a journal to give. */
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
  // The reader brings older formats to the present one.
  return new RecordReader({ ...noJournal, read: (_, from = 0) => records.slice(from) }, session).read();
}

const createdAt = (lines: readonly string[], now: number): number =>
  lines[0] === undefined ? now : (linesOf(lines[0].split("\n", 1)[0] ?? "")[0]?.at ?? now);

/** Tells the list of sessions how long this one is. */
function note(ctx: restate.ObjectContext, index: string, { seq, now }: State, created: number): void {
  ctx.genericSend({
    service: index,
    method: "note",
    key: shardOf(ctx.key),
    parameter: { id: ctx.key, length: seq, createdAt: created, updatedAt: now },
    inputSerde: jsonOf(),
  });
}

const drivenOf = ({ state, driver, error }: Outcome): Driven => {
  if (error !== undefined) return { seq: -1, error: error.toJSON() };
  const lines = driver?.written ?? [];
  const seq = state?.seq ?? 0;
  const text = lines.join("\n");
  return text.length > pageBytes / 2 ? { seq } : { seq, from: seq - lines.length, text };
};

/** A sub-agent's run, until it has ended or waits for somebody. */
async function driveChild(
  ctx: restate.ObjectContext,
  worker: WorkerParts,
  request: ChildRequest,
): Promise<ChildCame> {
  const { agent: path, call, args, parent, answers, told, graceMs, parentAgent } = request;
  const agent = worker.agentAt(path);
  const { tool } = agent;
  const toParent = (state: State): void => {
    const pending = awaitingApproval(state).map(waitingIn(ctx.key));
    ctx.genericSend({
      service: worker.services.inbox,
      method: "post",
      key: parent.session,
      parameter: {
        agent: parentAgent,
        say: { type: "child_waits", call, pending, parked: false },
      },
      inputSerde: jsonOf(),
    });
  };
  const task = async (): Promise<Partial<Begun>> => {
    try {
      const check = await tool?.check(args);
      if (check?.ok !== true) return { failed: check?.error ?? "no such sub-agent" };
      return { input: readInput(tool?.subAgent?.task(check.value) ?? "") };
    } catch (thrown) {
      return { failed: toRondoError(thrown).message };
    }
  };
  let failed: string | undefined;
  const { state, error, at } = await drive(
    ctx,
    worker,
    { agent: path, graceMs, task },
    (before, begun) => {
      const { run } = before;
      if (run === undefined) {
        failed = begun.failed;
        if (begun.input === undefined) return { facts: [], drives: false };
        return { facts: [runStarted(agent, before, { ...begun.input, parent })], drives: true };
      }
      // It came to its end, and its parent has not heard of it.
      if (run.end !== undefined) return { facts: [], drives: false };
      const mails = answers.map(
        ({ inside, said }): Mail => ({
          n: 0,
          at: 0,
          agent: path,
          say: { type: "answer", call: inside, said },
        }),
      );
      return { facts: [], mails, drives: true };
    },
    toParent,
  );
  const toolFinished = (text: string, isError: boolean, spent = told): ChildCame => ({
    call,
    at,
    fact: {
      type: "tool_finished",
      call,
      result: renderResult(
        new ToolResult([{ type: "text", text }], isError, false, [], spentSince(spent, told)),
      ),
    },
  });
  if (error !== undefined || state?.run === undefined)
    return toolFinished(`Error: ${error?.message ?? failed ?? "the sub-agent did not start"}`, true);
  const spent = spentBy(state);
  const result = resultOf(state, ctx.key);
  if (result.parked === undefined) {
    const { content, isError } = answerOf(result, agent.name, agent.resolved.rules.texts);
    return toolFinished(content, isError, spent);
  }
  const pending = result.parked.pending.map(waitingIn(ctx.key));
  return {
    call,
    at,
    fact: { type: "child_waits", call, pending, parked: true, spent: spentSince(spent, told) },
  };
}

// ---- the session as a journal ------------------------------------------------------------------------------------

async function readPage(ctx: restate.ObjectSharedContext, from: number): Promise<Page> {
  const kv = kvOf(ctx);
  const { seq, lines, driven } = await readLines(kv, await kv.keys(), from);
  let bytes = 0;
  let count = 0;
  for (const line of lines) {
    bytes += line.length;
    if (count > 0 && bytes > pageBytes) break;
    count += 1;
  }
  return {
    seq,
    text: lines.slice(0, count).join("\n"),
    ...(count < lines.length ? { next: from + count } : {}),
    ...(driven ? { driven } : {}),
  };
}

async function append(
  ctx: restate.ObjectContext,
  index: string,
  { expectedSeq, text, token }: AppendRequest,
): Promise<number> {
  const kv = kvOf(ctx);
  const keys = await kv.keys();
  const { store, lines } = await RecordStore.load(kv, keys);
  const held = keys.includes("lease") ? await ctx.get<LeaseState>("lease") : null;
  const now = await ctx.date.now();
  checkToken(ctx.key, held ?? undefined, token, now);
  const records = linesOf(text);
  checkAppend(ctx.key, store.seq, expectedSeq, records);
  const last = records.at(-1);
  if (last === undefined) return store.seq;
  store.append(records.map(lineOf), false);
  // Awaited: whoever lists after this must find it.
  await ctx.genericCall({
    service: index,
    method: "note",
    key: shardOf(ctx.key),
    parameter: {
      id: ctx.key,
      length: store.seq,
      createdAt: createdAt(lines, records[0]?.at ?? last.at),
      updatedAt: last.at,
    },
    inputSerde: jsonOf(),
    outputSerde: jsonOf(),
  });
  return store.seq;
}

async function lease(
  ctx: restate.ObjectContext,
  { what, token = 0, owner = "", ttlMs = 0, takeOver = false }: LeaseAsk,
): Promise<LeaseState | null> {
  const held = (await ctx.get<LeaseState>("lease")) ?? undefined;
  const now = await ctx.date.now();
  const state =
    what === "take"
      ? takeLease(ctx.key, held, { owner, ttlMs, takeOver }, now)
      : what === "renew"
        ? renewLease(ctx.key, held, token, now)
        : releaseLease(held, token);
  if (state !== undefined && state !== held) ctx.set("lease", state);
  return state ?? null;
}

/** A refusal is an answer: Restate would try an error again, for ever. */
async function refusable<T>(deed: () => Promise<T>): Promise<Refusable<T>> {
  try {
    return { ok: await deed() };
  } catch (thrown) {
    if (!(thrown instanceof RondoError)) throw thrown;
    return { error: thrown.toJSON() };
  }
}
