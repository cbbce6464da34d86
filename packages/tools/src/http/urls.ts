// The room of URLs and hosts: parses URLs from a model, and hosts from options.
//
// Hosts are brought to one form before they are compared: URL's own (which knows what 127.1, 0x7f.1 and 2130706433 are),
// without a trailing dot. Imports no Node module: this loads with the package, and node:net is slow to load.

import { counted, Refusal, shown } from "../reasons.ts";

/** A host, with a port if one is named. */
export interface Place {
  host: string;
  port?: string;
}

/** One host, or all its subdomains. */
export interface Places extends Place {
  beneath: boolean;
}

/** Longest URL, in characters. */
const maxUrlLength = 8192;

/**
 * A URL that may be requested.
 * @param base the URL it may be relative to
 * @throws Refusal when it is not valid
 */
export function urlOf(given: string, base?: string): URL {
  if (given.length > maxUrlLength)
    throw new Refusal(`the URL is longer than ${counted(maxUrlLength, "character")}`);
  const begin =
    base === undefined && /^[\w.-]+(?::\d+)?(?:[/?#]|$)/.test(given) ? " (a URL begins with https://)" : "";
  if (!URL.canParse(given, base)) throw new Refusal(`not a valid URL: ${shown(given)}${begin}`);
  const url = new URL(given, base);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw new Refusal(`only http: and https: URLs are supported, not ${url.protocol}${begin}`);
  if (url.username !== "" || url.password !== "")
    throw new Refusal("a URL must not contain a user name or a password");
  const plain = url.hostname.replace(/\.+$/, "");
  if (plain === "") throw new Refusal("the URL names no host");
  url.hostname = plain;
  url.hash = "";
  return url;
}

/** The URL that a model wrote, without the quotes, ticks, brackets or Markdown link around it. */
export function unwrappedUrl(given: string): string {
  const trimmed = given.trim();
  const [, , quoted, bracketed, linked] =
    /^(?:(["'`])(.*)\1|<(.*)>|\[[^\]]*\]\((.*)\))$/s.exec(trimmed.slice(0, maxUrlLength + 100)) ?? [];
  return (quoted ?? bracketed ?? linked ?? trimmed).trim();
}

/** The host of a URL as the system expects it: IPv6 without brackets. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "");

export const portOf = ({ port, protocol }: URL): string =>
  port === "" ? (protocol === "https:" ? "443" : "80") : port;

/** `example.com`, `localhost:8080`, `10.0.0.5`, `::1`, `[::1]:8080`; `undefined` for anything else. */
export function placeOf(given: string): Place | undefined {
  const written = /^[\da-f:.]*:[\da-f.]*:[\da-f:.]*$/i.test(given) ? `[${given}]` : given;
  const [, name, port] = /^(\[[^\]]*\]|[^:/?#@\\\s*]+)(?::(\d{1,5}))?$/.exec(written) ?? [];
  if (name === undefined || !URL.canParse(`http://${name}`) || Number(port ?? 0) > 65_535) return undefined;
  const host = hostOf(new URL(`http://${name}`)).replace(/\.+$/, "");
  if (host === "") return undefined;
  return port === undefined ? { host } : { host, port: String(Number(port)) };
}

/** Like `placeOf`, or `*.example.com`: its subdomains, not itself. An address has no subdomains. */
export function placesOf(given: string): Places | undefined {
  const beneath = given.startsWith("*.");
  const place = placeOf(beneath ? given.slice(2) : given);
  if (place === undefined || (beneath && /^[\d.]+$|:/.test(place.host))) return undefined;
  return { ...place, beneath };
}

/** `https://example.com` for `example.com`: without a scheme it means https. `undefined` if it is no origin. */
export function originOf(given: string): string | undefined {
  const written = given.includes("://") ? given : `https://${given}`;
  try {
    const url = urlOf(written);
    return url.pathname === "/" && url.search === "" && !written.includes("#") ? url.origin : undefined;
  } catch {
    return undefined;
  }
}
