// Tools that Anthropic runs itself, beside tools of ours: their blocks, their container, what they have found.

import type {
  AssistantMessage,
  Json,
  JsonObject,
  Message,
  ModelEvent,
  ModelRequest,
  Part,
} from "@rondo/core";
import { Agent, tool, userText } from "@rondo/core";
import { say } from "@rondo/testkit";
import { frames, raw, type WireTurn } from "@rondo/testkit/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { checkAnthropicRequest } from "../../../testkit/src/wire/rules/anthropic.ts";
import { anthropicMessages } from "../../src/codecs/anthropic-messages.ts";
import { anthropic } from "../../src/index.ts";
import { serve } from "../end-to-end/stack.ts";
import { answerTo, targetOf } from "./feeding.ts";

const target = targetOf("anthropic-messages", "anthropic", "claude-sonnet-5");
const serverTools: JsonObject[] = [
  { type: "web_search_20260209", name: "web_search" },
  { type: "code_execution_20260120", name: "code_execution" },
];

const block = (opaque: JsonObject & { type: string }): Part => ({
  type: "native",
  kind: opaque.type,
  opaque,
});
const search = block({
  type: "server_tool_use",
  id: "srvtoolu_s",
  name: "web_search",
  input: { query: "x" },
});
const found = block({ type: "web_search_tool_result", tool_use_id: "srvtoolu_s", content: [] });
const code = block({
  type: "server_tool_use",
  id: "srvtoolu_c",
  name: "code_execution",
  input: { code: "x" },
});
const ran = block({ type: "code_execution_tool_result", tool_use_id: "srvtoolu_c", content: {} });
const byCode: JsonObject = { type: "code_execution_20260120", tool_id: "srvtoolu_c" };
const searchByCode = block({
  ...(search as { opaque: JsonObject }).opaque,
  type: "server_tool_use",
  caller: byCode,
});
const foundByCode = block({
  ...(found as { opaque: JsonObject }).opaque,
  type: "web_search_tool_result",
  caller: byCode,
});
const container: Part = { type: "native", kind: "container", opaque: { id: "container_1", expires_at: "…" } };
const call = (id: string, opaque?: JsonObject): Part => ({
  type: "tool_call",
  id,
  name: "lookup",
  args: {},
  rawArgs: "{}",
  ...(opaque === undefined ? {} : { opaque }),
});
const result = (callId: string): Message => ({
  role: "tool",
  callId,
  name: "lookup",
  content: [{ type: "text", text: "ok" }],
  isError: false,
});
const answered = (
  content: Part[],
  kind: AssistantMessage["stop"]["kind"] = "tool_use",
): AssistantMessage => ({
  role: "assistant",
  content,
  origin: target.origin,
  stop: { kind, wire: kind },
});

interface Sent {
  body: JsonObject;
  said: JsonObject[];
  codes: string[];
}

function send(
  messages: Message[],
  told: JsonObject = {},
  rest: Partial<ModelRequest> = {},
  compat: { [quirk: string]: Json } = {},
): Sent {
  const { body, warnings } = anthropicMessages.encoder({ ...target, compat }).encode({
    messages,
    tools: [{ name: "lookup", description: "", inputSchema: { type: "object", properties: {} } }],
    toolChoice: "auto",
    settings: { providerOptions: { anthropic: { cache: false, tools: serverTools, ...told } } },
    ...rest,
  });
  const sent = JSON.parse(body) as JsonObject;
  expect(checkAnthropicRequest(sent)).toEqual([]);
  const said = (sent.messages as { role: string; content: JsonObject[] }[])
    .filter(({ role }) => role === "assistant")
    .flatMap(({ content }) => content);
  return { body: sent, said, codes: warnings.map(({ code }) => code) };
}
const types = (sent: Sent): unknown[] => sent.said.map(({ type }) => type);

describe("a provider's tool that was called together with one of ours", () => {
  const mixed = [userText("go"), answered([search, call("a")]), result("a")];

  it("is sent back unchanged with our results: then the provider runs it", () => {
    const sent = send(mixed);
    expect(types(sent)).toEqual(["server_tool_use", "tool_use"]);
    expect(sent.codes).toEqual([]);
  });

  it("waits during further calls of ours, and stays once its result has come", () => {
    const further = [...mixed, answered([call("b")]), result("b")];
    expect(types(send(further))).toEqual(["server_tool_use", "tool_use", "tool_use"]);
    const done = [...mixed, answered([found, { type: "text", text: "Found." }], "end_turn"), userText("on")];
    expect(types(send(done))).toEqual(["server_tool_use", "tool_use", "web_search_tool_result", "text"]);
  });

  it("is left out once a user has sent something else, and if no such tool is declared", () => {
    const said = send([...mixed, userText("stop that")]);
    expect(types(said)).toEqual(["tool_use"]);
    expect(said.codes).toEqual(["server_tool_unpaired"]);
    expect(types(send(mixed, { tools: [] }))).toEqual(["tool_use"]);
  });

  it("is left out if something has to be sent behind the results: the files of one that failed", () => {
    const file = { type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" } as const;
    const failed = { ...result("a"), content: [file], isError: true } as Message;
    const sent = send([...mixed.slice(0, 2), failed]);
    expect([types(sent), sent.codes]).toEqual([["tool_use"], ["server_tool_unpaired"]]);
  });

  it("is left out of a truncated answer, and for a server that has refused one", () => {
    const cut = [userText("go"), answered([search, call("a")], "max_tokens"), result("a")];
    expect(types(send(cut))).toEqual(["tool_use"]);
    expect(types(send(mixed, {}, {}, { resumesPauses: false }))).toEqual(["tool_use"]);
  });
});

describe("the container in which code runs", () => {
  const start: Json = {
    type: "message_start",
    message: { id: "m", type: "message", role: "assistant", content: [], container: null, usage: {} },
  };
  const text: Json[] = [
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "Done." } },
    { type: "content_block_stop", index: 0 },
  ];
  const told = { id: "container_1", expires_at: "2026-12-01T00:00:00Z" };
  const part = { type: "native", kind: "container", opaque: told };

  it("is kept with the answer that names it: at its end, or in a complete one", () => {
    const streamed = answerTo(anthropicMessages, target, [
      start,
      ...text,
      { type: "message_delta", delta: { stop_reason: "end_turn", container: told }, usage: {} },
      { type: "message_stop" },
    ]);
    expect(streamed.content).toEqual([{ type: "text", text: "Done." }, part]);
    const whole = anthropicMessages.decodeWhole(
      {
        type: "message",
        content: [{ type: "text", text: "Done." }],
        container: told,
        stop_reason: "end_turn",
      },
      target,
      () => {},
    );
    expect(whole.content).toEqual(streamed.content);
  });

  it("is no part of an answer by itself, nor without a container", () => {
    const empty = answerTo(anthropicMessages, target, [
      start,
      { type: "message_delta", delta: { stop_reason: "end_turn", container: told }, usage: {} },
      { type: "message_stop" },
    ]);
    expect(empty.content).toEqual([]);
    const none = answerTo(anthropicMessages, target, [
      start,
      ...text,
      { type: "message_delta", delta: { stop_reason: "end_turn", container: null }, usage: {} },
      { type: "message_stop" },
    ]);
    expect(none.content).toHaveLength(1);
  });

  const programmatic = [
    userText("go"),
    answered([code, call("a", { caller: byCode }), container]),
    result("a"),
  ];

  it("is named in the next request, and is not sent as a block", () => {
    const sent = send(programmatic);
    expect(sent.body.container).toBe("container_1");
    expect(sent.said).toEqual([
      (code as { opaque: JsonObject }).opaque,
      { type: "tool_use", id: "a", name: "lookup", input: {}, caller: byCode },
    ]);
  });

  it("is the newest one, also after user messages", () => {
    const later = answered([code, ran, { ...container, opaque: { id: "container_2" } } as Part], "end_turn");
    const sent = send([
      userText("go"),
      answered([search, found, container], "end_turn"),
      later,
      userText("on"),
    ]);
    expect(sent.body.container).toBe("container_2");
    const turn = send([userText("go"), later, userText("on")], {}, {}, { containers: "turn" });
    expect(turn.body.container).toBeUndefined();
    expect(send(programmatic, {}, {}, { containers: "turn" }).body.container).toBe("container_1");
  });

  it("is no longer named once a tool has found that it is gone, until there is a new one", () => {
    const content = { type: "code_execution_tool_result_error", error_code: "container_expired" };
    const gone = block({ type: "code_execution_tool_result", tool_use_id: "srvtoolu_c", content });
    const history = [
      userText("go"),
      answered([search, found, container], "end_turn"),
      userText("on"),
      answered([code, gone, container], "end_turn"),
      userText("on"),
    ];
    expect(send(history).body.container).toBeUndefined();
    const renewed = { ...container, opaque: { id: "container_2" } } as Part;
    const later = [...history, answered([{ type: "text", text: "a" }, renewed], "end_turn"), userText("on")];
    expect(send(later).body.container).toBe("container_2");
  });

  it("is replaced by the caller's own value, and merged with a caller's object", () => {
    expect(send(programmatic, { container: "mine" }).body.container).toBe("mine");
    expect(send(programmatic, { container: { skills: [] } }).body.container).toEqual({
      skills: [],
      id: "container_1",
    });
    const closed = [userText("go"), answered([code, ran, container], "end_turn"), userText("on")];
    expect(send(closed, { container: null }).body.container).toBeNull();
  });

  it("of another model is not named, nor any without provider tools", () => {
    expect(send(programmatic, { tools: [] }).body.container).toBeUndefined();
    const other = { ...target.origin, model: "claude-opus-5" };
    const foreign = programmatic.map((message) =>
      message.role === "assistant" ? { ...message, origin: other } : message,
    );
    expect(send(foreign).body.container).toBeUndefined();
  });

  it("must be known for code that waits after calling tools: otherwise the code is given up, and its calls are sent alone", () => {
    const lost = programmatic.map((message) =>
      message.role === "assistant"
        ? { ...message, content: message.content.filter((one) => one !== container) }
        : message,
    );
    const sent = send(lost);
    expect(sent.said).toEqual([{ type: "tool_use", id: "a", name: "lookup", input: {} }]);
    expect(sent.codes).toEqual(["server_tool_unpaired"]);
  });
});

describe("calls made by code", () => {
  it("lose the name of their caller if that is no longer in the history", () => {
    const sent = send([
      userText("(a summary)"),
      answered([searchByCode, foundByCode, call("a", { caller: byCode })]),
      result("a"),
    ]);
    expect(sent.said).toEqual([
      (search as { opaque: JsonObject }).opaque,
      (found as { opaque: JsonObject }).opaque,
      { type: "tool_use", id: "a", name: "lookup", input: {} },
    ]);
  });

  it("keep it if the code is in an earlier answer", () => {
    const sent = send([
      userText("go"),
      answered([code, call("a", { caller: byCode }), container]),
      result("a"),
      answered([searchByCode, foundByCode, ran, { type: "text", text: "Done." }], "end_turn"),
      userText("on"),
    ]);
    expect(sent.said.filter(({ caller }) => caller !== undefined)).toHaveLength(3);
  });
});

describe("a tool found by a search", () => {
  const searched = (...names: string[]): Message[] => [
    userText("go"),
    answered(
      [
        block({ type: "server_tool_use", id: "srvtoolu_t", name: "tool_search_tool_regex", input: {} }),
        block({
          type: "tool_search_tool_result",
          tool_use_id: "srvtoolu_t",
          content: {
            type: "tool_search_tool_search_result",
            tool_references: names.map((tool_name) => ({ type: "tool_reference", tool_name })),
          },
        }),
        { type: "text", text: "Found." },
      ],
      "end_turn",
    ),
    userText("on"),
  ];
  const names = ({ body }: Sent): unknown[] => (body.tools as JsonObject[]).map(({ name }) => name);

  it("stays declared when it is gone: otherwise a history that names it is refused", () => {
    expect(names(send(searched("lookup", "gone")))).toEqual([
      "lookup",
      "gone",
      "web_search",
      "code_execution",
    ]);
    const none = send(searched("lookup"), { tools: [] }, { tools: [], toolChoice: "none" });
    expect(names(none)).toEqual(["lookup"]);
    expect(none.body.tool_choice).toEqual({ type: "none" });
  });

  it("may belong to an MCP server's toolset", () => {
    const toolset: JsonObject = { type: "mcp_toolset", mcp_server_name: "docs" };
    const { body } = anthropicMessages.encoder(target).encode({
      messages: searched("of_the_set"),
      tools: [],
      toolChoice: "auto",
      settings: { providerOptions: { anthropic: { tools: [toolset] } } },
    });
    expect((JSON.parse(body) as { tools: JsonObject[] }).tools).toHaveLength(1);
  });
});

describe("provider tools without any of ours", () => {
  it("stay allowed if only the history has calls of ours, and are forbidden if nothing may be called", () => {
    const history = [userText("go"), answered([call("a")]), result("a")];
    expect(send(history, {}, { tools: [] }).body.tool_choice).toBeUndefined();
    expect(send(history, { tools: [] }, { tools: [] }).body.tool_choice).toEqual({ type: "none" });
    expect(send([userText("go")], {}, { tools: [], toolChoice: "none" }).body.tool_choice).toEqual({
      type: "none",
    });
  });
});

describe("an answer that one model began and another finished", () => {
  const hop = { type: "fallback", from: { model: "a" }, to: { model: "b" } };
  const thinking = (signature: string): JsonObject => ({ type: "thinking", thinking: "hm", signature });
  const use = (id: string): JsonObject => ({ type: "tool_use", id, name: "lookup", input: {} });
  const body = (...content: JsonObject[]): Json => ({ type: "message", content, stop_reason: "tool_use" });
  const read = (...content: JsonObject[]): AssistantMessage =>
    anthropicMessages.decodeWhole(body(...content), target, () => {});

  it("is emitted text by text: none continues at the position of one that followed a call of the first model", () => {
    const heard: string[] = [];
    const text = (said: string): JsonObject => ({ type: "text", text: said });
    const content = [
      text("one"),
      use("toolu_1"),
      use("toolu_2"),
      text("two"),
      hop,
      text("three"),
      text("four"),
    ];
    anthropicMessages.decodeWhole(body(...content), target, (event) => {
      if (event.type === "text_delta") heard[event.index] = `${heard[event.index] ?? ""}${event.text}`;
    });
    expect(heard.filter((said) => said !== undefined)).toEqual(["one", "two", "three", "four"]);
  });

  it("has only the calls of the second model, in any form", () => {
    const answer = read(thinking("s1"), use("toolu_1"), hop, thinking("s2"), use("toolu_2"));
    expect(answer.content.flatMap((part) => (part.type === "tool_call" ? [part.id] : []))).toEqual([
      "toolu_2",
    ]);
    const streamed = answerTo(anthropicMessages, target, [
      {
        type: "message_start",
        message: { id: "m", type: "message", role: "assistant", content: [], usage: {} },
      },
      ...[thinking("s1"), use("toolu_1"), hop, thinking("s2"), use("toolu_2")].flatMap(
        (content_block, index) => [
          { type: "content_block_start", index, content_block },
          { type: "content_block_stop", index },
        ],
      ),
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: {} },
      { type: "message_stop" },
    ]);
    expect(streamed.content).toEqual(answer.content);
  });

  it("is sent back without what the first model thought and left open", () => {
    const opaque = (part: Part): JsonObject => (part as { opaque: JsonObject }).opaque;
    const answer = read(
      thinking("s1"),
      { type: "text", text: "Let me see." },
      opaque(search),
      opaque(found),
      opaque(code),
      hop,
      thinking("s2"),
      use("toolu_2"),
    );
    const sent = send([userText("go"), answer, result("toolu_2")], { container: "container_1" });
    expect(sent.said).toEqual([
      { type: "text", text: "Let me see." },
      opaque(search),
      opaque(found),
      hop,
      thinking("s2"),
      use("toolu_2"),
    ]);
  });
});

describe("an answer that ends with the provider's own summary", () => {
  it("is continued unchanged", () => {
    const summary = { type: "compaction", content: "So far: nothing.", encrypted_content: null };
    const answer = anthropicMessages.decodeWhole(
      { type: "message", content: [summary], stop_reason: "compaction" },
      target,
      () => {},
    );
    expect(answer.stop).toMatchObject({ kind: "pause", raw: "compaction" });
    const { body } = send([userText("go"), answer]);
    expect((body.messages as Json[]).at(-1)).toEqual({ role: "assistant", content: [summary] });
  });
});

describe("thinking that the provider left out", () => {
  it("is reported as a warning", () => {
    const dropped = {
      type: "thinking_dropped",
      path: "messages.1.content.0",
      reason: "prefix_binding_mismatch",
    };
    const told = (message: JsonObject): ModelEvent[] => {
      const events: ModelEvent[] = [];
      anthropicMessages.decodeWhole(
        { type: "message", content: [{ type: "text", text: "a" }], stop_reason: "end_turn", ...message },
        target,
        (event) => events.push(event),
      );
      return events.filter(({ type }) => type === "warning");
    };
    expect(told({ input_transformations: [dropped, dropped] })).toEqual([
      {
        type: "warning",
        code: "thinking_dropped",
        message: "anthropic left 2 blocks of earlier thinking out of the prompt (prefix_binding_mismatch)",
      },
    ]);
    expect(told({ input_transformations: [{ type: "something_newer" }] })).toEqual([]);
    expect(told({ input_transformations: [] })).toEqual([]);
  });
});

describe("a block that a server has refused", () => {
  it("is left out from then on, with what belongs to it", () => {
    const fallback = block({ type: "fallback", from: { model: "a" }, to: { model: "b" } });
    const history = [
      userText("go"),
      answered([fallback, search, found, { type: "text", text: "Found." }], "end_turn"),
      userText("on"),
    ];
    expect(types(send(history))[0]).toBe("fallback");
    const without = (...refusedBlocks: string[]): unknown[] =>
      types(send(history, {}, {}, { refusedBlocks }));
    expect(without("fallback")).toEqual(["server_tool_use", "web_search_tool_result", "text"]);
    expect(without("fallback", "web_search_tool_result")).toEqual(["text"]);
  });
});

describe("a member that a server has refused", () => {
  const sent = (content: Part[], ...refusedMembers: string[]): JsonObject[] =>
    send([userText("go"), answered(content, "end_turn"), userText("on")], {}, {}, { refusedMembers }).said;

  it("is left out of its blocks, wherever it is in them, and nothing else", () => {
    const summary = block({ type: "compaction", content: "So far.", encrypted_content: "x" });
    const failed = block({
      type: "tool_search_tool_result",
      tool_use_id: "srvtoolu_1",
      content: { type: "tool_search_tool_result_error", error_code: "e", error_message: "m" },
    });
    const asked = block({
      type: "server_tool_use",
      id: "srvtoolu_1",
      name: "s",
      input: { error_message: 1 },
    });
    const content = [summary, asked, failed, { type: "text", text: "Found." } as const];
    const all = JSON.stringify(sent(content));
    expect(all).toContain('"encrypted_content":"x"');
    expect(all).toContain('"error_message":"m"');
    const less = JSON.stringify(
      sent(content, "compaction.encrypted_content", "tool_search_tool_result.error_message"),
    );
    expect(less).toBe(all.replace(',"encrypted_content":"x"', "").replace(',"error_message":"m"', ""));
  });

  it("is left out of texts and calls, too", () => {
    const cited: Part = { type: "text", text: "Found.", citations: [{ url: "u" }] };
    expect(JSON.stringify(sent([cited]))).toContain("citations");
    expect(JSON.stringify(sent([cited], "text.citations"))).not.toContain("citations");
    const call: Part = {
      type: "tool_call",
      id: "toolu_1",
      name: "g",
      args: {},
      rawArgs: "{}",
      opaque: { caller: { type: "direct" }, toolset_name: "t" },
    };
    expect(JSON.stringify(sent([call]))).toContain('"caller":{"type":"direct"}');
    const less = JSON.stringify(sent([call], "tool_use.caller"));
    expect(less).not.toContain("caller");
    expect(less).toContain('"toolset_name":"t"');
  });
});

describe("a run with tools of both sides", () => {
  const events = (...list: Json[]): ReturnType<typeof frames> =>
    frames(list.map((data) => ({ event: (data as { type: string }).type, data })));
  const start = (id: string): Json => ({
    type: "message_start",
    message: { id, type: "message", role: "assistant", content: [], usage: { input_tokens: 9 } },
  });
  const blocks = (...list: JsonObject[]): Json[] =>
    list.flatMap((content_block, index) => [
      { type: "content_block_start", index, content_block },
      { type: "content_block_stop", index },
    ]);
  const end = (stop_reason: string, more: JsonObject = {}): Json[] => [
    { type: "message_delta", delta: { stop_reason, ...more }, usage: { output_tokens: 5 } },
    { type: "message_stop" },
  ];

  it("gets the result of the provider's tool called with its own, and keeps its container", async () => {
    const use = { type: "server_tool_use", id: "srvtoolu_1", name: "code_execution", input: { code: "x" } };
    const own = { type: "tool_use", id: "toolu_1", name: "lookup", input: { q: 1 } };
    const ran = { type: "code_execution_tool_result", tool_use_id: "srvtoolu_1", content: { stdout: "2" } };
    const wire = await serve([
      events(
        start("m1"),
        ...blocks(use, { ...own, caller: { type: "code_execution_20260120", tool_id: "srvtoolu_1" } }),
        ...end("tool_use", { container: { id: "container_1" } }),
      ),
      events(start("m2"), ...blocks(ran, { type: "text", text: "It is 2." }), ...end("end_turn")),
    ]);
    const agent = new Agent({
      model: anthropic("claude-sonnet-5", { apiKey: "k", baseURL: wire.urlFor("anthropic") }),
      tools: [
        tool({
          name: "lookup",
          description: "Looks up.",
          inputSchema: z.object({ q: z.number() }),
          execute: () => "1",
        }),
      ],
      settings: { providerOptions: { anthropic: { tools: serverTools } } },
    });
    const result = await agent.run("Count");
    expect(result).toMatchObject({ end: { reason: "completed" }, text: "It is 2." });
    const body = wire.requests[1]?.body as { container: string; messages: { content: JsonObject[] }[] };
    expect(body.container).toBe("container_1");
    expect(body.messages[1]?.content[0]).toEqual(use);
    expect(wire.violations).toEqual([]);
  });
});

describe("a container with which its server fails", () => {
  const failure = raw(
    JSON.stringify({ type: "error", error: { type: "api_error", message: "Internal server error" } }),
    {
      status: 500,
      headers: { "content-type": "application/json" },
    },
  );
  const history = [userText("go"), answered([code, ran, container], "end_turn"), userText("on")];
  /** Calls a model twice, whatever comes of it, and says which containers were named. */
  const containers = async (...turns: WireTurn[]): Promise<unknown[]> => {
    const wire = await serve(turns);
    const model = anthropic("claude-sonnet-5", { apiKey: "k", baseURL: wire.urlFor("anthropic") });
    const settings = { providerOptions: { anthropic: { tools: serverTools } } };
    const io = { signal: new AbortController().signal, emit: (): void => {} };
    for (let n = 0; n < 2; n++)
      await model.call({ messages: history, tools: [], toolChoice: "auto", settings }, io).catch(() => {});
    return wire.requests.map(({ body }) => (body as JsonObject).container);
  };

  it("is left out at once", async () => {
    expect(await containers(failure, say("Done."), say("Done."))).toEqual([
      "container_1",
      undefined,
      undefined,
    ]);
  });

  it("is named again if that did not help", async () => {
    expect(await containers(failure, failure, say("Done."))).toEqual([
      "container_1",
      undefined,
      "container_1",
    ]);
  });
});

describe("any history with provider tools", () => {
  const native = fc.constantFrom<Part>(search, found, code, ran, searchByCode, foundByCode, container);
  const turn = fc.record({
    natives: fc.array(native, { maxLength: 4 }),
    calls: fc.constantFrom<("" | "own" | "code")[]>("", "own", "code"),
    said: fc.boolean(),
    kind: fc.constantFrom<AssistantMessage["stop"]["kind"][]>("end_turn", "pause", "max_tokens"),
  });

  it("is accepted by a server", () => {
    fc.assert(
      fc.property(
        fc.array(turn, { minLength: 1, maxLength: 4 }),
        fc.constantFrom<JsonObject[]>({}, { tools: [] }, { container: "container_9" }),
        (turns, told) => {
          const history: Message[] = [userText("go")];
          for (const [nth, { natives, calls, said, kind }] of turns.entries()) {
            const own =
              calls === "" ? [] : [call(`t${nth}`, calls === "code" ? { caller: byCode } : undefined)];
            history.push(answered([...natives, ...own], own.length > 0 ? "tool_use" : kind));
            if (own.length > 0) history.push(result(`t${nth}`));
            if (said) history.push(userText("on"));
          }
          send(history, told);
        },
      ),
      { numRuns: 1000 },
    );
  });
});
