// The choice that forbids calls, at a server that does not know it: a landing needs it, and goes on without.

import { Agent, maxSteps } from "@rondo/core";
import { call, say } from "@rondo/testkit";
import { raw } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { refusesNone } from "../../src/refusals/choice.ts";
import { rows, serve, weather } from "../end-to-end/stack.ts";

const refused = (message: string, status = 400): ReturnType<typeof raw> =>
  raw(JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } }), { status });

const protocols = rows.filter(({ name }) => ["anthropic", "openai", "openai-chat"].includes(name));
const words = "tool_choice 'none' is not supported";

describe("a server that cannot forbid calls", () => {
  it.each(protocols)("has a landing nevertheless, and is not asked so again: $name", async ({ model }) => {
    const asks = call("weather", { city: "Oslo" });
    const wire = await serve([asks, refused(words), say("Sunny."), asks, say("Cold.")]);
    const agent = new Agent({ model: model(wire), tools: [weather], rules: [maxSteps(1)] });
    const first = await agent.run("go");
    expect([first.text, first.end?.reason, first.end?.landed]).toEqual(["Sunny.", "max_steps", true]);
    expect((await agent.run("go")).text).toBe("Cold.");
    const choices = wire.requests.map(({ body }) => (body as { tool_choice?: unknown }).tool_choice);
    expect(choices.map((one) => one !== undefined)).toEqual([false, true, false, false, false]);
    // What the history has called stays declared.
    expect(JSON.stringify(wire.requests.at(-1)?.body)).toContain('"tools":');
  });

  it.each(protocols)("runs nothing that is called instead of an answer: $name", async ({ model }) => {
    const asks = call("weather", { city: "Oslo" });
    const wire = await serve([asks, refused(words), [say("Sunny."), asks]]);
    const agent = new Agent({ model: model(wire), tools: [weather], rules: [maxSteps(1)] });
    const { text, end, toolCalls } = await agent.run("go");
    expect([text, end?.reason, toolCalls]).toEqual(["Sunny.", "max_steps", 1]);
  });

  it("may be a gateway that failed at it", async () => {
    const failed = "Incompatible tool choice param submitted - {'type': 'none'}";
    const wire = await serve([call("weather", { city: "Oslo" }), refused(failed, 500), say("Sunny.")]);
    const [{ model }] = protocols as [(typeof protocols)[number]];
    const agent = new Agent({ model: model(wire), tools: [weather], rules: [maxSteps(1)] });
    expect((await agent.run("go")).text).toBe("Sunny.");
    expect(wire.requests).toHaveLength(3);
  });
});

describe("a refusal of the choice that forbids calls", () => {
  it.each([
    words,
    'Value error, `tool_choice` must either be a named tool or "auto". `tool_choice="none"` is not supported.',
    "invalid tool_choice type: none",
    '{"error":{"message":"Unsupported tool_choice: none","type":"invalid_request_error"}}',
    "Invalid value for tool_choice: none. Expected auto.",
    "'none' is not a valid tool_choice",
    '{"error":{"message":"Invalid value: \'none\'. Supported values are: \'auto\'.","param":"tool_choice"}}',
    "Incompatible tool choice param submitted - {'type': 'none'}",
    "[{'type': 'literal_error', 'loc': ('body', 'tool_choice', 'type'), 'msg': \"Input should be 'auto', 'any' or 'tool'\", 'input': 'none'}]",
    '{"detail":[{"type":"literal_error","loc":["body","tool_choice","type"],"msg":"Input should be \'auto\', \'any\' or \'tool\'","input":"none"}]}',
    "tool_choice: Input tag 'none' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool'",
    "tool_choice.type: Input should be 'auto', 'any' or 'tool'",
    'Invalid input: expected "auto" at "params.tool_choice.type" or Invalid input: expected "any" at "params.tool_choice.type"',
  ])("is known by its words: %s", (told) => expect(told).toMatch(refusesNone));

  it.each([
    'Value error, `tool_choice` must either be a named tool, "auto", or "none".',
    "Thinking mode does not support this tool_choice",
    "tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'",
    "Invalid value: 'required'. Supported values are: 'auto' and 'none'. param: tool_choice",
    "tool_choice: none, auto or a named tool is expected",
    "tool_choice is only allowed when tools are specified",
  ])("is not one of another choice: %s", (told) => expect(told).not.toMatch(refusesNone));
});
