// Schemas through the AI SDK's own packages: what their requests carry, and whether a server would take it.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent, type Json, type JsonObject, type SchemaLike, tool } from "@rondo/core";
import { fromAiSdk } from "@rondo/models";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { checkOpenaiChatRequest } from "../../../testkit/src/wire/rules/openai-chat.ts";

/** A server that answers every request with the same words, and keeps the bodies. */
function served(content: string) {
  const bodies: string[] = [];
  const fetch = async (_url: unknown, init?: { body?: unknown }): Promise<Response> => {
    bodies.push(String(init?.body));
    const whole = {
      id: "1",
      choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    };
    return Response.json(whole);
  };
  const provider = (supportsStructuredOutputs: boolean) =>
    createOpenAICompatible({
      name: "acme",
      baseURL: "http://acme.invalid/v1",
      fetch: fetch as typeof globalThis.fetch,
      supportsStructuredOutputs,
    });
  return { bodies, provider };
}

const formatIn = (body: string | undefined): JsonObject =>
  (JSON.parse(body ?? "{}") as { response_format: JsonObject }).response_format;

describe("a typed output through a package that requests strict mode by itself", () => {
  it.each<[string, SchemaLike, string, boolean]>([
    ["strict where the schema can be held to", z.object({ city: z.string() }), '{"city":"Rome"}', true],
    [
      "strict also deep inside",
      z.object({ places: z.array(z.object({ city: z.string().nullable() })) }),
      '{"places":[]}',
      true,
    ],
    [
      "not strict where a member may be absent",
      z.object({ city: z.string(), zip: z.string().optional() }),
      '{"city":"Rome"}',
      false,
    ],
    ["not strict where members are free", z.record(z.string(), z.number()), '{"a":1}', false],
    ["strict for what is no object", z.array(z.string()), '{"value":["Rome"]}', true],
  ])("is %s", async (_, output, content, strict) => {
    const { bodies, provider } = served(content);
    const agent = new Agent({ model: fromAiSdk(provider(true)("large"), { stream: false }), output });
    const { end, output: value } = await agent.run("where?");
    expect(end?.reason).toBe("completed");
    expect(value).toBeDefined();
    expect(formatIn(bodies[0])).toMatchObject({ type: "json_schema", json_schema: { strict } });
    expect(checkOpenaiChatRequest(bodies[0] ?? "")).toEqual([]);
  });

  it("uses the caller's setting, if there is one", async () => {
    const { bodies, provider } = served("{}");
    const agent = new Agent({
      model: fromAiSdk(provider(true)("large"), { stream: false }),
      output: z.object({ zip: z.string().optional() }),
      settings: { providerOptions: { acme: { strictJsonSchema: true } } },
    });
    await agent.run("where?");
    expect(formatIn(bodies[0])).toMatchObject({ json_schema: { strict: true } });
  });

  it("is requested in another way if the package sends no schemas", async () => {
    const { bodies, provider } = served('{"city":"Rome"}');
    const output = z.object({ city: z.string() });
    const model = fromAiSdk(provider(false)("large"), { stream: false });
    expect(model.facts?.output).toBe("none");
    await new Agent({ model, output }).run("where?");
    expect(bodies[0]).toContain("final_output");
    const said = fromAiSdk(provider(false)("large"), { facts: { output: "native" } });
    expect(said.facts?.output).toBe("native");
  });
});

describe("a tool through a package of the AI SDK", () => {
  it("is declared in a form that every provider accepts, the same from step to step", async () => {
    const { bodies, provider } = served("done");
    const model = fromAiSdk(provider(true)("large"), { stream: false });
    const any: JsonObject = {
      anyOf: [
        { type: "object", properties: { list: { type: "array" } } },
        { type: "object", properties: { pair: { type: "array", items: [{ type: "string" }] } } },
      ] as Json[],
    };
    const look = tool({ name: "look", description: "Looks.", inputSchema: any, execute: () => "" });
    const agent = new Agent({ model, tools: [look] });
    const warned: string[] = [];
    for (const _ of [1, 2])
      await agent.run("look", {
        onEvent: (event) => {
          if (event.type === "warning") warned.push(event.code);
        },
      });
    expect(checkOpenaiChatRequest(bodies[0] ?? "")).toEqual([]);
    expect(bodies[1]).toBe(bodies[0]);
    expect(warned).toEqual(["schema_rules_removed"]);
  });
});
