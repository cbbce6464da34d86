// The room of calls as models write them: which JSON value is a call, and to which tool.
//
// An explicit call is under the protocol's own key. A bare one (`{"name", "arguments"}`) is a call only if it has no other
// members and names an existing tool: everything else that looks similar is data (F232, F233).

import type { Json, JsonObject } from "@rondo/core";
import { ownMember } from "@rondo/core/checks";
import { isObject, listIn, parseJson, textIn } from "../json-values.ts";

export interface WrittenCall {
  name: string;
  /** Arguments as written: a value, or JSON text, which is parsed when the call is built. */
  args: Json;
  /** Why it must not run. */
  fault?: string;
}

/** A call in a model family's own notation, as it was written. */
export interface OwnCall {
  name: string;
  args: Json;
  /** The offset of its end. */
  end: number;
  /** Its end was written too, so it cannot go on. */
  closed: boolean;
}

/** A call that breaks off at the end of the text. */
export interface CutCall {
  name: string;
  args?: undefined;
}

/** What a JSON value in an answer is. */
export type Meaning =
  | { kind: "calls"; explicit: boolean; calls: WrittenCall[]; thought: string; response?: string }
  /** It has the protocol's key, but no call can be read from it. */
  | { kind: "malformed"; thought: string; why: string }
  /** `beside`: members that do not belong in an envelope, and are left out. */
  | { kind: "response"; text: string; beside?: string[] }
  | { kind: "other" };

const nameKeys = ["name", "tool", "tool_name", "action", "recipient_name", "function"] as const;
const argKeys = ["input", "arguments", "parameters", "args", "tool_input", "action_input", "params"] as const;
/** Members that do not affect whether it is a call. */
const besides: ReadonlySet<string> = new Set(["id", "type", "thought", "call_id", "tool_call_id", "index"]);
/** Nor do these beside arguments; without any they may be one. Not `description`: what describes a tool has one, and is no call. */
const asides: ReadonlySet<string> = new Set(["thoughts", "reason", "reasoning", "explanation", "rationale"]);
const parallel = "multi_tool_use.parallel";
/** The protocol's own key, its plural, and its name elsewhere. */
const ownKeys: ReadonlySet<string> = new Set(["tool_call", "tool_calls", "function_call"]);
/** Spelling variants of it: under these only a known tool makes a call; otherwise it is data. */
const callKey = /^(?:tool[-_ ]?calls?|function[-_ ]?call)$/i;

/**
 * @param known names of the tools
 * @param tagged whether the value is inside a tag for calls: there an unknown name is a call as well
 */
export function meaningOf(value: Json, known: ReadonlySet<string>, tagged: boolean = false): Meaning {
  if (Array.isArray(value)) return meaningOfList(value, known, tagged);
  if (!isObject(value)) return { kind: "other" };
  const thought = textIn(ownMember(value, "thought")) ?? "";
  for (const [key, told] of Object.entries(value)) {
    if (!callKey.test(key) || !mayCall(told)) continue;
    const calls = explicitCalls(told, value, known);
    if (!ownKeys.has(key) && !calls?.every(({ name }) => known.has(name))) continue;
    if (calls === undefined) return { kind: "malformed", thought, why: `"${key}" names no tool` };
    const response = ownMember(value, "response");
    return {
      kind: "calls",
      explicit: true,
      calls,
      thought,
      ...(response === undefined ? {} : { response: shown(response) }),
    };
  }
  const response = ownMember(value, "response");
  const beside = Object.keys(value).filter(
    (key) => key !== "response" && key !== "thought" && key !== "tool_call",
  );
  if (response !== undefined && beside.length === 0) return { kind: "response", text: shown(response) };
  // A response with extra members was already shown while it streamed. Without tools the model was not told about the
  // envelope: then it is data.
  if (typeof response === "string" && known.size > 0) return { kind: "response", text: response, beside };
  if (beside.length === 0 && thought !== "") return { kind: "response", text: thought };
  const bare = isBare(value, known, tagged) ? callsIn(value, known) : keyed(value, known, tagged);
  return bare === undefined ? { kind: "other" } : { kind: "calls", explicit: false, calls: bare, thought };
}

/** A number under such a key is data, and null is nothing. */
const mayCall = (told: Json): boolean =>
  Array.isArray(told) ? told.length > 0 : typeof told === "string" ? told !== "" : isObject(told);

/** The calls under the protocol's key. Undefined if one of them has no name. */
function explicitCalls(
  told: Json,
  envelope: JsonObject,
  known: ReadonlySet<string>,
): WrittenCall[] | undefined {
  const calls: WrittenCall[] = [];
  for (const one of Array.isArray(told) ? told : [told]) {
    const written = callsIn(one, known);
    if (written === undefined) return undefined;
    calls.push(...written);
  }
  const [call, another] = calls;
  const outside = argsIn(envelope);
  const hasNone = isObject(call?.args) && Object.keys(call.args).length === 0;
  return hasNone && another === undefined && outside !== undefined
    ? [{ ...call, args: outside, fault: misplaced }]
    : calls;
}

function meaningOfList(list: readonly Json[], known: ReadonlySet<string>, tagged: boolean): Meaning {
  const calls: WrittenCall[] = [];
  const thoughts: string[] = [];
  let explicit = list.length > 0;
  for (const one of list) {
    if (!isObject(one)) return { kind: "other" };
    const meaning = meaningOf(one, known, tagged);
    if (meaning.kind !== "calls") return { kind: "other" };
    explicit &&= meaning.explicit;
    if (meaning.thought !== "") thoughts.push(meaning.thought);
    calls.push(...meaning.calls);
  }
  return calls.length === 0
    ? { kind: "other" }
    : { kind: "calls", explicit, calls, thought: thoughts.join("\n") };
}

/** `{"name": {…}}`, as Apertus writes it between its tokens. */
function keyed(value: JsonObject, known: ReadonlySet<string>, tagged: boolean): WrittenCall[] | undefined {
  const [[name = "", args = null] = [], another] = Object.entries(value);
  return tagged && another === undefined && known.has(name) && isObject(args) ? [{ name, args }] : undefined;
}

/** Whether an object has only a known name and arguments. */
function isBare(value: JsonObject, known: ReadonlySet<string>, tagged: boolean): boolean {
  const name = nameIn(value);
  if (name === undefined) return false;
  if (!tagged && !known.has(plainName(name, known)) && name !== parallel) return false;
  const hasArgs = argsIn(value) !== undefined;
  return Object.keys(value).every(
    (key) =>
      besides.has(key) ||
      (hasArgs && asides.has(key)) ||
      (nameKeys as readonly string[]).includes(key) ||
      (argKeys as readonly string[]).includes(key),
  );
}

/** The calls in one object; several only if it is a wrapper. Undefined if it has no name. */
function callsIn(value: Json, known: ReadonlySet<string>): WrittenCall[] | undefined {
  if (!isObject(value)) return undefined;
  const inner = ownMember(value, "function");
  if (isObject(inner)) return callsIn(inner, known);
  const told = nameIn(value);
  if (told === undefined) return undefined;
  const args = argsIn(value);
  if (told === parallel && !known.has(told)) return unfolded(args ?? {}, known);
  const name = plainName(told, known);
  if (args !== undefined) return [{ name, args }];
  // They may be all or some of its arguments: the model gets an error, and nothing runs.
  const stray = strayIn(value);
  return [Object.keys(stray).length === 0 ? { name, args: {} } : { name, args: stray, fault: misplaced }];
}

const misplaced = 'the arguments are in the wrong place: they belong in an object "input" beside "name"';

/** The wrapper that some models were trained on: several calls as the arguments of one (F239). */
function unfolded(args: Json, known: ReadonlySet<string>): WrittenCall[] {
  const value = typeof args === "string" ? parseJson(args) : args;
  const uses = isObject(value) ? ownMember(value, "tool_uses") : undefined;
  const calls = listIn(uses).flatMap((use) => callsIn(use, known) ?? []);
  return calls.length > 0
    ? calls
    : [{ name: parallel, args, fault: `${parallel} is no tool: call the tools themselves` }];
}

function nameIn(value: JsonObject): string | undefined {
  const key = nameKeyIn(value);
  if (key !== undefined) return textIn(ownMember(value, key));
  const inner = ownMember(value, "function");
  return isObject(inner) ? nameIn(inner) : undefined;
}

const nameKeyIn = (value: JsonObject): string | undefined =>
  nameKeys.find((key) => (textIn(ownMember(value, key)) ?? "").trim() !== "");

function argsIn(value: JsonObject): Json | undefined {
  for (const key of argKeys) {
    const told = ownMember(value, key);
    if (told !== undefined) return told ?? {};
  }
  return undefined;
}

/** The members beside a name, if none of them is called arguments. */
function strayIn(value: JsonObject): JsonObject {
  const nameKey = nameKeyIn(value);
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== nameKey && !besides.has(key)));
}

/** The name without what was attached to it: control tokens (F064), or a namespace that is not part of a tool's name. */
export function plainName(told: string, known: ReadonlySet<string>): string {
  const name = told.trim();
  if (known.has(name)) return name;
  const cut = name.indexOf("<|");
  const clean = cut > 0 ? name.slice(0, cut).trim() : name;
  const bare = clean.replace(/^(?:functions|default_api|tools)[.:]/, "");
  return [bare, bare.replace(/\.call$/, "")].find((one) => known.has(one)) ?? clean;
}

/** A response that is not a string is written as JSON: models do that when asked for an object. */
export function shown(value: Json): string {
  return typeof value === "string" ? value : value === null ? "" : JSON.stringify(value);
}
