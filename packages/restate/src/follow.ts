// The room of following: a session as it goes on, records and live events together.
//
// Records come from the session's object, and sooner from the worker that drives; each is told once, in order, whatever
// comes first. Live events come from workers alone, and only while they happen: one that is missed because a worker
// died or nobody asked for it in time is gone, the record of what it led to is not.

import { connect } from "node:http2";
import { type LogRecord, type RondoEvent, systemClock } from "@rondo/core";
import { livePath } from "./live-server.ts";
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

interface Cursor {
  seq: number;
  /** The last entry of each worker's memory. */
  hubs: Map<string, string>;
}

function cursorOf(text: string | undefined, from: number): Cursor {
  const [seq, ...hubs] = (text ?? "").split(";");
  const known = Number(seq);
  return {
    seq: text !== undefined && Number.isSafeInteger(known) && known >= 0 ? known : from,
    hubs: new Map(hubs.map((hub) => [hub.split(":")[0] ?? "", hub])),
  };
}

const textOf = ({ seq, hubs }: Cursor): string => [seq, ...hubs.values()].join(";");

/** Never ends by itself. Whoever leaves off while nothing comes is let go at once. */
export function followSession(
  server: Server,
  session: string,
  workers: readonly string[],
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
  workers: readonly string[],
  { from = 0, cursor: given, lookMs = 250 }: FollowSessionOptions,
  left: AbortSignal,
  leave: () => void,
): AsyncGenerator<Followed, void, undefined> {
  const cursor = cursorOf(given, from);
  const live: { id: string; data: { record?: LogRecord; event?: RondoEvent } }[] = [];
  let wake: (() => void) | undefined;
  // Who comes back hears the workers first: they have what came since in its order, deltas between the records.
  let looks = given === undefined || workers.length === 0;
  const end = (): void => wake?.();
  left.addEventListener("abort", end, { once: true });
  const heard = (id: string, data: (typeof live)[number]["data"]): void => {
    live.push({ id, data });
    wake?.();
  };
  const stops = workers.map((worker) => listen(worker, session, cursor, given === undefined, heard));
  try {
    while (!left.aborted) {
      if (looks) {
        looks = false;
        const { records } = await readAll(server, session, cursor.seq, left);
        for (const record of records) {
          cursor.seq = record.seq + 1;
          yield { cursor: textOf(cursor), record };
        }
      }
      const next = live.shift();
      if (next !== undefined) {
        const { record, event } = next.data;
        // One that is ahead shows a gap: the server has what is missing, soon.
        if (record !== undefined && record.seq > cursor.seq) {
          live.unshift(next);
          await pause(20);
          looks = true;
          continue;
        }
        cursor.hubs.set(next.id.split(":")[0] ?? "", next.id);
        if (record !== undefined && record.seq === cursor.seq) {
          cursor.seq += 1;
          yield { cursor: textOf(cursor), record };
        } else if (event !== undefined) yield { cursor: textOf(cursor), event };
        continue;
      }
      await new Promise<void>((resolve) => {
        const cancel = systemClock.after(lookMs, () => {
          looks = true;
          resolve();
        });
        wake = () => {
          cancel();
          resolve();
        };
        if (left.aborted) wake();
      });
      wake = undefined;
    }
  } catch (thrown) {
    if (!left.aborted) throw thrown;
  } finally {
    leave();
    for (const stop of stops) stop();
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Hears a worker, and comes back to it when the connection breaks. @returns how to stop */
function listen(
  worker: string,
  session: string,
  cursor: Cursor,
  isNew: boolean,
  heard: (id: string, data: never) => void,
): () => void {
  let over = false;
  let hub: string | undefined;
  let last: string | undefined;
  let close = (): void => {};
  const open = (): void => {
    if (over) return;
    const connection = connect(worker);
    connection.unref();
    const again = (): void => {
      connection.destroy();
      if (!over) setTimeout(open, 500).unref();
    };
    close = () => connection.destroy();
    connection.once("error", () => {});
    connection.once("close", again);
    // Which memory it has is told first; until then any place in any of them may be the one to go on from.
    const known = last ?? (hub === undefined ? undefined : cursor.hubs.get(hub));
    const candidates = known === undefined ? [...cursor.hubs.values()] : [known];
    const after = candidates[0] ?? (isNew ? "now" : "all:0");
    const stream = connection.request({
      ":path": `${livePath}${encodeURIComponent(session)}`,
      "last-event-id": after,
    });
    stream.setEncoding("utf8");
    let rest = "";
    stream.on("data", (chunk: string) => {
      rest += chunk;
      for (let at = rest.indexOf("\n\n"); at >= 0; at = rest.indexOf("\n\n")) {
        const { id, event, data } = fieldsOf(rest.slice(0, at));
        rest = rest.slice(at + 2);
        if (data === undefined) continue;
        if (event === "open") {
          hub = (JSON.parse(data) as { hub: string }).hub;
          const own = cursor.hubs.get(hub);
          // It was asked with another's place: asked again with its own, it tells only what is new.
          if (last === undefined && own !== undefined && own !== after) {
            connection.destroy();
            return;
          }
        } else if (id !== undefined) {
          last = id;
          heard(id, JSON.parse(data) as never);
        }
      }
    });
    stream.once("error", () => {});
    stream.once("close", () => connection.destroy());
    stream.end();
  };
  open();
  return () => {
    over = true;
    close();
  };
}

function fieldsOf(block: string): { id?: string; event?: string; data?: string } {
  const fields: { [name: string]: string } = {};
  for (const line of block.split("\n")) {
    const at = line.indexOf(": ");
    if (at > 0) fields[line.slice(0, at)] = line.slice(at + 2);
  }
  return fields;
}
