// The case runner itself: what it does not know, it says; what is wrong, it sees.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type Case, readCase } from "../scripts/cases/format.ts";
import type { Observation } from "../scripts/cases/observation.ts";
import { check, operators } from "../scripts/cases/operators.ts";
import { observe, perform } from "../scripts/cases/perform.ts";
import { refusable } from "../scripts/cases/requests.ts";
import { runCases } from "../scripts/cases/run-cases.ts";
import { chunkings, quickChunkings } from "../scripts/cases/wire.ts";
import { Tap, tapped } from "../scripts/cases/wire-server.ts";

const chunk = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

const says = (text: string): object => ({
  status: 200,
  headers: { "content-type": "text/event-stream" },
  sse: [chunk({ role: "assistant", content: text }), chunk({}, "stop"), "data: [DONE]\n\n"],
  eof: "clean",
});

const calls = (name: string, args: string): object => ({
  status: 200,
  headers: { "content-type": "text/event-stream" },
  sse: [
    chunk({
      tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name, arguments: args } }],
    }),
    chunk({}, "tool_calls"),
    "data: [DONE]\n\n",
  ],
});

const plain = {
  id: "X1",
  provider: "openai-chat",
  wire: says("hé 😀"),
  expect: {
    stop_reason: "end_turn",
    text: "hé 😀",
    tool_calls: [],
    error_kind: null,
    retry: false,
    loop_outcome: "final",
  },
};

async function reasonsOf(one: object): Promise<string> {
  for await (const { reasons } of runCases(JSON.stringify(one))) return reasons.join("; ");
  return "nothing was played";
}

test("somebody else writes a file while a request is under way", async () => {
  const args = JSON.stringify({ path: "a.txt", content: "ours" });
  const one = {
    id: "X2",
    provider: "openai-chat",
    given: { tools: [{ builtin: "read" }, { builtin: "write" }], fs: { "a.txt": "one" } },
    wire: calls("read", JSON.stringify({ path: "a.txt" })),
    turns: [{ wire: calls("write", args), expect: { loop_outcome: "feed_error_to_model" } }],
    actions: [{ at: "request:2", do: "external_edit", path: "a.txt", content: "mine" }],
    expect: { loop_outcome: "run_tools_then_continue", files_after: { "a.txt": { eq: "mine" } } },
  };
  expect(await reasonsOf(one)).toBe("");
  expect(await reasonsOf({ ...one, actions: [] })).not.toBe("");
});

test("a process that dies while a write is at work is played, and what it left is judged", async () => {
  const one = {
    id: "X3",
    provider: "openai-chat",
    given: { tools: [{ name: "pay", effect: "write", behaviour: { never_settles: true } }] },
    wire: calls("pay", "{}"),
    actions: [{ at: "during_tool", do: "crash_and_resume" }],
    expect: {
      tools_executed: ["pay"],
      next_request_must: [{ path: "messages[-1].content", op: "matches", value: "(?i)unknown" }],
    },
  };
  expect(await reasonsOf(one)).toBe("");
  expect(await reasonsOf({ ...one, actions: [{ at: "during_tool", do: "abort" }] })).not.toBe("");
});

test("what is due a while after a frame does not hold up the stream", async () => {
  const { wire } = plain;
  const one = {
    ...plain,
    id: "X4",
    wire: { ...wire, sse: (wire as { sse: string[] }).sse.slice(0, 1), eof: "hang" },
    actions: [{ at: "frame:1+10ms", do: "abort" }],
    expect: { stop_reason: "aborted", text: "hé 😀", loop_outcome: "aborted" },
  };
  expect(await reasonsOf(one)).toBe("");
  expect(await reasonsOf({ ...one, actions: [{ at: "frame", do: "user_abort" }] })).toBe("");
});

test("a command that outlives its shell is seen by whatever name it is asked for", async () => {
  const one = {
    id: "X5",
    provider: "openai-chat",
    given: { tools: [{ builtin: "shell" }] },
    wire: calls("shell", JSON.stringify({ command: "sleep 1000 & sleep 1000" })),
    actions: [{ at: "tool_started+50ms", do: "abort" }],
    expect: { orphan_processes: 0 },
  };
  expect(await reasonsOf(one)).toBe("");
  expect(await reasonsOf({ ...one, expect: { orphan_processes: 1 } })).toContain("childProcesses");
});

test("a value is found by JSON path's own spellings", () => {
  const body = {
    messages: [
      { role: "user", content: [{ type: "text", text: "go" }] },
      { role: "assistant", tool_calls: [{ id: "c1" }] },
      { role: "tool", tool_call_id: "c1" },
    ],
    tools: [{ function: { name: "f" } }, { function: { name: "g" } }],
  };
  const request = { url: "", headers: {}, body, text: JSON.stringify(body) };
  const wrong = (path: string, op: string, value?: unknown): string | undefined =>
    check({ path, op, ...(value === undefined ? {} : { value }) }, request, undefined);
  expect(wrong("messages[?(@.role=='tool')].tool_call_id", "eq", ["c1"])).toBeUndefined();
  expect(wrong('messages[?role == "tool"].tool_call_id', "eq", ["c1"])).toBeUndefined();
  expect(wrong("messages[?role!=tool]", "len", 2)).toBeUndefined();
  expect(wrong("messages[?tool_calls].role", "eq", ["assistant"])).toBeUndefined();
  expect(wrong("tools[?function.name=g]", "len", 1)).toBeUndefined();
  expect(wrong("$['messages'][-1]['role']", "eq", "tool")).toBeUndefined();
  expect(wrong("messages[-2:].role", "eq", ["assistant", "tool"])).toBeUndefined();
  expect(wrong("messages.*.role", "eq", ["user", "assistant", "tool"])).toBeUndefined();
  // A text may be sent as one part; null is what a member that is not there has.
  expect(wrong("messages[0].content", "eq", "go")).toBeUndefined();
  expect(wrong("messages[0].content", "matches", "^go$")).toBeUndefined();
  expect(wrong("messages[0].content", "eq", "stop")).toMatch(/must be "stop"/);
  expect(wrong("tool_choice", "in", [null, "auto"])).toBeUndefined();
  expect(() => wrong("messages[0,1]", "len", 2)).toThrow(/cannot be read at "\[0,1\]"/);
});

test("options that are refused are a run that ended before it began", async () => {
  const search = { name: "search", behaviour: { returns: "ok" } };
  const one = {
    ...plain,
    given: { tools: [search, search] },
    expect: { loop_outcome: "fail", error_kind: "invalid_request", model_calls: 0 },
  };
  expect(await reasonsOf(one)).toBe("");
  expect(await reasonsOf({ ...one, expect: { loop_outcome: "final" } })).toMatch(/two tools are named/);
});

test("of several calls those that are no good need not run, and those that are may", async () => {
  const two = calls("f", "{}") as { sse: string[] };
  const wire = {
    ...two,
    sse: [
      two.sse[0],
      chunk({ tool_calls: [{ index: 1, id: "call_2", function: { name: "g", arguments: '{"a' } }] }),
      ...two.sse.slice(1),
    ],
  };
  const tool_calls = [
    { id: "call_1", name: "f", arguments: {} },
    { id: "call_2", name: "g", arguments: null },
  ];
  const given = { tools: ["f", "g"].map((name) => ({ name, behaviour: { returns: "ok" } })) };
  const one = { ...plain, given, wire };
  const expecting = (expect: object): Promise<string> =>
    reasonsOf({ ...one, expect: { tool_calls, ...expect } });
  expect(await expecting({ loop_outcome: "run_tools_then_continue" })).toBe("");
  expect(await expecting({ loop_outcome: "feed_error_to_model", tools_executed: 1 })).toBe("");
  expect(await expecting({ loop_outcome: "feed_error_to_model" })).toMatch(/calls ran/);
});

describe("what was told and stored may be asserted", () => {
  const one = { ...plain, expect: {} };
  test.each([
    ["text_contains", "h", "x"],
    ["text_not_contains", "x", "h"],
    ["text_matches", "^h", "^x"],
    ["text_matches", "(?im)^HÉ", "(?m)^HÉ"],
    ["finish_missing", false, true],
    ["final_text", "hé 😀", "ho"],
    ["thinking", "", "hm"],
    ["retries", 0, 1],
    ["warnings", false, true],
    ["nudges", 0, 1],
    ["executed_tools", [], ["f"]],
    ["history_roles", ["user", "assistant"], ["user"]],
    ["history_length", 2, 3],
    ["history_last_role", "assistant", "user"],
  ])("%s", async (member, right, wrong) => {
    expect(await reasonsOf({ ...one, expect: { [member]: right } })).toBe("");
    expect(await reasonsOf({ ...one, expect: { [member]: wrong } })).not.toBe("");
  });
});

test("a case that comes out as expected passes in every chunking", async () => {
  expect(await perform(readCase(JSON.stringify(plain)), chunkings)).toEqual([]);
});

test("single bytes that are cut where they are read are single bytes to whoever reads, who may stop at any", async () => {
  const one = readCase(JSON.stringify(plain));
  expect(await perform(one, quickChunkings)).toEqual([]);
  expect(await perform(one, ["bytes", "split"])).toEqual([]);
  const tap = new Tap();
  tap.most = 1;
  const body = Buffer.from("é data");
  const response = {
    status: 200,
    header: () => null,
    read: async (sink: (chunk: Uint8Array) => unknown) => void sink(body),
    discard: () => {},
  };
  const client = tapped({ request: async () => response } as never, tap);
  const pieces: number[][] = [];
  const { read } = await client.request({} as never);
  await read((piece) => pieces.push([...piece]) < 4);
  expect(pieces).toEqual([[0xc3], [0xa9], [0x20], [0x64]]);
  expect(tap.read).toBe(4);
});

describe("the protocol of a case is", () => {
  const whole = {
    anthropic: {
      type: "message",
      role: "assistant",
      model: "m",
      content: [{ type: "text", text: "hi" }],
      stop_reason: "end_turn",
      usage: { input_tokens: 1, output_tokens: 1 },
    },
    responses: {
      object: "response",
      status: "completed",
      output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "hi" }] }],
    },
    gemini: { candidates: [{ content: { parts: [{ text: "hi" }] }, finishReason: "STOP" }] },
    bedrock: {
      output: { message: { role: "assistant", content: [{ text: "hi" }] } },
      stopReason: "end_turn",
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    },
    chat: { choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }] },
  };
  const played = (provider: string, body: object): Promise<string> =>
    reasonsOf({
      id: "N1",
      provider,
      wire: { status: 200, headers: { "content-type": "application/json" }, body },
      expect: { stop_reason: "end_turn", text: "hi", loop_outcome: "final" },
    });

  test.each(Object.entries(whole))("its frames', where its provider speaks several: %s", async (_, body) => {
    for (const provider of ["any", "copilot", "azure", "litellm"])
      expect(await played(provider, body)).toBe("");
  });

  test.each([
    ["Claude", whole.anthropic],
    ["anthropic-vertex", whole.anthropic],
    ["amazon-bedrock", whole.bedrock],
    ["google-generative-ai", whole.gemini],
    ["azure-openai-responses", whole.responses],
    ["chat-completions", whole.chat],
  ])("its provider's, by another name: %s", async (provider, body) => {
    expect(await played(provider, body)).toBe("");
  });

  test("its provider's, whatever its frames are", async () => {
    expect(await played("anthropic", whole.chat)).not.toBe("");
    expect(await played("gemini-interactions", whole.chat)).toContain("gemini-interactions");
  });
});

describe("what is not known makes a case fail, by name", () => {
  test.each([
    ["a member of the case", { wires: [] }, "case.wires"],
    ["a member of given", { given: { mood: "bad" } }, "given.options.mood"],
    ["an option", { given: { options: { telepathy: true } } }, "given.options.telepathy"],
    [
      "a behaviour",
      { given: { tools: [{ name: "f", behaviour: { explodes: true } }] } },
      "behaviour.explodes",
    ],
    ["a builtin", { given: { tools: [{ builtin: "teleport" }] } }, "teleport"],
    ["a member of a message", { given: { history: [{ role: "user", song: "la" }] } }, "history[].song"],
    ["a member of the wire", { wire: { ...says("x"), smell: 1 } }, "wire.smell"],
    ["an end of the wire", { wire: { ...says("x"), eof: "explode" } }, "wire.eof"],
    ["a generated body", { wire: { generated: { kind: "novel" } } }, "generated.kind"],
    [
      "a member of a generated body",
      { wire: { generated: { kind: "openai_text_repeat", unit: "x", count: 1, mood: 1 } } },
      "generated.mood",
    ],
    ["a member of a failing network", { wire: { transport_error: { mood: 1 } } }, "transport_error.mood"],
    [
      "a member of a row",
      { given: { requests: [{ op: "read", path: "x", allow: true, mood: 1 }] } },
      "requests[].mood",
    ],
    ["a member of an input", { given: { inputs: [{ scanner: "grep_tool", mood: 1 }] } }, "inputs[].mood"],
    [
      "a member of a repeated text",
      { given: { history: [{ role: "user", text_repeat: { unit: "x", mood: 3 } }] } },
      "repeated text.mood",
    ],
    [
      "a member of thinking",
      { given: { options: { thinking: { type: "enabled", mood: 1 } } } },
      "thinking.mood",
    ],
    ["a cue", { actions: [{ at: "full_moon", do: "abort" }] }, "full_moon"],
    ["an action", { actions: [{ at: "start", do: "sing" }] }, "sing"],
    ["an expectation", { expect: { ...plain.expect, mood: "good" } }, "expect.mood"],
    ["an outcome", { expect: { ...plain.expect, loop_outcome: "final_or_fame" } }, "final_or_fame"],
    ["an operator", { expect: { this_request_must: [{ path: "model", op: "rhymes" }] } }, "rhymes"],
    [
      "a member of an assertion",
      { expect: { this_request_must: [{ path: "model", op: "eq", valeu: 1 }] } },
      "valeu",
    ],
    [
      "a limit of retries",
      { expect: { ...plain.expect, retry: { allowed: true, colour: 1 } } },
      "retry.colour",
    ],
    ["a member of usage", { expect: { usage: { smiles: 1 } } }, "usage.smiles"],
    ["a member of process", { wire: says("x"), expect: { process: { smiles: 1 } } }, "smiles"],
    ["an action whose time never comes", { actions: [{ at: "frame:9", do: "abort" }] }, "frame:9"],
    ["an alias that no tool has", { wire: says("$ALIAS[3]") }, "$ALIAS[3]"],
  ])("%s", async (_what, change, words) => {
    expect(await reasonsOf({ ...plain, ...change })).toContain(words);
  });

  test("a line that is no JSON", async () => {
    for await (const { id, reasons } of runCases('{"id": "X9", oops')) {
      expect(id).toBe("X9");
      expect(reasons).toHaveLength(1);
    }
  });
});

describe("what may be put in more than one way", () => {
  const tools = [{ name: "f", parameters: { type: "object" }, behaviour: { returns: "ok" } }];

  test("arguments as a text, for numbers that JSON cannot hold", async () => {
    const raw = '{"id":2512292042121000001}';
    const played = (arguments_raw: string): Promise<string> =>
      reasonsOf({
        ...plain,
        given: { tools },
        wire: calls("f", raw),
        expect: {
          stop_reason: "tool_use",
          tool_calls: [{ id: "call_1", name: "f", arguments_raw }],
          loop_outcome: "run_tools_then_continue",
        },
      });
    expect(await played('{ "id": 2512292042121000001 }')).toBe("");
    expect(await played('{"id":2512292042121000000}')).toContain("tool_calls");
  });

  test("names that are a prototype's, kept as data or left out", async () => {
    const wire = calls("f", '{"a":{"b":1,"__proto__":{"isAdmin":true}},"constructor":{"prototype":{}}}');
    const played = (args: object): Promise<string> =>
      reasonsOf({
        ...plain,
        given: { tools },
        wire,
        expect: {
          stop_reason: "tool_use",
          tool_calls: [{ id: "call_1", name: "f", arguments: args }],
          loop_outcome: "run_tools_or_reject",
          prototype_unchanged: true,
        },
      });
    expect(await played({ a: { b: 1 } })).toBe("");
    expect(await played({ a: {} })).toContain("tool_calls");
  });

  test.each([
    ["stream_truncated", { eof: "reset" }],
    ["network", { eof: "reset" }],
    ["stream_truncated", { eof: "clean" }],
  ])("a stream that breaks: %s %j", async (error_kind, end) => {
    const cut = { ...says("he"), sse: [chunk({ role: "assistant", content: "he" })], ...end };
    const one = { ...plain, wire: cut, expect: { stop_reason: "error", text: "he", error_kind } };
    expect(await reasonsOf(one)).toBe("");
  });

  test("an end of a stream that nothing broke is no failure of the network", async () => {
    const cut = { ...says("he"), sse: [chunk({ role: "assistant", content: "he" })] };
    expect(
      await reasonsOf({ ...plain, wire: cut, expect: { stop_reason: "error", error_kind: "network" } }),
    ).toContain("error_kind");
  });

  test("a time-out that the server tells", async () => {
    const body = { error: { message: "too slow", type: "timeout_error" } };
    const wire = { status: 504, headers: { "content-type": "application/json" }, body };
    for (const error_kind of ["timeout", "server_error"])
      expect(await reasonsOf({ ...plain, wire, expect: { stop_reason: "error", error_kind } })).toBe("");
  });

  test.each(["idle_timeout_ms", "stream_idle_ms", "content_idle_timeout_ms", "first_token_timeout_ms"])(
    "a clock by another name: %s",
    async (name) => {
      const wire = { ...says("he"), sse: [], eof: "hang" };
      const given = { options: { [name]: 300 } };
      const expect_ = { stop_reason: "error", error_kind: "stream_idle", settles_within_ms: 400 };
      expect(await reasonsOf({ ...plain, given, wire, expect: expect_ })).toBe("");
    },
  );

  test("a tool that is to be called, by its name alone", async () => {
    const given = { tools, options: { tool_choice: "f" } };
    const must = { path: "tool_choice.function.name", op: "eq", value: "f" };
    expect(await reasonsOf({ ...plain, given, expect: { ...plain.expect, this_request_must: [must] } })).toBe(
      "",
    );
  });

  test("one of those that a filter has left, and a message of a text and parts", async () => {
    const history = [
      { role: "user", text: "one", parts: [{ text: "two" }] },
      { role: "assistant", text: "three", parts: [{ tool_call: { id: "c", name: "f", arguments: {} } }] },
      { role: "tool", results: [{ id: "c", text: "four" }] },
    ];
    const this_request_must = [
      { path: "messages[?role=user][0].content", op: "matches", value: "one.*two" },
      { path: "messages[?role=assistant][-1].content", op: "eq", value: "three" },
      { path: "messages[?role=assistant][0].tool_calls[0].function.name", op: "eq", value: "f" },
      { path: "messages[?role=tool][0].content", op: "eq", value: "four" },
      { path: "messages[?role=tool][1].content", op: "absent" },
    ];
    expect(
      await reasonsOf({
        ...plain,
        given: { history, tools },
        expect: { ...plain.expect, this_request_must },
      }),
    ).toBe("");
  });
});

describe("what is wrong is seen", () => {
  test.each([
    ["the stop reason", { stop_reason: "max_tokens" }],
    ["the text", { text: "he 😀" }],
    ["a call that was not made", { tool_calls: [{ id: "*", name: "f", arguments: {} }] }],
    ["the error", { error_kind: "overloaded" }],
    ["a retry", { retry: true }],
    ["the outcome", { loop_outcome: "fail" }],
    ["the number of requests", { model_calls: 2 }],
    ["the least number of requests", { min_model_calls: 2 }],
    ["the least number of tools that ran", { tools_executed_min: 1 }],
    ["what the history must not hold", { history_not_contains: "😀" }],
    ["the following request", { next_request_must: [{ path: "model", op: "present" }] }],
  ])("%s", async (_what, change) => {
    expect(await reasonsOf({ ...plain, expect: { ...plain.expect, ...change } })).not.toBe("");
  });

  test("tools that ran, or did not", async () => {
    const given = { tools: [{ name: "f", parameters: { type: "object" }, behaviour: { returns: "ok" } }] };
    const runs = { ...plain, given, wire: calls("f", "{}") };
    const expected = { stop_reason: "tool_use", tool_calls: [{ id: "call_1", name: "f", arguments: {} }] };
    expect(
      await reasonsOf({
        ...runs,
        expect: { ...expected, tools_executed: 1, loop_outcome: "run_tools_then_continue" },
      }),
    ).toBe("");
    expect(await reasonsOf({ ...runs, expect: { ...expected, tools_executed: 0 } })).toContain("tools run");
    expect(
      await reasonsOf({ ...runs, expect: { ...expected, loop_outcome: "feed_error_to_model" } }),
    ).toContain("calls ran");
  });

  test("what a reader costs, and nothing of what goes on beside it", async () => {
    const table = readCase(
      JSON.stringify({
        ...plain,
        wire: null,
        given: { inputs: [{ scanner: "fence_extractor", text: "```json\n{}\n```" }] },
        expect: { ...plain.expect, max_cpu_ms: 1 },
      }),
    );
    const slice = 500_000;
    let observed = false;
    const observing = observe(table, "frames").finally(() => {
      observed = true;
    });
    while (!observed) {
      const from = process.cpuUsage();
      while (process.cpuUsage(from).user < slice);
      await new Promise(setImmediate);
    }
    const { process: own } = await observing;
    expect(own?.cpuMs).toBeGreaterThan(0);
    expect(own?.cpuMs).toBeLessThan(slice / 1000);
  });

  test("attempts without a bound", async () => {
    const wire = { status: 500, headers: {}, body: { error: { message: "x" } } };
    const expected = { stop_reason: "error", error_kind: null, loop_outcome: "retry_request" };
    const failing = { ...plain, wire, expect: { ...expected, error_kind: "server_error" } };
    expect(
      await reasonsOf({
        ...failing,
        expect: { ...failing.expect, retry: { allowed: true, max_attempts: 1 } },
      }),
    ).toContain("for ever");
    expect(
      await reasonsOf({
        ...failing,
        expect: { ...failing.expect, retry: { allowed: true, max_attempts: 3 } },
      }),
    ).not.toContain("for ever");
  });
});

test.each([
  ["anthropic", { model: "m", max_tokens: 1, messages: [{ role: "user", content: [] }] }],
  ["bedrock", { messages: [{ role: "assistant", content: [{ text: "x" }] }] }],
  ["gemini", { contents: [] }],
  ["openai-chat", { model: "m", messages: [{ role: "tool", tool_call_id: "a", content: "x" }] }],
  ["openai-responses", { model: "m", input: [{ type: "function_call_output", call_id: "a", output: "x" }] }],
])("a request that %s would refuse is seen", (provider, body) => {
  const request = { url: "", headers: {}, body, text: JSON.stringify(body) };
  const seen = { responses: [{ request }] } as unknown as Observation;
  expect(refusable({ ...plain, provider } as unknown as Case, seen)).not.toEqual([]);
});

describe("operators", () => {
  const conversation = {
    messages: [
      { role: "user", content: "go" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "a", content: "ok" },
    ],
  };
  const without = { messages: conversation.messages.slice(0, 2) };
  const reasoning = { type: "reasoning", id: "rs" };
  const called = { type: "function_call", call_id: "c" };
  const output = { type: "function_call_output", call_id: "c" };
  const object = { type: "object", properties: { a: { type: "string" } } };
  const strict = { ...object, required: ["a"], additionalProperties: false };

  /** op, path, value, a body that satisfies it, one that does not; the body of the request before. */
  const table: [string, string, unknown, object, object, object?][] = [
    ["eq", "a.b[0]", 1, { a: { b: [1] } }, { a: { b: [2] } }],
    ["in", "a", [1, 2], { a: 2 }, { a: 3 }],
    ["lte", "a", 4, { a: 4 }, { a: 5 }],
    ["type", "a", "array", { a: [] }, { a: {} }],
    ["is_object", "a", undefined, { a: {} }, { a: "x" }],
    ["matches", "a", "(?i)HE.lo", { a: "say hello" }, { a: "hallo" }],
    ["not_matches", "a", "x+", { a: "y" }, { a: "xx" }],
    ["contains", "a", 'say "hi"', { a: [{ text: 'I say "hi".' }] }, { a: [{ text: "hi" }] }],
    ["not_contains", "$.a", "x", { b: "x" }, { a: { y: "x" } }],
    ["len", "a", 2, { a: [1, 2] }, { a: [1] }],
    ["len_lte", "a", 3, { a: "abc" }, { a: "abcd" }],
    ["len_increased_by", "a", 1, { a: [1, 2] }, { a: [1] }, { a: [1] }],
    ["present", "a", undefined, { a: null }, { b: 1 }],
    ["absent", "a", undefined, { b: 1 }, { a: null }],
    ["same_as", "a", "b[-1]", { a: 1, b: [0, 1] }, { a: 1, b: [1, 0] }],
    ["valid_json_object", "a", undefined, { a: "{}" }, { a: "[]" }],
    ["all_eq", "a[*].b", 1, { a: [{ b: 1 }] }, { a: [{ b: 1 }, { b: 2 }] }],
    ["all_match", "a[*]", "^x", { a: ["x", "xy"] }, { a: [] }],
    ["all_present", "a[*].b", undefined, { a: [{ b: 0 }] }, { a: [{ b: 0 }, {}] }],
    ["all_absent", "a[*].b", undefined, { a: [{}] }, { a: [{ b: null }] }],
    // Blocks of other kinds do not have the member.
    ["all_unique", "a[*].id", undefined, { a: [{}, { id: 1 }, {}] }, { a: [{ id: 1 }, {}, { id: 1 }] }],
    ["all_valid_json_object", "a[*]", undefined, { a: ["{}"] }, { a: ["{"] }],
    ["none_eq", "a[*]", "x", { a: ["y"] }, { a: ["y", "x"] }],
    ["none_with_type", "a[*]", "x", { a: [{ type: "y" }] }, { a: [{ type: "x" }] }],
    ["none_with_status", "a[*]", "x", { a: [{}] }, { a: [{ status: "x" }] }],
    [
      "some_with_type",
      "a[?role=tool].b[*]",
      "x",
      { a: [{ role: "tool", b: [{ type: "x" }] }] },
      { a: [{ role: "user", b: [{ type: "x" }] }] },
    ],
    ["no_empty_array", "a[*].b", undefined, { a: [{ b: [1] }, {}] }, { a: [{ b: [] }] }],
    [
      "count_where",
      "a",
      { type: "x", n: 1 },
      { a: [{ type: "x" }, {}] },
      { a: [{ type: "x" }, { type: "x" }] },
    ],
    ["every_tool_use_has_result_next", "messages", undefined, conversation, without],
    [
      "no_orphan_tool_result",
      "messages",
      undefined,
      conversation,
      { messages: conversation.messages.slice(2) },
    ],
    ["tool_calls_followed_by_all_tool_messages", "messages", undefined, conversation, without],
    ["function_call_pairs_complete", "input", undefined, { input: [called, output] }, { input: [called] }],
    [
      "no_reasoning_without_following_item",
      "input",
      undefined,
      { input: [reasoning, called, output] },
      { input: [called, output, reasoning] },
    ],
    [
      "roles_alternate",
      "messages",
      undefined,
      conversation,
      { messages: [{ role: "user" }, { role: "user" }] },
    ],
    [
      "no_role_pair",
      "messages",
      ["tool", "user"],
      conversation,
      { messages: [...conversation.messages, { role: "user" }] },
    ],
    ["present_if_tool_blocks", "tools", undefined, { ...conversation, tools: [] }, conversation],
    ["no_type_arrays", "tools", undefined, { tools: [object] }, { tools: [{ type: ["string", "null"] }] }],
    ["strict_valid", "tools[*]", undefined, { tools: [strict] }, { tools: [object] }],
    [
      "not_both_forced_and_enabled",
      "$",
      undefined,
      { thinking: { type: "enabled" }, tool_choice: { type: "auto" } },
      { thinking: { type: "enabled" }, tool_choice: { type: "any" } },
    ],
    ["well_formed_utf16", "$", undefined, { a: "😀" }, { a: "\ud83d" }],
    ["count_matches_lte", "$", { pattern: "x", n: 1 }, { a: "x" }, { a: "xx" }],
    ["same_as_previous_request", "a", undefined, { a: 1 }, { a: 2 }, { a: 1 }],
    ["differs_from_previous_request", "a", undefined, { a: 2 }, { a: 1 }, { a: 1 }],
    [
      "extends_previous_request_ignoring_cache_control",
      "a",
      undefined,
      { a: [{ b: 1 }, 2] },
      { a: [{ b: 2 }] },
      { a: [{ b: 1, cache_control: {} }] },
    ],
    ["absent_or_prefix", "a[*].id", "fc", { a: [{}, { id: "fc_1" }] }, { a: [{ id: "x" }] }],
    [
      "eq_or_no_function_call",
      "a.sig",
      "s",
      { a: { functionCall: {}, sig: "s" } },
      { a: { functionCall: {} } },
    ],
  ];

  const request = (body: object): Parameters<typeof check>[1] => ({
    url: "",
    headers: {},
    body,
    text: JSON.stringify(body),
  });

  test.each(table)("%s holds where it holds and nowhere else", (op, path, value, right, wrong, previous) => {
    const before = previous === undefined ? undefined : request(previous);
    expect(check({ path, op, value }, request(right), before)).toBeUndefined();
    expect(check({ path, op, value }, request(wrong), before)).toEqual(expect.any(String));
  });

  test("are all in the table", () => {
    expect(Object.keys(operators).sort()).toEqual(table.map(([op]) => op).sort());
  });
});

describe("the program", () => {
  const folder = mkdtempSync(join(tmpdir(), "rondo-cases-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const run = (lines: object[], ...args: string[]): { status: number | null; stdout: string } => {
    const file = join(folder, "cases.jsonl");
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const main = join(import.meta.dirname, "../scripts/cases/main.ts");
    return spawnSync(process.execPath, ["--conditions=rondo-source", main, file, ...args], {
      encoding: "utf8",
    });
  };
  const failing = { ...plain, id: "X2", expect: { ...plain.expect, text: "no" } };

  test("says ok, and how many passed", () => {
    const { status, stdout } = run([plain]);
    expect(stdout).toBe("ok X1\n1 passed, 0 failed\n");
    expect(status).toBe(0);
  });

  test("says what is wrong, on one line a case, and exits with 1", () => {
    const { status, stdout } = run([plain, failing]);
    expect(stdout).toMatch(/^ok X1\nnot ok X2 .*text: must be "no".*\n1 passed, 1 failed\n$/);
    expect(status).toBe(1);
  });

  test("plays one case of many, and tells it as JSON", () => {
    const { status, stdout } = run([plain, failing], "--only", "X1", "--json");
    expect(
      stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      { id: "X1", ok: true, reasons: [] },
      { passed: 1, failed: 0 },
    ]);
    expect(status).toBe(0);
  });

  test("exits with 2 where there is nothing to play", () => {
    expect(run([plain], "--only", "X7").status).toBe(2);
  });
});
