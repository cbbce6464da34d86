// The room of a chunk's shape: where its choice stands, which of several is read, what it ends with, and whether it is an error in
// itself.
//
// Gateways translate other protocols into this one, and forget a member here and there: its name, its list, its envelope.

import type { Json, JsonObject } from "@rondo/core";
import { listIn, objectIn, parseJson, textIn } from "../../json-values.ts";
import { isFlatError, told } from "../flat-errors.ts";

export const partsIn = (content: Json): readonly Json[] => (Array.isArray(content) ? content : [content]);

/** Members that gateways put an answer into. */
const envelopes: readonly string[] = ["data", "output", "result", "response"];

/** A chunk with the list of choices that it has in some other form; else as it is. */
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
    const choice = place === undefined ? undefined : bareChoice(place);
    if (choice !== undefined) return { ...chunk, choices: [choice] };
  }
  return chunk;
}

/** An answer without choices: its message (Ollama), or its text (Cloudflare, DashScope). */
function bareChoice(place: JsonObject): JsonObject | undefined {
  const { message, response, text, done } = place;
  const finish = place.finish_reason ?? place.done_reason ?? (done === true ? "stop" : null);
  const told = objectIn(message);
  if (told?.content !== undefined || Array.isArray(told?.tool_calls))
    // Ollama's are pieces; what else has a message of its own may tell all of it every time.
    return { [done === undefined ? "message" : "delta"]: told ?? null, finish_reason: finish };
  if (textIn(response) !== undefined) {
    const { tool_calls } = place;
    return {
      delta: { content: response ?? "", ...(tool_calls ? { tool_calls } : {}) },
      finish_reason: finish,
    };
  }
  // What has no word for its end beside it may be anything.
  return textIn(text) !== undefined && "finish_reason" in place
    ? { text: text ?? "", finish_reason: finish }
    : undefined;
}

/** The word that a choice ends with; undefined while it says none, be it in so many letters. */
export function wordIn(
  { finish_reason, finishReason, stop_reason }: JsonObject,
  delta: JsonObject | undefined,
): string | undefined {
  const inDelta = delta?.finish_reason;
  // Most chunks end nothing.
  if ((finish_reason ?? finishReason ?? inDelta ?? stop_reason ?? null) === null) return undefined;
  for (const told of [finish_reason, finishReason, inDelta, stop_reason]) {
    const word = textIn(told) ?? textIn(objectIn(told)?.type) ?? textIn(objectIn(told)?.reason);
    if (word !== undefined && !/^(?:|null|none|undefined)$/i.test(word)) return word;
  }
  return undefined;
}

/** The calls that a delta, or a choice, tells of. */
export function callsIn({ tool_calls, toolCalls }: JsonObject): readonly Json[] {
  const told = tool_calls ?? toolCalls;
  return Array.isArray(told) ? told : objectIn(told) === undefined ? [] : [told as Json];
}

/** The call that a part of the content is, in the form of the others; undefined for any other part. */
export function callOfPart(part: JsonObject): JsonObject | undefined {
  if (part.type !== "tool_use" && part.type !== "tool_call" && part.type !== "function_call")
    return undefined;
  const told = objectIn(part.function) ?? part;
  if (textIn(told.name) === undefined) return undefined;
  const { id, call_id } = part;
  return {
    id: id ?? call_id ?? null,
    function: { name: told.name ?? "", arguments: told.input ?? told.arguments ?? told.args ?? {} },
  };
}

/** What a call says of its function: some leave out the wrapping, make a text of it, or call it custom. */
export function functionIn(call: JsonObject): JsonObject | undefined {
  const { function: told, custom } = call;
  if (typeof told === "string") return objectIn(parseJson(told)) ?? { name: told };
  return objectIn(told) ?? objectIn(custom) ?? (told === undefined || told === null ? call : undefined);
}

/** The reasoning in a delta, under any of its names. */
export function reasoningIn({ reasoning_content, reasoning, reasoning_text, thinking }: JsonObject): string {
  // Most deltas have none.
  if (!(reasoning_content || reasoning || reasoning_text || thinking)) return "";
  for (const told of [reasoning_content, reasoning, reasoning_text, thinking]) {
    const text = told ? wordsOf(told) : "";
    if (text !== "") return text;
  }
  return "";
}

/** The words of a content: a text, or its parts' texts. */
export const wordsOf = (content: Json): string =>
  typeof content === "string" ? content : partsIn(content).map(textOf).join("");

/** The text of a part, which may stand in a member of its own. */
export function textOf(given: Json): string {
  const part = objectIn(given);
  const told = part?.text ?? part?.content;
  return textIn(given) ?? textIn(told) ?? textIn(objectIn(told)?.value) ?? "";
}

/** Only the first of several answers is read: in a stream, the one that it began with. Some servers count from one. */
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

const numberOf = ({ index }: JsonObject): number => Number(index ?? 0);

/** The error that a chunk is, or holds; undefined for any other. @param inChoice what its choice says of one */
export function failureIn(chunk: JsonObject, inChoice: Json | undefined): JsonObject | undefined {
  if (chunk.error && told(chunk.error)) return chunk;
  if (inChoice && told(inChoice)) return { error: inChoice };
  return chunk.choices === undefined && isFlatError(chunk) ? chunk : undefined;
}

/** The sources that a chunk names; the fuller list, where it has two. */
export function sourcesIn({ citations, search_results }: JsonObject): readonly Json[] {
  const found = listIn(search_results);
  return found.length > 0 ? found : listIn(citations);
}

/** The one member of a delta that says something, beside whose delta it is. Undefined: there are several, or none. */
export function onlyMember(delta: JsonObject): string | undefined {
  let member: string | undefined;
  for (const one in delta) {
    if (one === "role" || !delta[one]) continue;
    if (member !== undefined) return undefined;
    member = one;
  }
  return member;
}
