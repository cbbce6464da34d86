// The room of a request's URL and headers.

import type { Authorize } from "./model-options.ts";

/** `authorization: Bearer`. */
export const bearer: Authorize = ({ apiKey }) =>
  apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };

/** Sends the key in a header of this name, unchanged. */
export function keyHeader(name: string): Authorize {
  return ({ apiKey }) => (apiKey === undefined ? {} : { [name]: apiKey });
}

/** Base URL and path, joined by one slash. A version segment at the end of one and the start of the other counts once. */
export function joinURL(base: string, path: string): string {
  const url = new URL(base);
  const root = url.pathname.replace(/\/+$/, "");
  const version = /\/v\d+[a-z0-9]*$/.exec(root)?.[0];
  const rest = path.startsWith("/") ? path : `/${path}`;
  const doubled = version !== undefined && rest.startsWith(`${version}/`);
  const [pathname = "", query] = `${doubled ? root.slice(0, -version.length) : root}${rest}`.split("?");
  const search = [url.search.slice(1), query ?? ""].filter((one) => one !== "").join("&");
  return `${url.origin}${pathname}${search === "" ? "" : `?${search}`}`;
}

/** Layers of headers as one: names are compared without regard to case, the last layer wins. */
export function merged(...layers: Readonly<Record<string, string>>[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const layer of layers)
    for (const name of Object.keys(layer)) headers[name.toLowerCase()] = layer[name] as string;
  return headers;
}

export function hasAuthorization(headers: Readonly<Record<string, string>> = {}): boolean {
  return Object.keys(headers).some((name) =>
    /^(?:authorization|x-api-key|api-key|x-goog-api-key)$/i.test(name),
  );
}
