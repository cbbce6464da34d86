import type { Json, JsonObject } from "@rondo/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkGoogleRequest } from "../../../testkit/src/wire/rules/google.ts";
import { adaptSchema } from "../../src/schemas/adapt.ts";

const openApiSchema = (schema: JsonObject): JsonObject => adaptSchema(schema, "google-openapi").schema;

const problems = (schema: JsonObject): unknown[] => {
  const parameters = openApiSchema(schema);
  const declared = Object.keys(parameters).length === 0 ? {} : { parameters };
  return checkGoogleRequest({
    contents: [{ role: "user", parts: [{ text: "x" }] }],
    tools: [{ functionDeclarations: [{ name: "f", description: "d", ...declared }] }],
  });
};

describe("the older schema subset", () => {
  it.each<[string, JsonObject, JsonObject]>([
    ["a constant is an enum of one", { const: "a" }, { type: "string", enum: ["a"] }],
    ["null in a list of types is nullable", { type: ["string", "null"] }, { type: "string", nullable: true }],
    [
      "several types are alternatives",
      { type: ["string", "number"] },
      { anyOf: [{ type: "string" }, { type: "number" }] },
    ],
    [
      "null among alternatives is nullable",
      { anyOf: [{ type: "string" }, { type: "null" }], description: "d" },
      { type: "string", description: "d", nullable: true },
    ],
    [
      "alternatives of single words are one enum",
      { oneOf: [{ const: "a" }, { enum: ["b"] }], title: "t" },
      { title: "t", type: "string", enum: ["a", "b"] },
    ],
    [
      "an enum of numbers is told in words",
      { type: "integer", enum: [1, 2] },
      { type: "integer", description: "One of: 1, 2" },
    ],
    [
      "empty words are dropped from alternatives of single words",
      { anyOf: [{ enum: [""] }, { const: "a" }] },
      { type: "string", enum: ["a"] },
    ],
    ["empty words are dropped from an enum", { enum: ["", "a"] }, { type: "string", enum: ["a"] }],
    ["formats Google lacks are dropped", { type: "string", format: "uuid" }, { type: "string" }],
    [
      "a tuple takes the schema of its first member",
      { type: "array", items: [{ type: "number" }] },
      { type: "array", items: { type: "number" } },
    ],
    [
      "parts of allOf are joined",
      {
        allOf: [
          { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
          { properties: { b: { type: "string" } }, required: ["b", "ghost"] },
        ],
      },
      {
        type: "object",
        properties: { b: { type: "string" }, a: { type: "string" } },
        required: ["a", "b"],
      },
    ],
    [
      "members named like keywords are members",
      { type: "object", properties: { $ref: { type: "string" }, additionalProperties: { type: "number" } } },
      { type: "object", properties: { $ref: { type: "string" }, additionalProperties: { type: "number" } } },
    ],
  ])("%s", (_name, schema, expected) => {
    const before = JSON.stringify(schema);
    expect(openApiSchema(schema)).toEqual(expected);
    expect(problems(schema)).toEqual([]);
    expect(JSON.stringify(schema)).toBe(before);
  });

  it("inlines references, with the keywords next to them", () => {
    const schema: JsonObject = {
      type: "object",
      properties: { p: { $ref: "#/$defs/a~1b", description: "mine" }, lost: { $ref: "#/$defs/none" } },
      $defs: { "a/b": { type: "string", description: "theirs", minLength: 1 } },
    };
    expect(openApiSchema(schema)).toEqual({
      type: "object",
      properties: { p: { type: "string", description: "mine", minLength: 1 }, lost: { type: "object" } },
    });
  });

  it("does not take a schema for a recursive one if only the keywords next to a reference have a member of the same type", () => {
    const person = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
    const $defs = { Person: person };
    const manager = { $ref: "#/$defs/Person" };
    const sent = {
      type: "object",
      properties: { manager: person, name: { type: "string" } },
      required: ["name"],
    };
    for (const mode of ["google-openapi", "google-structured"] as const)
      for (const schema of [
        { allOf: [{ $ref: "#/$defs/Person" }, { properties: { manager } }], $defs },
        { $ref: "#/$defs/Person", properties: { manager }, $defs },
      ]) {
        const { schema: adapted, removed } = adaptSchema(schema, mode);
        expect({ mode, adapted, removed }).toEqual({ mode, adapted: sent, removed: [] });
      }
    const { schema } = adaptSchema(
      { $ref: "#/$defs/Person", properties: { manager }, $defs },
      "google-strict",
    );
    expect(schema).toEqual(sent);
  });

  it("finds a cycle through the keywords next to a reference", () => {
    const node = {
      type: "object",
      properties: { next: { $ref: "#/$defs/Node" }, other: { $ref: "#/$defs/Other" } },
    };
    const $defs = { Node: node, Other: { type: "object", properties: { back: { $ref: "#/$defs/Node" } } } };
    const first = { $ref: "#/$defs/Node" };
    const inner = {
      type: "object",
      properties: { next: {}, other: { type: "object", properties: { back: {} } } },
    };
    const { schema } = adaptSchema({ $ref: "#/$defs/Node", properties: { first }, $defs }, "google-strict");
    expect(schema).toEqual({ ...inner, properties: { ...inner.properties, first: inner } });
  });

  it("makes a permissive object of a recursive schema (F143)", () => {
    const tree: JsonObject = {
      $ref: "#/$defs/node",
      $defs: {
        node: { type: "object", properties: { left: { $ref: "#/$defs/node" }, name: { type: "string" } } },
      },
    };
    expect(openApiSchema(tree)).toEqual({
      type: "object",
      properties: { left: { type: "object" }, name: { type: "string" } },
    });
    expect(openApiSchema({ $ref: "#" })).toEqual({ type: "object" });
  });

  it("stays small if references fan out", () => {
    const levels = 30;
    const $defs: JsonObject = {};
    for (let i = 0; i < levels; i++) {
      const next = { $ref: `#/$defs/d${i + 1}` };
      $defs[`d${i}`] = { type: "object", properties: { a: next, b: next } };
    }
    $defs[`d${levels}`] = { type: "string" };
    const text = JSON.stringify(openApiSchema({ $ref: "#/$defs/d0", $defs }));
    expect(text.length).toBeLessThan(200_000);
  });

  it("never writes what Google refuses, and never throws, whatever the schema is", () => {
    const leaf = fc.constantFrom<Json>(
      "string",
      "null",
      "number",
      "object",
      "array",
      ["string", "null"],
      ["number", "string"],
    );
    const plain = {
      type: leaf,
      enum: fc.array(fc.constantFrom<Json>("", "a", 1, true, null), { maxLength: 3 }),
      const: fc.constantFrom<Json>("a", 1, null),
      format: fc.constantFrom("uuid", "date-time"),
      description: fc.string({ maxLength: 5 }),
      additionalProperties: fc.boolean(),
      $ref: fc.constantFrom("#", "#/properties/a", "#/$defs/x", "elsewhere"),
      required: fc.array(fc.constantFrom("a", "b", "z"), { maxLength: 2 }),
    };
    const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 3, depthSize: "small" },
        fc.record(plain, { requiredKeys: [] }) as fc.Arbitrary<JsonObject>,
        fc.record(
          {
            ...plain,
            properties: fc.dictionary(fc.constantFrom("a", "b", "__proto__", "type"), tie("schema"), {
              maxKeys: 2,
            }),
            items: tie("schema"),
            anyOf: fc.array(tie("schema"), { maxLength: 3 }),
            oneOf: fc.array(tie("schema"), { maxLength: 2 }),
            allOf: fc.array(tie("schema"), { maxLength: 2 }),
          },
          { requiredKeys: [] },
        ) as fc.Arbitrary<JsonObject>,
      ),
    }));
    fc.assert(
      fc.property(schema, (given) => {
        expect(problems(given)).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });
});
