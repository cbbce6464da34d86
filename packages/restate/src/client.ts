// The room of the client: a session on Restate, with the methods of a local session.
//
// It keeps only what it has read: commands are sent to the session's objects, and answers are folded from their
// records. Any number of clients may use one session.

import { randomUUID } from "node:crypto";
import {
  type Always,
  type CallView,
  checkFrom,
  checkSessionId,
  type FileInput,
  type Grant,
  type HeldGrant,
  type Input,
  isLiveGrant,
  type JsonObject,
  type Lane,
  type LogRecord,
  type Message,
  type Queued,
  RondoError,
  type RunResult,
  type Spent,
  type TextPart,
  textOf,
} from "@rondo/core";
import { checkGiven, object } from "@rondo/core/checks";
import {
  alwaysIn,
  approvable,
  checkContinuable,
  checkGrant,
  grantLike,
  heardOf,
  inFlight,
  pendingIn,
  readArgs,
  readInput,
  readMessage,
  renderExternalResult,
  resultOf,
  spentInSession,
} from "@rondo/core/driving";
import { clientChecks, type RestateClientOptions } from "./client/options.ts";
import { Clean } from "./client/redact.ts";
import { Seen } from "./client/session-view.ts";
import { haveRead } from "./client/tell.ts";
import { type Sender, Words } from "./client/words.ts";
import { type LiveWorkers, liveWorkers } from "./follow/live-workers.ts";
import { type Followed, type FollowSessionOptions, followSession } from "./follow.ts";
import { defaultPatienceMs, Ingress } from "./ingress.ts";
import { errorOf } from "./journal.ts";
import { checkAgentName, servicesOf } from "./names.ts";
import { readAll } from "./reading.ts";
import type { Driven, RunRequest, Saying } from "./wire.ts";

export interface RestateClient {
  /** A session, new or existing. No request is made yet. */
  session<Output = unknown>(id: string): RestateSession<Output>;
}

/**
 * `idle`: no run is active. `running`: one is, or will be once a worker is available; also when its invocation was killed
 * at the server, or is refused because code was changed in place (only the server knows). `parked`: one waits for an approval or an answer.
 */
export type RestateSessionStatus = "idle" | "running" | "parked";

/** @throws RondoError `invalid_request` naming the invalid option */
export function restateClient(options: RestateClientOptions): RestateClient {
  checkGiven(clientChecks, options, "restateClient");
  const { agent } = options;
  checkAgentName(agent, "restateClient");
  const place: Place = {
    ingress: new Ingress(options),
    services: servicesOf(options.namespace),
    agent,
    live: liveWorkers(options.workers, options.liveToken, options.warn),
    clean: new Clean(options.redact),
    patienceMs: options.patienceMs ?? defaultPatienceMs,
  };
  return { session: (id) => new RestateSession(place, id) };
}

interface Place extends Sender {
  live: LiveWorkers;
  /** How long to wait for an aborted run to end, in milliseconds. */
  patienceMs: number;
}

/** Gives a grant an id, if it has none. */
const granted = (grant: Omit<Grant, "id"> & { id?: string }): Grant =>
  checkGrant({ id: `grant_${randomUUID()}`, ...grant }, Date.now());

export class RestateSession<Output = unknown> {
  readonly id: string;
  readonly #place: Place;
  readonly #seen: Seen;
  readonly #words: Words;
  /** Number of runs started here that have not returned. */
  #running = 0;

  /** Created by `client.session(id)`. */
  constructor(place: Place, id: string) {
    checkSessionId(id);
    this.#place = place;
    this.#seen = new Seen(place, id);
    this.#words = new Words(place, id);
    this.id = id;
  }

  /**
   * Starts a run, and resolves when it has ended or waits for an approval or an answer. It continues even if this process ends.
   * @param options.signal aborts the run. If no worker is there to do so, `send` waits no longer than `patienceMs`; the run ends once there is one
   * @throws RondoError `invalid_request` while another run waits for an approval; `conflict` while another process
   *   holds the session; `network` when the server stays unreachable
   */
  async send(input: Input, { signal }: { signal?: AbortSignal } = {}): Promise<RunResult<Output>> {
    return this.#run(readInput(input), signal);
  }

  /**
   * Starts a run without a new message: the model continues from the conversation as it is, after an error, or when
   * another agent takes over.
   * @throws RondoError `invalid_request` when the conversation is empty or ends with the model's own message, and nothing was steered: use `send`
   */
  async continue({ signal }: { signal?: AbortSignal } = {}): Promise<RunResult<Output>> {
    if ((await this.status()) === "idle") checkContinuable(this.id, this.#seen.state);
    return this.#run({ input: [] }, signal);
  }

  /** Compacts the history now: in an idle session as a run of its own, else before the run's next model call. */
  async compact({ signal }: { signal?: AbortSignal } = {}): Promise<RunResult<Output>> {
    if ((await this.status()) === "idle") return this.#run({ input: [], only: "compaction" }, signal);
    return this.#sayAndWait({ type: "mode", mode: "compacting", rule: "asked", evidence: {} });
  }

  /**
   * Forgets the conversation: the next run starts with an empty history. The records keep what was said, and a run of its own
   * records the clearing. Queued messages stay.
   * @throws RondoError `invalid_request` while a run is active: abort() it first
   */
  async clear(): Promise<void> {
    const status = await this.status();
    if (status !== "idle")
      throw new RondoError(
        "invalid_request",
        `session ${this.id} has a run that is ${status}: wait for it, or abort() it first`,
      );
    await this.#run({ input: [], history: [], only: "clearing" }, undefined);
  }

  /** A message for the active run: delivered once, before its next model call. Resolves when stored. @param id duplicates of an id are dropped */
  steer(message: string | readonly (TextPart | FileInput)[], id?: string): Promise<void> {
    return this.#queue("steer", message, id);
  }

  /** More work: delivered once, when the run would end. */
  followUp(message: string | readonly (TextPart | FileInput)[], id?: string): Promise<void> {
    return this.#queue("follow_up", message, id);
  }

  /**
   * Tells the session something, whatever it is doing: the message starts a run, or goes into the active one. If calls wait for a
   * person, it takes the place of the answer: they are denied, or a question is answered with it. Resolves when the run that reads it has ended or waits.
   * @param id duplicates of an id are dropped
   */
  async tell(
    message: string | readonly (TextPart | FileInput)[],
    id: string = randomUUID(),
  ): Promise<RunResult<Output>> {
    const said = readMessage(message);
    const isInstead = (await this.pending()).length > 0;
    await this.#words.deliver({ type: "queued", id, lane: "steer", message: said });
    await this.#seen.lookAgain();
    const waits = (): boolean => this.#seen.state.inbox.some((one) => one.id === id);
    return haveRead<Output>(this, { text: textOf(said), isInstead, waits });
  }

  /**
   * Approves a waiting call. Resolves when the run next ends or waits.
   * @param call its id or key
   * @param options.always also a grant for future calls: `true` for the same tool with the same arguments
   */
  async approve(call: string, options: { always?: Always } = {}): Promise<RunResult<Output>> {
    const always = alwaysIn(options);
    const view = approvable(await this.#find(call));
    const leave = always === undefined ? {} : { always: granted(grantLike(view, always)) };
    return this.#sayAndWait({ type: "answer", call, said: { answer: "approve", ...leave } });
  }

  /** Denies a waiting call. The model reads the reason. @param options.stop also end the run */
  async deny(call: string, reason?: string, { stop }: { stop?: boolean } = {}): Promise<RunResult<Output>> {
    approvable(await this.#find(call));
    const why = { ...(reason === undefined ? {} : { reason }), ...(stop === undefined ? {} : { stop }) };
    return this.#sayAndWait({ type: "answer", call, said: { answer: "deny", ...why } });
  }

  /**
   * Approves a waiting call with other arguments, which the worker checks like the model's own.
   * @throws RondoError `invalid_request` when they are not an object
   */
  async edit(call: string, given: JsonObject): Promise<RunResult<Output>> {
    const args = readArgs(given);
    approvable(await this.#find(call));
    return this.#sayAndWait({ type: "answer", call, said: { answer: "edit", args } });
  }

  /**
   * Answers the question of a waiting call's tool, or gives a result instead of running it: what a person said, or what was done elsewhere.
   * @param given what `execute` would have returned: a text, outputs, any value, a `toolResult`; an `Error` becomes an error result
   */
  async answer(call: string, given: unknown): Promise<RunResult<Output>> {
    const bringing = heardOf(given);
    const asked = await this.#find(call);
    const result = renderExternalResult(asked, await bringing);
    const round = asked.question === undefined ? {} : { round: asked.question.round };
    return this.#sayAndWait({ type: "answer", call, ...round, said: { answer: "result", ...result } });
  }

  /** Messages that wait to be delivered, oldest first. */
  async queued(): Promise<Queued[]> {
    await this.#seen.refresh();
    return [...this.#seen.state.inbox];
  }

  /** Withdraws a queued message. Resolves when that is stored; `queued`, or the event `message_withdrawn`, tells whether it was still waiting. */
  async withdraw(id: string): Promise<void> {
    await this.#words.post({ type: "withdrawn", id });
  }

  /** Gives permission in advance. @throws RondoError `invalid_request` saying what is wrong with the grant */
  async allow(grant: Omit<Grant, "id"> & { id?: string }, by?: string): Promise<Grant> {
    checkGiven(object, grant, "allow");
    const given = granted(grant);
    await this.#words.post({ type: "allowed", grant: given, ...(by === undefined ? {} : { by }) });
    return given;
  }

  /** Revokes a grant. */
  async revoke(id: string, by?: string): Promise<void> {
    await this.#words.post({ type: "revoked", id, ...(by === undefined ? {} : { by }) });
  }

  /** The grants in force. */
  async grants(): Promise<HeldGrant[]> {
    await this.#seen.refresh();
    return this.#seen.state.grants.filter((grant) => isLiveGrant(grant, Date.now()));
  }

  /** Aborts the active run; it settles within the agent's `abortGraceMs`. Resolves when the abort is stored. */
  async abort(reason: string = "aborted"): Promise<void> {
    await this.#words.post({ type: "abort_asked", reason });
  }

  /** Resolves when the active run, if any, has ended or waits for an approval or an answer. Undefined: there was no run yet. */
  async settled({ signal }: { signal?: AbortSignal } = {}): Promise<RunResult<Output> | undefined> {
    for (;;) {
      signal?.throwIfAborted();
      if ((await this.status()) === "running") {
        await new Promise((resolve) => setTimeout(resolve, 100));
        continue;
      }
      // A message sent here may still be about to start a run: it must be taken before the session counts as settled.
      if (!(await this.#words.deliverOldest(signal))) return this.result();
    }
  }

  async status(): Promise<RestateSessionStatus> {
    const driven = await this.#seen.refresh();
    const { run } = this.#seen.state;
    if (driven || this.#running > 0) return "running";
    if (run === undefined || run.end !== undefined) return "idle";
    return inFlight(run) || pendingIn(this.#seen.state).length === 0 ? "running" : "parked";
  }

  /** The conversation so far. Valid at any time: every call in it has a result. */
  async messages(): Promise<Message[]> {
    await this.#seen.refresh();
    return [...this.#seen.state.history];
  }

  /** Calls that wait for an approval or an answer. */
  async pending(): Promise<CallView[]> {
    await this.#seen.refresh();
    return pendingIn(this.#seen.state);
  }

  /** The result of the last run, ended or parked. Undefined before the first. */
  async result(): Promise<RunResult<Output> | undefined> {
    await this.#seen.refresh();
    return this.#seen.state.run === undefined ? undefined : resultOf<Output>(this.#seen.state, this.id);
  }

  /** What all runs of the session have spent, the active one included. `usd` is absent if it is unknown. */
  async spent(): Promise<Spent> {
    await this.#seen.refresh();
    return spentInSession(this.#seen.state);
  }

  /** The session's records from a seq on. @throws RondoError `invalid_request` for an invalid seq */
  async records(from: number = 0): Promise<LogRecord[]> {
    checkFrom(from);
    return (await readAll(this.#place, this.id, from)).records;
  }

  /**
   * Records as they are written, and live events from the known workers. Never ends by itself.
   * @throws RondoError `invalid_request` for an invalid seq; `storage` once the session is deleted
   */
  follow(options: FollowSessionOptions = {}): AsyncGenerator<Followed, void, undefined> {
    if (options.from !== undefined) checkFrom(options.from);
    return followSession(this.#place, this.id, this.#place.live, options);
  }

  async #run(what: Omit<RunRequest, "agent">, signal: AbortSignal | undefined): Promise<RunResult<Output>> {
    const { agent, clean, patienceMs } = this.#place;
    const id = randomUUID();
    const left = new AbortController();
    let unheard: NodeJS.Timeout | undefined;
    const abort = (): void => {
      const reason = String(signal?.reason ?? "aborted");
      void this.#words.post({ type: "abort_asked", reason, of: id }).catch(() => {});
      unheard = setTimeout(() => left.abort(reason), patienceMs);
    };
    if (signal?.aborted) throw new RondoError("aborted", "the run was not started: its signal had fired");
    signal?.addEventListener("abort", abort, { once: true });
    this.#running += 1;
    try {
      const request: RunRequest = { agent, id, ...clean.asked(what) };
      const driven = await this.#words.call<Driven>("session", "run", request, left.signal);
      if (driven.error !== undefined) throw errorOf(driven.error);
      await this.#seen.take(driven);
      return resultOf<Output>(this.#seen.state, this.id);
    } catch (thrown) {
      if (!left.signal.aborted) throw thrown;
      const why = `the run was told to end, and nothing was heard of it for ${patienceMs / 1_000} s; is a worker there?`;
      throw new RondoError("aborted", why, { cause: signal?.reason });
    } finally {
      clearTimeout(unheard);
      this.#running -= 1;
      signal?.removeEventListener("abort", abort);
    }
  }

  async #queue(
    lane: Lane,
    message: string | readonly (TextPart | FileInput)[],
    id: string = randomUUID(),
  ): Promise<void> {
    await this.#words.post({ type: "queued", id, lane, message: readMessage(message) });
  }

  /** Sends a message, and waits until the run that takes it has ended, or waits again. */
  async #sayAndWait(say: Saying): Promise<RunResult<Output>> {
    await this.#words.deliver(say);
    await this.#seen.lookAgain();
    return resultOf<Output>(this.#seen.state, this.id);
  }

  async #find(call: string): Promise<CallView> {
    const pending = await this.pending();
    const view = pending.find((one) => one.id === call || (one.key === call && one.child === undefined));
    if (view !== undefined) return view;
    const waiting = pending.map((one) => `${one.id} (${one.name})`).join(", ");
    throw new RondoError(
      "invalid_request",
      `no call ${JSON.stringify(call)} waits for an approval or an answer in session ${this.id}; waiting: ${waiting || "none"}`,
    );
  }
}
