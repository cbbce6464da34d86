// A schema of a typed output that a server does not take: the value is asked for in another way (F142).

import { Agent, tool } from "@rondo/core";
import { call, say } from "@rondo/testkit";
import { raw } from "@rondo/testkit/wire";
import { APICallError } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ollamaChat } from "../../src/codecs/ollama-chat.ts";
import { openaiChat } from "../../src/codecs/openai-chat.ts";
import { fromAiSdk } from "../../src/index.ts";
import { expectValid, rows, serve } from "../end-to-end/stack.ts";

const repairOf = (error: object | string, status: number = 400): string | undefined =>
  openaiChat.errorOf({ status, header: () => null, body: JSON.stringify({ error }) }).repair;

describe("a refusal about an output schema is recognised", () => {
  it.each([
    "This response_format type is unavailable now",
    "Schema is too complex for compilation",
    "Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details.",
    "Failed to validate JSON. Please adjust your prompt.",
    "A schema in GenerationConfig in the request exceeds the maximum allowed nesting depth.",
    "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model. Learn more about supported models at the structured outputs guide.",
    "This model does not support response format `json_schema`. See supported models.",
    "'response_format.type' must be 'json_object' or 'text'",
    "Failed to deserialize the JSON body into the target type: response_format: response_format.type `json_schema` is unavailable now at line 1 column 9",
    "Invalid schema for response_format 'response': In context=(), 'oneOf' is not permitted.",
    "json mode cannot be combined with tool/function calling",
    "Function calling with a response mime type: 'application/json' is unsupported",
    "Json mode is not enabled for models/gemini-pro",
    "The specified schema produces a constraint that has too many states for serving.",
    "The compiled grammar is too large, which would cause performance issues. Simplify your tool schemas or reduce the number of strict tools.",
    "output_config: Extra inputs are not permitted",
    "'claude-3-5-haiku-20241022' does not support output format.",
    "structured outputs is not supported for this model",
    "Unsupported parameter: 'text.format' is not supported with this model.",
    "Invalid parameter: 'response_format' must be one of 'json_object', 'text'.",
    "response_format value as json_schema is enabled only for api versions 2024-08-01-preview and later",
    "Structured outputs are not available for this model",
    "output_config.format.schema: Schema is too complex.",
    "Failed to initialize samplers: failed to parse grammar",
    'Invalid grammar: failed to compile JSON schema: Unimplemented keys: ["uniqueItems"]',
    "Grammar preprocessing timed out: req.grammar_key=('json', 'x')",
    "Input should be 'text' or 'json_object': response_format.type",
    "response_format.type: value is not one of the allowed values ['text', 'json_object']",
    "failed to load model vocabulary required for format",
  ])("%s", (message) => {
    expect(repairOf({ message, type: "invalid_request_error" })).toBe("schema");
  });

  it.each([
    "Invalid schema for function 'look': In context=(), object schema missing properties.",
    "Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: <At path 'properties.x': items must be an object>",
    "tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12",
    "output_config.effort: Extra inputs are not permitted",
    "the model m does not exist",
  ])("and is distinguished from other complaints: %s", (message) => {
    expect(repairOf({ message, type: "invalid_request_error" })).not.toBe("schema");
  });

  it("if no server behind a router can do what was asked", () => {
    expect(repairOf("No endpoints found that can handle the requested parameters.", 404)).toBe("schema");
  });

  it("if a server failed because of the grammar", () => {
    expect(repairOf("failed to load model vocabulary required for format", 500)).toBe("schema");
    expect(repairOf("JSON schema conversion failed:\nUnrecognized schema: true", 500)).toBe("schema");
    const none =
      "Grammar-based generation (json_schema, regex, ebnf, structural_tag) is not supported when the server is launched with --grammar-backend none";
    for (const status of [400, 500]) expect(repairOf(none, status)).toBe("schema");
    expect(repairOf("Invalid grammar specification: 'triggers'", 400)).toBe("schema");
    expect(repairOf("The server had an error", 500)).toBeUndefined();
  });

  it("with Ollama too, and so is thinking that a model does not support", () => {
    const error = (words: string): string | undefined =>
      ollamaChat.errorOf({ status: 400, header: () => null, body: JSON.stringify({ error: words }) }).repair;
    expect(error('invalid format: "x"; expected "json" or a valid JSON Schema object')).toBe("schema");
    expect(error('"gemma3" does not support thinking')).toBe("settings.reasoning");
  });
});

describe.each(rows)("a schema that $name refuses", (row) => {
  const refusal = raw(
    JSON.stringify({ error: { message: "Structured outputs are not supported for this model." } }),
    { status: 400, headers: { "content-type": "application/json" } },
  );

  it("is replaced by a tool", async () => {
    const wire = await serve([refusal, call("final_output", { city: "Rome" })]);
    // A codec that knows its model to take no schema asks by the tool from the first request on.
    const model = row.model(wire, { facts: { output: "native" } });
    const run = await new Agent({ model, output: z.object({ city: z.string() }) }).run("where?");
    expect(run.output).toEqual({ city: "Rome" });
    const sent = wire.requests.map(({ body }) => JSON.stringify(body).includes("final_output"));
    expect(sent).toEqual([false, true]);
    expectValid(wire, run);
  });

  it("is replaced by a tool even if there are other tools that the same words might be about", async () => {
    const words = "Failed to parse grammar: the schema is too complex, it has too many states for serving";
    const tooHeavy = { error: { message: words } };
    const again = { status: 400, headers: { "content-type": "application/json" } };
    const output = z.object({ city: z.string() });
    const look = tool({
      name: "look",
      description: "Looks.",
      inputSchema: z.object({ at: z.string().regex(/^a/), all: z.array(z.string()).min(2) }),
      execute: () => "",
    });
    // Some learn from the words to send the tools' schemas otherwise, and are refused once more.
    const wire = await serve(({ text }) => {
      if (text.includes("final_output")) return call("final_output", { city: "Rome" });
      return text.includes("city") ? raw(JSON.stringify(tooHeavy), again) : say("Rome");
    });
    const model = row.model(wire, { facts: { output: "native" } });
    const run = await new Agent({ model, output, tools: [look] }).run("where?");
    expect(run.output).toEqual({ city: "Rome" });
    expect(wire.requests.filter(({ text }) => text.includes("city")).length).toBeLessThanOrEqual(3);
  });

  it("that was never sent is no reason to send again", async () => {
    const wire = await serve([refusal, call("final_output", { city: "Rome" })]);
    const { end } = await new Agent({ model: row.model(wire) }).run("where?");
    expect(end?.error?.kind).toMatch(/invalid_request|capability/);
    expect(wire.requests).toHaveLength(1);
  });
});

describe("a schema that is refused through a package of the AI SDK", () => {
  it("is replaced by a tool", async () => {
    let asked = 0;
    const model = new MockLanguageModelV3({
      provider: "acme",
      modelId: "large",
      doStream: async ({ tools }) => {
        asked += 1;
        if (tools === undefined)
          throw new APICallError({
            message: "refused",
            url: "https://acme.invalid",
            requestBodyValues: {},
            statusCode: 400,
            responseBody: JSON.stringify({
              error: { message: "This model does not support response format `json_schema`" },
            }),
          });
        const usage = {
          inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
          outputTokens: { total: 1, text: 1, reasoning: undefined },
        };
        const input = JSON.stringify({ city: "Rome" });
        return {
          stream: new ReadableStream({
            start(controller) {
              controller.enqueue({ type: "tool-call", toolCallId: "c", toolName: "final_output", input });
              const finishReason = { unified: "tool-calls", raw: undefined } as const;
              controller.enqueue({ type: "finish", usage, finishReason });
              controller.close();
            },
          }),
        };
      },
    });
    const output = z.object({ city: z.string() });
    const agent = new Agent({ model: fromAiSdk(model), output });
    expect([(await agent.run("where?")).output, asked]).toEqual([{ city: "Rome" }, 2]);
  });
});
