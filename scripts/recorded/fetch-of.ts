// The room of the fetch that plays a recording: a client that takes one asks nobody else.

import type { Recording } from "./corpus.ts";

/** A `fetch` that answers every request with the recording. */
export function fetchOf(recording: Recording): () => Promise<Response> {
  return async () =>
    new Response(new Blob(recording.frames as Uint8Array<ArrayBuffer>[]), {
      headers: { "content-type": recording.contentType },
    });
}
