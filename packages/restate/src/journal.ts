// The room of the journal: sessions on a Restate server, used like any other journal.
//
// A session that Restate drives is written by its object alone; here it can still be read, listed and followed. A session
// that nobody drives can be appended to and leased, so that it can be forked, or driven by a process of its own.

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
  withSubAgents,
} from "@rondo/core";
import { above0, checkGiven, membersOf, text } from "@rondo/core/checks";
import { Ingress, type IngressOptions, ingressChecks } from "./ingress.ts";
import { indexShards, servicesOf } from "./names.ts";
import { Looking, readAll, readPage, type Server } from "./reading.ts";
import {
  type AppendRequest,
  type DeleteAsk,
  type LeaseAsk,
  type Listed,
  maxMessageBytes,
  type Refusable,
} from "./wire.ts";

export interface RestateJournalOptions extends IngressOptions {
  /** Prefix of the worker's service names. Default: `rondo`. */
  namespace?: string;
  /** Interval for polling a watched session, in milliseconds. Default: 200. */
  lookMs?: number;
}

const optionChecks = membersOf<RestateJournalOptions>({ ...ingressChecks, namespace: text, lookMs: above0 }, [
  "ingress",
]);

/** A journal on a Restate server. */
export interface RestateJournal extends Journal {
  append(session: string, expectedSeq: number, records: readonly LogRecord[], token?: number): Promise<void>;
  read(session: string, from?: number): Promise<LogRecord[]>;
  list(): Promise<SessionInfo[]>;
  lease(session: string, request: LeaseRequest): Promise<Lease>;
  watch(session: string, heard: () => void): () => void;
  /** The server keeps two numbers under a deleted session's id, and its invocations for their retention time. */
  delete(session: string): Promise<string[]>;
  /** Stops polling. The server is unaffected. */
  close(): void;
}

/**
 * The sessions of a namespace on a Restate server. A worker of the namespace must be registered there: it serves the
 * objects that hold the records.
 * @throws RondoError `invalid_request` naming the invalid option
 */
export function restateJournal(options: RestateJournalOptions): RestateJournal {
  checkGiven(optionChecks, options, "restateJournal");
  const server: Server = { ingress: new Ingress(options), services: servicesOf(options.namespace) };
  const { ingress, services } = server;
  const watchers = new Looking(server, options.lookMs ?? 200);
  let closed = false;
  const open = (): void => {
    if (closed) throw new RondoError("invalid_request", "this journal is closed");
  };
  const asked = async <T>(
    session: string,
    handler: string,
    request: AppendRequest | LeaseAsk | DeleteAsk,
  ): Promise<T> =>
    taken(await ingress.call<Refusable<T>>(services.session, session, handler, request, { once: true }));
  const list = async (): Promise<SessionInfo[]> => {
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
  };

  return {
    async append(session, expectedSeq, records, token) {
      open();
      checkSessionId(session);
      // The object checks everything else, with its own messages; this is what must not even be sent.
      checkAppend(session, expectedSeq, expectedSeq, records);
      const text = textOf(session, records);
      await refuseDriven(server, session, token);
      const request: AppendRequest = { expectedSeq, text, ...(token === undefined ? {} : { token }) };
      await asked<number>(session, "append", request);
      watchers.tell(session);
    },
    async read(session, from = 0) {
      open();
      checkFrom(from);
      checkSessionId(session);
      return (await readAll(server, session, from)).records;
    },
    list,
    async delete(session) {
      open();
      checkSessionId(session);
      const listed = (await list()).map(({ id }) => id);
      const all = withSubAgents([session, ...listed], session);
      const ask = (id: string, what: DeleteAsk["what"]): Promise<boolean> => asked(id, "delete", { what });
      for (const id of all) {
        await refuseDriven(server, id, undefined);
        await ask(id, "check");
      }
      const gone: string[] = [];
      // The session itself comes last: what a crash leaves is still listed, and can be deleted by name.
      for (const id of all) if (await ask(id, "delete")) gone.push(id);
      for (const id of gone) watchers.tell(id);
      return gone;
    },
    async lease(session, { owner, ttlMs, takeOver = false }) {
      open();
      checkSessionId(session);
      // JSON has no such numbers: it would send null.
      if (!Number.isFinite(ttlMs))
        throw new RondoError("invalid_request", `a lease needs a time of 1 to 2^31 - 1 ms, not ${ttlMs}`);
      await refuseDriven(server, session, undefined);
      const ask = (request: LeaseAsk): Promise<LeaseState | null> => asked(session, "lease", request);
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
      return watchers.add(session, heard);
    },
    close() {
      closed = true;
      watchers.close();
    },
  };
}

/** A group as it is sent. @throws RondoError `payload_too_large` */
function textOf(session: string, records: readonly LogRecord[]): string {
  const text = records.map((record) => JSON.stringify(record)).join("\n");
  const bytes = Buffer.byteLength(text);
  if (bytes > maxMessageBytes)
    throw new RondoError(
      "payload_too_large",
      `a group for session ${JSON.stringify(session)} has ${bytes} bytes, and ${maxMessageBytes} are the most that ` +
        "Restate takes; cap the results of tools (context.cap)",
    );
  return text;
}

function taken<T>(answer: Refusable<T>): T {
  if ("ok" in answer) return answer.ok;
  throw errorOf(answer.error);
}

/** Restores an error that came over the wire. */
export function errorOf({ kind, message, ...rest }: ErrorData): RondoError {
  return new RondoError(kind, message, rest);
}

/** A driven session is busy until its run stops: fail at once instead of waiting for that. */
async function refuseDriven(server: Server, session: string, token: number | undefined): Promise<void> {
  if (token !== undefined) return;
  const { driven } = await readPage(server, session, Number.MAX_SAFE_INTEGER);
  if (driven)
    throw new RondoError(
      "conflict",
      `session ${JSON.stringify(session)} is held by a Restate worker that drives it: wait for it, follow() it as a ` +
        "reader, or say it to the worker by restateClient",
    );
}
