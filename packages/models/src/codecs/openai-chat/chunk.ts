// The room of a chunk's shape: which of its choices is read, and whether it is an error in itself.

import type { Json, JsonObject } from "@rondo/core";
import { listIn, objectIn } from "../../json-values.ts";

export const partsIn = (content: Json): readonly Json[] => (Array.isArray(content) ? content : [content]);

/** Only the first of several answers is read. */
export function firstChoice(given: Json | undefined): JsonObject | undefined {
  if (!Array.isArray(given)) return undefined;
  for (const one of given) {
    const choice = objectIn(one);
    if (choice !== undefined && (choice.index ?? 0) === 0) return choice;
  }
  return undefined;
}

/** An error that stands in the chunk itself, as vLLM, SGLang and gateways write it: without it a cut answer would look whole (F150). */
export function isFlatError(chunk: JsonObject): boolean {
  if (chunk.choices !== undefined) return false;
  if (chunk.object === "error" || told(chunk.detail) || listIn(chunk.detail).length > 0) return true;
  if (listIn(chunk.errors).length > 0 || told(chunk.error_msg) || told(chunk.error_message)) return true;
  const code = Number(chunk.code ?? chunk.status ?? Number.NaN);
  return code >= 400 && code < 600;
}

export function told(error: Json | undefined): boolean {
  if (typeof error === "string") return error !== "";
  const object = objectIn(error);
  return object !== undefined && Object.keys(object).length > 0;
}
