// The room of the HTTP tools' options: their types and checks.

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
   * The only hosts that may be asked, also by redirects: `example.com`, `api.example.com:8443`, or `*.example.com` for
   * all its subdomains (not itself). Private ones must be in `privateHosts` too. Default: all public hosts.
   */
  hosts?: readonly string[];
  /**
   * Hosts that may be private, written as in URLs, with one port or for all ports: `localhost:8080`, `10.0.0.5`. The only
   * way to reach what is not public; public hosts do not need it.
   */
  privateHosts?: readonly string[];
  /** Hosts that are never asked, with all subdomains: `example.com` includes `www.example.com`. Wins over `hosts` and `privateHosts`. */
  denyHosts?: readonly string[];
  /**
   * Headers by origin, such as `{ "api.example.com": { authorization: "Bearer …" } }`; without a scheme it means https.
   * The model does not see them, and they are sent only when a call asks for exactly that origin.
   */
  headers?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Leave out `http_request`. Default: false. */
  readOnly?: boolean;
  /** For `fetch_url`. Default: `allow`. */
  permission?: Permission;
  /** For `http_request`. Default: `ask`. */
  writePermission?: Permission;
  /** Bytes kept of a decompressed body. Default: 1,000,000. */
  maxBytes?: number;
  /** Maximum number of redirects followed. Default: 5. */
  maxRedirects?: number;
  /** Time limit of a call in milliseconds, redirects and body included. Default: 30,000. */
  timeoutMs?: number;
  /** Returns the addresses of a host, instead of the system's lookup. They are checked like all others. */
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
/** What a header line can hold: no control characters, and nothing outside Latin-1. */
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

/** The check of the options of `httpTools`. */
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
