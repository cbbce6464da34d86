// The room of plain schemas: an object of strings, numbers, booleans, and lists and objects of these, like most tools'
// arguments.
//
// Most calls fit, and here one short walk confirms that. Anything that this room does not know, or does not find to fit,
// goes to the interpreter, which judges it and writes the error. So this room may only say yes where the interpreter would.

import { isObject } from "../json/object.ts";
import type { Json, JsonObject } from "../message.ts";
import { typeWords } from "./keywords.ts";

/** A parsed plain schema. A member that is absent is not checked. */
export interface PlainSchema {
  types: ReadonlySet<string>;
  enum?: ReadonlySet<Json>;
  minimum?: number;
  maximum?: number;
  required: readonly string[];
  properties: ReadonlyMap<string, PlainSchema>;
  /** It accepts no other members. */
  closed: boolean;
  items?: PlainSchema;
}

/** Keywords that check nothing. */
const remarks: ReadonlySet<string> = new Set(
  "title description default examples deprecated readOnly writeOnly $comment".split(" "),
);

/** Parses a schema; undefined if anything in it is not plain. */
export function plainSchema(schema: Json | undefined): PlainSchema | undefined {
  if (!isObject(schema)) return undefined;
  const plain: PlainSchema = { types: new Set(), required: [], properties: new Map(), closed: false };
  for (const [word, value] of Object.entries(schema))
    if (!remarks.has(word) && !readWord(plain, word, value)) return undefined;
  return plain.types.size === 0 ? undefined : plain;
}

/** Whether it was parsed: false if the keyword or its value is not plain. */
function readWord(plain: PlainSchema, word: string, value: Json): boolean {
  switch (word) {
    case "type": {
      const named = Array.isArray(value) ? value : [value];
      plain.types = new Set(named as string[]);
      return named.every((one) => typeWords.has(one));
    }
    case "enum":
      if (!Array.isArray(value)) return false;
      plain.enum = new Set(value);
      return value.every((one) => typeof one !== "object" || one === null);
    case "minimum":
    case "maximum":
      if (typeof value !== "number") return false;
      plain[word] = value;
      return true;
    case "required":
      if (!Array.isArray(value)) return false;
      plain.required = value as string[];
      return value.every((one) => typeof one === "string");
    case "properties": {
      if (!isObject(value)) return false;
      const read = Object.entries(value).map(([name, one]) => [name, plainSchema(one)] as const);
      plain.properties = new Map(read as [string, PlainSchema][]);
      return read.every(([, one]) => one !== undefined);
    }
    case "additionalProperties":
      plain.closed = value === false;
      return typeof value === "boolean";
    case "items": {
      const read = plainSchema(value);
      if (read !== undefined) plain.items = read;
      return read !== undefined;
    }
    default:
      return false;
  }
}

/** Whether a value clearly fits. If false, it may still fit. */
export function fitsPlainly(value: Json, schema: PlainSchema): boolean {
  if (schema.enum !== undefined && !schema.enum.has(value)) return false;
  switch (typeof value) {
    case "string":
    case "boolean":
      return schema.types.has(typeof value);
    case "number":
      return (
        (schema.types.has("number") || (schema.types.has("integer") && Number.isInteger(value))) &&
        value >= (schema.minimum ?? -Infinity) &&
        value <= (schema.maximum ?? Infinity)
      );
    case "object":
      if (value === null) return schema.types.has("null");
      return Array.isArray(value) ? itemsFit(value, schema) : membersFit(value, schema);
    default:
      return false;
  }
}

function itemsFit(value: readonly Json[], { types, items }: PlainSchema): boolean {
  return types.has("array") && (items === undefined || value.every((one) => fitsPlainly(one, items)));
}

function membersFit(value: JsonObject, { types, required, properties, closed }: PlainSchema): boolean {
  if (!types.has("object")) return false;
  for (const name of required) if (!Object.hasOwn(value, name)) return false;
  for (const name of Object.keys(value)) {
    const schema = properties.get(name);
    if (schema === undefined ? closed : !fitsPlainly(value[name] as Json, schema)) return false;
  }
  return true;
}
