// The room of strayed outputs: what a small model writes instead of a value, told in plain words so that it can do better (F230).
//
// A checker only says which members are missing and which are too many. From that a model seldom sees that it gave the
// schema back, or put the value into an object.

import { isObject } from "../json/object.ts";
import type { Json, JsonObject } from "../message.ts";
import type { CompiledSchema } from "../schema.ts";

/** What is strange about a value that does not fit its schema, as a sentence for the model; undefined if nothing is. */
export async function strayed(value: Json, schema: CompiledSchema): Promise<string | undefined> {
  if (!isObject(value)) return undefined;
  if (isSchema(value, schema.json)) return "This is the JSON Schema itself, not a value that satisfies it";
  const name = wrapperIn(value, schema.json);
  if (name === undefined) return undefined;
  const inner = await schema.check(value[name] as Json);
  return inner.ok ? `The value must not be inside ${JSON.stringify(name)}: give it by itself` : undefined;
}

/** Whether a value describes members of the schema as a schema does. */
function isSchema(value: JsonObject, schema: JsonObject): boolean {
  const { properties } = value;
  if (!isObject(properties) || declares(schema, "properties")) return false;
  return Object.values(properties).some(
    (one) => isObject(one) && (one.type ?? one.$ref ?? one.anyOf) !== undefined,
  );
}

/** The member that is the whole value: the only one, or the properties of a schema that hold values. */
function wrapperIn(value: JsonObject, schema: JsonObject): string | undefined {
  const names = Object.keys(value);
  const name = names.length === 1 ? names[0] : names.find((one) => one === "properties");
  return name === undefined || declares(schema, name) ? undefined : name;
}

const declares = (schema: JsonObject, name: string): boolean =>
  isObject(schema.properties) && Object.hasOwn(schema.properties, name);
