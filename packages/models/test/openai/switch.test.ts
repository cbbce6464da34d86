import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { AssistantMessage, Json, Message, Model, ModelRequest, ToolDefinition } from "@rondo/core";
import { checkOpenaiChatRequest, checkOpenaiResponsesRequest, type Violation } from "@rondo/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openaiChat } from "../../src/codecs/openai-chat.ts";
import { openaiResponses } from "../../src/codecs/openai-responses.ts";
import { createModel } from "../../src/index.ts";

// A server that speaks both protocols, answers each request with one more call, and refuses what the providers refuse.
let server: Server;
let base: string;
const refused: Violation[] = [];
const bodies: { path: string; body: string }[] = [];

function chatAnswer(n: number): string {
  const deltas = [
    { reasoning_content: `thought ${n}` },
    { content: "Let me see." },
    {
      tool_calls: [
        { index: 0, id: `chat_${n}`, type: "function", function: { name: "look", arguments: '{"n":' } },
      ],
    },
    { tool_calls: [{ index: 0, function: { arguments: `${n}}` } }] },
  ];
  const frames: Json[] = deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] }));
  frames.push({ choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] });
  return `${frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("")}data: [DONE]\n\n`;
}

function responsesAnswer(n: number): string {
  const output = [
    { type: "reasoning", id: `rs_${n}`, encrypted_content: "E", summary: [] },
    {
      type: "function_call",
      id: `fc_${n}`,
      call_id: `resp_${n}`,
      name: "look",
      arguments: `{"n":${n}}`,
      status: "completed",
    },
  ];
  const events = [
    ...output.map((item, output_index) => ({ type: "response.output_item.done", output_index, item })),
    { type: "response.completed", response: { status: "completed", output } },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

beforeAll(async () => {
  server = createServer((asked, answer) => {
    let body = "";
    asked.setEncoding("utf8");
    asked.on("data", (piece: string) => {
      body += piece;
    });
    asked.on("end", () => {
      const path = asked.url ?? "";
      bodies.push({ path, body });
      const isChat = path.endsWith("/chat/completions");
      const violations = isChat ? checkOpenaiChatRequest(body) : checkOpenaiResponsesRequest(body);
      refused.push(...violations);
      if (violations.length > 0) {
        answer.writeHead(400, { "content-type": "application/json" });
        answer.end(
          JSON.stringify({ error: { message: violations[0]?.message, type: "invalid_request_error" } }),
        );
        return;
      }
      answer.writeHead(200, { "content-type": "text/event-stream" });
      answer.end(isChat ? chatAnswer(bodies.length) : responsesAnswer(bodies.length));
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});

afterAll(() => new Promise<void>((closed) => server.close(() => closed())));

test("a history that three models of two protocols write in turn stays valid, and each gets back only its own opaque data", async () => {
  const make = (provider: string, chat: boolean): Model =>
    createModel({
      provider,
      model: "m",
      codec: chat ? openaiChat : openaiResponses,
      baseURL: base,
      apiKey: "k",
      compat: chat ? { echoReasoning: "reasoning_content" } : {},
    });
  const models = [make("a", true), make("b", false), make("c", true)];
  const tools: ToolDefinition[] = [
    {
      name: "look",
      description: "Looks.",
      inputSchema: { type: "object", properties: { n: { type: "integer" } } },
    },
  ];
  const messages: Message[] = [{ role: "user", content: [{ type: "text", text: "go" }] }];
  for (let step = 0; step < 9; step++) {
    const request: ModelRequest = {
      system: "S",
      messages: [...messages],
      tools,
      toolChoice: "auto",
      settings: {},
    };
    const answer: AssistantMessage = await models[step % 3]!.call(request, {
      signal: new AbortController().signal,
      emit: () => {},
    });
    expect(answer.stop.kind).toBe("tool_use");
    const call = answer.content.find((part) => part.type === "tool_call");
    expect(call).toMatchObject({ name: "look", args: { n: step + 1 } });
    messages.push(answer, {
      role: "tool",
      callId: call?.id ?? "",
      name: "look",
      isError: false,
      content: [{ type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" }],
    });
  }
  expect(refused).toEqual([]);
  const last = (at: number): string => bodies.at(at)?.body ?? "";
  // The third model's last request: its own thoughts of steps 3 and 6, nobody else's.
  expect(last(-1).match(/thought \d/g)).toEqual(["thought 3", "thought 6"]);
  expect(last(-2).match(/rs_\d/g)).toEqual(["rs_2", "rs_5"]);
  expect(last(-2)).not.toMatch(/thought/);
});
