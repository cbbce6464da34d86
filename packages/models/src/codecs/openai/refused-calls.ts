// The room of refused calls: what a model wrote that Groq could not read as a call, or did not accept as one (F151).
//
// It stands in the refusal as the model wrote it: as JSON (one call, a list of calls, or a whole message of them), or as
// Llama writes a call, with or without its first or last sign. It is read only to tell the model what was wrong with it: it
// never runs.

import type { Json, JsonObject } from "@rondo/core";
import { listIn, objectIn, parseJson, textIn } from "../../json-values.ts";

export interface RefusedCall {
  readonly name: string;
  readonly args: Json;
}

const fence: RegExp = /^```\w*\s|```$/g;
const tags: RegExp = /^<tool_call>|<\/tool_call>$/g;
const llama: RegExp = /^(?:<function=)?([\w.-]{1,128})>?\s{0,9}(\{.*\})\s{0,9}(?:>|<\/?function>?)?$/s;

/** The calls in a text; none if it holds anything else. */
export function refusedCalls(text: string): RefusedCall[] {
  const bare = text.trim().replace(fence, "").trim().replace(tags, "").trim();
  const told = parseJson(bare);
  if (told === undefined) return llamaCall(bare);
  const list = listIn(objectIn(told)?.tool_calls ?? (Array.isArray(told) ? told : [told]));
  const calls = list.map(callIn);
  return calls.some((call) => call === undefined) ? [] : (calls as RefusedCall[]);
}

function callIn(given: Json): RefusedCall | undefined {
  const said = objectIn(given);
  const inner = objectIn(said?.function);
  const name = textIn((inner ?? said)?.name);
  if (name === undefined || name === "") return undefined;
  const args = [inner, said].map((one) => one?.arguments ?? one?.parameters).find((one) => one !== undefined);
  return { name, args: args ?? ({} as JsonObject) };
}

function llamaCall(text: string): RefusedCall[] {
  const [, name, said = ""] = llama.exec(text) ?? [];
  const args = objectIn(parseJson(said));
  return name === undefined || args === undefined ? [] : [{ name, args }];
}
