// The room of following: a session as it goes on, records and live events together.
//
// Records come from the session's object, and sooner from the worker that drives; each is told once, in order, whatever
// comes first. Live events come from workers alone, and only while they happen: one that is missed because a worker
// died or nobody asked for it in time is gone, the record of what it led to is not.

import { type LogRecord, RondoError, type RondoEvent, systemClock } from "@rondo/core";
import { cursorOf, hubOf, textOf } from "./follow/cursor.ts";
import { Listener } from "./follow/listener.ts";
import type { LiveWorkers } from "./follow/live-workers.ts";
import type { Live } from "./hub.ts";
import { readAll, type Server } from "./reading.ts";

/** One thing that happened. `cursor`: give it to `follow` to go on behind it. */
export type Followed = { cursor: string } & ({ record: LogRecord } | { event: RondoEvent });

export interface FollowSessionOptions {
  /** The first record to tell. Default: 0. */
  from?: number;
  /** Where an earlier `follow` was left: goes on behind that. */
  cursor?: string;
  /** Ends it. Breaking off does, too. */
  signal?: AbortSignal;
  /** How often the server is asked for records, in milliseconds. Default: 250. */
  lookMs?: number;
}

/** Never ends by itself, but with an error where the session is deleted. Whoever leaves off while nothing comes is let go at once. */
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
  const told = tell(server, session, workers, options, left.signal, leave);
  const back = told.return.bind(told);
  // A generator hears of it only when it has something to tell.
  const leaving: typeof back = (value) => {
    leave();
    return back(value);
  };
  return Object.assign(told, { return: leaving });
}

async function* tell(
  server: Server,
  session: string,
  workers: LiveWorkers,
  { from = 0, cursor: given, lookMs = 250 }: FollowSessionOptions,
  left: AbortSignal,
  leave: () => void,
): AsyncGenerator<Followed, void, undefined> {
  const cursor = cursorOf(given, from);
  const news = new News(left);
  // Who comes back hears the workers first: they have what came since in its order, deltas between the records.
  let looks = given === undefined || workers.addresses.length === 0;
  const listeners: Listener[] = [];
  /** How many records it has been seen with. */
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
        if (length < known)
          throw new RondoError(
            "storage",
            `session ${JSON.stringify(session)} was deleted while it was followed: follow it again, from 0, to hear of what begins anew`,
          );
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
      // One that is ahead shows a gap: the server has what is missing, soon.
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

/** What workers told and nobody was told yet. */
class News {
  readonly #left: AbortSignal;
  readonly #waiting: { id: string; live: Live }[] = [];
  #wake: (() => void) | undefined;

  /** @param left wakes whoever waits, when it fires */
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
