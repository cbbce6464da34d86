// The room of strict mode: whether OpenAI accepts a schema for it unchanged.
//
// With a schema that breaks its rules, strict mode fails the whole request (F140). So it is requested only after this
// check.

import type { Json, JsonObject } from "@rondo/core";
import { isObject, listIn } from "../json-values.ts";
import { isRegular } from "./expressions.ts";
import { objectOf } from "./node.ts";

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const types = words("string number boolean integer object array null");
const keywords = words(
  "type description title enum const properties required additionalProperties items anyOf $ref $defs definitions pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems",
);
const formats = words("date-time time date duration email hostname ipv4 ipv6 uuid");

/** How much a strict schema may hold in all. */
interface Room {
  members: number;
  /** Listed values. */
  values: number;
  /** Characters in names of members and definitions, and in listed values. */
  characters: number;
}

/** A list of more values than this may have only so many characters. */
const longList = { values: 250, characters: 15_000 };

/** Whether strict mode accepts the schema as it is. */
export function isStrict(schema: JsonObject): boolean {
  const room: Room = { members: 5_000, values: 1_000, characters: 120_000 };
  return (
    schema.type === "object" &&
    schema.anyOf === undefined &&
    isStrictNode(schema, 1, room) &&
    Object.values(room).every((left) => left >= 0)
  );
}

/** The schema with objects closed unless they say otherwise; the same object if all of them do. */
export function closed(schema: JsonObject): JsonObject {
  return closedNode(schema) as JsonObject;
}

function closedNode(given: Json): Json {
  if (Array.isArray(given)) {
    const all = given.map(closedNode);
    return all.every((one, at) => one === given[at]) ? given : all;
  }
  if (!isObject(given)) return given;
  let node = given;
  for (const [word, value] of Object.entries(given)) {
    const inner = inside.has(word)
      ? closedNode(value)
      : byName.has(word) && isObject(value)
        ? closedMembers(value)
        : value;
    if (inner !== value) node = { ...node, [word]: inner };
  }
  const isOpen = isObject(node.properties) && node.additionalProperties === undefined;
  return isOpen && node.patternProperties === undefined ? { ...node, additionalProperties: false } : node;
}

const inside = words("items anyOf oneOf prefixItems");
const byName = words("properties $defs definitions");

function closedMembers(members: JsonObject): JsonObject {
  const all = Object.entries(members).map(([name, one]): [string, Json] => [name, closedNode(one)]);
  return all.every(([name, one]) => one === members[name]) ? members : Object.fromEntries(all);
}

/** Whether a list of values is not too long for itself; it takes from the room. */
function isListed(values: readonly Json[], room: Room): boolean {
  const characters = charactersIn(values.filter((value) => typeof value === "string"));
  room.values -= values.length;
  room.characters -= characters;
  return values.length <= longList.values || characters <= longList.characters;
}

const charactersIn = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0);

function isStrictNode(node: Json | undefined, depth: number, room: Room): boolean {
  if (!isObject(node) || depth > 10) return false;
  for (const word of Object.keys(node)) if (!keywords.has(word)) return false;
  if (node.format !== undefined && !formats.has(String(node.format))) return false;
  if (node.pattern !== undefined && !isRegular(node.pattern)) return false;
  // It refuses a description beside a reference, and any other keyword.
  if (typeof node.$ref === "string") return node.$ref.startsWith("#") && Object.keys(node).length === 1;
  if (node.const !== undefined && !isListed([node.const], room)) return false;
  if (Array.isArray(node.enum) && !isListed(node.enum, room)) return false;
  const inner = (child: Json): boolean => isStrictNode(child, depth + 1, room);
  for (const word of ["$defs", "definitions"]) {
    const defined = objectOf(node[word]);
    room.characters -= charactersIn(Object.keys(defined));
    if (!Object.values(defined).every(inner)) return false;
  }
  if (Array.isArray(node.anyOf)) return node.anyOf.every(inner);
  const given = Array.isArray(node.type) ? node.type : [node.type];
  if (!given.every((type) => typeof type === "string" && types.has(type)))
    return Array.isArray(node.enum) || node.const !== undefined;
  if (given.includes("array") && !isStrictNode(node.items, depth + 1, room)) return false;
  if (!given.includes("object")) return true;
  const { properties } = node;
  if (!isObject(properties) || node.additionalProperties !== false) return false;
  const required = listIn(node.required);
  const names = Object.keys(properties);
  room.members -= names.length;
  room.characters -= charactersIn(names);
  return (
    names.every((name) => required.includes(name)) &&
    required.every((name) => typeof name === "string" && Object.hasOwn(properties, name)) &&
    Object.values(properties).every(inner)
  );
}
