// The room of the client: a session on Restate, with the words of a session.
//
// It holds nothing but what it has read: what is asked of it is said to the session's objects, and what it tells is
// folded from their records. Any number of clients may hold one session.

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
  type TextPart,
} from "@rondo/core";
import { checkGiven, object } from "@rondo/core/checks";
import {
  alwaysIn,
  awaitingApproval,
  checkContinuable,
  checkGrant,
  grantLike,
  heardOf,
  inFlight,
  readArgs,
  readInput,
  readMessage,
  renderExternalResult,
  resultOf,
} from "@rondo/core/driving";
import { clientChecks, type RestateClientOptions } from "./client/options.ts";
import { Clean } from "./client/redact.ts";
import { Seen } from "./client/session-view.ts";
import { type LiveWorkers, liveWorkers } from "./follow/live-workers.ts";
import { type Followed, type FollowSessionOptions, followSession } from "./follow.ts";
import { defaultPatienceMs, Ingress } from "./ingress.ts";
import { errorOf } from "./journal.ts";
import { checkAgentName, servicesOf } from "./names.ts";
import { readAll, type Server } from "./reading.ts";
import {
  type Driven,
  type Mail,
  maxFactBytes,
  type Posted,
  type PostRequest,
  type RunRequest,
  type Saying,
} from "./wire.ts";

export interface RestateClient {
  /** A session: a new one, or one that is there already. Nothing is asked for it yet. */
  session<Output = unknown>(id: string): RestateSession<Output>;
}

/** `idle`: no run is active. `running`: one is, or will be as soon as a worker is there; also where its invocation was killed at the server, or is refused by code that was changed in place, which nobody but the server knows. `parked`: one waits for an approval. */
export type RestateSessionStatus = "idle" | "running" | "parked";

/** @throws RondoError `invalid_request` naming the option that cannot be used */
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

interface Place extends Server {
  agent: string;
  live: LiveWorkers;
  clean: Clean;
  /** How long a run that was told to end is waited for, in milliseconds. */
  patienceMs: number;
}

/** A grant with a name of its own, where it was given none. */
const granted = (grant: Omit<Grant, "id"> & { id?: string }): Grant =>
  checkGrant({ id: `grant_${randomUUID()}`, ...grant });

/** How many words said here are remembered as being on their way: the oldest have long arrived. */
const mostSaid = 16;

export class RestateSession<Output = unknown> {
  readonly id: string;
  readonly #place: Place;
  readonly #seen: Seen;
  /** What was said here and may be on its way still, the oldest first. */
  #said: Mail[] = [];
  /** How many runs were started here that have not come back. */
  #running = 0;

  /** By `client.session(id)`. */
  constructor(place: Place, id: string) {
    checkSessionId(id);
    this.#place = place;
    this.#seen = new Seen(place, id);
    this.id = id;
  }

  /**
   * Starts a run and resolves when it has ended, or waits for somebody. It goes on when this process does not.
   * @param options.signal aborts the run. Where nobody is there who could, it is waited for no longer than `patienceMs`, and ends when somebody is
   * @throws RondoError `invalid_request` while another run waits for somebody; `conflict` while a process of its own
   *   holds the session; `network` when the server stays away
   */
  async send(input: Input, { signal }: { signal?: AbortSignal } = {}): Promise<RunResult<Output>> {
    return this.#run(readInput(input), signal);
  }

  /**
   * Starts a run without a new word: the model goes on from the conversation as it stands, after an error, or where
   * another agent takes it over.
   * @throws RondoError `invalid_request` where nobody steered and there is none, or its last word is the model's: `send` it a word
   */
  async continue({ signal }: { signal?: AbortSignal } = {}): Promise<RunResult<Output>> {
    if ((await this.status()) === "idle") checkContinuable(this.id, this.#seen.state);
    return this.#run({ input: [] }, signal);
  }

  /** Makes the history smaller now: in an idle session as a run of its own, else before the run's next model call. */
  async compact({ signal }: { signal?: AbortSignal } = {}): Promise<RunResult<Output>> {
    if ((await this.status()) === "idle") return this.#run({ input: [], only: "compaction" }, signal);
    return this.#sayAndWait({ type: "mode", mode: "compacting", rule: "asked", evidence: {} });
  }

  /**
   * Forgets the conversation: the next run begins with nothing. What was said stays in the records, and a run of its own says that
   * it was cleared. Words that wait stay.
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

  /** A word while the run works: delivered once, before its next model call. Resolves when it is kept. @param id doubles of one id are dropped */
  steer(message: string | readonly (TextPart | FileInput)[], id?: string): Promise<void> {
    return this.#queue("steer", message, id);
  }

  /** More work: delivered once, when the run would end. */
  followUp(message: string | readonly (TextPart | FileInput)[], id?: string): Promise<void> {
    return this.#queue("follow_up", message, id);
  }

  /**
   * Lets a call run that waits for it. Resolves when the run next ends or waits.
   * @param call its id or key
   * @param options.always a grant for calls to come as well: `true` for the same tool with the same arguments
   */
  async approve(call: string, options: { always?: Always } = {}): Promise<RunResult<Output>> {
    const always = alwaysIn(options);
    const view = await this.#find(call);
    const leave = always === undefined ? {} : { always: granted(grantLike(view, always)) };
    return this.#sayAndWait({ type: "answer", call, said: { answer: "approve", ...leave } });
  }

  /** Denies a call that waits. The model reads the reason. @param options.stop end the run as well */
  async deny(call: string, reason?: string, { stop }: { stop?: boolean } = {}): Promise<RunResult<Output>> {
    await this.#find(call);
    const why = { ...(reason === undefined ? {} : { reason }), ...(stop === undefined ? {} : { stop }) };
    return this.#sayAndWait({ type: "answer", call, said: { answer: "deny", ...why } });
  }

  /**
   * Lets a call run with other arguments; they are checked like the model's own, by the worker.
   * @throws RondoError `invalid_request` for what are no arguments
   */
  async edit(call: string, given: JsonObject): Promise<RunResult<Output>> {
    const args = readArgs(given);
    await this.#find(call);
    return this.#sayAndWait({ type: "answer", call, said: { answer: "edit", args } });
  }

  /**
   * Answers a call that waits with its result, and does not run it: what a person said, or what was done elsewhere.
   * @param given what `execute` would have returned: a text, outputs, any value, a `toolResult`; an `Error` is told as one
   */
  async answer(call: string, given: unknown): Promise<RunResult<Output>> {
    const bringing = heardOf(given);
    const { name } = await this.#find(call);
    const result = renderExternalResult(name, await bringing);
    return this.#sayAndWait({ type: "answer", call, said: { answer: "result", ...result } });
  }

  /** Words that wait to be delivered, the oldest first. */
  async queued(): Promise<Queued[]> {
    await this.#seen.refresh();
    return [...this.#seen.state.inbox];
  }

  /** Takes a word back that waits. Resolves when that is kept; `queued`, or the event `message_withdrawn`, tells whether it still waited. */
  async withdraw(id: string): Promise<void> {
    await this.#post({ type: "withdrawn", id });
  }

  /** Gives permission in advance. @throws RondoError `invalid_request` saying what is wrong with it */
  async allow(grant: Omit<Grant, "id"> & { id?: string }, by?: string): Promise<Grant> {
    checkGiven(object, grant, "allow");
    const given = granted(grant);
    await this.#post({ type: "allowed", grant: given, ...(by === undefined ? {} : { by }) });
    return given;
  }

  /** Takes a grant back. */
  async revoke(id: string, by?: string): Promise<void> {
    await this.#post({ type: "revoked", id, ...(by === undefined ? {} : { by }) });
  }

  /** The grants that hold now. */
  async grants(): Promise<HeldGrant[]> {
    await this.#seen.refresh();
    return this.#seen.state.grants.filter((grant) => isLiveGrant(grant, Date.now()));
  }

  /** Ends the run that is active; it settles within the agent's `abortGraceMs`. Resolves when that is kept. */
  async abort(reason: string = "aborted"): Promise<void> {
    await this.#post({ type: "abort_asked", reason });
  }

  /** Resolves when the run that is active, if any, has ended or waits for somebody. Undefined: there was none yet. */
  async settled({ signal }: { signal?: AbortSignal } = {}): Promise<RunResult<Output> | undefined> {
    for (;;) {
      signal?.throwIfAborted();
      if ((await this.status()) === "running") {
        await new Promise((resolve) => setTimeout(resolve, 100));
        continue;
      }
      // What nobody drove may be about to: a word that was kept is heard before this says that all is quiet.
      const mail = this.#said.shift();
      if (mail === undefined) return this.result();
      await this.#call("session", "take", mail, signal);
    }
  }

  async status(): Promise<RestateSessionStatus> {
    const driven = await this.#seen.refresh();
    const { run } = this.#seen.state;
    if (driven || this.#running > 0) return "running";
    if (run === undefined || run.end !== undefined) return "idle";
    return inFlight(run) || awaitingApproval(this.#seen.state).length === 0 ? "running" : "parked";
  }

  /** The conversation so far. Valid at any time: every call in it has its result. */
  async messages(): Promise<Message[]> {
    await this.#seen.refresh();
    return [...this.#seen.state.history];
  }

  /** Calls that wait for an approval. */
  async pending(): Promise<CallView[]> {
    await this.#seen.refresh();
    return awaitingApproval(this.#seen.state);
  }

  /** The result of the last run, ended or parked. Undefined before the first. */
  async result(): Promise<RunResult<Output> | undefined> {
    await this.#seen.refresh();
    return this.#seen.state.run === undefined ? undefined : resultOf<Output>(this.#seen.state, this.id);
  }

  /** The session's records from one on. @throws RondoError `invalid_request` for a number that no record has */
  async records(from: number = 0): Promise<LogRecord[]> {
    checkFrom(from);
    return (await readAll(this.#place, this.id, from)).records;
  }

  /**
   * Records as they land, and live events from the workers that the client knows. Never ends by itself.
   * @throws RondoError `invalid_request` for a number that no record has; `storage` once the session is deleted
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
      void this.#post({ type: "abort_asked", reason, of: id }).catch(() => {});
      unheard = setTimeout(() => left.abort(reason), patienceMs);
    };
    if (signal?.aborted) throw new RondoError("aborted", "the run was not started: its signal had fired");
    signal?.addEventListener("abort", abort, { once: true });
    this.#running += 1;
    try {
      const request: RunRequest = { agent, id, ...clean.asked(what) };
      const driven = await this.#call<Driven>("session", "run", request, left.signal);
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
    await this.#post({ type: "queued", id, lane, message: readMessage(message) });
  }

  async #post(given: Saying): Promise<Mail> {
    const { agent, clean } = this.#place;
    const say = clean.said(given);
    const posted = await this.#call<Posted>("inbox", "post", { agent, say } satisfies PostRequest);
    const mail: Mail = { ...posted, agent, say };
    this.#said.push(mail);
    if (this.#said.length > mostSaid) this.#said.shift();
    return mail;
  }

  /** Says something, and waits until whoever hears it has driven the run to its end, or to where it waits again. */
  async #sayAndWait(say: Saying): Promise<RunResult<Output>> {
    const mail = await this.#post(say);
    this.#said = this.#said.filter(({ n }) => n !== mail.n);
    // The inbox sends it as well; the session takes it once, and has its turn for both when nobody drives any more.
    const driven = await this.#call<Driven>("session", "take", mail);
    if (driven.error !== undefined) throw errorOf(driven.error);
    await this.#seen.lookAgain();
    return resultOf<Output>(this.#seen.state, this.id);
  }

  #call<Out>(
    object: "session" | "inbox",
    handler: string,
    input: unknown,
    signal?: AbortSignal,
  ): Promise<Out> {
    const { ingress, services } = this.#place;
    const heard = signal === undefined ? {} : { signal };
    // A word waits with others, and is one fact when it is taken: two that hardly fit alone would be tried again for ever.
    const bound = object === "inbox" ? { maxBytes: maxFactBytes } : {};
    return ingress.call<Out>(services[object], this.id, handler, input, { once: true, ...bound, ...heard });
  }

  async #find(call: string): Promise<CallView> {
    const pending = await this.pending();
    const view = pending.find((one) => one.id === call || (one.key === call && one.child === undefined));
    if (view !== undefined) return view;
    const waiting = pending.map((one) => `${one.id} (${one.name})`).join(", ");
    throw new RondoError(
      "invalid_request",
      `no call ${JSON.stringify(call)} waits for an approval in session ${this.id}; waiting: ${waiting || "none"}`,
    );
  }
}
