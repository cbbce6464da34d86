// The room of hosted searches: tools the provider ran itself, told like calls of our own.
//
// Each provider writes them its own way: a call and its result as two blocks with one id, or one item that is both.
// They are merged by id; what is no search is left alone.

import { isObject, objectOf } from "../../json/object.ts";
import type { AssistantMessage, Json, JsonObject } from "../../message.ts";

export interface HostedSearch {
  id: string;
  tool: string;
  args: Json;
  /** What came back, as the provider says it. */
  result: string;
  isError: boolean;
}

/** The searches of an answer, in the order they were made. */
export function hostedSearches(message: AssistantMessage): HostedSearch[] {
  const found = new Map<string, HostedSearch>();
  for (const part of message.content) {
    if (part.type !== "native" || !/(web|x)_search/.test(`${part.kind} ${textIn(part.opaque.name)}`))
      continue;
    // Items are kept whole under `item`; blocks stand for themselves.
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
