// The room of allowed hosts: which may be asked, and at which addresses.

import { lookup as systemLookup } from "node:dns/promises";
import { isIP } from "node:net";
import { Refusal } from "../reasons.ts";
import { notPublic, plainAddress } from "./addresses.ts";
import type { HttpToolsOptions } from "./options.ts";
import { hostOf, type Place, type Places, portOf } from "./urls.ts";

/** Which hosts may be asked. */
export interface Reach {
  /** The only hosts allowed. Absent: all public ones. */
  only?: readonly Places[];
  /** Hosts that may be private. */
  allowed: readonly Place[];
  denied: readonly Place[];
  lookup: HttpToolsOptions["lookup"];
}

/**
 * The addresses at which a URL's host may be reached.
 * @throws Refusal when one of them is not public, the host is denied, or it is not among the allowed hosts
 */
export async function addressesOf(
  url: URL,
  { only, allowed, denied, lookup }: Reach,
  signal: AbortSignal,
): Promise<string[]> {
  const host = hostOf(url);
  const port = portOf(url);
  if (isCovered(denied, host, port)) throw new Refusal(`${url.host} is blocked`);
  // Before the lookup: looking a name up tells it to whoever runs its name server.
  if (only?.some((places) => isAmong(places, host, port)) === false)
    throw new Refusal(`${url.host} is not one of the allowed hosts`);
  const addresses = isIP(host) > 0 ? [host] : await unlessAborted(looked(host, lookup), signal);
  if (addresses.length === 0) throw new Refusal(`${host} has no address`);
  if (addresses.some((address) => isCovered(denied, address, port)))
    throw new Refusal(`${url.host} is blocked`);
  if (isNamed(allowed, host, port)) return addresses;
  for (const address of addresses) {
    const kind = notPublic(address);
    if (kind === undefined) continue;
    const is = isIP(host) > 0 ? "is" : "has";
    throw new Refusal(
      `${url.host} ${is} an address that is not public (${kind}); only public ones are allowed`,
    );
  }
  return addresses;
}

async function looked(host: string, lookup: Reach["lookup"]): Promise<string[]> {
  if (lookup !== undefined) return [...(await lookup(host))];
  return (await systemLookup(host, { all: true })).map(({ address }) => address);
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  // The abort may have come before the listener was added.
  if (signal.aborted) stop();
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

const isAmong = ({ beneath, ...place }: Places, host: string, port: string): boolean =>
  (place.port === undefined || place.port === port) &&
  (beneath ? host.endsWith(`.${place.host}`) : host === place.host);

/** Whether one of the places is exactly this host. */
const isNamed = (places: readonly Place[], host: string, port: string): boolean =>
  places.some((place) => place.host === host && (place.port === undefined || place.port === port));

/** Whether one of the places is this host, a parent domain, or its address in another form. */
const isCovered = (places: readonly Place[], host: string, port: string): boolean =>
  places.some(
    (place) =>
      (place.port === undefined || place.port === port) &&
      (isIP(place.host) === 0
        ? host === place.host || host.endsWith(`.${place.host}`)
        : plainAddress(host) === plainAddress(place.host)),
  );
