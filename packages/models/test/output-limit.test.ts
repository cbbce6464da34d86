// The output limit does not fit beside the input: it is lowered, and the history stays as it is (F183).

import { Agent, userText } from "@rondo/core";
import { say } from "@rondo/testkit";
import { raw } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { openrouter } from "../src/index.ts";
import { classifyHttpError } from "../src/transport/errors.ts";
import { expectValid, rows, serve } from "./end-to-end/stack.ts";

const errorOf = (message: string): ReturnType<typeof classifyHttpError> =>
  classifyHttpError({ status: 400, header: () => null, body: JSON.stringify({ error: { message } }) });

describe("the room left by the input is taken from a refusal", () => {
  it.each([
    [
      "This endpoint's maximum context length is 262144 tokens. However, you requested about 284283 tokens (22139 of text input, 262144 in the output). Please reduce the length of either one",
      262144 - 22139,
    ],
    [
      "This endpoint's maximum context length is 262144 tokens. However, you requested about 284283 tokens (20000 of text input, 2139 of tool input, 262144 in the output).",
      262144 - 22139,
    ],
    [
      "This model's maximum context length is 4096 tokens. However, you requested 4200 tokens (200 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.",
      3896,
    ],
    ["input length and `max_tokens` exceed context limit: 190000 + 64000 > 200000, decrease it", 10000],
    [
      "You passed 99073 input tokens and requested 32000 output tokens. However, the model's context length is only 131072 tokens",
      131072 - 99073,
    ],
    [
      "'max_tokens' or 'max_completion_tokens' is too large: 4000. This model's maximum context length is 4096 tokens and your request has 200 input tokens (4000 > 4096 - 200).",
      3896,
    ],
    [
      "This model's maximum context length is 131072 tokens. However, you requested 32000 output tokens and your prompt contains at least 99073 input tokens, for a total of at least 131073 tokens. Please reduce the length of the input prompt or the number of requested output tokens.",
      131072 - 99073,
    ],
    [
      "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 900 `inputs` tokens and 8000 `max_new_tokens`",
      7292,
    ],
    [
      "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 40000 tokens: 8000 tokens from the input messages and 32000 tokens for the completion.",
      32768 - 8000,
    ],
    [
      "max_tokens (64000) + prompt length (100000) exceeds model maximum context length 131072",
      131072 - 100000,
    ],
    ["The sum of prompt length (10000) and max_tokens (8192) exceeds the model limit 16384", 16384 - 10000],
  ])("%s", (message, left) => {
    const { kind, maxOutputTokens = 0 } = errorOf(message);
    expect(kind).toBe("context_overflow");
    expect(maxOutputTokens).toBeLessThan(left);
    expect(maxOutputTokens).toBeGreaterThan(left * 0.8);
  });

  it.each([
    "prompt is too long: 213462 tokens > 200000 maximum",
    "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion).",
    "input length and `max_tokens` exceed context limit: 199990 + 64000 > 200000",
    "This model's maximum context length is 131072 tokens. However, you requested 0 output tokens and your prompt contains at least 131073 input tokens, for a total of at least 131073 tokens.",
  ])("but not if the input alone is too large: %s", (message) => {
    const { kind, maxOutputTokens } = errorOf(message);
    expect([kind, maxOutputTokens]).toEqual(["context_overflow", undefined]);
  });
});

describe("a model's own output limit is taken from a refusal", () => {
  it.each([
    [
      "max_tokens is too large: 64000. This model supports at most 16384 completion tokens, whereas you provided 64000.",
      16384,
    ],
    ["`max_completion_tokens` must be less than or equal to `32768`, the maximum value for it", 32768],
    ["<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]", 8192],
    ["Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8192],
    [
      "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku",
      8192,
    ],
    [
      "it has a maxOutputTokens value of 64000 but the supported range is from 1 (inclusive) to 8193 (exclusive).",
      8192,
    ],
    ["max_completion_tokens exceeds the model limit of 16384", 16384],
    ["max_tokens (64000) is larger than the limit 8192.", 8192],
    ["The maximum tokens you requested exceeds the model limit of 8192. Try again with a lower value.", 8192],
    [
      "The parameter `max_completion_tokens` specified in the request are not valid: integer above maximum value, expected a value <= 12288, but got 32000 instead.",
      12288,
    ],
    [
      "Invalid 'max_tokens': integer above maximum value. Expected a value <= 4096, but got 8192 instead.",
      4096,
    ],
    ["Model Parameter max_tokens should be less than or equal to 12288.0", 12288],
    ["API 调用参数有误：max_tokens参数非法。取值范围为[1,98304]", 98304],
    [
      "too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model",
      4096,
    ],
    [
      "max_completion_tokens (32768) cannot be greater than max_model_len=max_total_tokens=8192. Please request fewer output tokens.",
      8192,
    ],
    ["max_tokens 200000 exceeds the maximum allowed value of 131072", 131072],
  ])("%s", (message, most) => {
    const { kind, maxOutputTokens } = errorOf(message);
    expect([kind, maxOutputTokens]).toEqual(["invalid_request", most]);
  });

  it.each([
    "max_tokens must be positive",
    "max_tokens must be <= 0",
    "top_p must be less than or equal to 1",
  ])("but from nothing else: %s", (message) => {
    expect(errorOf(message).maxOutputTokens).toBeUndefined();
  });
});

describe("the output that the credit pays for is taken from a refusal", () => {
  const refusal = (afford: number): object => ({
    error: {
      message: `This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford ${afford}. To increase, visit the settings and upgrade to a paid account`,
      code: 402,
      metadata: { provider_name: null },
    },
  });
  const headers = { "content-type": "application/json" };

  it.each([
    [30104, 30104],
    [222, undefined],
    [0, undefined],
  ])("%d", (afford, most) => {
    const error = classifyHttpError({
      status: 402,
      header: () => null,
      body: JSON.stringify(refusal(afford)),
    });
    expect([error.kind, error.maxOutputTokens]).toEqual(["quota_exhausted", most]);
  });

  it("and is requested, even if there was no limit before", async () => {
    const refused = raw(JSON.stringify(refusal(30104)), { status: 402, headers });
    const wire = await serve([refused, say("done")]);
    const model = openrouter("openai/gpt-5.2", { apiKey: "key", baseURL: wire.urlFor("openai-chat") });
    const { end, text } = await new Agent({ model }).run("go");
    expect([end?.reason, text]).toEqual(["completed", "done"]);
    expect(wire.requests.map(({ body }) => /"max_\w*tokens":30104\b/.test(JSON.stringify(body)))).toEqual([
      false,
      true,
    ]);
  });

  it("but a run ends if the credit pays for next to nothing", async () => {
    const wire = await serve([raw(JSON.stringify(refusal(222)), { status: 402, headers }), say("never")]);
    const model = openrouter("openai/gpt-5.2", { apiKey: "key", baseURL: wire.urlFor("openai-chat") });
    const { end } = await new Agent({ model }).run("go");
    expect(end?.error?.kind).toBe("quota_exhausted");
    expect(wire.requests).toHaveLength(1);
  });
});

describe.each(rows)("more output than the model of $name supports", (row) => {
  it("is reduced to its maximum", async () => {
    const message = "Invalid max_tokens value, the valid range of max_tokens is [1, 512]";
    const refused = raw(JSON.stringify({ error: { message } }), {
      status: 400,
      headers: { "content-type": "application/json" },
    });
    const wire = await serve([refused, say("done")]);
    const agent = new Agent({ model: row.model(wire, { id: "m" }), settings: { maxOutputTokens: 4000 } });
    const { end, text } = await agent.run("go");
    expect([end?.reason, text, wire.requests.length]).toEqual(["completed", "done", 2]);
    expect(JSON.stringify(wire.requests[1]?.body)).toMatch(/"max_?(?:completion_|output_?)?tokens":512\b/i);
  });
});

describe.each(rows)("an output limit that $name refuses", (row) => {
  it("is lowered, and nothing is compacted", async () => {
    const message =
      "This model's maximum context length is 4096 tokens. However, you requested 4200 tokens (200 in the messages, 4000 in the completion).";
    const refused = raw(JSON.stringify({ error: { message } }), {
      status: 400,
      headers: { "content-type": "application/json" },
    });
    const wire = await serve([refused, say("done")]);
    const agent = new Agent({
      model: row.model(wire, { id: "m" }),
      settings: { maxOutputTokens: 4000 },
      context: { compaction: {} },
    });
    const { end, text } = await agent.run([userText("one"), userText("two")]);
    expect([end?.reason, text]).toEqual(["completed", "done"]);
    const limits = wire.requests.map(({ body }) =>
      Number(
        /"max_?(?:completion_|output_)?tokens":(\d+)/i.exec(JSON.stringify(body))?.[1] ??
          /"maxOutputTokens":(\d+)/.exec(JSON.stringify(body))?.[1],
      ),
    );
    expect(limits).toEqual([4000, expect.closeTo(3875, -2)]);
    expectValid(wire);
  });
});
