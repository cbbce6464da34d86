import type { Json, Message, ModelRequest } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { openaiCompatible } from "../src/index.ts";
import { ask, hear } from "./prompted/model.ts";
import { type Handler, sse, withServer } from "./transport/loopback.ts";

/** A server of Chat Completions that says how many tokens of the prompt it read. */
const counting =
  (tokens: number): Handler =>
  (_request, response) => {
    const chunk = (body: object): string => `data: ${JSON.stringify({ id: "c", model: "m", ...body })}\n\n`;
    const usage = { prompt_tokens: tokens, completion_tokens: 1, total_tokens: tokens + 1 };
    response.writeHead(200, sse);
    response.end(
      `${chunk({ choices: [{ index: 0, delta: { content: "hi" }, finish_reason: "stop" }] })}${chunk({ choices: [], usage })}data: [DONE]\n\n`,
    );
  };

const asking = (message: Message): ModelRequest => ({ ...ask, messages: [message] });
const long = asking({ role: "user", content: [{ type: "text", text: "word ".repeat(15_000) }] });
const picture = asking({
  role: "user",
  content: [
    { type: "text", text: "What is it?" },
    { type: "file", mediaType: "image/png", data: "iVBORw0K".repeat(20_000) },
  ],
});

async function warnings(
  server: "ollama" | "llamacpp" | "lmstudio" | "vllm",
  tokens: number,
  request: ModelRequest,
  compat: { [quirk: string]: Json } = {},
): Promise<string[]> {
  return withServer(counting(tokens), async ({ url }) => {
    const model = openaiCompatible({ server, model: "m", baseURL: `${url}/v1`, compat });
    return (await hear(model, request)).warnings.filter((code) => code === "context_truncated");
  });
}

describe("a server that cuts prompts without reporting it (F184)", () => {
  it.each(["ollama", "llamacpp", "lmstudio"] as const)(
    "is found by its own count, behind %s",
    async (server) => {
      expect(await warnings(server, 2_051, long)).toEqual(["context_truncated"]);
    },
  );

  it("is not suspected if its count fits the texts, ignoring images", async () => {
    expect(await warnings("ollama", 15_004, long)).toEqual([]);
    expect(await warnings("ollama", 700, picture)).toEqual([]);
  });

  it("is checked for only if such servers do this, or if the user says that this one does", async () => {
    expect(await warnings("vllm", 2_051, long)).toEqual([]);
    expect(await warnings("vllm", 2_051, long, { cutsPrompts: true })).toEqual(["context_truncated"]);
    expect(await warnings("ollama", 2_051, long, { cutsPrompts: false })).toEqual([]);
  });
});
