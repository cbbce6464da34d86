// A setting that a model does not take: the run goes on without it (F134).

import { Agent, type Settings } from "@rondo/core";
import { say } from "@rondo/testkit";
import { raw } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { openaiChat } from "../../src/codecs/openai-chat.ts";
import { openai, xai } from "../../src/index.ts";
import { expectValid, rows, serve } from "../end-to-end/stack.ts";

const repairOf = (error: object, status: number = 400): string | undefined =>
  openaiChat.errorOf({ status, header: () => null, body: JSON.stringify({ error }) }).repair;

describe("a refusal about a setting is recognised", () => {
  it.each([
    [
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      "maxOutputTokens",
    ],
    [
      "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
      "temperature",
    ],
    [
      "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.",
      "temperature",
    ],
    ["Invalid 'top_p': decimal below minimum value. Expected a value >= 0, but got -1 instead.", "topP"],
    [
      "1 validation error detected: Value '2.0' at 'inferenceConfig.temperature' failed to satisfy constraint: Member must have value less than or equal to 1.0",
      "temperature",
    ],
    ["The temperature parameter is not supported by this model", "temperature"],
    ["property temperature is not supported", "temperature"],
    ["litellm.BadRequestError: OpenAIException - temperature is not supported for this model", "temperature"],
    ["Only temperature=1 is supported for this model.", "temperature"],
    ["this model only supports temperature = 1", "temperature"],
    ["temperature is fixed for this model and cannot be changed", "temperature"],
    ["invalid reasoning_effort: high, must be one of low, medium", "reasoning"],
    ["Unsupported parameter: 'parallel_tool_calls' is not supported with this model.", "parallelToolCalls"],
    ["Unsupported parameter: 'reasoning.effort' is not supported with this model.", "reasoning"],
    ["Argument not supported on this model: presencePenalty", "presencePenalty"],
    ["`temperature` and `top_p` cannot both be specified for this model. Please use only one.", "topP"],
    ["top_k: Extra inputs are not permitted", "topK"],
    ["Frequency penalty must satisfy p > 0", "frequencyPenalty"],
    ["2.5 is greater than the maximum of 2 - 'temperature'", "temperature"],
    ["-3 is less than the minimum of -2 - 'presence_penalty'", "presencePenalty"],
    [
      "`temperature` (=0) has to be a strictly positive float, otherwise your next token scores will be invalid.",
      "temperature",
    ],
    ["seed must be an integer", "seed"],
    ["`temperature` is deprecated for this model.", "temperature"],
    ["This model doesn't support the temperature field. Remove temperature and try again.", "temperature"],
    ["Value error, current model does not support parameter `enable_thinking`.", "reasoning"],
    ["thinking: adaptive thinking is not supported on this model", "reasoning"],
    ["invalid temperature: only 1 is allowed for this model", "temperature"],
    ["temperature: range: 0..1", "temperature"],
    ["temperature can only be 1 for this model", "temperature"],
    ["Temperature is not configurable for reasoning models", "temperature"],
    ["This model does not support custom temperature values", "temperature"],
    ["top_p must be less than 1", "topP"],
    ["stop: array too long. Expected maximum 4 items", "stop"],
    ["Unexpected keyword argument 'top_k'", "topK"],
    ["Invalid temperature value, the valid range of temperature is [0, 2]", "temperature"],
    ["`temperature` : number must be at most 2", "temperature"],
    ["'stop' : maximum number of items is 4", "stop"],
    ["tool_choice.disable_parallel_tool_use: Extra inputs are not permitted", "parallelToolCalls"],
    ["body.top_p: Input should be less than or equal to 1", "topP"],
    ["'temperature' must be Float between 0.0 and 2.0", "temperature"],
    ["invalid thinking: only type=enabled is allowed for this model", "reasoning"],
    ["Model grok-4-0709 does not support parameter reasoningEffort.", "reasoning"],
    ["Model grok-4-0709 does not support parameter stop.", "stop"],
    ["Reasoning is mandatory for this endpoint and cannot be disabled.", "reasoning"],
    [
      'Provider returned error: "thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
      "reasoning",
    ],
    ["reasoning_effort must be one of `none` or `default`", "reasoning"],
    ["<400> InternalError.Algo.InvalidParameter: Range of top_p should be (0.0, 1.0]", "topP"],
    ['"qwen2.5-coder:7b" does not support thinking', "reasoning"],
    ["Thinking level is not supported for this model.", "reasoning"],
    ["reasoning_effort is not enabled for this model", "reasoning"],
    [
      "<400> InternalError.Algo.InvalidParameter: The value of the enable_thinking parameter is restricted to True.",
      "reasoning",
    ],
    [
      "<400> InternalError.Algo.InvalidParameter: The parameter presence_penalty should be in [-2, 2]",
      "presencePenalty",
    ],
    ["Input validation error: `temperature` must be strictly positive", "temperature"],
    ["Input validation error: `top_p` must be > 0.0 and < 1.0", "topP"],
    ["Input validation error: `stop` supports up to 4 stop sequences. Given: 5", "stop"],
    [
      "Unable to submit request because it has a topK value of 64 but the supported range is from 1 (inclusive) to 41 (exclusive). Update the value and try again.",
      "topK",
    ],
    ["The thinking budget 50000 is invalid. Please choose a value between 128 and 32768.", "reasoning"],
    ["The thinking budget (52428) is invalid.", "reasoning"],
    ['think value "medium" is not supported for this model', "reasoning"],
    [
      "Invalid JSON payload received. Unknown name \"seed\" at 'generation_config': Cannot find field.",
      "seed",
    ],
    ["This model doesn't support the stopSequences field. Remove stopSequences and try again.", "stop"],
    ["This model doesn't support the topP field. Remove topP and try again.", "topP"],
    ["This model doesn't support the maxTokens field. Remove maxTokens and try again.", "maxOutputTokens"],
    [
      "The model returned the following errors: `maxTokens` must be unset when reasoningConfig type is 'enabled'",
      "maxOutputTokens",
    ],
    ["The model returned the following errors: Unknown parameter: 'reasoningConfig'.", "reasoning"],
    ["thinking.enabled.budget_tokens: Input should be greater than or equal to 1024", "reasoning"],
    ["adaptive thinking is not supported on this model", "reasoning"],
    ["This model does not support the effort parameter.", "reasoning"],
    ["output_config.effort: Extra inputs are not permitted", "reasoning"],
    ['invalid params, invalid thinking.type: "enabled" (allowed: adaptive, disabled) (2013)', "reasoning"],
    ["The following tools cannot be used with reasoning.effort 'minimal': web_search.", "reasoning"],
    ["stop_sequences: each stop sequence must contain non-whitespace", "stop"],
    ["Invalid value at 'generation_config.seed' (TYPE_INT32), 99999999999", "seed"],
    [
      "Malformed input request: #: extraneous key [top_k] is not permitted, please reformat your input and try again.",
      "topK",
    ],
    ["invalid params, temperature must be in (0, 1] (2013)", "temperature"],
    [
      "InternalError.Algo.InvalidParameter: The thinking_budget parameter must be a positive integer and not greater than 38912",
      "reasoning",
    ],
    [
      "[{'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), 'msg': \"Input should be 'low', 'medium' or 'high'\", 'input': 'minimal'}]",
      "reasoning",
    ],
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
    "tools.0.custom.input_schema.properties.stop: Input should be a valid dictionary",
    "Malformed input request: #: extraneous key [messages] is not permitted",
    "This model doesn't support the toolConfig.toolChoice.any field. Remove toolConfig.toolChoice.any and try again.",
  ])("and is distinguished from other complaints: %s", (message) => {
    expect(repairOf({ message, type: "invalid_request_error" })).toBeUndefined();
  });
});

it("a value that Mistral refuses by its position is left out", () => {
  const detail = [
    {
      type: "less_than_equal",
      loc: ["body", "temperature"],
      msg: "Input should be less than or equal to 1.5",
    },
  ];
  const body = JSON.stringify({ detail });
  expect(openaiChat.errorOf({ status: 422, header: () => null, body }).repair).toBe("settings.temperature");
});

describe("a refusal that names the field outside of its text", () => {
  it.each([
    [
      "Invalid 'temperature': decimal above maximum value. Expected a value <= 1.",
      "temperature",
      "temperature",
    ],
    [
      "Unsupported value: 'minimal'. Supported values are: 'low' and 'high'.",
      "reasoning.effort",
      "reasoning",
    ],
    ["Invalid 'stop': array too long. Expected an array with maximum length 4.", "stop", "stop"],
  ])("%s", (message, param, setting) => {
    expect(repairOf({ message, param })).toBe(`settings.${setting}`);
  });

  it.each(["messages", "max_tokens", "constructor", "tools[0].function.parameters"])(
    "leaves nothing out for %s",
    (param) => {
      expect(repairOf({ message: "Invalid value.", param })).toBeUndefined();
    },
  );
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

  it("that was never sent is no reason to send again", async () => {
    const wire = await serve([refused("seed"), say("never")]);
    const { end } = await new Agent({ model: row.model(wire), settings }).run("go");
    expect(end?.error?.kind).toBe("invalid_request");
    expect(wire.requests).toHaveLength(1);
  });
});

it("a setting that the server's row leaves out is not left out again: the same request would be sent again", async () => {
  const error = "Argument not supported on this model: presencePenalty";
  const refusal = raw(JSON.stringify({ code: "Client specified an invalid argument", error }), {
    status: 400,
    headers: { "content-type": "application/json" },
  });
  const wire = await serve([refusal, say("never")]);
  const model = xai("grok-4", { baseURL: `${wire.url}/v1`, apiKey: "k" });
  const { end } = await new Agent({ model, settings: { presencePenalty: 0.5 } }).run("go");
  expect(end?.error?.kind).toBe("invalid_request");
  expect(wire.requests).toHaveLength(1);
});

describe("a member that the provider's own side added, and then refused", () => {
  const told = async (
    error: object,
    model = "gpt-5.6-sol",
  ): Promise<[unknown, number, string | undefined]> => {
    const refusal = raw(JSON.stringify({ error }), { status: 400 });
    const wire = await serve([refusal, say("done")]);
    const made = openai(model, { apiKey: "k", baseURL: wire.urlFor("openai") });
    const { end } = await new Agent({ model: made, retry: { baseMs: 1 } }).run("go");
    return [end?.error?.kind ?? end?.reason, wire.requests.length, end?.error?.message];
  };

  it.each([
    {
      message: "prompt_cache_retention is not supported on this model",
      param: "prompt_cache_retention",
      code: "invalid_parameter",
    },
    { message: "Unknown parameter: 'prompt_cache_retention'.", code: "unknown_parameter" },
  ])("is a failure of its server: the same request passes a little later: %j", async (error) => {
    expect(await told(error)).toEqual(["completed", 2, undefined]);
  });

  it.each([
    { message: "Unknown parameter: 'input[0].foo'.", param: "input[0].foo", code: "unknown_parameter" },
    { message: "Missing required parameter: 'tools'.", param: "tools", code: "missing_required_parameter" },
    { message: "Unsupported parameter: 'model'.", param: "model", code: "unsupported_parameter" },
  ])("is none that was sent, that is inside another, or that is missing: %j", async (error) => {
    const [kind, requests] = await told(error);
    expect([kind, requests]).toEqual(["invalid_request", 1]);
  });
});

describe("a refusal inside a stream that had begun", () => {
  const message = "Unsupported parameter: 'temperature' is not supported with this model.";
  const upstream = JSON.stringify({
    error: { message, type: "invalid_request_error", param: "temperature" },
  });
  const cases: [name: string, frames: object[]][] = [
    [
      "openai-chat",
      [
        {
          choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: "error" }],
          error: { code: 400, message: "Provider returned error", metadata: { raw: upstream } },
        },
      ],
    ],
    [
      "openai",
      [
        { type: "response.created", response: { id: "r", status: "in_progress", output: [] } },
        { type: "error", code: null, message, param: "temperature" },
      ],
    ],
    [
      "openai",
      [
        {
          type: "response.failed",
          response: {
            id: "r",
            status: "failed",
            output: [],
            error: { code: "unsupported_parameter", message },
          },
        },
      ],
    ],
  ];
  it.each(cases)("is repaired like one before it: %s %j", async (name, frames) => {
    const row = rows.find((one) => one.name === name);
    if (row === undefined) throw new Error("the row is gone");
    const body = frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("");
    const refused = raw(body, { headers: { "content-type": "text/event-stream" } });
    const wire = await serve([refused, say("done")]);
    const model = row.model(wire, { id: "gpt-4.1" });
    const run = await new Agent({ model, settings: { temperature: 0.5 } }).run("go");
    expect([run.end?.reason, run.text]).toEqual(["completed", "done"]);
    const has = wire.requests.map((one) => /"temperature":/.test(JSON.stringify(one.body)));
    expect(has).toEqual([true, false]);
    expectValid(wire, run);
  });
});
