import type { JsonObject } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { adaptToolSchema } from "../../src/index.ts";

const adapted = (schema: JsonObject) => {
  const { schema: sent, removed } = adaptToolSchema(schema, "tool");
  return { sent, lost: removed.map(({ type, fieldPath, value }) => [type, fieldPath, value]) };
};

describe("a reference in a tool's schema", () => {
  it("that points nowhere, or out of the schema, is left out: one of them fails every request (F143)", () => {
    const schema: JsonObject = {
      type: "object",
      properties: {
        lost: { $ref: "#/$defs/none", description: "d" },
        far: { type: "array", items: { $ref: "https://example.com/s.json" } },
        named: { anyOf: [{ type: "string" }, { $ref: "#anchor" }] },
      },
    };
    expect(adapted(schema)).toEqual({
      sent: {
        type: "object",
        properties: {
          lost: { description: "d" },
          far: { type: "array", items: {} },
          named: { anyOf: [{ type: "string" }, {}] },
        },
      },
      lost: [
        ["$ref", "lost", "#/$defs/none"],
        ["$ref", "far[]", "https://example.com/s.json"],
        ["$ref", "named", "#anchor"],
      ],
    });
  });

  it("by a name, as TypeBox writes it, becomes one to the place with the name: not every server looks for names", () => {
    const tree = {
      $id: "T0",
      type: "object",
      properties: { kids: { type: "array", items: { $ref: "T0" } } },
    };
    const schema: JsonObject = {
      type: "object",
      properties: { tree, like: { $ref: "T0#/properties/kids" }, near: { $ref: "#here" } },
      $defs: { "a/b": { $anchor: "here", type: "string" } },
    };
    const { sent, lost } = adapted(schema);
    expect(sent.properties).toEqual({
      tree: {
        type: "object",
        properties: { kids: { type: "array", items: { $ref: "#/properties/tree" } } },
      },
      like: { $ref: "#/properties/tree/properties/kids" },
      near: { $ref: "#/$defs/a~1b" },
    });
    expect(sent.$defs).toEqual({ "a/b": { type: "string" } });
    expect(lost).toEqual([]);
  });

  it("that leads only to itself is left out", () => {
    const $defs = { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } };
    const { sent } = adapted({ type: "object", properties: { x: { $ref: "#/$defs/a" } }, $defs });
    expect(sent).toEqual({ type: "object", properties: { x: {} }, $defs: { a: {}, b: {} } });
  });

  it("stays if it points to a definition, even to one that contains it", () => {
    const tree: JsonObject = { type: "object", properties: { left: { $ref: "#/$defs/tree" } } };
    const schema: JsonObject = {
      type: "object",
      properties: { top: { $ref: "#/$defs/tree" }, self: { $ref: "#" }, like: { $ref: "#/properties/top" } },
      $defs: { tree },
    };
    const { sent, lost } = adapted(schema);
    expect(sent).toBe(schema);
    expect(lost).toEqual([]);
  });

  it("into an alternative that the root loses is replaced by what it pointed to", () => {
    const one: JsonObject = { type: "object", properties: { a: { type: "string", minLength: 2 } } };
    const two: JsonObject = {
      type: "object",
      properties: { b: { $ref: "#/anyOf/0/properties/a", description: "d" }, c: { $ref: "#/anyOf/1" } },
    };
    const { sent } = adapted({ anyOf: [one, two] });
    expect(sent).toEqual({
      type: "object",
      properties: {
        a: { type: "string", minLength: 2 },
        b: { type: "string", minLength: 2, description: "d" },
        c: {
          type: "object",
          properties: { b: { type: "string", minLength: 2, description: "d" }, c: {} },
        },
      },
    });
  });

  it("needs no name of the schema or its draft, which some servers refuse", () => {
    const schema: JsonObject = {
      $schema: "http://json-schema.org/draft-07/schema#",
      $id: "https://example.com/tool",
      type: "object",
      properties: { $id: { type: "string" }, $schema: { $id: "s", type: "string" } },
    };
    expect(adapted(schema)).toEqual({
      sent: { type: "object", properties: { $id: { type: "string" }, $schema: { type: "string" } } },
      lost: [],
    });
  });

  it("is left alone where `$ref` is a member's name, or part of a value", () => {
    const schema: JsonObject = {
      type: "object",
      properties: { $ref: { type: "string" }, v: { const: { $ref: "#/none" }, default: { $ref: "#/none" } } },
    };
    expect(adapted(schema)).toEqual({ sent: schema, lost: [] });
  });
});
