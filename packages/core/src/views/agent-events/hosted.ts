// The room of hosted searches: tools that the provider ran itself, shown like calls of our own.
//
// Each provider writes them in its own way: a call and its result as two blocks with one id, or both as one item. They are
// merged by id; everything else is left alone.

import { isObject, objectOf } from "../../json/object.ts";
import type { AssistantMessage, Json, JsonObject } from "../../message.ts";

export interface HostedSearch {
  id: string;
  tool: string;
  args: Json;
  /** The result in the provider's own words. */
  result: string;
  isError: boolean;
}

/** The searches of an answer, in their order. */
export function hostedSearches(message: AssistantMessage): HostedSearch[] {
  const found = new Map<string, HostedSearch>();
  for (const part of message.content) {
    if (part.type !== "native" || !/(web|x)_search/.test(`${part.kind} ${textIn(part.opaque.name)}`))
      continue;
    // Items are stored complete under `item`; blocks are stored as they are.
    const block = isObject(part.opaque.item) ? part.opaque.item : part.opaque;
    const tool = /x_search/.test(`${part.kind} ${textIn(block.name)}`) ? "x_search" : "web_search";
    const id = textIn(block.tool_use_id) || textIn(block.id) || `${tool}_${found.size + 1}`;
    const known = found.get(id) ?? { id, tool, args: {}, result: "", isError: false };
    found.set(id, merged(known, block));
  }
  return [...found.values()];
}

function merged(known: HostedSearch, block: JsonObject): HostedSearch {
  const args = block.input ?? block.action;
  const { content, status } = block;
  const failed = status === "failed" || textIn(objectOf(content).error_code) !== "";
  return {
    ...known,
    ...(args === undefined ? {} : { args }),
    result: content === undefined ? known.result || textIn(status) : JSON.stringify(content),
    isError: known.isError || failed,
  };
}

const textIn = (value: Json | undefined): string => (typeof value === "string" ? value : "");
