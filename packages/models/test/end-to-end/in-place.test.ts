// Tools that a result offers, told of where that result is: the front of the request, which the provider caches, stays as it is.

import {
  Agent,
  type Model,
  type RunResult,
  type Tool,
  textOf,
  tool,
  toolResult,
  toolWith,
} from "@rondo/core";
import { call, say, type Turn } from "@rondo/testkit";
import type { RondoWire } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { openaiCompatible } from "../../src/index.ts";
import { expectValid, of, rows, serve, watched } from "./stack.ts";

const named = (name: string): Tool =>
  tool({
    name,
    description: `Does ${name}`,
    inputSchema: { type: "object", properties: {} },
    effect: "read",
    execute: () => `${name} ran`,
  });
const library = ["deploy", "roll_back", "restart"].map((name) => toolWith(named(name), { when: "offered" }));
const skill = tool({
  name: "load_skill",
  description: "Loads a skill",
  inputSchema: { type: "object", properties: { names: { type: "array", items: { type: "string" } } } },
  effect: "read",
  execute: ({ names }) => toolResult(`You can ${names} now.`, { offers: names as string[] }),
});

type Body = {
  tools?: { name?: string; defer_loading?: boolean; function?: { name: string } }[];
  messages?: unknown[];
  input?: unknown[];
};

const byName = Object.fromEntries(rows.map((row) => [row.name, row]));
const able = { anthropic: "claude-sonnet-5", openai: "gpt-6-sol", "openai-chat": "kimi-k3" } as const;
const kimi = (wire: RondoWire, model: string): Model =>
  openaiCompatible({ server: "moonshot", model, baseURL: wire.urlFor("openai-chat"), apiKey: "any" });

const script = [
  [call("load_skill", { names: ["deploy"] }), call("load_skill", { names: [] })],
  call("deploy"),
  call("load_skill", { names: ["restart", "deploy"] }),
  call("restart"),
  say("Done."),
];

/** Names in front of everything, and names declared without being told of. */
function declared({ tools = [] }: Body): { front: string[]; deferred: string[] } {
  const names = (deferred: boolean): string[] =>
    tools
      .filter((one) => (one.defer_loading === true) === deferred)
      .map(({ name, function: form }) => name ?? form?.name ?? "");
  return { front: names(false), deferred: names(true) };
}

describe.each(Object.entries(able))("over %s", (name, id) => {
  const row = byName[name as keyof typeof able];
  if (row === undefined) throw new Error(`no row ${name}`);
  const model = (wire: RondoWire): Model =>
    name === "openai-chat" ? kimi(wire, id) : row.model(wire, { id });

  /** A session in which a result offers `deploy` and then the history is cleared, up to an answer behind these turns. */
  async function afterClearing(turns: Turn[]): Promise<{ wire: RondoWire; result: RunResult }> {
    const wire = await serve([...script.slice(0, 2), say("One."), ...turns, say("Two.")]);
    const session = await new Agent({ model: model(wire), tools: [skill, ...library] }).open("s");
    await session.send("go");
    await session.clear();
    const result = await session.send("again");
    expect(result.text).toBe("Two.");
    return { wire, result };
  }

  it("a run finds tools without a change to the front of its requests", async () => {
    const wire = await serve(script);
    const agent = new Agent({ model: model(wire), tools: [skill, ...library] });
    const { result, events } = await watched(agent, "go");
    expect(result).toMatchObject({ text: "Done.", end: { reason: "completed" } });
    expect(result.messages.flatMap((one) => (one.role === "tool" ? [textOf(one)] : []))).toEqual([
      "You can deploy now.",
      "You can  now.",
      "deploy ran",
      "You can restart,deploy now.",
      "restart ran",
    ]);
    expect(of(events, "request").map(({ broke }) => broke)).toEqual(Array(5).fill(undefined));
    const bodies = wire.requests.map(({ text }) => JSON.parse(text) as Body);
    for (const body of bodies) expect(declared(body).front).toEqual(["load_skill"]);
    expectValid(wire, result);
  });

  it("a tool comes to the front once the result that offered it is no longer in the history", async () => {
    const { wire, result } = await afterClearing([call("deploy")]);
    expect(declared(JSON.parse(wire.requests.at(-1)?.text ?? "") as Body).front).toEqual([
      "load_skill",
      "deploy",
    ]);
    expectValid(wire, result);
  });

  it("a tool that came to the front stays there when it is offered again", async () => {
    const loaded = call("load_skill", { names: ["deploy", "restart"] });
    const { wire, result } = await afterClearing([loaded, call("deploy")]);
    const fronts = wire.requests
      .slice(3)
      .map(({ text }) => declared(JSON.parse(text) as Body).front.join(" "));
    expect(fronts).toEqual(["load_skill deploy", "load_skill deploy", "load_skill deploy"]);
    expectValid(wire, result);
  });

  it("a server that refuses it gets the tools in front, now and later", async () => {
    const words = {
      anthropic: "tools.1.custom.defer_loading: Extra inputs are not permitted",
      openai: "Invalid value: 'additional_tools'. Supported values are: 'message' and 'function_call'.",
      "openai-chat":
        "'messages.4' : for 'role:system' the following must be satisfied[('messages.4' : property 'tools' is unsupported)]",
    }[name as keyof typeof able];
    const refusal = {
      wire: "status" as const,
      status: 400,
      options: { body: { error: { type: "invalid_request_error", message: words } } },
    };
    const [first, ...rest] = script;
    const wire = await serve(
      name === "anthropic" ? [refusal, ...script] : [first ?? say(""), refusal, ...rest],
    );
    const agent = new Agent({ model: model(wire), tools: [skill, ...library] });
    const { result } = await watched(agent, "go");
    expect(result).toMatchObject({ text: "Done.", modelCalls: 5, end: { reason: "completed" } });
    const last = JSON.parse(wire.requests.at(-1)?.text ?? "") as Body;
    expect(declared(last)).toEqual({ front: ["load_skill", "deploy", "restart"], deferred: [] });
    expect(wire.requests.at(-1)?.text).not.toMatch(/tool_reference|additional_tools|"role":"system","tools"/);
    expectValid(wire, result);
  });

  it("a tool that is no longer there is not told of", async () => {
    const wire = await serve([
      call("load_skill", { names: ["deploy", "restart"] }),
      say("One."),
      call("restart"),
      say("Two."),
    ]);
    let gone = false;
    const hooks = { prepareStep: () => (gone ? { tools: ["load_skill", "restart"] } : undefined) };
    const agent = new Agent({ model: model(wire), tools: [skill, ...library], hooks });
    const session = await agent.open("s");
    await session.send("go");
    expect(wire.requests.at(-1)?.text).toContain("Does deploy");
    gone = true;
    const result = await session.send("again");
    expect(result.text).toBe("Two.");
    for (const { text } of wire.requests.slice(2)) expect(text).not.toContain("Does deploy");
    expectValid(wire, result);
  });

  it("a history from elsewhere tells of its tools as before", async () => {
    const wire = await serve([...script.slice(0, 2), say("One."), call("deploy"), say("Two.")]);
    const agent = new Agent({ model: model(wire), tools: [skill, ...library] });
    const { messages } = await agent.run("go");
    const result = await agent.run([
      ...messages,
      { role: "user", content: [{ type: "text", text: "again" }] },
    ]);
    expect(result.messages.filter(({ role }) => role === "tool").map(textOf)).toContain("deploy ran");
    expect(result.text).toBe("Two.");
    for (const { text } of wire.requests)
      expect(declared(JSON.parse(text) as Body).front).toEqual(["load_skill"]);
    expectValid(wire, result);
  });
});

it("other models are told of such tools behind all others, from the next request on", async () => {
  for (const row of rows) {
    const wire = await serve(script);
    const old = row.name === "anthropic" ? { id: "claude-sonnet-4" } : {};
    const { result, events } = await watched(
      new Agent({ model: row.model(wire, old), tools: [skill, ...library] }),
      "go",
    );
    expect(result.text).toBe("Done.");
    expect(of(events, "request").map(({ broke }) => broke)).toEqual([
      undefined,
      "system or tools",
      undefined,
      "system or tools",
      undefined,
    ]);
    expect(wire.requests[0]?.text).not.toContain("Does deploy");
    expect(wire.requests.at(-1)?.text).not.toMatch(/tool_reference|additional_tools|defer_loading/);
    expectValid(wire, result);
  }
});

it("Claude is told by references in the result, of tools that are declared as deferred", async () => {
  const wire = await serve(script);
  const agent = new Agent({ model: rows[0]?.model(wire) as never, tools: [skill, ...library] });
  await agent.run("go");
  const bodies = wire.requests.map(({ text }) => JSON.parse(text) as Required<Body>);
  // One is declared from the start: the provider prepares a request with deferred tools differently.
  expect(bodies.map((body) => declared(body).deferred)).toEqual([
    ["deploy"],
    ["deploy", "roll_back"],
    ["deploy", "roll_back"],
    ["deploy", "restart", "roll_back"],
    ["deploy", "restart", "roll_back"],
  ]);
  expect(JSON.stringify(bodies[1]?.messages[2])).toContain(
    '"content":[{"type":"tool_reference","tool_name":"deploy"}]}',
  );
  const told = bodies[1]?.messages[2] as { content: { type: string; text?: string }[] } | undefined;
  expect(told?.content.map(({ type, text }) => text ?? type)).toEqual([
    "tool_result",
    "tool_result",
    "(What load_skill returned:)",
    "You can deploy now.",
  ]);
  const last = bodies.at(-1)?.messages ?? [];
  bodies.forEach(({ messages }, at) => {
    expect(unmarked(last.slice(0, messages.length))).toBe(unmarked(messages));
    expect(JSON.stringify(bodies[at]?.tools)).not.toMatch(/"defer_loading":true,"cache_control"/);
  });
});

it("GPT is told by an item after the results, once of each tool", async () => {
  const wire = await serve(script);
  const agent = new Agent({
    model: rows[1]?.model(wire, { id: able.openai }) as never,
    tools: [skill, ...library],
  });
  await agent.run("go");
  const bodies = wire.requests.map(({ text }) => JSON.parse(text) as Required<Body>);
  const inputs = bodies.map(({ input }) => input as { type?: string; tools?: { name: string }[] }[]);
  expect(
    inputs.at(-1)?.map(({ type = "message", tools }) => tools?.map(({ name }) => name).join(" ") ?? type),
  ).toEqual([
    "message",
    ...["function_call", "function_call", "function_call_output", "function_call_output", "deploy"],
    ...["function_call", "function_call_output"],
    ...["function_call", "function_call_output", "restart"],
    ...["function_call", "function_call_output"],
  ]);
  // Each body is the one before it, with items added at its end.
  const texts = wire.requests.map(({ text }) => text);
  texts.slice(1).forEach((text, at) => {
    const before = texts[at]?.replace(/\]\}$/, "") ?? "";
    expect(text.startsWith(before)).toBe(true);
  });
});

it("Kimi is told by a system message of tools alone", async () => {
  const wire = await serve(script);
  await new Agent({ model: kimi(wire, "kimi-k3"), tools: [skill, ...library] }).run("go");
  const { messages } = JSON.parse(wire.requests.at(-1)?.text ?? "") as { messages: object[] };
  const told = messages.filter((one) => "tools" in one);
  expect(told).toMatchObject([
    { role: "system", tools: [{ type: "function", function: { name: "deploy" } }] },
    { role: "system", tools: [{ type: "function", function: { name: "restart" } }] },
  ]);
  expect(told.every((one) => !("content" in one))).toBe(true);
});

const unmarked = (messages: unknown[]): string =>
  JSON.stringify(messages).replaceAll(/,?"cache_control":\{[^}]*\}/g, "");
