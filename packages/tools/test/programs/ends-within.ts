// Ends while a command runs, in the way that it is told: by leaving, or by an error that nobody catches. Says first that it runs.

import type { ToolContext } from "@rondo/core";
import { runCommand } from "../../src/index.ts";

const [root = "", sandbox, seconds = "", way] = process.argv.slice(2) as [
  string,
  "off" | "require",
  string,
  string,
];
const tool = runCommand({ root, sandbox });
const update = (): void => {
  process.stdout.write("it runs\n");
  if (way === "leaves") process.exit(3);
  setImmediate(() => {
    throw new Error("nobody catches this");
  });
};
const context = { signal: new AbortController().signal, update } as unknown as ToolContext;
const command = `setsid sleep ${seconds} & sh -c 'trap "" TERM; echo on; sleep ${seconds}' & wait`;
await tool.execute({ command } as never, context);
