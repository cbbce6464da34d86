// Model calls and summaries that are at work, by hand.

import { type ModelEvent, type ModelRequest, RondoError, type Run, type State } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { toolsWithOutput } from "../../src/output/ways.ts";
import { echo } from "../support.ts";
import { asks, call, HandModel, idle, type World, worldOf } from "./ongoing-support.ts";
import { answerOf, options, stateOf } from "./support.ts";

const answer = answerOf([{ type: "text", text: "so" }], { stop: { kind: "end_turn", wire: "end_turn" } });

describe("a model call", () => {
  const thinking = stateOf({ call });
  const begun = (state: State = thinking, change: Parameters<typeof worldOf>[1] = {}): World => {
    const world = worldOf(state, change);
    world.ongoing.think(asks);
    return world;
  };

  test("returns its answer, whose calls are checked by the offered tools", async () => {
    const message = {
      ...answer,
      content: [
        { type: "tool_call" as const, id: "a", name: "write", args: { at: 1 }, rawArgs: "{}" },
        { type: "tool_call" as const, id: "b", name: "read", args: {}, rawArgs: "{}" },
      ],
    };
    const hidden = stateOf({ call, hidden: ["read"] });
    const { model, posted } = begun(hidden, { with: [echo("write"), echo("read")] });
    expect(posted).toStrictEqual([]);
    await model.answers(message);
    expect(posted).toMatchObject([
      {
        type: "model_finished",
        message,
        checks: [
          { ok: true, args: { at: 1 } },
          { ok: false, code: "unknown_tool" },
        ],
      },
    ]);
  });

  test("whose answer is a call of the output tool returns a text", async () => {
    const schema = { type: "object", properties: { at: { type: "number" } } } as const;
    const way = { by: "tool", alone: false } as const;
    const asked = { schema, tools: "none" } as never;
    const { tools } = toolsWithOutput([], asked, way, { toolless: false, toolChoice: "auto" });
    const { ongoing, model, posted } = worldOf(thinking);
    ongoing.think({ ...(asks as object), request: { tools } } as never);
    const said = { type: "tool_call" as const, id: "a", name: "final_output", args: { at: 1 } };
    await model.answers({ ...answer, content: [{ ...said, rawArgs: '{"at":1}' }] });
    expect(posted).toMatchObject([{ message: { content: [{ type: "text", text: '{"at":1}' }] } }]);
  });

  test("is not begun if the run does not wait for one", () => {
    const { run: _run, ...over } = thinking;
    for (const state of [stateOf(), over, idle]) {
      const { model, posted } = begun(state);
      expect([model.heard, posted]).toStrictEqual([[], []]);
    }
  });

  test("is not begun after an abort, and says so", () => {
    const { model, posted } = begun(stateOf({ call, cancelledAt: 2 }));
    expect(model.heard).toStrictEqual([]);
    const message = "the model call was not started: the run was cancelled";
    expect(posted).toStrictEqual([
      { type: "model_failed", error: { kind: "aborted", message, retryable: false } },
    ]);
  });

  test("goes to the model that the run names, at any index, and fails if that is gone", () => {
    const models = [new HandModel("other"), new HandModel("first")];
    expect(begun(thinking, { models }).posted).toStrictEqual([]);
    expect(models.map(({ heard }) => heard.length)).toStrictEqual([0, 1]);
    const { posted } = begun(thinking, { models: models.slice(0, 1) });
    const message = "model 0 (first) is not among the agent's models";
    expect(posted).toStrictEqual([
      { type: "model_failed", error: { kind: "internal", message, retryable: false } },
    ]);
    const nameless = begun({ ...thinking, options: options({ models: [] }) });
    expect(nameless.posted).toMatchObject([
      { error: { message: "model 0 (undefined) is not among the agent's models" } },
    ]);
  });

  test.each([
    ["nothing", undefined, "it is nothing"],
    ["null", null, "it is null"],
    ["a text", "so", "it is a string"],
    ["a list", [], "it is a list"],
    [
      "a stream",
      (async function* () {})(),
      "it is a stream: call() resolves with the message, and emits what arrives by the emit of its second argument",
    ],
    ["another's message", { ...answer, role: "user" }, 'its role is not "assistant"'],
    ["no list of parts", { ...answer, content: "so" }, "its content is no list of parts"],
    ["no word on why it stopped", { ...answer, stop: undefined }, "it has no stop.kind"],
    ["no kind of stop", { ...answer, stop: {} }, "it has no stop.kind"],
    [
      "a stop in a provider's word",
      { ...answer, stop: { kind: "length", wire: "length" } },
      'its stop.kind is "length", and none of end_turn, tool_use, max_tokens, stop_sequence, pause, refusal, content_filter, context_overflow, malformed_call, error, aborted, unknown',
    ],
  ])("that returns %s has failed, and its error names what is missing", async (_what, message, lacking) => {
    const { model, posted } = begun();
    await model.answers(message);
    expect(posted).toMatchObject([
      {
        type: "model_failed",
        error: {
          kind: "protocol",
          message: `first: the model returned something that is no assistant message: ${lacking} (needed: { role: "assistant", content: [part, …], stop: { kind, wire } })`,
        },
      },
    ]);
  });

  test.each<[string, { type?: string; [name: string]: unknown } | null]>([
    ["nothing", null],
    ["of no type", {}],
    ["of a type that every object has", { type: "constructor" }],
    ["a text without text", { type: "text" }],
    ["a call without a name", { type: "tool_call", id: "a", args: {}, rawArgs: "{}" }],
    ["a thought without text", { type: "reasoning" }],
    ["a refusal without text", { type: "refusal" }],
    ["a call without arguments", { type: "tool_call", id: "a", name: "t", rawArgs: "{}" }],
    ["a call with null for arguments", { type: "tool_call", id: "a", name: "t", args: null, rawArgs: "{}" }],
    ["of a type that is none", { type: "output_text", text: "so" }],
    ["a file without a type", { type: "file", data: "AAAA" }],
    ["a file without anything in it", { type: "file", mediaType: "image/png" }],
    ["a provider's own without a kind", { type: "native", opaque: {} }],
    ["a provider's own without its own", { type: "native", kind: "web_search_call" }],
  ])("that comes back with a part that is %s has failed, wherever it stands", async (_what, part) => {
    const needed =
      new Map([
        ["tool_call", '{ type: "tool_call", id, name, args: {}, rawArgs: "{}" }'],
        ["file", '{ type: "file", mediaType, data } or one with a url'],
        ["native", '{ type: "native", kind, opaque: {} }'],
      ]).get(part?.type ?? "") ?? '{ type: "text", text } or another of its kind';
    for (const [place, content] of [[...answer.content, part], [part]].entries()) {
      const { model, posted } = begun();
      await model.answers({ ...answer, content });
      const message = `first: the model returned a message whose part ${1 - place} is not valid: ${needed} is needed`;
      expect(posted).toMatchObject([{ type: "model_failed", error: { kind: "protocol", message } }]);
    }
  });

  test.each([{ inputTokens: 7, outputTokens: 0 }, { inputTokens: 7, outputTokens: undefined }, {}])(
    "keeps its counts, of which some may be unknown: %j",
    async (usage) => {
      const { model, posted } = begun();
      await model.answers({ ...answer, usage });
      const told = JSON.parse(JSON.stringify(usage));
      expect(posted).toMatchObject([{ type: "model_finished", message: { usage: told } }]);
    },
  );

  test.each([Number.NaN, -1, Number.POSITIVE_INFINITY, "7"])(
    "that counted %s tokens has an unknown cost",
    async (inputTokens) => {
      const { model, posted } = begun();
      await model.answers({ ...answer, usage: { inputTokens, outputTokens: 1 } });
      const { usage: _, ...without } = answer;
      expect(posted).toMatchObject([{ type: "model_finished", message: without }]);
      expect(posted[0]).not.toHaveProperty("message.usage");
    },
  );

  test("that fails has its error, its partial answer, and its usage, as far as known", async () => {
    const { model, posted } = begun();
    await model.fails(
      new RondoError("server_error", "broke", { partial: answer, usage: { inputTokens: 3 } }),
    );
    const error = { kind: "server_error", message: "broke", retryable: true };
    expect(posted).toStrictEqual([
      { type: "model_failed", error, partial: answer, usage: { inputTokens: 3 } },
    ]);
    const plain = begun();
    await plain.model.fails(new RondoError("server_error", "broke"));
    expect(plain.posted).toStrictEqual([{ type: "model_failed", error }]);
  });

  test("that fails says whether anything was shown that is not kept", async () => {
    const gone = new RondoError("network", "gone");
    for (const [event, more] of [
      [{ type: "warning", code: "odd", message: "odd" }, {}],
      [{ type: "reasoning_delta", index: 0, text: "hm" }, { shown: true }],
      [{ type: "text_delta", index: 0, text: "so" }, { partial: expect.anything() }],
    ] as const) {
      const { ongoing, model, posted } = worldOf(stateOf({ call }));
      ongoing.think(asks);
      model.emit(event);
      await model.fails(gone);
      expect(posted).toStrictEqual([{ type: "model_failed", error: gone.toJSON(), ...more }]);
    }
  });

  test("emits its calls as they are written and its warnings, but no progress events", () => {
    const { model, told, ongoing, is } = begun();
    const args: ModelEvent = { type: "tool_args_delta", index: 0, id: "a", name: "write", delta: "{" };
    const thought: ModelEvent = { type: "reasoning_delta", index: 0, text: "hm" };
    const warning: ModelEvent = { type: "warning", code: "odd", message: "a field was odd" };
    for (const event of [args, thought, warning, { type: "progress" } as const]) model.emit(event);
    expect(told).toStrictEqual([{ ...args, step: 3 }, { ...thought, step: 3 }, warning]);
    is(stateOf());
    ongoing.release();
    model.emit(warning);
    expect(told).toHaveLength(3);
  });

  test("that is aborted gets its signal once, and may still return what came", async () => {
    const { model, posted, ongoing, is, told } = begun();
    ongoing.release();
    expect(model.signal.aborted).toBe(false);
    is(stateOf({ call, cancelledAt: 2, abort: { at: 2, reason: "enough" } }));
    ongoing.release();
    const { reason } = model.signal;
    expect(reason).toMatchObject({ kind: "aborted", message: "no longer wanted: enough" });
    model.emit({ type: "warning", code: "odd", message: "last words" });
    expect(told).toHaveLength(1);
    ongoing.release();
    expect(model.signal.reason).toBe(reason);
    await model.fails(new Error("socket hang up"));
    expect(posted).toMatchObject([{ type: "model_failed", error: { kind: "aborted" } }]);
  });

  test("that has returned gets no signal any more", async () => {
    const { model, ongoing, is } = begun();
    await model.answers(answer);
    is(stateOf());
    ongoing.release();
    ongoing.stopAll(new RondoError("aborted", "bye"));
    expect(model.signal.aborted).toBe(false);
  });

  test("that returns late does not affect one that began meanwhile", async () => {
    const models = [new HandModel("first"), new HandModel("second")];
    const { ongoing, is } = begun(thinking, { models });
    is(stateOf());
    ongoing.release();
    is(thinking);
    ongoing.think({ ...(asks as object), model: 1 } as never);
    await models[0]?.fails(new Error("late"));
    ongoing.stopAll(new RondoError("aborted", "bye"));
    expect(models[1]?.signal.reason).toMatchObject({ message: "bye" });
  });

  test.each([
    [{ abort: { at: 2, reason: "enough" }, landing: { reason: "max_steps" } }, "enough"],
    [{ landing: { reason: "max_steps" }, stopping: { reason: "completed" } }, "max_steps"],
    [{ stopping: { reason: "completed" } }, "completed"],
    [{}, "its result is settled"],
  ])("that is abandoned gets the reason with its signal: %j", (change, why) => {
    const { model, ongoing, is } = begun();
    is(stateOf(change as Partial<Run>));
    ongoing.release();
    expect(model.signal.reason).toMatchObject({ kind: "aborted", message: `no longer wanted: ${why}` });
  });

  test("whose run is gone gets that as the reason", () => {
    const { model, ongoing, is } = begun();
    is(idle);
    ongoing.release();
    expect(model.signal.reason).toMatchObject({ message: "no longer wanted: its result is settled" });
  });
});

describe("a summary", () => {
  const compacting = { rule: "full", evidence: {}, summaries: [], failures: 0 };
  const summing = stateOf({ compacting: { ...compacting, call: { startedAt: 1 } } });
  const request = { messages: [] } as unknown as ModelRequest;
  const summarise = { do: "summarise", part: 1, of: 1, attempt: 1, model: 0, request } as const;
  const begun = (state: State = summing, change: Parameters<typeof worldOf>[1] = {}): World => {
    const world = worldOf(state, change);
    world.ongoing.summarise(summarise);
    return world;
  };

  test("returns its text, and emits no events", async () => {
    const { model, posted, told } = begun();
    expect(model.heard).toMatchObject([{ request }]);
    model.emit({ type: "warning", code: "odd", message: "odd" });
    await model.answers(answer);
    expect(posted).toStrictEqual([{ type: "summary_finished", message: answer }]);
    expect(told).toStrictEqual([]);
  });

  test("is made by the run's model for summaries, if it has one", () => {
    const compactor = new HandModel("compactor");
    const world = worldOf(summing, { compactor });
    const { model: _none, ...own } = summarise;
    world.ongoing.summarise(own);
    expect([compactor.heard.length, world.model.heard.length]).toStrictEqual([1, 0]);
  });

  test("is not requested if the run does not wait for one", () => {
    const { run: _run, ...over } = summing;
    const waiting = [stateOf({ compacting }), stateOf(), over, idle];
    for (const state of waiting) {
      const { model, posted } = begun(state);
      expect([model.heard, posted]).toStrictEqual([[], []]);
    }
  });

  test.each([
    ["the run was cancelled", { cancelledAt: 2 }, undefined],
    ["its model is not among the agent's models", {}, []],
  ])("is not requested if %s, and says so", (why, change, models) => {
    const state = { ...summing, run: { ...(summing.run as Run), ...change } };
    const { model, posted } = begun(state, models === undefined ? {} : { models });
    expect(model.heard).toStrictEqual([]);
    const message = `the summary was not asked for: ${why}`;
    expect(posted).toStrictEqual([
      { type: "summary_failed", error: { kind: "aborted", message, retryable: false } },
    ]);
  });

  test("that fails has its error and its usage; so has one that returned no answer", async () => {
    const { model, posted } = begun();
    await model.fails(new RondoError("network", "gone", { usage: { inputTokens: 3 } }));
    const error = { kind: "network", message: "gone", retryable: true };
    expect(posted).toStrictEqual([{ type: "summary_failed", error, usage: { inputTokens: 3 } }]);
    const broken = begun();
    await broken.model.fails(new RondoError("network", "gone", { partial: answer }));
    expect(broken.posted).toStrictEqual([{ type: "summary_failed", error, partial: answer }]);
    const plain = begun();
    await plain.model.fails(new RondoError("network", "gone"));
    expect(plain.posted).toStrictEqual([{ type: "summary_failed", error }]);
    const odd = begun();
    await odd.model.answers({});
    expect(odd.posted).toMatchObject([{ type: "summary_failed", error: { kind: "protocol" } }]);
  });

  test("continues while it is wanted, and is abandoned with the run", () => {
    const { model, ongoing, is } = begun();
    ongoing.release();
    expect(model.signal.aborted).toBe(false);
    is(stateOf());
    ongoing.release();
    expect(model.signal.aborted).toBe(true);
  });
});
