// The room of rendering: what a tool returned, as parts a model can read.
//
// Total: every value has a meaning here, and nothing throws. A tool that returns a bigint, a circle or a function has
// made no mistake that should cost a run.

import { ledgerEntries } from "./context/compact/ledger.ts";
import { messageOf } from "./errors.ts";
import type { CallResult } from "./loop/records.ts";
import type { ContentPart } from "./message.ts";
import { cleanOutput } from "./terminal-text.ts";
import { ToolResult } from "./tool.ts";

/**
 * The result a returned value stands for. A text is itself, parts are parts, nothing is `(no output)`, bytes are a
 * summary (a tool that wants to show a file returns a file part), everything else is JSON.
 */
export function renderResult(value: unknown): CallResult {
  if (value instanceof ToolResult) {
    const ledger = ledgerEntries(value.ledger);
    return {
      content: shown(value.content.filter(isContentPart)),
      isError: value.isError,
      ...(value.done === false ? {} : { done: value.done }),
      ...(ledger.length === 0 ? {} : { ledger }),
    };
  }
  if (Array.isArray(value) && value.length > 0 && value.every(isContentPart)) return ok(value);
  return ok([{ type: "text", text: textFor(value) }]);
}

/** The result for something a tool threw. @param text what the model reads of it */
export function renderThrown(text: string): CallResult {
  return { content: shown([{ type: "text", text }]), isError: true, code: "threw" };
}

const ok = (content: ContentPart[]): CallResult => ({ content: shown(content), isError: false });

const noOutput = "(no output)";

/** Providers refuse blank texts: a result always has something to read. */
function shown(content: ContentPart[]): ContentPart[] {
  const visible = content.map(harmless).filter((part) => part.type === "file" || part.text.trim() !== "");
  return visible.length > 0 ? visible : [{ type: "text", text: noOutput }];
}

/** Half a surrogate pair makes a whole request invalid; a terminal's control sequences speak to terminals, and to readers of the history, behind the model's back. */
function harmless(part: ContentPart): ContentPart {
  if (part.type !== "text") return part;
  const text = hasControls(part.text) ? cleanOutput(part.text) : part.text;
  if (text === part.text && text.isWellFormed()) return part;
  return { ...part, text: text.toWellFormed() };
}

/** Control characters other than newline and tab; a line that ends with CR LF is as good as one that ends with LF. */
function hasControls(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (
      code < 32
        ? code !== 10 && code !== 9 && !(code === 13 && text.charCodeAt(at + 1) === 10)
        : code >= 127 && code <= 159
    )
      return true;
  }
  return false;
}

function isContentPart(value: unknown): value is ContentPart {
  if (typeof value !== "object" || value === null) return false;
  const part = value as { type?: unknown; text?: unknown; mediaType?: unknown };
  if (part.type === "text") return typeof part.text === "string";
  return part.type === "file" && typeof part.mediaType === "string";
}

function textFor(value: unknown): string {
  if (value === undefined || value === null) return noOutput;
  if (typeof value === "string") return value;
  if (value instanceof Error) return messageOf(value);
  try {
    return JSON.stringify(plain(value, [])) ?? noOutput;
  } catch (thrown) {
    return `(a value that cannot be shown: ${messageOf(thrown)})`;
  }
}

/** The value with everything JSON lacks put into words: bigints, circles, binary, maps, sets, errors, functions. */
function plain(value: unknown, parents: readonly object[]): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "function" || typeof value === "symbol") return `[${typeof value}]`;
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (parents.includes(value)) return "[Circular]";
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (value instanceof RegExp) return String(value);
  const size = bytesOf(value);
  if (size !== undefined) return `[binary, ${size} bytes]`;
  const inside = [...parents, value];
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([key, item]) => [String(key), plain(item, inside)]));
  if (value instanceof Set) return [...value].map((item) => plain(item, inside));
  if (Array.isArray(value)) return value.map((item) => plain(item, inside));
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === "function") return plain(toJSON.call(value), inside);
  return Object.fromEntries(
    Object.keys(value).map((key) => [key, plain((value as Record<string, unknown>)[key], inside)]),
  );
}

function bytesOf(value: object): number | undefined {
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return value.byteLength;
  return typeof Blob !== "undefined" && value instanceof Blob ? value.size : undefined;
}
