// Tools end to end: schemas of every make, results of every kind, and what may run together.

import { Agent, type Json, type JsonObject, subAgent, textOf, tool, toolResult } from "@rondo/core";
import { call, calls, say, scripted } from "@rondo/testkit";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { coerce } from "../src/schema/coerce.ts";
import { renderResult } from "../src/tool/render.ts";
import { deferred, echo, eventsOf, shortly } from "./support.ts";

describe("tool input", () => {
  const schemas = {
    zod: z.object({ city: z.string(), days: z.number().int().optional() }),
    arktype: type({ city: "string", "days?": "number.integer" }),
    valibot: toStandardJsonSchema(
      v.object({ city: v.string(), days: v.optional(v.pipe(v.number(), v.integer())) }),
    ),
    "JSON Schema": {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer" } },
      required: ["city"],
    },
  };

  test.each(Object.entries(schemas))(
    "by %s is validated, coerced, and declared to the model",
    async (_name, inputSchema) => {
      const seen: unknown[] = [];
      const weather = tool({
        name: "weather",
        description: "w",
        inputSchema: inputSchema as never,
        execute: (args) => void seen.push(args),
      });
      const model = scripted([
        call("weather", { city: "Rome", days: "3" }),
        call("weather", { days: 3 }),
        say("done"),
      ]);
      const { messages } = await new Agent({ model, tools: [weather] }).run("go");
      expect(seen).toEqual([{ city: "Rome", days: 3 }]);
      expect(shortly(messages)[4]).toMatch(/do not fit its schema: .*city/);
      expect(model.requests[0]?.tools[0]?.inputSchema).toMatchObject({
        type: "object",
        properties: { city: { type: "string" } },
        required: ["city"],
      });
    },
  );

  test("is passed to execute as the schema's output, with its types", async () => {
    const inputSchema = z.object({
      at: z.string().transform((text) => text.length),
      many: z.array(z.number()).default([1]),
    });
    const seen: unknown[] = [];
    const one = tool({
      name: "one",
      description: "1",
      inputSchema,
      execute: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ at: number; many: number[] }>();
        seen.push(args);
      },
      keys: (args) => [String(args.at)],
    });
    await new Agent({ model: scripted([call("one", { at: "abc" }), say("done")]), tools: [one] }).run("go");
    expect(seen).toEqual([{ at: 3, many: [1] }]);
    tool({
      name: "two",
      description: "2",
      inputSchema: type({ n: "number" }),
      execute: (args) => expectTypeOf(args).toEqualTypeOf<{ n: number }>(),
    });
    tool({
      name: "three",
      description: "3",
      inputSchema: toStandardJsonSchema(v.object({ n: v.number() })),
      execute: (args) => expectTypeOf(args).toEqualTypeOf<{ n: number }>(),
    });
  });

  test("by a JSON Schema of a library with an interface for each kind, such as TypeBox, has its types", async () => {
    interface OfText {
      type: "string";
    }
    interface OfBoth {
      anyOf: [OfText, { type: "null" }];
    }
    interface OfObject<Properties> {
      type: "object";
      properties: Properties;
      required: ["a"];
    }
    const both: OfBoth = { anyOf: [{ type: "string" }, { type: "null" }] };
    const inputSchema: OfObject<{ a: OfText; b: OfBoth }> = {
      type: "object",
      properties: { a: { type: "string" }, b: both },
      required: ["a"],
    };
    tool({
      name: "a",
      description: "",
      inputSchema,
      execute: (args) => expectTypeOf(args).toEqualTypeOf<{ a: string; b?: string | null }>(),
    });
    const answers = [inputSchema, both].map(
      (output) => new Agent({ model: scripted([say('{"a":"b"}')]), output }),
    );
    expect((await answers[0]?.run("a?"))?.output).toEqual({ a: "b" });
  });

  test("by a JSON Schema has the types that its literals say", () => {
    const described = { description: "1", effect: "read" } as const;
    const address = {
      type: "object",
      properties: { street: { type: "string" } },
      required: ["street"],
    } as const;
    tool({
      ...described,
      name: "one",
      inputSchema: {
        type: "object",
        properties: {
          city: { type: "string", description: "Where." },
          days: { type: "integer", nullable: true },
          unit: { enum: ["celsius", "kelvin"] },
          kind: { const: 1 },
          tags: { type: "array", items: { type: ["string", "null"] } },
          home: address,
          pair: { type: "array", prefixItems: [{ type: "string" }], items: false },
          either: { anyOf: [{ type: "boolean" }, { type: "number" }] },
          counts: { type: "object", additionalProperties: { type: "number" } },
          anything: { type: "object" },
          follows: { $ref: "#/$defs/node" },
          wrong: { type: "int" },
        },
        required: ["city", "tags", "home", "either", "follows", "nobody"],
      },
      execute: (args) =>
        expectTypeOf(args).toEqualTypeOf<{
          city: string;
          days?: number | null;
          unit?: "celsius" | "kelvin";
          kind?: 1;
          tags: (string | null)[];
          home: { street: string };
          pair?: Json[];
          either: boolean | number;
          counts?: { [name: string]: number };
          anything?: JsonObject;
          follows: Json;
          wrong?: Json;
        }>(),
      keys: (args) => [args.city, ...(args.unit === undefined ? [] : [args.unit])],
    });
    tool({
      ...described,
      name: "two",
      inputSchema: {
        type: "object",
        properties: { n: { type: "number" } },
        required: ["n"],
        additionalProperties: true,
      },
      execute: (args) => {
        expectTypeOf(args.n).toEqualTypeOf<number>();
        expectTypeOf(args.other).toEqualTypeOf<Json | undefined>();
      },
    });
    // Nobody has told the model of a town.
    tool({
      ...described,
      name: "three",
      inputSchema: address,
      execute: (args) => expectTypeOf(args).not.toHaveProperty("town"),
    });
  });

  test("by a JSON Schema that is known only at run time has no types of its own", () => {
    const schemas: { [kind: string]: JsonObject } = { any: { type: "object" } };
    const names: string[] = ["n"];
    const described = { name: "one", description: "1" };
    const check = (args: unknown) => args;
    tool({
      ...described,
      inputSchema: schemas.any ?? {},
      execute: (args) => check(expectTypeOf(args).toEqualTypeOf<JsonObject>()),
    });
    tool({
      ...described,
      inputSchema: { type: "object" },
      execute: (args) => check(expectTypeOf(args).toEqualTypeOf<JsonObject>()),
    });
    tool({
      ...described,
      inputSchema: { type: "object", properties: { n: { type: "number" } }, required: names },
      execute: (args) => check(expectTypeOf(args).toEqualTypeOf<{ n?: number }>()),
    });
    const widened = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    tool({
      ...described,
      inputSchema: widened,
      execute: (args) => check(expectTypeOf(args).toEqualTypeOf<{ n?: Json }>()),
    });
  });

  test("by an asynchronous schema works too", async () => {
    const inputSchema = z.object({ n: z.number() }).refine(async ({ n }) => n > 0, "must be above 0");
    const one = tool({ name: "one", description: "1", inputSchema, execute: ({ n }) => `got ${n}` });
    const { messages } = await new Agent({
      model: scripted([call("one", { n: 0 }), call("one", { n: 1 }), say("done")]),
      tools: [one],
    }).run("go");
    expect(shortly(messages)[2]).toContain("must be above 0");
    expect(shortly(messages)[4]).toBe("tool: got 1");
  });

  test("just at an exclusive limit is refused with a correct text", async () => {
    const n = { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 9 };
    const one = echo("one", { inputSchema: { type: "object", properties: { n } } });
    const model = scripted([
      calls([
        ["one", { n: 0 }],
        ["one", { n: 9 }],
        ["one", { n: -1 }],
      ]),
      say("done"),
    ]);
    const { messages } = await new Agent({ model, tools: [one] }).run("go");
    expect(
      shortly(messages)
        .slice(2, 5)
        .map((line) => line.split("schema: ")[1]),
    ).toEqual([
      "n: 0 is less than or equal to 0.",
      "n: 9 is greater than or equal to 9.",
      "n: -1 is less than or equal to 0.",
    ]);
  });

  test("of a schema that cannot be converted to JSON Schema is refused with what to do", () => {
    const inputSchema = v.object({ n: v.number() }) as never;
    expect(() => tool({ name: "one", description: "1", inputSchema, execute: () => "" })).toThrow(
      /tool "one".*valibot.*toStandardJsonSchema/,
    );
  });

  test("named __proto__ or constructor is data, and does not find a tool", async () => {
    const raw = { ...JSON.parse('{"__proto__": {"admin": true}, "constructor": 1}') };
    const seen: unknown[] = [];
    const one = echo("one", { execute: (args) => void seen.push(args) });
    const model = scripted([
      calls([["one", raw], ["constructor"], ["__proto__"], ["toString"]]),
      say("done"),
    ]);
    const { messages, toolCalls } = await new Agent({ model, tools: [one] }).run("go");
    expect(toolCalls).toBe(1);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
    expect(Object.keys(seen[0] as object)).toEqual(["__proto__", "constructor"]);
    expect(shortly(messages).filter((line) => line.includes("unknown tool"))).toHaveLength(3);
  });
});

describe("coercion", () => {
  const integer = { type: "integer" };
  test.each([
    ["3", integer, 3],
    ["-0", integer, -0],
    ["3.5", integer, "3.5"],
    ["NaN", { type: "number" }, "NaN"],
    ["Infinity", { type: "number" }, "Infinity"],
    ["9007199254740993", integer, "9007199254740993"],
    ["true", { type: "boolean" }, true],
    ["yes", { type: "boolean" }, "yes"],
    ["[1,2]", { type: "array", items: integer }, [1, 2]],
    ['["1"]', { type: "array", items: integer }, [1]],
    ['{"a":"1"}', { type: "object", properties: { a: integer } }, { a: 1 }],
    ["{broken", { type: "object" }, "{broken"],
    [3, { type: "string" }, "3"],
    ["3", { type: ["string", "integer"] }, "3"],
    ["null", { type: ["null", "integer"] }, null],
    [
      { a: { b: ["1", "2"] } },
      {
        type: "object",
        properties: { a: { type: "object", properties: { b: { type: "array", items: integer } } } },
      },
      { a: { b: [1, 2] } },
    ],
  ])("of %j by %j gives %j", (value, schema, wanted) => {
    expect(coerce(value as never, schema as never)).toEqual(wanted);
  });

  test("does not change what fits already, by identity, and never its input", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const before = JSON.stringify(value);
        expect(coerce(value as never, {})).toBe(value);
        coerce(value as never, {
          type: "object",
          properties: { a: { type: "integer" } },
          items: { type: "boolean" },
        });
        expect(JSON.stringify(value)).toBe(before);
      }),
    );
  });
});

describe("a tool's result", () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  test.each([
    ["nothing", undefined, "(no output)"],
    ["null", null, "(no output)"],
    ["a blank text", "  \n", "(no output)"],
    ["a text", "hello", "hello"],
    ["an object", { a: 1 }, '{"a":1}'],
    ["a bigint", { n: 10n }, '{"n":"10"}'],
    ["a circle", circle, '{"self":"[Circular]"}'],
    ["bytes", new Uint8Array(3), '"[binary, 3 bytes]"'],
    ["a map", new Map([["a", 1]]), '{"a":1}'],
    ["a set", new Set([1]), "[1]"],
    ["a date", new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ["an error", new Error("no"), "no"],
    ["a function", () => 1, '"[function]"'],
    ["not a number", { n: Number.NaN }, '{"n":"NaN"}'],
    ["half a character", "a\ud800", "a�"],
    ["no parts", [], "[]"],
  ])("that is %s can be rendered", (_name, value, text) => {
    expect(renderResult(value)).toEqual({ content: [{ type: "text", text }], isError: false });
  });

  test("that cannot be read at all says so", () => {
    const hostile = {
      get a(): never {
        throw new Error("hands off");
      },
    };
    expect(renderResult(hostile).content).toMatchObject([{ text: expect.stringContaining("hands off") }]);
  });

  test("never throws, whatever it is", () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withMap: true,
          withSet: true,
          withTypedArray: true,
          withNullPrototype: true,
        }),
        (value) => {
          const { content } = renderResult(value);
          expect(content.length).toBeGreaterThan(0);
        },
      ),
    );
  });

  test("in parts keeps files as files", async () => {
    const image = { type: "file" as const, mediaType: "image/png", data: "AAAA" };
    const one = echo("one", { execute: () => [{ type: "text", text: "see" }, image] });
    const { messages } = await new Agent({ model: scripted([call("one"), say("done")]), tools: [one] }).run(
      "go",
    );
    expect(messages[2]?.content).toEqual([{ type: "text", text: "see" }, image]);
  });

  test("can be an error without throwing", async () => {
    const one = echo("one", { execute: () => toolResult("nothing there", { isError: true }) });
    const { messages } = await new Agent({ model: scripted([call("one"), say("done")]), tools: [one] }).run(
      "go",
    );
    expect(messages[2]).toMatchObject({ role: "tool", isError: true });
  });
});

describe("calls of one answer", () => {
  /** Runs two calls, and tells whether the second started before the first had ended. */
  async function together(
    first: Parameters<typeof echo>[1],
    second: Parameters<typeof echo>[1],
    options: object = {},
  ): Promise<boolean> {
    const order: string[] = [];
    const gate = deferred();
    const a = echo("a", {
      ...first,
      execute: async () => {
        order.push("a starts");
        await gate.promise;
        order.push("a ends");
      },
    });
    const b = echo("b", {
      ...second,
      execute: () => {
        order.push("b starts");
        gate.resolve();
      },
    });
    const agent = new Agent({
      model: scripted([calls([["a"], ["b"]]), say("done")]),
      tools: [a, b],
      ...options,
    });
    const session = await agent.open("s");
    session.subscribe(
      (event) =>
        event.type === "tool_start" &&
        event.call.name === "a" &&
        setImmediate(() => setImmediate(gate.resolve)),
    );
    await session.send("go");
    return order.indexOf("b starts") < order.indexOf("a ends");
  }

  test.each([
    ["two reads run together", { effect: "read" }, { effect: "read" }, {}, true],
    ["a write without keys runs alone", { effect: "write" }, { effect: "read" }, {}, false],
    [
      "a read waits for a write without keys, and the other way round",
      { effect: "read" },
      { effect: "write" },
      {},
      false,
    ],
    [
      "writes with other keys run together",
      { effect: "write", keys: () => ["x"] },
      { effect: "write", keys: () => ["y"] },
      {},
      true,
    ],
    [
      "writes that share a key do not",
      { effect: "write", keys: () => ["x"] },
      { effect: "write", keys: () => ["y", "x"] },
      {},
      false,
    ],
    [
      "keys that throw are taken for anything",
      {
        effect: "write",
        keys: () => {
          throw new Error("?");
        },
      },
      { effect: "write", keys: () => ["y"] },
      {},
      false,
    ],
    [
      "nothing runs together in sequence",
      { effect: "read" },
      { effect: "read" },
      { toolOrder: "sequential" },
      false,
    ],
    [
      "everything runs together in parallel",
      { effect: "write" },
      { effect: "write" },
      { toolOrder: "parallel" },
      true,
    ],
    [
      "no more run than may run at once",
      { effect: "read" },
      { effect: "read" },
      { maxConcurrentTools: 1 },
      false,
    ],
  ] as const)("%s", async (_name, first, second, options, wanted) => {
    expect(await together(first as never, second as never, options)).toBe(wanted);
  });

  test("end independently, and are in the history in the order of the calls", async () => {
    const gate = deferred();
    const slow = echo("slow", { execute: () => gate.promise.then(() => new Promise(setImmediate)) });
    const fast = echo("fast", { execute: () => gate.resolve() });
    const events = await eventsOf(
      new Agent({ model: scripted([calls([["slow"], ["fast"]]), say("done")]), tools: [slow, fast] }),
      "go",
    );
    const ends = events.flatMap((event) => (event.type === "tool_end" ? [event.call.name] : []));
    expect(ends).toEqual(["fast", "slow"]);
  });

  test("get the id of their session, and inside a sub-agent that of its own", async () => {
    const places: string[] = [];
    const where = echo("where", { execute: (_args, { session }) => void places.push(session) });
    const inner = new Agent({ model: scripted([call("where"), say("done")]), tools: [where] });
    const helper = subAgent({ name: "helper", description: "Helps", agent: inner });
    const model = scripted([calls([["where"], ["helper", { task: "look" }]]), say("done")]);
    const session = await new Agent({ model, tools: [where, helper] }).open("s");
    await session.send("go");
    expect(places).toEqual(["s", expect.stringMatching(/^s:/)]);
  });

  test("get the conversation before the answer that called them, which they cannot change", async () => {
    const heard: string[][] = [];
    const reads = echo("reads", {
      execute: (_args, { messages }) => {
        heard.push(messages().map(({ role }) => role));
        messages().pop();
        return Object.isFrozen(messages()[0]);
      },
    });
    const inner = new Agent({ model: scripted([call("reads"), say("done")]), tools: [reads] });
    const helper = subAgent({ name: "helper", description: "Helps", agent: inner });
    const model = scripted([
      calls([["reads"], ["reads"]]),
      call("reads"),
      call("helper", { task: "go" }),
      say("done"),
    ]);
    const run = await new Agent({ model, tools: [reads, helper] }).run("go");
    expect(heard).toEqual([["user"], ["user"], ["user", "assistant", "tool", "tool"], ["user"]]);
    expect(run.messages.slice(2, 4).map(textOf)).toEqual(["true", "true"]);
  });

  test("get a constant key each, and emit progress", async () => {
    const keys: string[] = [];
    const one = echo("one", {
      execute: (_args, { idempotencyKey, update }) => {
        keys.push(idempotencyKey);
        update("half", { done: 1, of: 2 });
      },
    });
    const events = await eventsOf(
      new Agent({ model: scripted([calls([["one"], ["one"]]), say("done")]), tools: [one] }),
      "go",
    );
    expect(new Set(keys).size).toBe(2);
    expect(events.filter((event) => event.type === "tool_update")).toMatchObject([
      { progress: "half", details: { done: 1, of: 2 } },
      { progress: "half", details: { done: 1, of: 2 } },
    ]);
  });
});
