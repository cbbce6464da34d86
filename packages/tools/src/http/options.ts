// The room of the options of HTTP tools: what may be said of them.

import type { Permission } from "@rondo/core";
import {
  type Check,
  callable,
  finite,
  flag,
  listOf,
  membersOf,
  needed,
  recordOf,
  text,
  whole,
} from "@rondo/core/checks";
import { permissionOption } from "../options.ts";
import { originOf, placeOf, placesOf } from "./urls.ts";

export interface HttpToolsOptions {
  /**
   * The hosts that may be asked, and no others, at every redirect as well: `example.com`, `api.example.com:8443`, and with
   * `*.example.com` all beneath it, not itself. What is private needs `privateHosts` too. Default: all that are public.
   */
  hosts?: readonly string[];
  /**
   * Hosts that may be private, as they stand in URLs, with a port or with all: `localhost:8080`, `10.0.0.5`. The one way to what
   * is not public; public hosts need no permission.
   */
  privateHosts?: readonly string[];
  /** Hosts that are never asked, and all beneath them: `example.com` is `www.example.com`, too. They win over `hosts` and `privateHosts`. */
  denyHosts?: readonly string[];
  /**
   * Headers by origin, such as `{ "api.example.com": { authorization: "Bearer …" } }`; without a scheme it is one of https. The
   * model does not see them, and they are sent only where a call asks for that very origin.
   */
  headers?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Leave out `http_request`. Default: false. */
  readOnly?: boolean;
  /** For `fetch_url`. Default: `allow`. */
  permission?: Permission;
  /** For `http_request`. Default: `ask`. */
  writePermission?: Permission;
  /** Bytes kept of a body, decompressed. Default: 1,000,000. */
  maxBytes?: number;
  /** How many redirects are followed. Default: 5. */
  maxRedirects?: number;
  /** Milliseconds until a call is over, redirects and body included. Default: 30,000. */
  timeoutMs?: number;
  /** The addresses of a host, where the system is not to be asked. They are checked like all others. */
  lookup?: (host: string) => Promise<readonly string[]>;
}

const place = needed(
  "a host, with or without a port,",
  (value) => typeof value === "string" && placeOf(value) !== undefined,
);

const places = needed(
  "a host, with or without a port, or *. and a host",
  (value) => typeof value === "string" && placesOf(value) !== undefined,
);

const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What a line can hold: no control characters, and none that Latin-1 has no byte for. */
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** What is wrong with a header. */
export function headerFault(name: string, value: string): string | undefined {
  return headerName.test(name) && headerValue.test(value)
    ? undefined
    : "no header can have this name or this value";
}

const headers: Check = (value) => {
  const fault = recordOf(recordOf(text))(value);
  if (fault !== undefined) return fault;
  for (const [origin, fields] of Object.entries(value as Readonly<Record<string, Record<string, string>>>)) {
    if (originOf(origin) === undefined)
      return { at: `.${origin}`, says: "the name must be a host or an origin" };
    for (const [name, field] of Object.entries(fields)) {
      const says = headerFault(name, field);
      if (says !== undefined) return { at: `.${origin}.${name}`, says };
    }
  }
  return undefined;
};

/** What the options of `httpTools` must be. */
export const httpToolsOptions: Check = membersOf<HttpToolsOptions>({
  hosts: listOf(places),
  privateHosts: listOf(place),
  denyHosts: listOf(place),
  headers,
  readOnly: flag,
  permission: permissionOption,
  writePermission: permissionOption,
  maxBytes: whole,
  maxRedirects: whole,
  timeoutMs: finite,
  lookup: callable,
});
