// The room of refusals that are not HTTP responses of the server that refused: what an SDK throws, errors in a stream that had
// begun, and what a gateway passes on.

import { type ErrorKind, RondoError } from "@rondo/core";
import type { ErrorResponse } from "../codec.ts";

/** An SDK's error as the response it came from: SDKs throw objects with `status`, `headers`, and the body as `error`. */
export function responseIn(thrown: unknown): ErrorResponse | undefined {
  if (typeof thrown !== "object" || thrown === null || thrown instanceof RondoError) return undefined;
  const { status, headers, error } = thrown as { status?: unknown; headers?: unknown; error?: unknown };
  if (typeof status !== "number" || status < 300) return undefined;
  return {
    status,
    header: headers instanceof Headers ? (name) => headers.get(name) : plainHeaders(headers),
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

/** Headers in a plain object, as older SDKs have them: in any letters, and with values that need not be texts. */
function plainHeaders(headers: unknown): (name: string) => string | null {
  const lower = new Map<string, string>();
  for (const [name, value] of Object.entries(Object(headers)))
    if (value !== undefined && value !== null) lower.set(name.toLowerCase(), String(value));
  return (name) => lower.get(name.toLowerCase()) ?? null;
}

/** The response with the status of a refusal, if its gateway gave it one of its own. */
export const asRefusal = (response: ErrorResponse, { kind }: RondoError): ErrorResponse =>
  kind === "invalid_request" && response.status >= 500 ? { ...response, status: 400 } : response;

/** The usual status for a kind of error, if it has none. Only the words say what a `stream_error` is. */
const statusOf: { readonly [kind in ErrorKind]?: number } = {
  invalid_request: 400,
  capability: 400,
  stream_error: 400,
  // A token that expired while a gateway had begun its response: a fresh one is asked for, as with the status itself (F180).
  auth: 401,
  server_error: 500,
};

/** What a decoder threw, as the response with which a server would have refused, had it not begun to answer. */
export function refusalIn(thrown: unknown): ErrorResponse | undefined {
  if (!(thrown instanceof RondoError) || thrown.partial !== undefined) return undefined;
  const { raw, status = statusOf[thrown.kind] } = thrown;
  if (raw === undefined || status === undefined) return undefined;
  return { status, header: () => null, body: typeof raw === "string" ? raw : JSON.stringify(raw) };
}
