// The room of duplicate items: streamed once, and sent again in the response's list, under other ids or in another place.
// Items with the same content are the same.

import type { Json, JsonObject } from "@rondo/core";
import { listIn, objectIn, textIn, writtenIn } from "../../json-values.ts";
import { withInnerCalls } from "./odd-items.ts";

/** What is kept of an item that streamed: the ids it had, and its final content. */
interface Told {
  readonly ids: ReadonlySet<string>;
  readonly said: string | undefined;
}

/** The parts of a message; some servers send one text or one part instead of a list. */
export function contentOf({ content }: JsonObject): readonly Json[] {
  const parts = Array.isArray(content) ? content : content === undefined || content === null ? [] : [content];
  return parts.map((part) => {
    const text = writtenIn(part);
    return text === undefined ? part : { type: "output_text", text };
  });
}

/** The items of a response; some servers send one item instead of a list, or only the text. */
export function outputOf({ output, output_text }: JsonObject): readonly Json[] {
  if (objectIn(output) !== undefined) return [output as Json];
  const items = listIn(output);
  const text = items.length === 0 ? writtenIn(output_text) : undefined;
  return text ? [{ type: "message", content: text }] : withInnerCalls(items);
}

/** Whether an item has one of these ids. */
export function isAmong(ids: ReadonlySet<string>, given: JsonObject): boolean {
  return [textIn(given.id), textIn(given.call_id)].some((id) => id !== undefined && ids.has(id));
}

/** The contents of streamed items whose ids are not in the list, with their number: some servers give the list new ids. */
export function renamedAmong(items: ReadonlyMap<number, Told>, output: readonly Json[]): Map<string, number> {
  const known = new Set(
    output.map(objectIn).flatMap((one) => [textIn(one?.id) ?? "", textIn(one?.call_id) ?? ""]),
  );
  const renamed = new Map<string, number>();
  for (const { ids, said } of items.values())
    if (said !== undefined && ![...ids].some((id) => known.has(id)))
      renamed.set(said, (renamed.get(said) ?? 0) + 1);
  return renamed;
}

/** Removes one item with this content, if there is one. */
export function taken(renamed: Map<string, number>, said: string | undefined): boolean {
  const left = said === undefined ? 0 : (renamed.get(said) ?? 0);
  if (said === undefined || left === 0) return false;
  renamed.set(said, left - 1);
  return true;
}

/** The content of a call or a message, as a key; undefined for all else. */
export function saidIn(item: JsonObject): string | undefined {
  if (item.type === "function_call") return JSON.stringify([item.name ?? "", item.arguments ?? ""]);
  if (item.type !== "message") return undefined;
  const texts = contentOf(item).map((part) => writtenIn(objectIn(part)?.text) ?? "");
  return texts.join("") === "" ? undefined : JSON.stringify(texts);
}
