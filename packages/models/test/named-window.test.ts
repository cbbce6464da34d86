// A server whose window nobody told names it in its first refusal: from then on room is made before the next one.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent, memoryJournal, tool } from "@rondo/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { openaiCompatible } from "../src/index.ts";
import { classifyHttpError, classifyStreamError } from "../src/transport/errors.ts";

const refusedWith = (message: string, more: object = {}): ReturnType<typeof classifyHttpError> =>
  classifyHttpError({
    status: 400,
    header: () => null,
    body: JSON.stringify({ error: { message, type: "invalid_request_error", ...more } }),
  });

describe("the window is taken from a refusal", () => {
  it.each([
    ["prompt is too long: 213462 tokens > 200000 maximum", 200_000],
    [
      "Job requires 485 pages (only 460 available) and cannot be enqueued. Total cache allocated is 460 * 256 = 117760 tokens",
      117_760,
    ],
    ["prompt tokens (1200008) exceed model maximum (1050000) for openai.gpt-5.6-terra", 1_050_000],
    [
      "too many tokens: size limit exceeded by 19296 tokens. The limit for this model is 132000 tokens.",
      132_000,
    ],
    ["input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease it", 200_000],
    [
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130012",
      128_000,
    ],
    [
      "However, the model's context length is only 131072 tokens, and you passed 131073 input tokens",
      131_072,
    ],
    ["Requested token count exceeds the model's maximum context length of 32768 tokens.", 32_768],
    ["The input (61709 tokens) is longer than the model's context length (40960 tokens).", 40_960],
    ["The prompt is too long: 140000, model maximum context length: 131071", 131_071],
    [
      "request (124071 tokens) exceeds the available context size (123904 tokens), try increasing it",
      123_904,
    ],
    ["Prompt has 9,000 tokens, but the configured context size is 8,192 tokens", 8_192],
    [
      "when context the overflows. However, the model is loaded with context length of only 7866 tokens",
      7_866,
    ],
    ["initial prompt is greater than the context length (n_keep: 5000>= n_ctx: 4096)", 4_096],
    ["The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).", 1_048_575],
    [
      "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
      32_768,
    ],
    ["This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131_072],
    ["Input length 70000 exceeds the maximum allowed input length of 65536 tokens.", 65_536],
    ["Input length 140000 exceeds the maximum length 131072.", 131_072],
    ["The provided prompt length 17000 exceeds the maximum sequence length of 16384", 16_384],
    ["prompt token count of 140000 exceeds the limit of 128000", 128_000],
    ["Input prompt (40000 tokens) is too long and exceeds limit of 32768", 32_768],
    ["The number of tokens in your request exceeds the limit of 128000", 128_000],
    ["Number of input tokens exceeded the maximum of 128000", 128_000],
    ["Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)", 262_144],
    ["The engine prompt length 40000 exceeds the max_model_len 32768", 32_768],
    ["The sum of prompt length (40000.0), query length (0) should not exceed max_num_tokens (8192)", 8_192],
    ["Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 9000", 8_192],
    ["Input validation error: `inputs` must have less than 4096 tokens. Given: 5000", 4_096],
    ["Request body too large for gpt-4o model: too long for the context. Max size: 8000 tokens.", 8_000],
    ["too many input tokens. Max input tokens: 42000, request input token count: 60000", 42_000],
    ["Range of input length should be [1, 129024]", 129_024],
    [
      "Please reduce the length of the messages or completion. Current length is 8400 while limit is 8192",
      8_192,
    ],
    ["too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4290", 4_081],
    ["total number of tokens in this prompt cannot exceed 4081 - received 6000", 4_081],
    ["Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000", 272_000],
    ["the input token count is 1200000 but model only supports up to 1048576. Reduce it", 1_048_576],
    ["The decoder prompt (length 41152) is longer than the maximum model length of 32768. Make sure", 32_768],
    [
      "The maximum context length of Meta-Llama-3.1-8B-Instruct is 8192. However, answering your request will take 9000 tokens.",
      8_192,
    ],
    ["Number of tokens exceeds the model's limit of 127072", 127_072],
    ["Requested input length 40000 exceeds maximum input length 32767", 32_767],
    ["Input is too long for this model (max 8192 tokens)", 8_192],
  ])("%s", (message, window) => {
    expect(refusedWith(message)).toMatchObject({ kind: "context_overflow", contextWindow: window });
    expect(classifyStreamError({ error: { message } }).toJSON()).toMatchObject({ contextWindow: window });
  });

  it("also if only a member of the body has it", () => {
    const message = "the request exceeds the available context size, try increasing it";
    const { contextWindow } = refusedWith(message, { n_prompt_tokens: 9000, n_ctx: 4096 });
    expect(contextWindow).toBe(4_096);
  });

  it.each([
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "Invalid 'input[0].content': string too long. Expected a string with maximum length 10485760, but got a string with length 62114761 instead.",
    "the max input characters is 24000",
    "too many total text bytes: 9437184 > 9000000",
    "String value length (20054016) exceeds the maximum allowed (20000000, from `StreamReadConstraints`)",
    "maximum context length is 0 tokens",
  ])("but not from: %s", (message) => {
    expect(refusedWith(message).contextWindow).toBeUndefined();
  });

  it("only if the window was too small", () => {
    const limited = classifyHttpError({
      status: 429,
      header: () => null,
      body: '{"error":{"message":"Rate limit: request of 9000 tokens exceeds the limit of 8000 tokens per minute"}}',
    });
    expect(limited.kind).not.toBe("context_overflow");
    expect(limited.contextWindow).toBeUndefined();
  });
});

/** A server with a window that only its refusals name. It calls `look` in each answer of a task, `steps` times, and is done then. */
async function small(window: number, steps: number): Promise<{ url: string; seen: { refused: number } }> {
  const seen = { refused: 0 };
  let page = 0;
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const asked = Math.ceil(text.length / 4);
    const isTask = (JSON.parse(text) as { tools?: unknown }).tools !== undefined;
    const refusal = `This model's maximum context length is ${window} tokens. However, your messages resulted in ${asked} tokens.`;
    const call = {
      id: `c${page}`,
      type: "function",
      function: { name: "look", arguments: `{"page":${page}}` },
    };
    const calls = isTask && page < steps;
    const message = calls
      ? { role: "assistant", content: null, tool_calls: [call] }
      : { role: "assistant", content: "All that was found." };
    const fits = asked <= window;
    if (!fits) seen.refused += 1;
    else if (isTask) page = calls ? page + 1 : 0;
    response.statusCode = fits ? 200 : 400;
    response.setHeader("content-type", "application/json");
    const usage = { prompt_tokens: asked, completion_tokens: 20, total_tokens: asked + 20 };
    const choice = { index: 0, message, finish_reason: calls ? "tool_calls" : "stop" };
    response.end(JSON.stringify(fits ? { choices: [choice], usage } : { error: { message: refusal } }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

describe("a server with an unknown window", () => {
  const look = tool({
    name: "look",
    description: "Looks at a page",
    inputSchema: { type: "object", properties: { page: { type: "integer" } } },
    effect: "read",
    execute: ({ page }) => `Page ${String(page)}: ${"nothing that was looked for. ".repeat(40)}`,
  });

  it("refuses one request of a session, however long it continues, also under another agent", async () => {
    const { url, seen } = await small(4_096, 40);
    const agent = (): Agent =>
      new Agent({
        model: openaiCompatible({ model: "m", baseURL: url, apiKey: "k", stream: false }),
        tools: [look],
        journal,
      });
    const journal = memoryJournal();
    const session = await agent().open("s");
    expect((await session.send("Look at all pages.")).end?.reason).toBe("completed");
    expect(seen.refused).toBe(1);
    expect(session.context().window).toBe(4_096);
    const again = await (await agent().open("s")).send("Once more.");
    expect([again.end?.reason, again.steps]).toEqual(["completed", 41]);
    expect(seen.refused).toBe(1);
  });
});
