// What a refusal shows of a server is kept for its model: the same complaint does not come again (F104, F134).

import { Agent, type Message } from "@rondo/core";
import { say } from "@rondo/testkit";
import { raw } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { openaiChat } from "../src/codecs/openai-chat.ts";
import { openaiCompatible } from "../src/index.ts";
import { serve } from "./end-to-end-stack.ts";

const refusal = (error: object): { status: number; header: () => null; body: string } => ({
  status: 400,
  header: () => null,
  body: JSON.stringify({ error: { type: "invalid_request_error", ...error } }),
});
const told = (error: object, compat: object = {}): object | undefined =>
  openaiChat.learned?.(refusal(error), {
    origin: { api: "openai-chat", provider: "p", model: "m" },
    facts: {},
    compat: compat as never,
  });

describe("a refusal tells of a quirk", () => {
  it.each([
    "The `reasoning_content` in the thinking mode must be passed back to the API.",
    "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
    "Missing `reasoning_content` field in the assistant message at message index 2",
  ])("that reasoning must come back: %s", (message) => {
    const echo = { echoReasoning: "reasoning_content", reasoningFill: "" };
    expect(told({ message })).toEqual(echo);
    // Where the empty text was sent already, it counts as missing; a space does not.
    expect(told({ message }, echo)).toEqual({ ...echo, reasoningFill: " " });
    expect(told({ message }, { ...echo, reasoningFill: " " })).toBeUndefined();
  });

  it("that the output limit has the other name, whichever that is", () => {
    const max_tokens =
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    expect(told({ message: max_tokens }, { maxTokensField: "max_tokens" })).toEqual({
      maxTokensField: "max_completion_tokens",
    });
    expect(told({ message: max_tokens })).toBeUndefined();
    const completion = "Unsupported parameter: 'max_completion_tokens'. Use 'max_tokens' instead.";
    expect(told({ message: completion })).toEqual({ maxTokensField: "max_tokens" });
  });

  it.each([
    "Unrecognized request argument supplied: stream_options",
    "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted'}]",
    "Extra inputs are not permitted, field: 'stream_options'",
    "unknown field `stream_options`, expected one of `model`, `messages`",
    "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
  ])("that nobody counts in a stream: %s", (message) => {
    expect(told({ message })).toEqual({ streamUsage: false });
    expect(told({ message }, { streamUsage: false })).toBeUndefined();
  });

  it("that a setting is not known, where the code says so; a value that is refused is no quirk", () => {
    const message = "Unsupported parameter: 'temperature' is not supported with this model.";
    const code = "unsupported_parameter";
    expect(told({ message, code, param: "temperature" }, { omit: ["store"] })).toEqual({
      omit: ["store", "temperature"],
    });
    expect(told({ message, code, param: "temperature" }, { omit: ["temperature"] })).toBeUndefined();
    expect(told({ message, code: "unsupported_value", param: "temperature" })).toBeUndefined();
    expect(told({ message, code, param: "messages" })).toBeUndefined();
  });
});

const refused = (error: object): ReturnType<typeof raw> =>
  raw(refusal(error).body, { status: 400, headers: { "content-type": "application/json" } });

describe("a model that learned", () => {
  const other = refused({
    message: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
  });
  const limits = (requests: readonly { body: unknown }[]): string[] =>
    requests.map(({ body }) => /"max_(?:completion_)?tokens":\d+/.exec(JSON.stringify(body))?.[0] ?? "none");

  it("asks again at once, keeps the limit, and does not ask the old way in a later run", async () => {
    const wire = await serve([other, say("one"), say("two")]);
    const model = openaiCompatible({
      apiKey: "k",
      baseURL: wire.url,
      model: "m",
      compat: { maxTokensField: "max_tokens" },
    });
    const agent = new Agent({ model, settings: { maxOutputTokens: 64 } });
    expect((await agent.run("go")).text).toBe("one");
    expect((await agent.run("go")).text).toBe("two");
    expect(limits(wire.requests)).toEqual([
      '"max_tokens":64',
      '"max_completion_tokens":64',
      '"max_completion_tokens":64',
    ]);
  });

  it("asks no third time when it is refused again", async () => {
    const wire = await serve([other, other, say("never asked")]);
    const model = openaiCompatible({
      apiKey: "k",
      baseURL: wire.url,
      model: "m",
      compat: { maxTokensField: "max_tokens" },
    });
    const { end } = await new Agent({ model, settings: { maxOutputTokens: 64 } }).run("go");
    expect(end).toMatchObject({ reason: "error", error: { kind: "invalid_request" } });
    expect(wire.requests).toHaveLength(2);
  });

  it("sends reasoning back to a server that wants it, and has none of a foreign answer", async () => {
    const wire = await serve([
      refused({ message: "Missing `reasoning_content` field in the assistant message at message index 2" }),
      say("done"),
    ]);
    const model = openaiCompatible({
      apiKey: "k",
      baseURL: wire.url,
      model: "m",
      provider: "somebodys-cloud",
    });
    const origin = { api: "openai-chat", provider: "somebodys-cloud", model: "m" };
    const stop = { kind: "tool_use", wire: "tool_use" } as const;
    const called = (id: string): Message["content"] =>
      [{ type: "tool_call", id, name: "g", args: {}, rawArgs: "{}" }] as never;
    const result = (callId: string): Message => ({
      role: "tool",
      callId,
      name: "g",
      content: [{ type: "text", text: "ok" }],
      isError: false,
    });
    const history = [
      { role: "user", content: [{ type: "text", text: "go" }] },
      { role: "assistant", origin, stop, content: [{ type: "reasoning", text: "hm" }, ...called("a")] },
      result("a"),
      { role: "assistant", origin: { ...origin, model: "another" }, stop, content: called("b") },
      result("b"),
    ] as Message[];
    const { end } = await new Agent({ model }).run(history);
    expect(end?.reason).toBe("completed");
    const sent = wire.requests.map(({ body }) =>
      (body as { messages: { role: string; reasoning_content?: string }[] }).messages
        .filter((message) => message.role === "assistant")
        .map((message) => message.reasoning_content),
    );
    expect(sent).toEqual([
      [undefined, undefined],
      ["hm", ""],
    ]);
  });
});
