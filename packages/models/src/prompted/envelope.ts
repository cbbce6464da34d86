// The room of the envelope as a JSON Schema, for models whose output can be constrained: a call of one of the tools, or a
// response.
//
// Not every server knows every keyword, and an unknown one makes the whole request fail. Only the part of JSON Schema that
// grammars support is used; the arguments are validated against the real schema afterwards.

import type { Json, JsonObject, ToolChoice, ToolDefinition } from "@rondo/core";
import { ownMember, setOwn } from "@rondo/core/checks";
import { isObject } from "../json-values.ts";

/** The schema of an answer: `oneOf` a call of each allowed tool, and a response if one is allowed. */
export function envelopeSchema(tools: readonly ToolDefinition[], choice: ToolChoice): JsonObject {
  const callable =
    choice === "none"
      ? []
      : typeof choice === "object"
        ? tools.filter(({ name }) => name === choice.tool)
        : tools;
  const calls: JsonObject[] = callable.map(({ name, inputSchema }) =>
    closed({
      thought: { type: "string" },
      tool_call: closed({
        name: { const: name },
        input: grammarSchema(inputSchema),
      }),
    }),
  );
  const response = closed({ response: { type: "string" } });
  const mustCall = calls.length > 0 && (choice === "any" || typeof choice === "object");
  const forms = mustCall ? calls : [...calls, response];
  const envelope = forms.length === 1 ? (forms[0] as JsonObject) : { oneOf: forms };
  envelopes.add(envelope);
  return envelope;
}

const envelopes = new WeakSet<JsonObject>();

/** Any schema, reduced to what grammars support; the protocol's own schema already is. */
export const forGrammar = (schema: JsonObject): JsonObject =>
  envelopes.has(schema) ? schema : grammarSchema(schema);

function closed(properties: { [name: string]: JsonObject }): JsonObject {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

const maxDepth = 12;
/** A schema that refers to itself unfolds without end: beyond this many nodes anything is allowed. */
const maxNodes = 400;

/**
 * A schema reduced to what grammars support: types, constants, lists, objects, alternatives. A grammar always writes every
 * property, so an optional one may also be null; see `withoutFillers`.
 */
const grammarSchema = (schema: JsonObject): JsonObject => new GrammarSchema(schema).node(schema, 0);

class GrammarSchema {
  readonly #root: JsonObject;
  #left = maxNodes;

  /** @param root the schema in which references are resolved */
  constructor(root: JsonObject) {
    this.#root = root;
  }

  node(schema: Json | undefined, depth: number): JsonObject {
    this.#left -= 1;
    if (!isObject(schema) || depth > maxDepth || this.#left < 0) return anyValue();
    const ref = ownMember(schema, "$ref");
    if (typeof ref === "string") return this.node(referred(ref, this.#root), depth + 1);
    const constant = ownMember(schema, "const");
    if (constant !== undefined && (typeof constant !== "object" || constant === null))
      return { const: constant };
    const words = ownMember(schema, "enum");
    if (Array.isArray(words)) {
      const plain = words.filter((word) => typeof word !== "object" || word === null);
      if (plain.length > 0) return { enum: plain };
    }
    const ways = ownMember(schema, "oneOf") ?? ownMember(schema, "anyOf");
    if (Array.isArray(ways) && ways.length > 0)
      return { oneOf: ways.map((way) => this.node(way, depth + 1)) };
    const all = ownMember(schema, "allOf");
    if (Array.isArray(all) && all.length === 1) return this.node(all[0], depth + 1);
    return this.#typed(schema, depth);
  }

  /** A schema, by its type. */
  #typed(schema: JsonObject, depth: number): JsonObject {
    const type = ownMember(schema, "type");
    if (Array.isArray(type))
      return { oneOf: type.map((one) => this.node({ ...schema, type: one }, depth + 1)) };
    switch (type) {
      case "object":
        return this.#object(schema, depth);
      case "array":
        return {
          type: "array",
          items: this.#items(schema, depth + 1),
          ...numbers(schema, ["minItems", "maxItems"]),
        };
      case "string":
        return { type: "string", ...numbers(schema, ["minLength", "maxLength"]) };
      case "number":
      case "integer":
      case "boolean":
      case "null":
        return { type };
      default:
        return isObject(ownMember(schema, "properties")) ? this.#object(schema, depth) : anyValue();
    }
  }

  /** The schema of a list's items; for a tuple, anything that one of its places accepts. */
  #items(schema: JsonObject, depth: number): JsonObject {
    const items = ownMember(schema, "items");
    const places = Array.isArray(items) ? items : ownMember(schema, "prefixItems");
    if (!Array.isArray(places) || places.length === 0) return this.node(items, depth);
    const rest = isObject(items) && Object.keys(items).length > 0 ? [items] : [];
    const each = [...places, ...rest].map((one) => this.node(one, depth));
    return each.length === 1 ? (each[0] as JsonObject) : { oneOf: each };
  }

  #object(schema: JsonObject, depth: number): JsonObject {
    const own = ownMember(schema, "properties");
    const required = ownMember(schema, "required");
    const properties: { [name: string]: JsonObject } = {};
    for (const [name, value] of isObject(own) ? Object.entries(own) : []) {
      const one = this.node(value, depth + 1);
      const needed = Array.isArray(required) && required.includes(name);
      setOwn(properties, name, needed ? one : { oneOf: [one, { type: "null" }] });
    }
    const more = ownMember(schema, "additionalProperties");
    const free = Object.keys(properties).length === 0 && more !== false;
    return {
      type: "object",
      properties,
      required: Object.keys(properties),
      additionalProperties: isObject(more)
        ? this.node(more, depth + 1)
        : more === true || (free && own === undefined),
    };
  }
}

/** The schema for any value, as far as grammars support one. */
function anyValue(): JsonObject {
  return {
    oneOf: [
      { type: "string" },
      { type: "number" },
      { type: "boolean" },
      { type: "null" },
      { type: "array", items: { type: "string" } },
    ],
  };
}

function referred(ref: string, root: JsonObject): Json | undefined {
  if (!ref.startsWith("#/")) return ref === "#" ? root : undefined;
  let at: Json | undefined = root;
  for (const step of ref.slice(2).split("/"))
    at = isObject(at) ? ownMember(at, step.replaceAll("~1", "/").replaceAll("~0", "~")) : undefined;
  return at;
}

function numbers(schema: JsonObject, names: readonly string[]): JsonObject {
  const out: JsonObject = {};
  for (const name of names) {
    const value = ownMember(schema, name);
    if (typeof value === "number" && value >= 0 && value <= 4096) out[name] = value;
  }
  return out;
}

/** Arguments without the nulls that the grammar made the model write for optional members (F098). */
export function withoutFillers(args: Json, schema: JsonObject): Json {
  if (!isObject(args)) return args;
  const properties = ownMember(schema, "properties");
  if (!isObject(properties)) return args;
  const required = ownMember(schema, "required");
  const kept = Object.entries(args).filter(([name, value]) => {
    if (value !== null || (Array.isArray(required) && required.includes(name))) return true;
    const own = ownMember(properties, name);
    return own === undefined || takesNull(own);
  });
  return Object.fromEntries(
    kept.map(([name, value]) => {
      const own = ownMember(properties, name);
      return [name, isObject(own) ? withoutFillers(value, own) : value];
    }),
  );
}

function takesNull(schema: Json): boolean {
  if (!isObject(schema)) return true;
  const type = ownMember(schema, "type");
  if (type === "null" || (Array.isArray(type) && type.includes("null"))) return true;
  const words = ownMember(schema, "enum");
  if (Array.isArray(words) && words.includes(null)) return true;
  const ways = ownMember(schema, "anyOf") ?? ownMember(schema, "oneOf");
  return ownMember(schema, "const") === null || (Array.isArray(ways) && ways.some(takesNull));
}
