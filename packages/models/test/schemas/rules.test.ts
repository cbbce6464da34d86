import type { Json, JsonObject } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { checkSchema } from "../../../testkit/src/wire/rules/schemas.ts";
import { adaptSchema, adaptToolSchema, schemaTroubles } from "../../src/schemas/adapt.ts";
import type { SchemaMode } from "../../src/schemas/dialects.ts";
import { renderRemoved } from "../../src/schemas/removed.ts";
import { normalizeToolParameters, sanitizeToolsForGoogle } from "../../src/schemas/tools.ts";

const strict = (schema: JsonObject): JsonObject => adaptSchema(schema, "google-strict").schema;
const removedTypes = (schema: JsonObject, mode: SchemaMode): string[] =>
  adaptSchema(schema, mode).removed.map((rule) => rule.type);

describe("B7: what structured output supports", () => {
  test("B7.43 an adapter returns the schema and what was removed, by path: names joined by '.', '[]' for items", () => {
    const schema: JsonObject = {
      type: "object",
      properties: {
        user: { type: "object", properties: { age: { type: "integer", exclusiveMinimum: 0 } } },
        tags: { type: "array", items: { type: "string", minLength: 2 } },
        rows: {
          type: "array",
          items: {
            type: "array",
            items: { type: "object", properties: { n: { type: "number", maxLength: 3 } } },
          },
        },
      },
    };
    const before = structuredClone(schema);
    expect(adaptSchema(schema, "google-structured").removed).toEqual([
      { type: "exclusiveMinimum", fieldPath: "user.age", value: 0 },
      { type: "minLength", fieldPath: "tags[]", value: 2 },
      { type: "maxLength", fieldPath: "rows[][].n", value: 3 },
    ]);
    expect(schema).toEqual(before);
  });

  test("B7.44 Gemini keeps shape, ranges, counts, enums and three formats; the rest is recorded, additionalProperties is not", () => {
    const kept: JsonObject = {
      type: "object",
      description: "d",
      properties: {
        list: { type: "array", items: { type: "string", enum: ["a", "b"] }, minItems: 1, maxItems: 3 },
        n: { type: "number", minimum: 0, maximum: 9 },
        at: { type: "string", format: "date-time" },
        on: { type: "string", format: "date" },
        when: { type: "string", format: "time" },
      },
      required: ["n"],
    };
    expect(adaptSchema(kept, "google-structured")).toMatchObject({ schema: kept, removed: [] });
    const lost: JsonObject = {
      type: "object",
      properties: {
        n: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 },
        s: { type: "string", minLength: 1, maxLength: 2, pattern: "^a", format: "uri" },
      },
      additionalProperties: false,
    };
    expect(adaptSchema(lost, "google-structured").schema).toEqual({
      type: "object",
      properties: { n: { type: "number" }, s: { type: "string" } },
    });
    expect(removedTypes(lost, "google-structured")).toEqual([
      "exclusiveMinimum",
      "exclusiveMaximum",
      "minLength",
      "maxLength",
      "pattern",
      "format",
    ]);
  });

  test("B7.45 OpenAI: all members required and sorted, objects closed, rules on values recorded, enums kept", () => {
    const schema: JsonObject = {
      type: "object",
      properties: {
        z: {
          type: "integer",
          minimum: 1,
          maximum: 2,
          exclusiveMinimum: 0,
          exclusiveMaximum: 3,
          multipleOf: 1,
        },
        a: { type: "string", enum: ["x"], minLength: 1, maxLength: 2, pattern: "x", format: "email" },
        m: { type: "array", items: { type: "object", properties: {} }, minItems: 1, maxItems: 2 },
      },
      required: ["z"],
    };
    const { schema: adapted, removed } = adaptSchema(schema, "openai-strict", { optional: "required" });
    expect(adapted).toEqual({
      type: "object",
      properties: {
        z: { type: "integer" },
        a: { type: "string", enum: ["x"] },
        m: {
          type: "array",
          items: { type: "object", properties: {}, required: [], additionalProperties: false },
        },
      },
      required: ["a", "m", "z"],
      additionalProperties: false,
    });
    expect(removed.map((rule) => rule.type).sort()).toEqual(
      "exclusiveMaximum exclusiveMinimum format maxItems maxLength maximum minItems minLength minimum multipleOf pattern".split(
        " ",
      ),
    );
  });

  test("B7.45 what was optional may be null instead, so that the model need not invent it (F140)", () => {
    const schema: JsonObject = {
      type: "object",
      properties: {
        a: { type: "string" },
        b: { type: "string", enum: ["x"] },
        c: { anyOf: [{ type: "string" }, { type: "number" }] },
        d: { $ref: "#/$defs/d" },
        e: { type: ["string", "null"] },
      },
      required: ["a"],
      $defs: { d: { type: "object", properties: {}, additionalProperties: false } },
    };
    expect(adaptSchema(schema, "openai-strict").schema.properties).toEqual({
      a: { type: "string" },
      b: { type: ["string", "null"], enum: ["x", null] },
      c: { anyOf: [{ type: "string" }, { type: "number" }, { type: "null" }] },
      d: { anyOf: [{ $ref: "#/$defs/d" }, { type: "null" }] },
      e: { type: ["string", "null"] },
    });
  });

  test("B7.46 Anthropic keeps patterns, enums, formats, additionalProperties and minItems of 0 or 1; loses other counts, ranges and lengths", () => {
    const kept: JsonObject = {
      type: "object",
      properties: {
        s: { type: "string", pattern: "^a", format: "uri" },
        e: { enum: [1, "b"] },
        none: { type: "array", items: { type: "string" }, minItems: 0 },
        one: { type: "array", items: { type: "string" }, minItems: 1 },
      },
      additionalProperties: false,
    };
    expect(adaptSchema(kept, "anthropic")).toEqual({ schema: kept, removed: [], narrowed: [] });
    const lost: JsonObject = {
      type: "object",
      properties: {
        list: {
          type: "array",
          items: { type: "string", minLength: 1, maxLength: 2 },
          minItems: 2,
          maxItems: 3,
        },
        n: { type: "number", minimum: 0, exclusiveMaximum: 2 },
      },
    };
    expect(removedTypes(lost, "anthropic").sort()).toEqual([
      "exclusiveMaximum",
      "maxItems",
      "maxLength",
      "minItems",
      "minLength",
      "minimum",
    ]);
  });

  test.each<[string, Json, string, string]>([
    ["minimum", 0, "age", "The 'age' field must be at least 0."],
    ["maximum", 9, "age", "The 'age' field must be at most 9."],
    ["exclusiveMinimum", 0, "age", "The 'age' field must be greater than 0 (exclusive)."],
    ["exclusiveMaximum", 9, "age", "The 'age' field must be less than 9 (exclusive)."],
    ["minItems", 2, "tags", "The 'tags' array must have at least 2 item(s)."],
    ["maxItems", 2, "tags", "The 'tags' array must have at most 2 item(s)."],
    ["minLength", 3, "name", "The 'name' field must be at least 3 character(s) long."],
    ["maxLength", 3, "name", "The 'name' field must be at most 3 character(s) long."],
    ["pattern", "^a", "name", "The 'name' field must match the pattern: ^a"],
    ["format", "email", "user.mail", "The 'user.mail' field must be in email format."],
    ["minimum", 1, "", "The 'response' field must be at least 1."],
  ])("B7.47 a removed %s becomes a line for the prompt", (type, value, fieldPath, line) => {
    expect(renderRemoved([{ type, fieldPath, value }])).toEqual([line]);
  });

  test("B7.47 rules without words of their own are shown as schemas, never left out", () => {
    const { removed } = adaptSchema(
      { type: "object", properties: { a: { not: { type: "string" } }, b: { uniqueItems: true } } },
      "google-structured",
    );
    expect(renderRemoved(removed)).toEqual([
      `The 'a' field must not satisfy: {"type":"string"}`,
      "The 'b' array must have no item twice.",
    ]);
  });
});

describe("C6: Google's strict servers and xAI", () => {
  const tools = [
    { name: "plain", inputSchema: { type: "object", properties: { a: { type: "string", format: "uri" } } } },
    { name: "odd", inputSchema: null },
  ];

  test("C6.51 only Google's providers, or its protocol, have their tools cleaned; others get the same array", () => {
    expect(sanitizeToolsForGoogle(tools, { provider: "openai" }).tools).toBe(tools);
    for (const target of [
      { provider: "google-gemini-cli" },
      { provider: "google-antigravity" },
      { provider: "gateway", api: "google-generative-ai" },
    ]) {
      const { tools: cleaned } = sanitizeToolsForGoogle(tools, target);
      expect(cleaned[0]?.inputSchema).toEqual({ type: "object", properties: { a: { type: "string" } } });
      expect(cleaned[1]).toBe(tools[1]);
    }
  });

  const words =
    "patternProperties additionalProperties $schema $id $ref $defs definitions examples minLength maxLength minimum maximum multipleOf pattern format minItems maxItems uniqueItems minProperties maxProperties".split(
      " ",
    );

  test.each(words)(
    "C6.52 the keyword %s is removed, a member with that name stays, also deep inside",
    (word) => {
      const member = { type: "object", properties: { [word]: { type: "string" } } };
      const schema: JsonObject = {
        type: "object",
        properties: { [word]: member, list: { type: "array", items: member } },
      };
      expect(strict(schema)).toEqual(schema);
      const value: Json = word === "$ref" ? "#/nowhere" : word.startsWith("$") ? "x" : 1;
      expect(
        strict({ type: "object", properties: { deep: { type: "object", [word]: value } } }),
      ).not.toHaveProperty(["properties", "deep", word]);
    },
  );

  test("C6.52 a not without its keywords is removed too: empty it would refuse everything", () => {
    const { schema, removed } = adaptSchema({ type: "string", not: { pattern: "^x" } }, "google-strict");
    expect(schema).toEqual({ type: "string" });
    expect(removed).toEqual([{ type: "not", fieldPath: "", value: { pattern: "^x" } }]);
    expect(strict({ not: { type: "null" } })).toEqual({ not: { type: "null" } });
  });

  test("C6.53 a constant becomes an enum of one", () => {
    expect(strict({ type: "string", const: "a" })).toEqual({ type: "string", enum: ["a"] });
    expect(strict({ const: 5 })).toEqual({ enum: [5] });
  });

  test("C6.54 null is removed from a list of types: one remaining type stands alone, several stay a list", () => {
    expect(strict({ type: ["string", "null"] })).toEqual({ type: "string" });
    expect(strict({ type: ["string", "number", "null"] })).toEqual({ type: ["string", "number"] });
  });

  test("C6.55 alternatives of single values of one type become one enum with the parent's annotations", () => {
    expect(
      strict({
        anyOf: [{ const: "a" }, { enum: ["b"] }, { type: "null" }],
        description: "d",
        title: "t",
        default: "a",
      }),
    ).toEqual({ type: "string", enum: ["a", "b"], description: "d", title: "t", default: "a" });
    expect(strict({ oneOf: [{ const: 1 }, { const: 2 }] })).toEqual({ type: "number", enum: [1, 2] });
    expect(strict({ anyOf: [{ const: 1 }, { const: "a" }] })).toEqual({
      anyOf: [{ enum: [1] }, { enum: ["a"] }],
    });
  });

  test("C6.55 the common type of single values keeps its name", () => {
    const whole = { type: "integer", enum: [1, 2] };
    expect(
      strict({
        anyOf: [
          { type: "integer", const: 1 },
          { type: "integer", enum: [2] },
        ],
      }),
    ).toEqual(whole);
    expect(strict({ oneOf: [{ const: 1 }, { type: "integer", const: 2 }, { type: "null" }] })).toEqual(whole);
    expect(strict({ oneOf: [{ const: 1.5 }, { type: "integer", const: 2 }] })).toEqual({
      type: "number",
      enum: [1.5, 2],
    });
  });

  test("C6.55 alternatives are cleaned first: values and nulls behind references count as values and nulls", () => {
    const $defs: JsonObject = {
      a: { const: "a" },
      b: { $ref: "#/$defs/c", description: "a b" },
      c: { type: "string", enum: ["b"] },
      none: { type: ["null"] },
      loop: { $ref: "#/$defs/loop" },
    };
    const ref = (name: string): JsonObject => ({ $ref: `#/$defs/${name}` });
    expect(strict({ anyOf: [ref("a"), ref("b"), ref("none")], title: "t", $defs })).toEqual({
      type: "string",
      enum: ["a", "b"],
      title: "t",
    });
    expect(strict({ anyOf: [{ type: "string" }, ref("none")], $defs })).toEqual({ type: "string" });
    const inner = { anyOf: [{ const: "a" }, { type: "null" }], description: "gone" };
    expect(strict({ oneOf: [inner, { type: "string", enum: ["b"] }], description: "d" })).toEqual({
      type: "string",
      enum: ["a", "b"],
      description: "d",
    });
    expect(strict({ anyOf: [ref("a"), ref("loop")], $defs })).toEqual({ anyOf: [{ enum: ["a"] }, {}] });
  });

  test("C6.55 the only alternative left without null replaces the union; several stay, without a type next to them", () => {
    expect(strict({ anyOf: [{ type: "string", minLength: 1 }, { type: "null" }], description: "d" })).toEqual(
      {
        type: "string",
        description: "d",
      },
    );
    expect(
      strict({
        type: "object",
        oneOf: [{ type: "object", minProperties: 1 }, { type: "string" }],
        description: "d",
      }),
    ).toEqual({ oneOf: [{ type: "object" }, { type: "string" }], description: "d" });
    expect(strict({ allOf: [{ type: "string", pattern: "a" }, { description: "x" }] })).toEqual({
      allOf: [{ type: "string" }, { description: "x" }],
    });
  });

  test("C6.56 local references are inlined, with the keywords next to them", () => {
    const schema: JsonObject = {
      type: "object",
      properties: {
        a: { $ref: "#/$defs/x", description: "mine" },
        b: { $ref: "#/definitions/y~1z" },
        lost: { $ref: "#/$defs/none", title: "t", description: "d", default: 1 },
        tree: { $ref: "#/$defs/tree" },
      },
      $defs: {
        x: { type: "string", description: "theirs", minLength: 1 },
        tree: { type: "object", properties: { left: { $ref: "#/$defs/tree" } } },
      },
      definitions: { "y/z": { type: "number" } },
    };
    expect(strict(schema)).toEqual({
      type: "object",
      properties: {
        a: { type: "string", description: "mine" },
        b: { type: "number" },
        lost: { title: "t", description: "d", default: 1 },
        tree: { type: "object", properties: { left: {} } },
      },
    });
  });

  test("C6.57 items are cleaned as a schema or as a list, what is no schema is returned unchanged, and the input stays", () => {
    const schema: JsonObject = {
      type: "array",
      items: [
        { type: "string", minLength: 1 },
        { type: "number", minimum: 0 },
      ],
    };
    const before = structuredClone(schema);
    expect(strict(schema)).toEqual({ type: "array", items: [{ type: "string" }, { type: "number" }] });
    expect(strict({ type: "array", items: { type: "string", format: "uri" } })).toEqual({
      type: "array",
      items: { type: "string" },
    });
    expect(schema).toEqual(before);
    expect(strict("text" as unknown as JsonObject)).toBe("text");
    expect(strict({ type: "object", properties: { any: true } })).toEqual({
      type: "object",
      properties: { any: true },
    });
  });

  test("C6.58 the violations are returned with their paths, at most twelve", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 20 }, (_, at) => [`p${at}`, { type: "string", format: "uri" }]),
    );
    const { violations } = sanitizeToolsForGoogle(
      [
        {
          name: "tool",
          inputSchema: { type: "object", properties: { foo: { type: "string", format: "uri" } } },
        },
      ],
      { provider: "google-gemini-cli" },
    );
    expect(violations).toEqual(["tool.parameters.properties.foo.format"]);
    const many = sanitizeToolsForGoogle([{ name: "many", inputSchema: { type: "object", properties } }], {
      provider: "google-gemini-cli",
    });
    expect(many.violations).toHaveLength(12);
    expect(many.violations[0]).toBe("many.parameters.properties.p0.format");
  });

  const normalized = (inputSchema: Json, provider?: string, model?: string): Json =>
    normalizeToolParameters(
      { name: "t", inputSchema },
      { ...(provider === undefined ? {} : { provider }), ...(model === undefined ? {} : { model }) },
    ).inputSchema;

  test("C6.59 a complete object schema is only cleaned for its provider; one without a type gets it", () => {
    const whole: JsonObject = { type: "object", properties: { a: { type: "string", minLength: 1 } } };
    const tool = { name: "t", inputSchema: whole };
    expect(normalizeToolParameters(tool, { provider: "openai" })).toBe(tool);
    expect(normalized({ properties: { a: { type: "string" } }, required: ["a"] })).toEqual({
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a"],
    });
    expect(normalized({ required: ["a"] })).toEqual({ type: "object", required: ["a"] });
    for (const provider of ["google", "my-gemini-proxy"])
      expect(normalized(whole, provider)).toEqual({ type: "object", properties: { a: { type: "string" } } });
    expect(normalized(whole, "google-anthropic")).toBe(whole);
  });

  test("C6.59 alternatives at the top become one object: members of all, enums united, required what all require", () => {
    const action = (value: string, more: JsonObject, required: string[]): JsonObject => ({
      type: "object",
      properties: { action: { const: value, description: `about ${value}` }, ...more },
      required: ["action", ...required],
    });
    const union: JsonObject = {
      anyOf: [
        action("get", { id: { type: "string" } }, ["id"]),
        action("list", { page: { type: "number" } }, []),
      ],
    };
    expect(normalized(union)).toEqual({
      type: "object",
      properties: {
        action: { type: "string", enum: ["get", "list"], description: "about get" },
        id: { type: "string" },
        page: { type: "number" },
      },
      required: ["action"],
      additionalProperties: true,
    });
    expect(normalized({ ...union, required: ["page"], additionalProperties: false })).toMatchObject({
      required: ["page"],
      additionalProperties: false,
    });
  });

  test("C6.59 members that differ only in annotations are one, with the annotations of the first that has some", () => {
    const of = (more: JsonObject): JsonObject => ({
      type: "object",
      properties: { path: { type: "string", ...more } },
      required: ["path"],
    });
    const union = [
      of({}),
      of({ description: "first", title: "t" }),
      of({ description: "second", default: "." }),
    ];
    expect(normalized({ anyOf: union })).toEqual({
      type: "object",
      properties: { path: { type: "string", description: "first", title: "t", default: "." } },
      required: ["path"],
      additionalProperties: true,
    });
    expect(normalized({ anyOf: [of({}), of({ type: "number" })] })).toMatchObject({
      properties: { path: { anyOf: [{ type: "string" }, { type: "number" }] } },
    });
  });

  test("C6.59 united enums keep their common type", () => {
    const of = (value: number): JsonObject => ({
      type: "object",
      properties: { level: { type: "integer", const: value } },
    });
    expect(normalized({ oneOf: [of(1), of(2)] })).toEqual({
      type: "object",
      properties: { level: { type: "integer", enum: [1, 2] } },
      additionalProperties: true,
    });
  });

  test("C6.59 xAI, by any name and behind any gateway, gets no lengths and counts", () => {
    const schema: JsonObject = {
      type: "object",
      properties: {
        s: { type: "string", minLength: 1, maxLength: 2, pattern: "a" },
        l: {
          type: "array",
          contains: { type: "string" },
          minItems: 1,
          maxItems: 2,
          minContains: 1,
          maxContains: 2,
        },
      },
    };
    const cleaned = {
      type: "object",
      properties: { s: { type: "string", pattern: "a" }, l: { type: "array", contains: { type: "string" } } },
    };
    for (const [provider, model] of [
      ["xai", "grok-4"],
      ["x-ai", "m"],
      ["openrouter", "x-ai/grok-4"],
      ["venice", "grok-41"],
    ] as const)
      expect(normalized(schema, provider, model)).toEqual(cleaned);
    expect(normalized(schema, "openrouter", "openai/gpt")).toBe(schema);
  });
});

describe("a tool's object above alternatives", () => {
  const topOf = (own: JsonObject, ...anyOf: JsonObject[]): Json | undefined => {
    const branches = anyOf.map((properties) => ({ type: "object", properties }));
    return adaptToolSchema({ type: "object", properties: own, anyOf: branches }, "tool").schema.properties;
  };
  const text: JsonObject = { type: "string", minLength: 1 };

  test("keeps its own definition of a member, whatever an alternative defines", () => {
    expect(topOf({ b: text }, {}, { b: { type: "boolean" } })).toEqual({ b: text });
    expect(topOf({ b: text }, { b: { maxLength: 2 } }, {})).toEqual({ b: text });
  });

  test("has a definition of its own for members that all alternatives define in the same way", () => {
    expect(topOf({ kind: { type: "string" } }, { kind: { const: "a" } }, { kind: { const: "b" } })).toEqual({
      kind: { type: "string", enum: ["a", "b"] },
    });
    const short = { b: { maxLength: 2 } };
    expect(topOf({ b: text }, short, short)).toEqual({ b: { ...text, maxLength: 2 } });
  });
});

describe("the problems of a schema", () => {
  test("are none for objects with plain members", () => {
    expect(
      schemaTroubles({
        type: "object",
        properties: {
          city: { type: "string", description: "d" },
          unit: { type: "string", enum: ["c", "f"] },
        },
        required: ["city"],
      }),
    ).toEqual([]);
  });

  test("name the rule, the place and the modes that lose it", () => {
    expect(
      schemaTroubles({ type: "object", properties: { n: { type: "integer", exclusiveMinimum: 0 } } }),
    ).toEqual([
      {
        type: "exclusiveMinimum",
        fieldPath: "n",
        value: 0,
        modes: ["anthropic", "openai-strict", "google-openapi"],
      },
    ]);
  });
});

describe("lists", () => {
  const members = (properties: JsonObject): JsonObject => ({
    type: "object",
    properties,
    required: Object.keys(properties),
  });
  const bare = { type: "array" };
  const pair = [{ type: "string" }, { type: "number" }];

  test.each(["tool", "xai"] as const)("of a tool have items for %s, wherever they are", (mode) => {
    const given = members({
      a: bare,
      b: { anyOf: [bare, { type: "string" }] },
      c: { type: ["array", "null"] },
      d: { type: "array", items: bare },
      items: { type: "string" },
    });
    const { schema } = adaptToolSchema(given, mode);
    expect(schema.properties).toEqual({
      a: { type: "array", items: {} },
      b: { anyOf: [{ type: "array", items: {} }, { type: "string" }] },
      c: { type: ["array", "null"], items: {} },
      d: { type: "array", items: { type: "array", items: {} } },
      items: { type: "string" },
    });
    expect(checkSchema(schema, "tool")).toEqual([]);
    const whole = members({ d: { type: "array", items: {} } });
    expect(adaptToolSchema(whole, "tool").schema).toBe(whole);
  });

  test("with schemas by position are written as in the current draft", () => {
    const given = members({
      open: { type: "array", items: pair },
      closed: { type: "array", items: pair, additionalItems: false },
      untold: { type: "array", prefixItems: pair },
    });
    const { schema } = adaptToolSchema(given, "tool");
    expect(schema.properties).toEqual({
      open: { type: "array", prefixItems: pair, items: {} },
      closed: { type: "array", prefixItems: pair, items: false },
      untold: { type: "array", prefixItems: pair, items: {} },
    });
    expect(checkSchema(schema, "tool")).toEqual([]);
  });

  test.each(["anthropic", "openai-strict", "google-openapi", "google-structured"] as const)(
    "with schemas by position are lists of what any of them accepts, for %s",
    (mode) => {
      const tuple = { type: "array", prefixItems: pair, items: false, minItems: 2, maxItems: 2 };
      const { schema, removed, narrowed } = adaptSchema(members({ at: tuple }), mode);
      expect((schema.properties as JsonObject).at).toMatchObject({ type: "array", items: { anyOf: pair } });
      expect(removed).toContainEqual({
        type: "prefixItems",
        fieldPath: "at",
        value: { prefixItems: pair, items: false },
      });
      expect(removed.map(({ type }) => type)).not.toContain("not");
      expect(narrowed).toEqual([]);
      const same = { type: "array", items: [pair[0], pair[0]] } as JsonObject;
      const short = adaptSchema(members({ at: same }), mode);
      expect((short.schema.properties as JsonObject).at).toMatchObject({ items: { type: "string" } });
      expect(short.narrowed).toEqual(["at[]"]);
    },
  );
});

describe("a recursive schema", () => {
  const tree = (label: JsonObject): JsonObject => ({
    type: "object",
    properties: { label, kids: { type: "array", items: { $ref: "#" } } },
    required: ["label", "kids"],
    additionalProperties: false,
  });
  /** The same by a definition, and one that leads to the other within alternatives. */
  const list = (label: JsonObject): JsonObject => ({
    type: "object",
    properties: { first: { $ref: "#/$defs/one" } },
    required: ["first"],
    additionalProperties: false,
    $defs: {
      one: {
        type: "object",
        properties: { label, next: { $ref: "#/$defs/more" } },
        required: ["label", "next"],
      },
      more: { anyOf: [{ $ref: "#/$defs/one" }, { type: "null" }] },
    },
  });
  const keeping = ["anthropic", "openai-strict", "xai"] as const;

  test.each(keeping)("loses nothing for %s, which accepts references, if no rule of it is lost", (mode) => {
    for (const schema of [tree({ type: "string" }), list({ type: "string" })])
      expect(adaptSchema(schema, mode).removed).toEqual([]);
    expect(schemaTroubles(tree({ type: "string" })).filter(({ modes }) => modes.includes(mode))).toEqual([]);
  });

  test.each(keeping)("loses for %s a rule at every depth: the reference represents those below", (mode) => {
    const rule = { type: "string", maxLength: 9 };
    expect(adaptSchema(tree(rule), mode).removed).toEqual([
      { type: "maxLength", fieldPath: "label", value: 9 },
      { type: "maxLength", fieldPath: "kids[].label", value: 9 },
      { type: "$ref", fieldPath: "kids[].kids[]", value: "#" },
    ]);
    const { removed } = adaptSchema(list(rule), mode);
    expect(removed).toContainEqual({ type: "maxLength", fieldPath: "first.label", value: 9 });
    expect(removed).toContainEqual({
      type: "anyOf",
      fieldPath: "first.next",
      value: [{ $ref: "#/$defs/one" }, { type: "null" }],
    });
  });

  test("loses a rule below also if the same rule was lost next to the reference before", () => {
    const one = { type: "object", properties: { v: { type: "string", maxLength: 9 } }, required: ["v"] };
    const properties = { ...one.properties, next: { $ref: "#/$defs/one" } };
    const schema: JsonObject = {
      type: "object",
      properties: { first: { allOf: [one, { $ref: "#/$defs/one" }] } },
      $defs: { one: { ...one, properties } },
    };
    expect(adaptSchema(schema, "xai").removed).toEqual([
      { type: "maxLength", fieldPath: "first.v", value: 9 },
      { type: "$ref", fieldPath: "first.next", value: "#/$defs/one" },
    ]);
  });

  test.each(keeping)("loses for %s a refusal that cannot be expressed without it", (mode) => {
    const not = { properties: { deeper: { $ref: "#/$defs/node" } }, required: ["deeper"] };
    const $defs = { node: { type: "object", properties: { deeper: { type: "string" } }, not } };
    const schema = { type: "object", properties: { a: { $ref: "#/$defs/node" } }, $defs } as JsonObject;
    const { schema: adapted, removed } = adaptSchema(schema, mode);
    const stays = JSON.stringify(adapted).includes('"not"');
    expect([stays, removed.some(({ type }) => type === "not")]).toEqual(
      stays ? [true, false] : [false, true],
    );
  });
});
