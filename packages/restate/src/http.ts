// The room of HTTP: one request, answered whenever it is.
//
// Not `fetch`: it gives up after five minutes without an answer, and a run may take longer.

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
  /** How long a connection may take, in milliseconds. */
  connectMs: number;
  /** Hears that there is a connection. */
  isConnected(): void;
  /** Hears that a connection takes longer than `silentMs` milliseconds. */
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
          // Half an answer ends, too.
          if (!response.complete) reject(new Error("the connection broke off"));
          else resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") });
        });
      },
    );
    sent.once("error", reject);
    // From when there is a socket for it: until then it waits for other requests of ours.
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

/** What stands behind the host, as it was written: a session may be called `..`, and a host has another form when it is parsed. */
const pathIn = (url: string): string => url.replace(/^[^/]*\/\/[^/]*/, "");
