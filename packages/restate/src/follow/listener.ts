// The room of the listener: one worker is heard, and comes back to when the connection breaks.

import { type ClientHttp2Session, connect } from "node:http2";
import type { Live } from "../hub.ts";
import { livePath } from "../live-server.ts";
import type { Cursor } from "./cursor.ts";
import type { LiveWorkers } from "./live-workers.ts";

/** Between a connection that broke and the next, in milliseconds. */
const againMs = 500;
/** The longest time after a refusal: each doubles it. */
const longestMs = 30_000;
/** As much of a refusal as is told, in characters. */
const mostSaid = 500;

/** What is followed. */
export interface Following {
  session: string;
  cursor: Cursor;
  /** Whoever follows has heard nothing yet, and reads what was from the server. */
  isNew: boolean;
}

export class Listener {
  readonly #worker: string;
  readonly #live: LiveWorkers;
  readonly #session: string;
  readonly #cursor: Cursor;
  /** Where it begins when it knows no place. */
  readonly #first: "now" | "all:0";
  readonly #heard: (id: string, data: Live) => void;
  #connection: ClientHttp2Session | undefined;
  #isOver = false;
  #hub: string | undefined;
  #last: string | undefined;
  /** How often it refused, since it was heard last. */
  #refusals = 0;

  constructor(
    worker: string,
    live: LiveWorkers,
    { session, cursor, isNew }: Following,
    heard: (id: string, data: Live) => void,
  ) {
    this.#worker = worker;
    this.#live = live;
    this.#session = session;
    this.#cursor = cursor;
    this.#first = isNew ? "now" : "all:0";
    this.#heard = heard;
    this.#open();
  }

  stop(): void {
    this.#isOver = true;
    this.#connection?.destroy();
  }

  #open(): void {
    if (this.#isOver) return;
    const connection = connect(this.#worker);
    this.#connection = connection;
    connection.unref();
    connection.once("error", () => {});
    connection.once("close", () => {
      connection.destroy();
      if (!this.#isOver) setTimeout(() => this.#open(), this.#pauseMs).unref();
    });
    const after = this.#place();
    const { token } = this.#live;
    const stream = connection.request({
      ":path": `${livePath}${encodeURIComponent(this.#session)}`,
      "last-event-id": after,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    });
    stream.setEncoding("utf8");
    let status = 0;
    stream.once("response", (headers) => {
      status = headers[":status"] ?? 0;
    });
    let rest = "";
    stream.on("data", (chunk: string) => {
      if (status !== 200) {
        rest = (rest + chunk).slice(0, mostSaid);
        return;
      }
      const blocks = (rest + chunk).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) if (!this.#take(block, after)) return connection.destroy();
    });
    stream.once("error", () => {});
    stream.once("end", () => {
      if (status !== 200) this.#refused(status, rest);
    });
    stream.once("close", () => connection.destroy());
    stream.end();
  }

  /** How long until it is asked again, in milliseconds. */
  get #pauseMs(): number {
    return Math.min(longestMs, againMs * 2 ** Math.max(0, this.#refusals - 1));
  }

  /** It may be another worker, with another token, when it is asked again. */
  #refused(status: number, said: string): void {
    this.#refusals += 1;
    // What stands before a worker may have none at the moment; a worker itself means it.
    if (status >= 400 && status < 500) this.#live.refused(this.#worker, `${status} ${said}`.trim());
  }

  /** The entry to go on behind. Which memory the worker has is told first; until then it may be any that is known. */
  #place(): string {
    const own = this.#hub === undefined ? undefined : this.#cursor.hubs.get(this.#hub);
    const [any] = this.#cursor.hubs.values();
    return this.#last ?? own ?? any ?? this.#first;
  }

  /** @returns false where the worker is to be asked again, from its own place */
  #take(block: string, after: string): boolean {
    const { id, event, data } = fieldsOf(block);
    if (data === undefined) return true;
    if (event === "open") {
      this.#refusals = 0;
      this.#hub = (JSON.parse(data) as { hub: string }).hub;
      const own = this.#cursor.hubs.get(this.#hub);
      // It was asked with another's place: asked again with its own, it tells only what is new.
      return this.#last !== undefined || own === undefined || own === after;
    }
    if (id !== undefined) {
      this.#last = id;
      this.#heard(id, JSON.parse(data) as Live);
    }
    return true;
  }
}

function fieldsOf(block: string): { id?: string; event?: string; data?: string } {
  const fields: { [name: string]: string } = {};
  for (const line of block.split("\n")) {
    const at = line.indexOf(": ");
    if (at > 0) fields[line.slice(0, at)] = line.slice(at + 2);
  }
  return fields;
}
