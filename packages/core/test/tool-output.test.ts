// What a tool returns is checked against the tool's own schema for it, where it has one.

import {
  Agent,
  type AgentOptions,
  DoneSignal,
  RondoError,
  type SchemaLike,
  type Tool,
  textOf,
  tool,
  toolResult,
} from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";

const city = { type: "object", properties: { city: { type: "string" } } } as const;
const weatherJson = {
  type: "object",
  properties: { celsius: { type: "number" }, sky: { enum: ["clear", "grey"] } },
  required: ["celsius"],
} as const;

/** What the model reads of the first call of a tool, and whether it is an error. */
async function readOf(given: Tool, options: Partial<AgentOptions> = {}): Promise<[string, boolean]> {
  const model = scripted([call(given.name, {}), say("done")]);
  const { messages } = await new Agent({ model, tools: [given], ...options }).run("go");
  const told = messages.find((one) => one.role === "tool");
  if (told?.role !== "tool") throw new Error("there is no result");
  return [textOf(told), told.isError];
}

/** A tool that returns this, whatever its type. */
const returning = (value: unknown, outputSchema: SchemaLike): Tool =>
  tool({
    name: "weather",
    description: "Weather",
    inputSchema: city,
    outputSchema,
    execute: () => value as never,
  });

test("what fits the output schema is the result", async () => {
  expect(await readOf(returning({ celsius: 3 }, weatherJson))).toEqual(['{"celsius":3}', false]);
  expect(await readOf(returning("3 degrees", { type: "string" }))).toEqual(["3 degrees", false]);
  expect(await readOf(returning(undefined, { type: "null" }))).toEqual(["(no output)", false]);
  expect(
    await readOf(returning({ at: new Date(0) }, { type: "object", properties: { at: { type: "string" } } })),
  ).toEqual(['{"at":"1970-01-01T00:00:00.000Z"}', false]);
});

test.each<[unknown, string]>([
  [{ celsius: "3" }, "celsius"],
  [{}, "celsius"],
  ["3 degrees", "object"],
  [undefined, "object"],
  [{ celsius: 3, id: 5n }, "bigint"],
])("what does not fit is an error that says that the tool ran: %s", async (value, why) => {
  const [text, isError] = await readOf(returning(value, weatherJson));
  expect(text).toMatch(/^Error: weather ran, but what it returned does not fit its output schema: /);
  expect(text).toContain(why);
  expect(isError).toBe(true);
});

test("a library's schema gives the result: defaults are filled in, and what it does not name is left out", async () => {
  const sky = z.object({ celsius: z.number(), sky: z.string().default("clear") });
  expect(await readOf(returning({ celsius: 3, secret: "x" }, sky))).toEqual([
    '{"celsius":3,"sky":"clear"}',
    false,
  ]);
  expect(await readOf(returning({ celsius: "3" }, sky))).toEqual([
    expect.stringMatching(/^Error: weather ran, but .* celsius: /),
    true,
  ]);
});

test("a schema that has no JSON Schema can be used, because no model reads it", async () => {
  const at = z.object({ at: z.date() });
  expect(await readOf(returning({ at: new Date(0) }, at))).toEqual([
    '{"at":"1970-01-01T00:00:00.000Z"}',
    false,
  ]);
  const late = z
    .object({ celsius: z.number() })
    .refine(async ({ celsius }) => celsius > -274, "colder than cold");
  const [text] = await readOf(returning({ celsius: -300 }, late));
  expect(text).toContain("colder than cold");
});

test("a result in the tool's own words is not checked, and neither is one that ends the run", async () => {
  expect(await readOf(returning(toolResult("no such city", { isError: true }), weatherJson))).toEqual([
    "no such city",
    true,
  ]);
  const model = scripted([call("weather", {})]);
  const over = returning(new DoneSignal("over"), weatherJson);
  const { end, text } = await new Agent({ model, tools: [over] }).run("go");
  expect([end?.reason, text]).toEqual(["done_tool", "over"]);
});

test("with masked errors the model does not read what was wrong", async () => {
  const [text] = await readOf(returning({}, weatherJson), { toolErrors: "masked" });
  expect(text).toBe("Error: weather failed.");
});

test("what somebody answers in a tool's place is checked as well", async () => {
  const asked = { ...returning({ celsius: 3 }, weatherJson), permission: "ask" as const };
  const model = scripted([[call("weather", {}), call("weather", {})], say("done")]);
  const session = await new Agent({ model, tools: [asked] }).open("s");
  const { parked } = await session.send("go");
  const [first, second] = parked?.pending ?? [];
  await session.answer(first?.id ?? "", { celsius: 4 });
  const { messages } = await session.answer(second?.id ?? "", { celsius: "warm" });
  const told = messages.filter((one) => one.role === "tool");
  expect(told.map((one) => one.isError)).toEqual([false, true]);
  expect(textOf(told[0] as never)).toBe('{"celsius":4}');
  expect(textOf(told[1] as never)).toContain("does not fit its output schema");
});

test("something that is no schema is refused by name", () => {
  const wordsOf = (outputSchema: unknown): string => {
    try {
      returning(1, outputSchema as SchemaLike);
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(RondoError);
      return (thrown as Error).message;
    }
    return "it was taken";
  };
  expect(wordsOf("object")).toContain('tool "weather": option outputSchema: ');
  expect(wordsOf({ celsius: { type: "number" } })).toContain(
    'the output schema of tool "weather": these are the members of a schema',
  );
  expect(wordsOf(z.object)).toContain("call it");
});

test("a schema that says itself as JSON Schema and checks nothing is refused, and so is one of effect as it is", () => {
  // What Schema.toStandardJSONSchemaV1 of effect 4 gives, which is a function; the standard allows it to stand alone.
  const jsonSchema = { input: () => ({ type: "object" }), output: () => ({ type: "object" }) };
  const half = Object.assign(() => 0, { ast: {}, "~standard": { version: 1, vendor: "effect", jsonSchema } });
  const other = { "~standard": { version: 1, vendor: "other", jsonSchema } };
  const bare = Object.assign(() => 0, { ast: {} });
  const wrap =
    /Schema\.toStandardJSONSchemaV1\(Schema\.toStandardSchemaV1\(Schema\.toCodecJson\(schema\)\)\)/;
  for (const option of ["inputSchema", "outputSchema"] as const) {
    const refused = (schema: unknown) => () =>
      tool({
        name: "weather",
        description: "Tells the weather.",
        inputSchema: { type: "object" },
        execute: () => "fine",
        ...({ [option]: schema } as object),
      });
    expect(refused(half)).toThrow(/tool "weather".*cannot check values/);
    expect(refused(half)).toThrow(wrap);
    expect(refused(other)).toThrow(
      /tool "weather": this other schema cannot check values .* give a JSON Schema$/,
    );
    expect(refused(bare)).toThrow(/not an effect schema/);
    expect(refused(bare)).toThrow(wrap);
  }
});

test("the type of the output schema is that of what execute returns", () => {
  const typed = tool({
    name: "weather",
    description: "Weather",
    inputSchema: city,
    outputSchema: weatherJson,
    execute: async () => ({ celsius: 3, sky: "clear" }),
  });
  expectTypeOf(typed.execute).returns.toExtend<Promise<{ celsius: number }>>();
  tool({
    name: "weather",
    description: "Weather",
    inputSchema: city,
    outputSchema: z.object({ celsius: z.number() }),
    // @ts-expect-error a text is not a number
    execute: async () => ({ celsius: "3" }),
  });
  const named = { name: "weather", description: "Weather", inputSchema: city };
  const isOf = <O extends object>(outputSchema: O): O => outputSchema;
  tool({ ...named, outputSchema: { type: "string" }, execute: () => "3 degrees" });
  tool({ ...named, outputSchema: { type: "array", items: weatherJson }, execute: () => [{ celsius: 3 }] });
  tool({ ...named, outputSchema: { $ref: "#/$defs/a", $defs: { a: {} } }, execute: () => new Date() });
  tool({ ...named, outputSchema: isOf<{ [word: string]: unknown }>({ type: "string" }), execute: () => "3" });
  // @ts-expect-error a number is not a text
  tool({ ...named, outputSchema: { type: "string" }, execute: () => 3 });
  tool({
    name: "weather",
    description: "Weather",
    inputSchema: city,
    outputSchema: weatherJson,
    execute: ({ city }) =>
      city === undefined ? toolResult("which city?", { isError: true }) : { celsius: 3 },
  });
});
