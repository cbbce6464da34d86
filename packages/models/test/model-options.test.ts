// What is said of a model and cannot be used is refused before anything goes to any server, and no key is shown.

import { Agent, RondoError } from "@rondo/core";
import { scripted } from "@rondo/testkit";
import { expect, test } from "vitest";
import { chatCompat } from "../src/codecs/openai-chat/compat.ts";
import { responsesCompat } from "../src/codecs/openai-responses/settings.ts";
import {
  anthropic,
  azure,
  bedrock,
  classicGemini,
  compatibleServers,
  createModel,
  fromAiSdk,
  google,
  modelFromName,
  offline,
  ollama,
  openai,
  openaiCompatible,
  promptedJson,
  toAiSdk,
  vertex,
} from "../src/index.ts";

const wordsOf = (make: () => unknown): string => {
  try {
    make();
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(RondoError);
    expect(thrown).toMatchObject({ kind: "invalid_request", retryable: false });
    return (thrown as Error).message;
  }
  return "it was taken";
};

test.each<[Record<string, unknown>, string]>([
  [{ baseUrl: "https://x" }, "openai/m: option baseUrl: there is no such option; did you mean baseURL?"],
  [{ base_url: "https://x" }, "openai/m: option base_url: there is no such option; did you mean baseURL?"],
  [
    { temperature: 0 },
    "openai/m: option temperature: it is an option of the agent: new Agent({ settings: { temperature } })",
  ],
  [{ maxTokens: 5 }, "it is an option of the agent: new Agent({ settings: { maxOutputTokens } })"],
  [{ maxRetries: 5 }, "it is an option of the agent: new Agent({ retry: { attempts } })"],
  [{ key: "sk-1" }, "openai/m: option key: there is no such option; did you mean apiKey?"],
  [{ apiKey: 1234567 }, "openai/m: option apiKey: a text is needed, not a number"],
  [
    { baseURL: "my-proxy" },
    'openai/m: option baseURL: "my-proxy" is no URL: give one like "https://api.example.com/v1"',
  ],
  [{ baseURL: "" }, 'openai/m: option baseURL: "" is no URL: give one like'],
  [
    { baseURL: "localhost:8000" },
    'openai/m: option baseURL: "localhost:8000" is no URL of a server (it must begin with http:// or https://): give one like',
  ],
  [{ baseURL: 8000 }, "openai/m: option baseURL: a text is needed, not 8000"],
  [{ headers: { "x-team": undefined } }, "openai/m: option headers.x-team: a text is needed, not undefined"],
  [{ headers: { "x-team": 5 } }, "openai/m: option headers.x-team: a text is needed, not a number"],
  [{ fetch: true }, "openai/m: option fetch: a function is needed, not true"],
  [{ http: {} }, "openai/m: option http: an HttpClient (request) is needed, not an object"],
  [{ stream: "yes" }, 'openai/m: option stream: true or false is needed, not "yes"'],
  [
    { facts: { contextWindow: "8k" } },
    'openai/m: option facts.contextWindow: a number of at least 0 is needed, not "8k"',
  ],
  [{ facts: { window: 8 } }, "openai/m: option facts.window: there is no such option"],
  [{ facts: { price: { input: 1 } } }, "openai/m: option facts.price: a price (input, output) is needed"],
  [
    { clocks: { idleMs: 5 } },
    "openai/m: option clocks.idleMs: there is no such option; there are connectMs, ",
  ],
])("%j: %s", (given, words) => {
  expect(wordsOf(() => openai("m", given as never))).toContain(words);
});

test.each([
  [{ model: "m" }, "an object"],
  [undefined, "undefined"],
  ["", '""'],
])("what is given as a model's name and is none is not told as one: %j", (given, words) => {
  expect(wordsOf(() => openai(given as never))).toBe(`openai: option model: a name is needed, not ${words}`);
  expect(wordsOf(() => azure(given as never, { endpoint: "https://x.example" }))).toMatch(
    /^azure: option model: /,
  );
});

test("every provider checks them", () => {
  const wrong = { baseUrl: "https://x" } as never;
  const said = [
    () => anthropic("m", wrong),
    () => google("m", wrong),
    () => azure("m", { endpoint: "https://x", ...(wrong as object) } as never),
    () => bedrock("m", { region: "eu-west-1", ...(wrong as object) } as never),
    () => ollama("m", wrong),
    () =>
      openaiCompatible({ provider: "p", model: "m", baseURL: "https://x", ...(wrong as object) } as never),
  ].map(wordsOf);
  expect(said).toEqual(
    said.map(() => expect.stringContaining("option baseUrl: there is no such option; did you mean baseURL?")),
  );
});

test("each provider accepts its own options, and undefined ones count as left out", () => {
  const none = {
    apiKey: undefined,
    headers: undefined,
    fetch: undefined,
    facts: undefined,
    clocks: undefined,
  };
  expect(
    [
      () => openai("m", { organization: "o", project: "p", ...none } as never),
      () => openai.chat("m", { organization: "o", apiKey: "k" }),
      () => azure("m", { endpoint: "https://x.openai.azure.com", protocol: "chat", apiKey: "k" }),
      () => bedrock("m", { region: "eu-west-1" }),
      () => ollama("m", { contextSize: 4096, keepAlive: "5m" }),
    ].map(wordsOf),
  ).toEqual(Array.from({ length: 5 }, () => "it was taken"));
});

const abroad = { specificationVersion: "v4", provider: "p", modelId: "m", doStream: () => {} };

test.each<[() => unknown, string]>([
  [
    () => ollama("m", { toolProtocol: "Native" } as never),
    "ollama/m: option toolProtocol: one of auto, native",
  ],
  [() => ollama("m", { onPromptCut: "error" } as never), "ollama/m: option onPromptCut: one of warn, fail"],
  [() => ollama("m", { contextSize: "8k" } as never), "ollama/m: option contextSize: "],
  [() => ollama("m", { prompted: { mod: "strict" } } as never), "option mod: there is no such option"],
  [
    () => azure("m", { endpoint: "https://x", protocol: "chatt" } as never),
    'azure/m: option protocol: one of responses, chat is needed, not "chatt"',
  ],
  [
    () => promptedJson(offline(), { mode: "Strict" } as never),
    "promptedJson: option mode: one of tolerant, strict",
  ],
  [() => promptedJson(offline(), { startInThought: true } as never), "did you mean startsInThought?"],
  [
    () => fromAiSdk(abroad as never, { streaming: false } as never),
    "fromAiSdk: option streaming: there is no such",
  ],
  [
    () => fromAiSdk(abroad as never, { providerTools: [{}] } as never),
    "fromAiSdk: option providerTools[0].id: ",
  ],
  [
    () => toAiSdk(offline(), { specification: "v2" } as never),
    "toAiSdk: option specification: one of v3, v4",
  ],
])("an option of one kind of model alone is looked at as well: %s", (make, words) => {
  expect(wordsOf(make)).toContain(words);
});

test.each<[unknown, string]>([
  [null, "a key, or { apiKey, headers, aws }, is needed, not null"],
  [5, "a key, or { apiKey, headers, aws }, is needed, not a number"],
  [{ key: "sk-secret" }, "it gave key, and apiKey, headers or aws is needed"],
  [{ apiKey: 12345 }, "option apiKey: a text is needed, not a number"],
  [{ headers: "sk-secret" }, "option headers: an object of texts is needed"],
  [{ headers: { "x-team": undefined } }, "option headers.x-team: a text is needed, not undefined"],
  [{ aws: { accessKeyId: "AKIA" } }, "option aws.secretAccessKey: a text is needed, not undefined"],
])(
  "credentials that are none are refused before anything is sent, and not shown: %j",
  async (given, words) => {
    const model = openai("m", { baseURL: "http://127.0.0.1:9", credentials: () => given as never });
    const { end, modelCalls } = await new Agent({ model }).run("go");
    expect(end?.error?.message).toContain(`the credentials callback of openai/m: ${words}`);
    expect([end?.error?.kind, modelCalls]).toEqual(["auth", 1]);
    expect(end?.error?.message).not.toMatch(/sk-secret|12345/);
  },
);

test.each<[string, (options: object) => unknown]>([
  ["anthropic", (options) => anthropic("m", options)],
  ["google", (options) => google("m", options)],
  ["openai", (options) => openai("m", options)],
  ["openai.chat", (options) => openai.chat("m", options)],
  ["openaiCompatible", (options) => openaiCompatible({ server: "groq", model: "m", ...options })],
  [
    "azure",
    (options) => azure("m", { endpoint: "https://r.openai.azure.com", protocol: "chat", ...options }),
  ],
  ["bedrock", (options) => bedrock("m", options)],
  ["vertex", (options) => vertex("m", { project: "p", ...options })],
  ["ollama", (options) => ollama("m", options)],
  ["classicGemini", (options) => classicGemini({ apiKey: "k", ...options })],
])(
  "quirks, headers and facts that are no objects are refused, and not spread letter by letter: %s",
  (_, make) => {
    for (const given of ["endTokens", 7, null]) {
      expect(wordsOf(() => make({ compat: given }))).toContain("option compat: an object is needed");
      expect(wordsOf(() => make({ facts: given }))).toContain("option facts: an object is needed");
      expect(wordsOf(() => make({ headers: given }))).toContain(
        "option headers: an object of texts is needed",
      );
    }
  },
);

test("the name of a model is not the options of a server", () => {
  expect(wordsOf(() => openaiCompatible("my-model" as never))).toBe(
    'openaiCompatible: options: an object is needed, not "my-model"',
  );
  expect(wordsOf(() => openaiCompatible(undefined as never))).toBe(
    "openaiCompatible: options: an object is needed, not undefined",
  );
});

test("options without a model ask for it before they ask for an address", () => {
  expect(wordsOf(() => openaiCompatible({} as never))).toBe(
    "openaiCompatible: option model: a name is needed, not undefined",
  );
});

test("a name that is no string is refused as such", async () => {
  await expect(modelFromName(undefined as never)).rejects.toMatchObject({
    kind: "invalid_request",
    message: expect.stringContaining('takes a text like "anthropic/claude-sonnet-5"'),
  });
});

test.each([
  ["", '""'],
  [undefined, "undefined"],
])("an unset variable is no model's name: %j", (unset, words) => {
  const given = unset as string;
  const needed = `option model: a name is needed, not ${words}`;
  for (const make of [anthropic, bedrock, google, ollama, openai, vertex])
    expect(wordsOf(() => make(given, { baseURL: "http://127.0.0.1:1" }))).toContain(needed);
  expect(wordsOf(() => openaiCompatible({ model: given, baseURL: "http://127.0.0.1:1" }))).toContain(needed);
});

test.each([
  ["gpt-5", '"gpt-5"'],
  [abroad, "an object"],
  [Promise.resolve(scripted([])), "a promise"],
  [undefined, "undefined"],
])("what is put around a model is made of a model of ours: %j", (given, words) => {
  const needed = `option model: a Model of Rondo, e.g. offline(), is needed, not ${words}`;
  expect(() => toAiSdk(given as never)).toThrow(`toAiSdk: ${needed}`);
  expect(() => promptedJson(given as never)).toThrow(`promptedJson: ${needed}`);
});

const chat = (compat: unknown): string =>
  wordsOf(() => openaiCompatible({ model: "m", baseURL: "http://x/v1", compat: compat as never }));

test("a quirk that is misspelt, or set to what it does not know, is refused and not passed over", () => {
  expect(chat({ maxTokenField: "max_tokens" })).toBe(
    "compatible/m: option compat.maxTokenField: there is no such option; did you mean maxTokensField?",
  );
  expect(chat({ maxTokensField: "tokens" })).toBe(
    'compatible/m: option compat.maxTokensField: one of max_completion_tokens, max_tokens is needed, not "tokens"',
  );
  expect(chat({ omit: "seed" })).toContain('option compat.omit: a list is needed, not "seed": put it in [ ]');
  expect(chat({ thinkTags: true })).toContain("option compat.thinkTags: one of none, leading");
  expect(chat({ topK: 1 })).toContain("option compat.topK: true or false is needed, not 1");
  expect(wordsOf(() => openai.chat("m", { compat: { endToken: true } as never }))).toContain(
    "did you mean endTokens?",
  );
});

type Maker = (compat: unknown) => unknown;

const makers: readonly (readonly [string, Maker])[] = [
  ["openai/m", (compat) => openai("m", { compat: compat as never })],
  ["azure/m", (compat) => azure("m", { endpoint: "https://x.openai.azure.com", compat: compat as never })],
  ["google/m", (compat) => google("m", { compat: compat as never })],
  ["google/m", (compat) => classicGemini({ model: "m", apiKey: "k", compat: compat as never })],
  ["vertex/m", (compat) => vertex("m", { project: "p", compat: compat as never })],
  ["anthropic/m", (compat) => anthropic("m", { compat: compat as never })],
  ["vertex/claude-m", (compat) => vertex("claude-m", { project: "p", compat: compat as never })],
  ["bedrock/m", (compat) => bedrock("m", { compat: compat as never })],
  ["ollama/m", (compat) => ollama("m", { compat: compat as never })],
];

test.each(makers)("the quirks of every protocol are checked when a model is made: %s", (owner, make) => {
  const made = (compat: unknown): string => wordsOf(() => make(compat));
  expect(made({ endToken: true })).toBe(
    `${owner}: option compat.endToken: there is no such option; did you mean endTokens?`,
  );
  expect(made({ endTokens: "yes" })).toContain("option compat.endTokens: true or false is needed, not");
  expect(made({ describeLostRules: true, affinity: null, endTokens: null })).toBe("it was taken");
});

test("a word that a quirk of a protocol does not know is refused", () => {
  expect(wordsOf(() => openai("m", { compat: { systemRole: "tool" as never } }))).toBe(
    'openai/m: option compat.systemRole: one of developer, system, user is needed, not "tool"',
  );
  expect(wordsOf(() => google("m", { compat: { schemas: "openAPI" as never } }))).toContain(
    "option compat.schemas: one of json_schema, openapi, structured, strict is needed",
  );
  expect(wordsOf(() => anthropic("m", { compat: { thinking: "level" as never } }))).toContain(
    "option compat.thinking: one of none, budget, both, adaptive is needed",
  );
  expect(wordsOf(() => bedrock("m", { compat: { cache: "never" as never } }))).toContain(
    "option compat.cache: true or false is needed",
  );
  expect(wordsOf(() => ollama("m", { compat: { keepAlive: true as never } }))).toContain(
    "option compat.keepAlive",
  );
});

test("a quirk that is null is not sent, whatever is known of the server", async () => {
  const bodies: string[] = [];
  const fetch = async (_url: unknown, init?: { body?: unknown }): Promise<Response> => {
    bodies.push(String(init?.body));
    return new Response("{}", { status: 500 });
  };
  const model = ollama("m", {
    baseURL: "http://x",
    keepAlive: "5m",
    compat: { keepAlive: null, format: null, thinkTags: null },
    fetch: fetch as never,
  });
  const request = { messages: [], tools: [], toolChoice: "auto", settings: {} } as never;
  const io = { signal: new AbortController().signal, emit: () => {} } as never;
  await expect(model.call(request, io)).rejects.toThrow();
  expect(bodies[0]).not.toMatch(/keep_alive|format/);
});

test("the quirks of a codec that the user wrote are the user's own", () => {
  const codec = { api: "my-protocol", load: () => Promise.reject(new Error("not loaded")) };
  const options = { codec, provider: "mine", model: "m", baseURL: "http://x", compat: { anyQuirk: 1 } };
  expect(wordsOf(() => createModel(options))).toBe("it was taken");
});

test("every quirk that Responses reads may be set to what it is by default", () => {
  const target = { origin: { api: "openai-responses", provider: "p", model: "m" }, facts: {} };
  const compat = responsesCompat(target);
  expect(wordsOf(() => openai("m", { compat }))).toBe("it was taken");
});

test("every quirk may be set to what it is by default, which null is too, and those of every known server to what they are there", () => {
  const target = { origin: { api: "openai-chat", provider: "p", model: "m" }, facts: {} };
  const defaults = chatCompat(target);
  expect(chat(defaults)).toBe("it was taken");
  const nulls = Object.fromEntries(Object.keys(defaults).map((quirk) => [quirk, null]));
  expect(chat(nulls)).toBe("it was taken");
  expect(chatCompat({ ...target, compat: nulls })).toEqual(defaults);
  for (const { compat, models = [] } of Object.values(compatibleServers))
    for (const quirks of [compat, ...models.map((one) => one.compat)])
      expect(chat(quirks)).toBe("it was taken");
});
