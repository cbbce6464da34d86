// The room of the ingress: how whoever is no worker reaches the objects.
//
// Plain HTTP and JSON. A call is tried again while the server cannot be reached or says it is not ready, under one
// idempotency key, so that it is done once however often it was asked for.

import { randomUUID } from "node:crypto";
import { messageOf, RondoError } from "@rondo/core";
import {
  type Check,
  type ChecksOf,
  callable,
  from0,
  listOf,
  needed,
  recordOf,
  some,
  text,
} from "@rondo/core/checks";
import { type Answered, post } from "./http.ts";
import { maxMessageBytes } from "./wire.ts";

/** How long a service is asked for that the server does not know, in milliseconds: a busy one takes seconds to hear of it. */
const unknownMs = 20_000;

/** How long a server that cannot be reached is asked again, where nobody says, in milliseconds. */
export const defaultPatienceMs = 30_000;

/** The longest that a connection may take, in milliseconds; whoever has less patience waits less for it. */
const longestConnectMs = 10_000;

/** How long it may take to reach a server before that is told, in milliseconds. */
const silentMs = 1_500;

export interface IngressOptions {
  /** The server's ingress, e.g. `http://127.0.0.1:8080`; several of one cluster are tried in turn. */
  ingress: string | readonly string[];
  /** Sent with every request, for a server behind a gateway. */
  headers?: { readonly [name: string]: string };
  /** How long a server that cannot be reached is asked again, in milliseconds; one that does not know the service, at most 20,000. Default: 30,000. */
  patienceMs?: number;
  /** Hears, early and once, that a server that cannot be reached is waited for. Default: nobody does. */
  warn?: (message: string) => void;
}

/** An address of a server. */
export const address: Check = needed(
  "an http address",
  (value) => typeof value === "string" && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
);

/** One address, or a list of them. */
export const addresses: Check = (value) => (Array.isArray(value) ? listOf(address)(value) : address(value));

export const ingressChecks: ChecksOf<IngressOptions> = {
  ingress: some(addresses, "an address"),
  headers: recordOf(text),
  patienceMs: from0,
  warn: callable,
};

export interface CallOptions {
  signal?: AbortSignal;
  /** Do it once, however often it is asked for. Default: not, for what only reads. */
  once?: boolean;
  /** What it may have at most. Default: what the server takes in one message. */
  maxBytes?: number;
}

export class Ingress {
  readonly #urls: readonly string[];
  readonly #headers: { readonly [name: string]: string };
  readonly #patienceMs: number;
  readonly #connectMs: number;
  readonly #warn: (message: string) => void;
  #at = 0;
  #told = false;

  /** @param options as they were checked */
  constructor({ ingress, headers = {}, patienceMs = defaultPatienceMs, warn = () => {} }: IngressOptions) {
    const urls = typeof ingress === "string" ? [ingress] : ingress;
    this.#urls = urls.map((url) => url.replace(/\/+$/, ""));
    this.#headers = headers;
    this.#patienceMs = patienceMs;
    this.#connectMs = Math.max(1_000, Math.min(longestConnectMs, patienceMs));
    this.#warn = warn;
  }

  /**
   * Calls a handler and waits for what it returns, however long.
   * @throws RondoError `network` when no server can be reached; `server_error` for what the server says;
   *   `payload_too_large` for more than it takes; `aborted` when the signal fired
   */
  async call<Out>(
    service: string,
    key: string,
    handler: string,
    input: unknown,
    { signal, once = false, maxBytes = maxMessageBytes }: CallOptions = {},
  ): Promise<Out> {
    const path = `/${service}/${encodeURIComponent(key)}/${handler}`;
    const body = JSON.stringify(input);
    const bytes = Buffer.byteLength(body);
    // One that just passes here would be too large with what an object puts around it, and be tried again for ever.
    if (bytes > maxBytes)
      throw new RondoError(
        "payload_too_large",
        `what is said to ${service}/${handler} has ${bytes} bytes, and ${maxBytes} are the most that Restate is given at once`,
      );
    const headers = {
      "content-type": "application/json",
      ...this.#headers,
      ...(once ? { "idempotency-key": randomUUID() } : {}),
    };
    let since: number | undefined;
    for (let attempt = 0; ; attempt += 1) {
      const url = this.#urls[this.#at % this.#urls.length] ?? "";
      const askedAt = Date.now();
      let connectedAt = Infinity;
      const came = await this.#ask(url + path, body, headers, signal, () => {
        connectedAt = Date.now();
      });
      if ("value" in came) {
        this.#told = false;
        return came.value as Out;
      }
      // A long call that breaks off is asked for again, and the time counts from there.
      const now = Date.now();
      if (now - connectedAt > this.#connectMs) since = now;
      since ??= askedAt;
      const waited = now - since;
      // What was registered a moment ago is not known at every ingress yet.
      const patienceMs = Math.min(this.#patienceMs, came.error.status === 404 ? unknownMs : Infinity);
      if (!came.again || waited > patienceMs) throw came.error;
      if (waited >= silentMs) this.#tellThatItWaits();
      this.#at += 1;
      await pause(Math.min(1_000, 20 * 2 ** attempt), signal);
    }
  }

  #tellThatItWaits(): void {
    if (this.#told) return;
    this.#told = true;
    this.#warn(
      `waiting for the Restate server at ${this.#urls.join(" or ")}, for at most ${this.#patienceMs / 1_000} s`,
    );
  }

  async #ask(
    url: string,
    body: string,
    headers: { [name: string]: string },
    signal: AbortSignal | undefined,
    isConnected: () => void,
  ): Promise<{ value: unknown } | { error: RondoError; again: boolean }> {
    if (signal?.aborted) return gaveUp(signal);
    let answered: Answered;
    try {
      answered = await post(url, body, headers, {
        signal,
        connectMs: this.#connectMs,
        isConnected,
        isLate: () => this.#tellThatItWaits(),
        silentMs,
      });
    } catch (thrown) {
      if (signal?.aborted) return gaveUp(signal);
      return {
        error: new RondoError(
          "network",
          `${url}: the server cannot be reached: ${messageOf(thrown)}; is Restate running, and is this the address of its ingress?`,
          { cause: thrown, retryable: true },
        ),
        again: true,
      };
    }
    const { status, text } = answered;
    if (status < 200 || status >= 300)
      return { error: refusal(url, status, text), again: [404, 429, 502, 503].includes(status) };
    if (text === "") return { value: undefined };
    try {
      return { value: JSON.parse(text) };
    } catch {
      const shown = text.slice(0, 200);
      return {
        error: new RondoError(
          "server_error",
          `${url}: ${status} with what is no JSON: ${shown}; is this the address of a Restate ingress?`,
          { status },
        ),
        again: false,
      };
    }
  }
}

const gaveUp = (signal: AbortSignal): { error: RondoError; again: false } => ({
  error: new RondoError("aborted", "no longer waited for", { cause: signal.reason }),
  again: false,
});

function refusal(url: string, status: number, text: string): RondoError {
  const message = messageIn(text);
  const hint =
    status === 404
      ? "; is a worker of this namespace registered (at an address that was known before only by force), and is this the ingress and not the admin port?"
      : "";
  return new RondoError(
    status === 413 ? "payload_too_large" : "server_error",
    `${url}: ${status} ${message.slice(0, 500)}${hint}`,
    { status },
  );
}

/** What a server says of itself in a text of its own, where it does. */
export function messageIn(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === "string" ? message : text;
  } catch {
    return text;
  }
}

const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
