// The room of the fetch client: the portable client, for browsers, edge runtimes, and a fetch of the user's own.
//
// Redirects are not followed. fetch does not report when the connection is made, so both clocks are one here. A fetch on
// Node has undici's own limits (300 s of silence); when they strike, the error says so.

import { longestWait } from "@rondo/core";
import {
  type BodySink,
  defaultClocks,
  graceMs,
  type HttpClient,
  type HttpRequest,
  type HttpResponse,
} from "./http.ts";
import { abortedError, networkError, timeoutError } from "./network.ts";

/** The part of `fetch` that is used. */
export type FetchLike = (url: string, init: RequestInit) => Promise<Response>;

/** A client over `fetch`. Default: the global one. */
export function fetchClient(options: { fetch?: FetchLike } = {}): HttpClient {
  return { request: (request) => exchange(request, options.fetch ?? globalThis.fetch) };
}

async function exchange(request: HttpRequest, fetch: FetchLike): Promise<HttpResponse> {
  const { url, signal } = request;
  if (signal.aborted) throw abortedError(signal);
  const watch = watching(request);
  let response: Response;
  try {
    response = await send(request, fetch, watch);
  } catch (thrown) {
    watch.settle();
    throw watch.failed() ?? networkError(thrown, url);
  }
  return {
    status: response.status,
    header: (name) => response.headers.get(name),
    read: (sink) =>
      readBody(response, sink, watch).then(
        () => {
          watch.settle();
          const failed = watch.failed();
          if (failed !== undefined) throw failed;
        },
        (thrown: unknown) => {
          watch.settle();
          if (thrown instanceof SinkError) throw thrown.cause;
          throw watch.failed() ?? networkError(thrown, url);
        },
      ),
    discard: () => {
      watch.settle();
      // Once the body is being read, only its reader may cancel it; the abort reaches the reader.
      watch.ours.abort();
      response.body?.cancel().catch(() => {});
    },
  };
}

/** What may end an exchange early: the caller's signal, or the clock. */
interface Watch {
  ours: AbortController;
  /** Why it was ended. */
  failed(): Error | undefined;
  stopClock(): void;
  /** Ends the watch when the exchange is over. */
  settle(): void;
}

function watching({ url, signal, clocks }: HttpRequest): Watch {
  const connectMs = clocks?.connectMs ?? defaultClocks.connectMs;
  const firstByteMs = clocks?.firstByteMs ?? defaultClocks.firstByteMs;
  const ours = new AbortController();
  let failed: Error | undefined;
  const failWith = (error: Error): void => {
    failed ??= error;
    ours.abort(failed);
  };
  const onAbort = (): void => failWith(abortedError(signal));
  signal.addEventListener("abort", onAbort, { once: true });
  const ms = firstByteMs > 0 ? firstByteMs + connectMs : 0;
  const strike = (): void => failWith(timeoutError(url, "firstByteMs", ms));
  const timer = ms > 0 ? setTimeout(strike, Math.min(ms, longestWait)) : undefined;
  const stopClock = (): void => clearTimeout(timer);
  const settle = (): void => {
    stopClock();
    signal.removeEventListener("abort", onAbort);
  };
  return { ours, failed: () => failed, stopClock, settle };
}

function send(
  { url, method, headers, body }: HttpRequest,
  fetch: FetchLike,
  { ours, failed }: Watch,
): Promise<Response> {
  // A fetch that ignores its signal must not delay an abort: `gone` rejects the moment our signal fires.
  const gone = new Promise<never>((_, reject) => {
    ours.signal.addEventListener("abort", () => reject(failed()), { once: true });
  });
  gone.catch(() => {});
  const sent = Promise.resolve(
    fetch(url, {
      method,
      headers,
      redirect: "manual",
      signal: ours.signal,
      ...(body === undefined ? {} : { body }),
    }),
  );
  sent.then(
    (late) => {
      if (failed() !== undefined) late.body?.cancel().catch(() => {});
    },
    () => {},
  );
  return Promise.race([sent, gone]);
}

/** Wraps what a sink threw, to distinguish it from network failures. */
class SinkError extends Error {}

async function readBody(response: Response, sink: BodySink, { ours, stopClock }: Watch): Promise<void> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  // A body that ignores the signal still ends here: cancelling settles a pending read.
  const onGone = (): void => void reader.cancel().catch(() => {});
  ours.signal.addEventListener("abort", onGone, { once: true });
  if (ours.signal.aborted) onGone();
  let first = true;
  for (;;) {
    const { done, value } = await reader.read();
    if (first) {
      first = false;
      stopClock();
    }
    if (done || ours.signal.aborted) return;
    let wanted: boolean | undefined;
    try {
      wanted = sink(value);
    } catch (thrown) {
      ours.abort();
      throw new SinkError("the sink threw", { cause: thrown });
    }
    if (wanted === false) {
      ours.signal.removeEventListener("abort", onGone);
      void drain(reader);
      return;
    }
  }
}

/** The rest is not wanted: it may end by itself within a moment, so that the connection can be reused; otherwise it is cut off. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => reader.cancel().catch(() => {}), graceMs);
  if (typeof timer === "object") (timer as { unref?(): void }).unref?.();
  try {
    while (!(await reader.read()).done);
  } catch {
    // The connection broke after all that was needed had arrived.
  } finally {
    clearTimeout(timer);
  }
}
