// The room of types in a schema: one of several, the type of values, or one more that is null.

import type { Json, JsonObject } from "@rondo/core";
import { listIn } from "../json-values.ts";
import { isNull, objectOf, typesOf } from "./node.ts";

export function isObjectType(type: Json | undefined): boolean {
  return type === "object" || listIn(type).includes("object");
}

export function isArrayType(type: Json | undefined): boolean {
  return type === "array" || listIn(type).includes("array");
}

/** Whether a type is the type of all these values. */
export function isTypeOf(literals: readonly Json[], type: Json): boolean {
  const types = typesOf({ type });
  return literals.every(
    (value) => types.includes(typeof value) || (Number.isInteger(value) && types.includes("integer")),
  );
}

/** The common type of the values that schemas list, if there is one: `integer` if one of the schemas says so and none contradicts. */
export function typeOfValues(schemas: readonly Json[], values: readonly Json[]): string | undefined {
  const types = new Set(values.map((value) => typeof value));
  const [type] = types;
  if (types.size !== 1 || type === undefined || type === "object") return undefined;
  const named = new Set(schemas.flatMap((schema) => typesOf(objectOf(schema))));
  const whole = named.size === 1 && named.has("integer") && values.every(Number.isInteger);
  return whole ? "integer" : type;
}

/** A node of several types, reduced to one of them. */
export function only(type: string, node: JsonObject): JsonObject {
  const foreign =
    type === "object"
      ? ["items", "prefixItems"]
      : type === "array"
        ? ["properties", "required", "additionalProperties"]
        : ["items", "prefixItems", "properties", "required", "additionalProperties"];
  return { ...Object.fromEntries(Object.entries(node).filter(([word]) => !foreign.includes(word))), type };
}

/** A schema that also accepts null. */
export function orNull(schema: Json): Json {
  const node = objectOf(schema);
  const { type } = node;
  const plain = node.const === undefined && node.anyOf === undefined && node.$ref === undefined;
  if (!plain || type === undefined)
    return Array.isArray(node.anyOf) && !node.anyOf.some(isNull)
      ? { ...node, anyOf: [...node.anyOf, { type: "null" }] }
      : Array.isArray(node.anyOf)
        ? node
        : { anyOf: [node, { type: "null" }] };
  const types = listIn(type).length > 0 ? listIn(type) : [type];
  return {
    ...node,
    type: types.includes("null") ? type : [...types, "null"],
    ...(Array.isArray(node.enum) && !node.enum.includes(null) ? { enum: [...node.enum, null] } : {}),
  };
}
