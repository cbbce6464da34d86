// A run from end to end: think, act, observe, and every way it ends.

import {
  Agent,
  type AgentOptions,
  budget,
  emptyAnswers,
  isPaired,
  type Model,
  type ModelEvent,
  maxSteps,
  memoryJournal,
  RondoError,
  type Rule,
  stopWhen,
  subAgent,
  textOf,
  type Usage,
} from "@rondo/core";
import { managedContext, steerable } from "@rondo/core/presets";
import {
  badArgs,
  call,
  calls,
  cut,
  empty,
  fail,
  part,
  refuse,
  say,
  scripted,
  stop,
  type Turn,
  think,
  throwing,
  usage,
} from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { echo, eventsOf, quick, shortly } from "./support.ts";

describe("a run", () => {
  test("thinks, acts, observes, and completes with the answer's text", async () => {
    const model = scripted([[say("Looking."), call("look")], say("It is there.")]);
    const result = await new Agent({ model, tools: [echo("look")] }).run("where is it?");
    expect(result.text).toBe("It is there.");
    expect(result.end).toMatchObject({ reason: "completed", rule: "answer", landed: false });
    expect(shortly(result.messages)).toEqual([
      "user: where is it?",
      "assistant: Looking. look()",
      "tool: look ran",
      "assistant: It is there.",
    ]);
    expect([result.steps, result.toolCalls]).toEqual([2, 1]);
    expect(model.requests[1]?.messages).toHaveLength(3);
  });

  test("keeps the answers to several calls in call order, whatever order they came in", async () => {
    const model = scripted([calls([["slow"], ["fast"], ["nowhere"]]), say("done")]);
    const { promise, resolve } = Promise.withResolvers<string>();
    const slow = echo("slow", { execute: () => promise });
    const fast = echo("fast", {
      execute: () => {
        resolve("slow ran");
        return "fast ran";
      },
    });
    const { messages } = await new Agent({ model, tools: [slow, fast] }).run("go");
    expect(shortly(messages).slice(2, 5)).toEqual([
      "tool: slow ran",
      "tool: fast ran",
      'tool: Error: unknown tool "nowhere". Available tools: slow, fast.',
    ]);
  });

  test("continues if there are calls, even with a stop word that means end", async () => {
    const model = scripted([[call("look"), stop("end_turn")], say("done")]);
    const { text, toolCalls } = await new Agent({ model, tools: [echo("look")] }).run("go");
    expect([text, toolCalls]).toEqual(["done", 1]);
  });

  test("ends if there is text and no call, even with a stop word that means tool use", async () => {
    const { text, steps } = await new Agent({
      model: scripted([[say("That is all."), stop("tool_use")]]),
    }).run("go");
    expect([text, steps]).toEqual(["That is all.", 1]);
  });

  test("takes text with an unknown stop word for an answer", async () => {
    const { end, text } = await new Agent({
      model: scripted([[say("hm"), stop("unknown", { raw: "eos" })]]),
    }).run("go");
    expect([end?.reason, text]).toEqual(["completed", "hm"]);
  });

  test("gives every call its own id in the session, even if the provider repeats or leaves out its own", async () => {
    const same = { id: "call_0" };
    const model = scripted([
      calls([
        ["look", {}, same],
        ["look", {}, same],
        ["look", {}, { id: "" }],
      ]),
      call("look", {}, same),
      say("done"),
    ]);
    const { messages } = await new Agent({ model, tools: [echo("look")] }).run("go");
    const ids = messages.flatMap((message) => (message.role === "tool" ? [message.callId] : []));
    expect(new Set(ids).size).toBe(4);
    expect(ids).not.toContain("");
    expect(isPaired(messages)).toBe(true);
  });

  test("does not run a call with broken arguments, and shows the model what it wrote", async () => {
    let ran = 0;
    const look = echo("look", { execute: () => (ran += 1) });
    const model = scripted([badArgs("look", '{"path": '), say("done")]);
    const { messages } = await new Agent({ model, tools: [look] }).run("go");
    expect(ran).toBe(0);
    expect(shortly(messages)[2]).toMatch(/look was not executed.*\{"path": /);
  });

  test("runs nothing of an answer cut off at the output limit, and lands if that happens again and again", async () => {
    let ran = 0;
    const look = echo("look", { execute: () => (ran += 1) });
    const model = scripted([
      [call("look"), stop("max_tokens")],
      [call("look"), stop("max_tokens")],
      [call("look"), stop("max_tokens")],
      say("what I have"),
    ]);
    const { end, text } = await new Agent({ model, tools: [look] }).run("go");
    expect(ran).toBe(0);
    expect(end).toMatchObject({
      reason: "truncated",
      rule: "truncations",
      landed: true,
      evidence: { truncations: 3 },
    });
    expect(text).toBe("what I have");
  });

  test("raises the output limit once if the model allows more", async () => {
    const model = scripted([[call("look"), stop("max_tokens")], say("done")], {
      facts: { maxOutputTokens: 9000 },
    });
    const agent = new Agent({ model, tools: [echo("look")], settings: { maxOutputTokens: 1000 } });
    const { text, messages } = await agent.run("go");
    expect(text).toBe("done");
    expect(model.requests.map((request) => request.settings.maxOutputTokens)).toEqual([1000, 9000]);
    expect(shortly(messages)).toEqual(["user: go", "assistant: done"]);
  });

  test("ends as truncated with the partial text if text is cut off", async () => {
    const { end, text } = await new Agent({ model: scripted([[say("So far"), stop("max_tokens")]]) }).run(
      "go",
    );
    expect([end?.reason, text]).toEqual(["truncated", "So far"]);
  });

  test("runs the complete calls of a truncated answer only if set so", async () => {
    const model = scripted([[call("look"), badArgs("look", '{"a":'), stop("max_tokens")], say("done")]);
    const { toolCalls, text } = await new Agent({
      model,
      tools: [echo("look")],
      onTruncated: "run_complete",
    }).run("go");
    expect([toolCalls, text]).toEqual([1, "done"]);
  });

  test("nudges once after an empty answer, without storing it, then ends as empty", async () => {
    const model = scripted([empty(), empty()]);
    const { end, messages } = await new Agent({ model }).run("go");
    expect(end).toMatchObject({ reason: "empty_response", rule: "empty_answers" });
    expect(shortly(messages)).toEqual(["user: go"]);
    expect(model.requests[1]?.messages).toHaveLength(2);
  });

  test("does not take reasoning alone for an answer", async () => {
    const { text, messages } = await new Agent({ model: scripted([think("Let me see."), say("Here.")]) }).run(
      "go",
    );
    expect(text).toBe("Here.");
    expect(messages).toHaveLength(2);
  });

  test("has a refusal's words as its text if no rule handles refusals, whichever model refuses", async () => {
    const refused = (id: string) => scripted([refuse("I will not.")], { id });
    const alone = await new Agent({ model: refused("one"), refusals: null }).run("go");
    expect([alone.text, alone.end?.reason]).toEqual(["I will not.", "completed"]);
    const model = scripted([fail("auth")], { id: "one" });
    const spare = await new Agent({ model, fallback: [refused("two")], refusals: null }).run("go");
    expect([spare.text, spare.end?.reason]).toEqual(["I will not.", "completed"]);
  });

  test("ends as refused with the provider's words, calls the model no more, and does not store the refusal", async () => {
    const model = scripted([refuse("I can't help with that.")]);
    const { end, text, messages } = await new Agent({ model }).run("go");
    expect([end?.reason, text, model.calls]).toEqual(["refused", "I can't help with that.", 1]);
    expect(messages).toHaveLength(1);
  });

  test("sends a paused answer back unchanged, and counts it as one step", async () => {
    const model = scripted([[say("Searching"), stop("pause")], say(" Found.")]);
    const { steps, text, messages } = await new Agent({ model }).run("go");
    expect([steps, text]).toEqual([1, "Searching Found."]);
    expect(shortly(messages)).toEqual(["user: go", "assistant: Searching", "assistant:  Found."]);
    expect(model.requests[1]?.messages.map((message) => message.role)).toEqual(["user", "assistant"]);
  });

  test("gives up on an answer that pauses for ever", async () => {
    const model = scripted([[say("…"), stop("pause")]], { repeatLast: true });
    const { end } = await new Agent({ model, pauseResumes: 3 }).run("go");
    expect([end?.reason, end?.rule, model.calls]).toEqual(["unexpected_stop", "pauses", 4]);
  });

  test("calls the model again after an unreadable call, first unchanged, then with a note, then fails", async () => {
    const model = scripted([stop("malformed_call")], { repeatLast: true });
    const { end, messages } = await new Agent({ model }).run("go");
    expect(end).toMatchObject({
      reason: "error",
      rule: "malformed_calls",
      error: { kind: "malformed_tool_call" },
    });
    expect(model.requests.map((request) => request.messages.length)).toEqual([1, 1, 2]);
    expect(messages).toHaveLength(1);
  });

  test("retries failures that may pass, as often as allowed, and then fails with the provider's error", async () => {
    const model = scripted([fail("overloaded")], { repeatLast: true });
    const { end } = await new Agent({ model, ...quick }).run("go");
    expect([model.calls, end?.reason, end?.error?.kind]).toEqual([4, "error", "overloaded"]);
    expect(end?.evidence).toMatchObject({ attempt: 4, allowed: 4 });
  });

  test("does not retry what cannot pass", async () => {
    const model = scripted([fail("auth")]);
    const { end } = await new Agent({ model }).run("go");
    expect([model.calls, end?.error?.kind]).toEqual([1, "auth"]);
  });

  test("does not wait for a provider longer than allowed, and says how long it asked for", async () => {
    const model = scripted([fail("rate_limit", { retryAfterMs: 3_600_000 })]);
    const { end } = await new Agent({ model }).run("go");
    expect(model.calls).toBe(1);
    expect(end?.error?.message).toContain("3600 s");
  });

  test("falls back to the next model if the first fails for good", async () => {
    const first = scripted([fail("quota_exhausted")], { id: "first" });
    const second = scripted([say("from the second")], { id: "second" });
    const events = await eventsOf(new Agent({ model: first, fallback: [second] }), "go");
    expect(events.find((event) => event.type === "fallback")).toMatchObject({ from: "first", to: "second" });
    expect(events.at(-1)).toMatchObject({ type: "run_end", text: "from the second" });
  });

  test.each([
    ["no retries", (model: Model): AgentOptions => ({ model, retry: null })],
    ["the steerable preset", (model: Model) => steerable({ model })],
    ["the managed context", (model: Model) => managedContext({ model })],
    [
      "the managed context, its retries used up",
      (model: Model) => managedContext({ model, llmRetry: "by_kind", llmMaxRetries: 0 }),
    ],
  ])("falls back with %s too, once a model, and ends with the last one's error", async (_name, options) => {
    const failing = (id: string, ...turns: Turn[]) => scripted(turns, { id });
    const first = failing("first", fail("overloaded", { status: 529 }));
    const second = failing("second", fail("auth", { status: 401 }));
    const third = failing("third", say("from the third"));
    const all = [first, second, third];
    const agent = new Agent({ ...options(first), fallback: [second, third] });
    expect((await agent.run("go")).text).toBe("from the third");
    expect(all.map(({ calls }) => calls)).toEqual([1, 1, 1]);
    const lost = failing("lost", fail("auth", { message: "no such key", status: 401 }));
    const spent = failing("spent", fail("overloaded", { status: 529 }));
    const ended = new Agent({ ...options(spent), fallback: [lost], throwOnError: false });
    expect((await ended.run("go")).end).toMatchObject({
      reason: "error",
      error: { kind: "auth", status: 401 },
    });
    const refused = failing("refused", fail("invalid_request", { status: 400 }));
    const other = failing("other");
    await new Agent({ ...options(refused), fallback: [other], throwOnError: false }).run("go");
    expect(other.calls).toBe(0);
  });

  test("tells listeners to discard what they got of an answer that broke off, and runs nothing of it", async () => {
    let ran = 0;
    const look = echo("look", { execute: () => (ran += 1) });
    const model = scripted([cut({ afterText: "Hel" }), say("Hello")]);
    const events = await eventsOf(new Agent({ model, tools: [look], ...quick }), "go");
    expect(events.find((event) => event.type === "retry")).toMatchObject({
      discard: true,
      error: { kind: "stream_truncated" },
    });
    expect(ran).toBe(0);
    expect(events.at(-1)).toMatchObject({ text: "Hello" });
  });

  test("tells listeners to discard thoughts and the beginning of a call too, of which nothing is kept", async () => {
    const deltas: ModelEvent[] = [
      { type: "reasoning_delta", index: 0, text: "Let me" },
      { type: "tool_args_delta", index: 0, id: "c1", name: "look", delta: '{"at' },
      { type: "warning", code: "odd", message: "It is odd." },
    ];
    const discards = deltas.map(async (delta) => {
      const answers = scripted([say("Hello")]);
      let calls = 0;
      const model: Model = {
        ...answers,
        call: (request, io) => {
          calls += 1;
          if (calls > 1) return answers.call(request, io);
          io.emit(delta);
          throw new RondoError("stream_truncated", "broke off");
        },
      };
      const events = await eventsOf(new Agent({ model, tools: [echo("look")], ...quick }), "go");
      return events.flatMap((event) => (event.type === "retry" ? [event.discard] : []));
    });
    expect(await Promise.all(discards)).toEqual([[true], [true], [false]]);
  });

  test("records that an answer was shown if nothing of it is kept, and only then", async () => {
    const journal = memoryJournal();
    const model = scripted([cut({ afterText: "Hel" }), say("Hello")]);
    const session = await new Agent({ model, journal, ...quick }).open("s");
    await session.send("go");
    const failed = (await journal.read("s")).filter((record) => record.type === "model_failed");
    expect(failed).toMatchObject([{ partial: { content: [{ text: "Hel" }] } }]);
    expect(failed[0]).not.toHaveProperty("shown");
  });

  test("takes whatever a model throws for the model's failure, not the loop's", async () => {
    for (const thrown of [new TypeError("boom"), "a string", undefined, null]) {
      const { end } = await new Agent({ model: scripted([throwing(thrown)]) }).run("go");
      expect([end?.reason, end?.error?.kind]).toEqual(["error", "internal"]);
    }
  });

  test("takes an invalid answer for the model's failure", async () => {
    const model = {
      id: "odd",
      origin: { api: "x", provider: "x", model: "x" },
      call: async () => ({}) as never,
    };
    const { end } = await new Agent({ model }).run("go");
    expect(end?.error?.kind).toBe("protocol");
  });

  test("lands at the step limit: one last turn without tools, a best-effort answer, the rule and its evidence", async () => {
    const model = scripted((request) =>
      request.toolChoice === "none"
        ? say("This is what I know.")
        : call("look", { at: request.messages.length }),
    );
    const { end, text, messages } = await new Agent({
      model,
      tools: [echo("look")],
      rules: [maxSteps(3)],
    }).run("go");
    expect(end).toEqual({
      reason: "max_steps",
      rule: "max_steps",
      evidence: { steps: 3, max: 3 },
      landed: true,
      resumable: true,
    });
    expect(text).toBe("This is what I know.");
    expect(isPaired(messages)).toBe(true);
    expect(textOf(messages.at(-1) as never)).toBe(text);
    // The landing words are shown to the model and not stored.
    expect(model.lastRequest.messages.at(-1)?.role).toBe("user");
    expect(messages.filter((message) => message.role === "user")).toHaveLength(1);
  });

  test("still ends with the limit's name if the landing itself fails", async () => {
    const model = scripted([call("look"), fail("auth")]);
    const { end } = await new Agent({ model, tools: [echo("look")], rules: [maxSteps(1)] }).run("go");
    expect(end).toMatchObject({ reason: "max_steps", landed: false, error: { kind: "auth" } });
  });

  test.each([
    ["stop", { reason: "max_steps", landed: false }, 2],
    ["error", { reason: "max_steps", error: { kind: "loop_detected" } }, 2],
    ["refuse_tools", { reason: "max_steps", landed: false }, 1],
  ] as const)("at the step limit with onLimit %s ends at once", async (onLimit, end, toolCalls) => {
    const model = scripted((request) => call("look", { at: request.messages.length }));
    const result = await new Agent({ model, tools: [echo("look")], maxSteps: 2, onLimit }).run("go");
    expect(result.end).toMatchObject(end);
    expect([model.calls, result.toolCalls]).toEqual([2, toolCalls]);
    expect(isPaired(result.messages)).toBe(true);
  });

  test("stops by a rule that is a short function, and names it", async () => {
    const model = scripted((request) =>
      request.toolChoice === "none" ? say("enough") : call("look", { at: request.messages.length }),
    );
    const enoughCalls = ({ toolCalls }: { toolCalls: number }) => toolCalls >= 2 && "two calls are enough";
    const { end } = await new Agent({ model, tools: [echo("look")], rules: [enoughCalls] }).run("go");
    expect(end).toMatchObject({
      reason: "turn_stopped",
      rule: "enoughCalls",
      evidence: { said: "two calls are enough" },
    });
  });

  test("lands on a token budget before it is exceeded again, with the counted tokens", async () => {
    const model = scripted((request) =>
      request.toolChoice === "none"
        ? say("ok")
        : [call("look", { at: request.messages.length }), usage({ inputTokens: 60, outputTokens: 5 })],
    );
    const { end } = await new Agent({ model, tools: [echo("look")], budget: { tokens: 100 } }).run("go");
    expect(end).toMatchObject({
      reason: "token_budget",
      rule: "budget",
      evidence: { tokens: 130, max: 100 },
    });
  });

  test("refuses a money budget if a model's price is unknown", () => {
    expect(() => new Agent({ model: scripted([]), budget: { usd: 1 } })).toThrow(/needs a price.*scripted/);
    const price = { input: 1, output: 1 };
    const named = { name: "child", description: "d" };
    const unpriced = subAgent({ ...named, agent: new Agent({ model: scripted([]) }) });
    const deeper = subAgent({
      ...named,
      agent: new Agent({ model: scripted([], { facts: { price } }), tools: [unpriced] }),
    });
    for (const tools of [[unpriced], [deeper]])
      expect(
        () => new Agent({ model: scripted([], { facts: { price } }), tools, budget: { usd: 1 } }),
      ).toThrow(/needs a price.*scripted/);
  });

  test("counts money by the model's price, cached tokens separately, and lands on the budget", async () => {
    const price = { input: 10, output: 100, cachedInput: 1 };
    const turn = [
      call("look"),
      usage({ inputTokens: 100_000, cachedInputTokens: 50_000, outputTokens: 1000 }),
    ];
    const model = scripted([turn, say("ok")], { facts: { price } });
    const { end, usd } = await new Agent({ model, tools: [echo("look")], budget: { usd: 0.5 } }).run("go");
    expect(end).toMatchObject({ reason: "cost_budget", evidence: { max: 0.5 } });
    expect(end?.evidence.usd).toBeCloseTo(0.65);
    // The landing call told no usage: from then on the sum is unknown, not 0.65.
    expect(usd).toBeUndefined();
  });

  test("reports unknown usage as unknown, never as zero", async () => {
    const { usage: used, usd } = await new Agent({ model: scripted([say("ok")]) }).run("go");
    expect([used, usd]).toEqual([{}, undefined]);
  });

  test("takes no tokens of a request for unknown, as servers send it that did not count: budgets have an end all the same", async () => {
    const price = { input: 10, output: 100 };
    for (const [told, known] of [
      [{ inputTokens: 0, outputTokens: 0 }, {}],
      [{ inputTokens: 0, outputTokens: 7, cachedInputTokens: 0 }, { outputTokens: 35 }],
      [{ outputTokens: 7 }, { outputTokens: 35 }],
    ]) {
      const script = (_request: unknown, number: number) => [call("look", { number }), usage(told as Usage)];
      const model = scripted(script, { facts: { price } });
      const tools = [echo("look", { execute: () => "much to read ".repeat(100) })];
      const run = await new Agent({ model, tools, budget: { tokens: 1_500 }, maxSteps: 20 }).run("go");
      expect(run.end).toMatchObject({ reason: "token_budget", evidence: { uncountedCalls: 4 } });
      expect([run.usage, run.usd]).toEqual([known, undefined]);
      const costly = await new Agent({ model, tools, budget: { usd: 1 } }).run("go");
      expect(costly.end).toMatchObject({ reason: "cost_budget", evidence: { usd: "unknown" } });
    }
  });

  test("nudges, hides the tool, and lands if the same call keeps giving the same result", async () => {
    const model = scripted((request) => (request.toolChoice === "none" ? say("stuck") : call("look")));
    const events = await eventsOf(new Agent({ model, tools: [echo("look")] }), "go");
    const nudges = events.filter((event) => event.type === "nudge");
    expect(nudges).toHaveLength(2);
    expect(nudges[1]).toMatchObject({ text: "the tool look is no longer offered" });
    expect(events.at(-1)).toMatchObject({
      type: "run_end",
      end: { reason: "no_progress", rule: "repeats", evidence: { tool: "look", times: 5 } },
    });
    expect(model.requests[4]?.tools).toEqual([]);
  });

  test("does not count polling as a repeat while the results change, nor an exempt tool at all", async () => {
    let polls = 0;
    const poll = echo("poll", {
      execute: () => {
        polls += 1;
        return `${polls} %`;
      },
    });
    const wait = echo("wait");
    const script = [...Array.from({ length: 8 }, () => calls([["poll"]])), say("done")];
    expect((await new Agent({ model: scripted(script), tools: [poll] }).run("go")).text).toBe("done");
    const waits = [...Array.from({ length: 8 }, () => calls([["wait"]])), say("done")];
    const agent = new Agent({ model: scripted(waits), tools: [wait], repeats: { exempt: ["wait"] } });
    expect((await agent.run("go")).text).toBe("done");
  });

  test("finds two alternating calls that give nothing new", async () => {
    const model = scripted((request, number) =>
      request.toolChoice === "none" ? say("stuck") : call(number % 2 === 0 ? "a" : "b"),
    );
    const { end } = await new Agent({ model, tools: [echo("a"), echo("b")] }).run("go");
    expect([end?.reason, model.calls < 14]).toEqual(["no_progress", true]);
  });

  test("skips calls of one answer that are too many, with a result for each", async () => {
    const many = calls(Array.from({ length: 40 }, (_, at) => ["look", { at }] as const));
    const { toolCalls, messages } = await new Agent({
      model: scripted([many, say("done")]),
      tools: [echo("look")],
    }).run("go");
    expect(toolCalls).toBe(32);
    expect(shortly(messages).filter((line) => line.includes("too many calls"))).toHaveLength(8);
    expect(isPaired(messages)).toBe(true);
  });

  test("leaves calls to the caller if set so, and returns them as pending", async () => {
    const model = scripted([[call("look", { a: 1 })]]);
    const { end, pending, messages } = await new Agent({
      model,
      tools: [echo("look")],
      autoExecuteTools: false,
    }).run("go");
    expect(end?.reason).toBe("requires_action");
    expect(pending).toMatchObject([{ name: "look", args: { a: 1 } }]);
    expect(isPaired(messages)).toBe(true);
  });

  test("leaves no calls of a truncated answer to the caller: the model is told, and called again", async () => {
    const model = scripted([[call("look"), stop("max_tokens")], call("look", { a: 2 })]);
    const { end, pending, messages } = await new Agent({
      model,
      tools: [echo("look")],
      autoExecuteTools: false,
    }).run("go");
    expect(end?.reason).toBe("requires_action");
    expect(pending).toMatchObject([{ name: "look", args: { a: 2 } }]);
    expect(shortly(messages)[2]).toContain("look was not executed: the message was cut off");
  });

  test("rejects with the run's error if set so", async () => {
    const failing = new Agent({ model: scripted([fail("auth")]), throwOnError: true }).run("go");
    await expect(failing).rejects.toMatchObject({ name: "RondoError", kind: "auth" });
    const told = { status: 429, retryAfterMs: 90_000, raw: { error: { type: "tokens" } } };
    const limited = new Agent({ model: scripted([fail("rate_limit", told)]), throwOnError: true }).run("go");
    await expect(limited).rejects.toMatchObject({ kind: "rate_limit", retryable: true, ...told });
  });

  test("keeps a provider's own blocks in the history as they are", async () => {
    const native = { type: "native" as const, kind: "server_tool_use", opaque: { id: "srv_1", input: {} } };
    const { messages } = await new Agent({ model: scripted([[part(native), say("Found.")]]) }).run("go");
    expect(messages[1]?.content[0]).toEqual(native);
  });
});

/** A thing done as a promise, so that whatever it throws is a rejection. */
const attempt = async (act: () => unknown): Promise<unknown> => act();

describe("bad input", () => {
  test.each([
    ["an empty task", () => new Agent({ model: scripted([]) }).run("  "), /the task is empty/],
    ["no messages", () => new Agent({ model: scripted([]) }).run([]), /the task is empty/],
    ["no model", () => attempt(() => new Agent({ model: undefined as never })), /option model/],
    [
      "two tools of one name",
      () => attempt(() => new Agent({ model: scripted([]), tools: [echo("a"), echo("a")] })),
      /two tools are named "a"/,
    ],
    [
      "two rules of one name",
      () =>
        attempt(
          () =>
            new Agent({
              model: scripted([]),
              rules: [stopWhen(() => false, "x"), stopWhen(() => false, "x")],
            }),
        ),
      /two rules are named "x"/,
    ],
    [
      "a rule that an option sets",
      () => attempt(() => new Agent({ model: scripted([]), rules: [emptyAnswers(3) as Rule] })),
      /two rules are named "empty_answers", yours and the built-in one: set it by option emptyNudges, or leave it out with emptyNudges: null$/,
    ],
    [
      "a budget in two places",
      () => attempt(() => new Agent({ model: scripted([]), budget: { ms: 1 }, rules: [budget({ ms: 2 })] })),
      /two rules are named "budget", yours and that of option budget: give one of them/,
    ],
    [
      "a rule under the name of one that is always there",
      () => attempt(() => new Agent({ model: scripted([]), rules: [stopWhen(() => false, "tree")] })),
      /two rules are named "tree", yours and the built-in one: give yours another name/,
    ],
    [
      "an output that is no schema",
      () => attempt(() => new Agent({ model: scripted([]), output: "json" as never })),
      /^option output: a schema \(a Standard Schema, or a JSON Schema\) is needed, not "json"$/,
    ],
    [
      "a list of tools that nobody awaited",
      () => attempt(() => new Agent({ model: scripted([]), tools: Promise.resolve([]) as never })),
      /^option tools: a list is needed, not a promise: await it$/,
    ],
    [
      "a model that nobody awaited",
      () => attempt(() => new Agent({ model: Promise.resolve(scripted([])) as never })),
      /^option model: .* is needed, not a promise: await it$/,
    ],
    ["a tool name no provider takes", () => attempt(() => echo("a b")), /tool name "a b"/],
    [
      "an invalid schema",
      () => attempt(() => echo("a", { inputSchema: { type: "string" } })),
      /tool "a".*type "object"/,
    ],
    [
      "a hook nobody knows",
      () => attempt(() => new Agent({ model: scripted([]), hooks: { onMoon: () => {} } as never })),
      /option hooks\.onMoon: there is no such option; there are permission, /,
    ],
    [
      "a budget that is no number",
      () => attempt(() => new Agent({ model: scripted([]), budget: { tokens: Number.NaN } })),
      /option budget\.tokens: a number above 0 is needed, not NaN/,
    ],
    [
      "a limit that is no number",
      () => attempt(() => new Agent({ model: scripted([]), maxSteps: 0 })),
      /maxSteps/,
    ],
    [
      "a concurrency of none",
      () => attempt(() => new Agent({ model: scripted([]), maxConcurrentTools: 0 })),
      /maxConcurrentTools/,
    ],
  ])("%s is a clear error that names the thing", async (_name, act, message) => {
    await expect(act()).rejects.toThrow(message);
  });

  test("a history with unanswered calls is completed before it is used", async () => {
    const origin = { api: "x", provider: "x", model: "x" };
    const asked = {
      role: "assistant" as const,
      origin,
      stop: { kind: "tool_use" as const, wire: "tool_use" as const },
      content: [{ type: "tool_call" as const, id: "a", name: "look", args: {}, rawArgs: "{}" }],
    };
    const model = scripted([say("done")]);
    const { messages } = await new Agent({ model }).run([
      { role: "user", content: [{ type: "text", text: "go" }] },
      asked,
      { role: "user", content: [{ type: "text", text: "well?" }] },
    ]);
    expect(isPaired(messages)).toBe(true);
    expect(isPaired(model.lastRequest.messages)).toBe(true);
  });

  test("errors are of one class with a kind from a closed list", async () => {
    const error = await new Agent({ model: scripted([]) }).run("").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RondoError);
    expect(error).toMatchObject({ kind: "invalid_request", retryable: false });
  });
});

test("a model that fails without a retry rule ends the run with its error", async () => {
  const { end } = await new Agent({ model: scripted([fail("server_error")]), retry: null }).run("go");
  expect(end).toMatchObject({ reason: "error", error: { kind: "server_error" } });
});
