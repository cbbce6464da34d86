// The room of a chunk's shape: where its choice is, which of several is read, its finish reason, and whether it is itself
// an error.
//
// Gateways translate other protocols into this one, and forget a member here and there: its name, its list, its envelope.

import type { Json, JsonObject } from "@rondo/core";
import { argsIn, holds, isCallType } from "../../answer/call-args.ts";
import { isObject, listIn, objectIn, parseJson, textIn, writtenIn } from "../../json-values.ts";
import { envelopes } from "../envelopes.ts";
import { isFlatError, told } from "../flat-errors.ts";

/**
 * The parts of a content. Some servers read the text as JSON: then a token of digits is a number (Cloudflare), and what a
 * schema asked for an object.
 */
export function partsIn(content: Json): readonly Json[] {
  if (Array.isArray(content)) return content;
  return [isData(content) ? JSON.stringify(content) : content];
}

/** Whether a value is an object, but no part of a content. */
const isData = (given: Json): boolean =>
  isObject(given) && holds(given) && ["type", "text", "content"].every((name) => given[name] === undefined);

/** A choice's delta or message; some servers send its text alone. */
export function saidIn(given: Json | undefined): JsonObject | undefined {
  const object = objectIn(given);
  if (object !== undefined) return object;
  const text = writtenIn(given);
  return text ? { content: text } : undefined;
}

/** The chunk with its choices in the usual place, whatever form they came in; otherwise unchanged. */
export function withChoices(chunk: JsonObject): JsonObject {
  if (Array.isArray(chunk.choices)) return chunk;
  const only = objectIn(chunk.choices);
  if (only !== undefined) return { ...chunk, choices: [only] };
  for (const name of envelopes) {
    const inner = objectIn(chunk[name]);
    if (Array.isArray(inner?.choices) || objectIn(inner?.choices) !== undefined)
      return withChoices({ ...chunk, ...inner });
  }
  for (const place of [chunk, objectIn(chunk.output), objectIn(chunk.result)]) {
    const choice = place === undefined ? undefined : bareChoice(place, place !== chunk);
    if (choice !== undefined) return { ...chunk, choices: [choice] };
  }
  return chunk;
}

/** An answer without choices: its message (Ollama), or its text (Cloudflare, DashScope). */
function bareChoice(place: JsonObject, isInner: boolean): JsonObject | undefined {
  const { message, response, text, done, tool_calls } = place;
  const finish = place.finish_reason ?? place.done_reason ?? (done === true ? "stop" : null);
  const told = objectIn(message);
  if (told?.content !== undefined || Array.isArray(told?.tool_calls))
    // Ollama's messages are deltas; other servers with a bare message may repeat all of it every time.
    return { [done === undefined ? "message" : "delta"]: told ?? null, finish_reason: finish };
  // An answer of calls alone has no text (Cloudflare).
  const isText =
    ["string", "number"].includes(typeof response) || (isInner && objectIn(response) !== undefined);
  if (isText || (response === null && Array.isArray(tool_calls)))
    return {
      delta: { content: response ?? "", ...(tool_calls ? { tool_calls } : {}) },
      finish_reason: finish,
    };
  // Without a finish reason next to it, a text may be anything.
  return textIn(text) !== undefined && "finish_reason" in place
    ? { text: text ?? "", finish_reason: finish }
    : undefined;
}

/** A choice's finish reason; undefined if there is none, or a word like "null". */
export function wordIn(
  { finish_reason, finishReason, stop_reason }: JsonObject,
  delta: JsonObject | undefined,
): string | undefined {
  const inDelta = delta?.finish_reason;
  // The fast path: most chunks have none.
  if ((finish_reason ?? finishReason ?? inDelta ?? stop_reason ?? null) === null) return undefined;
  for (const told of [finish_reason, finishReason, inDelta, stop_reason]) {
    const word = textIn(told) ?? textIn(objectIn(told)?.type) ?? textIn(objectIn(told)?.reason);
    if (word !== undefined && !/^(?:|null|none|undefined)$/i.test(word)) return word;
  }
  return undefined;
}

/** The calls in a delta or a choice. */
export function callsIn({ tool_calls, toolCalls }: JsonObject): readonly Json[] {
  const given = tool_calls ?? toolCalls;
  const told = typeof given === "string" && given !== "" ? parseJson(given) : given;
  return Array.isArray(told) ? told : objectIn(told) === undefined ? [] : [told as Json];
}

/** The call in a content part, in the usual form; undefined for any other part. */
export function callOfPart(part: JsonObject): JsonObject | undefined {
  if (!isCallType(part.type)) return undefined;
  const told = objectIn(part.function) ?? part;
  if (textIn(told.name) === undefined) return undefined;
  const { id, call_id } = part;
  return {
    id: id ?? call_id ?? null,
    function: { name: told.name ?? "", arguments: argsIn(told, "input") ?? {} },
  };
}

/** The function of a call: some servers leave out the wrapper, send it as JSON text, or call it custom. */
export function functionIn(call: JsonObject): JsonObject | undefined {
  const { function: told, custom, name } = call;
  if (typeof told === "string") return objectIn(parseJson(told)) ?? { name: told };
  const fn = holds(told) ? objectIn(told) : undefined;
  // Its name may be beside it.
  if (fn !== undefined && name && !fn.name) return { ...fn, name };
  const other = objectIn(custom);
  // Beside a custom call it may be a stub that names nothing.
  if (other !== undefined && !fn?.name && fn?.arguments === undefined) return other;
  return fn ?? (holds(told) ? undefined : call);
}

/** The reasoning in a delta, under any of its names. */
export function reasoningIn({ reasoning_content, reasoning, reasoning_text, thinking }: JsonObject): string {
  // The fast path: most deltas have none.
  if ((reasoning_content ?? reasoning ?? reasoning_text ?? thinking ?? null) === null) return "";
  for (const told of [reasoning_content, reasoning, reasoning_text, thinking]) {
    const text = told === undefined ? "" : wordsOf(told);
    if (text !== "") return text;
  }
  return "";
}

/** The text of a content, which is a string or a list of parts. */
export const wordsOf = (content: Json): string =>
  typeof content === "string" ? content : partsIn(content).map(textOf).join("");

/** The text of a part, which may be in a member of its own. */
export function textOf(given: Json): string {
  const part = objectIn(given);
  const told = part?.text ?? part?.content;
  return writtenIn(given) ?? writtenIn(told) ?? writtenIn(objectIn(told)?.value) ?? "";
}

/** Reads only the first of several choices: in a stream, the one that came first. Some servers count from one. */
export class FirstChoice {
  #number: number | undefined;

  in(given: Json | undefined): JsonObject | undefined {
    if (!Array.isArray(given)) return undefined;
    this.#number ??= firstNumber(given);
    for (const one of given) {
      const choice = objectIn(one);
      if (choice !== undefined && numberOf(choice) === this.#number) return choice;
    }
    return undefined;
  }
}

function firstNumber(choices: readonly Json[]): number | undefined {
  const numbers = choices.flatMap((one) => {
    const choice = objectIn(one);
    return choice === undefined ? [] : [numberOf(choice)];
  });
  return numbers.includes(0) ? 0 : numbers.find(Number.isInteger);
}

/**
 * Whether a whole answer is spread over its choices: the first announces calls and has none, and another has them. That is
 * how Copilot tells Claude's blocks, also behind a gateway that nobody knows to do so.
 */
export function isSplit(given: Json | undefined): boolean {
  if (!Array.isArray(given) || given.length < 2) return false;
  const [first, ...others] = given.map((one) => objectIn(one));
  const announced = first?.message && wordIn(first, undefined);
  if (announced !== "tool_calls" || hasCalls(first)) return false;
  return others.some(hasCalls);
}

const hasCalls = (choice: JsonObject | undefined): boolean =>
  callsIn(objectIn(choice?.message) ?? {}).length > 0;

const numberOf = ({ index }: JsonObject): number => Number(index ?? 0);

/** The error that a chunk is, or contains; undefined if there is none. @param inChoice the error in its choice */
export function failureIn(chunk: JsonObject, inChoice: Json | undefined): JsonObject | undefined {
  if (chunk.error && told(chunk.error)) return chunk;
  if (inChoice && told(inChoice)) return { error: inChoice };
  const { choices } = chunk;
  // DeepInfra and Venice give their error all the members of a chunk, empty ones.
  const isBare =
    choices === undefined || choices === null || (Array.isArray(choices) && choices.length === 0);
  return isBare && isFlatError(chunk) ? chunk : undefined;
}

/** The sources in a chunk; the fuller list if it has two. */
export function sourcesIn({ citations, search_results }: JsonObject): readonly Json[] {
  const found = listIn(search_results);
  return found.length > 0 ? found : listIn(citations);
}

/** The only non-empty member of a delta besides its role. Undefined if there are several, or none. */
export function onlyMember(delta: JsonObject): string | undefined {
  let member: string | undefined;
  for (const one in delta) {
    if (one === "role" || !delta[one]) continue;
    if (member !== undefined) return undefined;
    member = one;
  }
  return member;
}
