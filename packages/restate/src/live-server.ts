// The room of the live server: sends followers of a session what happens in this worker, over plain HTTP.
//
// Server-sent events, one per entry. An event's id names the hub and the entry's number in it; a follower that
// reconnects with its last id gets what came since. With an id of another hub, it gets everything that is kept.

import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Entry, Hub } from "./hub.ts";
import type { LiveGuard } from "./live-token.ts";

/** The path before the session's id. */
export const livePath = "/rondo/live/";

/** A follower with more unread bytes than this is disconnected; it may reconnect with its last id. */
const mostWaiting = 8 * 2 ** 20;

/** Whether the request was for it. */
export function serveLive(
  hub: Hub,
  guard: LiveGuard,
  request: Http2ServerRequest,
  response: Http2ServerResponse,
): boolean {
  // The unparsed path: a session may be called `..`.
  const [pathname = "", search] = request.url.split("?", 2);
  if (!pathname.startsWith(livePath)) return false;
  const refusal = guard(request.headers.authorization);
  if (refusal !== undefined) {
    const { status, says } = refusal;
    const challenge = status === 401 ? { "www-authenticate": "Bearer" } : {};
    response.writeHead(status, { "content-type": "text/plain; charset=utf-8", ...challenge }).end(says);
    return true;
  }
  const session = decoded(pathname.slice(livePath.length));
  if (request.method !== "GET" || session === undefined) {
    response.writeHead(request.method === "GET" ? 400 : 405).end();
    return true;
  }
  const last = request.headers["last-event-id"] ?? new URLSearchParams(search).get("after") ?? undefined;
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
  });
  response.write(`event: open\ndata: ${JSON.stringify({ hub: hub.id })}\n\n`);
  const stop = hub.watch(session, after(hub.id, last), (entry) => {
    if (response.stream.destroyed) return;
    response.write(eventOf(hub.id, entry));
    if (response.stream.writableLength > mostWaiting) response.stream.close();
  });
  const beat = setInterval(() => response.stream.destroyed || response.write(": here\n\n"), 15_000);
  beat.unref();
  const end = (): void => {
    clearInterval(beat);
    stop();
  };
  response.once("close", end);
  response.stream.once("error", end);
  return true;
}

function after(hub: string, last: string | string[] | undefined): number | undefined {
  if (typeof last !== "string" || last === "now") return undefined;
  const [id, n] = last.split(":");
  return id === hub && /^\d+$/.test(n ?? "") ? Number(n) : -1;
}

const eventOf = (hub: string, { n, ...live }: Entry): string =>
  `id: ${hub}:${n}\ndata: ${JSON.stringify(live)}\n\n`;

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text) || undefined;
  } catch {
    return undefined;
  }
}
