// The agent strategy's rounds: what goes to the model, what comes of its answers, and where it ends.

import { Agent, type AssistantMessage, type FilePart, type Message } from "@rondo/core";
import { agentStrategy, shouldContinue } from "@rondo/core/presets";
import { call, calls, fail, part, say, scripted, stop, think, usage } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { answersOf, dataOf, logsOf, noting, order, play, textsOf } from "./strategy-support.ts";

const image: FilePart = { type: "file", mediaType: "image/png", data: "aGk=", name: "a.png" };
const sheet: FilePart = { type: "file", mediaType: "text/csv", data: "aGk=", name: "a.csv" };
const bare = (id: string, name: string): ReturnType<typeof part> =>
  part({ type: "tool_call", id, name, args: {}, rawArgs: "{}" });

describe("the contract", () => {
  test("E1.1 takes a query with history, an instruction and a policy, completion parameters, tools and a context, and emits texts, logs, resources and a JSON message", async () => {
    const model = scripted([call("look", { q: "x" }), say("done")]);
    const seen: unknown[] = [];
    const { messages } = await play(
      {
        model,
        instruction: "Be a clerk.",
        promptPolicyOverrides: "Be brief.",
        settings: { temperature: 0.5, stop: ["END"] },
        tools: [noting("look", seen)],
        maximumIterations: 3,
        emitIntermediateThoughts: false,
        context: [{ content: "fact" }],
      },
      [
        { role: "user", content: [{ type: "text", text: "earlier" }] },
        { role: "user", content: [{ type: "text", text: "now" }] },
      ],
    );
    const request = model.requests[0];
    expect(request?.system?.startsWith("Be a clerk.\n\n")).toBe(true);
    expect(request?.system?.endsWith("\n\nBe brief.")).toBe(true);
    expect(request?.settings).toEqual({ temperature: 0.5, stop: ["END"] });
    expect(request?.messages).toHaveLength(2);
    expect(seen).toEqual([{ q: "x" }]);
    expect([...new Set(messages.map((message) => message.type))].sort()).toEqual([
      "json",
      "log",
      "retriever_resources",
      "text",
    ]);
  });

  test("E1.2 allows 6 answers by default, and 1 to 30", async () => {
    const model = scripted([call("look")], { repeatLast: true });
    const { result } = await play({ model, tools: [noting("look", [])] });
    expect([model.calls, result.steps, result.end?.reason]).toEqual([6, 6, "max_steps"]);
    for (const maximumIterations of [0, 31, 1.5, Number.NaN, -1])
      expect(() => agentStrategy({ model, maximumIterations })).toThrow(/maximumIterations.*from 1 to 30/);
    for (const maximumIterations of [1, 30])
      expect(agentStrategy({ model, maximumIterations }).maxSteps).toBe(maximumIterations);
  });

  test.each([
    [undefined, ["<think>\nhm\n</think>", "\n", "done"]],
    [true, ["<think>\nhm\n</think>", "\n", "done"]],
    [false, ["\n", "done"]],
  ])("E1.2 shows intermediate thoughts by default, and with %s so", async (emit, texts) => {
    const strategy = emit === undefined ? {} : { emitIntermediateThoughts: emit };
    const model = scripted([[call("look"), say("hm")], say("done")]);
    const { messages } = await play({ model, tools: [noting("look", [])], ...strategy });
    expect(textsOf(messages)).toEqual(texts);
  });

  test.each([
    [undefined, 1_200_000],
    [10, 60_000],
    [100, 100_000],
    [9_999, 1_800_000],
  ])("E1.2 clamps a timeout of %s s", (invocationTimeoutSeconds, ms) => {
    const given = invocationTimeoutSeconds === undefined ? {} : { invocationTimeoutSeconds };
    const options = agentStrategy({ model: scripted([]), ...given });
    expect(options.toolTimeoutMs).toBe(ms);
    expect(options.clocks?.totalMs).toBe(ms);
  });

  test("E1.3 is the same engine for any tools: without any it answers", async () => {
    const { messages, result } = await play({ model: scripted([say("hello")]) });
    expect(textsOf(messages)).toEqual(["hello"]);
    expect(result.end?.reason).toBe("completed");
  });
});

describe("the flow", () => {
  test("E2.4 sends system prompt, history and query, then the thoughts and results of this run, and does not change the history", async () => {
    const history: Message[] = [
      { role: "user", content: [{ type: "text", text: "one" }] },
      { role: "user", content: [{ type: "text", text: "two" }] },
    ];
    const before = structuredClone(history);
    const model = scripted([[say("hm"), call("look", { q: "x" })], say("done")]);
    const { messages, result } = await play({ model, tools: [noting("look", [])] }, history);
    expect(history).toEqual(before);
    expect(model.requests[0]?.messages).toEqual(before);
    expect(model.requests[1]?.messages.map((one) => one.role)).toEqual(["user", "user", "assistant", "tool"]);
    expect(model.requests[1]?.messages[3]?.content).toEqual([{ type: "text", text: "look ran" }]);
    expect(result.text).toBe("done");
    expect(messages.at(-1)).toMatchObject({ type: "json", json: { execution_metadata: {} } });
  });

  test("E2.5 streams only with the feature, but accepts a complete answer even with it", async () => {
    const answer = say("stream hello", { chunk: 7 });
    const streamed = await play({ model: scripted([answer]), features: ["stream_tool_call"] });
    expect(textsOf(streamed.messages)).toEqual(["stream ", "hello"]);
    const blocking = await play({ model: scripted([answer]), features: [] });
    expect(textsOf(blocking.messages)).toEqual(["stream hello"]);
    const silent = scripted([]);
    const whole = {
      ...silent,
      call: async (): Promise<AssistantMessage> => ({
        role: "assistant",
        content: [{ type: "text", text: "whole" }],
        origin: silent.origin,
        stop: { kind: "end_turn", wire: "end_turn" },
      }),
    };
    expect(textsOf((await play({ model: whole })).messages)).toEqual(["whole"]);
  });

  test("E2.6 ignores calls without id or name", async () => {
    const seen: unknown[] = [];
    const model = scripted([[bare(" ", "look"), bare("1", " "), bare("2", " look ")], say("done")]);
    const { result } = await play({ model, tools: [noting("look", seen)] });
    expect(seen).toHaveLength(1);
    expect(answersOf(result)).toEqual(["look ran"]);
    const none = await play({ model: scripted([[say("only words"), bare("", "look")]]) });
    expect(none.result.text).toBe("only words");
  });

  test("E2.6 survives a null message and null texts", async () => {
    const base = scripted([]);
    const answers = [
      null,
      undefined,
      { role: "assistant", content: null, stop: { kind: "end_turn", wire: "end_turn" } },
    ];
    for (const answer of answers) {
      const model = {
        id: "null",
        origin: base.origin,
        call: async (_request: unknown, io: { emit(event: never): void }) => {
          io.emit({ type: "text_delta", index: 0, text: null } as never);
          return answer as never;
        },
      };
      const { messages, result } = await play({ model });
      expect(result.end?.reason).toBe("empty_response");
      expect(textsOf(messages)).toEqual([]);
      expect(messages.at(-1)?.type).toBe("json");
    }
  });

  test("E2.7 lets the later of two calls with one id replace the earlier one, in its place", async () => {
    const seen: unknown[] = [];
    const model = scripted([
      [
        call("look", { q: "first" }, { id: "a" }),
        call("look", { q: "other" }, { id: "b" }),
        call("look", { q: "second" }, { id: "a" }),
      ],
      say("done"),
    ]);
    await play({ model, tools: [noting("look", seen)] });
    expect(seen).toEqual([{ q: "second" }, { q: "other" }]);
  });

  test("E2.8 keeps the content of an answer with calls, writes arguments again, and stores no blank answer", async () => {
    const raw = '{ "q" :  "x" }';
    const model = scripted([
      [
        say(""),
        part({ type: "tool_call", id: "1", name: "look", args: { q: "x" }, rawArgs: raw }),
        part({ type: "tool_call", id: "2", name: "look", args: {}, rawArgs: "{broken", argsError: "broken" }),
      ],
      say("  "),
    ]);
    const { result } = await play({ model, tools: [noting("look", [])] });
    const [, answer] = result.messages;
    expect(answer?.content.map((one) => (one.type === "tool_call" ? one.rawArgs : one.type))).toEqual([
      "text",
      '{"q":"x"}',
      "{}",
    ]);
    expect(result.messages.map((one) => one.role)).toEqual(["user", "assistant", "tool", "tool"]);
  });

  test("E2.9 describes images and files in words from the second round on, or without vision from the first, and keeps the originals", async () => {
    const input = [{ type: "text" as const, text: "see" }, image, sheet];
    const words = [{ type: "text", text: "see\n[image]\n[file]" }];
    const seeing = scripted([call("look"), say("done")]);
    const { result } = await play({ model: seeing, tools: [noting("look", [])] }, input);
    expect(seeing.requests[0]?.messages[0]?.content).toEqual(input);
    expect(seeing.requests[1]?.messages[0]?.content).toEqual(words);
    expect(result.messages[0]?.content).toEqual(input);
    const blind = scripted([say("done")]);
    await play({ model: blind, features: ["stream_tool_call"] }, input);
    expect(blind.requests[0]?.messages[0]?.content).toEqual(words);
    const known = scripted([say("done")], { facts: { accepts: ["application/pdf"] } });
    await play({ model: known }, input);
    expect(known.requests[0]?.messages[0]?.content).toEqual(words);
  });

  test("E2.9 describes them in words to a stand-in model without vision, also in the first round", async () => {
    const sees = { facts: { accepts: ["image/*"] } };
    const failing = scripted([fail("server_error")], sees);
    const blind = scripted([say("done")], { id: "blind", facts: { accepts: ["application/pdf"] } });
    const options = { ...agentStrategy({ model: failing }), fallback: [blind] };
    await new Agent(options).run([{ type: "text", text: "see" }, image, sheet]);
    expect(failing.requests[0]?.messages[0]?.content).toHaveLength(3);
    expect(blind.requests[0]?.messages[0]?.content).toEqual([{ type: "text", text: "see\n[image]\n[file]" }]);
  });

  test("E2.9 shows them to a stand-in model with vision, if the first model has none", async () => {
    const failing = scripted([fail("server_error")], { facts: { accepts: ["application/pdf"] } });
    const seeing = scripted([say("done")], { id: "seeing", facts: { accepts: ["image/*"] } });
    const input = [{ type: "text" as const, text: "see" }, image, sheet];
    await new Agent({ ...agentStrategy({ model: failing }), fallback: [seeing] }).run(input);
    expect(failing.requests[0]?.messages[0]?.content).toEqual([
      { type: "text", text: "see\n[image]\n[file]" },
    ]);
    expect(seeing.requests[0]?.messages[0]?.content).toEqual(input);
  });

  test("E2.10 does not run the calls of the last round, says so for each, and calls the model no more", async () => {
    const seen: unknown[] = [];
    const model = scripted([calls([["look"]]), calls([["look"], ["peek"]])]);
    const { messages, result } = await play({
      model,
      tools: [noting("look", seen), noting("peek", seen)],
      maximumIterations: 2,
    });
    expect(seen).toHaveLength(1);
    expect(model.calls).toBe(2);
    expect(answersOf(result)).toEqual([
      "look ran",
      "Maximum iteration limit (2) reached. Cannot call tool 'look'. Please consider increasing the iteration limit.",
      "Maximum iteration limit (2) reached. Cannot call tool 'peek'. Please consider increasing the iteration limit.",
    ]);
    expect(result.end).toMatchObject({ reason: "max_steps", rule: "max_steps" });
    expect(order(messages).filter((line) => line.startsWith("start CALL"))).toHaveLength(3);
  });

  test("E2.10 runs the calls if there is only one round, and shows the result of each", async () => {
    const seen: unknown[] = [];
    const model = scripted([calls([["look"], ["peek"]])]);
    const { messages, result } = await play({
      model,
      tools: [noting("look", seen), noting("peek", seen)],
      maximumIterations: 1,
      emitIntermediateThoughts: false,
    });
    expect(seen).toHaveLength(2);
    expect([model.calls, result.end?.reason]).toEqual([1, "max_steps"]);
    expect(textsOf(messages)).toEqual(["\n", "look ran", "peek ran"]);
    expect(order(messages).slice(-4)).toEqual(["finish ROUND 1", '"look ran"', '"peek ran"', "json"]);
  });

  test("E2.11 emits a line feed after each round with calls, and after no other", async () => {
    const model = scripted([
      call("look"),
      calls([
        ["look", { q: "a" }],
        ["look", { q: "b" }],
      ]),
      say("done"),
    ]);
    const { messages } = await play({
      model,
      tools: [noting("look", [])],
      emitIntermediateThoughts: false,
    });
    expect(textsOf(messages)).toEqual(["\n", "\n", "done"]);
  });

  test.each([
    [1, 0, true, false],
    [0, -1, true, false],
    [1, 2, true, true],
    [2, 2, true, false],
    [3, 2, true, false],
    [1, 2, false, false],
  ])(
    "E2.12 in round %i of %i with a call (%s): another round follows: %s",
    (iteration, maximum, has, goes) => {
      expect(shouldContinue(iteration, maximum, has)).toBe(goes);
    },
  );

  test("E2.12 is the loop's behaviour for every limit and every number of rounds with calls", async () => {
    for (const maximum of [1, 2, 3, 4])
      for (const rounds of [0, 1, 2, 3, 4]) {
        const model = scripted([...Array(rounds).fill(call("look")), say("done")]);
        await play({ model, tools: [noting("look", [])], maximumIterations: maximum });
        let asked = 1;
        while (shouldContinue(asked, maximum, asked <= rounds)) asked += 1;
        expect([maximum, rounds, model.calls]).toEqual([maximum, rounds, asked]);
      }
  });

  test("E2.4 passes a model's failure on, with the costs so far", async () => {
    const model = scripted([
      [call("look"), usage({ inputTokens: 3, outputTokens: 2 })],
      fail("server_error"),
    ]);
    const strategy = { model, tools: [noting("look", [])] };
    const agent = new Agent(agentStrategy(strategy));
    await expect(agent.run("go")).rejects.toMatchObject({ kind: "server_error" });
    expect(model.calls).toBe(2);
  });

  test("E2.4 a round without calls is the last, even if its answer was paused, repeats itself, or announced a call", async () => {
    for (const end of [
      [say("part"), stop("pause")],
      [say("part"), stop("malformed_call")],
      [say("so on and ".repeat(60)), stop("max_tokens")],
    ]) {
      const model = scripted([end, say("more")]);
      const { messages, result } = await play({ model });
      expect([model.calls, result.steps]).toEqual([1, 1]);
      expect(order(messages).filter((one) => one.includes("ROUND"))).toEqual([
        "start ROUND 1",
        "finish ROUND 1",
      ]);
      expect(textsOf(messages)).toEqual([result.text]);
    }
  });

  test("E2.4 E2.12 an answer that was cut off before its first word is the last too, whatever the model's limit is", async () => {
    for (const answer of [[], [think("so")]]) {
      const facts = { maxOutputTokens: 8_000 };
      const model = scripted([[answer, stop("max_tokens")], say("more")], { facts });
      const { result } = await play({ model, settings: { maxOutputTokens: 100 } });
      expect([model.calls, result.end?.reason, result.text]).toEqual([1, "empty_response", ""]);
    }
  });

  test("a stop word for tools without a call is an answer, and not requested again", async () => {
    for (const word of ["tool_use", "malformed_call"] as const) {
      const model = scripted([[stop(word)]]);
      const { result } = await play({ model });
      expect([model.calls, result.end?.reason]).toEqual([1, "empty_response"]);
    }
  });

  test("calls of a truncated answer run, if they are complete", async () => {
    const seen: unknown[] = [];
    const model = scripted([[call("look", { q: "x" }), stop("max_tokens")], say("done")]);
    const { messages, result } = await play({ model, tools: [noting("look", seen)] });
    expect(seen).toEqual([{ q: "x" }]);
    expect(result.end?.reason).toBe("completed");
    expect(dataOf(messages, "CALL look")).toMatchObject({ output: { tool_response: "look ran" } });
    expect(logsOf(messages).every((log) => log.status !== "error")).toBe(true);
  });

  test("a run can be rebuilt from its records, request by request", async () => {
    const model = scripted([calls([["look"], ["draw"]]), call("look"), say("done")]);
    const look = noting("look", [], () => {
      throw new Error("no");
    });
    const draw = noting("draw", [], () => ({ type: "image", data: "aGk=" }));
    const agent = new Agent(agentStrategy({ model, tools: [look, draw] }));
    const session = await agent.open("s");
    await session.send([{ type: "text", text: "see" }, image]);
    const { requests, firstDifference } = await session.replay();
    expect(firstDifference).toBeUndefined();
    expect(requests.map((one) => JSON.parse(JSON.stringify([...one.request.messages])))).toEqual(
      model.requests.map((one) => one.messages),
    );
    expect(JSON.stringify(model.requests.at(-1))).not.toContain("aGk=");
    expect(JSON.stringify(session.messages)).toContain("aGk=");
  });
});
