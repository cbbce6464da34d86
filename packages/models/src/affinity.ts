// The room of affinity: a provider whose machines each have a cache of their own sends a request to the one that has its
// front, if it is told which requests belong together.
//
// What a session is called there says nothing of it, and only servers that are known to take it are told. What the caller
// says in the same place stays.

import type { ModelRequest } from "@rondo/core";
import type { Target } from "./codec.ts";

/** The request with the name of its session where the server takes it: in a header (its name has a hyphen), or in a field of the body. */
export function withAffinity(
  request: ModelRequest,
  session: string | undefined,
  { compat, origin: { provider } }: Target,
): ModelRequest {
  const place = compat?.affinity;
  if (session === undefined || typeof place !== "string") return request;
  const { settings } = request;
  const name = `rondo-${session}`;
  if (place.includes("-"))
    return { ...request, settings: { ...settings, headers: { [place]: name, ...settings.headers } } };
  const { [provider]: own, ...others } = settings.providerOptions ?? {};
  return {
    ...request,
    settings: { ...settings, providerOptions: { ...others, [provider]: { [place]: name, ...own } } },
  };
}
