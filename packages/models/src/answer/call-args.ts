// The room of a call's arguments: parsed to an object, or the reason why that fails.

import type { Json, JsonObject } from "@rondo/core";
import { deepest, isTooDeep } from "@rondo/core/checks";
import { objectIn, parseJson } from "../json-values.ts";

/**
 * Parses a call's arguments. Empty ones become `{}`, also if written as blanks, `null` or `""`; an object is taken as it
 * is; everything else gives `argsError`.
 */
export function parseArgs(given: Json | undefined): { args: JsonObject; argsError?: string } {
  if (given === undefined || isNothing(given)) return { args: {} };
  let value: Json = given;
  try {
    if (typeof value === "string") value = JSON.parse(value) as Json;
    // Some models encode twice: a string that holds the object. Only at the root, and only once.
    if (typeof value === "string" && value.trimStart().startsWith("{")) value = JSON.parse(value) as Json;
  } catch (thrown) {
    return { args: {}, argsError: `the arguments are not valid JSON: ${(thrown as Error).message}` };
  }
  if (isNothing(value)) return { args: {} };
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { args: {}, argsError: "the arguments must be a JSON object" };
  if (isEndless(value))
    return { args: {}, argsError: "a number in the arguments is larger than any that can be kept" };
  if (isTooDeep(value))
    return { args: {}, argsError: `the arguments are nested more than ${deepest} levels deep` };
  return { args: value };
}

/** JSON can contain numbers like 1e999 that become Infinity, which cannot be written back. */
function isEndless(value: Json): boolean {
  const left: Json[] = [value];
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    if (typeof one === "number" && !Number.isFinite(one)) return true;
    if (typeof one === "object" && one !== null) for (const inner of Object.values(one)) left.push(inner);
  }
  return false;
}

/** Whether arguments are empty. */
export const isNothing = (value: Json | undefined): boolean =>
  value === undefined || value === null || (typeof value === "string" && value.trim() === "");

/** Whether arguments came at all: some servers put an empty object, or PHP's empty list, where there are none. */
export const holds = (input: Json | undefined): input is Json =>
  typeof input === "object" && input !== null ? Object.keys(input).length > 0 : !isNothing(input);

/** Whether this is what a protocol calls the type of a call. Gateways leave one protocol's word in the frames of another. */
export const isCallType = (type: Json | undefined): boolean =>
  typeof type === "string" && /^(?:function|function_call|tool_call|tool_use)$/.test(type);

/** What protocols call a call's arguments. */
export const argumentNames: readonly string[] = ["arguments", "args", "input", "parameters"];

/**
 * A call's arguments, under another protocol's name if there are none under its own (F087): if they were ignored, the call
 * would run without any.
 */
export function argsIn(call: object, own: "arguments" | "args" | "input" | "partial_json"): Json | undefined {
  const members = call as JsonObject;
  const told = members[own];
  return holds(told) ? told : (argumentNames.map((name) => members[name]).find(holds) ?? told);
}

/**
 * The text of arguments without the empty object that some servers (Bedrock behind a gateway) send before the real ones
 * (F090). Only the beginning is looked at; what is not one object behind it stays as it is, and does not run.
 */
export function withoutEmptyLead(text: string): string {
  const [lead = ""] = /^\s*\{\s*\}\s*(?=\{)/.exec(text) ?? [];
  if (lead === "") return text;
  const rest = text.slice(lead.length);
  return holds(objectIn(parseJson(rest))) ? rest : text;
}

/** Whether there are no arguments, or an empty object, as a value or as text. */
export const isEmptyArgs = (args: Json | undefined): boolean =>
  typeof args === "string" ? /^\s*(?:\{\s*\})?\s*$/.test(args) : !holds(args);
