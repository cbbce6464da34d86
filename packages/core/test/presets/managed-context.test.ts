// The managed context end to end: how a run goes on, how it ends, and what it takes with it from run to run.

import { Agent, DoneSignal, isPaired, memoryJournal, resolve, tool } from "@rondo/core";
import { type AgentEvent, agentEvents, finalOf, managedContext } from "@rondo/core/presets";
import {
  badArgs,
  call,
  calls,
  empty,
  fail,
  hold,
  part,
  refuse,
  say,
  scripted,
  stop,
  think,
  usage,
} from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { shortly } from "../support.ts";
import { doing, finalIn, only, play, resultsOf, typesOf } from "./managed-support.ts";

const look = doing("look", () => "seen");
const finish = doing("finish", () => new DoneSignal("finished"));

describe("options", () => {
  test("D1.1 the defaults: 200 iterations, the model chooses, usage is counted, every call may run", async () => {
    const { options } = resolve(managedContext({ model: scripted([]), tools: [look] }));
    expect(options).toMatchObject({ toolChoice: "auto", toolOrder: "sequential", hooks: [] });
    expect(options.system).toBeUndefined();
    const model = scripted((_request, number) => (number > 200 ? say("that was it") : call("look")));
    const { result } = await play({ model, tools: [look] });
    expect([model.calls, result?.toolCalls, result?.end?.reason]).toEqual([201, 200, "max_steps"]);
    expect(model.requests.slice(0, 200).every((request) => request.toolChoice === "auto")).toBe(true);
  });

  test("D1.1 the tool choice is sent with every request, and the prompt, the model and the tools are those given", async () => {
    const model = scripted([call("look"), say("done")]);
    const more = { toolChoice: { tool: "look" }, systemPrompt: "Be brief." } as const;
    await play({ model, tools: [look], ...more });
    for (const request of model.requests)
      expect(request).toMatchObject({
        toolChoice: { tool: "look" },
        system: "Be brief.",
        tools: [{ name: "look" }],
      });
    expect(() => managedContext({ model, maxIterations: 0 })).toThrow("option maxIterations: a whole number");
  });

  test("D1.3 a run may have its own tools and tool choice", async () => {
    const other = doing("other", () => "other ran");
    const model = scripted([call("other"), say("one"), call("other"), say("two")]);
    const agent = new Agent(managedContext({ model, tools: [look] }));
    const first = await agent.run("go", { tools: [other], toolChoice: "any" });
    expect(resultsOf(first.messages)).toEqual(["other ran"]);
    expect(model.requests[0]).toMatchObject({ tools: [{ name: "other" }], toolChoice: "any" });
    const second = await agent.run("go");
    expect(resultsOf(second.messages)).toEqual(["Error: Unknown tool 'other' (error)"]);
    expect(model.requests[2]).toMatchObject({ tools: [{ name: "look" }], toolChoice: "auto" });
  });

  test("D1.3 a run may have a session and a signal, and hosted tools are sent to the provider unchanged", async () => {
    const model = scripted([say("one"), say("two")], {
      origin: { api: "openai-responses", provider: "openai", model: "m" },
    });
    const journal = memoryJournal();
    const options = managedContext({
      model,
      hostedTools: [{ type: "web_search" }],
      settings: { temperature: 0, providerOptions: { openai: { store: false } } },
    });
    const agent = new Agent({ ...options, journal });
    await agent.run("first", { session: "s" });
    const { messages } = await agent.run("second", { session: "s" });
    expect(shortly(messages)).toEqual(["user: first", "assistant: one", "user: second", "assistant: two"]);
    expect(model.requests[0]?.settings).toEqual({
      temperature: 0,
      providerOptions: { openai: { store: false, tools: [{ type: "web_search" }] } },
    });
    await expect(agent.run("third", { signal: AbortSignal.abort() })).rejects.toMatchObject({
      kind: "aborted",
    });
  });

  test("D1.4 the history, the tools and the usage are an agent's state, by session", async () => {
    const model = scripted([[call("look"), usage({ inputTokens: 10, outputTokens: 2 })], say("done")]);
    const session = await new Agent(managedContext({ model, tools: [look] })).open("s");
    const { usage: spent, toolCalls } = await session.send("go");
    expect(shortly(session.messages)).toEqual([
      "user: go",
      "assistant: look()",
      "tool: seen",
      "assistant: done",
    ]);
    expect([spent.inputTokens, spent.outputTokens, toolCalls]).toEqual([10, 2, 1]);
    const own = session.state.options?.tools.filter((one) => one.when === undefined);
    expect(own?.map((one) => one.definition.name)).toEqual(["look"]);
  });

  test("forcing a compaction without a compaction stage is an error", async () => {
    const agent = new Agent(managedContext({ model: scripted([]), compaction: null }));
    await expect(agent.run("x", { forceCompaction: true })).rejects.toThrow("no compaction stage");
  });
});

describe("a run", () => {
  test("D2.5 the system prompt is sent once, however many runs a session has, and is not a message", async () => {
    const model = scripted([say("one"), say("two")]);
    const agent = new Agent({
      ...managedContext({ model, systemPrompt: "Rules." }),
      journal: memoryJournal(),
    });
    await agent.run("a", { session: "s" });
    const { messages } = await agent.run("b", { session: "s" });
    expect(messages.map(({ role }) => role)).not.toContain("system");
    for (const request of model.requests) {
      expect(request.system).toBe("Rules.");
      expect(JSON.stringify(request.messages)).not.toContain("Rules.");
    }
  });

  test("D2.6 an answer enters the history unchanged and in order, with all its parts", async () => {
    const answer = [
      think("hm", { opaque: { signature: "s" } }),
      say("Let me look."),
      part({ type: "native", kind: "odd_block", opaque: { a: 1 } }),
      call("look", { at: 1 }, { id: "c1" }),
      say("And then."),
    ];
    const model = scripted([answer, say("done")]);
    const { result } = await play({ model, tools: [look] });
    expect(result?.messages[1]?.content).toEqual([
      { type: "reasoning", text: "hm", opaque: { signature: "s" } },
      { type: "text", text: "Let me look." },
      { type: "native", kind: "odd_block", opaque: { a: 1 } },
      { type: "tool_call", id: "c1", name: "look", args: { at: 1 }, rawArgs: '{"at":1}' },
      { type: "text", text: "And then." },
    ]);
    expect(model.requests[1]?.messages).toEqual(result?.messages.slice(0, 3));
    expect(model.requests[0]?.messages).toEqual([{ role: "user", content: [{ type: "text", text: "go" }] }]);
    expect(model.requests[0]?.tools).toMatchObject([{ name: "look" }]);
  });

  test("D2.7 calls decide whether it continues, never the stop reason", async () => {
    for (const word of ["end_turn", "max_tokens", "stop_sequence", "unknown", "tool_use"] as const) {
      const on = await play({ model: scripted([[call("look"), stop(word)], say("done")]), tools: [look] });
      expect([resultsOf(on.result?.messages ?? []), finalIn(on.events)]).toEqual([["seen"], "done"]);
    }
    for (const word of ["tool_use", "max_tokens", "pause", "malformed_call", "unknown"] as const) {
      const over = await play({ model: scripted([[say("that is it"), stop(word)]]), tools: [look] });
      expect([over.result?.end?.reason, finalIn(over.events)]).toEqual(["completed", "that is it"]);
    }
  });

  test("D2.7 every call of an answer runs, however many there are, and an answer that repeats itself is an answer", async () => {
    const many = Array.from({ length: 40 }, () => ["look"] as const);
    const { result } = await play({ model: scripted([calls(many), say("done")]), tools: [look] });
    expect(result?.toolCalls).toBe(40);
    const babble = "over and over again, ".repeat(200);
    const model = scripted([[say(babble), stop("max_tokens")], say("never")]);
    const { events } = await play({ model });
    expect([model.calls, finalIn(events)]).toEqual([1, babble.trim()]);
  });

  test("D2.8 the last answer's texts are the final text, joined by line ends and trimmed, without text events", async () => {
    const model = scripted([[say("  One."), say("Two.  ")]]);
    const { events } = await play({ model });
    expect(typesOf(events)).toEqual(["final"]);
    expect(finalIn(events)).toBe("One.\nTwo.");
    expect(finalIn((await play({ model: scripted([empty()]) })).events)).toBe("");
  });

  test("D2.9 calls run one after another, each emitted completely before the next begins", async () => {
    const order: string[] = [];
    const slow = (name: string) =>
      tool({
        name,
        description: name,
        inputSchema: { type: "object" },
        effect: "read",
        execute: async () => {
          order.push(`${name} starts`);
          await new Promise((resolve) => setImmediate(resolve));
          order.push(`${name} ends`);
          return name;
        },
      });
    const model = scripted([calls([["a"], ["b"]]), say("done")]);
    const { events } = await play({ model, tools: [slow("a"), slow("b")] });
    expect(order).toEqual(["a starts", "a ends", "b starts", "b ends"]);
    expect(typesOf(events)).toEqual([
      ...["step_start", "tool_call", "tool_result", "step_complete"],
      ...["step_start", "tool_call", "tool_result", "step_complete"],
      "final",
    ]);
  });

  test("D2.9 a call with done ends the run at once; later calls neither run nor are emitted", async () => {
    const model = scripted([
      [say("So."), ...(calls([["finish"], ["look"], ["nowhere"]]) as [])],
      say("never"),
    ]);
    const { events, result } = await play({ model, tools: [look, finish] });
    expect(typesOf(events)).toEqual([
      "text",
      ...["step_start", "tool_call", "tool_result", "step_complete"],
      "final",
    ]);
    expect([finalIn(events), result?.toolCalls, model.calls]).toEqual(["finished", 1, 1]);
    // The history is valid all the same: the loop answers what nobody ran.
    expect(isPaired(result?.messages ?? [])).toBe(true);
    expect(resultsOf(result?.messages ?? [])).toHaveLength(3);
    const silent = doing("finish", () => new DoneSignal());
    const texts = await play({ model: scripted([[say("a"), say("b "), call("finish")]]), tools: [silent] });
    expect(finalIn(texts.events)).toBe("a\nb");
  });

  test("D2.10 D2.13 after a batch the model is called again, once an iteration, and nothing is retried", async () => {
    const model = scripted([calls([["look"], ["look"]]), call("look"), say("done")]);
    const { result } = await play({ model, tools: [look] });
    expect([model.calls, result?.steps, result?.toolCalls]).toEqual([3, 3, 3]);
    const failing = scripted([fail("overloaded", { status: 529 }), say("never")]);
    const failed = await play({ model: failing });
    expect([failing.calls, typesOf(failed.events)]).toEqual([1, []]);
    expect(failed.failure).toMatchObject({ kind: "overloaded" });
  });

  test("D4.27 a tool's return value is written as JSON, and what JSON lacks as its own text", async () => {
    const circle: { itself?: unknown } = {};
    circle.itself = circle;
    const returned = ["as it is", { a: 1 }, null, Number.NaN, 7, 7n, Symbol("it"), false, undefined, circle];
    const tools = returned.map((value, at) => doing(`t${at}`, () => value));
    const asked = returned.map((_, at): [string] => [`t${at}`]);
    const { result } = await play({ model: scripted([calls(asked), say("done")]), tools });
    expect(resultsOf(result?.messages ?? [])).toEqual([
      "as it is",
      '{"a":1}',
      "null",
      "null",
      "7",
      "7",
      "Symbol(it)",
      "false",
      "undefined",
      "[object Object]",
    ]);
  });

  test("D2.12 a stream of events gives its first final text, and nothing without one", async () => {
    const agent = new Agent(managedContext({ model: scripted([call("look"), say("done")]), tools: [look] }));
    expect(await finalOf(agentEvents(agent.stream("go")))).toBe("done");
    async function* without(): AsyncGenerator<AgentEvent> {
      yield { type: "text", content: "on the way", timestamp: 0 };
    }
    expect(await finalOf(without())).toBe("");
  });
});

describe("more work", () => {
  test("D2.14 incomplete work is asked for once, passed to the model as the user's message, and then the model may stop", async () => {
    let asked = 0;
    const model = scripted([say("I am done."), say("One item more."), say("Now truly done.")]);
    const { events, result } = await play({
      model,
      getIncompleteWorkPrompt: () => {
        asked += 1;
        return "Two todos are open.";
      },
    });
    expect([asked, model.calls]).toEqual([1, 2]);
    expect(events).toMatchObject([
      { type: "text", content: "I am done." },
      { type: "hidden_user_message", content: "Two todos are open." },
      { type: "final", content: "One item more." },
    ]);
    expect(shortly(result?.messages ?? [])).toEqual([
      "user: go",
      "assistant: I am done.",
      "user: Two todos are open.",
      "assistant: One item more.",
    ]);
  });

  test("D2.14 without incomplete work nothing is sent, and each run asks again", async () => {
    const { events } = await play({ model: scripted([say("done")]), getIncompleteWorkPrompt: () => null });
    expect(typesOf(events)).toEqual(["final"]);
    const model = scripted([say("a"), say("b"), say("c"), say("d")]);
    const options = managedContext({ model, getIncompleteWorkPrompt: async () => "more" });
    const session = await new Agent(options).open("s");
    await session.send("one");
    await session.send("two");
    expect(model.calls).toBe(4);
  });

  test("D2.15 if only a tool may end the run, an answer without calls is emitted and the run continues", async () => {
    const model = scripted([say("Thinking aloud."), empty(), call("look"), call("finish")]);
    const { events, result } = await play({ model, tools: [look, finish], requireDoneTool: true });
    expect(typesOf(events).filter((type) => type === "text" || type === "final")).toEqual(["text", "final"]);
    expect([finalIn(events), result?.end?.reason, model.calls]).toEqual(["finished", "done_tool", 4]);
    expect(shortly(model.requests[1]?.messages ?? [])).toEqual(["user: go", "assistant: Thinking aloud."]);
    // Nobody is done: the limit ends it.
    const endless = scripted([say("hm")], { repeatLast: true });
    const limited = await play({ model: endless, requireDoneTool: true, maxIterations: 3 });
    expect([endless.calls, limited.result?.end?.reason]).toEqual([4, "max_steps"]);
  });

  test("D2.6 D2.15 an answer that only paused is an iteration like any other: the limit applies", async () => {
    const model = scripted((_request, n) => (n > 20 ? say("far too late") : [say("hm"), stop("pause")]));
    const { result } = await play({ model, requireDoneTool: true, maxIterations: 3 });
    expect([model.calls, result?.steps, result?.end?.reason]).toEqual([4, 4, "max_steps"]);
  });
});

describe("an abort", () => {
  test("D5.30 before the run: no model is called and there is no final text", async () => {
    const model = scripted([say("never")]);
    const { events, failure } = await play({ model }, { run: { signal: AbortSignal.abort() } });
    expect([model.calls, events]).toEqual([0, []]);
    expect(failure).toMatchObject({ name: "AbortError", message: "Operation aborted" });
  });

  test("D5.30 between tools: the next one does not start; the model and the tools get the signal", async () => {
    const controller = new AbortController();
    let heard = false;
    const aborting = doing("aborting", (_args: never, { signal }) => {
      controller.abort();
      heard = signal.aborted;
      return new Promise((resolve) => setImmediate(() => resolve(signal.aborted)));
    });
    const model = scripted([calls([["aborting"], ["look"]]), say("never")]);
    const { events, failure } = await play({ model, tools: [aborting, look] }, { run: controller });
    expect(only(events, "tool_call").map((event) => event.tool)).toEqual(["aborting"]);
    expect([finalIn(events), failure?.name, model.calls]).toEqual([undefined, "AbortError", 1]);
    expect(heard).toBe(false);
    const held = hold(say("never"));
    const second = new AbortController();
    const waiting = play({ model: scripted([held]) }, { run: second });
    await held.reached;
    second.abort();
    expect((await waiting).failure?.name).toBe("AbortError");
  });

  test("D5.30 is checked in each iteration: after an abort in a tool the model is not called again", async () => {
    const controller = new AbortController();
    const last = doing("last", () => {
      controller.abort();
      return "done anyway";
    });
    const model = scripted([call("last"), say("never")]);
    const { failure } = await play({ model, tools: [last] }, { run: controller });
    expect([model.calls, failure?.name]).toEqual([1, "AbortError"]);
  });
});

describe("the iteration limit", () => {
  const prompt =
    "You are generating the final response for the user after the agent reached max iterations. Summarize what was completed, what is pending, and any blockers. Be concise, user-facing, and do not mention internal agent mechanics. If there is a clear next step, suggest it as a short list.";

  test("D2.11 D6.31 D6.32 ends with one more call: the whole history and the request for a summary, no tools", async () => {
    const journal = memoryJournal();
    const model = scripted([call("look"), call("look"), [say(" Half is done. "), usage({ inputTokens: 7 })]]);
    const managed = { model, tools: [look], maxIterations: 2 };
    const { events, result } = await play(managed, { agent: { journal } });
    expect(finalIn(events)).toBe("[Max Iterations Reached]\n\nHalf is done.");
    expect(result?.text).toBe("[Max Iterations Reached]\n\nHalf is done.");
    const [before, last] = [model.requests[1], model.requests[2]];
    expect([before?.tools.length, before?.toolChoice]).toEqual([1, "auto"]);
    expect([last?.tools, last?.toolChoice]).toEqual([[], "none"]);
    expect(last?.messages).toEqual([
      ...(result?.messages ?? []),
      { role: "user", content: [{ type: "text", text: prompt }] },
    ]);
    // The history is as it was before the summary; its usage counts.
    expect(shortly(result?.messages ?? [])).toEqual([
      "user: go",
      ...["assistant: look()", "tool: seen"],
      ...["assistant: look()", "tool: seen"],
    ]);
    expect(result?.usage.inputTokens).toBe(7);
  });

  test("D6.31 the last request has no hosted tools either", async () => {
    for (const given of [
      {},
      { temperature: 0, providerOptions: { openai: { store: false }, x: { a: 1 } } },
    ]) {
      const model = scripted([call("look"), say("so far")], {
        origin: { api: "openai-responses", provider: "openai", model: "m" },
      });
      const hostedTools = [{ type: "web_search" }];
      await play({ model, tools: [look], hostedTools, maxIterations: 1, settings: given });
      const [first, last] = model.requests;
      expect(first?.settings.providerOptions?.openai?.tools).toEqual(hostedTools);
      expect(last?.settings).toEqual(given);
    }
  });

  test("D6.32 D3.19 a refusal's words are the summary's text", async () => {
    const model = scripted([call("look"), refuse("I will not sum up.")]);
    const { events } = await play({ model, tools: [look], maxIterations: 1 });
    expect(finalIn(events)).toBe("[Max Iterations Reached]\n\nI will not sum up.");
  });

  test("D6.31 D6.32 a summary that fails is replaced by a fixed text, without an error", async () => {
    const model = scripted([call("look"), fail("server_error", { status: 500 })]);
    const { events, failure, result } = await play({ model, tools: [look], maxIterations: 1 });
    expect(finalIn(events)).toBe("[Max Iterations Reached]\n\nSummary unavailable due to an internal error.");
    expect([failure, result?.end?.reason, result?.end?.landed]).toEqual([undefined, "max_steps", true]);
    expect(isPaired(result?.messages ?? [])).toBe(true);
  });

  test("D6.32 an abort during the summary is an abort", async () => {
    const held = hold(say("never"));
    const controller = new AbortController();
    const model = scripted([call("look"), held]);
    const running = play({ model, tools: [look], maxIterations: 1 }, { run: controller });
    await held.reached;
    controller.abort();
    const { events, failure } = await running;
    expect([failure?.name, finalIn(events)]).toEqual(["AbortError", undefined]);
  });

  test("calls in the summary are neither run, emitted nor stored", async () => {
    const model = scripted([call("look"), [say("sum"), call("look"), badArgs("look", "{")]]);
    const { events, result } = await play({ model, tools: [look], maxIterations: 1 });
    expect([only(events, "tool_call").length, result?.toolCalls]).toEqual([1, 1]);
    expect(finalIn(events)).toBe("[Max Iterations Reached]\n\nsum");
    expect(isPaired(result?.messages ?? [])).toBe(true);
  });
});

test("a refusal is the final text", async () => {
  const { events } = await play({ model: scripted([refuse("I would rather not.")]) });
  expect(finalIn(events)).toBe("I would rather not.");
});
