// Runs a command that lists its open files, in a process that was itself left some by whoever started it. Prints what came of it.

import type { ToolContext, ToolResult } from "@rondo/core";
import { runCommand } from "../../src/index.ts";

const [root = "", sandbox] = process.argv.slice(2) as [string, "off" | "require"];
const tool = runCommand({ root, sandbox });
const context = { signal: new AbortController().signal, update: () => {} } as unknown as ToolContext;
const command = "readlink /proc/self/fd/* | sort -u";
const { content } = (await tool.execute({ command } as never, context)) as ToolResult;
process.stdout.write(content.map((part) => (part.type === "text" ? part.text : "")).join(""));
