// Schemas from elsewhere that are none in a place: the tool can be declared and called all the same (F141, F143).

import { foreignSchema, type JsonObject, tool, toolWith } from "@rondo/core";
import { describe, expect, test } from "vitest";

const made = (inputSchema: unknown): ReturnType<typeof tool> =>
  tool({ name: "f", description: "", inputSchema: inputSchema as JsonObject, execute: () => "" });
const declared = (inputSchema: unknown): JsonObject => made(inputSchema).definition.inputSchema as JsonObject;
const object = (properties: object, more: object = {}): object => ({ type: "object", properties, ...more });

describe("a tool's schema", () => {
  test("that has a name of its own refers to places in itself by it", async () => {
    const $id = "https://x.invalid/a";
    const properties = { a: { $ref: `${$id}#/$defs/A` }, b: { $ref: "#/$defs/A" }, c: { $ref: $id } };
    const given = object(properties, { $id, $defs: { A: { type: "string" } } });
    const { leftOut, check } = made(given);
    expect(leftOut).toBeUndefined();
    expect(await check({ a: "x", b: "y", c: { a: "z" } })).toMatchObject({ ok: true });
    for (const args of [{ a: {} }, { b: {} }, { c: { a: {} } }])
      expect(await check(args as JsonObject)).toMatchObject({ ok: false });
  });

  test.each([
    ["a type that is none", { type: "None" }, object({})],
    ["a type that is null", { type: null }, object({})],
    ["an object or null", { type: ["object", "null"], properties: {} }, object({})],
    ["properties that are null", { type: "object", properties: null }, object({})],
    ["properties that are a list", { type: "object", properties: [] }, object({})],
    ["a property that is a word", object({ type: "object" }), object({ type: {} })],
    ["a property that is null", object({ a: null }), object({ a: {} })],
    [
      "a type of a property that is none",
      object({ a: { type: "str", title: "A" } }),
      object({ a: { title: "A" } }),
    ],
    [
      "types of which one is none",
      object({ a: { type: ["string", "nil"] } }),
      object({ a: { type: ["string"] } }),
    ],
    [
      "items that are a word",
      object({ a: { type: "array", items: "string" } }),
      object({ a: { type: "array" } }),
    ],
    ["required as a word", object({ a: {} }, { required: "a" }), object({ a: {} })],
    ["required with numbers", object({ a: {} }, { required: [1] }), object({ a: {} }, { required: [] })],
    ["alternatives that are none", object({ a: { anyOf: [] } }), object({ a: {} })],
    [
      "a name, and a reference to another document",
      object({ a: { $ref: "https://y.invalid/b" } }, { $id: "https://x.invalid/a" }),
      object({ a: {} }, { $id: "https://x.invalid/a" }),
    ],
    [
      "a name, and a reference to nothing in it",
      object({ a: { $ref: "https://x.invalid/a#/$defs/No" } }, { $id: "https://x.invalid/a" }),
      object({ a: {} }, { $id: "https://x.invalid/a" }),
    ],
    ["a pattern that is none", object({ a: { pattern: "(" } }), object({ a: {} })],
    [
      "words that are null, as some serializers have them",
      object(
        {
          a: {
            type: "string",
            title: null,
            description: null,
            format: null,
            pattern: null,
            minLength: null,
            enum: null,
            examples: null,
            default: null,
          },
        },
        { description: null, additionalProperties: null, minProperties: null },
      ),
      object({ a: { type: "string", default: null } }),
    ],
    [
      "bounds that are none",
      object({
        a: { minimum: "1", maxItems: "2", multipleOf: 0, minLength: -1, maxLength: 1.5, minItems: 1 },
      }),
      object({ a: { minItems: 1 } }),
    ],
    ["a type told twice", object({ a: { type: ["string", "string"] } }), object({ a: { type: ["string"] } })],
    [
      "words said otherwise",
      object({ a: { description: 5, examples: "x", uniqueItems: "true", readOnly: false } }),
      object({ a: { readOnly: false } }),
    ],
    ["an enum that is no list", object({ a: { enum: "x" } }), object({ a: {} })],
    [
      "an enum without values",
      object({ a: { type: "string", enum: [] } }),
      object({ a: { type: "string" } }),
    ],
    ["types of which there are none", object({ a: { type: [] } }), object({ a: {} })],
    [
      "types in capitals, as in Google's examples",
      { type: "OBJECT", properties: { a: { type: "STRING" }, b: { type: ["Integer", "NULL"] } } },
      object({ a: { type: "string" }, b: { type: ["integer", "null"] } }),
    ],
    [
      "a reference to nothing",
      object({ a: { $ref: "#/$defs/none", title: "A" } }),
      object({ a: { title: "A" } }),
    ],
    ["a reference to elsewhere", object({ a: { $ref: "https://x.invalid/s.json" } }), object({ a: {} })],
    ["a reference to itself", { type: "object", $ref: "#" }, object({})],
    [
      "a circle of alternatives",
      object(
        { a: { $ref: "#/$defs/a" } },
        { $defs: { a: { anyOf: [{ $ref: "#/$defs/a" }, { type: "string" }] } } },
      ),
      object({ a: { $ref: "#/$defs/a" } }, { $defs: { a: { anyOf: [{}, { type: "string" }] } } }),
    ],
  ])("with %s says what is left", async (_, given, left) => {
    expect(declared(given)).toEqual(left);
    expect(await made(given).check({})).toMatchObject({ ok: true });
  });

  test.each([
    ["a text", { type: "string", description: "d" }, '#/type ("string")'],
    ["a list", { type: "array", items: { type: "string" } }, '#/type ("array")'],
    ["its members", { a: { type: "string" } }, "# (its members)"],
    ["no schema, but holds one", { name: "f", schema: { type: "object", properties: {} } }, "# (its schema)"],
  ])(
    "from elsewhere that is %s allows any object: one such tool must not cost the others",
    async (_, given, lost) => {
      const foreign = made(foreignSchema(given));
      expect(foreign.definition.inputSchema).toEqual(object({}));
      expect(foreign.leftOut).toEqual([lost]);
      expect(await foreign.check({ a: 1 })).toMatchObject({ ok: true });
      expect(() => made(given)).toThrow(/schema/);
    },
  );

  test("that requires a member twice requires it once", async () => {
    const twice = object({ a: {} }, { required: ["a", "a"] });
    expect(declared(twice)).toEqual(object({ a: {} }, { required: ["a"] }));
    expect(await made(twice).check({})).toMatchObject({ ok: false });
  });

  test("with circular references can be called", async () => {
    const $defs = { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } };
    const circle = made({ $ref: "#/$defs/a", $defs });
    expect(await circle.check({ x: 1 })).toMatchObject({ ok: true });
  });

  test.each([
    ["a tree", object({ kids: { type: "array", items: { $ref: "#" } } })],
    [
      "definitions, escaped",
      object({ a: { $ref: "#/$defs/a~1b%20c" } }, { $defs: { "a/b c": { type: "string" } } }),
    ],
    [
      "names of its own",
      {
        $id: "https://x.invalid/a",
        ...object({ a: { $ref: "#here" } }),
        $defs: { h: { $anchor: "here", type: "string" } },
      },
    ],
    [
      "words that say what they should",
      object({
        a: { type: "string", title: "A", pattern: "^a", format: "date", minLength: 0, maxLength: 9 },
        b: { type: "number", minimum: -1, exclusiveMaximum: 9, multipleOf: 0.5, deprecated: true },
        c: { type: "array", uniqueItems: true, maxItems: 3, enum: [[1]], examples: [[1]] },
      }),
    ],
    ["booleans", object({ a: true, b: { items: false } }, { additionalProperties: false })],
    ["alternatives", { ...object({}), anyOf: [object({ a: {} }), object({ b: {} })] }],
    ["a default that looks like a reference", object({ a: { default: { $ref: "#/none" }, type: "object" } })],
  ])("with %s stays the same object", (_, given) => {
    expect(declared(given)).toBe(given);
  });

  test("with bounds in draft 4's form gets today's form", async () => {
    const bound = (more: object): object => object({ a: { type: "number", ...more } });
    expect(
      declared(bound({ minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false })),
    ).toEqual(bound({ exclusiveMinimum: 0, maximum: 9 }));
    expect(declared(bound({ exclusiveMinimum: true }))).toEqual(bound({}));
    const above = made(bound({ minimum: 0, exclusiveMinimum: true }));
    expect(await above.check({ a: 0.5 })).toMatchObject({ ok: true });
    expect(await above.check({ a: 0 })).toMatchObject({ ok: false });
  });

  test("that is nullable in OpenAPI accepts null, and is sent unchanged", async () => {
    const given = object(
      {
        a: { type: "string", nullable: true },
        b: { type: "string", enum: ["x"], nullable: true },
        c: { type: "array", items: { type: "object", nullable: true } },
        d: { type: "string", nullable: false },
        e: { $ref: "#/properties/a", nullable: true },
        f: { anyOf: [{ type: "string" }, { const: 1 }], nullable: true },
        g: { const: 1, nullable: true },
        h: { $ref: "#/properties/c/items" },
      },
      { required: ["a"] },
    );
    expect(declared(given)).toBe(given);
    expect(
      await made(given).check({ a: null, b: null, c: [null], e: null, f: null, g: null, h: null }),
    ).toMatchObject({ ok: true });
    expect(await made(given).check({ a: "x", d: 1 }, { coerce: false })).toMatchObject({ ok: false });
    expect(await made(given).check({ a: 1, b: "y" })).toMatchObject({ ok: false });
  });

  test("with the format url, which JSON Schema lacks, accepts any text: the interpreter's check of it would not end", async () => {
    const inputSchema = { type: "object", properties: { at: { type: "string", format: "url" } } } as const;
    const open = tool({ name: "open", description: "Opens", inputSchema, execute: () => "" });
    expect(open.definition.inputSchema).toEqual(inputSchema);
    expect(await open.check({ at: `http://${"a".repeat(60)}/` })).toMatchObject({ ok: true });
    expect(await open.check({ at: {} })).toMatchObject({ ok: false });
  });

  test("still applies if a part was left out of it", async () => {
    const given = object({ a: { type: "string" }, b: "x" }, { required: ["a"] });
    expect(await made(given).check({ b: 1 })).toMatchObject({ ok: false });
    expect(
      await made(given).check({ a: 1, b: 1 }, { coerce: false, unknownKeys: "allow" } as never),
    ).toMatchObject({ ok: false });
    expect(await made(given).check({ a: "x", b: 1 })).toMatchObject({ ok: true });
  });

  test.each(["array", "string", "number", ["string", "null"]])(
    "of type %j is refused, with what to do",
    (type) => {
      expect(() => made({ type })).toThrow(
        /tool "f": the input schema must have type "object", not .*: give the value a name/,
      );
    },
  );
});

test("is available with its invalid parts to the tool's author, also from a derived tool", () => {
  const made = tool({
    name: "search",
    description: "Searches",
    inputSchema: {
      type: "object",
      title: null,
      properties: {
        city: { type: "text" },
        code: { type: "string", pattern: "(" },
        size: { type: "number", minimum: 0, exclusiveMinimum: true },
        kind: { anyOf: [{ type: "string" }, { $ref: "#/$defs/none" }] },
        tags: { type: "array", items: null },
      },
      required: ["city", 7],
    } as unknown as JsonObject,
    execute: () => "",
  });
  const lost = [
    "#/title (null)",
    '#/properties/city/type ("text")',
    '#/properties/code/pattern ("(")',
    '#/properties/kind/anyOf/1/$ref ("#/$defs/none")',
    "#/properties/tags/items (null)",
    '#/required (["city",7])',
  ];
  expect(made.leftOut).toEqual(lost);
  expect(toolWith(made, { timeoutMs: 5 }).leftOut).toEqual(lost);
  const whole = tool({
    name: "a",
    description: "a",
    inputSchema: made.definition.inputSchema,
    execute: () => "",
  });
  expect(whole.leftOut).toBeUndefined();
  expect(toolWith(made, { definition: whole.definition }).leftOut).toBeUndefined();
});
