// The room of this machine's own addresses: what is sent there goes there, and through no proxy.
//
// A proxy in the environment is meant for the world outside; it cannot reach our loopback, or reaches its own.

import { processEnvironment } from "../credentials.ts";
import type { ProviderOptions } from "../model-options.ts";
import type { HttpClient } from "../transport/http.ts";
import { fetchClient } from "../transport/http-fetch.ts";
import { namesProxy } from "../transport/proxy.ts";

/** How a server at an address is reached past any proxy, where its client is not the user's own. */
export function directly({ http, fetch }: ProviderOptions, baseURL: string): { http?: HttpClient } {
  const direct = http === undefined && fetch === undefined ? directClient(baseURL) : undefined;
  return direct === undefined ? {} : { http: direct };
}

/** A client that knows no proxy, where a proxy is set and the address is this machine's; else undefined. */
export function directClient(baseURL: string): HttpClient | undefined {
  return namesProxy(processEnvironment()) && isLoopback(baseURL) ? fetchClient() : undefined;
}

function isLoopback(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { hostname } = new URL(address);
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
