// Sends with `node:http`, for the loops by hand.

import { Agent, request } from "node:http";

export function sendByNode(url, headers) {
  const agent = new Agent({ keepAlive: true });
  const target = new URL(url);
  const where = { host: target.hostname, port: target.port, path: target.pathname, method: "POST", agent };
  return (body, onText) =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.from(body);
      const sent = request(
        { ...where, headers: { ...headers, "content-length": bytes.length } },
        (message) => {
          message.setEncoding("utf8");
          message.on("data", onText);
          message.on("end", resolve);
          message.on("error", reject);
        },
      );
      sent.on("error", reject);
      sent.end(bytes);
    });
}
