// A setting that a model does not take: the run goes on without it (F134).

import { Agent, type Settings } from "@rondo/core";
import { say } from "@rondo/testkit";
import { raw } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { openaiChat } from "../src/codecs/openai-chat.ts";
import { expectValid, rows, serve } from "./end-to-end-stack.ts";

const repairOf = (error: object, status: number = 400): string | undefined =>
  openaiChat.errorOf({ status, header: () => null, body: JSON.stringify({ error }) }).repair;

describe("a refusal that is about a setting says so in the error", () => {
  it.each([
    [
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      "maxOutputTokens",
    ],
    [
      "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
      "temperature",
    ],
    ["Unsupported parameter: 'parallel_tool_calls' is not supported with this model.", "parallelToolCalls"],
    ["Unsupported parameter: 'reasoning.effort' is not supported with this model.", "reasoning"],
    ["Argument not supported on this model: presencePenalty", "presencePenalty"],
    ["`temperature` and `top_p` cannot both be specified for this model. Please use only one.", "topP"],
    ["top_k: Extra inputs are not permitted", "topK"],
    ["`temperature` is deprecated for this model.", "temperature"],
    ["Value error, current model does not support parameter `enable_thinking`.", "reasoning"],
    ["thinking: adaptive thinking is not supported on this model", "reasoning"],
  ])("%s", (message, setting) => {
    expect(repairOf({ message, type: "invalid_request_error" })).toBe(`settings.${setting}`);
  });

  it.each([
    "Invalid 'tools[3].function.name': string too long.",
    "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens",
    "Unknown parameter: 'messages[0].stop'.",
    "messages.65.content.1.tool_use.text: Extra inputs are not permitted",
    "the model m does not exist; temperature was fine",
    "Thinking may not be enabled when tool_choice forces tool use.",
    "`max_tokens` must be greater than `thinking.budget_tokens`.",
  ])("and is told apart from other complaints: %s", (message) => {
    expect(repairOf({ message, type: "invalid_request_error" })).toBeUndefined();
  });
});

describe.each(rows)("a setting that $name refuses", (row) => {
  const refused = (name: string): ReturnType<typeof raw> =>
    raw(JSON.stringify({ error: { message: `'${name}' is not supported with this model.` } }), {
      status: 400,
      headers: { "content-type": "application/json" },
    });
  const settings: Settings = { temperature: 0.5, topP: 0.5 };

  it("is left out, one after the other, for the rest of the run", async () => {
    const wire = await serve([refused("temperature"), refused("top_p"), say("done")]);
    const model = row.model(wire, { id: row.name.startsWith("openai") ? "gpt-4.1" : "m" });
    const { end } = await new Agent({ model, settings }).run("go");
    expect(end?.reason).toBe("completed");
    const sent = wire.requests.map(({ body }) => JSON.stringify(body));
    const has = (field: RegExp): boolean[] => sent.map((body) => field.test(body));
    expect(has(/"temperature":/)).toEqual([true, false, false]);
    expect(has(/"top_?p":/i)).toEqual([true, true, false]);
    expectValid(wire);
  });

  it("and was never sent is no cause to ask again", async () => {
    const wire = await serve([refused("seed"), say("never")]);
    const { end } = await new Agent({ model: row.model(wire), settings }).run("go");
    expect(end?.error?.kind).toBe("invalid_request");
    expect(wire.requests).toHaveLength(1);
  });
});
