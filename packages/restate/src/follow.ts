// The room of following: a session as it goes on, records and live events together.
//
// Records come from the session's object, and sooner from the worker that drives it; each is yielded once, in order,
// whichever comes first. Live events come only from workers, while they happen: one missed because a worker died, or
// because nobody followed in time, is lost; the record that it led to is not.

import { type LogRecord, RondoError, type RondoEvent, systemClock } from "@rondo/core";
import { cursorOf, hubOf, textOf } from "./follow/cursor.ts";
import { Listener } from "./follow/listener.ts";
import type { LiveWorkers } from "./follow/live-workers.ts";
import type { Live } from "./hub.ts";
import { readAll, type Server } from "./reading.ts";

/** One record or event. `cursor`: pass it to `follow` to continue after it. */
export type Followed = { cursor: string } & ({ record: LogRecord } | { event: RondoEvent });

export interface FollowSessionOptions {
  /** Seq of the first record to yield. Default: 0. */
  from?: number;
  /** Cursor of an earlier `follow`: continues after it. */
  cursor?: string;
  /** Ends it; so does leaving the loop. */
  signal?: AbortSignal;
  /** Interval for asking the server for records, in milliseconds. Default: 250. */
  lookMs?: number;
}

/** Never ends by itself, but fails when the session is deleted. `return` ends it at once, even while nothing comes. */
export function followSession(
  server: Server,
  session: string,
  workers: LiveWorkers,
  { signal, ...options }: FollowSessionOptions = {},
): AsyncGenerator<Followed, void, undefined> {
  const left = new AbortController();
  const leave = (): void => {
    signal?.removeEventListener("abort", leave);
    left.abort();
  };
  if (signal?.aborted) leave();
  else signal?.addEventListener("abort", leave, { once: true });
  const items = followed(server, session, workers, options, left.signal, leave);
  const plainReturn = items.return.bind(items);
  // A waiting generator would handle `return` only when the next item comes.
  const returning: typeof plainReturn = (value) => {
    leave();
    return plainReturn(value);
  };
  return Object.assign(items, { return: returning });
}

/** Yields the records that the server has, and what the workers send: events, and records before the server has them. */
async function* followed(
  server: Server,
  session: string,
  workers: LiveWorkers,
  { from = 0, cursor: given, lookMs = 250 }: FollowSessionOptions,
  left: AbortSignal,
  leave: () => void,
): AsyncGenerator<Followed, void, undefined> {
  const cursor = cursorOf(given, from);
  const news = new News(left);
  // With a cursor, listen to the workers first: they have everything since in order, deltas between the records.
  let looks = given === undefined || workers.addresses.length === 0;
  const listeners: Listener[] = [];
  /** Record count of the session, as last seen. */
  let known = 0;
  try {
    for (const worker of workers.addresses)
      listeners.push(
        new Listener(worker, workers, { session, cursor, isNew: given === undefined }, (id, live) =>
          news.add(id, live),
        ),
      );
    while (!left.aborted) {
      if (looks) {
        looks = false;
        const { records, length } = await readAll(server, session, cursor.seq, left);
        if (length < known) throw deleted(session);
        known = length;
        for (const record of records) {
          cursor.seq = record.seq + 1;
          yield { cursor: textOf(cursor), record };
        }
      }
      const next = news.first;
      if (next === undefined) {
        looks = await news.isLate(lookMs);
        continue;
      }
      const { id, live } = next;
      // A record that is ahead shows a gap: the server will soon have what is missing.
      if ("record" in live && live.record.seq > cursor.seq) {
        await pause(20);
        looks = true;
        continue;
      }
      news.drop();
      cursor.hubs.set(hubOf(id), id);
      if ("event" in live) yield { cursor: textOf(cursor), event: live.event };
      else if (live.record.seq === cursor.seq) {
        cursor.seq += 1;
        yield { cursor: textOf(cursor), record: live.record };
      }
    }
  } catch (thrown) {
    if (!left.aborted) throw thrown;
  } finally {
    leave();
    for (const listener of listeners) listener.stop();
  }
}

const deleted = (session: string): RondoError =>
  new RondoError(
    "storage",
    `session ${JSON.stringify(session)} was deleted while it was followed: follow it again, from 0, to hear of what begins anew`,
  );

/** What workers sent that was not yielded yet. */
class News {
  readonly #left: AbortSignal;
  readonly #waiting: { id: string; live: Live }[] = [];
  #wake: (() => void) | undefined;

  /** @param left when it fires, whoever waits is woken */
  constructor(left: AbortSignal) {
    this.#left = left;
    left.addEventListener("abort", () => this.#wake?.(), { once: true });
  }

  get first(): { id: string; live: Live } | undefined {
    return this.#waiting[0];
  }

  drop(): void {
    this.#waiting.shift();
  }

  add(id: string, live: Live): void {
    this.#waiting.push({ id, live });
    this.#wake?.();
  }

  /** Waits for something. @returns true when nothing came in time */
  async isLate(ms: number): Promise<boolean> {
    if (this.#left.aborted) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const cancel = systemClock.after(ms, () => resolve(true));
    this.#wake = () => resolve(false);
    const late = await promise;
    this.#wake = undefined;
    cancel();
    return late;
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
