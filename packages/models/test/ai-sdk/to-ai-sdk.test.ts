import { runInNewContext } from "node:vm";
import { callsOf, RondoError, textOf } from "@rondo/core";
import { toAiSdk } from "@rondo/models";
import {
  badArgs,
  call,
  emit,
  fail,
  part,
  refuse,
  say,
  scripted,
  stall,
  stop,
  think,
  usage,
} from "@rondo/testkit";
import { APICallError, generateText, type LanguageModel, Output, stepCountIs, streamText, tool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { contentOf } from "../../src/ai-sdk/write-parts.ts";

const weather = tool({
  description: "Current weather of a city",
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => Promise.resolve({ city, degrees: 21 }),
});

const origin = { api: "anthropic-messages", provider: "anthropic", model: "claude-sonnet-5" };

const conversation = [
  [
    think("Where?", { opaque: { signature: "c2ln" } }),
    say("Let me look."),
    call("weather", { city: "Oslo" }, { id: "toolu_1", opaque: { item: "fc_1" } }),
    usage({ inputTokens: 100, outputTokens: 20, cachedInputTokens: 60, reasoningTokens: 5 }),
  ],
  [say("21 degrees."), usage({ inputTokens: 150, outputTokens: 8 })],
];

/** What the model must have seen at its second call, whichever way the AI SDK ran it. */
const secondRequest = {
  system: "Be brief.",
  messages: [
    { role: "user", content: [{ type: "text", text: "Weather in Oslo?" }] },
    {
      role: "assistant",
      origin,
      content: [
        { type: "reasoning", text: "Where?", opaque: { signature: "c2ln" } },
        { type: "text", text: "Let me look." },
        {
          type: "tool_call",
          id: "toolu_1",
          name: "weather",
          args: { city: "Oslo" },
          rawArgs: '{"city":"Oslo"}',
          opaque: { item: "fc_1" },
        },
      ],
      stop: { kind: "tool_use", wire: "tool_use" },
    },
    {
      role: "tool",
      callId: "toolu_1",
      name: "weather",
      content: [{ type: "text", text: '{"city":"Oslo","degrees":21}' }],
      isError: false,
    },
  ],
};

describe("toAiSdk", () => {
  it("runs generateText over several steps, and sends opaque data back to its origin", async () => {
    const model = scripted(conversation, { origin });
    const result = await generateText({
      model: toAiSdk(model),
      instructions: "Be brief.",
      prompt: "Weather in Oslo?",
      tools: { weather },
      stopWhen: stepCountIs(5),
      temperature: 0.5,
      maxOutputTokens: 500,
      stopSequences: ["END"],
      seed: 7,
    });
    expect(result.text).toBe("21 degrees.");
    expect(result.steps).toHaveLength(2);
    expect(result.steps[0]?.finishReason).toBe("tool-calls");
    expect(result.steps[0]?.reasoningText).toBe("Where?");
    expect(model.lastRequest).toMatchObject(secondRequest);
    expect(model.requests[0]).toMatchObject({
      settings: { temperature: 0.5, maxOutputTokens: 500, stop: ["END"], seed: 7 },
      toolChoice: "auto",
      tools: [{ name: "weather", description: "Current weather of a city" }],
    });
    expect(model.requests[0]?.tools[0]?.inputSchema).toMatchObject({
      type: "object",
      properties: { city: { type: "string" } },
    });
  });

  it("runs streamText over several steps, and sends opaque data back to its origin", async () => {
    const model = scripted(conversation, { origin, chunk: 3 });
    const result = streamText({
      model: toAiSdk(model),
      instructions: "Be brief.",
      prompt: "Weather in Oslo?",
      tools: { weather },
      stopWhen: stepCountIs(5),
    });
    const types: string[] = [];
    for await (const chunk of result.fullStream) if (types.at(-1) !== chunk.type) types.push(chunk.type);
    expect(await result.text).toBe("21 degrees.");
    expect(model.lastRequest).toMatchObject(secondRequest);
    expect(types).not.toContain("error");
    expect(types.indexOf("reasoning-delta")).toBeLessThan(types.indexOf("text-delta"));
    expect(types.indexOf("tool-input-start")).toBeLessThan(types.indexOf("tool-call"));
    const steps = await result.steps;
    expect(steps[0]?.usage).toMatchObject({
      inputTokens: 100,
      outputTokens: 20,
      inputTokenDetails: { cacheReadTokens: 60, noCacheTokens: 40 },
      outputTokenDetails: { reasoningTokens: 5 },
    });
  });

  it("streams parts in the order of the specification, each block opened once and ended once", async () => {
    const model = scripted(
      [[think("a", { opaque: { s: "1" } }), say("b"), call("weather", { city: "O" }, { id: "c" })]],
      {
        origin,
      },
    );
    const { stream } = await toAiSdk(model).doStream({ prompt: [user("hi")] });
    const parts = await all(stream);
    expect(parts.map(({ type }) => type)).toEqual([
      "stream-start",
      "response-metadata",
      "reasoning-start",
      "reasoning-delta",
      "text-start",
      "text-delta",
      "tool-input-start",
      "tool-input-delta",
      "reasoning-end",
      "text-end",
      "tool-input-end",
      "tool-call",
      "finish",
    ]);
    expect(parts.find(({ type }) => type === "reasoning-end")).toMatchObject({
      providerMetadata: { rondo: { origin, opaque: { s: "1" } } },
    });
    expect(parts.at(-1)).toMatchObject({
      finishReason: { unified: "tool-calls" },
      usage: { inputTokens: {} },
    });
  });

  it("leaves unknown usage out", async () => {
    const result = await generateText({ model: toAiSdk(scripted([say("hi")])), prompt: "hi" });
    expect(result.usage.inputTokens).toBeUndefined();
    expect(result.usage.outputTokens).toBeUndefined();
  });

  it("never lets a call run whose arguments are incomplete, even if they can be parsed", async () => {
    let ran = 0;
    const counting = { ...weather, execute: () => Promise.resolve(++ran) };
    for (const raw of ['{"city":"Os', "{}", ""]) {
      const model = scripted([
        [badArgs("weather", raw, { error: "the arguments were cut" }), stop("tool_use")],
        say("sorry"),
      ]);
      const tools = { weather: counting };
      const result = await generateText({
        model: toAiSdk(model),
        prompt: "x",
        tools,
        stopWhen: stepCountIs(3),
      });
      expect(result.text).toBe("sorry");
      expect(model.lastRequest.messages.at(-1)).toMatchObject({ role: "tool", isError: true });
    }
    expect(ran).toBe(0);
  });

  it("gives each call an id if the provider has none, so that every result finds its call", async () => {
    const asked = ["Oslo", "Rome"].map((city) => call("weather", { city }, { id: "" }));
    for (const run of [generateText, streamText]) {
      const model = scripted([asked, say("done")]);
      const options = { model: toAiSdk(model), prompt: "x", tools: { weather }, stopWhen: stepCountIs(3) };
      await (await run(options)).text;
      const [, answer, ...results] = model.lastRequest.messages;
      const ids = answer?.role === "assistant" ? callsOf(answer).map(({ id }) => id) : [];
      expect(new Set(ids).size).toBe(2);
      expect(ids).not.toContain("");
      expect(results.map((one) => (one.role === "tool" ? [one.callId, textOf(one)] : one))).toEqual([
        [ids[0], '{"city":"Oslo","degrees":21}'],
        [ids[1], '{"city":"Rome","degrees":21}'],
      ]);
    }
  });

  it("requests typed output with its schema", async () => {
    const model = scripted([say('{"degrees":21}')]);
    const schema = z.object({ degrees: z.number() });
    const { output } = await generateText({
      model: toAiSdk(model),
      prompt: "x",
      output: Output.object({ schema }),
    });
    expect(output).toEqual({ degrees: 21 });
    expect(model.lastRequest.outputSchema).toMatchObject({ type: "object", required: ["degrees"] });
  });

  it("lets the AI SDK retry what may succeed later, after the provider's wait", async () => {
    const busy = fail("rate_limit", { retryAfterMs: 1, status: 429, message: "slow down" });
    const model = scripted([busy, busy, say("at last")]);
    expect((await generateText({ model: toAiSdk(model), prompt: "x" })).text).toBe("at last");
    expect(model.calls).toBe(3);
    const refused = toAiSdk(scripted([busy])).doGenerate({ prompt: [user("x")] });
    await expect(refused).rejects.toMatchObject({ responseHeaders: { "retry-after-ms": "1" } });
    const streaming = scripted([busy, say("at last")]);
    expect(await streamText({ model: toAiSdk(streaming), prompt: "x" }).text).toBe("at last");
  });

  it("does not let the AI SDK retry permanent failures, and throws an error of the AI SDK's class", async () => {
    const model = scripted([fail("auth", { status: 401, message: "no such key", raw: { code: "bad_key" } })]);
    const failed = await generateText({ model: toAiSdk(model), prompt: "x" }).catch(
      (thrown: unknown) => thrown,
    );
    expect(APICallError.isInstance(failed)).toBe(true);
    expect(failed).toMatchObject({ statusCode: 401, isRetryable: false, message: "no such key" });
    expect((failed as Error).cause).toBeInstanceOf(RondoError);
    expect(model.calls).toBe(1);
  });

  it("reports in the stream a failure that comes after a part", async () => {
    const model = scripted([fail("stream_truncated", { afterText: "half an ans" })]);
    const { stream } = await toAiSdk(model).doStream({ prompt: [user("hi")] });
    const parts = await all(stream);
    expect(parts.map(({ type }) => type).slice(-4)).toEqual(["text-delta", "text-end", "error", "finish"]);
    expect(parts.at(-2)).toMatchObject({ error: { name: "AI_APICallError", isRetryable: true } });
    expect(parts.at(-1)).toMatchObject({ finishReason: { unified: "error" } });
  });

  it("stops the model when the AI SDK aborts, before and after the first delta", async () => {
    for (const afterText of [undefined, "some"]) {
      const turn = stall(afterText === undefined ? {} : { afterText });
      const model = scripted([turn]);
      const controller = new AbortController();
      const aborted: boolean[] = [];
      const result = streamText({
        model: toAiSdk(model),
        prompt: "x",
        abortSignal: controller.signal,
        onAbort: () => void aborted.push(true),
      });
      const types: string[] = [];
      const reading = (async () => {
        for await (const chunk of result.fullStream) types.push(chunk.type);
      })();
      await turn.reached;
      controller.abort();
      await reading;
      expect(types.at(-1)).toBe("abort");
      expect(aborted).toEqual([true]);
      await model.idle();
    }
  });

  it("rejects generateText with an AbortError when it is aborted", async () => {
    const turn = stall();
    const controller = new AbortController();
    const running = generateText({
      model: toAiSdk(scripted([turn])),
      prompt: "x",
      abortSignal: controller.signal,
    });
    const failed = expect(running).rejects.toMatchObject({ name: "AbortError" });
    await turn.reached;
    controller.abort();
    await failed;
  });

  it("stops the model if the reader stops", async () => {
    const turn = stall({ afterText: "some" });
    const model = scripted([turn]);
    const { stream } = await toAiSdk(model).doStream({ prompt: [user("hi")] });
    await turn.reached;
    await stream.cancel("enough");
    await model.idle();
    expect(model.calls).toBe(1);
  });

  it("emits warnings at the start, and later ones with the finish", async () => {
    const warn = (code: string) => emit({ type: "warning", code, message: "m" });
    const model = scripted([[warn("early"), say("hi"), warn("late")]]);
    const parts = await all((await toAiSdk(model).doStream({ prompt: [user("hi")] })).stream);
    expect(parts[0]).toEqual({
      type: "stream-start",
      warnings: [{ type: "unsupported", feature: "early", details: "m" }],
    });
    expect(parts.at(-1)).toMatchObject({ providerMetadata: { rondo: { warnings: [{ feature: "late" }] } } });
  });

  it("passes blocks that only their provider understands, and refusals, in both directions", async () => {
    const block = {
      type: "native" as const,
      kind: "server_tool_use",
      opaque: { id: "srv_1", name: "search" },
    };
    const model = scripted(
      [[part(block), say("found"), call("weather", { city: "O" })], refuse("I will not."), say("ok")],
      {
        origin,
      },
    );
    const sdk = toAiSdk(model);
    const first = await generateText({
      model: sdk,
      prompt: "x",
      tools: { weather },
      stopWhen: stepCountIs(2),
    });
    expect(model.lastRequest.messages[1]).toMatchObject({ origin, content: [block, { text: "found" }, {}] });
    expect(first.finishReason).toBe("content-filter");
    await generateText({
      model: sdk,
      messages: [
        { role: "user", content: "x" },
        ...first.responseMessages,
        { role: "user", content: "why?" },
      ],
    });
    expect(model.lastRequest.messages).toContainEqual(
      expect.objectContaining({ content: [{ type: "refusal", text: "I will not." }] }),
    );
  });

  it("reads files of every form, and returns generated ones", async () => {
    const model = scripted([part({ type: "file", mediaType: "image/png", data: "aGk=" })]);
    const result = await generateText({
      model: toAiSdk(model),
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "look" },
            { type: "file", mediaType: "image/png", data: new Uint8Array([104, 105]) },
            { type: "file", mediaType: "application/pdf", data: "aGk=", filename: "a.pdf" },
          ],
        },
      ],
    });
    expect(model.lastRequest.messages.at(0)?.content).toEqual([
      { type: "text", text: "look" },
      { type: "file", mediaType: "image/png", data: "aGk=" },
      { type: "file", mediaType: "application/pdf", data: "aGk=", name: "a.pdf" },
    ]);
    expect(result.files.map(({ base64, mediaType }) => [base64, mediaType])).toEqual([["aGk=", "image/png"]]);
  });

  it("reads a file's bytes of another realm", async () => {
    const model = scripted([say("seen")]);
    const data = runInNewContext("new Uint8Array([104, 105])") as Uint8Array;
    const file = { type: "file" as const, mediaType: "image/png", data };
    await toAiSdk(model).doGenerate({ prompt: [{ role: "user", content: [file as never] }] });
    expect(model.lastRequest.messages.at(0)?.content).toEqual([
      { type: "file", mediaType: "image/png", data: "aGk=" },
    ]);
  });

  const answering = (content: unknown) =>
    toAiSdk({
      id: "x",
      origin,
      call: async (_request, { emit }) => {
        emit({ type: "text_delta", index: 0, text: "here" });
        return { role: "assistant", content, origin, stop: { kind: "end_turn", wire: "end_turn" } } as never;
      },
    });

  it("leaves out a file with an invalid URL, and its answer is still complete", async () => {
    const file = { type: "file", mediaType: "image/png", url: "files/abc" };
    const model = answering([{ type: "text", text: "here" }, file]);
    const { content } = await model.doGenerate({ prompt: [user("x")] });
    expect(content).toEqual([{ type: "text", text: "here" }]);
    const parts = await all((await model.doStream({ prompt: [user("x")] })).stream);
    expect(parts.map(({ type }) => type)).toEqual([
      "stream-start",
      "response-metadata",
      "text-start",
      "text-delta",
      "text-end",
      "finish",
    ]);
  });

  it("reports in the stream that the answer was invalid", async () => {
    const { stream } = await answering(undefined).doStream({ prompt: [user("x")] });
    expect((await all(stream)).map(({ type }) => type).slice(-2)).toEqual(["error", "finish"]);
  });

  it("supports the earlier specification, which the AI SDK accepts too", async () => {
    const model = scripted([...conversation, part({ type: "file", mediaType: "image/png", data: "aGk=" })], {
      origin,
    });
    const sdk: LanguageModel = toAiSdk(model, { specification: "v3" });
    const options = { model: sdk, instructions: "Be brief.", tools: { weather }, stopWhen: stepCountIs(5) };
    expect((await generateText({ ...options, prompt: "Weather in Oslo?" })).text).toBe("21 degrees.");
    expect(model.lastRequest).toMatchObject(secondRequest);
    expect((await generateText({ ...options, prompt: "draw" })).files[0]?.base64).toBe("aGk=");
  });

  it("requests tools and effort in the AI SDK's form", async () => {
    const model = scripted([call("weather", { city: "O" }), call("weather", { city: "O" })]);
    const sdk = toAiSdk(model);
    await generateText({
      model: sdk,
      prompt: "x",
      tools: { weather },
      toolChoice: "required",
      reasoning: "high",
    });
    expect(model.lastRequest).toMatchObject({ toolChoice: "any", settings: { reasoning: "high" } });
    await generateText({
      model: sdk,
      prompt: "x",
      tools: { weather },
      toolChoice: { type: "tool", toolName: "weather" },
      reasoning: "none",
    });
    expect(model.lastRequest).toMatchObject({
      toolChoice: { tool: "weather" },
      settings: { reasoning: "off" },
    });
  });

  it.each(["minimal", "low", "medium", "xhigh", "max"] as const)(
    "requests effort %s as it is",
    async (reasoning) => {
      const model = scripted([say("a")]);
      const { warnings } = await generateText({ model: toAiSdk(model), prompt: "x", reasoning });
      expect([model.lastRequest?.settings.reasoning, warnings]).toEqual([reasoning, []]);
    },
  );

  it("keeps an unchanged tool the same object from call to call", async () => {
    const seen: unknown[] = [];
    const inner = scripted([say("a"), say("b")]);
    const model = toAiSdk({
      ...inner,
      id: "x",
      origin,
      call: (request, io) => {
        seen.push(request.tools[0]);
        return inner.call(request, io);
      },
    });
    const inputSchema = { type: "object", properties: {} };
    const options = { prompt: [user("x")], tools: [{ type: "function", name: "t", inputSchema }] };
    await model.doGenerate(structuredClone(options));
    await model.doGenerate(structuredClone(options));
    expect(seen[0]).toBe(seen[1]);
  });

  it("leaves no parsable arguments of a truncated call", () => {
    const [content] = contentOf(
      {
        role: "assistant",
        origin,
        stop: { kind: "tool_use", wire: "tool_use" },
        content: [{ type: "tool_call", id: "c", name: "t", args: {}, rawArgs: "{}", argsError: "cut" }],
      },
      4,
    );
    expect(() => JSON.parse((content as { input: string }).input)).toThrow();
  });
});

function user(text: string): { role: "user"; content: { type: "text"; text: string }[] } {
  return { role: "user", content: [{ type: "text", text }] };
}

async function all<T>(stream: ReadableStream<T>): Promise<T[]> {
  const parts: T[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}
