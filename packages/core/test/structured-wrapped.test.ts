// Outputs that are no object: what providers are asked for, and what comes of it.

import { Agent, type JsonObject, type ModelFacts, type SchemaLike } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { objectSchema, Unwrapping, unwrappedText } from "../src/output/wrapped.ts";

const tree: z.ZodType = z.object({ name: z.string(), kids: z.lazy(() => z.array(tree)) });
const cities = z.array(z.string());

function asked(output: SchemaLike, turn: ReturnType<typeof say>, facts: ModelFacts = {}) {
  const model = scripted([turn], { facts });
  return { model, agent: new Agent({ model, output }) };
}

describe("an output that is one of listed texts", () => {
  const words = z.enum(["yes", "no"]);

  test.each<[string, SchemaLike]>([
    ["an enumeration", words],
    ["a literal", z.literal("yes")],
    ["literals", z.union([z.literal("yes"), z.literal("no")])],
    ["a JSON Schema", { enum: ["yes", "no"] }],
  ])("may be written without quotes: %s", async (_, output) => {
    const { output: value, text, modelCalls } = await asked(output, say(" yes\n")).agent.run("which?");
    expect([value, text.trim(), modelCalls]).toEqual(["yes", "yes", 1]);
  });

  test.each<[string, SchemaLike, string]>([
    ["another word", words, "maybe"],
    ["a sentence with it", words, "yes, I think so"],
    ["any text", z.string(), "I cannot say"],
    ["an empty one", z.enum(["", "no"]), " "],
    ["a value of another kind", z.union([z.literal("yes"), z.number()]), "yes"],
    ["what no schema lists", z.object({ a: z.string() }), "yes"],
  ])("is nothing else: %s", async (_, output, answer) => {
    const model = scripted([say(answer)]);
    const { output: value } = await new Agent({ model, output, decodeRetries: 0, emptyNudges: null }).run(
      "which?",
    );
    expect(value).toBeUndefined();
  });

  test("is read as JSON where the whole text is to be the value", async () => {
    const model = scripted([say("yes")]);
    const run = await new Agent({
      model,
      output: words,
      decodeRetries: 0,
      outputReading: { wholeText: true },
    }).run("which?");
    expect(run.end?.reason).toBe("output_invalid");
  });
});

describe("an output that is no object", () => {
  test.each<[string, SchemaLike, string, unknown]>([
    ["a list", cities, '{"value":["Rome"]}', ["Rome"]],
    ["a word", z.enum(["yes", "no"]), '{ "value" : "yes" }', "yes"],
    ["a number as exact as it was told", z.number(), '{"value":1.50}', 1.5],
    [
      "alternatives",
      z.discriminatedUnion("t", [
        z.object({ t: z.literal("a"), a: z.string() }),
        z.object({ t: z.literal("b"), b: z.number() }),
      ]),
      '{"value":{"t":"b","b":1}}',
      { t: "b", b: 1 },
    ],
    ["an object or null", z.object({ city: z.string() }).nullable(), '{"value":null}', null],
    [
      "a list of what holds itself",
      z.array(tree),
      '{"value":[{"name":"a","kids":[]}]}',
      [{ name: "a", kids: [] }],
    ],
  ])("is asked for in one, and given without it: %s", async (_, output, answer, value) => {
    const { agent, model } = asked(output, say(answer, { chunk: 3 }));
    let streamed = "";
    const result = await agent.run("which?", {
      onEvent: (event) => {
        if (event.type === "text_delta") streamed += event.text;
      },
    });
    expect(result.output).toEqual(value);
    expect(JSON.parse(result.text)).toEqual(value);
    expect(streamed).toBe(result.text);
    expect(model.lastRequest.outputSchema).toMatchObject({ type: "object", required: ["value"] });
  });

  test.each([
    ["as it is", '["Rome"]'],
    ["in a fence", '```json\n{"value":["Rome"]}\n```'],
    ["with other members beside it", '{"value":["Rome"],"note":"x"}\n["Rome"]'],
  ])("is also found %s", async (_, answer) => {
    expect((await asked(cities, say(answer)).agent.run("which?")).output).toEqual(["Rome"]);
  });

  test("is distinguished from an object whose one member has that name", async () => {
    const { agent } = asked(z.object({ value: z.string() }), say('{"value":"x"}', { chunk: 3 }));
    const { output, text } = await agent.run("which?");
    expect([output, text]).toEqual([{ value: "x" }, '{"value":"x"}']);
  });

  test("may have members named like keywords of a schema, and contain itself recursively", () => {
    const members = { default: { $ref: "#" }, const: { $ref: "#/anyOf/1" }, properties: { $ref: "#" } };
    const known = { anyOf: [{ type: "object", properties: members }, { type: "string" }] };
    const asks = objectSchema({ ...known, $defs: { examples: { items: { $ref: "#" } } } });
    const value = { $ref: "#/$defs/output" };
    expect(asks.properties).toEqual({ value });
    expect(asks.$defs).toEqual({
      examples: { items: value },
      output: {
        anyOf: [
          {
            type: "object",
            properties: { default: value, const: { $ref: "#/$defs/output/anyOf/1" }, properties: value },
          },
          { type: "string" },
        ],
      },
    });
  });

  test("is streamed, with a schema as with a tool", async () => {
    for (const [turn, facts] of [
      [say('{"value":["Rome","Oslo"]}', { chunk: 1 }), { output: "native" }],
      [call("final_output", { value: ["Rome", "Oslo"] }, { chunk: 1 }), { output: "none" }],
    ] as const) {
      const deltas: string[] = [];
      const stream = asked(cities, turn, facts).agent.stream("which?");
      let last: unknown;
      for await (const event of stream) if (event.type === "text_delta") deltas.push(event.text);
      for await (const partial of asked(cities, turn, facts).agent.stream("which?").partialOutput)
        last = partial;
      expect(deltas.join("")).toBe('["Rome","Oslo"]');
      expect(deltas.length).toBeGreaterThan(10);
      expect(last).toEqual(["Rome", "Oslo"]);
    }
  });

  test("is taken out of a text as well, from a model that does not call the tool", async () => {
    const { agent } = asked(z.any(), say('{"value":{"a":1}}', { chunk: 1 }), { output: "none" });
    const stream = agent.stream("which?");
    let last: unknown;
    for await (const partial of stream.partialOutput) last = partial;
    expect([(await stream.result).output, last]).toEqual([{ a: 1 }, { a: 1 }]);
  });

  test("is described as it is in a prompt, for a model that is asked that way", async () => {
    const { agent, model } = asked(cities, say('["Rome"]'), { output: "none", tools: false });
    expect((await agent.run("which?")).output).toEqual(["Rome"]);
    expect(JSON.stringify(model.lastRequest.messages)).not.toContain('"value');
  });
});

describe("the object around a schema", () => {
  test("keeps the targets of references", () => {
    const leaf = { type: "string" };
    expect(objectSchema({ type: "array", items: { $ref: "#/$defs/leaf" }, $defs: { leaf } })).toEqual({
      type: "object",
      properties: { value: { type: "array", items: { $ref: "#/$defs/leaf" } } },
      required: ["value"],
      additionalProperties: false,
      $defs: { leaf },
    });
    const self: JsonObject = {
      anyOf: [leaf, { type: "array", items: { $ref: "#" } }, { $ref: "#/anyOf/0" }],
    };
    expect(objectSchema({ ...self, $defs: { output: leaf } })).toEqual({
      type: "object",
      properties: { value: { $ref: "#/$defs/output_" } },
      required: ["value"],
      additionalProperties: false,
      $defs: {
        output: leaf,
        output_: {
          anyOf: [
            leaf,
            { type: "array", items: { $ref: "#/$defs/output_" } },
            { $ref: "#/$defs/output_/anyOf/0" },
          ],
        },
      },
    });
  });

  test("is the schema itself if that is one of an object, and the same from step to step", () => {
    const object: JsonObject = { type: "object", properties: {} };
    const list: JsonObject = { type: "array" };
    expect(objectSchema(object)).toBe(object);
    expect(objectSchema(list)).toBe(objectSchema(list));
  });

  test("is removed from a text however that is cut", () => {
    const space = fc.constantFrom("", " ", "\n  ");
    fc.assert(
      fc.property(fc.jsonValue(), space, space, space, fc.nat(7), (value, a, b, c, size) => {
        const inner = JSON.stringify(value, null, 1);
        const text = `${a}{${b}"value"${c}:${a}${inner}${b}}${c}`;
        expect(unwrappedText(text)).toBe(inner);
        const unwrapping = new Unwrapping();
        let told = "";
        for (let at = 0; at < text.length; at += size + 1)
          told += unwrapping.push(text.slice(at, at + size + 1));
        expect(told).toBe(inner);
      }),
    );
    for (const text of ["", "{", '{"value', '{"val":1}', "plain", '["value"]', '{"value":1,"b":2}'])
      expect(unwrappedText(text)).toBe(text);
  });

  test("is removed in linear time, however many blanks the text has", () => {
    // Each of these took quadratic time: seconds for what a model that goes astray writes within its output limit.
    const space = " \n".repeat(100_000);
    const cut = `{"value": [1, 2${space}x`;
    expect(unwrappedText(cut)).toBe(cut);
    for (const begun of ["", "{", '{"value":[1']) {
      const unwrapping = new Unwrapping();
      let told = unwrapping.push(begun);
      for (let at = 0; at < 100_000; at += 1) told += unwrapping.push(" \n");
      expect(told).toBe(begun.length > 1 ? "[1" : "");
    }
  });
});
