// The managed context over the wire: what a provider's status comes to, and what the Anthropic protocol is sent and
// answers.

import {
  Agent,
  type AssistantMessage,
  isPaired,
  type JsonObject,
  type Message,
  type ModelRequest,
  type Part,
  type RunEnd,
  repairHistory,
  userText,
} from "@rondo/core";
import { agentEvents, finalOf, managedContext } from "@rondo/core/presets";
import { describe, expect, it } from "vitest";
import { checkAnthropicRequest } from "../../testkit/src/wire/rules/anthropic.ts";
import { anthropicMessages } from "../src/codecs/anthropic-messages.ts";
import { anthropic, openai } from "../src/index.ts";
import { targetOf } from "./anthropic/feeding.ts";
import { withServer } from "./transport/loopback.ts";

/** What the run's end says of a provider that answers with this status and error. */
async function endOf(status: number, error: JsonObject): Promise<{ end: RunEnd; calls: number }> {
  return withServer(
    (_request, response) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ error }));
    },
    async ({ url, seen }) => {
      const model = openai.chat("gpt-5.2", { apiKey: "key", baseURL: url });
      const options = managedContext({
        model,
        llmRetry: "by_kind",
        llmRetryBaseDelayMs: 1,
        llmMaxRetries: 1,
      });
      const { end } = await new Agent({ ...options, throwOnError: false }).run("go");
      if (end === undefined) throw new Error("it did not end");
      return { end, calls: seen.length };
    },
  );
}

describe("a status", () => {
  it.each([
    [401, "auth", 1],
    [403, "permission", 1],
    [400, "validation", 1],
    [404, "validation", 1],
    [422, "validation", 1],
    [402, "hard_quota", 1],
    [408, "timeout", 2],
    [409, "provider", 2],
    [503, "overloaded", 2],
    [529, "overloaded", 2],
    [429, "rate_limit", 2],
    [500, "provider", 2],
    [502, "provider", 2],
    [504, "provider", 2],
  ])("D7.35 %i is a failure of kind %s, and is requested %i times", async (status, kind, calls) => {
    const played = await endOf(status, { message: "org-secret says no" });
    expect([played.end.evidence.failureKind, played.calls]).toEqual([kind, calls]);
    expect(played.end.error).toMatchObject({ status, retryable: false });
    expect(JSON.stringify(played.end)).not.toContain("org-secret");
  });

  it("D7.35 429 with insufficient_quota is no rate limit, and a server that does not listen is a lost connection", async () => {
    const { end, calls } = await endOf(429, { message: "no money", code: "insufficient_quota" });
    expect([end.evidence.failureKind, calls]).toEqual(["hard_quota", 1]);
    const url = await withServer(
      () => {},
      async (loopback) => loopback.url,
    );
    const model = openai.chat("gpt-5.2", { apiKey: "key", baseURL: url });
    const options = managedContext({ model, llmRetry: "by_kind", llmRetryBaseDelayMs: 1 });
    const lost = await new Agent({ ...options, throwOnError: false }).run("go");
    expect(lost.end?.evidence).toMatchObject({ failureKind: "network", attempts: 3 });
  });
});

const sonnet = targetOf("anthropic-messages", "anthropic", "claude-sonnet-4-5");
const weather = { name: "weather", description: "w", inputSchema: { type: "object", properties: {} } };

function send(messages: readonly Message[], rest: Partial<ModelRequest> = {}): JsonObject {
  const wire = anthropicMessages.encoder(sonnet).encode({
    messages: [...messages],
    tools: [weather],
    toolChoice: "auto",
    settings: { providerOptions: { anthropic: { cache: false } } },
    ...rest,
  });
  const body = JSON.parse(wire.body) as JsonObject;
  expect(checkAnthropicRequest(body)).toEqual([]);
  return body;
}

const call = (id: string, more: Partial<Part & { type: "tool_call" }> = {}): Part => ({
  type: "tool_call",
  id,
  name: "weather",
  args: {},
  rawArgs: "{}",
  ...more,
});
const answered = (...content: Part[]): AssistantMessage => ({
  role: "assistant",
  content,
  origin: sonnet.origin,
  stop: { kind: "tool_use", wire: "tool_use" },
});
const result = (callId: string): Message => ({
  role: "tool",
  callId,
  name: "weather",
  content: [{ type: "text", text: `of ${callId}` }],
  isError: false,
});
type Sent = { role: string; content: JsonObject[] }[];
const sent = (body: JsonObject): Sent => body.messages as unknown as Sent;

describe("the Anthropic protocol", () => {
  it("D10.52 gets consecutive tool results as one user message", () => {
    const messages = sent(send([userText("go"), answered(call("a"), call("b")), result("a"), result("b")]));
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(messages[2]?.content.map((block) => block.tool_use_id)).toEqual(["a", "b"]);
  });

  it("D10.52 never gets a call without a result: it is left out if repair is set so, and gets a result otherwise", () => {
    const history = [
      userText("go"),
      answered({ type: "text", text: "I look." }, call("a")),
      userText("well?"),
    ];
    const dropped = sent(send(repairHistory(history, { unanswered: "drop" })));
    expect(JSON.stringify(dropped)).not.toContain("tool_use");
    expect(dropped[1]?.content).toEqual([{ type: "text", text: "I look." }]);
    const closed = sent(send(history));
    expect(closed[2]?.content[0]).toMatchObject({ type: "tool_result", tool_use_id: "a", is_error: true });
  });

  it("D10.52 gets consecutive answers with calls as one, if repair is set so", () => {
    const history = [userText("go"), answered(call("a")), answered(call("b")), result("a"), result("b")];
    const merged = repairHistory(history, { neighbours: "merge" });
    expect(isPaired([...merged])).toBe(true);
    const messages = sent(send(merged));
    const roles = messages.map(({ role }) => role);
    expect(roles.every((role, at) => role !== roles[at - 1])).toBe(true);
    const blocks = messages.flatMap(({ content }) => content);
    expect(blocks.filter((block) => block.type === "tool_use").map((block) => block.id)).toEqual(["a", "b"]);
    expect(blocks.filter((block) => block.type === "tool_result").map((block) => block.tool_use_id)).toEqual([
      "a",
      "b",
    ]);
  });

  it("D10.52 gets arguments that are not JSON as an object, and the model reads its own text in the result", async () => {
    const bad = call("a", { rawArgs: '{"city": Ro', argsError: "not JSON" });
    const messages = sent(send([userText("go"), answered(bad), result("a")]));
    expect(messages[1]?.content[0]).toMatchObject({ type: "tool_use", input: {} });
    const { badJson } =
      managedContext({ model: anthropic("claude-sonnet-4-5", { apiKey: "key" }) }).texts ?? {};
    expect(badJson?.("weather", "not JSON", '{"city": Ro')).toContain('{"city": Ro');
  });

  it("D10.52 gets all system texts, separated", () => {
    const system: Message = { role: "system", content: [{ type: "text", text: "second" }] };
    const body = send([system, userText("go")], { system: "first" });
    expect(body.system).toEqual([
      { type: "text", text: "first" },
      { type: "text", text: "second" },
    ]);
  });

  it("D10.52 gets a tool choice in its own form", () => {
    const choice = (toolChoice: ModelRequest["toolChoice"]): unknown =>
      send([userText("go")], { toolChoice }).tool_choice;
    expect(choice("any")).toMatchObject({ type: "any" });
    expect(choice({ tool: "weather" })).toMatchObject({ type: "tool", name: "weather" });
    // Left out, tools would be chosen; said, they are not.
    expect(choice("none")).toMatchObject({ type: "none" });
    expect(send([userText("go")], { toolChoice: "none", tools: [] }).tool_choice).toBeUndefined();
  });

  it("D10.52 shows a refusal without words in our words, and counts tokens read from and written to the cache as input", async () => {
    const answer = {
      id: "m",
      type: "message",
      role: "assistant",
      model: "claude-sonnet-4-5",
      content: [],
      stop_reason: "refusal",
      usage: {
        input_tokens: 10,
        output_tokens: 3,
        cache_read_input_tokens: 200,
        cache_creation_input_tokens: 30,
      },
    };
    await withServer(
      (_request, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify(answer));
      },
      async ({ url }) => {
        const model = anthropic("claude-sonnet-4-5", { apiKey: "key", baseURL: url, stream: false });
        const stream = new Agent(managedContext({ model })).stream("go");
        expect(await finalOf(agentEvents(stream))).toBe(
          "This request was declined by Anthropic's safety classifier.",
        );
        const again = await new Agent(managedContext({ model })).run("go");
        expect(again.usage).toMatchObject({
          inputTokens: 240,
          outputTokens: 3,
          cachedInputTokens: 200,
          cacheWriteTokens: 30,
        });
      },
    );
  });
});
