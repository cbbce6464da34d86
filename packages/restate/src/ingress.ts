// The room of the ingress: calls the objects from outside of a worker.
//
// Plain HTTP and JSON. While the server cannot be reached or is not ready, a call is retried under one idempotency
// key, so that it takes effect once.

import { randomUUID } from "node:crypto";
import { messageOf, parsedJson, RondoError } from "@rondo/core";
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

/** How long to retry a service that the server does not know, in milliseconds: a busy server takes seconds to learn of it. */
const unknownMs = 20_000;

/** Default for how long to retry an unreachable server, in milliseconds. */
export const defaultPatienceMs = 30_000;

/** Longest time for connecting, in milliseconds; less if `patienceMs` is less. */
const longestConnectMs = 10_000;

/** After this many milliseconds without a connection, `warn` is called. */
const silentMs = 1_500;

export interface IngressOptions {
  /** The server's ingress, e.g. `http://127.0.0.1:8080`; several of one cluster are tried in turn. */
  ingress: string | readonly string[];
  /** Sent with every request, for a server behind a gateway. */
  headers?: { readonly [name: string]: string };
  /** How long to retry an unreachable server, in milliseconds; one that does not know the service, at most 20,000. Default: 30,000. */
  patienceMs?: number;
  /** Called early, and once, when the server cannot be reached and is waited for. Default: no warning. */
  warn?: (message: string) => void;
}

/** The URL of a server. */
export const address: Check = needed(
  "an http address",
  (value) => typeof value === "string" && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
);

/** One URL, or a list of them. */
export const addresses: Check = (value) => (Array.isArray(value) ? listOf(address)(value) : address(value));

export const ingressChecks: ChecksOf<IngressOptions> = {
  ingress: some(addresses, "an address"),
  headers: recordOf(text),
  patienceMs: from0,
  warn: callable,
};

export interface CallOptions {
  signal?: AbortSignal;
  /** Use an idempotency key, so that retries take effect once. Default: false, for calls that only read. */
  once?: boolean;
  /** Maximum size of the input. Default: what the server takes in one message. */
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

  /** @param options already checked */
  constructor({ ingress, headers = {}, patienceMs = defaultPatienceMs, warn = () => {} }: IngressOptions) {
    const urls = typeof ingress === "string" ? [ingress] : ingress;
    this.#urls = urls.map((url) => url.replace(/\/+$/, ""));
    this.#headers = headers;
    this.#patienceMs = patienceMs;
    this.#connectMs = Math.max(1_000, Math.min(longestConnectMs, patienceMs));
    this.#warn = warn;
  }

  /**
   * Calls a handler and waits for its return value, however long.
   * @throws RondoError `network` when no server can be reached; `server_error` for an error of the server;
   *   `payload_too_large` for too large an input; `aborted` when the signal fired
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
    // Larger input might just pass here, but not once an object wraps it, and would then be retried forever.
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
      // A long call that breaks off is repeated; its patience counts from now.
      const now = Date.now();
      if (now - connectedAt > this.#connectMs) since = now;
      since ??= askedAt;
      const waited = now - since;
      // A new registration takes a while to reach every ingress.
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
      return { value: parsedJson(text) };
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

/** The server's own error message in a response, if it has one. */
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
