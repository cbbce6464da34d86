import type { Json, JsonObject } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { checkOpenaiChatRequest } from "../src/wire/rules/openai-chat.ts";
import { checkOpenaiResponsesRequest } from "../src/wire/rules/openai-responses.ts";

describe("the rules themselves", () => {
  test.each<[string, Json, RegExp]>([
    [
      "an open call",
      {
        model: "m",
        messages: [
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
          },
          { role: "user", content: "x" },
        ],
      },
      /did not have response messages: a/,
    ],
    [
      "an orphan result",
      { model: "m", messages: [{ role: "tool", tool_call_id: "a", content: "x" }] },
      /must be a response to a preceding message/,
    ],
    [
      "an empty list of calls",
      { model: "m", messages: [{ role: "assistant", content: "x", tool_calls: [] }] },
      /empty array/,
    ],
    [
      "an empty list of tools",
      { model: "m", tools: [], messages: [{ role: "user", content: "x" }] },
      /too short/,
    ],
    [
      "an image in a result",
      {
        model: "m",
        messages: [
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
          },
          {
            role: "tool",
            tool_call_id: "a",
            content: [{ type: "image_url", image_url: { url: "https://a" } }],
          },
        ],
      },
      /only allowed for messages with role 'user'/,
    ],
    [
      "bad arguments",
      {
        model: "m",
        messages: [
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "" } }],
          },
          { role: "tool", tool_call_id: "a", content: "x" },
        ],
      },
      /Failed to parse/,
    ],
    [
      "a long name",
      {
        model: "m",
        tools: [
          {
            type: "function",
            function: { name: "x".repeat(67), parameters: { type: "object", properties: {} } },
          },
        ],
        messages: [{ role: "user", content: "x" }],
      },
      /maximum length 64, but got a string with length 67/,
    ],
    [
      "a schema without properties",
      {
        model: "m",
        tools: [{ type: "function", function: { name: "x", parameters: { type: "object" } } }],
        messages: [{ role: "user", content: "x" }],
      },
      /missing properties/,
    ],
    [
      "an unknown field",
      { model: "m", messages: [{ role: "user", content: "x", timestamp: 1 }] },
      /'timestamp' is unsupported/,
    ],
  ])("Chat Completions refuses %s", (_, body, words) => {
    expect(
      checkOpenaiChatRequest(body)
        .map((one) => one.message)
        .join("\n"),
    ).toMatch(words);
  });

  test("Chat Completions takes an answer back as it was sent", () => {
    const answer = { role: "assistant", content: "hi", refusal: null, annotations: [] };
    const body = {
      model: "m",
      messages: [{ role: "user", content: "x" }, answer, { role: "user", content: "y" }],
    };
    expect(checkOpenaiChatRequest(body)).toEqual([]);
  });

  test.each<[string, Json, RegExp]>([
    [
      "reasoning alone",
      [{ type: "reasoning", id: "rs_1", summary: [] }],
      /without its required following item/,
    ],
    [
      "an open call",
      [{ type: "function_call", call_id: "a", name: "f", arguments: "{}" }],
      /No tool output found/,
    ],
    ["an orphan output", [{ type: "function_call_output", call_id: "a", output: "x" }], /No tool call found/],
    [
      "a foreign id",
      [
        { type: "function_call", id: "call_1", call_id: "a", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "a", output: "x" },
      ],
      /begins with 'fc'/,
    ],
    [
      "a long call id",
      [{ type: "function_call", call_id: "a".repeat(446), name: "f", arguments: "{}" }],
      /got a string with length 446/,
    ],
    [
      "an id with a colon",
      [{ type: "message", id: "msg_1:2", role: "assistant", content: [{ type: "output_text", text: "x" }] }],
      /letters, numbers, underscores, or dashes/,
    ],
    [
      "a status of reasoning",
      [
        { type: "reasoning", id: "rs_1", summary: [], status: "completed" },
        { role: "assistant", content: "x" },
      ],
      /Unknown parameter: 'input\[0\].status'/,
    ],
    ["a reference to what is not stored", [{ type: "item_reference", id: "rs_1" }], /not persisted/],
  ])("Responses refuses %s", (_, input, words) => {
    expect(
      checkOpenaiResponsesRequest({ model: "m", input, store: false })
        .map((one) => one.message)
        .join("\n"),
    ).toMatch(words);
  });

  test.each<[string, JsonObject]>([
    ["a text as its input", { input: "What is the weather?" }],
    [
      "an output whose call the server holds",
      {
        previous_response_id: "resp_1",
        input: [{ type: "function_call_output", call_id: "a", output: "x" }],
      },
    ],
    ["nothing new in a conversation that the server holds", { conversation: "conv_1", input: [] }],
    [
      "a reference to what is stored, as it is where nothing is said",
      { input: [{ type: "item_reference", id: "rs_1" }] },
    ],
  ])("Responses takes %s", (_, body) => {
    expect(checkOpenaiResponsesRequest({ model: "m", ...body })).toEqual([]);
  });

  const parameters = { type: "object", properties: {} };
  const chat = (name: string): JsonObject => ({ type: "function", function: { name } });
  const flat = (name: string): JsonObject => ({ type: "function", name });
  const allowed = (tools: Json): JsonObject => ({ mode: "auto", tools });
  test.each<[string, (choice: JsonObject) => Json, JsonObject, JsonObject]>([
    ["Chat Completions forces a tool", (tool_choice) => chatWith({ tool_choice }), chat("f"), chat("g")],
    [
      "Chat Completions allows tools",
      (tool_choice) => chatWith({ tool_choice }),
      { type: "allowed_tools", allowed_tools: allowed([chat("f")]) },
      { type: "allowed_tools", allowed_tools: allowed([chat("f"), chat("g")]) },
    ],
    ["Responses forces a tool", (tool_choice) => responsesWith({ tool_choice }), flat("f"), flat("g")],
    [
      "Responses allows tools",
      (tool_choice) => responsesWith({ tool_choice }),
      { type: "allowed_tools", ...allowed([flat("f")]) },
      { type: "allowed_tools", ...allowed([flat("f"), flat("g")]) },
    ],
  ])("%s only where it is declared", (_, bodyWith, good, bad) => {
    const check = (body: Json) =>
      "input" in (body as JsonObject) ? checkOpenaiResponsesRequest(body) : checkOpenaiChatRequest(body);
    expect(check(bodyWith(good))).toEqual([]);
    expect(check(bodyWith(bad))).toEqual([
      {
        path: "tool_choice",
        message:
          "Invalid value for 'tool_choice': no function named 'g' was specified in the 'tools' parameter.",
      },
    ]);
  });

  function chatWith(more: JsonObject): Json {
    const tools = [{ type: "function", function: { name: "f", parameters } }];
    return { model: "m", messages: [{ role: "user", content: "x" }], tools, ...more };
  }

  function responsesWith(more: JsonObject): Json {
    return { model: "m", input: "x", tools: [{ type: "function", name: "f", parameters }], ...more };
  }

  test("a body with half a surrogate pair is refused, in any disguise but text about one", () => {
    const messages = (text: string): string =>
      `{"model":"m","messages":[{"role":"user","content":"${text}"}]}`;
    expect(checkOpenaiChatRequest(messages("a\\ud83d"))[0]?.message).toMatch(/surrogate/);
    expect(checkOpenaiChatRequest(JSON.parse(messages("a\\ud83d")))).toEqual([
      { path: "messages[0].content", message: expect.stringMatching(/surrogate/) },
    ]);
    expect(checkOpenaiChatRequest(messages("a\\ud83d\\ude00"))).toEqual([]);
    expect(checkOpenaiChatRequest(messages("a\\\\ud83d"))).toEqual([]);
  });
});
