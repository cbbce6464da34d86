// The room of affinity: a provider whose machines each have a cache of their own sends a request to the one that has its
// front, if it is told which requests belong together.
//
// What a session is called there says nothing of it, and only servers that are known to take it are told. What the caller
// says in the same place stays. One address may serve many models, and some of them refuse the field: nobody asked for it, so
// it is never sent there again.

import type { ModelRequest } from "@rondo/core";
import type { ErrorResponse, Target } from "../codec.ts";
import { complaintOf } from "../refusals/complaint.ts";

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

const strange: string =
  /unrecogni[sz]ed|unknown|unsupported|unexpected|extra_forbidden|extra inputs|not (?:supported|permitted|allowed)/
    .source;

/** The quirks of a server that refused the field of the body; undefined if a refusal is about something else. */
export function withoutAffinity({ status, body }: ErrorResponse, { compat }: Target): Target["compat"] {
  const place = compat?.affinity;
  if (typeof place !== "string" || place.includes("-") || (status !== 400 && status !== 422))
    return undefined;
  const words = complaintOf(body);
  if (!words.includes(place)) return undefined;
  const refused = new RegExp(
    `(?:${strange})[^{}]{0,80}\\b${place}\\b|\\b${place}\\b[^{}]{0,80}(?:${strange})`,
    "i",
  );
  return refused.test(words) ? { ...compat, affinity: null } : undefined;
}
