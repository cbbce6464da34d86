import { type JsonObject, type SchemaLike, tool } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const made = (inputSchema: JsonObject) =>
  tool({ name: "t", description: "d", inputSchema, execute: () => "ok" });

describe("null for a member that may be absent (F098)", () => {
  const schema: JsonObject = {
    type: "object",
    properties: {
      path: { type: "string" },
      limit: { type: "integer" },
      unit: { enum: ["c", "f"] },
      either: { anyOf: [{ type: "string" }, { type: "number" }] },
      inner: { type: "object", properties: { deep: { type: "string" } } },
      free: {},
      any: true,
      maybe: { type: ["string", "null"] },
    },
    required: ["path"],
  };

  it("counts as absent, also deep inside", async () => {
    const given = { path: "a", limit: null, unit: null, either: null, inner: { deep: null } };
    expect(await made(schema).check(given)).toMatchObject({ ok: true, args: { path: "a", inner: {} } });
  });

  it("stays null if the schema accepts null", async () => {
    const given = { path: "a", limit: null, free: null, any: null, maybe: null };
    const args = { path: "a", free: null, any: null, maybe: null };
    expect(await made(schema).check(given)).toEqual({ ok: true, args, value: args });
  });

  it("is refused for a required member", async () => {
    expect(await made(schema).check({ path: null })).toMatchObject({ ok: false });
  });

  it("counts as absent as a word too, if the member is no string", async () => {
    const given = { path: "null", limit: "null", unit: "None", either: "null", free: "null" };
    const args = { path: "null", either: "null", free: "null" };
    expect(await made(schema).check(given)).toMatchObject({ ok: true, args });
  });

  it("as a word does not count as absent if it is a listed value, ignoring blanks and capitals", async () => {
    const listing: JsonObject = { type: "object", properties: { effort: { enum: ["none", "null", "low"] } } };
    // The model meant the word, and is told of the slip: without the member the call would run with another effort.
    expect(await made(listing).check({ effort: "None" })).toMatchObject({ ok: false });
    const blank = await made(listing).check({ effort: " null " });
    expect(blank).toMatchObject({ ok: true, args: { effort: "null" } });
  });

  it("leaves a member named __proto__ alone", async () => {
    const given = JSON.parse('{"path":"a","limit":null,"__proto__":{"x":1}}') as JsonObject;
    const checked = await made(schema).check(given);
    expect(checked.ok && Object.keys(checked.args)).toEqual(["path", "__proto__"]);
  });
});

describe("a value in the wrong type", () => {
  const node: z.ZodType = z.object({ v: z.number(), kids: z.lazy(() => z.array(node)).optional() });
  const kinds = z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("file"), size: z.number(), note: z.string().optional() }),
    z.object({ kind: z.literal("link"), size: z.string(), depth: z.number().optional() }),
  ]);

  it.each<[string, SchemaLike, JsonObject, JsonObject]>([
    ["a list as text", z.object({ a: z.array(z.string()).nullable() }), { a: '["x"]' }, { a: ["x"] }],
    [
      "an object as text, or null",
      z.object({ a: z.object({ b: z.number() }).nullable() }),
      { a: '{"b":"3"}' },
      { a: { b: 3 } },
    ],
    [
      "a list or an object as text",
      z.object({ a: z.union([z.object({ b: z.number() }), z.array(z.number())]) }),
      { a: "[1,2]" },
      { a: [1, 2] },
    ],
    [
      "null for absent behind an alternative",
      z.object({ a: z.object({ b: z.string().optional() }).nullable() }),
      { a: { b: null } },
      { a: {} },
    ],
    [
      "null for absent in the alternative its tag names",
      z.object({ a: kinds }),
      { a: { kind: "link", size: "1", depth: null } },
      { a: { kind: "link", size: "1" } },
    ],
    [
      "a number in the alternative its tag names",
      z.object({ a: z.array(kinds) }),
      { a: '[{"kind":"file","size":"1","note":null}]' },
      { a: [{ kind: "file", size: 1 }] },
    ],
    ["a number in alternatives at the top", kinds, { kind: "file", size: "1" }, { kind: "file", size: 1 }],
    [
      "a number in alternatives told apart by what they require",
      z.object({ a: z.union([z.object({ x: z.number() }), z.object({ y: z.number() })]) }),
      { a: { y: "2" } },
      { a: { y: 2 } },
    ],
    [
      "what a schema that holds itself asks for",
      node as SchemaLike,
      { v: 1, kids: [{ v: "2", kids: null }] },
      { v: 1, kids: [{ v: 2 }] },
    ],
    [
      "a number of free members",
      z.object({ a: z.record(z.string(), z.number()) }),
      { a: { k: "1" } },
      { a: { k: 1 } },
    ],
    [
      "a number of a tuple",
      z.object({ a: z.tuple([z.string(), z.number()]) }),
      { a: ["k", "1"] },
      { a: ["k", 1] },
    ],
    [
      "a number of an older draft's tuple",
      {
        type: "object",
        properties: { a: { type: "array", items: [{ type: "string" }, { type: "number" }] } },
      },
      { a: ["k", "1"] },
      { a: ["k", 1] },
    ],
    [
      "a number where parts make a whole",
      z.object({ a: z.intersection(z.object({ x: z.number() }), z.object({ y: z.boolean() })) }),
      { a: { x: "1", y: "true" } },
      { a: { x: 1, y: true } },
    ],
    [
      "a number by the pattern of its name",
      { type: "object", properties: {}, patternProperties: { "^n_": { type: "number" } } },
      { n_a: "1" },
      { n_a: 1 },
    ],
    [
      "a number in the alternative whose tag is called like what every object has",
      {
        type: "object",
        properties: {
          a: {
            anyOf: [
              { type: "object", properties: { toString: { const: "x" }, n: { type: "number" } } },
              { type: "string" },
            ],
          },
        },
      },
      { a: { n: "1" } },
      { a: { n: 1 } },
    ],
    ["a listed word in quotes", z.object({ a: z.enum(["c", "f"]) }), { a: '"c"' }, { a: "c" }],
    ["a listed word with space around it", z.object({ a: z.enum(["c", "f"]) }), { a: " f\n" }, { a: "f" }],
    ["a whole number with a point", z.object({ a: z.int() }), { a: "7.0" }, { a: 7 }],
    [
      "a number with a fraction, or a power of ten",
      z.object({ a: z.number(), b: z.number() }),
      { a: "-1.5", b: "6e23" },
      { a: -1.5, b: 6e23 },
    ],
    [
      "what a list of values has in another type, where only the list says which",
      {
        type: "object",
        properties: {
          a: { enum: ["all", 2] },
          b: { const: true },
          c: { enum: ["1", "2"] },
          d: { enum: [0.5] },
        },
      },
      { a: "2", b: "true", c: 1, d: " 0.5" },
      { a: 2, b: true, c: "1", d: 0.5 },
    ],
    [
      "Python's words",
      z.object({ a: z.boolean(), b: z.number().nullable() }),
      { a: "True", b: "None" },
      { a: true, b: null },
    ],
  ])("is mended: %s", async (_, inputSchema, given, args) => {
    const made = tool({ name: "t", description: "d", inputSchema, execute: () => "ok" });
    expect(await made.check(given)).toMatchObject({ ok: true, args });
  });

  it.each<[string, SchemaLike, JsonObject]>([
    ["no alternative takes it", z.object({ a: z.union([z.number(), z.boolean()]) }), { a: "maybe" }],
    ["its tag names none", z.object({ a: kinds }), { a: { kind: "other", size: "1" } }],
    // As a text it would be another id: the digits are lost already.
    ["a text is wanted of an integer that no double holds", z.object({ a: z.string() }), { a: 2 ** 53 }],
    ["its negative is", z.object({ a: z.array(z.string()) }), { a: [-(2 ** 60)] }],
    [
      "a number is wanted of more digits than a double holds",
      z.object({ a: z.number() }),
      { a: `${2n ** 60n}` },
    ],
    [
      "no listed value is what it says",
      { type: "object", properties: { a: { enum: [1, null] } } },
      { a: "null" },
    ],
    [
      "a reference leads nowhere",
      {
        type: "object",
        $id: "https://x.invalid/s",
        properties: { a: { type: "number", $ref: "#here" } },
        $defs: { h: { $anchor: "here", type: "number" } },
      },
      { a: "x" },
    ],
  ])("is refused as it was where %s", async (_, inputSchema, given) => {
    const made = tool({ name: "t", description: "d", inputSchema, execute: () => "ok" });
    expect(await made.check(given)).toMatchObject({ ok: false });
  });
});

describe("where the schema is one that libraries write", () => {
  const coerced = async (schema: JsonObject, given: JsonObject): Promise<unknown> => {
    const checked = await made(schema).check(given);
    return checked.ok ? checked.value : checked.error;
  };

  // Type.Recursive and Type.Cyclic of TypeBox
  const kids = { type: "array", items: { $ref: "Node" } };
  const node = { type: "object", properties: { n: { type: "integer" }, kids }, required: ["n"] };
  it.each<[string, JsonObject]>([
    ["the root's", { $id: "Node", ...node }],
    ["a definition's", { $ref: "Node", $defs: { Node: { $id: "Node", ...node } } }],
    [
      "a place's below a name, and an anchor",
      {
        type: "object",
        properties: { n: { $ref: "Node#/properties/n" }, kids: { type: "array", items: { $ref: "#there" } } },
        $defs: { Node: { $id: "Node", ...node }, there: { $anchor: "there", ...node } },
      },
    ],
  ])("a reference by a name is followed: %s", async (_title, schema) => {
    const given = { n: "1", kids: [{ n: "2", kids: [{ n: "3" }] }] };
    expect(await coerced(schema, given)).toEqual({ n: 1, kids: [{ n: 2, kids: [{ n: 3 }] }] });
    expect(await coerced(schema, { n: "1", kids: [{ n: "two" }] })).toContain("kids.0.n");
  });

  it("a number that may also be a listed word is a number (effect)", async () => {
    const words = { type: "string", enum: ["Infinity", "-Infinity", "NaN"] };
    const either = { anyOf: [{ type: "number" }, words] };
    const schema = {
      type: "object",
      properties: {
        a: either,
        b: either,
        c: { anyOf: [{ type: "number" }, { enum: ["1", "2"] }] },
        d: { type: "integer" },
      },
    };
    expect(await coerced(schema, { a: "1.5", b: "NaN", c: "1", d: "3" })).toEqual({
      a: 1.5,
      b: "NaN",
      c: "1",
      d: 3,
    });
    expect(await coerced(schema, { a: "many" })).toContain("a: ");
  });

  it("null for a member of another alternative is absent: the model is shown one object with the members of all", async () => {
    const schema = z.discriminatedUnion("kind", [
      z.strictObject({ kind: z.literal("move"), to: z.string() }),
      z.strictObject({ kind: z.literal("wait"), seconds: z.number() }),
    ]);
    const given: JsonObject = { kind: "wait", seconds: "3", to: null };
    const act = tool({ name: "t", description: "d", inputSchema: schema, execute: () => "ok" });
    expect(await act.check(given)).toMatchObject({ ok: true, args: { kind: "wait", seconds: 3 } });
    expect(await act.check({ ...given, to: "a" })).toMatchObject({ ok: false });
    const closed = {
      type: "object",
      additionalProperties: false,
      patternProperties: { "^x": { type: "null" } },
    };
    expect(
      await coerced({ ...closed, properties: { n: { type: "integer" } } }, { n: "1", x1: null, y: null }),
    ).toEqual({
      n: 1,
      x1: null,
    });
  });
});
