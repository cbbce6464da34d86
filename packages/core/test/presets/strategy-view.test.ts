// The strategy view: what the user reads, what the logs hold, and the bill.

import { Agent, type JsonObject, memoryJournal, subAgent, tool, toolResult } from "@rondo/core";
import { agentStrategy, type StrategyMessage, StrategyView, strategyMessages } from "@rondo/core/presets";
import {
  badArgs,
  call,
  calls,
  fail,
  hold,
  say,
  scripted,
  stall,
  type Turn,
  think,
  usage,
} from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { deferred } from "../support.ts";
import { dataOf, logsOf, noting, order, play, textsOf } from "./strategy-support.ts";

const look = noting("look", []);
const thought = "<think>\nまず、look ツールで必要な情報を確認します。\n</think>";
const metadataOf = (messages: readonly StrategyMessage[]): JsonObject => {
  const last = messages.at(-1);
  if (last?.type !== "json") throw new Error("the last message is not JSON");
  return last.json.execution_metadata as JsonObject;
};

describe("display", () => {
  test("E4.18 an answer with calls is shown with thoughts on, and without them only in the last iteration", async () => {
    const script = [
      [say("one"), call("look")],
      [say("two"), call("look")],
    ];
    const shown = async (emit: boolean): Promise<string[]> =>
      textsOf(
        (
          await play({
            model: scripted(script),
            features: [],
            tools: [look],
            maximumIterations: 2,
            emitIntermediateThoughts: emit,
          })
        ).messages,
      );
    expect(await shown(true)).toEqual(["<think>\none\n</think>", "\n", "<think>\ntwo\n</think>", "\n"]);
    expect(await shown(false)).toEqual(["\n", "two", "\n"]);
  });

  test("E1.2 E4.18 the view's last iteration is the sixth by default, like the preset's", async () => {
    const script = [1, 2, 3, 4, 5, 6].map((at): Turn => [say(`text ${at}`), call("look", { at })]);
    const strategy = { features: [], tools: [look], emitIntermediateThoughts: false };
    const { messages } = await play({ model: scripted(script), ...strategy });
    expect(textsOf(messages)).toEqual(["\n", "\n", "\n", "\n", "\n", "text 6", "\n"]);
  });

  test("E4.19 thoughts are shown with calls too, or removed from what the user sees", async () => {
    const script = [[say("<think>why</think>"), call("look")], say("<think>now</think>done")];
    const on = await play({ model: scripted(script), tools: [look] });
    expect(textsOf(on.messages)).toEqual(["<think>why</think>", "\n", "<think>now</think>done"]);
    const off = await play({ model: scripted(script), tools: [look], emitIntermediateThoughts: false });
    expect(textsOf(off.messages)).toEqual(["\n", "done"]);
  });

  test("E4.20 the history keeps the thoughts that the user does not see", async () => {
    const model = scripted([[say("<think>why</think>a"), call("look")], say("<think>now</think>\ndone ")]);
    const { messages, result } = await play({ model, tools: [look], emitIntermediateThoughts: false });
    expect(textsOf(messages)).toEqual(["\n", "\ndone "]);
    expect(result.text).toBe("<think>now</think>\ndone ");
    expect(JSON.stringify(model.requests[1]?.messages)).toContain("<think>why</think>a");
  });

  test("E4.21 chunks are emitted as they come with thoughts on, and once without", async () => {
    const answer = [say("stream hello", { chunk: 7 })];
    const on = await play({ model: scripted([answer]) });
    expect(textsOf(on.messages)).toEqual(["stream ", "hello"]);
    const off = await play({ model: scripted([answer]), emitIntermediateThoughts: false });
    expect(textsOf(off.messages)).toEqual(["stream hello"]);
  });

  test("E4.21 text with or after a call is emitted once, as a thought block, and nothing twice", async () => {
    const model = scripted([
      [say("before ", { chunk: 4 }), call("look"), say("after ", { chunk: 2 }), say("all")],
      [say("only before"), call("look")],
      [call("look"), say("Intent: look again", { chunk: 3 })],
      say("done"),
    ]);
    const { messages } = await play({ model, tools: [look] });
    expect(textsOf(messages)).toEqual([
      "befo",
      "re ",
      "<think>\nafter all\n</think>",
      "\n",
      "only before",
      "\n",
      "<think>\nlook again\n</think>",
      "\n",
      "done",
    ]);
  });

  test("E4.21 reasoning of the provider's own is a thought: emitted as it comes, or hidden", async () => {
    const answer = [think("let me see", { chunk: 6 }), say("42")];
    const on = await play({ model: scripted([answer]) });
    expect(textsOf(on.messages).join("")).toBe("<think>\nlet me see\n</think>42");
    const whole = await play({ model: scripted([answer]), features: [] });
    expect(textsOf(whole.messages)).toEqual(["<think>\nlet me see\n</think>42"]);
    const off = await play({ model: scripted([answer]), emitIntermediateThoughts: false });
    expect(textsOf(off.messages)).toEqual(["42"]);
  });

  test("E4.23 a round with calls and no text says what the tools are for, with thoughts on", async () => {
    const model = scripted([
      call("look"),
      calls([["a"], ["b"], ["c"], ["d"]]),
      [say(" "), call("look")],
      say("done"),
    ]);
    const { messages } = await play({ model, features: [], tools: [look] });
    expect(textsOf(messages)).toEqual([
      thought,
      "\n",
      "<think>\n必要な情報を得るため、次のツールを順に確認します: a, b, c...\n</think>",
      "\n",
      thought,
      "\n",
      "done",
    ]);
  });
});

describe("logs", () => {
  const clock = (): (() => number) => {
    let now = 1_000_000;
    return () => (now += 500);
  };

  test("E7.33 come in order, with their parents", async () => {
    const model = scripted([[say("hm"), calls([["look"], ["peek"]])], say("done")]);
    const { messages } = await play({ model, tools: [look, noting("peek", [])] });
    expect(order(messages)).toEqual([
      "start ROUND 1",
      "start scripted Thought",
      '"hm"',
      "finish scripted Thought",
      "start CALL look",
      "finish CALL look",
      "start CALL peek",
      "finish CALL peek",
      '"\\n"',
      "finish ROUND 1",
      "start ROUND 2",
      "start scripted Thought",
      '"done"',
      "finish scripted Thought",
      "finish ROUND 2",
      "json",
    ]);
    const logs = logsOf(messages);
    const round = logs.find((log) => log.label === "ROUND 1");
    expect(round?.parent_id).toBeUndefined();
    for (const log of logs.slice(1, 7)) expect(log.parent_id).toBe(round?.id);
    expect(new Set(logs.map((log) => log.id)).size).toBe(logs.length / 2);
  });

  test("E7.33 start empty with their time and provider, and finish with times, price and tokens; a call has no price", async () => {
    const model = scripted([[call("look"), usage({ inputTokens: 1_000, outputTokens: 500 })], say("done")], {
      facts: { price: { input: 2, output: 8 } },
    });
    const { messages } = await play({
      model,
      tools: [look],
      toolProviders: { look: "eyes" },
      now: clock(),
    });
    const [round, started, finished, calling, called, ended] = logsOf(messages);
    expect([round, started, calling].map((log) => [log?.status, log?.data])).toEqual(
      Array(3).fill(["start", {}]),
    );
    expect(round?.metadata).toEqual({ started_at: 1_000.5 });
    expect(started?.metadata).toEqual({ started_at: 1_001, provider: "scripted" });
    expect(finished?.metadata).toEqual({
      started_at: 1_001,
      finished_at: 1_001.5,
      elapsed_time: 0.5,
      provider: "scripted",
      total_price: 0.006,
      currency: "USD",
      total_tokens: 1_500,
    });
    expect(calling?.metadata).toEqual({ started_at: 1_002, provider: "eyes" });
    expect(called?.metadata).toEqual({
      started_at: 1_002,
      finished_at: 1_002.5,
      elapsed_time: 0.5,
      provider: "eyes",
    });
    expect(ended).toMatchObject({
      label: "ROUND 1",
      metadata: { total_price: 0.006, currency: "USD", total_tokens: 1_500, elapsed_time: 2.5 },
    });
    const uncounted = logsOf(messages).at(-1);
    expect(uncounted?.metadata).toMatchObject({ total_price: 0, currency: "", total_tokens: 0 });
  });

  const script = [
    [
      say("<think>é</think>"),
      call("look", { q: "x", api_key: "hunter2" }, { id: "1" }),
      call("gone", { b: 1, a: 2 }, { id: "2" }),
      badArgs("look", "[", { id: "3" }),
    ],
    say("done"),
  ];
  const schema = { type: "object", properties: { q: { type: "string" }, api_key: { type: "string" } } };
  const keyed = noting("look", [], () => "result text", schema);

  test("E7.34 contain everything when finished, in the first version's form", async () => {
    const { messages } = await play({ model: scripted(script), tools: [keyed] });
    const input = { q: "x", api_key: "hunter2" };
    const outputs = [
      { tool_call_id: "1", tool_call_name: "look", tool_call_input: input, tool_response: "result text" },
      {
        tool_call_id: "2",
        tool_call_name: "gone",
        tool_call_input: { b: 1, a: 2 },
        tool_response: "there is not a tool named gone",
        meta: { error: "there is not a tool named gone" },
      },
      {
        tool_call_id: "3",
        tool_call_name: "look",
        tool_response: "tool arguments parse error: tool arguments must be valid JSON object",
        meta: { error: "tool arguments parse error: tool arguments must be valid JSON object" },
      },
    ];
    expect(dataOf(messages, "scripted Thought")).toEqual({
      output: "<think>é</think>",
      tool_name: "look;gone;look",
      tool_input: [
        { name: "look", args: input },
        { name: "gone", args: { b: 1, a: 2 } },
        { name: "look", args: {} },
      ],
    });
    expect(dataOf(messages, "CALL look")).toEqual({ output: outputs[0] });
    expect(dataOf(messages, "ROUND 1")).toEqual({
      output: { llm_response: "<think>é</think>", tool_responses: outputs },
    });
  });

  test("E7.34 contain only sizes and names in the later form", async () => {
    const { messages } = await play({ model: scripted(script), tools: [keyed], logData: "summary" });
    expect(dataOf(messages, "scripted Thought")).toEqual({
      output_summary: { response_chars: 16, tool_call_count: 3 },
      tool_name: ["look", "gone", "look"],
      tool_input_summary: [
        { name: "look", arg_count: 2, arg_keys: ["api_key", "q"] },
        { name: "gone", arg_count: 2, arg_keys: ["a", "b"] },
        { name: "look", arg_count: 0, arg_keys: [] },
      ],
    });
    expect(dataOf(messages, "CALL look")).toEqual({
      output_summary: { tool_call_id: "1", tool_call_name: "look", response_chars: 11, is_error: false },
    });
    expect(dataOf(messages, "ROUND 1")).toEqual({
      output_summary: { llm_response_chars: 16, tool_response_count: 3, tool_error_count: 2 },
      tool_responses_summary: [
        { tool_call_name: "look", response_chars: 11, is_error: false },
        { tool_call_name: "gone", response_chars: 30, is_error: true },
        { tool_call_name: "look", response_chars: 68, is_error: true },
      ],
    });
    expect(JSON.stringify(logsOf(messages))).not.toMatch(/hunter2|result text/);
  });

  test.each([
    ["tool invoke error: x", true],
    ["some validation error here", true],
    ["the tool invoke error", false],
  ])("E7.34 report a returned %j as an error: %s", async (text, isError) => {
    const tools = [noting("look", [], () => text)];
    const { messages } = await play({
      model: scripted([call("look"), say("done")]),
      tools,
      logData: "summary",
    });
    expect(dataOf(messages, "CALL look")).toMatchObject({ output_summary: { is_error: isError } });
  });

  test("E7.34 report a result given with answer as an error only if it is one", async () => {
    const told: StrategyMessage[] = [];
    const view = new StrategyView({}, (message) => told.push(message));
    const asking = tool({
      name: "look",
      description: "look",
      inputSchema: { type: "object" },
      permission: "ask",
      execute: () => "",
    });
    const model = scripted([calls([["look"], ["look"]]), say("done")]);
    const session = await new Agent(agentStrategy({ model, tools: [asking] })).open("s");
    session.subscribe((event) => view.hear(event));
    await session.send("go");
    await session.answer("call_1", "seen");
    await session.answer("call_2", new Error("torn"));
    const outputs = logsOf(told)
      .filter(({ label, status }) => label === "CALL look" && status !== "start")
      .map(({ data }) => data.output);
    const failed = "tool invoke error: failed to execute tool";
    expect(outputs).toEqual([
      { tool_call_id: "call_1", tool_call_name: "look", tool_call_input: {}, tool_response: "seen" },
      {
        ...{ tool_call_id: "call_2", tool_call_name: "look", tool_call_input: {}, tool_response: failed },
        meta: { error: failed },
      },
    ]);
  });

  test("E7.34 show the sizes of everything if set so, or previews, and never a value under a secret's name", async () => {
    const long = "é".repeat(200);
    const names = [
      "Authorization",
      "x_token",
      "client_secret",
      "PASSWORD",
      "apikey",
      "access_key",
      "private_key",
      "credentials",
    ];
    const args = Object.fromEntries([...names, "q"].map((name) => [name, name === "q" ? long : "hunter2"]));
    const properties = Object.fromEntries(Object.keys(args).map((name) => [name, { type: "string" }]));
    const tools = [noting("look", [], () => "ran", { type: "object", properties })];
    const shown = async (debugOutput: "sizes" | "previews"): Promise<JsonObject> => {
      const model = scripted([call("look", args), say("done")]);
      const { messages } = await play({ model, tools, logData: "summary", debugOutput });
      expect(JSON.stringify(messages)).not.toContain("hunter2");
      const { output } = dataOf(messages, "CALL look").debug_output as {
        output: { tool_call_input: JsonObject };
      };
      return output.tool_call_input;
    };
    const redacted = Object.fromEntries(names.map((name) => [name, "***REDACTED***"]));
    expect(await shown("sizes")).toEqual({ ...redacted, q: { chars: 200 } });
    expect(await shown("previews")).toEqual({ ...redacted, q: { chars: 200, preview: "é".repeat(160) } });
  });
});

describe("the costs", () => {
  test("E7.35 come as the last message, and add up tokens and prices while the rest stays the first round's", async () => {
    const model = scripted(
      [
        [call("look"), usage({ inputTokens: 1_000, outputTokens: 100, cachedInputTokens: 500 })],
        [say("done"), usage({ inputTokens: 2_000, outputTokens: 300 })],
      ],
      { facts: { price: { input: 2, output: 10, cachedInput: 1 } } },
    );
    let now = 0;
    const { messages } = await play({ model, tools: [look], now: () => (now += 250) });
    expect(metadataOf(messages)).toEqual({
      total_price: 0.0095,
      currency: "USD",
      total_tokens: 3_400,
      prompt_tokens: 3_000,
      prompt_unit_price: 2,
      prompt_price_unit: 0.000_001,
      prompt_price: 0.0055,
      completion_tokens: 400,
      completion_unit_price: 10,
      completion_price_unit: 0.000_001,
      completion_price: 0.004,
      latency: 0.25,
    });
  });

  test("E7.35 are zeros and blanks if nothing was counted, and use prices by model", async () => {
    const { messages } = await play({ model: scripted([say("done")]) });
    const zeros = metadataOf(messages);
    expect(Object.keys(zeros)).toHaveLength(12);
    for (const [name, value] of Object.entries(zeros)) expect(value).toBe(name === "currency" ? "" : 0);
    // Counted, but of no known price.
    const free = await play({ model: scripted([[say("done"), usage({ inputTokens: 7, outputTokens: 5 })]]) });
    expect(metadataOf(free.messages)).toMatchObject({
      ...{ total_price: 0, currency: "", total_tokens: 12 },
      ...{ prompt_unit_price: 0, prompt_price: 0, completion_unit_price: 0, completion_price: 0 },
    });
    const priced = await play({
      model: scripted([[say("done"), usage({ inputTokens: 1_000_000, outputTokens: 0 })]]),
      prices: { scripted: { input: 3, output: 1, currency: "EUR" } },
    });
    expect(metadataOf(priced.messages)).toMatchObject({
      total_price: 3,
      currency: "EUR",
      total_tokens: 1_000_000,
    });
  });

  test("E7.35 come last also if the model fails, after its logs were finished as failed", async () => {
    const strategy = {
      model: scripted([
        [call("look"), usage({ inputTokens: 3, outputTokens: 2 })],
        fail("server_error", { message: "down" }),
      ]),
      tools: [look],
    };
    const stream = new Agent(agentStrategy(strategy)).stream("go");
    const messages: StrategyMessage[] = [];
    for await (const message of strategyMessages(stream, strategy)) messages.push(message);
    await expect(stream.result).rejects.toMatchObject({ kind: "server_error" });
    expect(metadataOf(messages)).toMatchObject({ total_tokens: 5 });
    expect(
      logsOf(messages)
        .slice(-2)
        .map(({ label, status, error }) => [label, status, error]),
    ).toEqual([
      ["scripted Thought", "error", "down"],
      ["ROUND 2", "error", "down"],
    ]);
  });

  test("E7.35 are one run's: a view of a whole session has separate costs for each run", async () => {
    const model = scripted([
      [say("one"), usage({ inputTokens: 3, outputTokens: 2 })],
      [say("two"), usage({ inputTokens: 10, outputTokens: 1 })],
    ]);
    const session = await new Agent(agentStrategy({ model })).open("s");
    const messages: StrategyMessage[] = [];
    const view = new StrategyView({ model }, (message) => messages.push(message));
    session.subscribe((event) => view.hear(event));
    await session.send("1");
    expect(metadataOf(messages)).toMatchObject({ total_tokens: 5, prompt_tokens: 3 });
    await session.send("2");
    expect(metadataOf(messages)).toMatchObject({ total_tokens: 11, prompt_tokens: 10 });
    const ids = logsOf(messages).flatMap(({ id, status }) => (status === "start" ? [id] : []));
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("E7.36 follow one message with the context's items, even if there are none, but no message without a context", async () => {
    const resources = async (
      context: { content: string; metadata?: JsonObject | null }[] | null,
    ): Promise<unknown[]> => {
      const { messages } = await play({ model: scripted([say("done")]), context });
      expect(messages.at(-1)?.type).toBe("json");
      expect(messages.slice(0, -2).some((one) => one.type === "retriever_resources")).toBe(false);
      return messages.filter((one) => one.type === "retriever_resources");
    };
    const names = [
      ...["position", "dataset_id", "dataset_name", "document_id", "document_name"],
      ...["document_data_source_type", "segment_id", "retriever_from", "score", "segment_hit_count"],
      ...["segment_word_count", "segment_position", "segment_index_node_hash", "page", "doc_metadata"],
    ];
    const metadata: JsonObject = Object.fromEntries(names.map((name, at) => [name, at]));
    expect(
      await resources([
        { content: "a", metadata: { ...metadata, other: 1 } },
        { content: "b" },
        { content: "c", metadata: null },
      ]),
    ).toEqual([
      {
        type: "retriever_resources",
        context: "",
        retriever_resources: [
          { content: "a", ...metadata },
          { content: "b", ...Object.fromEntries(names.map((name) => [name, null])) },
          { content: "c", ...Object.fromEntries(names.map((name) => [name, null])) },
        ],
      },
    ]);
    expect(await resources([])).toEqual([
      { type: "retriever_resources", context: "", retriever_resources: [] },
    ]);
    expect(await resources(null)).toEqual([]);
  });

  test.each([
    [100, 50, 200, 50],
    [100, 100, 200, 100],
    [100, 101, 200, 100],
    [190, 50, 200, 16],
    [500, 50, 200, 16],
  ])(
    "E7.37 %i prompt tokens and %i for the answer in a window of %i leave %i",
    async (prompt, max, window, left) => {
      const model = scripted([say("done")], { facts: { contextWindow: window } });
      await play({ model, settings: { maxOutputTokens: max }, countTokens: () => prompt });
      expect(model.lastRequest.settings.maxOutputTokens).toBe(left);
    },
  );

  test("E7.37 a request counts one token for 4 characters by default", async () => {
    const model = scripted([say("done")], { facts: { contextWindow: 10_000 } });
    await play({ model, settings: { maxOutputTokens: 9_999 } });
    const { system = "", tools, messages, settings } = model.lastRequest;
    const parts = messages.flatMap(({ content }) => content.map((part) => JSON.stringify(part)));
    const characters = [system, JSON.stringify(tools), ...parts].join("").length;
    expect(settings.maxOutputTokens).toBe(10_000 - Math.ceil(characters / 4));
  });
});

test("a thought that broke off with its attempt is closed before the next one is shown, or its round is given up", async () => {
  const broken = [think("hm"), fail("server_error")];
  for (const [script, text] of [
    [[broken, say("the answer")], "<think>\nhm\n</think>the answer"],
    [[broken, broken], "<think>\nhm\n</think><think>\nhm\n</think>"],
  ] as const) {
    const retry = { attempts: 2, baseMs: 0, capMs: 0 };
    const stream = new Agent({ model: scripted(script), retry }).stream("go");
    let told = "";
    for await (const message of strategyMessages(stream)) if (message.type === "text") told += message.text;
    expect(told).toBe(text);
  }
});

test("a failed attempt's text stays as it was shown, and the next one is shown completely", async () => {
  const model = scripted([
    fail("overloaded", { afterText: "par" }),
    [say("whole "), call("look"), say("why")],
    say("done"),
  ]);
  const agent = new Agent({ model, tools: [look], retry: { baseMs: 1, capMs: 1 } });
  const messages: StrategyMessage[] = [];
  for await (const message of strategyMessages(agent.stream("go"))) messages.push(message);
  expect(textsOf(messages)).toEqual(["par", "whole ", "<think>\nwhy\n</think>", "\n", "done"]);
  expect(order(messages).filter((line) => line.startsWith("start ROUND"))).toEqual([
    "start ROUND 1",
    "start ROUND 2",
  ]);
});

test("E7.33 a round that falls back to another model is one round", async () => {
  const model = scripted([fail("auth", { afterText: "par" })]);
  const spare = scripted([say("whole")], { id: "spare" });
  const messages: StrategyMessage[] = [];
  const stream = new Agent({ model, fallback: [spare] }).stream("go");
  for await (const message of strategyMessages(stream)) messages.push(message);
  expect(order(messages)).toEqual([
    "start ROUND 1",
    "start scripted Thought",
    '"par"',
    '"whole"',
    "finish scripted Thought",
    "finish ROUND 1",
    "json",
  ]);
});

test("any agent's events can be rendered: parallel calls are shown in their order", async () => {
  const first = deferred();
  const slow = noting("slow", [], async () => {
    await first.promise;
    return "slow ran";
  });
  const fast = noting("fast", [], () => {
    first.resolve();
    return "fast ran";
  });
  const model = scripted([calls([["slow"], ["fast"]]), say("done")]);
  const agent = new Agent({ model, tools: [slow, fast], toolOrder: "parallel" });
  const messages: StrategyMessage[] = [];
  for await (const message of strategyMessages(agent.stream("go"), { emitIntermediateThoughts: false }))
    messages.push(message);
  expect(order(messages).filter((line) => line.includes("CALL"))).toEqual([
    "start CALL slow",
    "finish CALL slow",
    "start CALL fast",
    "finish CALL fast",
  ]);
});

test("calls of an answer that came to another process are shown as they begin, with their tools' parts for the user", async () => {
  const journal = memoryJournal();
  const chart = { type: "file", mediaType: "image/png", data: "AAEC" } as const;
  const ask = noting("ask", [], ({ q }) => (q === "chart" ? toolResult([chart]) : "asked"));
  const tools = [{ ...ask, permission: "ask" as const }];
  const open = (script: Turn[]) =>
    new Agent({ model: scripted(script), tools, toolOrder: "parallel", journal }).open("s");
  await (await open([[say("two"), call("ask", { q: "chart" }), call("ask", { q: "so" })]])).send("go");
  const session = await open([say("done")]);
  const messages: StrategyMessage[] = [];
  const view = new StrategyView({}, (message) => messages.push(message));
  session.subscribe((event) => view.hear(event));
  for (const { id } of session.pending.reverse()) await session.approve(id);
  expect(order(messages)).toEqual([
    "start CALL ask",
    "finish CALL ask",
    "start CALL ask",
    "file",
    "finish CALL ask",
    '"\\n"',
    "start ROUND 2",
    "start scripted Thought",
    '"done"',
    "finish scripted Thought",
    "finish ROUND 2",
    "json",
  ]);
  expect(
    logsOf(messages)
      .slice(0, 4)
      .some((log) => log.parent_id !== undefined),
  ).toBe(false);
});

test("a sub-agent that waits for an approval and continues is one call", async () => {
  const press = { ...noting("press", []), permission: "ask" as const };
  const helper = subAgent({
    name: "helper",
    description: "helps",
    agent: new Agent({ model: scripted([call("press"), say("helped")]), tools: [press] }),
  });
  const model = scripted([call("helper", { task: "press it" }), say("done")]);
  const session = await new Agent({ model, tools: [helper] }).open("s");
  const messages: StrategyMessage[] = [];
  const view = new StrategyView({}, (message) => messages.push(message));
  session.subscribe((event) => view.hear(event));
  await session.send("go");
  await session.approve(session.pending[0]?.id ?? "");
  expect(order(messages).filter((line) => line.includes("CALL"))).toEqual([
    "start CALL helper",
    "finish CALL helper",
  ]);
});

test("a listener that starts in the middle of an answer gets all of it when it is complete", async () => {
  const held = hold(say("rest"));
  const session = await new Agent({ model: scripted([[say("first "), held]]) }).open("s");
  const running = session.send("go");
  await held.reached;
  const messages: StrategyMessage[] = [];
  const view = new StrategyView({}, (message) => messages.push(message));
  session.subscribe((event) => view.hear(event));
  held.release();
  await running;
  expect(textsOf(messages)).toEqual(["first rest"]);
  expect(order(messages).filter((line) => line.endsWith("ROUND 1"))).toEqual([
    "start ROUND 1",
    "finish ROUND 1",
  ]);
});

test("E4.21 the user gets text before the answer is complete", async () => {
  const held = hold(say("rest"));
  const strategy = { model: scripted([[say("first "), held]]) };
  const texts: string[] = [];
  for await (const message of strategyMessages(new Agent(agentStrategy(strategy)).stream("go"), strategy)) {
    if (message.type !== "text") continue;
    texts.push(message.text);
    held.release();
  }
  expect(texts).toEqual(["first ", "rest"]);
});

test("a reader that stops iterating aborts the run", async () => {
  const held = stall();
  const model = scripted([held]);
  const stream = new Agent({ ...agentStrategy({ model }), abortGraceMs: 50 }).stream("go");
  for await (const message of strategyMessages(stream)) {
    expect(message.type).toBe("log");
    break;
  }
  await expect(stream.result).rejects.toMatchObject({ kind: "aborted" });
});
