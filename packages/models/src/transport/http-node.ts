// The room of the Node client: node:http and node:https, which cost a fraction of fetch's processor time.
//
// Node's modules are taken from the running process, never imported, so that a browser bundle does not contain them. Node's
// own timeouts are off; only our clocks apply. One pair of agents serves the whole process, so that connections stay alive
// between steps; they obey HTTPS_PROXY, HTTP_PROXY and NO_PROXY.

import type * as Http from "node:http";
import type * as Https from "node:https";
import type * as Url from "node:url";
import { longestWait, RondoError } from "@rondo/core";
import {
  type BodySink,
  defaultClocks,
  graceMs,
  type HttpClient,
  type HttpRequest,
  type HttpResponse,
} from "./http.ts";
import { readBody } from "./http-unpack.ts";
import { abortedError, networkError, timeoutError } from "./network.ts";
import { namesProxy } from "./proxy.ts";
import { bytesOf } from "./scratch.ts";

/** Whether this process is Node itself: there `nodeClient` works. */
export function onNode(): boolean {
  return (
    typeof process !== "undefined" &&
    typeof process.getBuiltinModule === "function" &&
    typeof process.versions?.node === "string" &&
    process.versions.bun === undefined &&
    !("Deno" in globalThis)
  );
}

/** A client over node:http. Only on Node: see `onNode`. */
export function nodeClient(): HttpClient {
  return { request: (request) => new Promise((resolve, reject) => new Exchange(request, resolve, reject)) };
}

interface Parts {
  http: typeof Http;
  https: typeof Https;
  plain: Http.Agent;
  secure: Https.Agent;
  /** Connections go through a proxy. */
  proxied: boolean;
}

let parts: Parts | undefined;

interface Address {
  url: string;
  tls: boolean;
  options: Https.RequestOptions;
}

let lastAddress: Address | undefined;

/** A URL as node:http takes it. Kept, because an agent asks the same address at every step. */
function addressOf(url: string): Address {
  if (lastAddress?.url !== url) {
    const { urlToHttpOptions }: typeof Url = process.getBuiltinModule("node:url");
    const target = new URL(url);
    // The rest is redundant, and Node copies every member, slowly, for each request.
    const { hostname, port, path, auth } = urlToHttpOptions(target);
    lastAddress = { url, tls: target.protocol === "https:", options: { hostname, port, path, auth } };
  }
  return lastAddress;
}

function loaded(): Parts {
  if (parts !== undefined) return parts;
  const http = process.getBuiltinModule("node:http");
  const https = process.getBuiltinModule("node:https");
  const proxied = namesProxy(process.env);
  if (proxied && !agentsKnowProxies())
    throw new RondoError(
      "network",
      `a proxy is set in the environment, and Node ${process.versions.node} cannot use one: use Node 22.21 or 24.5 or newer, or give the model a fetch of your own`,
    );
  const options = { keepAlive: true, ...(proxied ? { proxyEnv: process.env } : {}) };
  parts = { http, https, plain: new http.Agent(options), secure: new https.Agent(options), proxied };
  return parts;
}

function agentsKnowProxies(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21);
}

/** One request and its response. Whichever of response, failure, clock and abort comes first settles it, once. */
class Exchange {
  readonly #request: HttpRequest;
  readonly #onAbort = (): void => this.#failWith(abortedError(this.#request.signal));
  #wire: Http.ClientRequest | undefined;
  #message: Http.IncomingMessage | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #fail: (error: RondoError) => void;
  /** What went wrong, for calls after it happened. */
  #failure: RondoError | undefined;

  constructor(
    request: HttpRequest,
    resolve: (response: HttpResponse) => void,
    reject: (error: RondoError) => void,
  ) {
    this.#request = request;
    this.#fail = reject;
    if (request.signal.aborted) {
      reject(abortedError(request.signal));
      return;
    }
    try {
      this.#send(resolve);
    } catch (thrown) {
      this.#failWith(networkError(thrown, request.url));
    }
  }

  #send(resolve: (response: HttpResponse) => void): void {
    const { http, https, plain, secure, proxied } = loaded();
    const { url, method, headers, signal, clocks } = this.#request;
    const connectMs = clocks?.connectMs ?? defaultClocks.connectMs;
    const firstByteMs = clocks?.firstByteMs ?? defaultClocks.firstByteMs;
    const { tls, options: address } = addressOf(url);
    const body = bytesOf(this.#request);
    const sent: Http.OutgoingHttpHeaders = { "accept-encoding": "identity", ...headers };
    if (body !== undefined) sent["content-length"] = body.length;
    const options = { ...address, method, headers: sent, agent: tls ? secure : plain };
    signal.addEventListener("abort", this.#onAbort, { once: true });
    // A socket is there at once, except through a proxy; one that was kept alive needs no connect clock.
    if (proxied) this.#clock("connectMs", connectMs);
    const wire = tls ? https.request(options) : http.request(options);
    this.#wire = wire;
    wire.on("socket", (socket) => {
      const connected = (): void => this.#clock("firstByteMs", firstByteMs);
      if (!socket.connecting) {
        connected();
        return;
      }
      this.#clock("connectMs", connectMs);
      socket.once(tls ? "secureConnect" : "connect", connected);
    });
    // This listener stays: a socket may fail twice, and an error without a listener ends the process. Errors after a whole
    // answer, such as a body longer than its content-length, do not concern the answer.
    wire.on("error", (thrown) => {
      if (!this.#message?.complete) this.#failWith(networkError(thrown, url));
    });
    // Emitted when the whole request was handed to the system; never for one that was cut off.
    if (body?.sent !== undefined) wire.on("finish", body.sent);
    wire.on("response", (message) => resolve(this.#response(message)));
    const pieces = body?.pieces ?? [];
    for (const piece of pieces.slice(0, -1)) wire.write(piece);
    wire.end(pieces.at(-1));
  }

  #response(message: Http.IncomingMessage): HttpResponse {
    const { headers } = message;
    this.#message = message;
    message.on("error", (thrown) => this.#failWith(networkError(thrown, this.#request.url)));
    // A plain response reports a body that was cut off by "error"; with a decompressor only this event does.
    message.on("close", () => {
      if (!message.complete) this.#failWith(networkError(cutOff(), this.#request.url));
    });
    return {
      status: message.statusCode ?? 0,
      header: (name) => {
        const value = headers[name.toLowerCase()];
        return value === undefined ? null : Array.isArray(value) ? value.join(", ") : value;
      },
      read: (sink) => new Promise((resolve, reject) => this.#read(message, sink, resolve, reject)),
      discard: () => {
        this.#settle();
        this.#drain(message);
      },
    };
  }

  #read(
    message: Http.IncomingMessage,
    sink: BodySink,
    resolve: () => void,
    reject: (error: unknown) => void,
  ): void {
    this.#fail = reject;
    if (this.#failure !== undefined) {
      reject(this.#failure);
      return;
    }
    let enough = false;
    const take = (chunk: Uint8Array): void => {
      if (enough) return;
      try {
        if (sink(chunk) !== false) return;
      } catch (thrown) {
        enough = true;
        this.#settle();
        this.#wire?.destroy();
        reject(thrown);
        return;
      }
      enough = true;
      this.#settle();
      resolve();
      this.#drain(message);
    };
    const ended = (): void => {
      this.#settle();
      resolve();
    };
    readBody(message, {
      began: () => this.#stopClock(),
      take,
      ended,
      failed: (thrown) => this.#failWith(networkError(thrown, this.#request.url)),
    });
  }

  /** The rest is not wanted: it may end by itself within a moment, so that the connection can be reused; otherwise it is cut off. */
  #drain(message: Http.IncomingMessage): void {
    if (message.complete) {
      message.resume();
      return;
    }
    const cut = setTimeout(() => message.destroy(), graceMs);
    cut.unref();
    message.once("close", () => clearTimeout(cut));
    message.resume();
  }

  #clock(name: "connectMs" | "firstByteMs", ms: number): void {
    this.#stopClock();
    if (!(ms > 0)) return;
    const strike = (): void => this.#failWith(timeoutError(this.#request.url, name, ms));
    this.#timer = setTimeout(strike, Math.min(ms, longestWait));
  }

  #stopClock(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Settles this exchange: nothing more can happen to it. */
  #settle(): void {
    this.#stopClock();
    this.#request.signal.removeEventListener("abort", this.#onAbort);
  }

  #failWith(error: RondoError): void {
    this.#failure ??= error;
    this.#settle();
    this.#wire?.destroy();
    this.#fail(error);
  }
}

function cutOff(): Error {
  return Object.assign(new Error("aborted"), { code: "ECONNRESET" });
}
