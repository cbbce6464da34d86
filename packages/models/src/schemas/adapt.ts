// The room of schema adaptation's interface: a schema and a provider's mode in, the schema that the provider accepts out.
//
// Whatever was lost is reported, so that a caller can warn, describe it to the model, or refuse.

import type { Json, JsonObject } from "@rondo/core";
import { isObject } from "../json-values.ts";
import { convert } from "./convert.ts";
import { dialects, type SchemaMode } from "./dialects.ts";
import { mayBeIrregular } from "./expressions.ts";
import { withItems } from "./lists.ts";
import { byPlace } from "./names.ts";
import { objectOf } from "./node.ts";
import { objectRoot } from "./object-root.ts";
import { withoutDangling } from "./references.ts";
import type { Removed } from "./removed.ts";
import { isStrict } from "./strict.ts";

export interface Adapted {
  schema: JsonObject;
  /** Rules that the adapted schema lacks. Together with them it is never wider than the original. */
  removed: Removed[];
  /** Paths where the adapted schema accepts less than the original, e.g. because objects must be closed. */
  narrowed: string[];
}

export interface AdaptOptions {
  /**
   * `openai-strict` requires every member. An optional one becomes `nullable` (default): null then means absent, and a
   * tool's `coerce` reads it that way. Or it becomes `required`, and the model must always give it.
   */
  optional?: "nullable" | "required";
}

/** A schema as the provider accepts it. The input is not changed; unchanged parts are shared with it. */
export function adaptSchema(schema: JsonObject, mode: SchemaMode, options: AdaptOptions = {}): Adapted {
  if (mode === "tool") return asTool(soundRoot(schema));
  const placed = byPlace(schema);
  if (mode === "openai" && !mayBeIrregular(placed)) return { schema: placed, removed: [], narrowed: [] };
  const { schema: adapted, ...lost } = convert(placed, dialects[mode], options.optional ?? "nullable");
  return { schema: isObject(adapted) ? adapted : schema, ...lost };
}

/** A tool's schema as the provider accepts it: an object without alternatives at its root, then as with `adaptSchema`. */
export function adaptToolSchema(
  schema: Json | undefined,
  mode: SchemaMode,
  options: AdaptOptions = {},
): Adapted {
  const top = soundRoot(schema);
  if (mode === "tool") return asTool(top);
  const adapted = adaptSchema(withItems(top.schema), mode, options);
  return { ...adapted, schema: withItems(adapted.schema), removed: [...top.removed, ...adapted.removed] };
}

/** An object at the root, and references that point somewhere. */
function soundRoot(given: Json | undefined): Pick<Adapted, "schema" | "removed"> {
  const placed = byPlace(objectOf(given));
  const top = objectRoot(placed);
  const { schema, removed } = withoutDangling(top.schema, placed);
  return { schema, removed: [...top.removed, ...removed] };
}

const asTool = ({ schema, removed }: Pick<Adapted, "schema" | "removed">): Adapted => ({
  schema: withItems(schema),
  removed,
  narrowed: [],
});

/** Something in a schema that some provider cannot express. */
export interface Trouble extends Removed {
  /** The modes that lose this rule. */
  modes: SchemaMode[];
}

const portable: readonly SchemaMode[] = [
  "tool",
  "openai",
  "anthropic",
  "openai-strict",
  "google-openapi",
  "google-strict",
  "xai",
];

/** What a tool's schema would lose, and where: empty for a schema that every provider accepts unchanged. */
export function schemaTroubles(schema: JsonObject): Trouble[] {
  const found = new Map<string, Trouble>();
  for (const mode of portable) {
    const { removed, narrowed } = adaptToolSchema(schema, mode);
    const tight: Removed[] = narrowed.map((fieldPath) => ({ type: "narrowed", fieldPath, value: null }));
    for (const rule of mode === "openai-strict" && isStrict(schema) ? [] : [...removed, ...tight]) {
      const key = JSON.stringify(rule);
      const known = found.get(key);
      if (known === undefined) found.set(key, { ...rule, modes: [mode] });
      else known.modes.push(mode);
    }
  }
  return [...found.values()];
}
