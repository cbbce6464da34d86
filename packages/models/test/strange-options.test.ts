// Options under a name that no provider has: they went nowhere, and nobody was told.

import { Agent, type JsonObject, type Model } from "@rondo/core";
import { expect, test } from "vitest";
import { anthropic, openaiCompatible } from "../src/index.ts";

const answering = { "content-type": "application/json" };
const answer = {
  type: "message",
  role: "assistant",
  content: [{ type: "text", text: "hi" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 1, output_tokens: 1 },
};
const claude = (): Model =>
  anthropic("claude-sonnet-5", {
    apiKey: "k",
    fetch: () => Promise.resolve(new Response(JSON.stringify(answer), { headers: answering })),
  });

const told = async (providerOptions: Record<string, JsonObject>): Promise<string[]> => {
  const warnings: string[] = [];
  const { end } = await new Agent({ model: claude(), settings: { providerOptions } }).run("go", {
    onEvent: (event) => {
      if (event.type === "warning") warnings.push(`${event.code}: ${event.message}`);
    },
  });
  expect(end?.reason).toBe("completed");
  return warnings;
};

test.each([
  ["antropic", "anthropic"],
  ["Anthropic", "anthropic"],
  ["open-ai", "openai"],
  ["claude", "anthropic"],
  ["google-vertex", "vertex"],
  ["openai-chat", "openai"],
  // Like no name at all: the model's own is named.
  ["something", "anthropic"],
])("options under %s, which is no provider's name, cause a warning that suggests %s", async (name, meant) => {
  expect(await told({ [name]: { service_tier: "auto" } })).toEqual([
    `unsupported_option: providerOptions.${name}: there is no such provider, so it was not sent; options for ${meant} go into providerOptions.${meant}`,
  ]);
});

test("options for other providers, and for servers that the user has named, cause no warning", async () => {
  openaiCompatible({ provider: "our-proxi", baseURL: "http://127.0.0.1:1/v1", apiKey: "k", model: "m" });
  const all = {
    anthropic: { service_tier: "auto" },
    openai: {},
    google: {},
    groq: {},
    litellm: {},
    "our-proxi": {},
  };
  expect(await told(all)).toEqual([]);
});
