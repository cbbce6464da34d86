// The room of recursive schemas: those that contain themselves, such as a tree's.

import { isObject } from "../json/object.ts";
import type { Json, JsonObject } from "../message.ts";
import { oncePer } from "../once-per.ts";
import { dataWords, schemasByName } from "../schema/keywords.ts";
import { pointed } from "../schema/pointer.ts";

/** Whether a reference in the schema leads back to something that contains it. */
export const isRecursive: (schema: JsonObject) => boolean = oncePer<JsonObject, boolean>((root) => {
  const around = new Set<Json>();
  const done = new Set<Json>();
  const leadsBack = (node: Json, areNames = false): boolean => {
    if (typeof node !== "object" || node === null || done.has(node)) return false;
    if (around.has(node)) return true;
    around.add(node);
    const target = isObject(node) && typeof node.$ref === "string" ? pointed(root, node.$ref) : undefined;
    const found =
      (target !== undefined && leadsBack(target)) ||
      Object.entries(node).some(
        ([word, inner]) =>
          (areNames || !dataWords.has(word)) && leadsBack(inner, !areNames && schemasByName.has(word)),
      );
    around.delete(node);
    done.add(node);
    return found;
  };
  return leadsBack(root);
});
