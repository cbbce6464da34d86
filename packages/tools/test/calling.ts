// The room of calling: tools as the loop calls them, on a real folder that is gone after the test.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ContentPart, JsonObject, LedgerEntry, Tool, ToolContext, ToolResult } from "@rondo/core";
import { onTestFinished } from "vitest";

export interface Answer {
  text: string;
  parts: ContentPart[];
  isError: boolean;
  ledger: readonly LedgerEntry[];
}

/** A new folder; its path has no links in it. */
export function folder(files: Record<string, string | Uint8Array> = {}): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "rondo-tools-")));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) put(join(path, name), content);
  return path;
}

export function put(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** Checks the arguments and executes, as the loop does. */
export async function call(
  tools: Tool | readonly Tool[],
  name: string,
  args: JsonObject,
  context: Partial<ToolContext> = {},
): Promise<Answer> {
  const tool = (Array.isArray(tools) ? (tools as readonly Tool[]) : [tools as Tool]).find(
    (one) => one.name === name,
  );
  if (tool === undefined) throw new Error(`no tool ${name}`);
  const checked = await tool.check(args);
  if (!checked.ok) return { text: checked.error, parts: [], isError: true, ledger: [] };
  const result = (await tool.execute(checked.value as never, {
    signal: new AbortController().signal,
    idempotencyKey: "key",
    callId: "call",
    session: "test",
    update: () => {},
    messages: () => [],
    now: () => 0,
    deps: {},
    resolve: async (key) => key.create(),
    ...context,
  })) as ToolResult;
  const text = result.content
    .map((part) => (part.type === "text" ? part.text : `<${part.mediaType}>`))
    .join("");
  return { text, parts: result.content, isError: result.isError, ledger: result.ledger };
}
