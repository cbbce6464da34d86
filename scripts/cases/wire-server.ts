// The room of the wire server: a real HTTP server on loopback that serves a case's responses in a given chunking.
//
// Pieces are sent one at a time, each after the previous one has reached the reader (which the tap reports), so that the
// kernel does not join them. A case's actions happen between pieces.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { HttpClient, HttpResponse } from "@rondo/models";
import type { Chunking, Served } from "./wire.ts";

/** One request, and what happened to it. */
export interface Exchange {
  url: string;
  headers: Record<string, string>;
  /** The body as sent, and parsed. */
  text: string;
  body: unknown;
  served: Served;
  /** The client closed the connection before the response was complete. */
  closedByClient: boolean;
  /** All of it was sent in one piece and ended: there was nothing left to close. */
  sentAtOnce?: boolean;
  /** Nothing more happens to it by itself. */
  resting: boolean;
  /** Everything was sent, but the server keeps the connection open. */
  held?: boolean;
  /** Deliberately not answered yet. */
  delaying?: boolean;
}

/** Tracks how far the reader of the current response has come. */
export class Tap {
  read = 0;
  over = false;
  /** The most bytes that the reader is given at once. */
  most = Number.POSITIVE_INFINITY;
  #wake: (() => void) | undefined;

  start(): void {
    this.read = 0;
    this.over = false;
  }

  note(bytes: number): void {
    this.read += bytes;
    this.#wake?.();
  }

  end(): void {
    this.over = true;
    this.#wake?.();
  }

  /** Resolves when that many bytes were read, or nobody reads any more. */
  async reached(bytes: number): Promise<void> {
    while (!this.over && this.read < bytes) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** The transport's client, observed. */
export function tapped(client: HttpClient, tap: Tap): HttpClient {
  const listened = (response: HttpResponse): HttpResponse => ({
    status: response.status,
    header: (name) => response.header(name),
    read: async (sink) => {
      try {
        await response.read((chunk) => {
          for (let at = 0; at < chunk.length; at += tap.most) {
            const piece = chunk.subarray(at, at + tap.most);
            const more = sink(piece);
            tap.note(piece.length);
            if (more === false) return false;
          }
          return true;
        });
      } finally {
        tap.end();
      }
    },
    discard: () => {
      tap.end();
      response.discard();
    },
  });
  return {
    // Not async, so that what the client throws synchronously is thrown synchronously.
    request(request) {
      tap.start();
      return client.request(request).then(listened, (thrown: unknown) => {
        tap.end();
        throw thrown;
      });
    },
  };
}

export interface WireServerParts {
  chunking: Chunking;
  tap: Tap;
  /** The next response. */
  next(request: { body: unknown }): Served;
  /** The actions due once frame `frame` (from 1) of exchange `exchange` was read, if any. */
  atFrame(exchange: number, frame: number): (() => Promise<void>) | undefined;
  /** Time for the `Date` header. */
  now(): number;
  /** A wait in the case's time. */
  sleep(ms: number): Promise<void>;
}

export class WireServer {
  readonly exchanges: Exchange[] = [];
  /** An error in serving: a defect of the case or of the runner. */
  failure: unknown;
  readonly #parts: WireServerParts;
  readonly #server: Server;

  constructor(parts: WireServerParts) {
    this.#parts = parts;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((thrown: unknown) => {
        this.failure ??= thrown;
        response.destroy();
      });
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resolves when no connection is held open any more, or soon after. */
  async letGo(): Promise<void> {
    const open = (): boolean =>
      this.exchanges.some((one) => !one.resting || (one.held === true && !one.closedByClient));
    for (let waited = 0; waited < 40 && open(); waited += 1) await realSleep(10);
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString();
    const body = parsed(text);
    const served = this.#parts.next({ body });
    const exchange: Exchange = {
      url: `http://${request.headers.host}${request.url}`,
      headers: Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      ),
      text,
      body,
      served,
      closedByClient: false,
      sentAtOnce: this.#parts.chunking === "whole" && served.eof === "clean",
      resting: false,
    };
    this.exchanges.push(exchange);
    const number = this.exchanges.length;
    response.on("close", () => {
      if (!response.writableFinished && served.eof !== "reset") exchange.closedByClient = true;
      exchange.resting = true;
    });
    if (served.delayMs > 0) await this.#delay(exchange, served.delayMs);
    if (response.destroyed) return;
    response.writeHead(served.status, {
      date: new Date(this.#parts.now()).toUTCString(),
      ...served.headers,
      ...(served.frames.length === 0 && served.eof === "clean" ? { "content-length": "0" } : {}),
    });
    response.flushHeaders();
    await this.#sendFrames(response, number, exchange);
    await this.#end(response, exchange);
  }

  /** Delays in both times: the loop's timers are virtual, the transport's are real; a long delay is real only in part. */
  async #delay(exchange: Exchange, ms: number): Promise<void> {
    await this.#pause(exchange, ms);
    await realSleep(Math.min(ms, longestReal));
  }

  async #pause(exchange: Exchange, ms: number): Promise<void> {
    Object.assign(exchange, { resting: true, delaying: true });
    await this.#parts.sleep(ms);
    Object.assign(exchange, { resting: false, delaying: false });
  }

  async #sendFrames(response: ServerResponse, number: number, exchange: Exchange): Promise<void> {
    const { chunking, tap, atFrame } = this.#parts;
    const { served } = exchange;
    const { frameDelayMs = 0 } = served;
    if (chunking === "split") tap.most = pieceOf(served);
    // With a compressed body the client reads other bytes than were sent, so the reader's position cannot be awaited.
    const packed =
      served.frames[0]?.[0] === 0x1f ||
      Object.keys(served.headers).some((name) => name.toLowerCase() === "content-encoding");
    const read = async (bytes: number): Promise<void> => {
      if (!packed) await tap.reached(bytes);
    };
    let sent = 0;
    // A long body is read in larger steps; but what the client breaks off is not sent to its end.
    let due = stepOfLong;
    const send = async (piece: Buffer): Promise<void> => {
      if (response.destroyed || piece.length === 0) return;
      const flushed = response.write(piece);
      sent += piece.length;
      if (!flushed && !response.destroyed) await drained(response);
      if (served.long && sent < due) return;
      due = sent + stepOfLong;
      await read(sent);
    };
    let held: Buffer[] = [];
    for (let at = 0; at < served.frames.length; at += 1) {
      if (at > 0 && frameDelayMs > 0) {
        await read(sent);
        await this.#pause(exchange, frameDelayMs);
      }
      held.push(served.frames[at] as Buffer);
      const acting = atFrame(number, at + 1);
      // An action is a point in time: it also splits a body that is otherwise sent whole.
      const last = at + 1 === served.frames.length;
      if (chunking === "whole" && acting === undefined && !last && frameDelayMs === 0) continue;
      const whole = Buffer.concat(held);
      held = [];
      for (const piece of cut(whole, chunking, served)) await send(piece);
      if (acting !== undefined) {
        await read(sent);
        await realSleep(0);
        await acting();
      }
    }
  }

  async #end(response: ServerResponse, exchange: Exchange): Promise<void> {
    const { tap, sleep } = this.#parts;
    const { eof, frames } = exchange.served;
    if (response.destroyed) return;
    if (eof === "clean") {
      response.end();
      return;
    }
    await tap.reached(frames.reduce((sum, frame) => sum + frame.length, 0));
    if (eof === "reset") {
      response.socket?.resetAndDestroy();
      return;
    }
    Object.assign(exchange, { resting: true, held: true });
    while (eof === "repeat_last" && !response.destroyed) {
      await sleep(exchange.served.repeatMs ?? 1000);
      if (!response.destroyed) response.write(frames.at(-1) ?? Buffer.alloc(0));
    }
  }
}

/** Bodies too long for single bytes are cut into pieces of an odd length instead. */
const pieceOf = ({ long }: Served): number => (long ? 1021 : 1);

/** After how many bytes of a long body the client must have read them. */
const stepOfLong = 65_536;

function* cut(whole: Buffer, chunking: Chunking, served: Served): Generator<Buffer> {
  const { long } = served;
  const size = chunking === "bytes" ? pieceOf(served) : chunking === "whole" ? whole.length : 16_381;
  if (!long && chunking !== "bytes") {
    yield whole;
    return;
  }
  for (let at = 0; at < whole.length; at += size) yield whole.subarray(at, at + size);
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}

/** In milliseconds: longer than the short limit that a case sets for the transport, and nothing to wait for. */
const longestReal = 2_500;

const realSleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
