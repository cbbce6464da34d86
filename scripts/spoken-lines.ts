// The room of spoken lines: what another process says over a socket, a line at a time.

import type { Readable } from "node:stream";

/** Hears each whole line. What breaks in the socket is no matter: whoever speaks may die in the middle of a word. */
export function hearLines(socket: Readable, hear: (line: string) => void): void {
  let begun = "";
  socket.setEncoding("utf8");
  socket.on("data", (chunk: string) => {
    const lines = (begun + chunk).split("\n");
    begun = lines.pop() ?? "";
    for (const line of lines) hear(line);
  });
  socket.on("error", () => {});
}
