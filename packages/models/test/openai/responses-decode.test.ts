import {
  type AssistantMessage,
  type Json,
  type ModelEvent,
  RondoError,
  type Settings,
  type ToolCallPart,
  type ToolDefinition,
} from "@rondo/core";
import { describe, expect, test } from "vitest";
import { openaiResponsesStops } from "../../src/codecs/openai/stops.ts";
import { openaiResponses } from "../../src/codecs/openai-responses.ts";
import { decodeStream, target } from "./corpus.ts";

type Loose = { [member: string]: Json };

const origin = target("openai-responses");
const added = (output_index: number, item: Loose): Loose => ({
  type: "response.output_item.added",
  output_index,
  item,
});
const done = (output_index: number, item: Loose): Loose => ({
  type: "response.output_item.done",
  output_index,
  item,
});
const completed = (output: Json[] = [], more: Loose = {}): Loose => ({
  type: "response.completed",
  response: { id: "resp_1", status: "completed", output, ...more },
});
const call = (more: Loose = {}): Loose => ({
  type: "function_call",
  id: "fc_1",
  call_id: "call_1",
  name: "f",
  arguments: '{"a":1}',
  status: "completed",
  ...more,
});
const said = (text: string, more: Loose = {}): Loose => ({
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
  ...more,
});

function sse(events: readonly Loose[]): string {
  return events.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

function read(events: readonly Loose[], to = origin): AssistantMessage {
  const frames = decodeStream(openaiResponses, to, sse(events), "frames").message;
  expect(decodeStream(openaiResponses, to, sse(events), "bytes").message).toEqual(frames);
  expect(decodeStream(openaiResponses, to, sse(events), "whole").message).toEqual(frames);
  return frames;
}

function callsOf(message: AssistantMessage): ToolCallPart[] {
  return message.content.filter((part) => part.type === "tool_call");
}

function thrown(events: readonly Loose[]): RondoError {
  try {
    read(events);
  } catch (error) {
    expect(error).toBeInstanceOf(RondoError);
    return error as RondoError;
  }
  throw new Error("nothing was thrown");
}

describe("items of a response", () => {
  test("arguments that come only with a done event count (F078)", () => {
    const events = [
      added(0, call({ arguments: "" })),
      {
        type: "response.function_call_arguments.done",
        output_index: 0,
        item_id: "fc_1",
        arguments: '{"a":1}',
      },
    ];
    expect(callsOf(read([...events, completed()]))).toMatchObject([
      { id: "call_1", name: "f", args: { a: 1 } },
    ]);
  });

  test("an empty done value does not erase what came (F078)", () => {
    const message = read([
      added(0, call({ arguments: "" })),
      {
        type: "response.function_call_arguments.done",
        output_index: 0,
        item_id: "fc_1",
        arguments: '{"a":1}',
      },
      done(0, call({ arguments: "" })),
      added(1, said("", { content: [] })),
      {
        type: "response.output_text.delta",
        output_index: 1,
        content_index: 0,
        item_id: "msg_1",
        delta: "hi",
      },
      { type: "response.output_text.done", output_index: 1, content_index: 0, item_id: "msg_1", text: "" },
      done(1, said("")),
      completed(),
    ]);
    expect(message.content).toMatchObject([
      { type: "tool_call", rawArgs: '{"a":1}', args: { a: 1 } },
      { type: "text", text: "hi" },
    ]);
  });

  test("the done value replaces the deltas", () => {
    const message = read([
      added(0, call({ arguments: "" })),
      { type: "response.function_call_arguments.delta", output_index: 0, item_id: "fc_1", delta: '{"a":' },
      done(0, call()),
      completed(),
    ]);
    expect(callsOf(message)[0]).toMatchObject({ rawArgs: '{"a":1}', args: { a: 1 } });
  });

  test("a list in which streamed items have other ids and positions adds nothing", () => {
    const thought = { type: "reasoning", id: "rs_1", summary: [] };
    const message = read([
      done(0, said("Hi")),
      done(1, call()),
      done(2, call({ id: "fc_2", call_id: "call_2" })),
      completed([
        thought,
        said("Hi", { id: "msg_9" }),
        thought,
        call({ id: "fc_8", call_id: "call_8" }),
        call({ id: "fc_9", call_id: "call_9" }),
      ]),
    ]);
    expect(callsOf(message).map(({ id }) => id)).toEqual(["call_1", "call_2"]);
    expect(message.content.filter((part) => part.type === "text")).toHaveLength(1);
  });

  test("a call in the list that was not streamed is one more, even if it is equal to another", () => {
    const message = read([done(0, call()), completed([call(), call({ id: "fc_2", call_id: "call_2" })])]);
    expect(callsOf(message).map(({ id }) => id)).toEqual(["call_1", "call_2"]);
  });

  test("ids that change from event to event are one item (F079)", () => {
    const message = read([
      added(0, call({ id: "fc_A", arguments: "" })),
      { type: "response.function_call_arguments.delta", output_index: 0, item_id: "fc_B", delta: '{"a":1}' },
      done(0, call({ id: "fc_C" })),
      completed([call({ id: "fc_D" })]),
    ]);
    expect(callsOf(message)).toHaveLength(1);
  });

  test("an empty list in the terminal event erases nothing, and a full one fills gaps (F080)", () => {
    expect(callsOf(read([done(0, call()), completed([])]))).toHaveLength(1);
    expect(read([completed([said("hi"), call()])]).content).toMatchObject([
      { type: "text", text: "hi" },
      { type: "tool_call" },
    ]);
    expect(read([done(0, said("hi")), completed([said("hi"), call()])]).content).toHaveLength(2);
    // The list leaves the reasoning out, so that the others move up.
    const reasoning = { type: "reasoning", id: "rs_1", summary: [] };
    expect(read([done(0, reasoning), done(1, call()), completed([call()])]).content).toHaveLength(2);
  });

  test("an event without an index belongs to the item with its id", () => {
    const message = read([
      { type: "response.output_item.added", item: call({ arguments: "" }) },
      { type: "response.output_item.added", item: call({ id: "fc_2", call_id: "call_2", arguments: "" }) },
      { type: "response.function_call_arguments.delta", item_id: "fc_1", delta: '{"x":1}' },
      { type: "response.function_call_arguments.delta", item_id: "fc_2", delta: '{"x":2}' },
      completed(),
    ]);
    expect(callsOf(message).map((one) => one.args)).toEqual([{ x: 1 }, { x: 2 }]);
  });

  test("text that was streamed is not repeated by its done events (F085)", () => {
    const events: ModelEvent[] = [];
    const decoder = openaiResponses.decoder(origin, (event) => events.push(event));
    for (const event of [
      { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "Hel" },
      { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "lo" },
      { type: "response.output_text.done", output_index: 0, content_index: 0, text: "Hello!" },
      done(0, said("Hello!")),
      completed([said("Hello!")]),
    ])
      decoder.push({ event: undefined, data: JSON.stringify(event) });
    expect(decoder.end().content).toEqual([{ type: "text", text: "Hello!", opaque: { id: "msg_1" } }]);
    expect(events.map((event) => (event.type === "text_delta" ? event.text : "")).join("")).toBe("Hello!");
  });

  test("reasoning keeps its item, and the parts of a summary are separate", () => {
    const item = {
      type: "reasoning",
      id: "rs_1",
      encrypted_content: "E",
      summary: [
        { type: "summary_text", text: "one" },
        { type: "summary_text", text: "two" },
      ],
    };
    const delta = (summary_index: number, text: string): Loose => ({
      type: "response.reasoning_summary_text.delta",
      output_index: 0,
      summary_index,
      delta: text,
    });
    const expected = [{ type: "reasoning", text: "one\n\ntwo", opaque: { item } }];
    expect(
      read([added(0, { ...item, summary: [] }), delta(0, "one"), delta(1, "two"), done(0, item), completed()])
        .content,
    ).toEqual(expected);
    expect(read([completed([item])]).content).toEqual(expected);
  });

  test("what the provider itself ran is kept and is not a call of ours (F031)", () => {
    const search = {
      type: "web_search_call",
      id: "ws_1",
      status: "completed",
      action: { type: "search", query: "q" },
    };
    const unknown = { type: "hologram_call", id: "h_1", anything: true };
    const message = read([
      added(0, { ...search, status: "in_progress" }),
      { type: "response.web_search_call.searching", output_index: 0 },
      done(0, search),
      done(1, unknown),
      done(2, said("x")),
      completed(),
    ]);
    expect(message.content).toEqual([
      { type: "native", kind: "web_search_call", opaque: { item: search } },
      { type: "native", kind: "hologram_call", opaque: { item: unknown } },
      { type: "text", text: "x", opaque: { id: "msg_1" } },
    ]);
    expect(message.stop.kind).toBe("end_turn");
  });

  test.each([
    ["mcp_approval_request", { name: "drop", server_label: "db", arguments: "{}" }, "require_approval"],
    ["computer_call", { call_id: "c", action: { type: "click" } }, "computer"],
    ["local_shell_call", { call_id: "c", action: { type: "exec", command: ["ls"] } }, "shell"],
  ])("%s asks for what nobody here does: the answer fails and says so", (type, more, words) => {
    const item = { type, id: "x_1", status: "completed", ...more };
    const unmet = openaiResponses.unmet?.(read([done(0, said("Now")), done(1, item), completed()]));
    expect(unmet).toMatchObject({ kind: "capability", message: expect.stringContaining(words) });
    expect(unmet?.partial).toMatchObject({ content: [{ text: "Now" }, { kind: type }] });
    const output = { type: `${type}_output`, id: "o_1", call_id: "c" };
    const met = read([done(0, item), done(1, output), done(2, said("Done")), completed()]);
    expect(openaiResponses.unmet?.(met) === undefined).toBe("call_id" in more);
  });

  test("a custom tool call with the name of a function is a call of it, with the input as its arguments", () => {
    const to = target("openai-responses", { origin: { ...origin.origin } });
    const encoder = openaiResponses.encoder(to);
    const tools: ToolDefinition[] = [
      { name: "sql", description: "", inputSchema: { type: "object", properties: {} } },
    ];
    const request = { messages: [], tools, toolChoice: "auto" as const, settings: {} };
    encoder.encode(request);
    const call = { type: "custom_tool_call", id: "ctc_1", call_id: "call_9", name: "sql" };
    const message = read([done(0, { ...call, input: '{"q":1}' }), completed()], to);
    expect(callsOf(message)).toMatchObject([{ id: "call_9", name: "sql", args: { q: 1 } }]);
    expect(JSON.parse(encoder.encode({ ...request, messages: [message] }).body).input[0]).toMatchObject({
      type: "function_call",
      arguments: '{"q":1}',
    });
    const loose = read([done(0, { ...call, input: "select 1" }), completed()], to);
    expect(callsOf(loose)[0]?.argsError).toBeTruthy();
  });

  test("calls in a wrapper, which GPT was not offered as a tool, are calls", () => {
    const use = (path: string): Loose => ({ recipient_name: "functions.read", parameters: { path } });
    const wrapped = (tool_uses: Loose[], name = "parallel"): AssistantMessage =>
      read([
        done(0, { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "E" }),
        done(1, {
          type: "function_call",
          id: "fc_1",
          call_id: "call_1",
          name,
          arguments: JSON.stringify({ tool_uses }),
        }),
        completed(),
      ]);
    const message = wrapped([use("a"), use("b")]);
    expect(message.stop.kind).toBe("tool_use");
    expect(callsOf(message)).toEqual(
      ["a", "b"].map((path, at) => ({
        type: "tool_call",
        id: `call_1_${at}`,
        name: "read",
        args: { path },
        rawArgs: JSON.stringify({ path }),
        opaque: { after: "rs_1" },
      })),
    );
    const sent = JSON.parse(
      openaiResponses
        .encoder(target("openai-responses"))
        .encode({ messages: [message], tools: [], toolChoice: "auto", settings: {} }).body,
    ).input as Loose[];
    expect(sent.slice(0, 3)).toMatchObject([
      { type: "reasoning", id: "rs_1" },
      { type: "function_call", call_id: "call_1_0", name: "read" },
      { type: "function_call", call_id: "call_1_1", name: "read" },
    ]);
    expect(sent[1]).not.toHaveProperty("id");
    // A tool of that name, or anything else in the wrapper, stays what it is.
    expect(callsOf(wrapped([use("a"), { recipient_name: "web.search", parameters: {} }]))).toHaveLength(1);
    expect(callsOf(wrapped([]))[0]?.name).toBe("parallel");
    expect(callsOf(wrapped([use("a")], "multi_tool_use.parallel"))[0]?.name).toBe("read");
    const to = target("openai-responses", { origin: { ...origin.origin } });
    const own = { name: "parallel", description: "", inputSchema: { type: "object" } };
    openaiResponses.encoder(to).encode({ messages: [], tools: [own], toolChoice: "auto", settings: {} });
    const item = { type: "function_call", id: "fc_1", call_id: "c", name: "parallel" };
    const args = JSON.stringify({ tool_uses: [use("a")] });
    expect(callsOf(read([done(0, { ...item, arguments: args }), completed()], to))[0]?.name).toBe("parallel");
  });

  test("a custom tool call is ours only if the tool was offered", () => {
    const item = { type: "custom_tool_call", id: "ctc_1", call_id: "call_9", name: "sql", input: "select 1" };
    expect(read([done(0, item), completed()]).content).toMatchObject([
      { type: "native", kind: "custom_tool_call" },
    ]);
    const to = target("openai-responses", { origin: { ...origin.origin } });
    const tools: ToolDefinition[] = [
      { name: "sql", description: "", inputSchema: { type: "object", properties: {} } },
    ];
    const settings: Settings = { providerOptions: { test: { tools: [{ type: "custom", name: "sql" }] } } };
    const encoder = openaiResponses.encoder(to);
    const request = { messages: [], tools, toolChoice: "auto" as const, settings };
    expect(JSON.parse(encoder.encode(request).body).tools).toEqual([{ type: "custom", name: "sql" }]);
    const message = read([done(0, item), completed()], to);
    expect(callsOf(message)).toMatchObject([{ id: "call_9", name: "sql", args: { input: "select 1" } }]);
    const result = {
      role: "tool" as const,
      callId: "call_9",
      name: "sql",
      isError: false,
      content: [{ type: "text" as const, text: "1" }],
    };
    const input = JSON.parse(encoder.encode({ ...request, messages: [message, result] }).body)
      .input as Loose[];
    expect(input.map((one) => one.type)).toEqual(["custom_tool_call", "custom_tool_call_output"]);
    // Who called it, and where it is declared, is repeated with the call as well.
    const members = { caller: { type: "program", caller_id: "prog_1" }, namespace: "db" };
    const called = read([done(0, { ...item, ...members }), completed()], to);
    const again = JSON.parse(encoder.encode({ ...request, messages: [called, result] }).body)
      .input as Loose[];
    expect(again).toMatchObject([members, { caller: members.caller }]);
  });

  test("a refusal is a refusal, citations are kept", () => {
    const refused = said("", { content: [{ type: "refusal", refusal: "No." }] });
    const message = read([
      { type: "response.refusal.delta", output_index: 0, content_index: 0, delta: "No" },
      done(0, refused),
      completed(),
    ]);
    expect(message.content).toEqual([{ type: "refusal", text: "No." }]);
    expect(message.stop.kind).toBe("refusal");
    const cite = { type: "url_citation", url: "https://a" };
    const cited = said("x", { content: [{ type: "output_text", text: "x", annotations: [cite] }] });
    const once = [{ type: "text", text: "x", citations: [cite], opaque: { id: "msg_1" } }];
    expect(read([done(0, cited), completed()]).content).toEqual(once);
    expect(
      read([
        {
          type: "response.output_text.annotation.added",
          output_index: 0,
          content_index: 0,
          annotation: cite,
        },
        done(0, cited),
        completed(),
      ]).content,
    ).toEqual(once);
  });
});

describe("how a response ended", () => {
  test("every status and reason has its meaning, and an unknown one is kept", () => {
    for (const [word, wire] of Object.entries(openaiResponsesStops)) {
      const response =
        word === "max_output_tokens" || word === "content_filter" || word === "max_tokens"
          ? { status: "incomplete", incomplete_details: { reason: word } }
          : { status: word };
      const events = [
        done(0, said("x")),
        { type: "response.incomplete", response: { output: [], ...response } },
      ];
      if (wire === "error")
        expect(thrown(events)).toMatchObject({
          kind: word === "failed" ? "stream_error" : "server_error",
          retryable: true,
        });
      else expect(read(events).stop).toMatchObject({ wire, raw: word });
    }
    expect(read([done(0, said("x")), { type: "response.done", response: { status: "new" } }]).stop).toEqual({
      kind: "unknown",
      wire: "unknown",
      raw: "new",
    });
  });

  test.each([
    ["new", "max_tokens"],
    ["length", "max_tokens"],
    ["safety", "content_filter"],
  ])("incomplete for the reason %s, another protocol's word, is %s", (reason, wire) => {
    const response = { status: "incomplete", incomplete_details: { reason } };
    expect(read([done(0, said("x")), { type: "response.incomplete", response }]).stop).toEqual({
      kind: wire,
      wire,
      raw: reason,
    });
  });

  test.each([
    ["completed", {}, "end_turn", "completed"],
    ["incomplete", {}, "max_tokens", "incomplete"],
    ["incomplete", { incomplete_details: { reason: "server_timeout" } }, "max_tokens", "server_timeout"],
    ["incomplete", { status: "in_progress" }, "max_tokens", "incomplete"],
    ["completed", { status: "queued" }, "end_turn", "completed"],
    ["completed", { incomplete_details: { reason: "" } }, "end_turn", "completed"],
    ["completed", { status: "incomplete" }, "max_tokens", "incomplete"],
  ])("a response without a status has that of its event: %s, %j", (word, response, wire, raw) => {
    const end = { type: `response.${word}`, response };
    expect(read([done(0, said("x")), end]).stop).toEqual({ kind: wire, wire, raw });
  });

  test("a cancelled response is not an answer", () => {
    expect(thrown([done(0, said("x")), { type: "response.cancelled", response: {} }])).toMatchObject({
      kind: "server_error",
    });
  });

  test("a truncated call never runs (F029)", () => {
    const cut = call({ arguments: '{"a":', status: "incomplete" });
    const message = read([
      added(0, { ...cut, arguments: "" }),
      { type: "response.function_call_arguments.delta", output_index: 0, delta: '{"a":' },
      done(0, cut),
      {
        type: "response.incomplete",
        response: {
          status: "incomplete",
          incomplete_details: { reason: "max_output_tokens" },
          output: [cut],
          usage: { input_tokens: 10, output_tokens: 16 },
        },
      },
    ]);
    expect(message.stop).toEqual({ kind: "max_tokens", wire: "max_tokens", raw: "max_output_tokens" });
    expect(callsOf(message)[0]!.argsError).toBeTypeOf("string");
    expect(message.usage).toEqual({ inputTokens: 10, outputTokens: 16 });
    const parsing = read([done(0, call({ status: "incomplete" })), completed()]);
    expect(callsOf(parsing)[0]!.argsError).toBeTypeOf("string");
  });

  test("a stream without its terminal event is truncated, with or without a sentinel (F159d)", () => {
    const error = thrown([
      { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "Hel" },
    ]);
    expect(error).toMatchObject({ kind: "stream_truncated", retryable: true });
    expect(error.partial?.content).toEqual([{ type: "text", text: "Hel" }]);
  });

  test("two responses in one stream are an error, and nothing of the second is emitted (F077)", () => {
    const begun = (id: string): Loose => ({
      type: "response.created",
      response: { id, status: "in_progress" },
    });
    const cut = {
      type: "response.function_call_arguments.delta",
      item_id: "fc_1",
      output_index: 0,
      delta: '{"a":',
    };
    const opened = added(0, call({ arguments: "", status: "in_progress" }));
    const error = thrown([begun("resp_1"), opened, cut, begun("resp_2"), done(0, call()), completed()]);
    expect(error).toMatchObject({ kind: "protocol", retryable: true });
    expect(error.message).toContain("resp_2");
    // Nothing of the first had come, or it is the same.
    const whole = [opened, done(0, call()), completed()];
    for (const ids of [
      ["resp_1", "resp_2"],
      ["resp_1", "resp_1"],
    ])
      expect(callsOf(read([...ids.map(begun), ...whole]))).toHaveLength(1);
    expect(
      callsOf(read([begun("resp_1"), opened, begun("resp_1"), done(0, call()), completed()])),
    ).toHaveLength(1);
  });

  test("items to which a gateway gives one output index are distinguished by their ends and their calls (F068)", () => {
    const twin = call({ id: "fc_2", call_id: "call_2", name: "g", arguments: '{"b":2}' });
    const piece = (item_id: string, delta: string): Loose => ({
      type: "response.function_call_arguments.delta",
      output_index: 0,
      item_id,
      delta,
    });
    const calls = (events: readonly Loose[]): Json[] =>
      read(events).content.map((part) =>
        part.type === "tool_call" ? [part.id, part.name, part.args] : part.type,
      );
    const both = [
      ["call_1", "f", { a: 1 }],
      ["call_2", "g", { b: 2 }],
    ];
    expect(calls([done(0, call()), done(0, twin), completed()])).toEqual(both);
    expect(calls([done(0, call()), done(0, twin), completed([call(), twin])])).toEqual(both);
    // Interleaved: only the call's id says whose the pieces are.
    expect(
      calls([
        added(0, call({ arguments: "" })),
        added(0, { ...twin, arguments: "" }),
        piece("fc_1", '{"a"'),
        piece("fc_2", '{"b"'),
        piece("fc_1", ":1}"),
        piece("fc_2", ":2}"),
        done(0, call()),
        done(0, twin),
        completed(),
      ]),
    ).toEqual(both);
    // What is told twice, or under ids that change, is one item all the same (F079).
    expect(
      calls([
        added(0, call()),
        added(0, call()),
        done(0, call()),
        done(0, call({ id: "fc_9" })),
        completed(),
      ]),
    ).toEqual([both[0]]);
    const renamed = call({ call_id: "call_9" });
    expect(calls([added(0, call()), done(0, renamed), completed()])).toEqual([["call_9", "f", { a: 1 }]]);
    expect(calls([done(0, call()), done(0, { ...twin, id: "fc_1" }), completed()])).toEqual(both);
    const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "e" };
    expect(
      calls([done(0, reasoning), done(0, said("Hi")), done(0, call()), done(1, twin), completed()]),
    ).toEqual(["reasoning", "text", ...both]);
  });

  test("a part's final value counts if nothing else has its text (F080)", () => {
    const part = (given: Loose, content_index = 0): Loose => ({
      type: "response.content_part.done",
      output_index: 0,
      content_index,
      part: given,
    });
    const text = part({ type: "output_text", text: "Hi", annotations: [] });
    const delta = { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "H" };
    expect(read([text, completed()]).content).toEqual([{ type: "text", text: "Hi" }]);
    expect(read([delta, text, completed([said("Hi")])]).content).toMatchObject([{ text: "Hi" }]);
    expect(read([part({ type: "refusal", refusal: "No." }), completed()]).content).toEqual([
      { type: "refusal", text: "No." },
    ]);
    expect(read([part({ type: "reasoning_text", text: "hm" }), text, completed()]).content).toHaveLength(1);
  });

  test("an error under another name is an error", () => {
    const error = { code: "server_error", message: "boom" };
    expect(thrown([{ type: "response.error", error }])).toMatchObject({ kind: "server_error" });
  });

  test("a call that is twice in a list is one: one id, the same arguments, the same tool (F079)", () => {
    const ids = (events: readonly Loose[]): string[] => callsOf(read(events)).map(({ id }) => id);
    expect(ids([completed([call(), call()])])).toEqual(["call_1"]);
    expect(ids([completed([call(), call({ id: "fc_2" })])])).toEqual(["call_1"]);
    expect(ids([done(0, call()), done(1, call()), completed([call(), call()])])).toEqual(["call_1"]);
    expect(ids([completed([call(), call({ id: "fc_2", call_id: "call_2" })])])).toEqual(["call_1", "call_2"]);
  });

  test("calls that share an id are all kept, also if only the terminal event has them (F052)", () => {
    const twins = [
      call(),
      call({ id: "fc_2", name: "g", arguments: "{}" }),
      call({ name: "h", arguments: "{}" }),
    ];
    const names = (events: readonly Loose[]): string[] =>
      decodeStream(openaiResponses, origin, sse(events), "frames").message.content.flatMap((part) =>
        part.type === "tool_call" ? [part.name] : [],
      );
    expect(names([completed(twins)])).toEqual(["f", "g", "h"]);
    expect(names([...twins.map((twin, at) => done(at, twin)), completed(twins)])).toEqual(["f", "g", "h"]);
  });

  test("an error that comes twice is thrown once (F153)", () => {
    const decoder = openaiResponses.decoder(origin, () => {});
    const push = (event: Loose): void =>
      decoder.push({ event: String(event.type), data: JSON.stringify(event) });
    const error = {
      type: "insufficient_quota",
      code: "insufficient_quota",
      message: "You exceeded your current quota",
    };
    expect(() => push({ type: "error", error })).toThrow(
      expect.objectContaining({ kind: "quota_exhausted", retryable: false }),
    );
    expect(decoder.finished).toBe(true);
    expect(() => push({ type: "response.failed", response: { status: "failed", error } })).not.toThrow();
  });

  test.each([
    [
      "flat",
      { type: "error", code: "rate_limit_exceeded", message: "Rate limit reached", param: null },
      "rate_limit",
    ],
    [
      "failed",
      {
        type: "response.failed",
        response: { status: "failed", error: { code: "server_error", message: "sorry" } },
      },
      "server_error",
    ],
    [
      "overflow",
      {
        type: "response.failed",
        response: { error: { code: "context_length_exceeded", message: "too long" } },
      },
      "context_overflow",
    ],
    [
      "completed with an error",
      {
        type: "response.completed",
        response: { status: "failed", error: { code: "server_error", message: "x" } },
      },
      "server_error",
    ],
  ])("an error is typed: %s", (_, event, kind) => {
    expect(
      thrown([
        { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "a" },
        event as Loose,
      ]),
    ).toMatchObject({ kind, partial: { content: [{ text: "a" }] } });
  });

  test("usage includes the cache counts of a gateway to Claude, and reasoning that is counted separately", () => {
    const usage = {
      input_tokens: 10,
      output_tokens: 5,
      total_tokens: 22,
      input_tokens_details: { cache_creation_input_tokens: 4, cache_read_input_tokens: 3 },
      output_tokens_details: { reasoning_tokens: 7 },
    };
    const body = { status: "completed", output: [said("hi")], usage };
    expect(openaiResponses.decodeWhole(body, origin, () => {}).usage).toEqual({
      inputTokens: 10,
      outputTokens: 12,
      cachedInputTokens: 3,
      cacheWriteTokens: 4,
      reasoningTokens: 7,
    });
  });

  test("a complete body is a response, an error, or invalid", () => {
    const whole = openaiResponses.decodeWhole(
      {
        status: "completed",
        output: [said("hi")],
        usage: { input_tokens: 1, output_tokens: 2, output_tokens_details: { reasoning_tokens: 1 } },
      },
      origin,
      () => {},
    );
    expect(whole).toMatchObject({
      content: [{ text: "hi" }],
      usage: { inputTokens: 1, outputTokens: 2, reasoningTokens: 1 },
    });
    expect(() =>
      openaiResponses.decodeWhole(
        { error: { message: "no such model", type: "invalid_request_error" } },
        origin,
        () => {},
      ),
    ).toThrow(expect.objectContaining({ kind: "invalid_request" }));
    // What stands at another address has a status of its own, and is no empty answer.
    const failing = { status: "error", message: "no such tenant" };
    for (const [body, words] of [
      [{ status: "ok" }, "(ok)"],
      [failing, "no such tenant"],
    ] as const)
      expect(() => openaiResponses.decodeWhole(body, origin, () => {})).toThrow(words);
    expect(() => openaiResponses.decodeWhole(["words"], origin, () => {})).toThrow(
      expect.objectContaining({ kind: "protocol" }),
    );
  });
});
