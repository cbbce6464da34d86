// The room of external results: what somebody says came of a call, in place of its tool.
//
// It travels as JSON, to the driver of the call, into a sub-agent, through a client: how it is told is decided where the
// tool is.

import { knownAcrossCopies } from "../copies.ts";
import { isA, thrownIn } from "../errors.ts";
import { base64 } from "../json/base64.ts";
import { jsonCopy } from "../json/copy.ts";
import type { BroughtResult } from "../loop/child-facts.ts";
import type { Json } from "../message.ts";
import { defaultTexts } from "../rules/texts.ts";
import { lazinessOf, renderResult, renderThrown } from "./render.ts";
import { DoneSignal, RecordedResult, TaskComplete, ToolResult } from "./tool-result.ts";

/** What somebody brought to a call inside a sub-agent, as its parent passes it on. */
export class ExternalResult {
  readonly result: BroughtResult;

  constructor(result: BroughtResult) {
    this.result = result;
  }
}

knownAcrossCopies({ ExternalResult });

/**
 * The result that somebody brings for a call: what the tool would have returned, or an error it would have thrown. Whoever
 * drives the call tells that in the words of the call's own agent, or masked; until then it stands in ours.
 */
export function renderExternalResult(tool: string, value: unknown): BroughtResult {
  if (value instanceof ExternalResult) return value.result;
  const lazy = lazinessOf(value);
  if (lazy !== undefined || isA(Error, value)) {
    const thrown = thrownIn(lazy === undefined ? value : new Error(lazy));
    const said = defaultTexts.threw(tool, thrown.message);
    return { content: renderThrown(said).content, isError: true, threw: thrown };
  }
  const { content, isError, done, ledger, details } = renderResult(value);
  return {
    content,
    isError,
    ...(done === undefined ? {} : { done }),
    ...(ledger === undefined ? {} : { ledger }),
    ...(details === undefined ? {} : { details }),
    ...(value instanceof RecordedResult ? { recorded: true } : valueToTell(value)),
  };
}

/** What there is to tell of a value in another way. A text is its own telling; what JSON lacks would not reach the tool. */
function valueToTell(value: unknown): { value?: Json } {
  const isSaid = [ToolResult, DoneSignal, TaskComplete].some((kind) => value instanceof kind);
  if (value === undefined || typeof value === "string" || isSaid) return {};
  try {
    return { value: jsonCopy(Array.isArray(value) ? value.map(bytesInText) : bytesInText(value)) as Json };
  } catch {
    return {};
  }
}

/** An output's bytes are base64 in JSON. */
function bytesInText(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const { data } = value as { data?: unknown };
  return "type" in value && data instanceof Uint8Array ? { ...value, data: base64(data) } : value;
}

/** What a tool would have returned in place of what somebody brought. */
export function returnedFor({
  value,
  content,
  isError,
  done = false,
  ledger,
  details,
}: BroughtResult): unknown {
  return value === undefined ? new ToolResult(content, isError, done, ledger, undefined, details) : value;
}

/** What somebody brings, where its call is looked for first: by then it may have failed, and that is told to who brings it, or to nobody. */
export function heardOf(given: unknown): Promise<unknown> {
  const bringing = Promise.resolve(given);
  bringing.catch(() => {});
  return bringing;
}
