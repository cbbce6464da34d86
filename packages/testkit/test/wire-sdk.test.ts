// The official SDKs against rondo-wire: what they read is what the script meant, and what they send passes the rules.

import Anthropic from "@anthropic-ai/sdk";
import {
  type Message as BedrockMessage,
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
} from "@aws-sdk/client-bedrock-runtime";
import { GoogleGenAI } from "@google/genai";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import OpenAI from "openai";
import { describe, expect, it, onTestFinished } from "vitest";
import { call, fail, say, stop, type Turn, think, usage } from "../src/index.ts";
import { type Chunks, type RondoWire, rondoWire, status, type WireScript } from "../src/wire/index.ts";

async function serve(script: WireScript, chunks: Chunks = "frame"): Promise<RondoWire> {
  const wire = await rondoWire({ script, chunks, chunk: 3 });
  onTestFinished(() => wire.close());
  return wire;
}

const turn: Turn = [
  think("Is it cold in Ōsaka? 🥶"),
  say("Let me look at both."),
  call("weather", { city: "Ōsaka", days: 3 }),
  call("weather", { city: "Reykjavík 🌋" }),
  usage({ inputTokens: 120, outputTokens: 40, cachedInputTokens: 100, reasoningTokens: 12 }),
];
const answer: Turn = [say("Both are cold."), usage({ inputTokens: 200, outputTokens: 5 })];
const schema = {
  type: "object" as const,
  properties: { city: { type: "string" }, days: { type: "number" } },
  required: ["city"],
};
const calls = [
  { name: "weather", args: { city: "Ōsaka", days: 3 } },
  { name: "weather", args: { city: "Reykjavík 🌋" } },
];
const modes = (["frame", "byte", "whole"] as const).flatMap((chunks) => [
  { chunks, streams: true },
  { chunks, streams: false },
]);

describe.each(modes)("over a socket in chunks of a $chunks, streamed: $streams", ({ chunks, streams }) => {
  it("Anthropic's SDK reads what the script meant, and its requests pass the rules", async () => {
    const wire = await serve([turn, answer], chunks);
    const client = new Anthropic({ baseURL: wire.urlFor("anthropic"), apiKey: "k", maxRetries: 0 });
    const ask = async (messages: Anthropic.MessageParam[]): Promise<Anthropic.Message> => {
      const body = {
        model: "claude-sonnet-5",
        max_tokens: 4096,
        thinking: { type: "enabled", budget_tokens: 1024 } as const,
        tools: [{ name: "weather", description: "Weather", input_schema: schema }],
        messages,
      };
      return streams ? await client.messages.stream(body).finalMessage() : await client.messages.create(body);
    };
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Where is it cold?" }];
    const first = await ask(messages);
    expect(first.content.map((block) => block.type)).toEqual(["thinking", "text", "tool_use", "tool_use"]);
    const [thinking, text] = first.content;
    expect(thinking).toMatchObject({ thinking: "Is it cold in Ōsaka? 🥶", signature: "sig-1-0" });
    expect(text).toMatchObject({ text: "Let me look at both." });
    const uses = first.content.filter((block) => block.type === "tool_use");
    expect(uses.map(({ name, input }) => ({ name, args: input }))).toEqual(calls);
    expect(first.stop_reason).toBe("tool_use");
    expect(first.usage).toMatchObject({
      input_tokens: 20,
      cache_read_input_tokens: 100,
      output_tokens: 40,
    });
    const results = uses.map((use) => ({
      type: "tool_result" as const,
      tool_use_id: use.id,
      content: "-5",
    }));
    const second = await ask([
      ...messages,
      { role: "assistant", content: first.content },
      { role: "user", content: results },
    ]);
    expect(second.content).toMatchObject([{ type: "text", text: "Both are cold." }]);
    expect([wire.violations, wire.problems]).toEqual([[], []]);
    expect(wire.requests).toMatchObject([
      { protocol: "anthropic-messages", model: "claude-sonnet-5", stream: streams },
      { protocol: "anthropic-messages" },
    ]);
  });

  it("OpenAI's SDK reads Chat Completions as the script meant them, and its requests pass the rules", async () => {
    const wire = await serve([turn, answer], chunks);
    const client = new OpenAI({ baseURL: wire.urlFor("openai"), apiKey: "k", maxRetries: 0 });
    const ask = async (messages: OpenAI.ChatCompletionMessageParam[]): Promise<OpenAI.ChatCompletion> => {
      const body = {
        model: "gpt-5.2",
        messages,
        tools: [
          {
            type: "function" as const,
            function: { name: "weather", description: "Weather", parameters: schema },
          },
        ],
      };
      return streams
        ? await client.chat.completions
            .stream({ ...body, stream_options: { include_usage: true } })
            .finalChatCompletion()
        : await client.chat.completions.create(body);
    };
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Where is it cold?" }];
    const first = await ask(messages);
    const message = first.choices[0]?.message;
    expect(message?.content).toBe("Let me look at both.");
    const made = message?.tool_calls ?? [];
    expect(
      made.map((one) =>
        one.type === "function"
          ? { name: one.function.name, args: JSON.parse(one.function.arguments) as unknown }
          : one,
      ),
    ).toEqual(calls);
    expect(first.choices[0]?.finish_reason).toBe("tool_calls");
    expect(first.usage).toMatchObject({
      prompt_tokens: 120,
      completion_tokens: 40,
      prompt_tokens_details: { cached_tokens: 100 },
      completion_tokens_details: { reasoning_tokens: 12 },
    });
    const second = await ask([
      ...messages,
      { role: "assistant", content: message?.content ?? null, tool_calls: made },
      ...made.map((one) => ({ role: "tool" as const, tool_call_id: one.id, content: "-5" })),
    ]);
    expect(second.choices[0]?.message.content).toBe("Both are cold.");
    expect([wire.violations, wire.problems]).toEqual([[], []]);
  });

  it("OpenAI's SDK reads Responses as the script meant them, and its requests pass the rules", async () => {
    const wire = await serve([turn, answer], chunks);
    const client = new OpenAI({ baseURL: wire.urlFor("openai"), apiKey: "k", maxRetries: 0 });
    const ask = async (input: OpenAI.Responses.ResponseInput): Promise<OpenAI.Responses.Response> => {
      const body = {
        model: "gpt-5.2",
        input,
        store: false,
        include: ["reasoning.encrypted_content" as const],
        tools: [
          {
            type: "function" as const,
            name: "weather",
            description: "Weather",
            parameters: schema,
            strict: false,
          },
        ],
      };
      return streams
        ? await client.responses.stream(body).finalResponse()
        : await client.responses.create(body);
    };
    const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: "Where is it cold?" }];
    const first = await ask(input);
    expect(first.output.map((item) => item.type)).toEqual([
      "reasoning",
      "message",
      "function_call",
      "function_call",
    ]);
    expect(first.output[0]).toMatchObject({
      summary: [{ text: "Is it cold in Ōsaka? 🥶" }],
      encrypted_content: "sig-1-0",
    });
    const made = first.output.filter((item) => item.type === "function_call");
    expect(made.map((one) => ({ name: one.name, args: JSON.parse(one.arguments) as unknown }))).toEqual(
      calls,
    );
    expect(first.status).toBe("completed");
    expect(first.usage).toMatchObject({
      input_tokens: 120,
      output_tokens: 40,
      input_tokens_details: { cached_tokens: 100 },
    });
    const second = await ask([
      ...input,
      ...(first.output as OpenAI.Responses.ResponseInput),
      ...made.map((one) => ({
        type: "function_call_output" as const,
        call_id: one.call_id,
        output: "-5",
      })),
    ]);
    expect(second.output).toMatchObject([
      { type: "message", content: [{ type: "output_text", text: "Both are cold." }] },
    ]);
    expect([wire.violations, wire.problems]).toEqual([[], []]);
  });

  it("Google's SDK reads what the script meant, and its requests pass the rules", async () => {
    const wire = await serve([turn, answer], chunks);
    const client = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: wire.urlFor("google") } });
    type Contents = { role: string; parts: object[] }[];
    const ask = async (contents: Contents) => {
      const request = {
        model: "gemini-3-pro",
        contents,
        config: {
          tools: [
            {
              functionDeclarations: [
                { name: "weather", description: "Weather", parametersJsonSchema: schema },
              ],
            },
          ],
        },
      };
      if (!streams) {
        const whole = await client.models.generateContent(request);
        return {
          parts: whole.candidates?.[0]?.content?.parts ?? [],
          finish: whole.candidates?.[0]?.finishReason,
          usage: whole.usageMetadata,
        };
      }
      const parts: object[] = [];
      let finish: unknown;
      let told: unknown;
      for await (const chunk of await client.models.generateContentStream(request)) {
        parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
        finish = chunk.candidates?.[0]?.finishReason ?? finish;
        told = chunk.usageMetadata ?? told;
      }
      return { parts, finish, usage: told };
    };
    const contents: Contents = [{ role: "user", parts: [{ text: "Where is it cold?" }] }];
    const first = await ask(contents);
    const parts = first.parts as {
      text?: string;
      thought?: boolean;
      thoughtSignature?: string;
      functionCall?: { name: string; args: object };
    }[];
    const texts = (thought: boolean): string =>
      parts
        .filter((part) => part.text !== undefined && (part.thought ?? false) === thought)
        .map((part) => part.text)
        .join("");
    expect(texts(true)).toBe("Is it cold in Ōsaka? 🥶");
    expect(texts(false)).toBe("Let me look at both.");
    const made = parts.filter((part) => part.functionCall !== undefined);
    expect(made.map((part) => part.functionCall)).toEqual(calls);
    expect(made.map((part) => part.thoughtSignature)).toEqual(["sig-1-2", undefined]);
    expect(first.finish).toBe("STOP");
    expect(first.usage).toMatchObject({
      promptTokenCount: 120,
      candidatesTokenCount: 28,
      thoughtsTokenCount: 12,
      cachedContentTokenCount: 100,
    });
    const second = await ask([
      ...contents,
      { role: "model", parts },
      {
        role: "user",
        parts: made.map(() => ({ functionResponse: { name: "weather", response: { output: "-5" } } })),
      },
    ]);
    expect(second.parts).toMatchObject(
      streams ? [{ text: "Bot" }, {}, {}, {}, {}] : [{ text: "Both are cold." }],
    );
    expect([wire.violations, wire.problems]).toEqual([[], []]);
  });

  it("AWS's SDK reads what the script meant, and its requests pass the rules", async () => {
    const wire = await serve([turn, answer], chunks);
    const client = new BedrockRuntimeClient({
      region: "eu-central-1",
      endpoint: wire.urlFor("bedrock"),
      credentials: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" },
      requestHandler: new NodeHttpHandler(),
      maxAttempts: 1,
    });
    const ask = async (messages: BedrockMessage[]) => {
      const request = {
        modelId: "anthropic.claude-sonnet-5-v1:0",
        messages,
        toolConfig: {
          tools: [{ toolSpec: { name: "weather", description: "Weather", inputSchema: { json: schema } } }],
        },
      };
      if (!streams) {
        const whole = await client.send(new ConverseCommand(request));
        return { content: whole.output?.message?.content ?? [], stop: whole.stopReason, usage: whole.usage };
      }
      const { stream } = await client.send(new ConverseStreamCommand(request));
      const blocks: { reasoning: string; signature: string; text: string; input: string; use?: object }[] =
        [];
      let ended: string | undefined;
      let told: object | undefined;
      for await (const event of stream ?? []) {
        const at =
          event.contentBlockStart?.contentBlockIndex ?? event.contentBlockDelta?.contentBlockIndex ?? 0;
        blocks[at] ??= { reasoning: "", signature: "", text: "", input: "" };
        const block = blocks[at];
        const use = event.contentBlockStart?.start?.toolUse;
        if (use !== undefined) block.use = use;
        const delta = event.contentBlockDelta?.delta;
        block.text += delta?.text ?? "";
        block.input += delta?.toolUse?.input ?? "";
        block.reasoning += delta?.reasoningContent?.text ?? "";
        block.signature += delta?.reasoningContent?.signature ?? "";
        ended = event.messageStop?.stopReason ?? ended;
        told = event.metadata?.usage ?? told;
      }
      return {
        content: blocks.map((block) =>
          block.use !== undefined
            ? { toolUse: { ...block.use, input: JSON.parse(block.input) as unknown } }
            : block.signature !== ""
              ? { reasoningContent: { reasoningText: { text: block.reasoning, signature: block.signature } } }
              : { text: block.text },
        ) as NonNullable<BedrockMessage["content"]>,
        stop: ended,
        usage: told,
      };
    };
    const messages: BedrockMessage[] = [{ role: "user", content: [{ text: "Where is it cold?" }] }];
    const first = await ask(messages);
    expect(first.content).toEqual([
      { reasoningContent: { reasoningText: { text: "Is it cold in Ōsaka? 🥶", signature: "sig-1-0" } } },
      { text: "Let me look at both." },
      { toolUse: { toolUseId: "tooluse_1_2", name: "weather", input: calls[0]?.args } },
      { toolUse: { toolUseId: "tooluse_1_3", name: "weather", input: calls[1]?.args } },
    ]);
    expect(first.stop).toBe("tool_use");
    expect(first.usage).toMatchObject({ inputTokens: 20, outputTokens: 40, cacheReadInputTokens: 100 });
    const second = await ask([
      ...messages,
      { role: "assistant", content: first.content },
      {
        role: "user",
        content: first.content.flatMap((block) =>
          block.toolUse === undefined
            ? []
            : [{ toolResult: { toolUseId: block.toolUse.toolUseId, content: [{ text: "-5" }] } }],
        ),
      },
    ]);
    expect(second.content).toEqual([{ text: "Both are cold." }]);
    expect([wire.violations, wire.problems]).toEqual([[], []]);
  });
});

describe("the official SDKs' errors", () => {
  it("each SDK throws its own class for a status, with the words of the body", async () => {
    const wire = await serve([
      status(529),
      status(429, { retryAfterMs: 2000 }),
      status(401),
      status(503),
      status(429),
    ]);
    const claude = new Anthropic({ baseURL: wire.url, apiKey: "k", maxRetries: 0 });
    const gpt = new OpenAI({ baseURL: wire.urlFor("openai"), apiKey: "k", maxRetries: 0 });
    const gemini = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: wire.url } });
    const bedrock = new BedrockRuntimeClient({
      region: "us-east-1",
      endpoint: wire.url,
      token: { token: "bedrock-key" },
      authSchemePreference: ["httpBearerAuth"],
      requestHandler: new NodeHttpHandler(),
      maxAttempts: 1,
    });
    const messages = [{ role: "user" as const, content: "hi" }];
    const ask = { model: "m", max_tokens: 5, messages };
    await expect(claude.messages.create(ask)).rejects.toMatchObject({
      status: 529,
      error: { error: { type: "overloaded_error", message: "Overloaded" } },
    });
    await expect(gpt.chat.completions.create({ model: "m", messages })).rejects.toMatchObject({
      name: "Error",
      status: 429,
      code: "rate_limit_exceeded",
      type: "requests",
    });
    await expect(gpt.responses.create({ model: "m", input: messages })).rejects.toMatchObject({
      status: 401,
      code: "invalid_api_key",
    });
    await expect(
      gemini.models.generateContent({ model: "gemini-3-pro", contents: "hi" }),
    ).rejects.toMatchObject({ status: 503, message: expect.stringContaining("UNAVAILABLE") });
    await expect(
      bedrock.send(
        new ConverseCommand({ modelId: "m", messages: [{ role: "user", content: [{ text: "hi" }] }] }),
      ),
    ).rejects.toMatchObject({
      name: "ThrottlingException",
      message: "Too many requests, please wait before trying again.",
    });
    expect(wire.requests.at(-1)?.headers.authorization).toBe("Bearer bedrock-key");
  });

  it("each SDK reads an error that comes inside a stream", async () => {
    const broken = [say("I was"), fail("overloaded")];
    const wire = await serve([broken, broken, broken, broken, [say("I was"), fail("rate_limit")]]);
    const claude = new Anthropic({ baseURL: wire.url, apiKey: "k", maxRetries: 0 });
    const gpt = new OpenAI({ baseURL: wire.urlFor("openai"), apiKey: "k", maxRetries: 0 });
    const gemini = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: wire.url } });
    const bedrock = new BedrockRuntimeClient({
      region: "us-east-1",
      endpoint: wire.url,
      credentials: { accessKeyId: "A", secretAccessKey: "s" },
      requestHandler: new NodeHttpHandler(),
      maxAttempts: 1,
    });
    const messages = [{ role: "user" as const, content: "hi" }];
    const drain = async (stream: AsyncIterable<unknown>): Promise<void> => {
      for await (const _ of stream);
    };
    await expect(
      claude.messages.stream({ model: "m", max_tokens: 5, messages }).finalMessage(),
    ).rejects.toThrow(/overloaded/i);
    await expect(gpt.chat.completions.stream({ model: "m", messages }).finalChatCompletion()).rejects.toThrow(
      /overloaded/,
    );
    await expect(gpt.responses.stream({ model: "m", input: messages }).finalResponse()).rejects.toThrow();
    await expect(
      gemini.models.generateContentStream({ model: "gemini-3-pro", contents: "hi" }).then(drain),
    ).rejects.toThrow(/overloaded/);
    await expect(
      bedrock
        .send(
          new ConverseStreamCommand({
            modelId: "m",
            messages: [{ role: "user", content: [{ text: "hi" }] }],
          }),
        )
        .then(({ stream }) => drain(stream ?? (async function* () {})())),
    ).rejects.toMatchObject({ name: "ThrottlingException" });
  });

  it("an SDK that breaks a rule is told so in the provider's words", async () => {
    const wire = await serve([say("never")]);
    const claude = new Anthropic({ baseURL: wire.url, apiKey: "k", maxRetries: 0 });
    await expect(
      claude.messages.create({
        model: "m",
        max_tokens: 5,
        messages: [
          { role: "user", content: "hi" },
          { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "x", input: {} }] },
          { role: "user", content: "and?" },
        ],
      }),
    ).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("Requests which include `tool_use`"),
    });
    expect(wire.violations.map((one) => one.path)).toEqual(["tools", "messages.1"]);
  });

  it("an SDK's own retry gets through: the script's second turn is its second attempt", async () => {
    const wire = await serve([status(529, { headers: { "retry-after-ms": "1" } }), stopped()]);
    const claude = new Anthropic({ baseURL: wire.url, apiKey: "k", maxRetries: 1 });
    const message = await claude.messages.create({
      model: "m",
      max_tokens: 5,
      messages: [{ role: "user", content: "hi" }],
    });
    expect(message).toMatchObject({ stop_reason: "max_tokens", content: [{ text: "cut" }] });
    expect(wire.requests).toHaveLength(2);
  });
});

function stopped(): Turn {
  return [say("cut"), stop("max_tokens")];
}
