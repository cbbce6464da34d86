// The plain loop over real sockets: what its clients send and make of the answers, and the neutral data on the wire.

import { Agent, callsOf, type Json, type JsonObject, type Tool, textOf, tool } from "@rondo/core";
import { thinkActObserve } from "@rondo/core/presets";
import { call, say } from "@rondo/testkit";
import { afterEach, describe, expect, test } from "vitest";
import { checkGoogleRequest } from "../../testkit/src/wire/rules/google.ts";
import { anthropic, classicGemini, google, ollama } from "../src/index.ts";
import { serve } from "./end-to-end/stack.ts";
import { errorFrom, type Loopback, withServer } from "./transport/loopback.ts";

const read: Tool = tool({
  name: "read_file",
  description: "Reads a file",
  inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  execute: ({ path }) => `text of ${path}`,
});
const body = ({ seen }: Loopback, at: number): JsonObject => JSON.parse(seen[at]?.body ?? "{}") as JsonObject;

/** Plays one JSON body for each request. */
function withBodies<T>(bodies: readonly Json[], use: (loopback: Loopback) => Promise<T>): Promise<T> {
  let at = 0;
  return withServer((_request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(bodies[at++]));
  }, use);
}

const gemini = (parts: Json[], finishReason = "STOP"): Json => ({
  candidates: [{ content: { role: "model", parts }, finishReason }],
  usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 },
});
const functionCall = (name: string, args: Json = {}): Json => ({ functionCall: { name, args } });

/** A run of the plain loop over the classic client. */
function play(bodies: readonly Json[], tools: readonly Tool[] = [read]) {
  return withBodies(bodies, async (loopback) => {
    const model = classicGemini({ apiKey: "key", baseURL: loopback.url, keepRaw: true });
    const result = await new Agent(thinkActObserve({ model, tools })).run("go");
    const sent = loopback.seen.map((_request, at) => body(loopback, at));
    for (const one of sent) expect(checkGoogleRequest(one)).toEqual([]);
    return { result, sent, seen: loopback.seen };
  });
}

afterEach(() => {
  delete process.env.GEMINI_API_KEY;
});

describe("neutral data", () => {
  test("A1.1 an answer has text, calls, tool_use or end_turn, and on request what the provider sent", async () => {
    const bodies = [gemini([functionCall("read_file", { path: "a" })]), gemini([{ text: "done" }])];
    const { result } = await play(bodies);
    const answers = result.messages.filter((message) => message.role === "assistant");
    expect(
      answers.map((answer) => [textOf(answer), callsOf(answer).length, answer.stop.wire, answer.raw]),
    ).toEqual([
      ["", 1, "tool_use", bodies[0]],
      ["done", 0, "end_turn", bodies[1]],
    ]);
  });

  test("A1.1 for a stream that is the list of its events, and without the request there is none", async () => {
    for (const keepRaw of [true, false]) {
      const wire = await serve([say("hello")], { chunk: 2 });
      const model = anthropic("claude-sonnet-5", { apiKey: "k", baseURL: wire.urlFor("anthropic"), keepRaw });
      const { messages } = await new Agent({ model }).run("go");
      const raw = messages[1]?.role === "assistant" ? messages[1].raw : undefined;
      if (keepRaw) expect((raw as JsonObject[])[0]?.type).toBe("message_start");
      else expect(raw).toBeUndefined();
    }
  });

  test("A1.3 a client names its provider, gets messages, tools and a system prompt, and sends answers and results in its own form", async () => {
    const wire = await serve([call("read_file", { path: "a" }, { id: "toolu_1" }), say("done")]);
    const model = anthropic("claude-sonnet-5", { apiKey: "k", baseURL: wire.urlFor("anthropic") });
    expect(model.origin.provider).toBe("anthropic");
    await new Agent(thinkActObserve({ model, tools: [read], system: "Be brief." })).run("go");
    const [first, second] = wire.requests.map(({ text }) => JSON.parse(text) as JsonObject);
    expect(JSON.stringify(first?.system)).toContain("Be brief.");
    expect(first?.tools).toHaveLength(1);
    const [, answer, result] = (second?.messages ?? []) as [Json, JsonObject, JsonObject];
    expect(answer).toMatchObject({
      role: "assistant",
      content: [{ type: "tool_use", id: "toolu_1", name: "read_file" }],
    });
    expect(result).toMatchObject({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "toolu_1" }],
    });
    expect(JSON.stringify(result)).toContain("text of a");
  });

  test("A1.5 a tool is sent to the model as name, description and input_schema", async () => {
    const wire = await serve([say("done")]);
    const model = anthropic("claude-sonnet-5", { apiKey: "k", baseURL: wire.urlFor("anthropic") });
    await new Agent(thinkActObserve({ model, tools: [read] })).run("go");
    const { tools } = JSON.parse(wire.requests[0]?.text ?? "{}") as { tools: JsonObject[] };
    expect(tools[0]).toMatchObject({
      name: "read_file",
      description: "Reads a file",
      input_schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    });
  });
});

describe("the classic Gemini", () => {
  test.each(["STOP", "MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL", "OTHER"])(
    "A4.21 has tool_use if a part is a call and end_turn if none is, whatever the finish reason is: %s",
    async (finishReason) => {
      const { result } = await play([
        gemini([functionCall("read_file", { path: "a" })], finishReason),
        gemini([{ text: "done" }], finishReason),
      ]);
      expect(result).toMatchObject({ text: "done", toolCalls: 1, end: { reason: "completed" } });
      const stops = result.messages.flatMap((one) => (one.role === "assistant" ? [one.stop] : []));
      expect(stops).toEqual([
        { kind: "tool_use", wire: "tool_use", raw: finishReason },
        { kind: "end_turn", wire: "end_turn", raw: finishReason },
      ]);
    },
  );

  test("ignores values in place of a part or a call that are none", async () => {
    const parts = [null, "x", 5, { functionCall: null }, { functionCall: "f" }, { text: "so" }] as never[];
    const { result } = await play([gemini(parts), gemini([{ text: "done" }])]);
    expect(result).toMatchObject({ text: "so", toolCalls: 0, end: { reason: "completed" } });
  });

  test("A4.21 the ordinary Gemini runs its calls too, streamed", async () => {
    const wire = await serve([call("read_file", { path: "a" }), say("done")]);
    const model = google("gemini-3-pro", { apiKey: "k", baseURL: wire.urlFor("google") });
    const result = await new Agent(thinkActObserve({ model, tools: [read] })).run("go");
    expect(result).toMatchObject({ text: "done", toolCalls: 1 });
  });

  test("A4.22 makes ids up, takes missing arguments for none, the last text for the text, and a part with text for text", async () => {
    const now = tool({
      name: "now",
      description: "The time",
      inputSchema: { type: "object" },
      execute: () => "noon",
    });
    const { result } = await play(
      [
        gemini([
          { text: "first" },
          functionCall("now", null),
          { text: "second", functionCall: { name: "now", args: {} } },
          functionCall("now"),
          { text: "third" },
        ]),
        gemini([{ text: "one" }, { text: "two" }]),
      ],
      [now],
    );
    const [, first] = result.messages;
    const calls = first?.role === "assistant" ? callsOf(first) : [];
    expect(calls.map(({ name, args, argsError }) => [name, args, argsError])).toEqual([
      ["now", {}, undefined],
      ["now", {}, undefined],
    ]);
    for (const { id } of calls) expect(id).toMatch(/^call_[0-9a-f]{8}$/);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
    expect(first && textOf(first)).toBe("third");
    expect([result.text, result.toolCalls]).toEqual(["two", 2]);
  });

  test.each<[string, Json]>([
    ["no candidates", {}],
    ["an empty list of them", { candidates: [] }],
    ["a candidate without content", { candidates: [{ finishReason: "STOP" }] }],
    ["a block", { promptFeedback: { blockReason: "SAFETY" } }],
  ])("A4.22 takes %s for the end of the turn, without a text", async (_what, answer) => {
    const { result, sent } = await play([answer]);
    expect(result).toMatchObject({
      text: "",
      end: { reason: "completed", evidence: { steps: 1 } },
      steps: 1,
    });
    // Of no parts at all there is nothing to store: no provider would take it again.
    expect(result.messages).toEqual([{ role: "user", content: [{ type: "text", text: "go" }] }]);
    expect(sent).toHaveLength(1);
  });

  test("A4.22 an error in a body is an error", async () => {
    const failing = play([{ error: { code: 503, message: "overloaded", status: "UNAVAILABLE" } }]);
    expect((await errorFrom(failing)).kind).toBe("overloaded");
  });

  test("A4.23 sends one tool with all declarations and the schemas unchanged, the default system prompt, and leaves calling to the loop", async () => {
    const { sent, seen } = await play([
      gemini([functionCall("read_file", { path: "a" })]),
      gemini([{ text: "done" }]),
    ]);
    expect(seen[0]?.url).toContain("/models/gemini-2.5-flash:generateContent");
    expect(sent[0]?.tools).toEqual([
      {
        functionDeclarations: [
          {
            name: "read_file",
            description: "Reads a file",
            parametersJsonSchema: read.definition.inputSchema,
          },
        ],
      },
    ]);
    expect(sent[0]?.systemInstruction).toEqual({
      parts: [
        {
          text: "You are a helpful coding assistant. Use tools when needed to accomplish the user's request.",
        },
      ],
    });
    expect(sent[0]).not.toHaveProperty("toolConfig");
    expect(sent[1]?.contents).toEqual([
      { role: "user", parts: [{ text: "go" }] },
      { role: "model", parts: [{ functionCall: { name: "read_file", args: { path: "a" } } }] },
      {
        role: "user",
        parts: [{ functionResponse: { name: "read_file", response: { result: "text of a" } } }],
      },
    ]);
  });

  test("A4.23 a failed result is a result; without tools none are sent; an empty answer is not sent back", async () => {
    const failed = await play([gemini([functionCall("nowhere")]), gemini([{ text: "done" }])], []);
    expect(failed.sent[0]).not.toHaveProperty("tools");
    expect(JSON.stringify(failed.sent[1]?.contents)).toContain(
      '"response":{"result":"Error: Unknown tool: nowhere"}',
    );
    await withBodies([{}, gemini([{ text: "two" }])], async (loopback) => {
      const agent = new Agent(
        thinkActObserve({ model: classicGemini({ apiKey: "k", baseURL: loopback.url }) }),
      );
      await agent.run("first", { session: "s" });
      expect((await agent.run("second", { session: "s" })).text).toBe("two");
      const turns = body(loopback, 1).contents as { role: string; parts: Json[] }[];
      expect(turns.filter(({ role }) => role === "model")).toEqual([]);
      expect(turns.flatMap(({ parts }) => parts)).toEqual([{ text: "first" }, { text: "second" }]);
    });
  });

  test("A4.23 needs a key at once, from an option or the environment", async () => {
    const missing =
      "GEMINI_API_KEY is required. Set it as an environment variable or pass it to the constructor.";
    for (const given of [{}, { apiKey: "" }, { apiKey: " " }])
      expect(() => classicGemini(given)).toThrow(expect.objectContaining({ message: missing }));
    expect(classicGemini({ apiKey: "k" }).origin).toEqual({
      api: "google-generative-ai",
      provider: "google",
      model: "gemini-2.5-flash",
    });
    process.env.GEMINI_API_KEY = "from-the-environment";
    await withBodies([gemini([{ text: "done" }])], async ({ url, seen }) => {
      const agent = new Agent(
        thinkActObserve({ model: classicGemini({ baseURL: url, model: "gemini-3-pro" }) }),
      );
      await agent.run("go");
      expect(seen[0]?.headers["x-goog-api-key"]).toBe("from-the-environment");
      expect(seen[0]?.url).toContain("gemini-3-pro");
    });
  });
});

describe("the classic Llama", () => {
  test("A1.3 A4.27 the same loop over the prompted protocol: results go back as the user's JSON with the tool's name", async () => {
    const answer = (content: Json): Json => ({
      message: { role: "assistant", content: JSON.stringify(content) },
      done: true,
    });
    const bodies = [
      answer({ thought: "look", tool_call: { name: "read_file", input: { path: "a" } } }),
      answer({ thought: "", response: "done" }),
    ];
    await withBodies(bodies, async (loopback) => {
      const strict = {
        toolProtocol: "prompted",
        prompted: { mode: "strict" },
        stream: false,
        format: "json",
      } as const;
      const model = ollama("llama3.2", { baseURL: loopback.url, ...strict });
      const result = await new Agent(thinkActObserve({ model, tools: [read] })).run("go");
      expect(result).toMatchObject({ text: "done", toolCalls: 1 });
      const { messages } = body(loopback, 1) as { messages: { role: string; content: string }[] };
      expect(JSON.parse(messages.at(-1)?.content ?? "")).toEqual({
        tool_result: { name: "read_file", result: "text of a" },
      });
    });
  });
});
