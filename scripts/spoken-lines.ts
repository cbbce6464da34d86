// The room of spoken lines: reads what another process sends over a socket, line by line.

import type { Readable } from "node:stream";

/** Calls `hear` with each complete line. Socket errors are ignored: the sender may die in the middle of a line. */
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
