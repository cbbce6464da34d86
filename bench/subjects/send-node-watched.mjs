// Sends with `node:http`, with an abort and two timeouts, for the "kept" loops by hand.

import { Agent, request } from "node:http";

export function sendByNodeWatched(url, headers) {
  const agent = new Agent({ keepAlive: true });
  const target = new URL(url);
  const where = { host: target.hostname, port: target.port, path: target.pathname, method: "POST", agent };
  return (body, onText, { signal, firstByteMs, idleMs }) =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.from(body);
      let lastAt = Date.now();
      let begun = false;
      const over = (settle, value) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        settle(value);
      };
      const sent = request(
        { ...where, headers: { ...headers, "content-length": bytes.length } },
        (message) => {
          if (message.statusCode !== 200) {
            message.resume();
            over(reject, new Error(`status ${message.statusCode}`));
            return;
          }
          message.setEncoding("utf8");
          message.on("data", (text) => {
            begun = true;
            lastAt = Date.now();
            onText(text);
          });
          message.on("end", () => over(resolve));
          message.on("error", (thrown) => over(reject, thrown));
        },
      );
      const onAbort = () => sent.destroy(new Error("aborted"));
      const watch = () => {
        const left = lastAt + (begun ? idleMs : firstByteMs) - Date.now();
        if (left > 0) timer = setTimeout(watch, left);
        else sent.destroy(new Error("timeout"));
      };
      let timer = setTimeout(watch, firstByteMs);
      signal.addEventListener("abort", onAbort, { once: true });
      sent.on("error", (thrown) => over(reject, thrown));
      sent.end(bytes);
    });
}
