// The room of the schema target: any JSON in place of a schema is adapted for every provider, and itself stays unchanged.

import type { Json, JsonObject } from "@rondo/core";
import { adaptSchema, adaptToolSchema, schemaTroubles } from "../../packages/models/src/schemas/adapt.ts";
import type { SchemaMode } from "../../packages/models/src/schemas/dialects.ts";
import { normalizeToolParameters, sanitizeToolsForGoogle } from "../../packages/models/src/schemas/tools.ts";
import type { Chance } from "../chance.ts";
import { anyJson, isObject, mutateJson, objectOf } from "./mutate.ts";
import { type FuzzTarget, outcomeOf, same } from "./target.ts";

const modes: readonly SchemaMode[] = [
  "tool",
  "anthropic",
  "openai-strict",
  "google-openapi",
  "google-structured",
  "google-strict",
  "xai",
];
const types = ["object", "array", "string", "number", "integer", "boolean", "null"];
const refs = [
  "#",
  "#/$defs/a",
  "#/$defs/b",
  "#/definitions/a",
  "#/properties/a",
  "#/$defs/none",
  "other.json",
  "#/$defs/a%2Fb",
  "#bad",
];

function schema(chance: Chance, depth: number): Json {
  if (chance.is(0.04)) return anyJson(chance, 1);
  const entries: [string, Json][] = [];
  const inner = (): Json => schema(chance, depth - 1);
  const some = (): Json => chance.many(chance.below(4), inner);
  const named = (): Json =>
    objectOf(chance.many(chance.below(3), () => [chance.pick(["a", "b", "__proto__"]), inner()]));
  if (chance.is(0.8))
    entries.push(["type", chance.is(0.15) ? chance.many(2, () => chance.pick(types)) : chance.pick(types)]);
  if (chance.is(0.2)) entries.push(["$ref", chance.pick(refs)]);
  if (depth > 0) {
    for (const word of ["properties", "$defs", "definitions", "patternProperties"])
      if (chance.is(word === "properties" ? 0.6 : 0.12)) entries.push([word, named()]);
    for (const word of ["anyOf", "oneOf", "allOf", "prefixItems"])
      if (chance.is(0.12)) entries.push([word, some()]);
    for (const word of ["items", "not", "if", "then", "additionalProperties", "contains"])
      if (chance.is(0.12)) entries.push([word, inner()]);
  }
  if (chance.is(0.3))
    entries.push(["required", chance.many(chance.below(3), () => chance.pick(["a", "b", "c"]))]);
  if (chance.is(0.2)) entries.push(["enum", chance.many(chance.below(3), () => anyJson(chance, 1))]);
  if (chance.is(0.1)) entries.push(["const", anyJson(chance, 1)]);
  if (chance.is(0.1)) entries.push(["additionalProperties", chance.is(0.5)]);
  for (const word of [
    "minLength",
    "maximum",
    "pattern",
    "format",
    "description",
    "default",
    "nullable",
    "$schema",
  ])
    if (chance.is(0.06)) entries.push([word, anyJson(chance, 1)]);
  return objectOf(entries);
}

export const schemaTarget: FuzzTarget = {
  name: "schema",
  make(chance) {
    const made = schema(chance, 1 + chance.below(4));
    return chance.is(0.3) ? mutateJson(chance, made) : made;
  },
  run(input) {
    const before = JSON.stringify(input);
    const results: unknown[] = [];
    for (const mode of modes)
      for (const optional of ["nullable", "required"] as const) {
        results.push(outcomeOf(() => adaptToolSchema(input, mode, { optional })));
        if (isObject(input))
          results.push(outcomeOf(() => adaptSchema(input as JsonObject, mode, { optional })));
      }
    if (isObject(input)) results.push(outcomeOf(() => schemaTroubles(input)));
    const tool = { name: "look", inputSchema: input };
    for (const [provider, model] of [
      ["google", ""],
      ["xai", ""],
      ["openai", ""],
      ["openrouter", "x-ai/grok"],
    ] as const)
      results.push(outcomeOf(() => normalizeToolParameters(tool, { provider, model })));
    results.push(
      outcomeOf(() => sanitizeToolsForGoogle([tool], { provider: "google", api: "google-generative-ai" })),
    );
    same([JSON.parse(before), input], "the schema before and after, of which");
    return results;
  },
};
