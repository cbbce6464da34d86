// The room of rendering: what a tool returned, as parts that a model can read.
//
// It never fails: every value can be rendered. A tool that returns a bigint, a circular object or a function must not cost a
// run.

import { ledgerEntries } from "../context/compact/ledger.ts";
import { sanitized } from "../input/sanitize.ts";
import { classOf } from "../json/object.ts";
import type { CallResult } from "../loop/records.ts";
import type { ContentPart } from "../message.ts";
import type { Tool } from "../tool.ts";
import { fileAlone, isUnheard, noOutput, outputPart, outputParts, textFor, unshown } from "./outputs.ts";
import { DoneSignal, RecordedResult, TaskComplete, ToolResult, WaitForAnswer } from "./tool-result.ts";

/**
 * The result for a returned value. A string is its own text. A list of outputs (texts, links, JSON, images, blobs, files)
 * becomes parts, and so does a file alone. Nothing becomes `(no output)`. Bytes become a summary; to show a file, a tool returns a file output.
 * Everything else becomes JSON.
 */
export function renderResult(value: unknown): CallResult {
  try {
    return rendered(value);
  } catch (thrown) {
    return ok([{ type: "text", text: unshown(thrown) }]);
  }
}

function rendered(value: unknown): CallResult {
  if (typeof value === "string") return ok([{ type: "text", text: value }]);
  if (value instanceof RecordedResult) return value.result;
  if (value instanceof WaitForAnswer)
    return renderThrown("Error: a question can only be asked by execute and resume of a tool");
  if (value instanceof DoneSignal || value instanceof TaskComplete) return doneResult(value);
  if (value instanceof ToolResult) {
    const ledger = ledgerEntries(value.ledger);
    // A result that was made by hand may lack members.
    const { content, done, offers }: { content: unknown; done: unknown; offers: unknown } = value;
    const parts = Array.isArray(content)
      ? outputParts(content)
      : [fileAlone(content) ?? { type: "text" as const, text: textFor(content) }];
    return {
      content: readable(parts),
      isError: value.isError === true,
      ...((done ?? false) === false ? {} : { done: lastWord(done) }),
      ...(value.details === undefined ? {} : { details: value.details }),
      ...(ledger.length === 0 ? {} : { ledger }),
      ...(value.spent === undefined ? {} : { spent: value.spent }),
      ...(Array.isArray(offers) && offers.length > 0 ? { offers: offers.map(String) } : {}),
    };
  }
  const lazy = lazinessOf(value);
  if (lazy !== undefined) return renderThrown(`Error: ${lazy}`);
  const parts = Array.isArray(value) ? (value as unknown[]).map(outputPart) : [fileAlone(value)];
  if (parts.length > 0 && parts.every((part) => part !== undefined)) return ok(parts);
  return ok([{ type: "text", text: textFor(value) }]);
}

/** The result of a tool that says that the task is done, thrown or returned. */
export function doneResult({ finalMessage }: DoneSignal | TaskComplete): CallResult {
  const done = lastWord(finalMessage ?? true);
  return { content: [{ type: "text", text: "Task complete" }], isError: false, done };
}

/** The run's final text. It is stored in a record and shown, so any value that is no string is described in words. */
const lastWord = (done: unknown): true | string => (done === true ? done : textFor(done));

/** The result for an error that a tool threw. @param text what the model reads of it */
export function renderThrown(text: string): CallResult {
  return { content: readable([{ type: "text", text }]), isError: true, code: "threw" };
}

/** The result for a value that a tool returned, or that was given in its place, rendered in the tool's own way. Rejects if that throws. */
export async function renderTold({ tell }: Tool, value: unknown): Promise<CallResult> {
  if (tell === undefined) return renderResult(value);
  const isOver =
    value instanceof RecordedResult || value instanceof DoneSignal || value instanceof TaskComplete;
  return renderResult(isOver ? value : await tell(value));
}

/** What is wrong with a value that must still be pulled or awaited, and so is no result; undefined for any other value. */
export function lazinessOf(value: unknown): string | undefined {
  const kind = lazyKind(value);
  return kind === undefined
    ? undefined
    : `the tool returned ${kind}, which nobody reads: it must return the result itself, and report progress with update()`;
}

/** As JSON such a value would be `{}`. Collections are not meant. */
function lazyKind(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value) && value.filter(isUnheard).length === value.length && value.length > 0)
    return "a list of promises";
  const { next, getReader } = value as { next?: unknown; getReader?: unknown };
  const pulled = Symbol.asyncIterator in value || (typeof next === "function" && Symbol.iterator in value);
  const fetched = "bodyUsed" in value;
  if (!pulled && !fetched && typeof getReader !== "function") return undefined;
  return `an object of the kind ${classOf(value)}`;
}

const ok = (content: ContentPart[]): CallResult => ({ content: readable(content), isError: false });

/** Providers refuse blank texts: a result always has something to read. */
export function readable(content: ContentPart[]): ContentPart[] {
  const visible = content.map(sanitized).filter((part) => part.type === "file" || part.text.trim() !== "");
  return visible.length > 0 ? visible : [{ type: "text", text: noOutput }];
}
