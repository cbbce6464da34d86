import {
  anthropic,
  azure,
  catalogueDate,
  catalogueSource,
  factsOf,
  listModels,
  openai,
  openaiCompatible,
} from "@rondo/models";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

describe("the catalogue", () => {
  it("fills the facts of a model that a provider function makes", () => {
    expect(anthropic("claude-sonnet-4-5").facts).toMatchObject({
      contextWindow: 200_000,
      maxOutputTokens: 64_000,
      price: { input: 3, output: 15, cachedInput: 0.3, cacheWrite: 3.75 },
    });
    expect(openai.chat("gpt-4o").facts?.contextWindow).toBe(128_000);
    expect(openaiCompatible({ provider: "groq", model: "openai/gpt-oss-120b" }).facts?.price).toBeDefined();
  });

  it("has the prices of long prompts, and of a cache that is kept for an hour", () => {
    expect(factsOf("anthropic", "claude-haiku-5-5")?.price).toStrictEqual({
      input: 0.1,
      output: 0.5,
      cachedInput: 0.01,
      cacheWrite: 0.125,
      cacheWrite1h: 0.2,
      longPrompts: [
        { above: 100_000, input: 0.5, output: 2.5, cachedInput: 0.05, cacheWrite: 0.625, cacheWrite1h: 1 },
      ],
    });
    expect(factsOf("anthropic", "claude-sonnet-4-5")?.price).toMatchObject({ cacheWrite1h: 6 });
    expect(factsOf("bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0")?.price?.cacheWrite1h).toBe(6);
    expect(factsOf("google", "gemini-2.5-pro")?.price?.longPrompts).toStrictEqual([
      { above: 200_000, input: 2.5, output: 15, cachedInput: 0.25 },
    ]);
    // The data of Vertex lacks what that of the same models has under Google's own name.
    expect(factsOf("vertex", "gemini-2.5-pro")?.price).toStrictEqual(
      factsOf("google", "gemini-2.5-pro")?.price,
    );
    expect(factsOf("openai", "gpt-4o")?.price).not.toHaveProperty("cacheWrite1h");
  });

  it("lets the user's facts win, member by member", () => {
    const facts = { price: { input: 1, output: 2 }, output: "none" } as const;
    expect(anthropic("claude-sonnet-4-5", { facts }).facts).toMatchObject({
      ...facts,
      contextWindow: 200_000,
    });
    expect(factsOf("anthropic", "claude-of-my-own", facts)).toBe(facts);
  });

  it.each([
    ["anthropic", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5"],
    ["openai", "gpt-5-2025-08-07", "gpt-5"],
    ["google", "models/gemini-2.5-flash", "gemini-2.5-flash"],
    ["google", "gemini-2.5-flash-001", "gemini-2.5-flash"],
    ["vertex", "projects/p/locations/l/publishers/google/models/gemini-2.5-pro", "gemini-2.5-pro"],
    ["vertex", "gemini-2.5-pro@default", "gemini-2.5-pro"],
    ["bedrock", "amazon.nova-pro-v1:0:300k", "amazon.nova-pro-v1:0"],
    ["bedrock", "anthropic.claude-sonnet-5-v1:0", "anthropic.claude-sonnet-5"],
    [
      "bedrock",
      "arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.amazon.nova-pro-v1:0",
      "eu.amazon.nova-pro-v1:0",
    ],
  ])("finds %s/%s as %s", (provider, name, base) => {
    const facts = factsOf(provider, name);
    expect(facts?.price).toBeDefined();
    expect(facts).toEqual(factsOf(provider, base));
  });

  it("has a region's own price, and no price if the region has none", () => {
    const price = (model: string) => factsOf("bedrock", model)?.price?.input;
    expect(price("us.anthropic.claude-sonnet-4-5-20250929-v1:0")).toBe(3.3);
    expect(price("anthropic.claude-sonnet-4-5-20250929-v1:0")).toBe(3);
    const elsewhere = factsOf("bedrock", "sa.anthropic.claude-sonnet-4-5-20250929-v1:0");
    expect(elsewhere?.contextWindow).toBe(200_000);
    expect(elsewhere).not.toHaveProperty("price");
  });

  it("finds a resold Claude by Anthropic's name, without a price", () => {
    const facts = factsOf("vertex", "claude-sonnet-4-5@20250929");
    expect(facts).toMatchObject({ contextWindow: 200_000, maxOutputTokens: 64_000 });
    expect(facts).not.toHaveProperty("price");
  });

  it.each([
    ["azure", "gpt-5"],
    ["ollama", "qwen3"],
    ["anthropic", "claude-sonnet"],
    ["anthropic", "claude-sonnet-4-5-turbo"],
    ["anthropic", ""],
    ["anthropic", "claude-sonnet-4-5|200000"],
    ["openai", "constructor"],
    ["constructor", "gpt-5"],
    ["__proto__", "gpt-5"],
  ])("knows nothing of %s/%s", (provider, model) => {
    expect(factsOf(provider, model)).toBeUndefined();
  });

  it("leaves the facts of an Azure deployment out", () => {
    expect(azure("gpt-5", { endpoint: "https://x.openai.azure.com" }).facts).toBeUndefined();
  });

  it("never has zero for unknown: only what is called free costs nothing", () => {
    for (const { model, facts } of listModels()) {
      expect(facts.contextWindow).toBeGreaterThan(0);
      if (facts.maxOutputTokens !== undefined) expect(facts.maxOutputTokens).toBeGreaterThan(0);
      const { longPrompts = [], ...price } = facts.price ?? {};
      for (const rate of [price, ...longPrompts].flatMap((rates) => Object.values(rates)))
        model.endsWith(":free") ? expect(rate).toBe(0) : expect(rate).toBeGreaterThan(0);
    }
  });

  it("does not confuse a paid model with its free variant, nor the price of a variant with the model's", () => {
    const free = listModels("openrouter/ :free").find(({ model }) => model.endsWith(":free"))!;
    expect(free.facts.price).toEqual({ input: 0, output: 0 });
    const nitro = factsOf("openrouter", "anthropic/claude-sonnet-5:nitro");
    expect(nitro?.contextWindow).toBeDefined();
    expect(nitro).not.toHaveProperty("price");
    expect(factsOf("openrouter", "anthropic/claude-sonnet-5:free")).toBeUndefined();
  });

  it("finds every model it lists under its name, with the same facts", () => {
    for (const entry of listModels()) expect(factsOf(entry.provider, entry.model)).toEqual(entry.facts);
  });

  it("never throws, whatever the name is", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (provider, model) => {
        factsOf(provider, model);
        factsOf("bedrock", `us.${model}`);
        factsOf("vertex", `models/${model}@1`);
      }),
    );
  });

  it("names the source of its data and their date", () => {
    expect(catalogueDate).toMatch(/^20\d\d-\d\d-\d\d$/);
    expect(catalogueSource).toMatch(/ \d+\.\d+\.\d+$/);
  });

  it("lists by every word of a filter, without regard to case", () => {
    const names = listModels("ANTHROPIC/ sonnet").map(({ provider, model }) => `${provider}/${model}`);
    expect(names).toContain("anthropic/claude-sonnet-4-5");
    expect(names.every((name) => name.includes("anthropic/") && name.includes("sonnet"))).toBe(true);
    expect(listModels("no such model")).toEqual([]);
  });
});
