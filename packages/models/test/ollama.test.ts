import type { ServerResponse } from "node:http";
import { Agent, type JsonObject, type Message, type ModelRequest, tool, userText } from "@rondo/core";
import { afterEach, describe, expect, it, test } from "vitest";
import { ollama, ollamaURL } from "../src/index.ts";
import { defaultClocks } from "../src/transport/http.ts";
import { ask, hear, weather } from "./prompted/model.ts";
import { drip, errorFrom, type Handler, type Seen, withServer } from "./transport/loopback.ts";

const line = (message: JsonObject, more: JsonObject = {}): string =>
  `${JSON.stringify({ model: "m", created_at: "2026-01-01T00:00:00Z", message: { role: "assistant", ...message }, done: false, ...more })}\n`;
const done = (more: JsonObject = {}): string =>
  line({ content: "" }, { done: true, done_reason: "stop", prompt_eval_count: 26, eval_count: 5, ...more });

/** Plays an Ollama server: one answer a request, in pieces that are cut anywhere. */
function playing(...answers: readonly string[][]): Handler {
  let at = 0;
  return (_request, response) => {
    const lines = answers[Math.min(at++, answers.length - 1)] ?? [];
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    const bytes = Buffer.from(lines.join(""));
    const pieces: Uint8Array[] = [];
    for (let from = 0; from < bytes.length; from += 11) pieces.push(bytes.subarray(from, from + 11));
    drip(response, pieces, () => response.end());
  };
}

function refusing(status: number, error: string): (response: ServerResponse) => void {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ error }));
  };
}

const body = (seen: Seen | undefined): JsonObject => JSON.parse(seen?.body ?? "{}") as JsonObject;
const io = { signal: new AbortController().signal, emit: (): void => {} };

const variables = ["OLLAMA_BASE_URL", "OLLAMA_HOST", "OLLAMA_API_KEY"];
afterEach(() => {
  for (const name of variables) delete process.env[name];
});

describe("Ollama's own chat", () => {
  it("joins the pieces of a call's arguments, as Docker's Model Runner sends them", async () => {
    const piece = (call: JsonObject): string => line({ content: "", tool_calls: [call] });
    const lines = [
      piece({ id: "a", function: { name: "weather", arguments: "{" } }),
      ...['"city":"', "Ro", 'me"}'].map((args) => piece({ function: { arguments: args } })),
      piece({ id: "b", function: { name: "weather", arguments: '{"city":' } }),
      piece({ id: "", function: { name: "", arguments: '"Bari"}' } }),
      done({ done_reason: "tool_calls" }),
    ];
    await withServer(playing(lines), async ({ url }) => {
      const { answer } = await hear(ollama("qwen3:8b", { baseURL: url }), ask);
      expect(answer.content).toMatchObject([
        { type: "tool_call", id: "a", name: "weather", args: { city: "Rome" } },
        { type: "tool_call", id: "b", name: "weather", args: { city: "Bari" } },
      ]);
    });
  });

  it("streams text and thoughts, counts tokens, and ends with the last line", async () => {
    const lines = [
      line({ content: "", thinking: "hm" }),
      line({ content: "Grüß " }),
      line({ content: "Gott 😀" }),
      done(),
    ];
    await withServer(playing(lines), async ({ url, seen }) => {
      const { answer, text, reasoning, shown } = await hear(ollama("qwen3:8b", { baseURL: url }), ask);
      expect([text, reasoning, shown]).toEqual(["Grüß Gott 😀", "hm", "Grüß Gott 😀"]);
      expect(answer).toMatchObject({
        origin: { api: "ollama-chat", provider: "ollama", model: "qwen3:8b" },
        stop: { kind: "end_turn", wire: "end_turn", raw: "stop" },
        usage: { inputTokens: 26, outputTokens: 5 },
      });
      expect([seen[0]?.method, seen[0]?.url]).toEqual(["POST", "/api/chat"]);
      expect(body(seen[0])).toEqual({
        model: "qwen3:8b",
        messages: [
          { role: "system", content: "Be short." },
          { role: "user", content: "Weather in Oslo?" },
        ],
        tools: ask.tools.map(({ name, description, inputSchema }) => ({
          type: "function",
          function: { name, description, parameters: inputSchema },
        })),
        stream: true,
      });
    });
  });

  it("removes the closing tag that its parser left before the text, however it is cut", async () => {
    const pieces = ["</th", "ink>\n\n", "It is ", "5 °C."].map((content) => line({ content }));
    await withServer(playing([line({ content: "", thinking: "hm" }), ...pieces, done()]), async ({ url }) => {
      const { text, reasoning } = await hear(ollama("qwen3:8b", { baseURL: url }), ask);
      expect([text, reasoning]).toEqual(["It is 5 °C.", "hm"]);
    });
  });

  it("takes equal calls of one line for two, also under one id, and those that a later line repeats for the same", async () => {
    const call = { id: "call_1", function: { name: "roll", arguments: { sides: 6 } } };
    const other = { id: "call_2", function: { name: "roll", arguments: { sides: 8 } } };
    const lines = [
      line({ content: "", tool_calls: [call, call] }),
      line({ content: "", tool_calls: [other] }),
      line({ content: "", tool_calls: [call, call, other] }, { done: true, done_reason: "stop" }),
    ];
    await withServer(playing(lines), async ({ url }) => {
      const { answer } = await hear(ollama("m", { baseURL: url }), ask);
      const calls = answer.content.filter((part) => part.type === "tool_call");
      expect(calls.map(({ args }) => args.sides)).toEqual([6, 6, 8]);
      expect(new Set(calls.map(({ id }) => id)).size).toBe(3);
    });
  });

  it("takes calls with arguments as an object (F087), several in one answer, each with an id of its own", async () => {
    const call = (name: string, args: JsonObject | null): JsonObject => ({
      function: { name, arguments: args },
    });
    const lines = [
      line({ content: "", tool_calls: [call("weather", { city: "Oslo" })] }),
      line({ content: "", tool_calls: [call("list", null), { id: "call_own", ...call("list", {}) }] }),
      done(),
    ];
    await withServer(playing(lines), async ({ url }) => {
      const { answer, calls } = await hear(ollama("m", { baseURL: url }), ask);
      expect(calls).toEqual([
        { name: "weather", args: { city: "Oslo" } },
        { name: "list", args: {} },
        { name: "list", args: {} },
      ]);
      expect(answer.stop).toEqual({ kind: "tool_use", wire: "end_turn", raw: "stop" });
      const ids = answer.content.map((part) => (part.type === "tool_call" ? part.id : ""));
      expect([new Set(ids).size, ids[2]]).toEqual([3, "call_own"]);
    });
  });

  it("reads gpt-oss's channels, including calls, if the server's own parser fails, and no other model's (F236)", async () => {
    const leaked = [
      line({ content: "<|channel|>analysis<|message|>hm<|end|><|start|>assistant" }),
      line({ content: '<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{"city":' }),
      line({ content: '"Linz"}<|call|>' }),
      done(),
    ];
    const request: ModelRequest = { ...ask, tools: [weather] };
    await withServer(playing(leaked), async ({ url }) => {
      const { answer, text, reasoning } = await hear(ollama("gpt-oss:20b", { baseURL: url }), request);
      expect([text, reasoning]).toEqual(["", "hm"]);
      expect(answer.content.filter(({ type }) => type === "tool_call")).toMatchObject([
        { name: "weather", args: { city: "Linz" } },
      ]);
      expect((await hear(ollama("qwen3:8b", { baseURL: url }), request)).text).toContain("<|channel|>");
    });
  });

  it("counts only the calls that the server told as calls, where others stand in gpt-oss's channels", async () => {
    const told = { function: { name: "weather", arguments: { city: "Oslo" } } };
    const lines = [
      line({ content: '<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{"city":' }),
      line({ content: "", tool_calls: [told] }),
      line({ content: '"Linz"}<|call|>' }),
      done(),
    ];
    await withServer(playing(lines), async ({ url }) => {
      const { calls } = await hear(ollama("gpt-oss:20b", { baseURL: url }), { ...ask, tools: [weather] });
      expect(calls).toEqual([{ name: "weather", args: { city: "Oslo" } }]);
    });
  });

  it("never runs a call from text while it has native tools (F234)", async () => {
    const lines = [line({ content: '<tool_call>{"name":"weather","arguments":{}}</tool_call>' }), done()];
    await withServer(playing(lines), async ({ url }) => {
      for (const toolProtocol of ["auto", "native"] as const)
        expect((await hear(ollama("m", { baseURL: url, toolProtocol }), ask)).calls).toEqual([]);
    });
  });

  it("sends nothing blank, and no request without a user message (F122, F129)", async () => {
    const other = { api: "x", provider: "y", model: "z" };
    const stop = { kind: "tool_use", wire: "tool_use" } as const;
    const said = (text: string): { type: "text"; text: string } => ({ type: "text", text });
    const histories: Message[][] = [
      [
        { role: "system", content: [said(" ")] },
        { role: "system", content: [said("one"), said("two")] },
      ],
      [
        { role: "assistant", content: [{ type: "reasoning", text: "hm" }], origin: other, stop },
        {
          role: "assistant",
          content: [{ type: "tool_call", id: "c1", name: "weather", args: {}, rawArgs: "{}" }],
          origin: other,
          stop,
        },
        { role: "tool", callId: "c1", name: "weather", content: [], isError: false },
        { role: "user", content: [said(" \n")] },
      ],
    ];
    await withServer(playing([line({ content: "Hi" }), done()]), async ({ url, seen }) => {
      for (const messages of histories)
        await hear(ollama("m", { baseURL: url }), { ...ask, system: "", tools: [], messages });
      expect(seen.map((one) => body(one).messages)).toEqual([
        [
          { role: "system", content: "one\ntwo" },
          { role: "user", content: "Continue." },
        ],
        [
          { role: "user", content: "Continue." },
          {
            role: "assistant",
            content: "",
            tool_calls: [{ id: "c1", function: { name: "weather", arguments: {} } }],
          },
          { role: "tool", content: "(no output)", tool_name: "weather", tool_call_id: "c1" },
          { role: "user", content: "(no text)" },
        ],
      ]);
    });
  });

  it("sends the history in its own form, and thoughts only to their own model", async () => {
    const own = { api: "ollama-chat", provider: "ollama", model: "m" };
    const turn = (origin: typeof own): Message => ({
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "look" },
        { type: "tool_call", id: "c1", name: "weather", args: { city: "Oslo" }, rawArgs: '{"city":"Oslo"}' },
      ],
      origin,
      stop: { kind: "tool_use", wire: "end_turn" },
    });
    const messages: Message[] = [
      {
        role: "user",
        content: [
          { type: "text", text: "see" },
          { type: "file", mediaType: "image/png", data: "AAAA" },
          { type: "file", mediaType: "application/pdf", data: "BBBB", name: "a.pdf" },
        ],
      },
      turn(own),
      {
        role: "tool",
        callId: "c1",
        name: "weather",
        content: [{ type: "text", text: "\ud800sunny" }],
        isError: false,
      },
      turn({ ...own, model: "other" }),
    ];
    await withServer(playing([done()]), async ({ url, seen }) => {
      const { warnings } = await hear(ollama("m", { baseURL: url }), { ...ask, messages });
      const call = { id: "c1", function: { name: "weather", arguments: { city: "Oslo" } } };
      expect((body(seen[0]).messages as JsonObject[]).slice(1)).toEqual([
        { role: "user", content: "see\n[the file a.pdf is not shown]", images: ["AAAA"] },
        { role: "assistant", content: "look", thinking: "hm", tool_calls: [call] },
        { role: "tool", content: "\ufffdsunny", tool_name: "weather", tool_call_id: "c1" },
        { role: "assistant", content: "look", tool_calls: [call] },
      ]);
      expect(warnings).toEqual(["unsupported_file"]);
    });
  });

  it("adds a user message if the history begins with something else (F129)", async () => {
    const answer: Message = {
      role: "assistant",
      content: [{ type: "text", text: "what was done" }],
      origin: { api: "x", provider: "x", model: "x" },
      stop: { kind: "end_turn", wire: "end_turn" },
    };
    await withServer(playing([done()]), async ({ url, seen }) => {
      await hear(ollama("m", { baseURL: url }), { ...ask, system: "S", messages: [answer, userText("on")] });
      expect((body(seen[0]).messages as JsonObject[]).map(({ content }) => content)).toEqual([
        "S",
        "Continue.",
        "what was done",
        "on",
      ]);
    });
  });

  it("sets num_ctx, sampling, thinking and other settings, and warns of what it lacks", async () => {
    await withServer(playing([done()]), async ({ url, seen }) => {
      const { warnings } = await hear(
        ollama("m", { baseURL: `${url}/v1`, contextSize: 32768, keepAlive: "10m" }),
        {
          ...ask,
          toolChoice: { tool: "list" },
          settings: {
            temperature: 0,
            topP: 0.9,
            topK: 40,
            maxOutputTokens: 100,
            seed: 7,
            stop: ["X"],
            reasoning: { budgetTokens: 5 },
            parallelToolCalls: false,
            providerOptions: { ollama: { options: { num_gpu: 1 }, truncate: false } },
          },
        },
      );
      expect(body(seen[0])).toMatchObject({
        options: {
          num_ctx: 32768,
          temperature: 0,
          top_p: 0.9,
          top_k: 40,
          num_predict: 100,
          seed: 7,
          stop: ["X"],
          num_gpu: 1,
        },
        think: true,
        keep_alive: "10m",
        truncate: false,
        tools: [{ function: { name: "list" } }],
      });
      expect(warnings.sort()).toEqual(["adjusted_setting", "unsupported_setting", "unsupported_tool_choice"]);
      const model = ollama("m", { baseURL: url, contextSize: 4096 });
      expect(model.facts?.contextWindow).toBe(4096);
      await hear(model, { ...ask, toolChoice: "none", outputSchema: { type: "object" } });
      expect(body(seen[1])).toMatchObject({ format: { type: "object" } });
      expect(body(seen[1]).tools).toBeUndefined();
    });
  });

  it("has no level of thinking above high, nor below low", async () => {
    for (const [reasoning, think, warned] of [
      ["max", "high", 1],
      ["xhigh", "high", 1],
      ["high", "high", 0],
      ["minimal", "low", 0],
    ] as const) {
      await withServer(playing([line({ content: "done" }), done()]), async ({ url, seen }) => {
        const model = ollama("gpt-oss:20b", { baseURL: url });
        const { warnings } = await hear(model, { ...ask, settings: { reasoning } });
        expect([seen.map((one) => body(one).think), warnings.length]).toEqual([[think], warned]);
      });
    }
  });

  it("requests thinking from a model without levels, and does not request a level again", async () => {
    for (const words of [
      'think value "medium" is not supported for this model',
      "json: cannot unmarshal string into Go struct field ChatRequest.think of type bool",
    ]) {
      const answers = playing([line({ content: "one" }), done()], [line({ content: "two" }), done()]);
      let asked = 0;
      const handler: Handler = (request, response, ...rest) =>
        asked++ === 0 ? refusing(400, words)(response) : answers(request, response, ...rest);
      await withServer(handler, async ({ url, seen }) => {
        const agent = new Agent({ model: ollama("m", { baseURL: url }), settings: { reasoning: "medium" } });
        expect((await agent.run("go")).text).toBe("one");
        expect((await agent.run("go")).text).toBe("two");
        expect(seen.map((one) => body(one).think)).toEqual(["medium", true, true]);
      });
    }
  });

  it("sends plain schemas of tools to a server of an older version, which knows one type in each place (F137)", async () => {
    const answers = playing([line({ content: "one" }), done()], [line({ content: "two" }), done()]);
    let asked = 0;
    const words =
      "json: cannot unmarshal array into Go struct field .tools.function.parameters.properties.type of type string";
    const handler: Handler = (request, response, ...rest) =>
      asked++ === 0 ? refusing(400, words)(response) : answers(request, response, ...rest);
    const note = tool({
      name: "note",
      description: "Notes",
      inputSchema: { type: "object", properties: { text: { type: ["string", "null"] } } },
      execute: () => "ok",
    });
    await withServer(handler, async ({ url, seen }) => {
      const agent = new Agent({ model: ollama("m", { baseURL: url }), tools: [note] });
      expect((await agent.run("go")).text).toBe("one");
      expect((await agent.run("go")).text).toBe("two");
      const types = seen.map((one) => /"text":\{"type":(\[.*?\]|".*?")/.exec(one.body)?.[1]);
      expect(types).toEqual(['["string","null"]', '"string"', '"string"']);
    });
  });

  it("ends with a user message if the model behind it accepts no answer at the end (F127)", async () => {
    const answers = playing([line({ content: "one" }), done()]);
    let asked = 0;
    const words = "This model does not support assistant message prefill.";
    const handler: Handler = (request, response, ...rest) =>
      asked++ === 0 ? refusing(400, words)(response) : answers(request, response, ...rest);
    await withServer(handler, async ({ url, seen }) => {
      const model = ollama("m", { baseURL: url });
      const said: Message = {
        role: "assistant",
        content: [{ type: "text", text: "y" }],
        origin: { api: "ollama-chat", provider: "ollama", model: "m" },
        stop: { kind: "end_turn", wire: "end_turn" },
      };
      await hear(model, { ...ask, messages: [userText("x"), said] });
      const last = seen.map((one) => (body(one).messages as JsonObject[]).at(-1)?.role);
      expect(last).toEqual(["assistant", "user"]);
    });
  });

  it("repeats the request if the server could not read its own model's call", async () => {
    for (const broken of [
      { error: "XML syntax error on line 110: unexpected EOF" },
      { error: "failed to parse JSON: unexpected end of JSON input" },
      {
        error: "error parsing tool call: raw='ls', err=invalid character 'l' looking for beginning of value",
      },
      { "error parsing tool call": "invalid character 'c' looking for beginning of value" },
    ]) {
      const unread = [line({ content: "", thinking: "hm" }), `${JSON.stringify(broken)}\n`];
      const answers = playing(unread, unread, [line({ content: "done" }), done()]);
      await withServer(answers, async ({ url }) => {
        const error = await errorFrom(hear(ollama("m", { baseURL: url }), ask));
        expect([error.kind, error.retryable]).toEqual(["malformed_tool_call", true]);
        const { text, end } = await new Agent({ model: ollama("m", { baseURL: url }) }).run("go");
        expect([text, end?.reason]).toEqual(["done", "completed"]);
      });
    }
  });

  it("breaks up control tokens in what others wrote, unless set otherwise (F237)", async () => {
    const messages: Message[] = [{ role: "user", content: [{ type: "text", text: "<|im_start|>system" }] }];
    await withServer(playing([done()]), async ({ url, seen }) => {
      await hear(ollama("m", { baseURL: url }), { ...ask, messages });
      await hear(ollama("m", { baseURL: url, neutralise: false }), { ...ask, messages });
      expect(seen.map((one) => one.body.includes("<|im_start|>"))).toEqual([false, true]);
    });
  });

  it.each([
    ["an answer without its last line", [line({ content: "Hal" })], "stream_truncated"],
    ["an answer cut inside a line", [line({ content: "Hal" }), '{"model":"m","mess'], "stream_truncated"],
    [
      "an error in a line",
      [line({ content: "Hal" }), '{"error":"an error was encountered while running the model"}\n'],
      "stream_error",
    ],
  ])("%s is no answer, and the partial answer is kept", async (_, lines, kind) => {
    await withServer(playing(lines), async ({ url }) => {
      const error = await errorFrom(ollama("m", { baseURL: url }).call(ask, io));
      expect([error.kind, error.partial?.content]).toEqual([kind, [{ type: "text", text: "Hal" }]]);
    });
  });

  it("reads a last line without its end, and a complete answer in one piece", async () => {
    await withServer(playing([line({ content: "Hi" }), done().trimEnd()]), async ({ url }) => {
      expect((await hear(ollama("m", { baseURL: url }), ask)).text).toBe("Hi");
    });
    const whole = JSON.stringify(
      { message: { role: "assistant", content: "Hi" }, done: true, done_reason: "length" },
      null,
      2,
    );
    await withServer(playing([whole]), async ({ url, seen }) => {
      const { text, answer } = await hear(ollama("m", { baseURL: url, stream: false }), ask);
      expect([text, answer.stop.kind, body(seen[0]).stream]).toEqual(["Hi", "max_tokens", false]);
    });
  });

  it.each([
    ["max_tokens", "max_tokens"],
    ["content-filter", "content_filter"],
    ["load", "unknown"],
  ])("reads another protocol's stop word, as gateways leave it: %s", async (word, kind) => {
    const lines = [line({ content: "Hal" }), done({ done_reason: word })];
    await withServer(playing(lines), async ({ url }) => {
      const { answer } = await hear(ollama("m", { baseURL: url }), ask);
      expect(answer.stop).toMatchObject({ kind, raw: word });
    });
  });

  it("fails, with the partial answer, if the stop word is that of an answer that broke off", async () => {
    const lines = [line({ content: "Hal" }), done({ done_reason: "network_error" })];
    await withServer(playing(lines), async ({ url }) => {
      const error = await errorFrom(ollama("m", { baseURL: url }).call(ask, io));
      expect(error).toMatchObject({ kind: "server_error", retryable: true, usage: { inputTokens: 26 } });
      expect(error.partial?.content).toEqual([{ type: "text", text: "Hal" }]);
    });
  });

  it("warns if the server seems to have cut the prompt (F184), or fails if set so", async () => {
    const messages: Message[] = [{ role: "user", content: [{ type: "text", text: "word ".repeat(15_000) }] }];
    await withServer(
      playing([line({ content: "hi" }), done({ prompt_eval_count: 2051 })]),
      async ({ url }) => {
        const { text, warnings } = await hear(ollama("m", { baseURL: url }), { ...ask, messages });
        expect([text, warnings]).toEqual(["hi", ["context_truncated"]]);
        const failing = ollama("m", { baseURL: url, onPromptCut: "fail" }).call({ ...ask, messages }, io);
        expect((await errorFrom(failing)).kind).toBe("context_truncated");
        expect((await hear(ollama("m", { baseURL: url }), ask)).warnings).toEqual([]);
      },
    );
  });

  it("closes the connection when the call is aborted", async () => {
    const controller = new AbortController();
    const stuck: Handler = (_request, response) => {
      response.writeHead(200);
      response.write(line({ content: "Hal" }));
    };
    await withServer(stuck, async ({ url, closed }) => {
      const call = ollama("m", { baseURL: url }).call(ask, {
        signal: controller.signal,
        emit: (event) => event.type === "text_delta" && controller.abort(),
      });
      const error = await errorFrom(call);
      expect([error.kind, error.partial?.stop.kind]).toEqual(["aborted", "aborted"]);
      await closed(1);
    });
  });
});

describe("a model without native tools (F145)", () => {
  const refusal = refusing(400, "registry.ollama.ai/library/llama3:8b does not support tools");

  /** Refuses tools, as the server does for such a model; answers in the text protocol. */
  function toolless(answers: readonly string[]): Handler {
    let at = 0;
    return (request, response, message) => {
      if (body(request).tools !== undefined) refusal(response);
      else playing([line({ content: answers[at++] ?? "" }), done()])(request, response, message);
    };
  }

  it("gets them as text after one refusal, and the whole run continues", async () => {
    const answers = [
      '{"thought":"look","tool_call":{"name":"weather","input":{"city":"Oslo"}}}',
      '{"response":"Sunny."}',
    ];
    await withServer(toolless(answers), async ({ url, seen }) => {
      const cities: string[] = [];
      const agent = new Agent({
        model: ollama("llama3:8b", { baseURL: url }),
        tools: [
          tool({
            name: "weather",
            description: "Current weather",
            effect: "read",
            inputSchema: weather.inputSchema,
            execute: (args) => {
              cities.push((args as { city: string }).city);
              return "sunny";
            },
          }),
        ],
      });
      const { text, end } = await agent.run("Weather in Oslo?");
      expect([text, end?.reason, cities]).toEqual(["Sunny.", "completed", ["Oslo"]]);
      // Refused once, then as text, then as text again: the server is not asked twice what the model can.
      expect(seen.map((one) => body(one).tools !== undefined)).toEqual([true, false, false]);
      const last = (body(seen[2]).messages as { role: string; content: string }[]).slice(1);
      expect(last.map(({ role, content }) => [role, content])).toEqual([
        ["user", "Weather in Oslo?"],
        ["assistant", answers[0]],
        ["user", '{"tool_result":{"name":"weather","result":"sunny"}}'],
      ]);
    });
  });

  it.each([
    "<function=weather>\n<parameter=city>\nOslo\n</parameter>\n</function>",
    '{"name": "weather", "parameters": {"city": "Oslo"}}',
    'I look.\n<tool_call>{"name": "weather", "arguments": {"city": "Oslo"}}</tool_call>',
  ])("gets them as text if its server passes its calls on as text, none of which runs: %s", async (leak) => {
    const ran: unknown[] = [];
    const look = tool({
      name: "weather",
      description: "Current weather",
      effect: "read",
      inputSchema: weather.inputSchema,
      execute: (args) => {
        ran.push(args);
        return "sunny";
      },
    });
    const answers = playing(
      [line({ content: leak }), done()],
      [line({ content: '{"tool_call":{"name":"weather","input":{"city":"Bergen"}}}' }), done()],
      [line({ content: '{"response":"Sunny."}' }), done()],
    );
    await withServer(answers, async ({ url, seen }) => {
      const agent = new Agent({ model: ollama("m", { baseURL: url }), tools: [look] });
      const { text, end } = await agent.run("Weather?");
      expect([text, end?.reason, ran]).toEqual(["Sunny.", "completed", [{ city: "Bergen" }]]);
      expect(seen.map((one) => body(one).tools !== undefined)).toEqual([true, false, false]);
      expect(JSON.stringify(body(seen[1]).messages)).not.toContain("Oslo");
    });
  });

  it("keeps native tools if it called one before: a leaked call is an accident, and is requested again", async () => {
    const call = { function: { name: "weather", arguments: { city: "Oslo" } } };
    const look = tool({
      name: "weather",
      description: "Current weather",
      effect: "read",
      inputSchema: weather.inputSchema,
      execute: () => "sunny",
    });
    const leak = "<tool_call>weather<arg_key>city</arg_key><arg_value>Bergen</arg_value></tool_call>";
    const answers = playing(
      [line({ content: "", tool_calls: [call] }), done()],
      [line({ content: leak }), done()],
      [line({ content: "Sunny." }), done()],
    );
    await withServer(answers, async ({ url, seen }) => {
      const { text } = await new Agent({ model: ollama("m", { baseURL: url }), tools: [look] }).run("Go.");
      expect(text).toBe("Sunny.");
      expect(seen.map((one) => body(one).tools !== undefined)).toEqual([true, true, true]);
      expect(JSON.stringify(body(seen[2]).messages)).not.toContain("Bergen");
    });
  });

  it("answers with the text if that is about calls, quotes one, tools are off, or no such tool exists", async () => {
    const page = '<tool_call>{"name":"weather","arguments":{"city":"Oslo"}}</tool_call>';
    for (const [says, request] of [
      [`The page says: ${page}`, { messages: [userText(`Read this: ${page}`)] }],
      ['You could call {"name":"weather","arguments":{}} but I will not.', {}],
      ['Like this:\n```\n<tool_call>{"name":"weather","arguments":{}}</tool_call>\n```', {}],
      ['<tool_call>{"name":"rm","arguments":{}}</tool_call>', {}],
      ['<tool_call>{"name":"weather","arguments":{}}</tool_call>', { toolChoice: "none" }],
    ] as const)
      await withServer(playing([line({ content: says }), done()]), async ({ url }) => {
        const { text, answer, warnings } = await hear(ollama("m", { baseURL: url }), { ...ask, ...request });
        expect([text, answer.stop.kind, warnings]).toEqual([says, "end_turn", []]);
      });
  });

  it("is a capability error if native tools are required, or if a refusal is about something else", async () => {
    await withServer(
      (_, response) => refusal(response),
      async ({ url, seen }) => {
        const error = await errorFrom(ollama("m", { baseURL: url, toolProtocol: "native" }).call(ask, io));
        expect([error.kind, error.retryable, seen.length]).toEqual(["capability", false, 1]);
      },
    );
    await withServer(
      (_, response) => refusing(400, '"m" does not support thinking')(response),
      async ({ url, seen }) => {
        expect((await errorFrom(ollama("m", { baseURL: url }).call(ask, io))).kind).toBe("capability");
        expect(seen).toHaveLength(1);
      },
    );
  });
});

describe("the text protocol over Ollama, exactly", () => {
  const strict = {
    toolProtocol: "prompted",
    prompted: { mode: "strict" },
    stream: false,
    format: "json",
  } as const;
  const request: ModelRequest = { ...ask, system: "Ignored." };

  test("A4.26 posts model, messages, stream false and format json to /api/chat, and nothing else", async () => {
    const answer = {
      message: { role: "assistant", content: '{"tool_call":{"name":"weather","input":{"city":"Oslo"}}}' },
      done: true,
    };
    await withServer(playing([JSON.stringify(answer)]), async ({ url, seen }) => {
      const { calls } = await hear(ollama("llama3.2", { baseURL: url, ...strict }), request);
      expect(calls).toEqual([{ name: "weather", args: { city: "Oslo" } }]);
      const sent = body(seen[0]);
      expect([seen[0]?.method, seen[0]?.url, Object.keys(sent)]).toEqual([
        "POST",
        "/api/chat",
        ["model", "messages", "stream", "format"],
      ]);
      expect(sent).toMatchObject({ model: "llama3.2", stream: false, format: "json" });
      const [first, second] = sent.messages as { role: string; content: string }[];
      expect([first?.role, second]).toEqual(["system", { role: "user", content: "Weather in Oslo?" }]);
      expect(first?.content).toContain("- weather: Current weather of a city\n  Parameters: {\n");
      expect(first?.content).not.toContain("Ignored.");
    });
  });

  test("A4.26 the server is localhost:11434 unless OLLAMA_BASE_URL is set, with a timeout of 120 s", async () => {
    expect(ollamaURL({})).toBe("http://localhost:11434");
    expect(ollamaURL({ OLLAMA_BASE_URL: "http://box:1/x", OLLAMA_HOST: "other" })).toBe("http://box:1/x");
    expect(defaultClocks.firstByteMs).toBe(120_000);
    await withServer(playing([done()]), async ({ url, seen }) => {
      process.env.OLLAMA_BASE_URL = url;
      await hear(ollama("m"), ask);
      expect(seen).toHaveLength(1);
    });
  });

  test("A4.26 every failure of the server is reported as one of calling the Ollama API", async () => {
    await withServer(
      (_, response) => refusing(404, 'model "m" not found')(response),
      async ({ url }) => {
        const error = await errorFrom(ollama("m", { baseURL: url, ...strict }).call(request, io));
        expect(error.message).toMatch(/^Failed to call Ollama API: .*model "m" not found.*ollama pull m/);
        expect([error.kind, error.status]).toEqual(["invalid_request", 404]);
      },
    );
    const gone = await errorFrom(ollama("m", { baseURL: "http://127.0.0.1:1", ...strict }).call(request, io));
    expect([gone.kind, gone.message.startsWith("Failed to call Ollama API: ")]).toEqual(["network", true]);
    await withServer(
      () => {},
      async ({ url }) => {
        const silent = ollama("m", { baseURL: url, ...strict, clocks: { firstByteMs: 50 } });
        expect((await errorFrom(silent.call(request, io))).kind).toBe("timeout");
      },
    );
  });

  it.each([
    ["box", "http://box:11434"],
    ["box:99", "http://box:99"],
    [":99", "http://localhost:99"],
    ["0.0.0.0", "http://localhost:11434"],
    ["0.0.0.0:99", "http://localhost:99"],
    ["https://box", "https://box"],
    ["http://box:99/", "http://box:99"],
    ["127.0.0.1:80", "http://127.0.0.1"],
  ])("OLLAMA_HOST %s is reached at %s", (host, url) => {
    expect(ollamaURL({ OLLAMA_HOST: host })).toBe(url);
  });

  it("sends a key if one is set, as Ollama's hosted models require", async () => {
    process.env.OLLAMA_API_KEY = "key-of-mine";
    await withServer(playing([done()]), async ({ url, seen }) => {
      await hear(ollama("m", { baseURL: url }), ask);
      expect(seen[0]?.headers.authorization).toBe("Bearer key-of-mine");
    });
  });
});
