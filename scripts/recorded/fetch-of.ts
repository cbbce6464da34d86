// The room of the replaying fetch: a client that uses it contacts no server.

import type { Recording } from "./corpus.ts";

/** A `fetch` that answers every request with the recording. */
export function fetchOf(recording: Recording): () => Promise<Response> {
  return async () =>
    new Response(new Blob(recording.frames as Uint8Array<ArrayBuffer>[]), {
      headers: { "content-type": recording.contentType },
    });
}
