// The room of the journal: sessions on a Restate server, read and written like any other journal.
//
// A session that Restate drives is written by its object alone; here it is read, listed and followed while that goes
// on. One that nobody drives can be appended to and leased, so a fork can be made, and a process of its own can go on.

import {
  checkAppend,
  checkFrom,
  checkSessionId,
  type ErrorData,
  type Journal,
  type Lease,
  type LeaseRequest,
  type LeaseState,
  type LogRecord,
  RondoError,
  type SessionInfo,
  systemClock,
  Watchers,
} from "@rondo/core";
import { Ingress, type IngressOptions } from "./ingress.ts";
import { indexShards, type Services, servicesOf } from "./names.ts";
import {
  type AppendRequest,
  type LeaseAsk,
  type Listed,
  linesOf,
  maxMessageBytes,
  type Page,
  type ReadRequest,
  type Refusable,
} from "./wire.ts";

export interface RestateJournalOptions extends IngressOptions {
  /** What the worker's services are called in front. Default: `rondo`. */
  namespace?: string;
  /** How often a session that is watched is looked at, in milliseconds. Default: 200. */
  lookMs?: number;
}

/** A journal on a Restate server. */
export interface RestateJournal extends Journal {
  append(session: string, expectedSeq: number, records: readonly LogRecord[], token?: number): Promise<void>;
  read(session: string, from?: number): Promise<LogRecord[]>;
  list(): Promise<SessionInfo[]>;
  lease(session: string, request: LeaseRequest): Promise<Lease>;
  watch(session: string, heard: () => void): () => void;
  /** Stops looking. The server stays as it is. */
  close(): void;
}

/**
 * The sessions of a namespace on a Restate server. A worker of the namespace must be registered there: the objects that
 * hold the records are served by it.
 * @throws RondoError `invalid_request` for an address or a namespace that is none
 */
export function restateJournal(options: RestateJournalOptions): RestateJournal {
  const { lookMs = 200 } = options;
  const ingress = new Ingress(options);
  const services = servicesOf(options.namespace);
  const watchers = new Watchers();
  /** The length at which each watched session was last seen. */
  const seen = new Map<string, number>();
  let stopLooking: (() => void) | undefined;
  let closed = false;
  const open = (): void => {
    if (closed) throw new RondoError("invalid_request", "this journal is closed");
  };

  const look = async (): Promise<void> => {
    for (const session of watchers.sessions()) {
      try {
        const { seq } = await readPage(ingress, services, session, Number.MAX_SAFE_INTEGER);
        if (seen.get(session) !== seq) {
          seen.set(session, seq);
          watchers.tell(session);
        }
      } catch {
        // A server that is away for a moment has no news; whoever reads is told what is wrong.
      }
    }
    stopLooking = undefined;
    if (watchers.size > 0 && !closed) lookLater();
    else seen.clear();
  };
  const lookLater = (): void => {
    stopLooking ??= systemClock.after(lookMs, () => void look());
  };

  return {
    async append(session, expectedSeq, records, token) {
      open();
      checkSessionId(session);
      // The words are the object's, but for what it is never sent.
      checkAppend(session, expectedSeq, expectedSeq, records);
      const text = records.map((record) => JSON.stringify(record)).join("\n");
      const bytes = Buffer.byteLength(text);
      if (bytes > maxMessageBytes)
        throw new RondoError(
          "payload_too_large",
          `a group for session ${JSON.stringify(session)} has ${bytes} bytes, and ${maxMessageBytes} are the most that ` +
            "Restate takes; cap the results of tools (context.cap)",
        );
      await refuseDriven(ingress, services, session, token);
      const request: AppendRequest = { expectedSeq, text, ...(token === undefined ? {} : { token }) };
      taken(
        await ingress.call<Refusable<number>>(services.session, session, "append", request, { once: true }),
      );
      watchers.tell(session);
    },
    async read(session, from = 0) {
      open();
      checkFrom(from);
      checkSessionId(session);
      return (await readAll(ingress, services, session, from)).records;
    },
    async list() {
      open();
      const shards = await Promise.all(
        Array.from({ length: indexShards }, (_, shard) =>
          ingress.call<Listed[]>(services.index, String(shard), "list", null),
        ),
      );
      return shards
        .flat()
        .sort((a, b) => b.updatedAt - a.updatedAt || b.born - a.born)
        .map(({ born: _, ...info }) => info);
    },
    async lease(session, { owner, ttlMs, takeOver = false }) {
      open();
      checkSessionId(session);
      // JSON has no such numbers, and would send another.
      if (!Number.isFinite(ttlMs))
        throw new RondoError("invalid_request", `a lease needs a time of 1 to 2^31 - 1 ms, not ${ttlMs}`);
      await refuseDriven(ingress, services, session, undefined);
      const ask = async (request: LeaseAsk): Promise<LeaseState | null> =>
        taken(
          await ingress.call<Refusable<LeaseState | null>>(services.session, session, "lease", request, {
            once: true,
          }),
        );
      const state = await ask({ what: "take", owner, ttlMs, takeOver });
      const token = state?.token ?? 0;
      return {
        token,
        async renew() {
          await ask({ what: "renew", token });
        },
        async release() {
          await ask({ what: "release", token });
        },
      };
    },
    watch(session, heard) {
      open();
      checkSessionId(session);
      const stop = watchers.add(session, heard);
      lookLater();
      return stop;
    },
    close() {
      closed = true;
      stopLooking?.();
    },
  };
}

function taken<T>(answer: Refusable<T>): T {
  if ("ok" in answer) return answer.ok;
  throw errorOf(answer.error);
}

/** An error that came over the wire, as it was. */
export function errorOf({ kind, message, ...rest }: ErrorData): RondoError {
  return new RondoError(kind, message, rest);
}

/** A session that is driven is busy until its run stops: whoever would write it is told at once instead of then. */
async function refuseDriven(
  ingress: Ingress,
  services: Services,
  session: string,
  token: number | undefined,
): Promise<void> {
  if (token !== undefined) return;
  const { driven } = await readPage(ingress, services, session, Number.MAX_SAFE_INTEGER);
  if (driven)
    throw new RondoError(
      "conflict",
      `session ${JSON.stringify(session)} is held by a Restate worker that drives it: wait for it, follow() it as a ` +
        "reader, or say it to the worker by restateClient",
    );
}

export const readPage = (
  ingress: Ingress,
  services: Services,
  session: string,
  from: number,
  signal?: AbortSignal,
): Promise<Page> =>
  ingress.call<Page>(
    services.session,
    session,
    "read",
    { from } satisfies ReadRequest,
    signal === undefined ? {} : { signal },
  );

/** All records from one on, page by page. */
export async function readAll(
  ingress: Ingress,
  services: Services,
  session: string,
  from: number,
  signal?: AbortSignal,
): Promise<{ records: LogRecord[]; driven: boolean }> {
  const records: LogRecord[] = [];
  for (let at: number | undefined = from; ; ) {
    const page: Page = await readPage(ingress, services, session, at, signal);
    for (const record of linesOf(page.text)) records.push(record);
    at = page.next;
    if (at === undefined) return { records, driven: page.driven === true };
  }
}
