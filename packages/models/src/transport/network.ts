// The room of network failures: what a broken connection is called, and what to do about it.
//
// Error codes are read through the whole chain of causes (undici wraps the real error); messages are never matched.

import { causesOf, messageOf, RondoError } from "@rondo/core";

/** A request's network failure, as an error that names the host and says what to do. Rondo's own errors stay as they are. */
export function networkError(thrown: unknown, url: string): RondoError {
  if (thrown instanceof RondoError) return thrown;
  const host = hostOf(url);
  const code = codeOf(thrown);
  if (code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT")
    return new RondoError(
      "timeout",
      `${host} was silent for longer than fetch's own limit (${code}, 300 s by default): raise it in your fetch's dispatcher, or let Rondo use its default client on Node, which has no such limit`,
      { cause: thrown },
    );
  if (code === "ERR_INVALID_CHAR" || code === "ERR_INVALID_HTTP_TOKEN")
    return new RondoError("invalid_request", `the request to ${host} was not sent: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  return new RondoError("network", sentence(code, host, thrown), {
    cause: thrown,
    // A certificate that is not trusted now will not be trusted in a second either.
    ...(code !== undefined && certificateCodes.test(code) ? { retryable: false } : {}),
  });
}

export function abortedError(signal: AbortSignal): RondoError {
  return new RondoError("aborted", "the model call was aborted", { cause: signal.reason });
}

export function timeoutError(url: string, clock: "connectMs" | "firstByteMs", ms: number): RondoError {
  const what = clock === "connectMs" ? "no connection to" : "no first byte from";
  return new RondoError(
    "timeout",
    `${what} ${hostOf(url)} within ${ms} ms (the clock ${clock === "connectMs" ? "connect" : "first byte"}): raise it if the server needs longer`,
  );
}

/** The first code in the chain of causes. */
export function codeOf(thrown: unknown): string | undefined {
  for (const one of causesOf(thrown)) {
    const { code } = Object(one) as { code?: unknown };
    if (typeof code === "string") return code;
  }
  return undefined;
}

function sentence(code: string | undefined, host: string, thrown: unknown): string {
  switch (code) {
    case "ENOTFOUND":
      return `there is no host ${host} (${code}): check the base URL and the name service`;
    case "EAI_AGAIN":
      return `the name of ${host} could not be looked up for now (${code}): check the network connection`;
    case "ECONNREFUSED":
      return `${host} refused the connection (${code}): is the server running, and is the port right?`;
    case "ENETUNREACH":
    case "EHOSTUNREACH":
    case "ENETDOWN":
      return `there is no way to ${host} (${code}): check the network connection`;
    case "ECONNRESET":
    case "EPIPE":
    case "ECONNABORTED":
    case "UND_ERR_SOCKET":
    case "ERR_STREAM_PREMATURE_CLOSE":
      return `the connection to ${host} broke off (${code})`;
    case "ETIMEDOUT":
    case "UND_ERR_CONNECT_TIMEOUT":
      return `the connection to ${host} timed out (${code})`;
    case "ERR_INVALID_URL":
      return `the address is no valid URL (${code}): check the base URL`;
    case "HPE_INVALID_CONSTANT":
    case "HPE_INVALID_HEADER_TOKEN":
      return `${host} does not speak HTTP (${code}): check the port, and http or https`;
    default:
      break;
  }
  if (code !== undefined && certificateCodes.test(code))
    return `the certificate of ${host} was not accepted (${code}): a proxy with its own authority needs NODE_EXTRA_CA_CERTS`;
  if (code === "EPROTO" || code?.startsWith("ERR_SSL"))
    return `TLS with ${host} failed (${code}): is it an https server?`;
  return `the request to ${host} failed: ${code === undefined ? "" : `${code}: `}${messageOf(thrown)}`;
}

const certificateCodes = /^(?:CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS_CERT)/;

/** Host and port only: a path or a query may hold secrets. */
function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return "the server";
  }
}

/** Waits for a series of promises that do not react to the abort themselves. */
export interface Waiting {
  /** On an abort only the waiting ends; the work goes on. */
  for<T>(work: PromiseLike<T>): Promise<T>;
  /** Ends the waiting. */
  end(): void;
}

/** Not `Promise.race` with one abort promise: that would hold every result until the end. */
export function waitingUnless(signal: AbortSignal): Waiting {
  let leave: (error: RondoError) => void = () => {};
  let left: RondoError | undefined;
  const onAbort = (): void => {
    left = abortedError(signal);
    leave(left);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  return {
    for: (work) =>
      new Promise((resolve, reject) => {
        leave = reject;
        if (left !== undefined) reject(left);
        Promise.resolve(work).then(resolve, reject);
      }),
    end: () => signal.removeEventListener("abort", onAbort),
  };
}

/** Waits for one promise that does not react to the abort itself. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const waiting = waitingUnless(signal);
  try {
    return await waiting.for(promise);
  } finally {
    waiting.end();
  }
}
