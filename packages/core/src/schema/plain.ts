// The room of plain schemas: an object of texts, numbers, flags, and lists and objects of these, as most tools' arguments are.
//
// Most calls fit, and here that is seen in one short walk. What this room does not know, or does not see to fit, is for the
// interpreter to judge and to put into words. So it may say yes only where that one would.

import { isObject } from "../json/object.ts";
import type { Json, JsonObject } from "../message.ts";
import { typeWords } from "./keywords.ts";

/** A plain schema, read. What is not asked of a value is absent. */
export interface PlainSchema {
  types: ReadonlySet<string>;
  enum?: ReadonlySet<Json>;
  minimum?: number;
  maximum?: number;
  required: readonly string[];
  properties: ReadonlyMap<string, PlainSchema>;
  /** No members but these. */
  closed: boolean;
  items?: PlainSchema;
}

/** Words that ask nothing of a value. */
const remarks: ReadonlySet<string> = new Set(
  "title description default examples deprecated readOnly writeOnly $comment".split(" "),
);

/** Reads a schema; undefined where anything in it is not plain. */
export function plainSchema(schema: Json | undefined): PlainSchema | undefined {
  if (!isObject(schema)) return undefined;
  const plain: PlainSchema = { types: new Set(), required: [], properties: new Map(), closed: false };
  for (const [word, value] of Object.entries(schema))
    if (!remarks.has(word) && !readWord(plain, word, value)) return undefined;
  return plain.types.size === 0 ? undefined : plain;
}

/** Whether it was read: false where the word, or what stands behind it, is not plain. */
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

/** Whether a value plainly fits. False says nothing: it may fit all the same. */
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
