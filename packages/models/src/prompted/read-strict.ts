// The room of parsing an answer by the letter of the protocol: BEHAVIOUR A24 and A25, no more and no less.

import { type Json, RondoError } from "@rondo/core";
import { ownMember } from "@rondo/core/checks";
import { parseDigits } from "../exact-json.ts";
import { isObject, textIn } from "../json-values.ts";
import { shown, type WrittenCall } from "./calls.ts";
import type { Reading } from "./read-answer.ts";

/**
 * One call or one response.
 * @throws RondoError `malformed_tool_call` if a call has no name, `protocol` if the JSON is not an object
 */
export function readStrict(text: string): Reading {
  let value: Json;
  try {
    value = parseDigits(unfenced(text));
  } catch (thrown) {
    const message = `Failed to parse JSON response: ${(thrown as Error).message}`;
    return { text, calls: [], warnings: [{ code: "prompted_json_invalid", message }] };
  }
  if (!isObject(value))
    throw new RondoError("protocol", "the answer is JSON but no object with tool_call or response");
  const call = ownMember(value, "tool_call");
  if (isTrue(call)) {
    const calls = [callOf(call)];
    return { text: textIn(ownMember(value, "thought")) ?? "", calls, warnings: [] };
  }
  const response = ownMember(value, "response");
  if (response === undefined) return { text, calls: [], warnings: [] };
  return { text: shown(response), calls: [], warnings: [] };
}

function callOf(call: Json | undefined): WrittenCall {
  const name = isObject(call) ? ownMember(call, "name") : undefined;
  if (!isObject(call) || typeof name !== "string" || name === "")
    throw new RondoError("malformed_tool_call", 'the answer\'s "tool_call" has no name', {
      retryable: false,
    });
  return { name, args: ownMember(call, "input") ?? {} };
}

/** The text without the lines that open and close a fence around it; models may forget either. */
function unfenced(text: string): string {
  const lines = text.trim().split("\n");
  if (lines[0]?.startsWith("```")) lines.shift();
  if (lines.at(-1)?.trim() === "```") lines.pop();
  return lines.join("\n").trim();
}

/** Truthiness as in Python, the language of the protocol's original: empty values are false. */
function isTrue(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value)) return Object.keys(value).length > 0;
  return Boolean(value);
}
