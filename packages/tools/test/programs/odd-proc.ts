// Makes a file in a folder that is not there yet, reads it, and runs a command past its time, on whatever /proc there is. Prints what came of each.

import type { Tool, ToolContext, ToolResult } from "@rondo/core";
import { fileTools, runCommand } from "../../src/index.ts";

const [root = "", seconds = ""] = process.argv.slice(2);
const tools = [...fileTools({ root }), runCommand({ root, sandbox: "off", graceMs: 100 })];
const context = { signal: new AbortController().signal, update: () => {} } as unknown as ToolContext;

async function outcome(name: string, args: object): Promise<string> {
  const tool = tools.find((one) => one.name === name) as Tool;
  const { content } = (await tool.execute(args as never, context)) as ToolResult;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

const said = [
  await outcome("write_file", { path: "new/one.txt", content: "one\n" }),
  await outcome("read_file", { path: "new/one.txt" }),
  await outcome("run_command", { command: `echo begun; sleep ${seconds}`, timeoutMs: 300 }),
  await outcome("run_command", { command: `sleep ${seconds} & echo done`, timeoutMs: 10_000 }),
];
process.stdout.write(JSON.stringify(said));
