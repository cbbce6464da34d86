// What plainly fits a plain schema is not shown to the interpreter of schemas: whatever it is, both must say the same of it.

import { compileSchema, type Json, type JsonObject } from "@rondo/core";
import fc from "fast-check";
import { expect, test } from "vitest";

const name = fc.constantFrom("a", "b", "c");
const scalar = fc.oneof(
  fc.constantFrom("", "x", "é"),
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(0.5, 1e21, -0),
  fc.boolean(),
  fc.constant(null),
);
const typeWord = fc.constantFrom("object", "array", "string", "number", "integer", "boolean", "null");

const { schema, value } = fc.letrec<{ schema: JsonObject; value: Json }>((tie) => ({
  schema: fc.record(
    {
      type: fc.oneof(typeWord, fc.uniqueArray(typeWord, { minLength: 2, maxLength: 7 })),
      description: fc.constant("said of it"),
      enum: fc.uniqueArray(scalar, { minLength: 4, maxLength: 10 }),
      minimum: fc.integer({ min: -2, max: 2 }),
      maximum: fc.integer({ min: -2, max: 2 }),
      properties: fc.dictionary(name, tie("schema"), { maxKeys: 2, noNullPrototype: true }),
      required: fc.uniqueArray(name, { maxLength: 2 }),
      additionalProperties: fc.boolean(),
      items: tie("schema"),
    },
    { requiredKeys: ["type"], noNullPrototype: true },
  ) as fc.Arbitrary<JsonObject>,
  value: fc.oneof(
    { depthSize: "small" },
    scalar,
    fc.array(tie("value"), { maxLength: 2 }),
    fc.dictionary(name, tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ) as fc.Arbitrary<Json>,
}));

const accepts = (json: JsonObject, given: Json): boolean => {
  const checked = compileSchema(
    { type: "object", properties: { it: json }, required: ["it"] },
    "tool",
    false,
  ).check({ it: given });
  if (checked instanceof Promise) throw new Error("a JSON Schema is checked at once");
  return checked.ok;
};

test("a value that clearly fits is one that the schema interpreter accepts, and no other", () => {
  let accepted = 0;
  fc.assert(
    fc.property(schema, value, (plain, given) => {
      const fits = accepts(plain, given);
      if (fits) accepted += 1;
      // Behind a word that is not plain the interpreter is asked.
      expect(fits).toBe(accepts({ allOf: [plain] }, given));
    }),
    { numRuns: 3000 },
  );
  expect(accepted).toBeGreaterThan(200);
});

test.each<[string, JsonObject, Json, boolean]>([
  ["a whole number", { type: "integer" }, 3, true],
  ["a whole number written with a point", { type: "integer" }, 3.5, false],
  ["a number at its bound", { type: "number", minimum: 1, maximum: 2 }, 2, true],
  ["a number past its bound", { type: "number", minimum: 1, maximum: 2 }, 2.01, false],
  ["a number before its bound", { type: "number", minimum: 1 }, 0.99, false],
  ["one of a list of words", { type: "string", enum: ["on", "off"] }, "off", true],
  ["none of a list of words", { type: "string", enum: ["on", "off"] }, "of", false],
  ["null where it is named", { type: ["string", "null"] }, null, true],
  ["null where it is not", { type: "string" }, null, false],
  ["a list of what is asked for", { type: "array", items: { type: "string" } }, ["a", "b"], true],
  ["a list with something else in it", { type: "array", items: { type: "string" } }, ["a", 1], false],
  ["a member that is not named", { type: "object", properties: {} }, { more: 1 }, true],
  [
    "a member that is not named, of a closed object",
    { type: "object", properties: {}, additionalProperties: false },
    { more: 1 },
    false,
  ],
  ["an object without what it needs", { type: "object", required: ["a"] }, {}, false],
  ["a member with a name that all objects have", { type: "object", required: ["toString"] }, {}, false],
  ["what is asked for by a word that is not plain", { type: "string", minLength: 2 }, "x", false],
])("%s", (_what, json, given, ok) => {
  expect(accepts(json, given)).toBe(ok);
});
