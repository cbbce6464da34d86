import { type JsonObject, tool } from "@rondo/core";
import { describe, expect, it } from "vitest";

const made = (inputSchema: JsonObject) =>
  tool({ name: "t", description: "d", inputSchema, execute: () => "ok" });

describe("null where a member may be absent (F098)", () => {
  const schema: JsonObject = {
    type: "object",
    properties: {
      path: { type: "string" },
      limit: { type: "integer" },
      unit: { enum: ["c", "f"] },
      either: { anyOf: [{ type: "string" }, { type: "number" }] },
      inner: { type: "object", properties: { deep: { type: "string" } } },
      free: {},
      maybe: { type: ["string", "null"] },
    },
    required: ["path"],
  };

  it("is read as absent, also deep inside", async () => {
    const given = { path: "a", limit: null, unit: null, either: null, inner: { deep: null } };
    expect(await made(schema).check(given)).toMatchObject({ ok: true, args: { path: "a", inner: {} } });
  });

  it("stays null where the schema takes null", async () => {
    const given = { path: "a", limit: null, free: null, maybe: null };
    expect(await made(schema).check(given)).toMatchObject({
      ok: true,
      args: { path: "a", free: null, maybe: null },
    });
  });

  it("is refused for a member that is required", async () => {
    expect(await made(schema).check({ path: null })).toMatchObject({ ok: false });
  });

  it("leaves a member called __proto__ alone", async () => {
    const given = JSON.parse('{"path":"a","limit":null,"__proto__":{"x":1}}') as JsonObject;
    const checked = await made(schema).check(given);
    expect(checked.ok && Object.keys(checked.args)).toEqual(["path", "__proto__"]);
  });
});
