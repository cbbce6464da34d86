// The room of references in a schema: resolves a pointer into the schema itself, or the name of a place in it (`$id`, as
// TypeBox writes it, or `$anchor`).

import { isObject } from "../json/object.ts";
import type { Json } from "../message.ts";
import { oncePer } from "../once-per.ts";

/** Undefined if it leads to nothing, or out of the schema. */
export function pointed(root: Json, ref: string): Json | undefined {
  if (ref === "#") return root;
  if (ref.startsWith("#/")) return within(root, ref.slice(2));
  if (typeof root !== "object" || root === null) return undefined;
  const [name = "", inside] = ref.split("#/");
  const found = named(root).get(name.replace(/(.)#$/, "$1"));
  return inside === undefined || found === undefined ? found : within(found, inside);
}

/** The places with names, by these: those of `$anchor` behind a `#`. Of two equal names the first counts. */
const named = oncePer((root: object): ReadonlyMap<string, Json> => {
  const found = new Map<string, Json>();
  const look = (node: Json): void => {
    if (typeof node !== "object" || node === null) return;
    if (isObject(node))
      for (const [name, sign] of [
        [node.$id, ""],
        [node.$anchor, "#"],
      ] as const)
        if (typeof name === "string" && !found.has(sign + name)) found.set(sign + name, node);
    for (const inner of Object.values(node)) look(inner);
  };
  look(root as Json);
  return found;
});

function within(root: Json, path: string): Json | undefined {
  let at: Json | undefined = root;
  for (const step of path.split("/")) {
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
