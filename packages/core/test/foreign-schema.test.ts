// Schemas that somebody else wrote: whatever their patterns are, checking a value takes no longer than reading it.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { foreignSchema, type JsonObject, tool } from "@rondo/core";
import { describe, expect, it } from "vitest";

const checked = async (properties: JsonObject, args: JsonObject, more: JsonObject = {}): Promise<string> => {
  const made = tool({
    name: "t",
    description: "d",
    inputSchema: foreignSchema({ type: "object", properties, ...more }) as JsonObject,
    execute: () => "",
  });
  const check = await made.check(args);
  return check.ok ? "fits" : check.error;
};

describe("a pattern of a foreign schema", () => {
  // With the engine of JavaScript none of these comes back.
  it.each([
    ["(a+)+$", "b"],
    ["^(a|a)*$", "b"],
    ["^(a|aa)+$", "!"],
    ["^((a+)+)+$", "!"],
    ["(.*)*(.*)*(.*)*x", "y"],
  ])("is matched in linear time: %s", async (pattern, end) => {
    const misfit = `^(?:${pattern})$`;
    const text = "a".repeat(4_000) + end;
    expect(await checked({ s: { type: "string", pattern: misfit } }, { s: text })).toContain(
      `s: String does not match pattern ${misfit}`,
    );
  });

  it("is matched as JavaScript would match it, wherever it is", async () => {
    const s = { type: "string", pattern: "^\\p{L}[\\w-]*\\u0041\\/$" };
    expect(await checked({ s }, { s: "äb-A/" })).toBe("fits");
    expect(await checked({ s }, { s: "1A/" })).toContain("does not match");
    expect(await checked({ s: { ...s, format: "email" } }, { s: "xA/" })).toContain('format "email"');
    expect(await checked({ s: { format: "email", pattern: "^x" } }, { s: "y@example.org" })).toContain(
      "pattern ^x",
    );
    expect(
      await checked({ list: { type: "array", items: { pattern: "^a" } } }, { list: ["a", "b"] }),
    ).toContain("list.1: String does not match pattern ^a");
    expect(await checked({ s: { not: { pattern: "^a" } } }, { s: "a" })).not.toBe("fits");
    expect(await checked({ s: { not: { pattern: "^a" } } }, { s: "b" })).toBe("fits");
    expect(await checked({ s: { oneOf: [{ pattern: "^a" }, { pattern: "b$" }] } }, { s: "ab" })).not.toBe(
      "fits",
    );
    const refer = { $defs: { name: { type: "string", pattern: "^a" } } };
    expect(await checked({ s: { $ref: "#/$defs/name" } }, { s: "b" }, refer)).toContain("pattern ^a");
    for (const space of [" ", "\u00a0", "\u2003", "\ufeff", "\v"]) {
      expect(await checked({ s: { pattern: "^\\s[\\sx]\\S$" } }, { s: `${space}${space}a` })).toBe("fits");
      expect(await checked({ s: { pattern: "^\\S$" } }, { s: space })).toContain("does not match");
    }
    expect(await checked({ pattern: { type: "string" } }, { pattern: "(" })).toBe("fits");
  });

  it("that the engine does not support is left to the schema's author, and refuses nothing here", async () => {
    for (const pattern of ["^(?=.*\\d).+$", "(a)\\1", "(?<!a)b", `^${"a".repeat(2_000)}$`]) {
      expect(await checked({ s: { type: "string", pattern } }, { s: "zz" })).toBe("fits");
      expect(await checked({ s: { not: { pattern } } }, { s: "zz" })).toBe("fits");
      expect(await checked({ s: { oneOf: [{ pattern }, { type: "string" }] } }, { s: "zz" })).toBe("fits");
    }
    expect(await checked({ s: { type: "string", pattern: "(?=a)" } }, { s: 5 })).toBe("fits"); // mended to a text
    expect(await checked({ n: { type: "number" }, s: { pattern: "(?=a)" } }, { n: "no" })).toContain("n: ");
  });

  it("for names of members is not checked either, nor what depends on it", async () => {
    const more = { patternProperties: { "^(a+)+$": { type: "number" } }, additionalProperties: false };
    expect(await checked({}, { [`${"a".repeat(60)}!`]: "x" }, more)).toBe("fits");
    expect(await checked({ n: { type: "number" } }, { n: "3", aa: "x" }, more)).toBe("fits");
    expect(await checked({ n: { type: "number" } }, { n: "no" }, more)).toContain("n: ");
  });

  it("is in the definition unchanged", () => {
    const schema = { type: "object", properties: { s: { type: "string", pattern: "(?=a)" } } } as const;
    const made = tool({ name: "t", description: "d", inputSchema: foreignSchema(schema), execute: () => "" });
    expect(made.definition.inputSchema).toEqual(schema);
    expect(JSON.stringify(made.definition)).not.toContain("rondo");
  });
});

it("importing core loads no regular expression engine", () => {
  const program = `
    import { registerHooks } from "node:module";
    const seen = [];
    registerHooks({ resolve: (name, context, next) => { seen.push(name); return next(name, context); } });
    const { foreignSchema, tool } = await import("@rondo/core");
    const inputSchema = foreignSchema({ type: "object", properties: { s: { type: "string", pattern: "a" } } });
    const made = tool({ name: "t", description: "d", inputSchema, execute: () => "" });
    const before = seen.includes("re2js");
    await made.check({ s: "a" });
    console.log(before, seen.includes("re2js"));
  `;
  const args = ["--conditions=rondo-source", "--input-type=module", "-e", program];
  const cwd = fileURLToPath(new URL("..", import.meta.url));
  expect(execFileSync(process.execPath, args, { cwd, encoding: "utf8" })).toBe("false true\n");
});
