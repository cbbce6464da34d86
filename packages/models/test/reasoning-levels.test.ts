// Levels of reasoning above `high`: asked for where a model has them, and the highest below where it has not.

import { Agent, type Listener, type Model } from "@rondo/core";
import { say } from "@rondo/testkit";
import { type RondoWire, raw } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { anthropic, bedrock, openai, xai } from "../src/index.ts";
import { refusedLevels } from "../src/refusals/levels.ts";
import { serve } from "./end-to-end/stack.ts";

const refused = (message: string): ReturnType<typeof raw> =>
  raw(JSON.stringify({ error: { type: "invalid_request_error", message } }), { status: 400 });

interface Body {
  reasoning_effort?: string;
  reasoning?: { effort?: string };
  output_config?: { effort?: string };
  additionalModelRequestFields?: { reasoningConfig?: { maxReasoningEffort?: string } };
}
/** The level that each request asked for. */
const asked = ({ requests }: RondoWire): unknown[] =>
  requests.map(({ body }) => {
    const { reasoning_effort, reasoning, output_config, additionalModelRequestFields } = body as Body;
    return (
      reasoning_effort ??
      reasoning?.effort ??
      output_config?.effort ??
      additionalModelRequestFields?.reasoningConfig?.maxReasoningEffort
    );
  });

const apiKey = "k";
const chat = (wire: RondoWire): Model => openai.chat("gpt-5", { apiKey, baseURL: wire.urlFor("openai") });
const responses = (wire: RondoWire): Model => openai("gpt-5", { apiKey, baseURL: wire.urlFor("openai") });
const claude = (wire: RondoWire): Model =>
  anthropic("claude-opus-5", { apiKey, baseURL: wire.urlFor("anthropic") });

describe("a level above high", () => {
  it.each([
    ["Chat Completions", chat],
    ["Responses", responses],
    ["Anthropic's protocol", claude],
  ])("is asked for as it is over %s, where nobody refuses it", async (_, make) => {
    for (const reasoning of ["xhigh", "max"] as const) {
      const wire = await serve([say("done")]);
      const { text } = await new Agent({ model: make(wire), settings: { reasoning } }).run("go");
      expect([text, ...asked(wire)]).toEqual(["done", reasoning]);
    }
  });

  it.each([
    ["Chat Completions", chat],
    ["Responses", responses],
    ["Anthropic's protocol", claude],
  ])(
    "becomes the highest that the model has over %s, once it is refused, and is not asked for again",
    async (_, make) => {
      const wire = await serve([
        refused(
          "Unsupported value: 'max' is not supported with this model's reasoning effort. Supported values are: 'low', 'medium', and 'high'.",
        ),
        say("done"),
        say("more"),
      ]);
      const warnings: string[] = [];
      const agent = new Agent({ model: make(wire), settings: { reasoning: "max" } });
      const onEvent: Listener = (event) => {
        if (event.type === "warning") warnings.push(event.message);
      };
      expect((await agent.run("go", { onEvent })).text).toBe("done");
      expect((await agent.run("go")).text).toBe("more");
      expect(asked(wire)).toEqual(["max", "high", "high"]);
      expect(warnings.join("\n")).toContain(
        "this model has no reasoning level max: high was asked for in its place",
      );
    },
  );

  it("is lowered step by step where the refusals list nothing", async () => {
    const wire = await serve([
      refused("reasoning effort 'max' is not supported"),
      refused("reasoning effort 'xhigh' is not supported"),
      say("done"),
    ]);
    const { text } = await new Agent({ model: chat(wire), settings: { reasoning: "max" } }).run("go");
    expect([text, ...asked(wire)]).toEqual(["done", "max", "xhigh", "high"]);
  });

  it("is lowered at once for models that are known to have none", async () => {
    const amazon = await serve([say("done")]);
    const nova = bedrock("us.amazon.nova-2-lite-v1:0", { apiKey, baseURL: amazon.urlFor("bedrock") });
    await new Agent({ model: nova, settings: { reasoning: "max" } }).run("go");
    expect(asked(amazon)).toEqual(["high"]);
    const grok = await serve([say("done")]);
    const model = xai("grok-3-mini", { apiKey, baseURL: `${grok.url}/v1` });
    await new Agent({ model, settings: { reasoning: "max" } }).run("go");
    expect(asked(grok)).toEqual(["high"]);
  });
});

describe("no reasoning", () => {
  it.each([
    ["Chat Completions", chat],
    ["Responses", responses],
  ])("becomes the least over %s, once a model that always reasons has refused it", async (_, make) => {
    const wire = await serve([
      refused(
        "Unsupported value: 'none' is not supported with the 'gpt-6' model's reasoning effort. Supported values are: 'low', 'medium', 'high', and 'xhigh'.",
      ),
      say("done"),
      say("more"),
    ]);
    const warnings: string[] = [];
    const agent = new Agent({ model: make(wire), settings: { reasoning: "off" } });
    const onEvent: Listener = (event) => {
      if (event.type === "warning") warnings.push(event.message);
    };
    expect((await agent.run("go", { onEvent })).text).toBe("done");
    expect((await agent.run("go")).text).toBe("more");
    expect(asked(wire)).toEqual(["none", "low", "low"]);
    expect(warnings.join("\n")).toContain(
      'gpt-5 always reasons: effort "low" was asked for in place of none',
    );
  });

  it.each([
    "tool_choice 'none' is not supported while thinking is enabled",
    "Unsupported value: 'minimal' is not supported with reasoning_effort. Supported values are: 'none', 'low', 'medium', and 'high'.",
    "reasoning_effort: Supported values are: 'none', 'low', and 'high', not 'max'",
  ])("is not lost by another complaint: %s", (words) => {
    expect(refusedLevels(words)).not.toContain("none");
  });
});

describe("a refusal of a level", () => {
  it.each([
    [
      '{"detail":[{"type":"literal_error","loc":["body","reasoning_effort"],"msg":"Input should be \'low\', \'medium\', \'high\' or \'xhigh\'","input":"max"}]}',
      ["max"],
    ],
    [
      "Unsupported value: 'xhigh' is not supported with the 'gpt-5' model. Supported values are: 'minimal', 'low', 'medium', and 'high'. reasoning.effort",
      ["xhigh", "max"],
    ],
    [
      "Invalid value: 'max'. Supported values are: 'none', 'minimal', 'low', 'medium', 'high', and 'xhigh'. param: reasoning_effort",
      ["max"],
    ],
    ["Unsupported values: 'xhigh' for reasoning_effort", ["xhigh"]],
    ['level "max" not supported, valid levels: low, medium, high, xhigh', ["max"]],
    [
      "output_config.effort: effort level 'xhigh' is not available for this model; must be one of low, medium, high, max",
      ["xhigh"],
    ],
    [
      "[{'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), 'msg': \"Input should be 'low', 'medium' or 'high'\", 'input': 'max'}]",
      ["max", "xhigh"],
    ],
    ['`reasoning_effort` does not support \\"xhigh\\"', ["xhigh"]],
  ])("names what the model lacks: %s", (words, lacks) => {
    expect(refusedLevels(words)).toEqual(lacks);
  });

  it.each([
    "Unsupported value: 'minimal' is not supported with this model's reasoning effort. Supported values are: 'low', 'high', 'xhigh'",
    "Invalid value for 'max': a number is needed",
    "temperature must be at most 2",
    "reasoning is not supported by this model",
  ])("is none: %s", (words) => {
    expect(refusedLevels(words)).toEqual([]);
  });
});
