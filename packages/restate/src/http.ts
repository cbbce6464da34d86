// The room of HTTP: one request, however long its answer takes.
//
// Not `fetch`, which gives up after five minutes without an answer: a run may take longer.

import { type ClientRequest, Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

const options = { keepAlive: true, maxSockets: 512 };
const agents = { "http:": new HttpAgent(options), "https:": new HttpsAgent(options) };

export interface Answered {
  status: number;
  text: string;
}

export interface Asking {
  signal: AbortSignal | undefined;
  /** How long connecting may take, in milliseconds. */
  connectMs: number;
  /** Called when the connection is established. */
  isConnected(): void;
  /** Called when connecting takes longer than `silentMs` milliseconds. */
  isLate(): void;
  silentMs: number;
}

export function post(
  url: string,
  body: string,
  headers: { [name: string]: string },
  { signal, connectMs, isConnected, isLate, silentMs }: Asking,
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const bytes = Buffer.from(body);
    const { protocol, hostname, port } = new URL(url);
    const isTls = protocol === "https:";
    const sent: ClientRequest = (isTls ? httpsRequest : httpRequest)(
      {
        method: "POST",
        hostname: hostname.replace(/^\[|\]$/g, ""),
        port: port || undefined,
        path: pathIn(url),
        headers: { ...headers, "content-length": bytes.length },
        agent: agents[isTls ? "https:" : "http:"],
        ...(signal === undefined ? {} : { signal }),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.once("error", reject);
        response.once("end", () => {
          // A truncated answer ends too.
          if (!response.complete) reject(new Error("the connection broke off"));
          else resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") });
        });
      },
    );
    sent.once("error", reject);
    // From the moment it has a socket: before that it waits for our own other requests.
    sent.once("socket", (socket) => {
      if (sent.reusedSocket) return isConnected();
      const late = setTimeout(isLate, silentMs);
      const tooLate = setTimeout(
        () => sent.destroy(new Error(`no connection within ${connectMs / 1_000} s`)),
        connectMs,
      );
      const over = (): void => {
        clearTimeout(late);
        clearTimeout(tooLate);
      };
      socket.once(isTls ? "secureConnect" : "connect", () => {
        over();
        isConnected();
      });
      sent.once("close", over);
    });
    sent.end(bytes);
  });
}

/** The path after the host exactly as given: parsing a URL would drop a session called `..`, and may change the host. */
const pathIn = (url: string): string => url.replace(/^[^/]*\/\/[^/]*/, "");
