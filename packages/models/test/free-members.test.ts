// Typed outputs that are maps: a Claude that is held to a schema natively gives named members alone.

import { Agent } from "@rondo/core";
import { anthropic } from "@rondo/models";
import { describe, expect, test } from "vitest";
import { z } from "zod";

/** What is asked of a server that refuses it. */
async function asked(output: z.ZodType): Promise<string> {
  const bodies: string[] = [];
  const fetch = async (_url: unknown, init?: { body?: unknown }): Promise<Response> => {
    const { body } = init ?? {};
    bodies.push(typeof body === "string" ? body : new TextDecoder().decode(body as Uint8Array));
    return Response.json({ error: { message: "no", type: "invalid_request_error" } }, { status: 400 });
  };
  const model = anthropic("claude-sonnet-5", { apiKey: "k", fetch } as never);
  await new Agent({ model, output }).run("what?");
  return bodies[0] ?? "";
}

describe("an object with arbitrary members", () => {
  test("is requested with a tool from a Claude, whose schemas allow named members only and would leave it empty", async () => {
    const body = await asked(z.object({ prices: z.record(z.string(), z.number()) }));
    expect(body).toContain('"name":"final_output"');
    expect(body).not.toContain("output_config");
    expect(body).toContain('"additionalProperties":{"type":"number"}');
  });

  test.each([
    ["named members", z.object({ city: z.string(), at: z.object({ x: z.number() }).optional() })],
    ["no members", z.object({})],
    ["members beside those that are named", z.looseObject({ city: z.string() })],
    ["anything", z.object({ city: z.any() })],
  ])("is none that has %s", async (_, schema) => {
    expect(await asked(schema)).toContain("output_config");
  });
});
