// The room of HTTP: one small interface for every way of sending a request.
//
// A client makes one request, follows no redirect (credentials would go with it), and keeps two clocks: connect, and first
// byte. A body is pushed to a sink, not pulled: pulling costs a promise per chunk, and there are thousands of them.
// Whatever happens (an error, an abort, a sink that stops), the body is read to its end or discarded, so that no socket
// stays open.
//
// For HTTP/2, or a client of your own: implement `HttpClient` and give it to a model as `http`.

import type { BodyParts } from "../kept-text.ts";
import { Utf8Stream } from "./utf8.ts";

export interface HttpRequest {
  method: "GET" | "POST";
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
  /** The same body in parts. A client may write these instead, and never read the whole text. */
  parts?: BodyParts;
  /** Fires when the request, or its answer, is no longer wanted. */
  signal: AbortSignal;
  clocks?: HttpClocks;
}

/** Milliseconds. 0 switches a clock off. */
export interface HttpClocks {
  /** Until the connection is made, including TLS. Default: 10,000. `fetch` does not report it: there the time is added to `firstByteMs`. */
  connectMs?: number;
  /** From then until the first byte of the body. Default: 120,000. */
  firstByteMs?: number;
}

export const defaultClocks: Required<HttpClocks> = { connectMs: 10_000, firstByteMs: 120_000 };

/** Takes one chunk of a body. Returns `false` to stop reading. If it throws, `read` rejects with that. */
export type BodySink = (chunk: Uint8Array) => boolean | undefined;

export interface HttpResponse {
  readonly status: number;
  /** A header's value; several headers of one name are joined by a comma. */
  header(name: string): string | null;
  /**
   * Reads the body, decompressed. Resolves at its end, or when the sink returns `false`. Call it once.
   * @throws RondoError `network`, `timeout`, `aborted`; and whatever the sink throws
   */
  read(sink: BodySink): Promise<void>;
  /** Discards a body that is not wanted. */
  discard(): void;
}

export interface HttpClient {
  /** Sends a request. @throws RondoError `network`, `timeout`, `aborted`. A response with an error status does not throw. */
  request(request: HttpRequest): Promise<HttpResponse>;
}

/** How many milliseconds an unwanted body may take to end by itself, so that its connection can be reused. */
export const graceMs: number = 250;

/**
 * A body as text.
 * @param limit in characters; the rest is not read
 */
export async function bodyText(response: HttpResponse, limit: number = 64 * 1024 * 1024): Promise<string> {
  const utf8 = new Utf8Stream();
  const pieces: string[] = [];
  let length = 0;
  await response.read((chunk) => {
    const piece = utf8.decode(chunk);
    length += piece.length;
    pieces.push(piece);
    return length <= limit;
  });
  pieces.push(utf8.end());
  return pieces.join("").slice(0, limit);
}
