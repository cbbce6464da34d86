// The room of the listener: one worker is heard, and comes back to when the connection breaks.

import { type ClientHttp2Session, connect } from "node:http2";
import type { Live } from "../hub.ts";
import { livePath } from "../live-server.ts";
import type { Cursor } from "./cursor.ts";

/** Between a connection that broke and the next, in milliseconds. */
const againMs = 500;

export class Listener {
  readonly #worker: string;
  readonly #session: string;
  readonly #cursor: Cursor;
  /** Where it begins when it knows no place. */
  readonly #first: "now" | "all:0";
  readonly #heard: (id: string, data: Live) => void;
  #connection: ClientHttp2Session | undefined;
  #isOver = false;
  #hub: string | undefined;
  #last: string | undefined;

  /** @param isNew whoever follows has heard nothing yet, and reads what was from the server */
  constructor(
    worker: string,
    session: string,
    cursor: Cursor,
    isNew: boolean,
    heard: (id: string, data: Live) => void,
  ) {
    this.#worker = worker;
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
      if (!this.#isOver) setTimeout(() => this.#open(), againMs).unref();
    });
    const after = this.#place();
    const stream = connection.request({
      ":path": `${livePath}${encodeURIComponent(this.#session)}`,
      "last-event-id": after,
    });
    stream.setEncoding("utf8");
    let rest = "";
    stream.on("data", (chunk: string) => {
      const blocks = (rest + chunk).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) if (!this.#take(block, after)) return connection.destroy();
    });
    stream.once("error", () => {});
    stream.once("close", () => connection.destroy());
    stream.end();
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
