// The requests of a session are named alike to a provider that keeps them together for its cache (`affinity`).

import { Agent, type Model, memoryJournal } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { azure, openai, openaiCompatible, type ProviderOptions } from "../src/index.ts";

interface Sent {
  body: { [member: string]: unknown };
  header(name: string): string | null;
}

const chunk = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const said = `${chunk({ role: "assistant", content: "Hello." })}${chunk({}, "stop")}data: [DONE]\n\n`;
const response = {
  id: "resp_1",
  object: "response",
  status: "completed",
  output: [
    {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Hello." }],
    },
  ],
};
const responded = `event: response.completed\ndata: ${JSON.stringify({ type: "response.completed", response })}\n\n`;

/** A model whose requests are kept, and answered at once. */
function kept(make: (options: ProviderOptions) => Model): { model: Model; sent: Sent[] } {
  const sent: Sent[] = [];
  const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const headers = new Headers(init?.headers);
    sent.push({ body: JSON.parse(String(init?.body)), header: (name) => headers.get(name) });
    const body = String(url).includes("/responses") ? responded : said;
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  return { model: make({ apiKey: "k", fetch: fetch as typeof globalThis.fetch }), sent };
}

async function twoSessions(model: Model, settings: object = {}): Promise<void> {
  const agent = new Agent({ model, settings, journal: memoryJournal() });
  const first = await agent.open("user-1@example.com");
  await first.send("hi");
  await first.send("and?");
  await (await agent.open("other")).send("hi");
}

describe.each([
  ["openai, over Responses", (options: ProviderOptions) => openai("gpt-5.2", options), "prompt_cache_key"],
  ["openai, over Chat", (options: ProviderOptions) => openai.chat("gpt-5.2", options), "prompt_cache_key"],
  [
    "azure",
    (options: ProviderOptions) => azure("mine", { ...options, endpoint: "https://mine.openai.azure.com" }),
    "prompt_cache_key",
  ],
  ...(
    [
      ["xai", "x-grok-conv-id"],
      ["moonshot", "prompt_cache_key"],
      ["mistral", "prompt_cache_key"],
      ["openrouter", "x-session-id"],
      ["fireworks", "x-session-affinity"],
    ] as const
  ).map(([server, place]): [string, (options: ProviderOptions) => Model, string] => [
    server,
    (options) => openaiCompatible({ ...options, server, model: "m" }),
    place,
  ]),
])("%s", (_, make, place) => {
  it("is told which requests are of one session, and nothing of the session", async () => {
    const { model, sent } = kept(make);
    await twoSessions(model);
    const named = sent.map(({ body, header }) => (place.includes("-") ? header(place) : body[place]));
    expect(named[0]).toMatch(/^rondo-\d+$/);
    expect(named[1]).toBe(named[0]);
    expect(named[2]).not.toBe(named[0]);
    expect(named[2]).toMatch(/^rondo-\d+$/);
  });

  it("is told nothing where the quirk is taken away", async () => {
    const { model, sent } = kept((options) => make({ ...options, compat: { affinity: null } }));
    await twoSessions(model);
    expect(sent.map(({ body }) => body.prompt_cache_key)).toEqual([undefined, undefined, undefined]);
  });
});

it("what the caller says in its place stays", async () => {
  const { model, sent } = kept((options) => openai("gpt-5.2", options));
  await twoSessions(model, {
    providerOptions: { openai: { prompt_cache_key: "mine", service_tier: "flex" } },
  });
  expect(sent.map(({ body }) => [body.prompt_cache_key, body.service_tier])).toEqual(
    Array(3).fill(["mine", "flex"]),
  );
});

it("an address that is not the vendor's is told nothing, nor is a server that is not known to take it", async () => {
  for (const make of [
    (options: ProviderOptions) => openai("gpt-5.2", { ...options, baseURL: "https://proxy.example.com/v1" }),
    (options: ProviderOptions) =>
      openaiCompatible({ ...options, model: "m", baseURL: "https://proxy.example.com/v1" }),
  ]) {
    const { model, sent } = kept(make);
    await twoSessions(model);
    expect(JSON.stringify(sent.map(({ body }) => body))).not.toContain("rondo-");
  }
});

describe("a deployment that does not know the field", () => {
  const refusal = {
    error: {
      message: "Unrecognized request argument supplied: prompt_cache_key",
      type: "invalid_request_error",
      param: null,
      code: null,
    },
  };
  /** Azure serves the models of other houses as well, and some of them refuse what OpenAI's take. */
  function strict(message: unknown, options: ProviderOptions = {}): { model: Model; bodies: object[] } {
    const bodies: object[] = [];
    const fetch = async (_url: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const body = JSON.parse(String(init?.body)) as object;
      bodies.push(body);
      return "prompt_cache_key" in body
        ? new Response(JSON.stringify(message), {
            status: 400,
            headers: { "content-type": "application/json" },
          })
        : new Response(said, { headers: { "content-type": "text/event-stream" } });
    };
    const model = azure("DeepSeek-V4-Pro", {
      ...options,
      apiKey: "k",
      protocol: "chat",
      endpoint: "https://mine.services.ai.azure.com",
      fetch: fetch as typeof globalThis.fetch,
    });
    return { model, bodies };
  }

  it.each([
    refusal,
    {
      detail: [
        { type: "extra_forbidden", loc: ["body", "prompt_cache_key"], msg: "Extra inputs are not permitted" },
      ],
    },
    { error: { message: "Unsupported parameter: 'prompt_cache_key' is not supported with this model." } },
  ])("is told nothing from then on: %j", async (message) => {
    const { model, bodies } = strict(message);
    const session = await new Agent({ model, journal: memoryJournal() }).open("s");
    expect((await session.send("hi")).text).toBe("Hello.");
    expect((await session.send("and?")).text).toBe("Hello.");
    expect(bodies.map((body) => "prompt_cache_key" in body)).toEqual([true, false, false]);
  });

  it("refuses what a caller says there, as before", async () => {
    const { model, bodies } = strict(refusal);
    const settings = { providerOptions: { azure: { prompt_cache_key: "mine" } } };
    const session = await new Agent({ model, settings, journal: memoryJournal() }).open("s");
    expect((await session.send("hi")).end?.reason).toBe("error");
    expect(bodies).toHaveLength(1);
  });
});
