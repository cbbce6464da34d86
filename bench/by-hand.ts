// The room of the hand-written loops: the shortest code that works, as the floor for comparisons.
//
// Send, split at blank lines, JSON.parse, append the text. No errors, no limits, no timeouts, no events.

import { Agent, request as httpRequest } from "node:http";
import type { Protocol } from "./protocols.ts";

/** Sends a body and returns the answer's text. */
export type Ask = (protocol: Protocol, headers: Record<string, string>, body: string) => Promise<string>;

export function byFetch(url: string): Ask {
  return async (protocol, headers, body) => {
    const response = await fetch(url + protocol.path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
    });
    const utf8 = new TextDecoder();
    const feed = splitter(protocol);
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
      feed(utf8.decode(chunk, { stream: true }));
    return feed("");
  };
}

export function byNode(url: string): Ask {
  const agent = new Agent({ keepAlive: true });
  return (protocol, headers, body) =>
    new Promise((resolve, reject) => {
      const options = {
        method: "POST",
        agent,
        headers: {
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
          ...headers,
        },
      };
      const wire = httpRequest(url + protocol.path, options, (message) => {
        message.setEncoding("utf8");
        const feed = splitter(protocol);
        message.on("data", feed);
        message.on("end", () => resolve(feed("")));
        message.on("error", reject);
      });
      wire.on("error", reject);
      wire.end(body);
    });
}

/** Takes text as it comes; returns the answer's text so far. */
export function splitter({ blank, textIn }: Protocol): (text: string) => string {
  let rest = "";
  let answer = "";
  return (text) => {
    rest += text;
    for (;;) {
      const end = rest.indexOf(blank);
      if (end === -1) return answer;
      const data = rest.slice(rest.indexOf("data: ") + 6, end);
      rest = rest.slice(end + blank.length);
      if (data !== "[DONE]") answer += textIn(JSON.parse(data) as never) ?? "";
    }
  };
}
