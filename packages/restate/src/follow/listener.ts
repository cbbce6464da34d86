// The room of the listener: listens to one worker, and reconnects when the connection breaks.

import { type ClientHttp2Session, connect } from "node:http2";
import { parsedJson } from "@rondo/core";
import type { Live } from "../hub.ts";
import { livePath } from "../live-server.ts";
import type { Cursor } from "./cursor.ts";
import type { LiveWorkers } from "./live-workers.ts";

/** Pause before reconnecting, in milliseconds. */
const againMs = 500;
/** Longest pause after refusals, in milliseconds: each refusal doubles it. */
const longestMs = 30_000;
/** Maximum length of a refusal's text, in characters. */
const mostSaid = 500;

/** What is followed. */
export interface Following {
  session: string;
  cursor: Cursor;
  /** Nothing was yielded yet: the past is read from the server. */
  isNew: boolean;
}

export class Listener {
  readonly #worker: string;
  readonly #live: LiveWorkers;
  readonly #session: string;
  readonly #cursor: Cursor;
  /** Where to begin without a cursor. */
  readonly #first: "now" | "all:0";
  readonly #heard: (id: string, data: Live) => void;
  #connection: ClientHttp2Session | undefined;
  #isOver = false;
  #hub: string | undefined;
  #last: string | undefined;
  /** Number of refusals since it last sent something. */
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

  /** Pause before the next attempt, in milliseconds. */
  get #pauseMs(): number {
    return Math.min(longestMs, againMs * 2 ** Math.max(0, this.#refusals - 1));
  }

  /** The next attempt may reach another worker, with another token. */
  #refused(status: number, said: string): void {
    this.#refusals += 1;
    // A proxy in front of a worker may temporarily have none (5xx); a 4xx comes from the worker itself.
    if (status >= 400 && status < 500) this.#live.refused(this.#worker, `${status} ${said}`.trim());
  }

  /** The entry to continue after. The worker first tells which hub it has; until then it may be any that is known. */
  #place(): string {
    const own = this.#hub === undefined ? undefined : this.#cursor.hubs.get(this.#hub);
    const [any] = this.#cursor.hubs.values();
    return this.#last ?? own ?? any ?? this.#first;
  }

  /** @returns false if the worker must be asked again, with its own position */
  #take(block: string, after: string): boolean {
    const { id, event, data } = fieldsOf(block);
    if (data === undefined) return true;
    if (event === "open") {
      this.#refusals = 0;
      this.#hub = (JSON.parse(data) as { hub: string }).hub;
      const own = this.#cursor.hubs.get(this.#hub);
      // It was asked with another hub's position; asked again with its own, it sends only what is new.
      return this.#last !== undefined || own === undefined || own === after;
    }
    if (id !== undefined) {
      this.#last = id;
      this.#heard(id, parsedJson<Live>(data));
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
