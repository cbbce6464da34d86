// The room of URL tables: cases without a model, which give rows of URLs to the tool that fetches them.
//
// A row is a URL, possibly with redirects of its server and the addresses of its host. A redirecting server runs on this
// machine: only its name is allowed, so that the target of the redirect is what is judged.

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { httpTools } from "@rondo/tools";
import { called } from "./called.ts";
import { type Data, type Given, Unsupported } from "./format.ts";
import type { Observation } from "./observation.ts";

type Row = NonNullable<Observation["rows"]>[number];

/** A row: an object, or just the URL. */
type Asked = Data | string;

const readings: ReadonlySet<string> = new Set(["fetch", "fetch_url", "get", "http", "request", "read"]);

function rowsIn({ requests, urls, fetches, inputs }: Given & { urls?: Asked[]; fetches?: Asked[] }): Asked[] {
  return [...((requests as Asked[]) ?? []), ...(urls ?? []), ...(fetches ?? []), ...(inputs ?? [])];
}

/** Whether a case's table consists of URLs. Under a root, `file:///x` and `C:\\x` are paths like any other. */
export const hasUrls = (given: Given): boolean =>
  given.root === undefined && given.fs === undefined && rowsIn(given).some((row) => urlOf(row) !== undefined);

function urlOf(row: Asked): string | undefined {
  const url = typeof row === "string" ? row : (row.url ?? row.path);
  return typeof url === "string" && /^[a-z][a-z0-9+.-]*:/i.test(url) ? url : undefined;
}

export async function urlRows(given: Given): Promise<Row[]> {
  const rows: Row[] = [];
  for (const row of rowsIn(given)) rows.push(await rowOf(row));
  return rows;
}

async function rowOf(row: Asked): Promise<Row> {
  const url = urlOf(row);
  if (url === undefined) throw new Unsupported(`a row without a URL: ${JSON.stringify(row)}`);
  const said: Data = typeof row === "string" ? {} : row;
  const { op = "fetch", allow = false } = said;
  if (!readings.has(String(op).toLowerCase()))
    throw new Unsupported(`given.requests[].op ${JSON.stringify(op)}`);
  const hops = listIn(
    said.redirects_to ?? said.redirect_to ?? said.redirects ?? said.redirect ?? said.location,
  );
  const addresses = listIn(said.resolves_to ?? said.resolves ?? said.addresses ?? said.dns);
  const { isError, text } = await reached(url, hops, addresses);
  return { request: `${String(op)} ${url}`, allow: allow === true, allowed: !isError, words: text };
}

const listIn = (given: unknown): string[] =>
  given === undefined ? [] : Array.isArray(given) ? given.map(String) : [String(given)];

async function reached(
  url: string,
  hops: readonly string[],
  addresses: readonly string[],
): Promise<{ isError: boolean; text: string }> {
  const [first] = hops;
  if (first === undefined) {
    const lookup = addresses.length === 0 ? {} : { lookup: () => Promise.resolve(addresses) };
    return called(httpTools({ ...lookup, readOnly: true, timeoutMs: 2000 })[0]!, { url });
  }
  const server = await redirecting(first);
  try {
    const here = new URL(url);
    here.protocol = "http:";
    here.port = String((server.address() as AddressInfo).port);
    const lookup = (host: string): Promise<readonly string[]> =>
      Promise.resolve(host === here.hostname ? ["127.0.0.1"] : addresses);
    const [tool] = httpTools({ privateHosts: [here.host], lookup, readOnly: true, timeoutMs: 2000 });
    return await called(tool!, { url: here.href });
  } finally {
    server.close();
  }
}

async function redirecting(location: string): Promise<Server> {
  const server = createServer((_request, response) => {
    response.writeHead(302, { location, connection: "close" });
    response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}
