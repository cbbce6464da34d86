// The room of reading: reads a session's records from a server page by page, and polls for more.

import { type LogRecord, systemClock, Watchers } from "@rondo/core";
import type { Ingress } from "./ingress.ts";
import type { Services } from "./names.ts";
import { linesOf, type Page, type ReadRequest } from "./wire.ts";

/** Where the sessions of a namespace are. */
export interface Server {
  ingress: Ingress;
  services: Services;
}

export const readPage = (
  { ingress, services }: Server,
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

/** All records from a seq on, page by page. `length`: the session's record count. */
export async function readAll(
  server: Server,
  session: string,
  from: number,
  signal?: AbortSignal,
): Promise<{ records: LogRecord[]; driven: boolean; length: number }> {
  const records: LogRecord[] = [];
  for (let at: number | undefined = from; ; ) {
    const page: Page = await readPage(server, session, at, signal);
    for (const record of linesOf(page.text)) records.push(record);
    at = page.next;
    if (at === undefined) return { records, driven: page.driven === true, length: page.seq };
  }
}

/** The watchers of sessions. The server does not push news, so watched sessions are polled. */
export class Looking extends Watchers {
  readonly #server: Server;
  readonly #lookMs: number;
  /** The last known length of each session. */
  readonly #seen = new Map<string, number>();
  #stop: (() => void) | undefined;
  #closed = false;

  constructor(server: Server, lookMs: number) {
    super();
    this.#server = server;
    this.#lookMs = lookMs;
  }

  override add(session: string, heard: () => void): () => void {
    const stop = super.add(session, heard);
    this.#lookLater();
    return stop;
  }

  close(): void {
    this.#closed = true;
    this.#stop?.();
  }

  #lookLater(): void {
    this.#stop ??= systemClock.after(this.#lookMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    for (const session of this.sessions()) {
      try {
        const { seq } = await readPage(this.#server, session, Number.MAX_SAFE_INTEGER);
        if (this.#seen.get(session) !== seq) {
          this.#seen.set(session, seq);
          this.tell(session);
        }
      } catch {
        // A server that is briefly away has no news; a reader gets the error.
      }
    }
    this.#stop = undefined;
    if (this.size > 0 && !this.#closed) this.#lookLater();
    else this.#seen.clear();
  }
}
