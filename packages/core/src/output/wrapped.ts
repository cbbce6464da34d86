// The room of the wrapped value: an output that is not an object, as the only member of one.
//
// A tool's arguments are objects, and most providers support nothing else: they refuse a list or a union at the top of a
// schema. So such a value is asked for inside an object, and the object is removed again when the answer arrives.

import { jsonIn } from "../json/in-text.ts";
import { isObject } from "../json/object.ts";
import type { Json, JsonObject } from "../message.ts";
import { oncePer } from "../once-per.ts";
import { dataWords, schemasByName } from "../schema/keywords.ts";

const wrapperOf = oncePer(wrap);
const wrappers = new WeakSet<JsonObject>();

/** A schema of an object: the schema itself, or one with the value under the key `value`. The same object for the same schema. */
export function objectSchema(schema: JsonObject): JsonObject {
  if (schema.type === "object") return schema;
  const wrapper = wrapperOf(schema);
  wrappers.add(wrapper);
  return wrapper;
}

/** Whether the value of a schema is put into an object, under the key `value`. */
export const isWrapped = (schema: Json | undefined): boolean => isObject(schema) && wrappers.has(schema);

/** The content of the object that was asked for, if this is one. */
export function unwrapped(value: Json): Json | undefined {
  return isObject(value) && Object.keys(value).join() === "value" ? value.value : undefined;
}

// ---- the schema ----------------------------------------------------------------------------------------------------

function wrap(schema: JsonObject): JsonObject {
  const { $schema: _, $defs, definitions, ...rest } = schema;
  const known = isObject($defs) ? $defs : {};
  const name = ["output", "output_", "output__"].find((one) => !Object.hasOwn(known, one)) ?? "output___";
  let moved = false;
  // References to the root now lead to the value, and references into the root lead into the value.
  function led(node: Json): Json {
    if (Array.isArray(node)) return node.map(led);
    if (!isObject(node)) return node;
    return eachOf(node, (one, word) => {
      if (dataWords.has(word)) return one;
      if (schemasByName.has(word)) return ledByName(one);
      if (word !== "$ref" || typeof one !== "string" || !intoTheWhole.test(one)) return led(one);
      moved = true;
      return `#/$defs/${name}${one.slice(1)}`;
    });
  }
  const ledByName = (all: Json): Json => (isObject(all) ? eachOf(all, led) : all);
  const value = led(rest);
  const defs = eachOf(known, led);
  const older = definitions === undefined ? {} : { definitions: ledByName(definitions) };
  const around = (whole: Json, all: JsonObject): JsonObject => ({
    type: "object",
    properties: { value: whole },
    required: ["value"],
    additionalProperties: false,
    ...(Object.keys(all).length > 0 ? { $defs: all } : {}),
    ...older,
  });
  return moved ? around({ $ref: `#/$defs/${name}` }, { ...defs, [name]: value }) : around(value, defs);
}

/** A reference to the schema itself, or to a place in it; its definitions stay where they are. */
const intoTheWhole = /^#(?!\/(?:\$defs|definitions)\/)(?:\/|$)/;

const eachOf = (object: JsonObject, change: (one: Json, word: string) => Json): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([word, one]) => [word, change(one, word)]));

// ---- the answer ----------------------------------------------------------------------------------------------------

const opening = /^\s*\{\s*"value"\s*:\s*/;
const mayOpen = /^\s*(?:\{\s*(?:"(?:v(?:a(?:l(?:u(?:e(?:"\s*(?::\s*)?)?)?)?)?)?)?)?)?$/;

/** The text without the object around its value; the same text if there is none. */
export function unwrappedText(text: string): string {
  const opened = opening.exec(text);
  if (opened === null) return text;
  const rest = text.slice(opened[0].length);
  const inner = rest.slice(0, endOf(rest));
  return jsonIn(inner) === undefined ? text : inner;
}

/** Removes the object while its text arrives. */
export class Unwrapping {
  #held = "";
  #where: "before" | "inside" | "plain" = "before";

  /** The part of the value's text that is certain now. */
  push(piece: string): string {
    if (this.#where === "plain") return piece;
    this.#held += piece;
    // Blanks say nothing, and a model that goes astray writes them endlessly: they are handled together with the text after
    // them.
    if (piece.trim() === "") return "";
    if (this.#where === "before") {
      const opened = opening.exec(this.#held);
      if (opened === null || opened[0].length === this.#held.length) {
        if (mayOpen.test(this.#held)) return "";
        this.#where = "plain";
        return this.#held;
      }
      this.#held = this.#held.slice(opened[0].length);
      this.#where = "inside";
    }
    const end = endOf(this.#held);
    const certain = this.#held.slice(0, end);
    this.#held = this.#held.slice(end);
    return certain;
  }
}

/** The position of a closing bracket at the end of a text, with blanks around it. A pattern would take quadratic time for many blanks. */
function endOf(text: string): number {
  const end = text.trimEnd().length;
  return text[end - 1] === "}" ? text.slice(0, end - 1).trimEnd().length : end;
}
