// The room of references in a schema: resolves a pointer into the schema itself.

import { isObject } from "../json/object.ts";
import type { Json } from "../message.ts";

/** Undefined if it leads to nothing, or out of the schema. */
export function pointed(root: Json, ref: string): Json | undefined {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  let at: Json | undefined = root;
  for (const step of ref.slice(2).split("/")) {
    const name = unescaped(step);
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as { [name: string]: Json })[name];
  }
  return isObject(at) || typeof at === "boolean" ? at : undefined;
}

function unescaped(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return step;
  }
}
