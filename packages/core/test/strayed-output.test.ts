// What the repair round says to a model that gave the schema back, or wrapped the value (F230).

import { compileSchema, type Json } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { checkOutput } from "../src/output/structured.ts";

const schema = compileSchema(
  {
    type: "object",
    properties: { code: { type: "string" } },
    required: ["code"],
    additionalProperties: false,
  },
  "the output",
  false,
);

const errorOf = async (value: Json, of = schema): Promise<string> => {
  const checked = await checkOutput(JSON.stringify(value), of, {});
  return checked.ok ? "" : (checked.error ?? "");
};

describe("an output that strayed", () => {
  test("the schema itself is named as such, and the checker's words stay", async () => {
    const error = await errorOf(schema.json);
    expect(error).toMatch(/^This is the JSON Schema itself, not a value that satisfies it: /);
    expect(error).toContain('"code"');
    expect(await errorOf({ properties: { code: { type: "string" } } })).toMatch(
      /^This is the JSON Schema itself/,
    );
  });

  test.each([
    ["properties", { properties: { code: "x" } }],
    ["properties", { type: "object", properties: { code: "x" } }],
    ["result", { result: { code: "x" } }],
  ])("a value inside %s is told to stand by itself", async (name, value) => {
    expect(await errorOf(value)).toMatch(
      new RegExp(`^The value must not be inside "${name}": give it by itself: .`),
    );
  });

  test("a wrapped value that does not fit either is told what the checker says", async () => {
    expect(await errorOf({ result: { code: 1 } })).not.toContain("inside");
    expect(await errorOf({ other: "x", code: 1 })).not.toContain("inside");
    expect(await errorOf([{ code: "x" }])).not.toContain("inside");
  });

  test("a member that the schema declares is no wrapper, and describes no schema", async () => {
    const own = compileSchema(
      {
        type: "object",
        properties: { properties: { type: "string" }, n: { type: "number" } },
        required: ["n"],
      },
      "the output",
      false,
    );
    expect(await errorOf({ properties: { n: 1 } }, own)).not.toContain("inside");
    expect(await errorOf({ properties: { n: { type: "number" } } }, own)).not.toContain("Schema itself");
  });

  test("the first value is the one that is told", async () => {
    const checked = await checkOutput('{"result":{"code":"x"}} and {"z":1}', schema, {});
    expect(checked).toMatchObject({
      ok: false,
      error: expect.stringMatching(/^The value must not/) as string,
    });
  });
});
