// Runs a command where any number of files can be opened, where none can, where two can, and where many can again. Prints
// what came of each.

import { closeSync, openSync } from "node:fs";
import type { ToolContext, ToolResult } from "@rondo/core";
import { runCommand } from "../../src/index.ts";

const [root = "", sandbox] = process.argv.slice(2) as [string, "off" | "auto"];
// With a PATH of its own bubblewrap is looked for each time.
const tool = runCommand({ root, sandbox, env: { PATH: process.env.PATH ?? "" } });
const context = { signal: new AbortController().signal, update: () => {} } as unknown as ToolContext;

async function outcome(): Promise<string> {
  try {
    const { content } = (await tool.execute({ command: "echo hi" } as never, context)) as ToolResult;
    return content.map((part) => (part.type === "text" ? part.text : "")).join("");
  } catch (thrown) {
    return `threw ${String(thrown)}`;
  }
}

function filledUp(): number[] {
  const files: number[] = [];
  for (;;)
    try {
      files.push(openSync("/dev/null", "r"));
    } catch {
      return files;
    }
}

// Everything is loaded by then.
const said = [await outcome()];
const files = filledUp();
said.push(await outcome());
for (const some of [files.splice(0, 2), files]) {
  for (const file of some) closeSync(file);
  said.push(await outcome());
}
process.stdout.write(JSON.stringify(said));
