// Schemas and values for property tests: small, nested, with every keyword some provider lacks.

import type { Json, JsonObject } from "@rondo/core";
import fc from "fast-check";

const names = fc.constantFrom("a", "b", "type", "format");
const text = fc.constantFrom("", "a", "b", "abcdef", "2020-01-01", "x1");
const number = fc.constantFrom(0, 1, 2, 3, 7, 2.5, -4, 100);

/** Any small JSON value. */
export const values: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    text as fc.Arbitrary<Json>,
    number as fc.Arbitrary<Json>,
    fc.constantFrom<Json>(true, false, null),
    fc.array(tie("value"), { maxLength: 3 }) as fc.Arbitrary<Json>,
    fc.dictionary(names, tie("value"), { maxKeys: 3 }) as fc.Arbitrary<Json>,
  ),
})).value;

const maybe = <T extends { [key: string]: fc.Arbitrary<unknown> }>(shape: T): fc.Arbitrary<JsonObject> =>
  fc.record(shape, { requiredKeys: [] }) as fc.Arbitrary<JsonObject>;

const small = fc.integer({ min: 0, max: 3 });

const ofString = maybe({
  minLength: small,
  maxLength: fc.integer({ min: 1, max: 6 }),
  pattern: fc.constantFrom("^a", "b$", "[0-9]"),
  format: fc.constantFrom("date", "date-time", "email"),
  description: fc.constant("a text"),
}).map((rules): JsonObject => ({ type: "string", ...rules }));

const ofNumber = fc
  .tuple(
    fc.constantFrom("number", "integer"),
    maybe({ minimum: number, maximum: number, exclusiveMinimum: number, multipleOf: fc.constantFrom(1, 2) }),
  )
  .map(([type, rules]): JsonObject => ({ type, ...rules }));

const plain: fc.Arbitrary<JsonObject> = fc.oneof(
  ofString,
  ofNumber,
  fc.constantFrom<JsonObject>(
    { type: "boolean" },
    { type: "null" },
    { const: "a" },
    { const: 2 },
    { enum: ["a", "b"] },
    { enum: ["a", ""] },
    { type: "integer", enum: [1, 2] },
    { enum: ["a", null] },
    { type: ["string", "null"], minLength: 1 },
    { type: ["string", "number"], minLength: 2, minimum: 1 },
    { type: ["string", "null"], enum: ["a"] },
    {},
  ),
  ...["x", "y", "tree", "ring"].map((name) => fc.constant<JsonObject>({ $ref: `#/$defs/${name}` })),
);

const definitions = (inner: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> =>
  fc.record({ x: inner, y: inner }).map(
    ({ x, y }): JsonObject => ({
      x,
      y,
      tree: {
        type: "object",
        properties: { a: { $ref: "#/$defs/tree" }, b: { type: "string", minLength: 1 } },
        required: ["b"],
      },
      // Whether anything of this one is lost is up to chance.
      ring: {
        type: "object",
        properties: {
          a: { anyOf: [{ $ref: "#/$defs/ring" }, { type: "null" }] },
          b: x,
          type: { $ref: "#/$defs/y" },
        },
        required: ["a"],
        additionalProperties: false,
      },
    }),
  );

const { node } = fc.letrec<{ node: JsonObject }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, depthSize: "small", withCrossShrink: true },
    plain,
    fc
      .record(
        {
          properties: fc.dictionary(names, tie("node"), { maxKeys: 3 }),
          required: fc.array(names, { maxLength: 2 }).map((list) => [...new Set(list)]),
          additionalProperties: fc.oneof(fc.boolean(), tie("node")),
          patternProperties: fc.dictionary(fc.constantFrom("^a"), tie("node"), { maxKeys: 1 }),
          propertyNames: fc.constant({ maxLength: 1 }),
          minProperties: small,
          maxProperties: fc.integer({ min: 1, max: 3 }),
          dependentRequired: fc.constant({ a: ["b"] }),
          not: tie("node"),
          if: tie("node"),
          // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema
          then: tie("node"),
        },
        { requiredKeys: ["properties"] },
      )
      .map((rules) => ({ type: "object", ...rules }) as unknown as JsonObject),
    fc
      .record(
        {
          items: tie("node"),
          minItems: small,
          maxItems: fc.integer({ min: 1, max: 3 }),
          uniqueItems: fc.boolean(),
          contains: tie("node"),
          minContains: fc.integer({ min: 1, max: 2 }),
        },
        { requiredKeys: [] },
      )
      .map((rules) => ({ type: "array", ...rules }) as unknown as JsonObject),
    fc.array(tie("node"), { minLength: 1, maxLength: 3 }).map((anyOf): JsonObject => ({ anyOf })),
    fc.array(tie("node"), { minLength: 1, maxLength: 3 }).map((oneOf): JsonObject => ({ oneOf })),
    fc.array(tie("node"), { minLength: 1, maxLength: 2 }).map((allOf): JsonObject => ({ allOf })),
    fc
      .tuple(plain, tie("node"), tie("node"))
      .map(([rules, one, other]): JsonObject => ({ ...rules, anyOf: [one, other] })),
    fc.tuple(tie("node"), tie("node")).map(([one, other]): JsonObject => ({ ...one, allOf: [other] })),
  ),
}));

/** A schema with definitions that its nodes may refer to. */
export const schemas: fc.Arbitrary<JsonObject> = fc
  .tuple(node, definitions(plain.filter((one) => one.$ref === undefined)))
  .map(([schema, $defs]): JsonObject => ({ ...schema, $defs }));
