// The room of one exchange: sends a request, and returns when the head of the response has arrived.
//
// The socket gets the addresses that were checked, so the name is not looked up again. No shared HTTP agent is used,
// and so neither its proxies nor its open connections.

import { type IncomingMessage, request as overHttp } from "node:http";
import { request as overHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { Refusal } from "../reasons.ts";
import { addressesOf, type Reach } from "./allowed-hosts.ts";
import { hostOf, portOf } from "./urls.ts";

export interface Asked {
  method: string;
  url: URL;
  headers: Readonly<Record<string, string>>;
  body?: string;
}

/**
 * Sends a request. Whoever gets the response must read it to the end or destroy it.
 * @throws Refusal when the host must not be reached; the socket's error
 */
export async function exchange(asked: Asked, reach: Reach, signal: AbortSignal): Promise<IncomingMessage> {
  signal.throwIfAborted();
  const { url, method, headers, body } = asked;
  const addresses = (await addressesOf(url, reach, signal)).map((address) => ({
    address,
    family: isIP(address),
  }));
  signal.throwIfAborted();
  const known: LookupFunction = (_host, { all }, done) =>
    all ? done(null, addresses) : done(null, addresses[0]!.address, addresses[0]!.family);
  return new Promise((resolve, reject) => {
    const send = url.protocol === "https:" ? overHttps : overHttp;
    const request = send({
      protocol: url.protocol,
      hostname: hostOf(url),
      port: portOf(url),
      path: url.pathname + url.search,
      method,
      headers: { ...headers },
      agent: false,
      lookup: known,
      signal,
    });
    request.on("error", reject);
    // An upgrade was not requested. Without a listener Node closes the connection without any error.
    request.on("upgrade", (_response, socket) => {
      socket.destroy();
      reject(new Refusal("no answer: the server switched to another protocol"));
    });
    request.on("close", () => reject(new Refusal("no answer: the connection was closed")));
    request.on("response", (response) => {
      // An abort may come while nobody reads.
      response.on("error", () => {});
      resolve(response);
    });
    request.end(body);
  });
}
