import { spawn } from "node:child_process";
import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Anthropic from "@anthropic-ai/sdk";
import { type Message, type Model, userText } from "@rondo/core";
import { SignatureV4 } from "@smithy/signature-v4";
import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  anthropic,
  azure,
  bedrock,
  fromAnthropicClient,
  fromOpenaiClient,
  google,
  knownProviders,
  modelFromName,
  openai,
  openaiCompatible,
  vertex,
} from "../../src/index.ts";
import { signature } from "../../src/providers/bedrock.ts";
import { errorFrom, type Handler, sse, tinyRequest, watch, withServer } from "./loopback.ts";

const request = { ...tinyRequest, messages: [userText("hi")] };

const replies: { readonly [protocol: string]: string } = {
  anthropic: [
    '{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"c","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}',
    '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"}}',
    '{"type":"content_block_stop","index":0}',
    '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}',
    '{"type":"message_stop"}',
  ]
    .map((data) => `event: ${(JSON.parse(data) as { type: string }).type}\ndata: ${data}\n\n`)
    .join(""),
  chat: [
    '{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"hello"},"finish_reason":null}]}',
    '{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}',
    "[DONE]",
  ]
    .map((data) => `data: ${data}\n\n`)
    .join(""),
  responses: [
    '{"type":"response.created","sequence_number":0,"response":{"id":"r","object":"response","status":"in_progress","output":[]}}',
    '{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"type":"message","id":"i","role":"assistant","status":"in_progress","content":[]}}',
    '{"type":"response.output_text.delta","sequence_number":2,"output_index":0,"item_id":"i","content_index":0,"delta":"hello"}',
    '{"type":"response.output_item.done","sequence_number":3,"output_index":0,"item":{"type":"message","id":"i","role":"assistant","status":"completed","content":[{"type":"output_text","text":"hello","annotations":[]}]}}',
    '{"type":"response.completed","sequence_number":4,"response":{"id":"r","object":"response","status":"completed","output":[{"type":"message","id":"i","role":"assistant","status":"completed","content":[{"type":"output_text","text":"hello","annotations":[]}]}],"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}}',
  ]
    .map((data) => `event: ${(JSON.parse(data) as { type: string }).type}\ndata: ${data}\n\n`)
    .join(""),
  google:
    'data: {"candidates":[{"content":{"parts":[{"text":"hello"}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}\r\n\r\n',
};

function answering(protocol: string): Handler {
  return (_request, response) => {
    response.writeHead(200, sse);
    response.end(replies[protocol]);
  };
}

async function says(model: Model): Promise<string> {
  const answer = await model.call(request, watch());
  return answer.content.map((part) => ("text" in part ? part.text : "")).join("");
}

const keys = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "OPENAI_API_KEY",
  "GEMINI_API_KEY",
  "GOOGLE_API_KEY",
  "GOOGLE_GENERATIVE_AI_API_KEY",
  "GROQ_API_KEY",
  "AWS_BEARER_TOKEN_BEDROCK",
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "AZURE_OPENAI_API_KEY",
  "AZURE_OPENAI_ENDPOINT",
  "GOOGLE_CLOUD_PROJECT",
  "GOOGLE_VERTEX_PROJECT",
  "GOOGLE_VERTEX_ACCESS_TOKEN",
];
let saved: { [name: string]: string | undefined } = {};

beforeEach(() => {
  saved = Object.fromEntries(keys.map((name) => [name, process.env[name]]));
  for (const name of keys) delete process.env[name];
  // Google's library would look for a metadata server on the network.
  process.env.METADATA_SERVER_DETECTION = "none";
});

afterEach(() => {
  for (const name of keys) {
    if (saved[name] === undefined) delete process.env[name];
    else process.env[name] = saved[name];
  }
});

describe("each provider's path, key and protocol", () => {
  it.each<
    [
      name: string,
      protocol: string,
      make: (url: string) => Model,
      path: string,
      headers: { [n: string]: string },
    ]
  >([
    [
      "anthropic",
      "anthropic",
      (baseURL) => anthropic("claude-sonnet-5", { baseURL, apiKey: "secret-key" }),
      "/v1/messages",
      { "x-api-key": "secret-key", "anthropic-version": "2023-06-01" },
    ],
    [
      "openai",
      "responses",
      (url) =>
        openai("gpt-5.2", { baseURL: `${url}/v1`, apiKey: "secret-key", organization: "o", project: "p" }),
      "/v1/responses",
      { authorization: "Bearer secret-key", "openai-organization": "o", "openai-project": "p" },
    ],
    [
      "openai.chat",
      "chat",
      (url) => openai.chat("gpt-5.2", { baseURL: `${url}/v1`, apiKey: "secret-key" }),
      "/v1/chat/completions",
      { authorization: "Bearer secret-key" },
    ],
    [
      "google",
      "google",
      (baseURL) => google("gemini-3-pro", { baseURL, apiKey: "secret-key" }),
      "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
      { "x-goog-api-key": "secret-key" },
    ],
    [
      "vertex with Gemini",
      "google",
      (baseURL) =>
        vertex("gemini-3-pro", { baseURL, project: "p", location: "l", credentials: () => "ya29.token" }),
      "/v1/projects/p/locations/l/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse",
      { authorization: "Bearer ya29.token" },
    ],
    [
      "vertex in express mode",
      "google",
      (baseURL) => vertex("gemini-3-pro", { baseURL, apiKey: "AIza-secret" }),
      "/v1/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse",
      { "x-goog-api-key": "AIza-secret" },
    ],
    [
      "vertex with Claude",
      "anthropic",
      (url) =>
        vertex("claude-sonnet-5", {
          baseURL: `${url}/v1/projects/p/locations/l`,
          project: "p",
          credentials: () => "ya29.token",
        }),
      "/v1/projects/p/locations/l/publishers/anthropic/models/claude-sonnet-5:streamRawPredict",
      { authorization: "Bearer ya29.token" },
    ],
    [
      "azure",
      "responses",
      (endpoint) => azure("my-deployment", { endpoint: `${endpoint}/`, apiKey: "secret-key" }),
      "/openai/v1/responses",
      { "api-key": "secret-key" },
    ],
    [
      "azure, by an address that has the path",
      "responses",
      (endpoint) => azure("my-deployment", { endpoint: `${endpoint}/openai/v1/`, apiKey: "secret-key" }),
      "/openai/v1/responses",
      { "api-key": "secret-key" },
    ],
    [
      "a known compatible server",
      "chat",
      (url) =>
        openaiCompatible({
          provider: "groq",
          model: "llama",
          baseURL: `${url}/openai/v1`,
          apiKey: "secret-key",
        }),
      "/openai/v1/chat/completions",
      { authorization: "Bearer secret-key" },
    ],
    [
      "any compatible server",
      "chat",
      (url) => openaiCompatible({ model: "qwen", baseURL: `${url}/v1` }),
      "/v1/chat/completions",
      {},
    ],
  ])("%s", async (_name, protocol, make, path, headers) => {
    await withServer(answering(protocol), async ({ url, seen }) => {
      expect(await says(make(url))).toBe("hello");
      expect(seen[0]?.url).toBe(path);
      expect(seen[0]?.headers).toMatchObject(headers);
      expect(seen[0]?.url).not.toContain("secret");
      if (Object.keys(headers).length === 0) expect(seen[0]?.headers.authorization).toBeUndefined();
    });
  });

  it.each([
    ["global", "https://aiplatform.googleapis.com"],
    ["europe-west4", "https://europe-west4-aiplatform.googleapis.com"],
    ["eu", "https://aiplatform.eu.rep.googleapis.com"],
    ["us", "https://aiplatform.us.rep.googleapis.com"],
  ])("vertex sends requests from %s to that location's host", async (location, host) => {
    for (const name of ["gemini-3-pro", "claude-sonnet-5"]) {
      const asked: string[] = [];
      const fetch = async (url: unknown): Promise<Response> => {
        asked.push(String(url));
        return new Response("{}", { status: 400 });
      };
      const model = vertex(name, { project: "p", location, credentials: () => "t", fetch: fetch as never });
      await errorFrom(says(model));
      expect(asked[0]?.startsWith(`${host}/v1/projects/p/locations/${location}/`)).toBe(true);
    }
  });

  it.each(["evil.example.com/#", "user@internal:8080/#", "us east 1", "region\n"])(
    "vertex sends no token to a host that an invalid location would make: %j",
    (location) => {
      expect(() => vertex("gemini-3-pro", { project: "p", location })).toThrow(
        "is not a Google Cloud location",
      );
      expect(() => vertex("m", { project: "p", location, baseURL: "https://proxy.example" })).not.toThrow();
    },
  );

  it.each<[name: string, make: () => Model, variable: string]>([
    ["anthropic", () => anthropic("m"), "ANTHROPIC_API_KEY"],
    ["openai", () => openai("m"), "OPENAI_API_KEY"],
    ["google", () => google("m"), "GEMINI_API_KEY"],
    ["bedrock", () => bedrock("m"), "AWS_BEARER_TOKEN_BEDROCK"],
    ["groq", () => openaiCompatible({ provider: "groq", model: "m" }), "GROQ_API_KEY"],
    ["azure", () => azure("m", { endpoint: "https://a.invalid" }), "AZURE_OPENAI_API_KEY"],
    ["vertex", () => vertex("gemini", { project: "p" }), "GOOGLE_VERTEX_ACCESS_TOKEN"],
  ])(
    "%s without a key says which variable it looked for, and sends nothing",
    async (_name, make, variable) => {
      const error = await errorFrom(make().call(request, watch()));
      expect(error.kind).toBe("auth");
      expect(error.message).toContain(variable);
    },
  );

  it("a key set after the model was made is found", async () => {
    await withServer(answering("anthropic"), async ({ url, seen }) => {
      const model = anthropic("claude-sonnet-5", { baseURL: url });
      process.env.ANTHROPIC_API_KEY = " late-key\n";
      expect(await says(model)).toBe("hello");
      expect(seen[0]?.headers["x-api-key"]).toBe("late-key");
      delete process.env.ANTHROPIC_API_KEY;
      process.env.ANTHROPIC_AUTH_TOKEN = "token-123456";
      expect(await says(model)).toBe("hello");
      expect(seen[1]?.headers.authorization).toBe("Bearer token-123456");
      expect(seen[1]?.headers["x-api-key"]).toBeUndefined();
    });
  });

  it("F247: a refused Google key is in no error, and not in the address", async () => {
    const key = "AIzaSyTESTKEY1234567890";
    await withServer(
      (seen, response) => {
        response.writeHead(400, { "content-type": "application/json" });
        response.end(
          JSON.stringify({
            error: {
              code: 400,
              message: `API key not valid: ${seen.headers["x-goog-api-key"]}. Please pass a valid API key.`,
              status: "INVALID_ARGUMENT",
            },
          }),
        );
      },
      async ({ url, seen }) => {
        const error = await errorFrom(
          google("gemini-3-pro", { baseURL: url, apiKey: key }).call(request, watch()),
        );
        expect(error.kind).toBe("auth");
        expect(
          `${error.message} ${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`,
        ).not.toContain(key);
        expect(seen[0]?.url).not.toContain("key=");
      },
    );
  });
});

describe("bedrock", () => {
  const aws = {
    accessKeyId: "AKIDEXAMPLE",
    secretAccessKey: "wJalrXUtnFEMI/K7MDENG",
    sessionToken: "session-token",
  };

  it("signs like the vendor's own signer, including colons in a model's name", async () => {
    const path = `/model/${encodeURIComponent("anthropic.claude-sonnet-5-v1:0")}/converse-stream`;
    const url = `https://bedrock-runtime.eu-central-1.amazonaws.com${path}`;
    const ours = await signature(
      aws,
      "eu-central-1",
      { url, headers: {}, body: '{"é":1}' },
      "20261121T120000Z",
    );
    const oracle = new SignatureV4({
      credentials: aws,
      region: "eu-central-1",
      service: "bedrock",
      sha256: NodeSha256 as never,
      applyChecksum: false,
    });
    const theirs = (await oracle.sign(
      {
        method: "POST",
        protocol: "https:",
        hostname: "bedrock-runtime.eu-central-1.amazonaws.com",
        path,
        query: {},
        headers: { host: "bedrock-runtime.eu-central-1.amazonaws.com" },
        body: '{"é":1}',
      } as never,
      { signingDate: new Date("2026-11-21T12:00:00Z") },
    )) as unknown as { headers: { authorization: string } };
    expect(ours.authorization).toBe(theirs.headers.authorization);
    expect(ours["x-amz-security-token"]).toBe("session-token");
  });

  it("sends a signature, or a bearer key if there is one, and shows no secret in an error", async () => {
    await withServer(
      (_request, response) => {
        response.writeHead(403, { "x-amzn-errortype": "ExpiredTokenException" });
        response.end(JSON.stringify({ message: `expired: ${aws.sessionToken}` }));
      },
      async ({ url, seen }) => {
        const model = bedrock("m", { baseURL: url, region: "eu-central-1", credentials: () => ({ aws }) });
        const error = await errorFrom(model.call(request, watch()));
        expect(error.kind).toBe("auth");
        expect(JSON.stringify(error)).not.toContain(aws.sessionToken);
        expect(seen[0]?.headers.authorization).toMatch(
          /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-central-1\/bedrock/,
        );
        expect(seen[0]?.headers["x-amz-date"]).toMatch(/^\d{8}T\d{6}Z$/);
        process.env.AWS_BEARER_TOKEN_BEDROCK = "bedrock-key-1";
        await errorFrom(bedrock("m", { baseURL: url }).call(request, watch()));
        expect(seen[1]?.headers.authorization).toBe("Bearer bedrock-key-1");
      },
    );
  });
});

class NodeSha256 {
  readonly #hash: ReturnType<typeof createHash> | ReturnType<typeof createHmac>;
  constructor(secret?: string | Uint8Array) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", secret);
  }
  update(data: string | Uint8Array): void {
    this.#hash.update(data);
  }
  async digest(): Promise<Uint8Array> {
    return new Uint8Array(this.#hash.digest());
  }
  reset(): void {}
}

describe("names", () => {
  it.each([
    ["anthropic/claude-sonnet-5", "anthropic/claude-sonnet-5", "anthropic-messages"],
    ["Claude/claude-sonnet-5", "anthropic/claude-sonnet-5", "anthropic-messages"],
    ["openai/gpt-5.2", "openai/gpt-5.2", "openai-responses"],
    ["openai-chat/gpt-5.2", "openai/gpt-5.2", "openai-chat"],
    ["gemini/gemini-3-pro", "google/gemini-3-pro", "google-generative-ai"],
    ["bedrock/eu.anthropic.claude", "bedrock/eu.anthropic.claude", "bedrock-converse"],
    ["openrouter/deepseek/deepseek-v3.2", "openrouter/deepseek/deepseek-v3.2", "openai-chat"],
    ["ollama/qwen3:8b", "ollama/qwen3:8b", "ollama-chat"],
    ["llama.cpp/q", "llamacpp/q", "openai-chat"],
  ])("%s is %s over %s", async (name, id, api) => {
    const model = await modelFromName(name, {});
    expect([model.id, model.origin.api]).toEqual([id, api]);
  });

  it.each(["", "claude-sonnet-5", "nobody/m", "constructor/m", "__proto__/m"])(
    "%j is refused with a list of what is known",
    async (name) => {
      const error = await errorFrom(modelFromName(name, {}));
      expect(error.kind).toBe("invalid_request");
      for (const provider of knownProviders()) expect(error.message).toContain(provider);
    },
  );

  it("a name without its provider gets a suggestion", async () => {
    expect((await errorFrom(modelFromName("claude-sonnet-5", {}))).message).toContain(
      "Did you mean anthropic/claude-sonnet-5?",
    );
  });

  it("an address may be changed by the environment, and a key is still required", async () => {
    await withServer(answering("chat"), async ({ url, seen }) => {
      const model = await modelFromName("groq/llama", { GROQ_BASE_URL: `${url}/v1` });
      expect((await errorFrom(model.call(request, watch()))).message).toContain("GROQ_API_KEY");
      process.env.GROQ_API_KEY = "gsk-key";
      expect(await says(model)).toBe("hello");
      expect(seen[0]?.url).toBe("/v1/chat/completions");
      // Whoever moved OpenAI did not mean one of its two protocols: its key would go to the old address.
      process.env.OPENAI_API_KEY = "sk-key";
      const own = `${url}/own`;
      for (const [env, path] of [
        [{ OPENAI_BASE_URL: `${url}/v1` }, "/v1/chat/completions"],
        [{ OPENAI_BASE_URL: `${url}/v1`, OPENAI_CHAT_BASE_URL: own }, "/own/chat/completions"],
      ] as const) {
        expect(await says(await modelFromName("openai-chat/gpt-5.2", env))).toBe("hello");
        expect(seen.at(-1)?.url).toBe(path);
      }
      expect(await says(await modelFromName("lmstudio/q", { LMSTUDIO_BASE_URL: `${url}/v1` }))).toBe("hello");
    });
  });
});

describe("an official client as the transport", () => {
  it("Anthropic's", async () => {
    await withServer(answering("anthropic"), async ({ url, seen }) => {
      const client = new Anthropic({ apiKey: "k", baseURL: url });
      expect(await says(fromAnthropicClient(client, "claude-sonnet-5"))).toBe("hello");
      expect(seen[0]?.url).toBe("/v1/messages");
    });
  });

  it("OpenAI's, over both its protocols", async () => {
    for (const protocol of ["chat", "responses"] as const)
      await withServer(answering(protocol), async ({ url }) => {
        const client = new OpenAI({ apiKey: "k", baseURL: `${url}/v1` });
        expect(await says(fromOpenaiClient(client, "gpt-5.2", { protocol }))).toBe("hello");
      });
  });

  it("is given the keys of arguments as they are, whatever V8 has read before", async () => {
    const args = { a: 1, '"': 2 };
    const origin = { api: "anthropic-messages", provider: "anthropic", model: "claude-sonnet-5" };
    const stop = { kind: "tool_use", wire: "tool_use" } as const;
    const call = { type: "tool_call", id: "c1", name: "f", args, rawArgs: JSON.stringify(args) } as const;
    const messages: Message[] = [
      userText("hi"),
      { role: "assistant", content: [call], origin, stop },
      { role: "tool", callId: "c1", name: "f", content: [{ type: "text", text: "done" }], isError: false },
    ];
    await withServer(answering("anthropic"), async ({ url, seen }) => {
      const client = new Anthropic({ apiKey: "k", baseURL: url });
      // Read last, so that V8 takes the quotation mark for a backslash.
      JSON.parse('{"a":[],"\\\\":0}');
      await fromAnthropicClient(client, "claude-sonnet-5").call({ ...request, messages }, watch());
      expect(seen[0]?.body).toContain('"input":{"a":1,"\\"":2}');
    });
  });

  it("gets no retries of its own, and its error is read as the response it came from", async () => {
    await withServer(
      (_request, response) => {
        response.writeHead(429, { "content-type": "application/json", "retry-after": "7" });
        response.end('{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}');
      },
      async ({ url, seen }) => {
        const client = new Anthropic({ apiKey: "k", baseURL: url });
        const error = await errorFrom(fromAnthropicClient(client, "claude-sonnet-5").call(request, watch()));
        expect(error).toMatchObject({ kind: "rate_limit", status: 429, retryAfterMs: 7000 });
        expect(seen.length).toBe(1);
      },
    );
  });

  it.each([
    ["a text", { "retry-after": "7" }],
    ["in its own letters", { "Retry-After": "7" }],
    ["a number", { "retry-after": 7 }],
    ["a list", { "retry-after": ["7"] }],
  ])("is read with the headers of an older client, a plain object: %s", async (_, headers) => {
    const create = async (): Promise<never> => {
      throw Object.assign(new Error("429 slow down"), {
        status: 429,
        headers,
        error: { message: "slow down" },
      });
    };
    const client = { chat: { completions: { create } }, responses: { create } };
    const error = await errorFrom(fromOpenaiClient(client, "gpt-5.2").call(request, watch()));
    expect(error).toMatchObject({ kind: "rate_limit", status: 429, retryAfterMs: 7000 });
  });
});

describe("a proxy in the environment", () => {
  it("is used, except for the hosts that are excluded", async () => {
    const proxied: string[] = [];
    const proxy = createServer((message, response) => {
      proxied.push(message.url ?? "");
      response.writeHead(200, sse);
      response.end(replies.chat);
    });
    proxy.listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const script = `
      const { openaiCompatible } = await import(${JSON.stringify(new URL("../../src/index.ts", import.meta.url).href)});
      for (const baseURL of ["http://model.invalid/v1", "http://direct.invalid/v1"]) {
        const model = openaiCompatible({ model: "m", baseURL });
        const request = { messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }], tools: [], toolChoice: "auto", settings: {} };
        await model.call(request, { signal: new AbortController().signal, emit() {} }).then(
          (answer) => console.log(answer.content[0].text), (error) => console.log(error.kind));
      }`;
    const child = spawn(
      process.execPath,
      ["--conditions=rondo-source", "--input-type=module", "-e", script],
      {
        env: { PATH: process.env.PATH ?? "", HTTP_PROXY: address, NO_PROXY: "direct.invalid" },
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    let out = "";
    child.stdout.on("data", (piece: Buffer) => {
      out += piece.toString();
    });
    await once(child, "close");
    proxy.close();
    expect(out).toBe("hello\nnetwork\n");
    expect(proxied).toEqual(["http://model.invalid/v1/chat/completions"]);
  });
});
