import { type Schema, Validator } from "@cfworker/json-schema";
import type { Json, JsonObject } from "@rondo/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkSchema } from "../../../testkit/src/wire/rules/schemas.ts";
import { adaptSchema, adaptToolSchema } from "../../src/schemas/adapt.ts";
import type { SchemaMode } from "../../src/schemas/dialects.ts";
import { type Removed, ruleOf } from "../../src/schemas/removed.ts";
import { schemas, values } from "./arbitrary.ts";

const isValid = (schema: JsonObject, value: Json): boolean =>
  new Validator(schema as Schema, "2020-12").validate(value).valid;

/** The values at a path as removed rules name it. */
function at(value: Json, path: string): Json[] {
  if (path === "") return [value];
  const [, step = "", rest = ""] = /^(\[\]|[^.[]+)\.?(.*)$/.exec(path) ?? [];
  if (step === "[]") return Array.isArray(value) ? value.flatMap((one) => at(one, rest)) : [];
  if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, step))
    return [];
  return at(value[step] as Json, rest);
}

/** Whether a value keeps the rules that an adapted schema lost. Rules may point into the original's definitions. */
function keeps(value: Json, removed: readonly Removed[], original: JsonObject): boolean {
  return removed.every((rule) =>
    at(value, rule.fieldPath).every((one) => isValid({ ...ruleOf(rule), $defs: original.$defs ?? {} }, one)),
  );
}

/** OpenAPI's `nullable` in words of JSON Schema. */
function plain(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(plain);
  if (typeof schema !== "object" || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, one]) => [key, plain(one)]));
  if (schema.nullable !== true) return copy;
  delete copy.nullable;
  return { anyOf: [copy, { type: "null" }] };
}

const modes: SchemaMode[] = [
  "tool",
  "anthropic",
  "openai-strict",
  "google-openapi",
  "google-structured",
  "google-strict",
  "xai",
];

describe.each(modes)("a schema adapted for %s", (mode) => {
  it("stays small if references fan out, and loses no definition that stays", () => {
    const levels = 20;
    const $defs: JsonObject = { leaf: { type: "string", minLength: 1 } };
    for (let at = 0; at < levels; at++) {
      const next = { $ref: at + 1 === levels ? "#/$defs/leaf" : `#/$defs/d${at + 1}` };
      $defs[`d${at}`] = { type: "object", properties: { a: next, b: next }, required: ["a", "b"] };
    }
    const schema: JsonObject = { type: "object", properties: { top: { $ref: "#/$defs/d0" } }, $defs };
    const adapted = adaptSchema(schema, mode);
    expect(JSON.stringify(adapted).length).toBeLessThan(400_000);
    expect(checkSchema(adapted.schema, mode)).toEqual([]);
    if (mode === "openai-strict")
      expect((adapted.schema.$defs as JsonObject).d0).toMatchObject({
        properties: { a: { $ref: "#/$defs/d1" }, b: { $ref: "#/$defs/d1" } },
      });
  });

  it("comes to an end if parts and alternatives of references fan out", () => {
    for (const word of ["allOf", "anyOf", "oneOf"]) {
      const $defs: JsonObject = { d24: { type: "object", properties: { a: { type: "string" } } } };
      for (let at = 0; at < 24; at++)
        $defs[`d${at}`] = { [word]: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] };
      const { schema } = adaptToolSchema({ $ref: "#/$defs/d0", $defs }, mode);
      expect(checkSchema(schema, mode).filter((one) => !one.message.includes("missing properties"))).toEqual(
        [],
      );
    }
  });

  it("is accepted by the provider, and the input is unchanged", () => {
    fc.assert(
      fc.property(schemas, (schema) => {
        const before = JSON.stringify(schema);
        const { schema: adapted } = adaptSchema(schema, mode);
        expect(checkSchema(adapted, mode)).toEqual([]);
        expect(JSON.stringify(schema)).toBe(before);
        const { schema: parameters } = adaptToolSchema(schema, mode);
        expect(checkSchema(parameters, mode)).toEqual([]);
        // Google's subset refuses an empty list of members: its codec then sends no parameters at all.
        const whole = mode.startsWith("google-") ? { properties: {}, ...parameters } : parameters;
        expect(checkSchema(whole, "tool")).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it("together with the rules it lost is never wider than the original", () => {
    let taken = 0;
    fc.assert(
      fc.property(schemas, fc.array(values, { minLength: 20, maxLength: 20 }), (given, some) => {
        // What google-structured drops without a word is left out from the start.
        const schema = mode === "google-structured" ? withoutMembersRule(given) : given;
        const { schema: adapted, removed } = adaptSchema(schema, mode, { optional: "required" });
        const wide = plain(adapted) as JsonObject;
        for (const value of some) {
          if (!isValid({ $defs: schema.$defs ?? {}, ...wide }, value) || !keeps(value, removed, schema))
            continue;
          taken++;
          if (!isValid(schema, value))
            throw new Error(`${JSON.stringify(value)} passes ${JSON.stringify({ adapted, removed })}`);
        }
      }),
      { numRuns: 1500 },
    );
    expect(taken).toBeGreaterThan(20);
  });
});

describe("keywords next to a reference that is cut off", () => {
  const x: JsonObject = { description: "anything" };
  const dangling = (beside: JsonObject): JsonObject => ({ $ref: "#/$defs/none", ...beside, $defs: { x } });
  const itself = (beside: JsonObject): JsonObject => ({
    $ref: "#/$defs/x",
    anyOf: [{ $ref: "#/$defs/x", ...beside }],
    $defs: { x },
  });
  it.each(modes)("are recorded as lost for %s, or stay", (mode) => {
    const besides: JsonObject[] = [
      { type: "string", minLength: 2 },
      { anyOf: [{ type: "string" }, { type: "boolean" }] },
      { allOf: [{ type: "string" }] },
    ];
    for (const beside of besides)
      for (const schema of [dangling(beside), itself(beside)]) {
        const { schema: adapted, removed } = adaptSchema(schema, mode, { optional: "required" });
        const { $ref: _, ...known } = plain(adapted) as JsonObject;
        const lost = removed.filter(({ type }) => type !== "$ref");
        // What is neither lost nor said any more would let an object pass for a text.
        const passes = isValid({ ...known, $defs: { x } }, {}) && keeps({}, lost, { $defs: { x } });
        expect({ schema, adapted, removed, passes }).toMatchObject({ passes: false });
      }
  });
});

function withoutMembersRule(schema: Json): JsonObject {
  const strip = (one: Json, isMap: boolean): Json => {
    if (Array.isArray(one)) return one.map((inner) => strip(inner, false));
    if (typeof one !== "object" || one === null) return one;
    return Object.fromEntries(
      Object.entries(one)
        .filter(([key]) => isMap || key !== "additionalProperties")
        .map(([key, inner]) => [
          key,
          strip(inner, !isMap && ["properties", "$defs", "patternProperties"].includes(key)),
        ]),
    );
  };
  return strip(schema, false) as JsonObject;
}
