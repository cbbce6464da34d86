// Which row is chosen, what a user may change about it, and what its columns do where no server of the table shows it.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type JsonObject, type Message, type ModelRequest, RondoError, userText } from "@rondo/core";
import { say } from "@rondo/testkit";
import { describe, expect, it } from "vitest";
import type { Target } from "../../src/codec.ts";
import { openaiChat } from "../../src/codecs/openai-chat.ts";
import { chooseServer, compatOf } from "../../src/compat/choose.ts";
import * as face from "../../src/index.ts";
import { play } from "./server.ts";

const { compatibleServers, modelFromName, openai, openaiCompatible } = face;

function send(
  provider: string,
  request: Partial<ModelRequest>,
  more: { model?: string; compat?: JsonObject } = {},
): { body: JsonObject & { messages: JsonObject[] }; warnings: string[]; headers: Record<string, string> } {
  const { server } = chooseServer(provider, undefined);
  const model = more.model ?? "m";
  const target: Target = {
    origin: { api: "openai-chat", provider, model },
    facts: {},
    compat: { ...compatOf(server, model), ...more.compat },
  };
  const { body, warnings, headers } = openaiChat
    .encoder(target)
    .encode({ messages: [userText("hi")], tools: [], toolChoice: "auto", settings: {}, ...request });
  return {
    body: JSON.parse(body) as JsonObject & { messages: JsonObject[] },
    warnings: warnings.map(({ message }) => message),
    headers,
  };
}

/** An answer with reasoning. */
const said = (provider: string, model: string): Message => ({
  role: "assistant",
  content: [
    { type: "reasoning", text: "so" },
    { type: "text", text: "done" },
  ],
  origin: { api: "openai-chat", provider, model },
  stop: { kind: "end_turn", wire: "end_turn" },
});
const one = [{ name: "f", description: "", inputSchema: { type: "object", properties: {} } }];

describe("choosing a server", () => {
  it.each([
    ["isZai by name", "zai", undefined, "zai"],
    ["isZai by address, whatever it is called", "openai", "https://api.z.ai/api/coding/paas/v4", "zai"],
    ["isNonStandard by name: cerebras", "cerebras", undefined, "cerebras"],
    ["isNonStandard by name: xai", "xai", undefined, "xai"],
    ["isNonStandard by name: mistral", "mistral", undefined, "mistral"],
    ["isNonStandard by address: deepseek.com", "compatible", "https://api.deepseek.com/beta", "deepseek"],
    ["a host below a known one", undefined, "https://proxy.api.githubcopilot.com", "copilot"],
    ["the address before the name", "deepseek", "https://openrouter.ai/api/v1", "openrouter"],
    ["the name where the address is one's own", "deepseek", "http://127.0.0.1:9/v1", "deepseek"],
    ["another name of the same", "Kimi", undefined, "moonshot"],
    ["SiliconFlow by its other address", undefined, "https://api.siliconflow.cn/v1", "siliconflow"],
    ["MiMo by the address of a plan", "mine", "https://token-plan-cn.xiaomimimo.com/v1", "xiaomi"],
    ["MiMo by the name of its models", "MiMo", undefined, "xiaomi"],
  ])("%s", (_, provider, baseURL, expected) => {
    expect(chooseServer(provider, baseURL).name).toBe(expected);
  });

  it.each([
    "https://notdeepseek.com/v1",
    "http://api.z.ai.evil.example/v1",
    "no url",
    "http://localhost/deepseek.com",
  ])("is not fooled by %s", (baseURL) => {
    expect(chooseServer("mine", baseURL).name).toBeUndefined();
  });

  it("sends no non-standard server a store field, a developer role or a strict tool", () => {
    for (const provider of ["zai", "cerebras", "xai", "mistral", "deepseek"]) {
      const { body, warnings } = send(
        provider,
        {
          system: "s",
          tools: one,
          settings: { providerOptions: { [provider]: { store: true } } },
        },
        { model: "o3" },
      );
      expect(body.store).toBeUndefined();
      expect(warnings.join()).toContain("store");
      expect(body.messages[0]?.role).toBe("system");
      expect(JSON.stringify(body.tools)).not.toContain("strict");
    }
  });

  it("gives another address for OpenAI the quirks of the server there", async () => {
    await play("deepseek", [say("ok")], async (played) => {
      let url = "";
      const model = openai.chat("deepseek-chat", {
        apiKey: "k",
        baseURL: "https://api.deepseek.com/v1",
        fetch: (input, init) => {
          url = String(input);
          return fetch(`${played.url}/v1/chat/completions`, init as RequestInit);
        },
      });
      await model.call(
        { messages: [userText("hi")], tools: [], toolChoice: "auto", settings: { maxOutputTokens: 5 } },
        { signal: new AbortController().signal, emit: () => {} },
      );
      expect(url).toContain("api.deepseek.com");
      expect(played.refused).toEqual([]);
      expect(played.bodies[0]).toMatchObject({ max_tokens: 5 });
    });
  });

  it.each([
    ["http://127.0.0.1:8000/v1", ["reasoning", "text"]],
    ["https://api.openai.com/v1", ["text"]],
  ])(
    "reads thinking in the content of OpenAI's protocol at %s as reasoning (F113)",
    async (baseURL, kinds) => {
      const said = {
        choices: [{ index: 0, message: { content: "<think>hm</think>hi" }, finish_reason: "stop" }],
      };
      const answer = new Response(JSON.stringify(said), { headers: { "content-type": "application/json" } });
      const model = openai.chat("m", { apiKey: "k", baseURL, fetch: async () => answer });
      const { content } = await model.call(
        { messages: [userText("hi")], tools: [], toolChoice: "auto", settings: {} },
        { signal: new AbortController().signal, emit: () => {} },
      );
      expect(content.map(({ type }) => type)).toEqual(kinds);
    },
  );

  it.each(["vllm", "sglang", "ollama", "llamacpp", "lmstudio", "nobody-knows-it"])(
    "sends %s alternating roles, as its templates require (F128)",
    (provider) => {
      const { body } = send(provider, {
        messages: [
          userText("one"),
          userText("two"),
          { role: "system", content: [{ type: "text", text: "three" }] },
        ],
      });
      expect(body.messages.map(({ role }) => role)).toEqual(["user"]);
      expect(JSON.stringify(body.messages[0]?.content)).toMatch(/one.*two.*three/);
    },
  );
});

describe("a server chosen by name", () => {
  const named = Object.keys(compatibleServers).filter(
    (name) => !["openai", "azure", "ollama"].includes(name),
  );
  it.each(named)("%s has a function, and a name before the slash", async (name) => {
    const make = (face as unknown as Record<string, face.ServerProvider>)[name];
    expect(make?.("a/b").id).toBe(`${name}/a/b`);
    expect((await modelFromName(`${name}/a/b`)).id).toBe(`${name}/a/b`);
    expect(openaiCompatible({ server: name as face.ServerName, model: "x" }).origin).toEqual({
      api: "openai-chat",
      provider: name,
      model: "x",
    });
  });

  it("is named by its key's variable if the key is missing", async () => {
    const variables = ["GROQ_API_KEY"];
    const before = variables.map((name) => process.env[name]);
    for (const name of variables) delete process.env[name];
    try {
      const model = face.groq("m");
      const call = model.call(
        { messages: [userText("hi")], tools: [], toolChoice: "auto", settings: {} },
        { signal: new AbortController().signal, emit: () => {} },
      );
      await expect(call).rejects.toThrow(/GROQ_API_KEY/);
    } finally {
      variables.forEach((name, at) => {
        const value = before[at];
        if (value !== undefined) process.env[name] = value;
      });
    }
  });

  it("can have every quirk overridden, one by one", () => {
    const fields = (compat: JsonObject): JsonObject =>
      send("deepseek", { settings: { maxOutputTokens: 5 } }, { compat }).body;
    expect(fields({}).max_tokens).toBe(5);
    expect(fields({ maxTokensField: "max_completion_tokens" }).max_completion_tokens).toBe(5);
    expect(fields({ streamUsage: false }).stream_options).toBeUndefined();
  });

  it("sends the headers of its row, and a user's own override them", async () => {
    await play("copilot", [say("ok"), say("ok")], async (played) => {
      const ask = async (messages: Message[]): Promise<unknown> =>
        await face
          .copilot("gpt", { baseURL: played.url, apiKey: "t", headers: { "Editor-Version": "mine/1" } })
          .call(
            { messages, tools: [], toolChoice: "auto", settings: {} },
            { signal: new AbortController().signal, emit: () => {} },
          );
      await ask([
        { role: "user", content: [{ type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" }] },
      ]);
      const headers = (at: number): (string | string[] | undefined)[] =>
        ["editor-version", "copilot-integration-id", "x-initiator", "copilot-vision-request"].map(
          (name) => played.requests[at]?.headers[name],
        );
      expect(headers(0)).toEqual(["mine/1", "vscode-chat", "user", "true"]);
      await ask([userText("hi"), { role: "system", content: [{ type: "text", text: "go on" }] }]);
      expect(headers(1)).toEqual(["mine/1", "vscode-chat", "agent", undefined]);
    });
  });
});

describe("columns", () => {
  const call = (reasoning: string, provider = "x", model = "m"): Message[] => [
    userText("hi"),
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: reasoning },
        { type: "tool_call", id: "c1", name: "f", args: {}, rawArgs: "{}" },
      ],
      origin: { api: "openai-chat", provider, model },
      stop: { kind: "tool_use", wire: "tool_use" },
    },
    { role: "tool", callId: "c1", name: "f", isError: false, content: [{ type: "text", text: "ok" }] },
  ];

  it.each([
    ["deepseek", ""],
    ["siliconflow", ""],
    ["moonshot", " "],
    ["xiaomi", " "],
  ])("%s gets its least filler if a tool turn has no reasoning of its own (F104)", (provider, fill) => {
    const fields = (messages: Message[]): unknown =>
      send(provider, { messages, tools: one }).body.messages[1]?.reasoning_content;
    expect(fields(call("elsewhere", "anthropic"))).toBe(fill);
    expect(fields(call("", provider))).toBe(fill);
    expect(fields(call("mine", provider))).toBe("mine");
    expect(fields(call("mine", provider, "another-model"))).toBe(fill);
  });

  it("Kimi K3 is asked to think by effort, and the models before it by a flag", () => {
    const asked = (model: string): unknown[] => {
      const { body } = send("moonshot", { settings: { reasoning: "medium" } }, { model });
      return [body.reasoning_effort, body.thinking];
    };
    expect(asked("kimi-k3")).toEqual(["low", undefined]);
    expect(asked("kimi-k2.6")).toEqual([undefined, { type: "enabled" }]);
  });

  it.each<[string, string, { [level in "off" | "minimal" | "medium" | "xhigh" | "max"]: unknown }]>([
    [
      "deepseek",
      "deepseek-v4-pro",
      { off: undefined, minimal: "low", medium: "low", xhigh: "high", max: "max" },
    ],
    ["zai", "glm-5.2", { off: undefined, minimal: "high", medium: "high", xhigh: "high", max: "max" }],
    ["zai", "glm-5.3-flash", { off: undefined, minimal: "low", medium: "low", xhigh: "high", max: "max" }],
    [
      "zai",
      "glm-4.7",
      { off: undefined, minimal: undefined, medium: undefined, xhigh: undefined, max: undefined },
    ],
    [
      "mistral",
      "mistral-medium-3.5",
      { off: "none", minimal: "high", medium: "high", xhigh: "high", max: "high" },
    ],
    [
      "mistral",
      "magistral-small-latest",
      { off: "none", minimal: "high", medium: "high", xhigh: "high", max: "high" },
    ],
    [
      "mistral",
      "mistral-large-4-0-8",
      { off: "low", minimal: "low", medium: "medium", xhigh: "high", max: "high" },
    ],
    ["mistral", "zai-glm-5-2", { off: "none", minimal: "high", medium: "high", xhigh: "high", max: "max" }],
    [
      "mistral",
      "zai-glm-5-3-flash",
      { off: "low", minimal: "low", medium: "low", xhigh: "high", max: "max" },
    ],
    [
      "mistral",
      "codestral-2508",
      { off: undefined, minimal: undefined, medium: undefined, xhigh: undefined, max: undefined },
    ],
    [
      "mistral",
      "mistral-small-2506",
      { off: undefined, minimal: undefined, medium: undefined, xhigh: undefined, max: undefined },
    ],
    ["xai", "grok-3-mini", { off: "low", minimal: "low", medium: "low", xhigh: "high", max: "high" }],
    ["xai", "grok-4.3", { off: "none", minimal: "low", medium: "medium", xhigh: "xhigh", max: "xhigh" }],
    ["xai", "grok-4.7", { off: "low", minimal: "low", medium: "medium", xhigh: "xhigh", max: "xhigh" }],
    [
      "xai",
      "grok-4.20-reasoning",
      { off: undefined, minimal: undefined, medium: undefined, xhigh: undefined, max: undefined },
    ],
    [
      "groq",
      "openai/gpt-oss-120b",
      { off: "low", minimal: "low", medium: "medium", xhigh: "high", max: "high" },
    ],
    [
      "groq",
      "qwen/qwen3.8-27b",
      { off: "none", minimal: "low", medium: "medium", xhigh: "high", max: "high" },
    ],
    [
      "cerebras",
      "qwen-3.8-27b",
      { off: "none", minimal: "low", medium: "medium", xhigh: "high", max: "high" },
    ],
    [
      "together",
      "openai/gpt-oss-20b",
      { off: "low", minimal: "low", medium: "medium", xhigh: "high", max: "high" },
    ],
  ])("%s's %s is asked for the levels that it has", (provider, model, levels) => {
    for (const [reasoning, sent] of Object.entries(levels))
      expect([
        reasoning,
        send(provider, { settings: { reasoning: reasoning as keyof typeof levels } }, { model }).body
          .reasoning_effort,
      ]).toEqual([reasoning, sent]);
  });

  it("Qwen's models that think on from earlier thoughts get them back, and a schema where they take one", () => {
    const answer = said("alibaba", "qwen3.8-max");
    const request = {
      messages: [userText("hi"), answer, userText("and?")],
      outputSchema: { type: "object" },
    };
    const { body } = send("alibaba", request, { model: "qwen3.8-max" });
    expect(body.messages[1]).toMatchObject({ reasoning_content: "so", content: "done" });
    expect(body).toMatchObject({ preserve_thinking: true, response_format: { type: "json_schema" } });
    const off = { settings: { providerOptions: { alibaba: { preserve_thinking: false } } } };
    expect(send("alibaba", off, { model: "qwen3.8-max" }).body.preserve_thinking).toBe(false);
    const older = send("alibaba", request, { model: "qwen3-max" }).body;
    expect(older.preserve_thinking).toBeUndefined();
    expect(older.response_format).toEqual({ type: "json_object" });
  });

  it("DeepSeek V4 gets the reasoning of every answer back, and a filler where another model wrote it (F104)", () => {
    const messages = [userText("hi"), said("deepseek", "deepseek-v4-pro"), userText("and?")];
    const sent = (model: string): unknown =>
      send("deepseek", { messages }, { model }).body.messages[1]?.reasoning_content;
    expect([sent("deepseek-v4-pro"), sent("deepseek-flash")]).toEqual(["so", ""]);
  });

  it("Mistral gets its thinking back as it gave it: as one part of the content", () => {
    const sent = (answer: Message, model = "magistral-small-latest"): unknown =>
      send("mistral", { messages: [userText("hi"), answer, userText("and?")] }, { model }).body.messages[1]
        ?.content;
    const own = said("mistral", "magistral-small-latest");
    expect(sent(own)).toEqual([
      { type: "thinking", thinking: [{ type: "text", text: "so" }] },
      { type: "text", text: "done" },
    ]);
    expect(sent(own, "mistral-large-4")).toBe("done");
    expect(sent(said("deepseek", "m"))).toBe("done");
  });

  it("Kimi K3 can be made to call, and its predecessors not", () => {
    const choice = (model: string): unknown =>
      send("moonshot", { tools: one, toolChoice: "any" }, { model }).body.tool_choice;
    expect([choice("kimi-k3"), choice("kimi-k2.6")]).toEqual(["required", undefined]);
  });

  it.each(["siliconflow", "xiaomi", "moonshot"])(
    "%s gets all reasoning back unchanged (F104)",
    (provider) => {
      const answer: Message = {
        role: "assistant",
        content: [
          { type: "reasoning", text: "so" },
          { type: "text", text: "done" },
        ],
        origin: { api: "openai-chat", provider, model: "m" },
        stop: { kind: "end_turn", wire: "end_turn" },
      };
      const messages = [...call("hm", provider), answer, userText("and?")];
      const { body } = send(provider, { messages, tools: one });
      expect(body.messages.map((message) => message.reasoning_content)).toEqual([
        undefined,
        "hm",
        undefined,
        "so",
        undefined,
      ]);
      if (provider === "xiaomi") expect(body.messages[1]?.content).toBe("");
    },
  );

  it("passes on the options of every row, and only those", () => {
    for (const [provider, { compat }] of Object.entries(compatibleServers)) {
      const options = Object.fromEntries((compat.options ?? []).map((name) => [name, name]));
      const { body, warnings } = send(provider, {
        settings: { providerOptions: { [provider]: { ...options, no_such_option: 1 } } },
      });
      expect(body).toMatchObject(options);
      expect(warnings).toEqual([expect.stringContaining("no_such_option")]);
      expect(body.no_such_option).toBeUndefined();
    }
  });

  it("reads thinking from the content if a row says that it may be there (F113)", () => {
    for (const [provider, server] of Object.entries({
      ...compatibleServers,
      unknown: chooseServer("?", undefined).server,
    })) {
      const compat = compatOf(server, "m");
      const decoder = openaiChat.decoder(
        { origin: { api: "openai-chat", provider, model: "m" }, facts: {}, compat },
        () => {},
      );
      const data = {
        choices: [{ index: 0, delta: { content: "<think>a</think>b" }, finish_reason: "stop" }],
      };
      decoder.push({ event: undefined, data: JSON.stringify(data) });
      expect(decoder.end().content.map(({ type }) => type)).toEqual(
        compat.thinkTags === undefined ? ["text"] : ["reasoning", "text"],
      );
    }
    const hosts = ["openai", "azure", "mistral", "xai", "openrouter", "moonshot", "xiaomi", "copilot"];
    for (const [provider, server] of Object.entries(compatibleServers))
      expect([provider, server.compat.thinkTags]).toEqual([
        provider,
        hosts.includes(provider) ? undefined : "leading",
      ]);
    for (const provider of ["vllm", "sglang", "llamacpp", "lmstudio"])
      expect(compatOf(chooseServer(provider, undefined).server, "deepseek-r1:8b").thinkTags).toBe(
        "starts_inside",
      );
  });

  it("sends top_k to servers that accept it, and warns for others", () => {
    const takes = Object.keys(compatibleServers).filter((provider) => {
      const { body, warnings } = send(provider, { settings: { topK: 40 } });
      expect(warnings).toHaveLength(body.top_k === 40 ? 0 : 1);
      return body.top_k === 40;
    });
    expect(takes.sort()).toEqual([
      "alibaba",
      "fireworks",
      "llamacpp",
      "lmstudio",
      "ollama",
      "openrouter",
      "perplexity",
      "sglang",
      "siliconflow",
      "together",
      "vllm",
    ]);
  });

  it("reads gpt-oss's channels wherever it may be served, and no other model's (F236)", () => {
    const closed = [
      "deepseek",
      "mistral",
      "xai",
      "zai",
      "moonshot",
      "minimax",
      "alibaba",
      "xiaomi",
      "perplexity",
      "copilot",
    ];
    for (const [provider, server] of Object.entries(compatibleServers)) {
      expect([provider, compatOf(server, "openai/gpt-oss-120b").harmony]).toEqual([
        provider,
        closed.includes(provider) ? undefined : true,
      ]);
      expect(compatOf(server, "qwen3").harmony).toBeUndefined();
    }
  });

  it("gives Kimi's calls ids in its trained form, wherever it is served", () => {
    for (const server of [...Object.values(compatibleServers), chooseServer(undefined, undefined).server]) {
      for (const model of ["moonshotai/Kimi-K2-Thinking", "kimi_k2.5"])
        expect(compatOf(server, model).idForm).toBe("functions");
      expect(compatOf(server, "qwen3").idForm).not.toBe("functions");
    }
  });

  it("reads MiniMax's thinking in the text, wherever it is served", () => {
    for (const server of [...Object.values(compatibleServers), chooseServer(undefined, undefined).server])
      for (const model of ["minimax/minimax-m3", "MiniMaxAI/MiniMax-M2.5"])
        expect(compatOf(server, model).thinkTags).toBe("leading");
    const { openrouter } = compatibleServers;
    expect(openrouter && compatOf(openrouter, "z-ai/glm-5.2").thinkTags).toBeUndefined();
  });

  it("requests strict tools from OpenAI only, if the schema allows it, and uses the developer role for its reasoning models", () => {
    const strict = {
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a"],
      additionalProperties: false,
    };
    const tools = [
      { name: "f", description: "", inputSchema: strict },
      { name: "g", description: "", inputSchema: { type: "object", properties: { a: { type: "string" } } } },
    ];
    for (const [provider, marks] of [
      ["openai", [true, undefined]],
      ["azure", [true, undefined]],
      ["vllm", [undefined, undefined]],
    ] as const) {
      const sent = send(provider, { tools }).body.tools as { function: JsonObject }[];
      expect(sent.map((tool) => tool.function.strict)).toEqual(marks);
    }
    const role = (provider: string, model: string): unknown =>
      send(provider, { system: "s" }, { model }).body.messages[0]?.role;
    expect([
      role("openai", "o3"),
      role("azure", "gpt-5"),
      role("openai", "gpt-4o"),
      role("copilot", "o3"),
    ]).toEqual(["developer", "developer", "system", "system"]);
  });

  it("knows DeepSeek's models at Azure from OpenAI's", () => {
    const azure = (model: string): object => compatOf(chooseServer("azure", undefined).server, model);
    expect(azure("DeepSeek-V4-Pro")).toMatchObject({
      echoReasoning: "reasoning_content",
      echoReasoningOn: "all",
    });
    expect(azure("DeepSeek-R1-0528")).toMatchObject({ thinkTags: "leading" });
    expect(azure("MAI-DS-R1")).toMatchObject({ thinkTags: "leading" });
    expect(azure("gpt-5.2")).not.toHaveProperty("thinkTags");
    expect(azure("gpt-5.2")).not.toHaveProperty("echoReasoning");
  });

  it("has the tools of Copilot's Gemini without what it refuses without a word", () => {
    const row = { type: ["object", "null"], properties: { a: { type: "string" } } };
    const tools = [
      {
        name: "f",
        description: "",
        inputSchema: { type: "object", properties: { rows: { type: "array", items: row } } },
      },
    ];
    const items = (model: string): unknown => {
      const [sent] = send("copilot", { tools }, { model }).body.tools as JsonObject[];
      return (sent as { function: { parameters: { properties: { rows: JsonObject } } } }).function.parameters
        .properties.rows.items;
    };
    expect(items("gemini-3.1-pro-preview")).toEqual({ ...row, type: "object" });
    expect(items("gpt-5")).toEqual(row);
  });

  it("forces a call with the server's own value", () => {
    const word = (provider: string): unknown =>
      send(provider, { tools: one, toolChoice: "any" }).body.tool_choice;
    expect([word("mistral"), word("groq")]).toEqual(["any", "required"]);
  });

  it("forces a call while thinking only if that is accepted (F135)", () => {
    const chosen = (provider: string, settings: ModelRequest["settings"]): unknown[] => {
      const { body, warnings } = send(provider, { tools: one, toolChoice: "any", settings });
      return [body.tool_choice, body.thinking ?? body.enable_thinking, warnings.length];
    };
    expect(chosen("deepseek", {})).toEqual(["required", { type: "disabled" }, 0]);
    expect(chosen("deepseek", { reasoning: "off" })).toEqual(["required", { type: "disabled" }, 0]);
    expect(chosen("deepseek", { reasoning: "high" })).toEqual([undefined, { type: "enabled" }, 1]);
    expect(chosen("alibaba", {})).toEqual(["required", false, 0]);
    expect(chosen("zai", {})).toEqual([undefined, undefined, 1]);
    expect(chosen("openai", {})).toEqual(["required", undefined, 0]);
  });

  it("turns thinking on and off in each server's own form", () => {
    const params = ["reasoning_effort", "reasoning", "thinking", "enable_thinking", "chat_template_kwargs"];
    const asked = (provider: string, reasoning: "high" | "off"): JsonObject => {
      const { body } = send(provider, { settings: { reasoning } });
      return Object.fromEntries(Object.entries(body).filter(([name]) => params.includes(name)));
    };
    const effort = [{ reasoning_effort: "high" }, { reasoning_effort: "none" }];
    const type = [{ thinking: { type: "enabled" } }, { thinking: { type: "disabled" } }];
    const template = [
      { chat_template_kwargs: { enable_thinking: true } },
      { chat_template_kwargs: { enable_thinking: false } },
    ];
    const own: { [provider: string]: JsonObject[] } = {
      deepseek: [
        { thinking: { type: "enabled" }, reasoning_effort: "high" },
        { thinking: { type: "disabled" } },
      ],
      together: [
        { reasoning: { enabled: true }, reasoning_effort: "high" },
        { reasoning: { enabled: false } },
      ],
      zai: type,
      moonshot: type,
      minimax: [{ thinking: { type: "adaptive" } }, { thinking: { type: "disabled" } }],
      alibaba: [{ enable_thinking: true }, { enable_thinking: false }],
      siliconflow: [{ enable_thinking: true }, { enable_thinking: false }],
      xiaomi: type,
      openrouter: [{ reasoning: { effort: "high" } }, { reasoning: { enabled: false } }],
      vllm: template,
      sglang: template,
      llamacpp: template,
      xai: [{ reasoning_effort: "high" }, { reasoning_effort: "low" }],
      mistral: [{}, {}],
      lmstudio: [{}, {}],
    };
    for (const provider of Object.keys(compatibleServers))
      expect([provider, asked(provider, "high"), asked(provider, "off")]).toEqual([
        provider,
        ...(own[provider] ?? effort),
      ]);
  });

  it("sends thinking back to MiniMax in every turn, as its documentation requires", () => {
    const thought: Message = {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "Yes." },
      ],
      origin: { api: "openai-chat", provider: "minimax", model: "m" },
      stop: { kind: "end_turn", wire: "end_turn" },
    };
    const { body } = send("minimax", { messages: [userText("hi"), thought, userText("and?")] });
    expect(body.messages[1]?.content).toBe("<think>hm</think>\n\nYes.");
  });

  it("requests the nearest effort that the server knows", () => {
    const effort = (
      provider: string,
      reasoning: NonNullable<ModelRequest["settings"]["reasoning"]>,
      model = "m",
    ): unknown => send(provider, { settings: { reasoning } }, { model }).body.reasoning_effort;
    expect(effort("xai", "minimal")).toBe("low");
    expect(effort("xai", "medium")).toBe("low");
    expect(effort("xai", "high")).toBe("high");
    expect(effort("xai", "max")).toBe("high");
    expect(effort("groq", "xhigh", "qwen3")).toBe("default");
    expect(effort("xai", "off")).toBe("low");
    expect(effort("groq", "high", "qwen3")).toBe("default");
    expect(effort("groq", "off", "qwen3")).toBe("none");
    expect(effort("groq", "medium", "openai/gpt-oss-20b")).toBe("medium");
  });

  it("leaves the schema out if it may not be sent with tools (F144)", () => {
    const outputSchema = { type: "object", properties: {} };
    expect(send("groq", { outputSchema }).body.response_format).toMatchObject({ type: "json_schema" });
    const { body, warnings } = send("groq", { outputSchema, tools: one });
    expect(body.response_format).toBeUndefined();
    expect(warnings).toHaveLength(1);
  });

  it("never sends an empty list of tools, and declares one if a history with calls needs it (F131, F132)", () => {
    for (const provider of Object.keys(compatibleServers)) {
      const { body } = send(provider, { messages: call("x") });
      if (provider === "litellm") expect(body.tools).toHaveLength(1);
      else expect(Object.hasOwn(body, "tools")).toBe(false);
      expect(send(provider, {}).body.tools).toBeUndefined();
    }
  });

  it("fails before sending if a server supports no tools, or not so many (F061, F145)", () => {
    const tools = Array.from({ length: 129 }, (_, at) => ({
      ...one[0],
      name: `f${at}`,
    })) as ModelRequest["tools"];
    expect(() => send("perplexity", { tools: one })).toThrow(RondoError);
    expect(() => send("perplexity", { tools: one })).toThrow(/takes no tools/);
    expect(() => send("openai", { tools })).toThrow(/129 tools are more than the 128/);
    expect(send("ollama", { tools }).body.tools).toHaveLength(129);
  });

  it("breaks control tokens of templates up in everything that others may have written, but not in a system prompt (F237)", () => {
    const text = "a<|im_end|>b<start_of_turn>c[INST]d<｜User｜>e<<SYS>>[TOOL_CALLS] if (a<b || c>d) x|>y";
    const broken =
      "a< |im_end|>b< start_of_turn>c[ INST]d< ｜User｜>e< <SYS>>[ TOOL_CALLS] if (a<b || c>d) x|>y";
    const tools = [{ name: "t", description: text, inputSchema: { type: "object", title: text } }];
    const messages: Message[] = [
      userText(text),
      {
        role: "assistant",
        content: [{ type: "text", text }],
        origin: { api: "a", provider: "b", model: "c" },
        stop: { kind: "end_turn", wire: "end_turn" },
      },
      userText("x"),
    ];
    const { body } = send("llamacpp", { system: text, messages, tools });
    expect(body.messages.map(({ content }) => content).slice(0, 3)).toEqual([text, broken, broken]);
    expect(JSON.stringify(body.tools).split(broken)).toHaveLength(3);
    expect(send("openai", { messages }).body.messages[0]?.content).toBe(text);
  });

  it("keeps the beginning of a request the same from step to step, with any row", () => {
    const history = [
      ...call("t"),
      ...call("u")
        .slice(1)
        .map((message) => ({ ...message })),
    ] as Message[];
    for (const [provider, server] of Object.entries(compatibleServers)) {
      const target: Target = {
        origin: { api: "openai-chat", provider, model: "m" },
        facts: {},
        compat: compatOf(server, "m"),
      };
      const encoder = openaiChat.encoder(target);
      const text = (messages: Message[]): string =>
        encoder.encode({ messages, tools: [], toolChoice: "auto", settings: {}, system: "s" }).body;
      const first = text(history.slice(0, 3));
      const second = text(history);
      expect(second.startsWith(first.slice(0, first.lastIndexOf("]")))).toBe(true);
    }
  });
});

describe("the page of the table", () => {
  it("shows the table as it is", () => {
    const script = fileURLToPath(new URL("../../../../scripts/compatible-servers.ts", import.meta.url));
    expect(() =>
      execFileSync(process.execPath, ["--conditions=rondo-source", script, "--check"], { stdio: "pipe" }),
    ).not.toThrow();
  });
});
