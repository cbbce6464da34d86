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
