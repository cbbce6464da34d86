// The room of a call's arguments: parsed to an object, or the reason why that fails.

import { type Json, type JsonObject, parsedJson } from "@rondo/core";
import { deepest, isTooDeep } from "@rondo/core/checks";
import { objectEnd, objectIn, parseJson } from "../json-values.ts";
import { turnEnds } from "./end-tokens.ts";

/**
 * Parses a call's arguments. Empty ones become `{}`, also if written as blanks, `null` or `""`; an object is taken as it
 * is; everything else gives `argsError`.
 */
export function parseArgs(given: Json | undefined): { args: JsonObject; argsError?: string } {
  if (given === undefined || isNothing(given)) return { args: {} };
  let value: Json = given;
  try {
    if (typeof value === "string") value = parsedJson(value);
    // Some models encode twice: a string that holds the object. Only at the root, and only once.
    if (typeof value === "string" && value.trimStart().startsWith("{")) value = parsedJson(value);
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
  if (holds(told)) return told;
  for (const name of argumentNames) {
    const other = members[name];
    if (other !== undefined && holds(other)) return other;
  }
  return told;
}

/** The fence in which DeepSeek writes a call's arguments, and the tokens behind it: no argument may hold those that end a turn. */
const fenced: RegExp = /^\s*```(?:json)?\s*(?=\{)/;
const fenceEnd = new RegExp(
  `^(?:\`\`\`)?(?:\\s*(?:<[|｜]tool[▁_]calls?[▁_]end[|｜]>|<\\|calls?\\|>|<\\|END_ACTION\\|>|${turnEnds}))*\\s*$`,
);

/**
 * What gateways add to a call's arguments, so that they are JSON no more (F090): empty objects before the real ones, the same
 * object once more behind it, or what a model's own notation has around it. Returns the object that is meant; undefined if it
 * cannot be known, as of two that differ.
 */
export function meantArgs(text: string): string | undefined {
  const told = text
    .replace(fenced, "")
    .replace(/^(?:\s*\{\s*\})+\s*(?=\{)/, "")
    .trim();
  const end = told.startsWith("{") ? objectEnd(told, 0) : -1;
  if (end === -1) return undefined;
  const one = told.slice(0, end);
  let rest = told.slice(end).trimStart();
  while (rest.startsWith(one)) rest = rest.slice(end).trimStart();
  if (rest === "") return holds(objectIn(parseJson(one))) ? one : undefined;
  return fenceEnd.test(rest) && objectIn(parseJson(one)) !== undefined ? one : undefined;
}

/** Whether there are no arguments, or an empty object, as a value or as text. */
export const isEmptyArgs = (args: Json | undefined): boolean =>
  typeof args === "string" ? /^\s*(?:\{\s*\})?\s*$/.test(args) : !holds(args);
