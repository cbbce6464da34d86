// The room of refusals that are no HTTP responses: what an SDK throws, what a stream says that had begun well.

import { type ErrorKind, RondoError } from "@rondo/core";
import type { ErrorResponse } from "../codec.ts";

/** An SDK's error as the response it was made from: SDKs throw objects with `status`, `headers` and the body as `error`. */
export function responseIn(thrown: unknown): ErrorResponse | undefined {
  if (typeof thrown !== "object" || thrown === null || thrown instanceof RondoError) return undefined;
  const { status, headers, error } = thrown as { status?: unknown; headers?: unknown; error?: unknown };
  if (typeof status !== "number" || status < 300) return undefined;
  return {
    status,
    header: (name) =>
      headers instanceof Headers
        ? headers.get(name)
        : typeof headers === "object" && headers !== null
          ? (((headers as Record<string, unknown>)[name] as string | undefined) ?? null)
          : null,
    body:
      error === undefined
        ? thrown instanceof Error
          ? thrown.message
          : ""
        : typeof error === "string"
          ? error
          : (JSON.stringify(error) ?? ""),
  };
}

/** The status a kind of error has where none was told. Of a `stream_error` only the words say what it is. */
const statusOf: { readonly [kind in ErrorKind]?: number } = {
  invalid_request: 400,
  capability: 400,
  stream_error: 400,
  server_error: 500,
};

/** What a decoder threw as the response that a server would have refused with, had it not begun to answer. */
export function refusalIn(thrown: unknown): ErrorResponse | undefined {
  if (!(thrown instanceof RondoError) || thrown.partial !== undefined) return undefined;
  const { raw, status = statusOf[thrown.kind] } = thrown;
  if (raw === undefined || status === undefined) return undefined;
  return { status, header: () => null, body: typeof raw === "string" ? raw : JSON.stringify(raw) };
}
