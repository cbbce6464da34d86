// The room of loopback addresses: requests to this machine never go through a proxy.
//
// A proxy in the environment is meant for the outside world; it cannot reach our loopback, or reaches its own.

import { processEnvironment } from "../credentials.ts";
import type { ProviderOptions } from "../model-options.ts";
import type { HttpClient } from "../transport/http.ts";
import { fetchClient } from "../transport/http-fetch.ts";
import { namesProxy } from "../transport/proxy.ts";

/** The client option for an address: a client without a proxy for a loopback address, unless the user gave a client. */
export function directly({ http, fetch }: ProviderOptions, baseURL: string): { http?: HttpClient } {
  const direct = http === undefined && fetch === undefined ? directClient(baseURL) : undefined;
  return direct === undefined ? {} : { http: direct };
}

/** A client that ignores the proxy, if a proxy is set and the address is this machine's; otherwise undefined. */
export function directClient(baseURL: string): HttpClient | undefined {
  return namesProxy(processEnvironment()) && isLoopback(baseURL) ? fetchClient() : undefined;
}

function isLoopback(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { hostname } = new URL(address);
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
