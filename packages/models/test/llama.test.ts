import { expect, it } from "vitest";
import { llama } from "../src/index.ts";
import { ask, hear } from "./prompted-model.ts";
import { errorFrom } from "./transport-loopback.ts";

it("llama costs nothing until it is called, and then says which package it needs", async () => {
  const model = llama({ modelPath: "/models/Qwen3-4B-Q4_K_M.gguf" });
  expect([model.id, model.origin.api, model.facts?.tools]).toEqual(["llama/Qwen3-4B-Q4_K_M", "llama", true]);
  const error = await errorFrom(hear(model, ask));
  expect([error.kind, error.retryable]).toEqual(["capability", false]);
  expect(error.message).toContain("npm install node-llama-cpp");
  await model.dispose();
});
