// The output limit does not fit beside the input: it is lowered, and the history stays as it is (F183).

import { Agent, userText } from "@rondo/core";
import { say } from "@rondo/testkit";
import { raw } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { classifyHttpError } from "../src/transport/errors.ts";
import { expectValid, rows, serve } from "./end-to-end-stack.ts";

const errorOf = (message: string): ReturnType<typeof classifyHttpError> =>
  classifyHttpError({ status: 400, header: () => null, body: JSON.stringify({ error: { message } }) });

describe("what fits beside the input is read from a refusal", () => {
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
      "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 900 `inputs` tokens and 8000 `max_new_tokens`",
      7292,
    ],
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
  ])("and not where the input alone is too large: %s", (message) => {
    const { kind, maxOutputTokens } = errorOf(message);
    expect([kind, maxOutputTokens]).toEqual(["context_overflow", undefined]);
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
