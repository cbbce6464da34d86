// The room of typed output: reads a value from a text.
//
// The whole text first; then each complete JSON value in it, found by a scanner that knows strings, so that a
// fence inside a string or prose around the value does no harm. What was cut off is never completed by guessing.

import { jsonCopy } from "../json/copy.ts";
import { deepest, isTooDeep } from "../json/depth.ts";
import { jsonIn, nearlyJsonIn } from "../json/in-text.ts";
import { isObject } from "../json/object.ts";
import type { Fact } from "../loop/records.ts";
import type { Json, JsonObject } from "../message.ts";
import { oncePer } from "../once-per.ts";
import { splitThoughts } from "../prompt/thoughts.ts";
import type { CompiledSchema } from "../schema.ts";
import { strayed } from "./strayed.ts";
import { unwrapped } from "./wrapped.ts";

/** How an output is read from a text. */
export interface OutputReading {
  /** The whole text must be the value; otherwise any complete value in it that fits is taken. Default: false. */
  wholeText?: boolean;
  /** Keys in snake_case are also tried in camelCase. Default: false. */
  camelCaseKeys?: boolean;
}

/** Checks a text against a schema: the first value in it that fits is the output. The error is that of the likeliest value. */
export async function checkOutput(
  text: string,
  schema: CompiledSchema | undefined,
  reading: OutputReading,
): Promise<Fact & { type: "output_checked" }> {
  const type = "output_checked" as const;
  let error: string | undefined;
  const values = reading.wholeText ? wholeValue(text) : jsonValues(text);
  for (const written of values) {
    if (isTooDeep(written)) {
      error ??= `it is nested more than ${deepest} levels deep`;
      continue;
    }
    for (const value of readings(written, schema, reading)) {
      const check =
        schema === undefined ? { ok: true as const, args: value, value } : await schema.check(value);
      if (check.ok) return { type, ok: true, value: kept(check) };
      error ??= schema === undefined ? check.error : await toldOf(value, schema, check.error);
    }
  }
  const bare = error === undefined && reading.wholeText !== true ? await checkBare(text, schema) : undefined;
  if (bare !== undefined) return { type, ok: true, value: bare };
  const none = reading.wholeText ? "the text is not JSON" : "there is no complete JSON value in the text";
  return { type, ok: false, error: error ?? none };
}

/**
 * The text itself as the value, if the schema lists texts and this is one of them: a model that is not held to the schema
 * writes `positive`, without quotes. Any other text could be a refusal, or cut off. Undefined if it does not fit.
 */
async function checkBare(text: string, schema: CompiledSchema | undefined): Promise<Json | undefined> {
  const bare = answerIn(text).trim();
  if (schema === undefined || bare === "" || !listsTexts(schema.json)) return undefined;
  const check = await schema.check(bare);
  return check.ok ? kept(check) : undefined;
}

/** Whether the values of a schema are listed, and all of them are texts. */
const listsTexts = ({ enum: listed, const: only, anyOf, oneOf }: JsonObject): boolean =>
  isText(only) ||
  (Array.isArray(listed) && listed.every(isText)) ||
  [anyOf, oneOf].some((ways) => Array.isArray(ways) && ways.every((way) => isObject(way) && listsTexts(way)));

const isText = (value: unknown): boolean => typeof value === "string";

/** What the checker says, after what it does not see. */
async function toldOf(value: Json, schema: CompiledSchema, error: string): Promise<string> {
  const strange = await strayed(value, schema);
  return strange === undefined ? error : `${strange}: ${error}`;
}

/** The possible readings of a value: itself, the content of the object that was asked for, and both in camelCase. */
function readings(written: Json, schema: CompiledSchema | undefined, reading: OutputReading): Json[] {
  const inner = schema === undefined || schema.json.type === "object" ? undefined : unwrapped(written);
  const values = inner === undefined ? [written] : [written, inner];
  if (!reading.camelCaseKeys) return values;
  // The schema's own names are tried first: otherwise an optional key would be lost, and the value would still fit without
  // it.
  const names = schema === undefined ? none : namesIn(schema.json);
  const named = values.map((value) => camelCased(value, (key, camel) => names.has(camel) && !names.has(key)));
  return [...named, ...values, ...values.map((value) => camelCased(value, () => true))];
}

const none: ReadonlySet<string> = new Set();

/** All names of members in a schema. */
const namesIn: (schema: JsonObject) => ReadonlySet<string> = oncePer((schema: JsonObject) => {
  const names = new Set<string>();
  const look = (node: Json): void => {
    if (Array.isArray(node)) for (const one of node) look(one);
    if (!isObject(node)) return;
    if (isObject(node.properties)) for (const name of Object.keys(node.properties)) names.add(name);
    for (const one of Object.values(node)) look(one);
  };
  look(schema);
  return names;
});

/**
 * The value as the schema changed it (a default filled in, a string made a number), if that can be stored; else the value
 * as it was written.
 */
function kept({ value, args }: { value: unknown; args: Json }): Json {
  try {
    return value === undefined ? args : jsonCopy(value as Json);
  } catch {
    return args;
  }
}

function wholeValue(text: string): Json[] {
  const whole = jsonIn(text);
  return whole === undefined ? [] : [whole.value];
}

/** The same value with its keys in camelCase where `does` says so: `first_name` becomes `firstName`; underscores at either end stay. */
function camelCased(value: Json, does: (key: string, camel: string) => boolean): Json {
  if (Array.isArray(value)) return value.map((one) => camelCased(one, does));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      const camel = camelCase(key);
      // A value under the name itself overrides one under another spelling.
      const renamed = camel !== key && does(key, camel) && !Object.hasOwn(value, camel);
      return [renamed ? camel : key, camelCased(one, does)];
    }),
  );
}

const camelCase = (key: string): string =>
  key.replace(/(?<=[^_])_+([^_])/g, (_all, letter: string) => letter.toUpperCase());

/** The JSON values in a text, the likeliest first: the whole text, else each complete value in it, in order. */
export function* jsonValues(whole: string): Generator<Json> {
  const text = answerIn(whole);
  const only = jsonIn(text);
  if (only !== undefined) {
    yield only.value;
    return;
  }
  let tried = 0;
  for (let at = 0; at < text.length && tried < mostTried; at += 1) {
    if (!mayBegin(text, at)) continue;
    tried += 1;
    const end = valueEnd(text, at);
    if (end === undefined) return;
    const found = nearlyJsonIn(text.slice(at, end));
    // Brackets in prose are no value, but there may be one inside them.
    if (found === undefined) continue;
    yield found.value;
    at = end - 1;
  }
}

/** How many brackets are tried: each may take a pass over the whole text. */
const mostTried = 100;

/** The text after a thought at its beginning: a draft in a thought is not the answer. The whole text if nothing comes after it. */
function answerIn(text: string): string {
  if (!/^\s*<think>/i.test(text)) return text;
  const answer = splitThoughts(text, { blocks: "leading" })
    .map((piece) => (piece.type === "text" ? piece.text : ""))
    .join("");
  return answer.trim() === "" ? text : answer;
}

/** Whether the text after a bracket could be inside a value: brackets in prose contain words. */
function mayBegin(text: string, at: number): boolean {
  const bracket = text[at];
  if (bracket !== "{" && bracket !== "[") return false;
  let next = at + 1;
  while (" \n\r\t".includes(text[next] ?? ".")) next += 1;
  return (bracket === "{" ? '"}' : '"]{[-0123456789tfn').includes(text[next] ?? ".");
}

/** The end of the bracketed value that starts at `from`; undefined if it is incomplete. */
function valueEnd(text: string, from: number): number | undefined {
  let depth = 0;
  let quoted = false;
  for (let at = from; at < text.length; at += 1) {
    const char = text[at];
    if (quoted) {
      if (char === "\\") at += 1;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === "{" || char === "[") depth += 1;
    else if (char === "}" || char === "]") {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}
