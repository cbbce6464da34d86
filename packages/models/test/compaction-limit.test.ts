// The limit compaction goes by is known of a model under each of its names.

import { type CompactionSettings, compactionDue, compactionLimit, compactionSettings } from "@rondo/core";
import { modelFromName, openai } from "@rondo/models";
import { expect, test } from "vitest";

const settings: CompactionSettings = compactionSettings({ format: "tagged", at: 0.85 });

const limitOf = (model: { id: string; facts?: object }): number | undefined =>
  compactionLimit(settings, model.facts ?? {}, model.id);

test("D8.37 a model with a date in its name has the limit of its model", () => {
  const plain = limitOf(openai("gpt-4o", { apiKey: "k" }));
  expect(plain).toBeGreaterThan(100_000);
  expect(limitOf(openai("gpt-4o-2024-08-06", { apiKey: "k" }))).toBe(plain);
});

test("D8.37 a name with its provider in front is the same model", async () => {
  expect(limitOf(await modelFromName("openai/gpt-4o"))).toBe(limitOf(openai("gpt-4o", { apiKey: "k" })));
});

test("D8.37 an unknown model has no limit, and nothing is due", () => {
  const limit = limitOf(openai("gpt-of-tomorrow", { apiKey: "k" }));
  expect(limit).toBeUndefined();
  expect(compactionDue(settings, { inputTokens: 9e9, outputTokens: 0 }, limit)).toBe(false);
});
