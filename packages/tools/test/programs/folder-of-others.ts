// Writes, edits and makes files in a folder that may not be changed, though a file in it may; prints what was said, and what
// is there then.

import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ToolContext, ToolResult } from "@rondo/core";
import { fileTools } from "../../src/index.ts";

// Root may change every folder: then it is tried as somebody else, once everything is loaded that only root may read.
if (process.getuid?.() === 0) {
  process.setgroups?.([]);
  process.setgid?.(65_534);
  process.setuid?.(65_534);
}

const root = realpathSync(mkdtempSync(join(tmpdir(), "rondo-tools-")));
const inner = join(root, "shut");
try {
  mkdirSync(inner);
  writeFileSync(join(inner, "a.txt"), "one\n");
  writeFileSync(join(inner, "b.txt"), "one\n");
  writeFileSync(join(inner, "read-only.txt"), "one\n");
  linkSync(join(inner, "b.txt"), join(root, "elsewhere.txt"));
  chmodSync(join(inner, "read-only.txt"), 0o444);
  chmodSync(inner, 0o555);
  const tools = fileTools({ root });
  const context = { signal: new AbortController().signal, update: () => {} } as unknown as ToolContext;
  const said: string[] = [];
  const call = async (name: string, args: object): Promise<void> => {
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    const { content } = (await tool.execute(args as never, context)) as ToolResult;
    said.push(content.map((part) => (part.type === "text" ? part.text : "")).join(""));
  };
  for (const path of ["shut/a.txt", "shut/b.txt", "shut/read-only.txt"])
    await call("edit_file", { path, oldText: "one", newText: "twice" });
  await call("write_file", { path: "shut/new.txt", content: "x" });
  const texts = ["a.txt", "b.txt", "read-only.txt"].map((name) => readFileSync(join(inner, name), "utf8"));
  process.stdout.write(JSON.stringify({ said, texts, names: readdirSync(inner) }));
} finally {
  chmodSync(inner, 0o700);
  rmSync(root, { recursive: true, force: true });
}
