// Roles that a server, or the template behind it, does not take: the run goes on without them (F128).

import { Agent, type Message, userText } from "@rondo/core";
import { say } from "@rondo/testkit";
import { type RondoWire, raw } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { openaiChat } from "../../src/codecs/openai-chat.ts";
import { bedrock, openai } from "../../src/index.ts";
import { serve } from "../end-to-end/stack.ts";

const refused = (message: string, status = 400): ReturnType<typeof raw> =>
  raw(JSON.stringify({ message, error: { message } }), { status });

const origin = { api: "scripted", provider: "scripted", model: "scripted" };
const stop = { kind: "end_turn", wire: "end_turn" } as const;
const answer = (text: string): Message => ({
  role: "assistant",
  content: [{ type: "text", text }],
  origin,
  stop,
});
const neighbours: Message[] = [userText("a"), answer("x"), answer("y"), userText("b"), userText("c")];

interface Item {
  role: string;
  content: unknown;
}
const inputs = (wire: RondoWire): Item[][] =>
  wire.requests.map(({ body }) => (body as unknown as { input: Item[] }).input);
const rolesOf = (items: readonly Item[] = []): string[] => items.map(({ role }) => role);

describe("over the Responses protocol", () => {
  const gpt = (wire: RondoWire): ReturnType<typeof openai> =>
    openai("gpt-5", { apiKey: "k", baseURL: wire.url });

  it.each([
    ["a 400", refused("Conversation roles must alternate user/assistant/user/assistant/...")],
    ["a 500", refused("After the optional system message, conversation roles must alternate", 500)],
  ])("neighbours of one role become one message, or get one between them, after %s", async (_status, no) => {
    const wire = await serve([no, say("one"), say("two")]);
    const agent = new Agent({ model: gpt(wire) });
    const result = await agent.run([...neighbours]);
    expect(result.text).toBe("one");
    const [before, after] = inputs(wire);
    expect(rolesOf(before)).toEqual(["user", "assistant", "assistant", "user", "user"]);
    expect(rolesOf(after)).toEqual(["user", "assistant", "user", "assistant", "user"]);
    expect(after?.at(-1)?.content).toEqual([
      { type: "input_text", text: "b" },
      { type: "input_text", text: "c" },
    ]);
  });

  it("a request still begins like the one before it", async () => {
    const model = openai("gpt-5", {
      apiKey: "k",
      baseURL: "http://127.0.0.1/v1",
      compat: { alternate: true },
      fetch: async (_url, init) => {
        sent.push(String(init.body));
        return new Response(JSON.stringify({ status: "completed", output: [] }));
      },
    });
    const sent: string[] = [];
    const io = { signal: new AbortController().signal, emit: () => {} } as never;
    const call = (messages: Message[]): Promise<unknown> =>
      model.call({ messages, tools: [], toolChoice: "auto", settings: {} } as never, io).catch(() => {});
    await call(neighbours);
    await call([...neighbours, answer("z"), userText("d")]);
    const [first = "", second = ""] = sent.map((body) => body.slice(0, -2));
    expect(second.startsWith(first)).toBe(true);
  });

  it.each([
    ["System role not supported", 400],
    ["Jinja Exception: System role not supported", 500],
    ['Error rendering prompt with jinja template: "Only user and assistant roles are supported!".', 400],
  ])("a user says the prompt, where no system can: %s", async (message, status) => {
    const wire = await serve([refused(message, status), say("one"), say("two")]);
    const agent = new Agent({ model: gpt(wire), system: "Be brief." });
    expect((await agent.run("go")).text).toBe("one");
    expect((await agent.run("go")).text).toBe("two");
    for (const { body } of wire.requests.slice(1)) expect(body).not.toHaveProperty("instructions");
    const said = { role: "user", content: ["Be brief.", "go"].map((text) => ({ type: "input_text", text })) };
    expect(inputs(wire).slice(1)).toEqual([[said], [said]]);
  });

  it("the prompt is the first item, where the field for it is not known", async () => {
    const wire = await serve([refused("Argument not supported: instructions"), say("one")]);
    expect((await new Agent({ model: gpt(wire), system: "Be brief." }).run("go")).text).toBe("one");
    expect(wire.requests[1]?.body).not.toHaveProperty("instructions");
    expect(inputs(wire)[1]?.[0]).toEqual({ role: "developer", content: "Be brief." });
  });
});

describe("over Converse", () => {
  it("a user says the prompt first, where a model takes no system messages", async () => {
    const no = refused(
      "This model doesn't support system messages. Try again without a system message or use a model that supports system messages.",
    );
    const wire = await serve([no, say("one")]);
    const model = bedrock("mistral.mistral-7b-instruct-v0:2", {
      apiKey: "k",
      baseURL: wire.urlFor("bedrock"),
    });
    expect((await new Agent({ model, system: "Be brief." }).run("go")).text).toBe("one");
    const body = wire.requests[1]?.body as unknown as { system?: unknown; messages: Item[] } | undefined;
    expect(body).not.toHaveProperty("system");
    expect(rolesOf(body?.messages)).toEqual(["user", "assistant", "user"]);
    expect(body?.messages[0]?.content).toEqual([{ text: "Be brief." }]);
  });
});

describe("over Chat Completions", () => {
  const learnt = (body: object): object | undefined =>
    openaiChat.learned?.(
      { status: 422, header: () => null, body: JSON.stringify(body) },
      { origin: { api: openaiChat.api, provider: "p", model: "m" }, facts: {} },
    );

  it("a list of the roles that are known, without the system's, says the same", () => {
    const loc = ["body", "messages", 0, "role"];
    const msg = "Input should be 'user' or 'assistant'";
    expect(learnt({ detail: [{ type: "literal_error", loc, msg, input: "system" }] })).toEqual({
      systemRole: "user",
      systemFirstOnly: true,
      alternate: true,
    });
  });

  it("messages that must alternate are roles that must", () => {
    expect(learnt({ detail: "messages must alternate between user and assistant roles" })).toMatchObject({
      alternate: true,
    });
  });
});
