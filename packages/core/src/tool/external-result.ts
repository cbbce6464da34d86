// The room of external results: results of calls that `answer` gives, in place of running the tool.
//
// They travel as JSON: to the driver of the call, into a sub-agent, through a client. How the model reads them is decided
// where the tool is.

import { knownAcrossCopies } from "../copies.ts";
import { invalidRequest, isA, messageOf, thrownIn } from "../errors.ts";
import type { CallView } from "../events.ts";
import { base64, isBytes } from "../json/base64.ts";
import { jsonCopy } from "../json/copy.ts";
import type { BroughtResult } from "../loop/child-facts.ts";
import type { Json } from "../message.ts";
import { defaultTexts } from "../rules/texts.ts";
import { lazinessOf, renderResult, renderThrown } from "./render.ts";
import { DoneSignal, RecordedResult, TaskComplete, ToolResult } from "./tool-result.ts";

/** A result for a call inside a sub-agent, as its parent passes it on. */
export class ExternalResult {
  readonly result: BroughtResult;

  constructor(result: BroughtResult) {
    this.result = result;
  }
}

knownAcrossCopies({ ExternalResult });

/**
 * The result that `answer` gives for a call: what the tool would have returned, or an error it would have thrown. Until
 * the driver of the call renders it again, with the texts of the call's own agent or masked, it has our default texts.
 * @throws RondoError `invalid_request` if it is to answer a question, and is neither JSON nor a result
 */
export function renderExternalResult(
  { name: tool, question }: Pick<CallView, "name" | "question">,
  value: unknown,
): BroughtResult {
  if (value instanceof ExternalResult) return value.result;
  const lazy = lazinessOf(value);
  if (lazy !== undefined || isA(Error, value)) {
    const thrown = thrownIn(lazy === undefined ? value : new Error(lazy));
    const said = defaultTexts.threw(tool, thrown.message);
    return { content: renderThrown(said).content, isError: true, threw: thrown };
  }
  const { content, isError, done, ledger, offers, spent, details } = renderResult(value);
  const said = value instanceof RecordedResult ? { recorded: true as const } : valueToTell(value, question);
  return {
    content,
    isError,
    ...(done === undefined ? {} : { done }),
    ...(ledger === undefined ? {} : { ledger }),
    ...(offers === undefined ? {} : { offers }),
    ...(spent === undefined ? {} : { spent }),
    ...(details === undefined ? {} : { details }),
    ...said,
  };
}

/**
 * The part of a value that a tool can render in its own way, or that answers its question. A string already is its text,
 * unless it is an answer; a value that JSON cannot hold would not reach the tool.
 */
function valueToTell(value: unknown, question: CallView["question"]): { value?: Json } {
  const isSaid = [ToolResult, DoneSignal, TaskComplete].some((kind) => value instanceof kind);
  if (isSaid || (question === undefined && (value === undefined || typeof value === "string"))) return {};
  try {
    if (value === undefined) throw new TypeError("there is none");
    return { value: jsonCopy(Array.isArray(value) ? value.map(bytesInText) : bytesInText(value)) as Json };
  } catch (thrown) {
    if (question === undefined) return {};
    throw invalidRequest(
      `an answer to a tool's question is text or JSON, or a toolResult() or an Error as the call's result: ${messageOf(thrown)}`,
    );
  }
}

/** An output's bytes are base64 in JSON. */
function bytesInText(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const { data } = value as { data?: unknown };
  return "type" in value && isBytes(data) ? { ...value, data: base64(data) } : value;
}

/** What a tool would have returned in place of the given result. */
export function returnedFor({
  value,
  content,
  isError,
  done = false,
  ledger,
  offers,
  spent,
  details,
}: BroughtResult): unknown {
  return value === undefined ? new ToolResult(content, isError, done, ledger, spent, details, offers) : value;
}

/**
 * A given result whose call must be looked up first. The result may reject meanwhile: its giver learns of that later, or
 * nobody does, but it must not be an unhandled rejection.
 */
export function heardOf(given: unknown): Promise<unknown> {
  const bringing = Promise.resolve(given);
  bringing.catch(() => {});
  return bringing;
}
