// The room of redirects: follows them by hand, and checks each hop like the first URL.
//
// A call's headers and body are for the origin it names. To another origin no credentials go, and only reading requests.

import type { IncomingMessage } from "node:http";
import { counted, Refusal } from "../reasons.ts";
import type { Reach } from "./allowed-hosts.ts";
import { type Asked, exchange } from "./exchange.ts";
import { urlOf } from "./urls.ts";

export interface Followed {
  response: IncomingMessage;
  url: URL;
  method: string;
}

/** The call's headers that may go to another origin. */
const harmless: ReadonlySet<string> = new Set(["accept", "accept-encoding", "accept-language", "user-agent"]);
/** Headers about a body, dropped with it. */
const ofBody = /^content-/;

const without = (asked: Asked["headers"], drop: (name: string) => boolean): Record<string, string> =>
  Object.fromEntries(Object.entries(asked).filter(([name]) => !drop(name)));

/**
 * Sends a request and follows redirects.
 * @throws Refusal when one leads where no request may go
 */
export async function follow(
  first: Asked,
  reach: Reach,
  maxRedirects: number,
  signal: AbortSignal,
): Promise<Followed> {
  let asked = first;
  for (let hops = 0; ; hops += 1) {
    const response = await exchange(asked, reach, signal).catch((thrown: unknown) => {
      throw hops === 0 ? thrown : behind(thrown);
    });
    const { statusCode = 0, headers } = response;
    const redirects = [301, 302, 303, 307, 308].includes(statusCode) && headers.location !== undefined;
    if (!redirects) return { response, url: asked.url, method: asked.method };
    // Nobody needs the body of a redirect.
    response.destroy();
    // Node decodes headers as Latin-1; servers write UTF-8.
    const location = Buffer.from(headers.location ?? "", "latin1").toString("utf8");
    const next = urlBehind(location, asked.url.href);
    if (hops === maxRedirects)
      throw new Refusal(`more than ${counted(maxRedirects, "redirect")}; the last one leads to ${next.href}`);
    asked = redirected(asked, statusCode, next);
  }
}

function urlBehind(location: string, base: string): URL {
  try {
    return urlOf(location, base);
  } catch (thrown) {
    throw behind(thrown);
  }
}

/** Marks an error after a redirect, so that the model does not blame the URL it gave. */
const behind = (thrown: unknown): unknown =>
  thrown instanceof Refusal ? new Refusal(`after a redirect: ${thrown.message}`) : thrown;

/** @throws Refusal when a redirect leads where no request may go */
export function redirected(asked: Asked, status: number, url: URL): Asked {
  if (asked.url.protocol === "https:" && url.protocol === "http:")
    throw new Refusal(`a redirect leads from https to ${url.href}, which is not safe`);
  const { method, headers, body } = asked;
  const elsewhere = url.origin !== asked.url.origin;
  const reads = method === "GET" || method === "HEAD";
  const becomesGet = !reads && (status === 303 || (status <= 302 && method === "POST"));
  if (elsewhere && !reads && !becomesGet)
    throw new Refusal(`a redirect leads to ${url.href}; request that URL directly if that is meant`);
  const kept = without(
    headers,
    (name) => (elsewhere && !harmless.has(name)) || (becomesGet && ofBody.test(name)),
  );
  if (becomesGet) return { method: "GET", url, headers: kept };
  return { method, url, headers: kept, ...(body === undefined ? {} : { body }) };
}
