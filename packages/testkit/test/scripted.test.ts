import { Agent, type Message, type ModelEvent, type ModelRequest, RondoError, userText } from "@rondo/core";
import {
  badArgs,
  call,
  calls,
  cut,
  emit,
  empty,
  fail,
  hold,
  late,
  misorder,
  part,
  refuse,
  type ScriptedModel,
  say,
  scripted,
  stall,
  stop,
  think,
  throwing,
  tick,
  usage,
} from "@rondo/testkit";
import { rondoWire } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";

function requestOf(messages: Message[] = [userText("go")], more: Partial<ModelRequest> = {}): ModelRequest {
  return { messages, tools: [], toolChoice: "auto", settings: {}, ...more };
}

function asking(model: ScriptedModel, request: ModelRequest = requestOf()) {
  const controller = new AbortController();
  const events: ModelEvent[] = [];
  const answer = model.call(request, { signal: controller.signal, emit: (event) => events.push(event) });
  // Looked at later than it fails, in some tests.
  answer.catch(() => {});
  return { answer, events, abort: (reason: unknown) => controller.abort(reason) };
}

async function failureOf(answer: Promise<unknown>): Promise<RondoError> {
  const thrown = await answer.then(
    () => "it did not fail",
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(RondoError);
  return thrown as RondoError;
}

describe("a scripted answer", () => {
  it("streams its parts in order and then is the same answer whole", async () => {
    const model = scripted([
      [think("hm"), say("Look: "), call("read", { path: "a" }), usage({ inputTokens: 7 })],
    ]);
    const { answer, events } = asking(model);
    expect(events).toEqual([]);
    expect(await answer).toEqual({
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "Look: " },
        { type: "tool_call", id: "call_1", name: "read", args: { path: "a" }, rawArgs: '{"path":"a"}' },
      ],
      origin: { api: "scripted", provider: "scripted", model: "scripted" },
      stop: { kind: "tool_use", wire: "tool_use" },
      usage: { inputTokens: 7 },
    });
    expect(events).toEqual([
      { type: "reasoning_delta", index: 0, text: "hm" },
      { type: "text_delta", index: 1, text: "Look: " },
      { type: "tool_args_delta", index: 2, id: "call_1", name: "read", delta: '{"path":"a"}' },
    ]);
  });

  it("has no usage unless the script tells one", async () => {
    expect((await asking(scripted([say("a")])).answer).usage).toBeUndefined();
    const counted = scripted([say("a"), [say("b"), usage({ outputTokens: 2 })]], {
      usage: { outputTokens: 1 },
    });
    expect((await asking(counted).answer).usage).toEqual({ outputTokens: 1 });
    expect((await asking(counted).answer).usage).toEqual({ outputTokens: 2 });
  });

  it("can be streamed a character at a time without cutting one in half", async () => {
    const { answer, events } = asking(scripted([[say("aé😀"), call("f", { x: 1 })]], { chunk: 1 }));
    const whole = await answer;
    expect(events.flatMap((event) => (event.type === "text_delta" ? [event.text] : []))).toEqual([
      "a",
      "é",
      "😀",
    ]);
    const args = events.flatMap((event) => (event.type === "tool_args_delta" ? [event.delta] : []));
    expect(args).toEqual([...'{"x":1}']);
    expect(whole.content[0]).toEqual({ type: "text", text: "aé😀" });
  });

  it("derives the stop from word and content as codecs do, and keeps the raw word", async () => {
    const stopOf = async (...turn: Parameters<typeof misorder>) =>
      (await asking(scripted([turn])).answer).stop;
    expect(await stopOf(say("a"))).toEqual({ kind: "end_turn", wire: "end_turn" });
    expect(await stopOf(refuse("no"))).toEqual({ kind: "refusal", wire: "refusal" });
    expect(await stopOf(call("f"), stop("end_turn", { raw: "STOP" }))).toEqual({
      kind: "tool_use",
      wire: "end_turn",
      raw: "STOP",
    });
    expect(await stopOf(say("a"), stop("tool_use"))).toEqual({ kind: "end_turn", wire: "tool_use" });
    expect(await stopOf(say("a"), stop("unknown", { raw: "new_word" }))).toEqual({
      kind: "unknown",
      wire: "unknown",
      raw: "new_word",
    });
    expect(await stopOf(call("f"), stop("max_tokens"))).toEqual({ kind: "max_tokens", wire: "max_tokens" });
    expect(await stopOf(call("f"), stop("end_turn", { kind: "malformed_call" }))).toEqual({
      kind: "malformed_call",
      wire: "end_turn",
    });
    expect(await stopOf(empty())).toEqual({ kind: "end_turn", wire: "end_turn" });
  });

  it("marks a call whose arguments are no whole JSON object", async () => {
    const model = scripted([
      [badArgs("f", '{"x": 1'), badArgs("g", "[1]"), badArgs("h", "{}", { error: "cut", id: "mine" })],
    ]);
    const { content } = await asking(model).answer;
    expect(content).toMatchObject([
      { name: "f", args: {}, rawArgs: '{"x": 1', argsError: expect.stringContaining("not valid JSON") },
      { name: "g", args: {}, argsError: "the arguments must be a JSON object" },
      { id: "mine", name: "h", argsError: "cut" },
    ]);
  });

  it("gives ids that neither it nor the history has used", async () => {
    const first = await asking(scripted([calls([["a"], ["b", { x: 1 }], ["c", {}, { id: "own" }]])])).answer;
    expect(first.content).toMatchObject([{ id: "call_1" }, { id: "call_2", args: { x: 1 } }, { id: "own" }]);
    const resumed = scripted([call("a")], { repeatLast: true });
    expect((await asking(resumed, requestOf([userText("go"), first])).answer).content).toMatchObject([
      { id: "call_3" },
    ]);
    expect((await asking(resumed).answer).content).toMatchObject([{ id: "call_4" }]);
    const own = scripted([
      [call("a"), call("b", {}, { id: "call_1" }), call("c", {}, { id: "call_7" })],
      call("d"),
    ]);
    const ids = [{ id: "call_8" }, { id: "call_1" }, { id: "call_7" }];
    expect((await asking(own).answer).content).toMatchObject(ids);
    expect((await asking(own).answer).content).toMatchObject([{ id: "call_9" }]);
  });

  it("does not share its arguments with the script", async () => {
    const args = { list: [1] };
    const model = scripted([call("a", args)], { repeatLast: true });
    const [made] = (await asking(model).answer).content;
    if (made?.type === "tool_call") (made.args.list as number[]).push(2);
    expect((await asking(model).answer).content).toMatchObject([{ args: { list: [1] } }]);
  });

  it("can emit what no part stands behind, out of order, and native blocks", async () => {
    const native = { type: "native", kind: "web_search", opaque: { a: 1 } } as const;
    const model = scripted([
      [emit({ type: "progress" }), misorder(say("one", { chunk: 1 }), call("f")), part(native)],
    ]);
    const { answer, events } = asking(model);
    expect((await answer).content).toMatchObject([{ text: "one" }, { name: "f" }, native]);
    expect(events.map((event) => (event.type === "text_delta" ? event.text : event.type))).toEqual([
      "progress",
      "tool_args_delta",
      "e",
      "n",
      "o",
      "progress",
    ]);
  });
});

describe("a script", () => {
  it("may be a function of the request and the call's number, or hold such turns", async () => {
    const whole = scripted(async (request, number) => say(`${number}: ${request.messages.length}`));
    expect((await asking(whole).answer).content).toMatchObject([{ text: "1: 1" }]);
    expect((await asking(whole, requestOf([])).answer).content).toMatchObject([{ text: "2: 0" }]);
    const mixed = scripted([say("a"), (request) => say(request.system ?? "none")]);
    await asking(mixed).answer;
    const { answer } = asking(mixed, requestOf([], { system: "be brief" }));
    expect((await answer).content).toMatchObject([{ text: "be brief" }]);
  });

  it("that runs out fails with internal, naming the call", async () => {
    const model = scripted([say("a")], { id: "main" });
    await asking(model).answer;
    const error = await failureOf(asking(model).answer);
    expect(error.kind).toBe("internal");
    expect(error.message).toContain("main: call 2");
    const endless = scripted([say("a")], { repeatLast: true });
    await asking(endless).answer;
    expect((await asking(endless).answer).content).toMatchObject([{ text: "a" }]);
  });

  it("whose function throws rejects with what it threw", async () => {
    const thrown = new TypeError("the test's own");
    await expect(
      asking(
        scripted(() => {
          throw thrown;
        }),
      ).answer,
    ).rejects.toBe(thrown);
  });

  it("sees requests as copies that later changes do not reach", async () => {
    const model = scripted([say("a")], { facts: { contextWindow: 100 } });
    const history = [userText("go")];
    await asking(model, requestOf(history)).answer;
    history[0]!.content.push({ type: "text", text: "changed" });
    history.push(userText("more"));
    expect(model.calls).toBe(1);
    expect(model.requests).toEqual([
      { messages: [userText("go")], tools: [], toolChoice: "auto", settings: {} },
    ]);
    expect(model.lastRequest).toBe(model.requests[0]);
    expect(model.facts).toEqual({ contextWindow: 100 });
    const forgetful = scripted([say("a")], { keepRequests: false });
    await asking(forgetful).answer;
    expect([forgetful.calls, forgetful.requests.length]).toEqual([1, 0]);
    expect(() => forgetful.lastRequest).toThrow("no request was kept");
  });
});

describe("a scripted failure", () => {
  it("rejects with its kind, what had arrived and what it cost", async () => {
    const { answer, events } = asking(
      scripted([
        [
          call("f"),
          fail("rate_limit", { afterText: "half", retryAfterMs: 5, status: 429, usage: { inputTokens: 3 } }),
        ],
      ]),
    );
    const error = await failureOf(answer);
    expect(error).toMatchObject({ kind: "rate_limit", retryable: true, retryAfterMs: 5, status: 429 });
    expect(error.usage).toEqual({ inputTokens: 3 });
    // No calls in a partial: none can be trusted to be whole.
    expect(error.partial).toMatchObject({ content: [{ text: "half" }], stop: { kind: "error" } });
    expect(events.at(-1)).toEqual({ type: "text_delta", index: 1, text: "half" });
  });

  it("has no partial when nothing had arrived", async () => {
    expect((await failureOf(asking(scripted([fail("network")])).answer)).partial).toBeUndefined();
  });

  it("may be a stream without its end", async () => {
    const error = await failureOf(asking(scripted([cut({ afterText: "so" })])).answer);
    expect(error.kind).toBe("stream_truncated");
    expect(error.partial?.content).toEqual([{ type: "text", text: "so" }]);
  });

  it("may throw anything, also synchronously", async () => {
    await expect(asking(scripted([[say("a"), throwing("a string")]])).answer).rejects.toBe("a string");
    const broken = scripted([throwing(undefined, { sync: true })]);
    let left = false;
    try {
      asking(broken);
      left = true;
    } catch (thrown) {
      expect(thrown).toBeUndefined();
    }
    expect(left).toBe(false);
    await broken.idle();
  });
});

describe("a scripted wait", () => {
  it("that stalls ends with the signal and what had arrived", async () => {
    const stalled = stall({ afterText: "wait" });
    const { answer, events, abort } = asking(scripted([stalled]));
    await stalled.reached;
    expect(events).toEqual([{ type: "text_delta", index: 0, text: "wait" }]);
    abort("enough");
    const error = await failureOf(answer);
    expect(error).toMatchObject({ kind: "aborted", cause: "enough" });
    expect(error.partial).toMatchObject({ content: [{ text: "wait" }], stop: { kind: "aborted" } });
  });

  it("that stalls deaf never settles", async () => {
    const stalled = stall({ ignoreSignal: true });
    const { answer, abort } = asking(scripted([stalled]));
    let settled = false;
    answer.then(
      () => (settled = true),
      () => (settled = true),
    );
    await stalled.reached;
    abort("enough");
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
    expect(settled).toBe(false);
  });

  it("goes on when it is released, and from then on nobody waits there", async () => {
    const held = hold(say("after"));
    const model = scripted([[say("before"), held]], { repeatLast: true });
    const { answer, events } = asking(model);
    await held.reached;
    expect(events).toHaveLength(1);
    held.release();
    expect((await answer).content).toMatchObject([{ text: "before" }, { text: "after" }]);
    expect((await asking(model).answer).content).toHaveLength(2);
  });

  it("that is deaf answers after the abort, when released", async () => {
    const held = hold([], { ignoreSignal: true });
    const deaf = scripted([[held, say("too late")]], { ignoreSignal: true });
    const { answer, abort } = asking(deaf);
    await held.reached;
    abort("enough");
    held.release();
    expect((await answer).content).toMatchObject([{ text: "too late" }]);
  });

  it("leaves no listener on the signal", async () => {
    const held = hold();
    const controller = new AbortController();
    const signal = controller.signal;
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--;
      remove(...args);
    };
    const answer = scripted([held]).call(requestOf(), { signal, emit: () => {} });
    await held.reached;
    expect(listeners).toBe(1);
    held.release();
    await answer;
    expect(listeners).toBe(0);
  });

  it("stops between deltas when the signal fires, with what was shown", async () => {
    const controller = new AbortController();
    let shown = "";
    const answer = scripted([say("abcdef", { chunk: 1 })]).call(requestOf(), {
      signal: controller.signal,
      emit: (event) => {
        if (event.type === "text_delta") shown += event.text;
        if (shown === "abc") controller.abort();
      },
    });
    const error = await failureOf(answer);
    expect(shown).toBe("abc");
    expect(error.partial?.content).toEqual([{ type: "text", text: "abc" }]);
  });

  it("lets the event loop go round at a tick", async () => {
    let went = false;
    const { answer } = asking(scripted([[tick(), say("a")]]));
    setImmediate(() => {
      went = true;
    });
    await answer;
    expect(went).toBe(true);
  });

  it("emits what is late after the call has settled, and says when all is quiet", async () => {
    for (const turn of [
      [say("a"), late("b")],
      [late("b"), fail("network", { afterText: "a" })],
    ]) {
      const model = scripted([turn]);
      const { answer, events } = asking(model);
      await answer.catch(() => {});
      expect(events).toEqual([{ type: "text_delta", index: 0, text: "a" }]);
      await model.idle();
      expect(events.at(-1)).toEqual({ type: "text_delta", index: 0, text: "b" });
    }
  });
});

describe("the end of a script", () => {
  it("tells which turns nobody asked for", async () => {
    const model = scripted([say("one"), [think("hm"), call("look", { at: "a" })], fail("auth")]);
    expect(model.left).toBe(3);
    expect(() => model.assertDone()).toThrow(/3 of 3 turns were never asked for \(calls made: 0\)/);
    await model.call(requestOf(), { signal: new AbortController().signal, emit: () => {} });
    expect(model.left).toBe(2);
    expect(() => model.assertDone()).toThrow(
      'scripted: 2 of 3 turns were never asked for (calls made: 1):\n  turn 2: reasoning "hm", call look {"at":"a"}\n  turn 3: fail auth',
    );
    expect(scripted(() => say("any")).left).toBe(0);
  });

  it("tells of calls beyond it, and after what they were made", async () => {
    const model = scripted([say("one")]);
    const io = { signal: new AbortController().signal, emit: () => {} };
    await model.call(requestOf(), io);
    model.assertDone();
    const asking = model.call(requestOf([userText("and now?")]), io);
    await expect(asking).rejects.toThrow(
      'call 2 was made and the script has 1 turn; add a turn, or set repeatLast. It was asked after the user\'s message: "and now?"',
    );
    expect(() => model.assertDone()).toThrow(/2 calls were made and the script has 1 turn$/);
  });
});

it("is made of a list of turns, and says so where one turn is given without it", () => {
  expect(() => scripted(say("hello") as never)).toThrow(
    "scripted takes a list of turns, or a function of the request",
  );
});

it.each<[unknown, string]>([
  ["hi", 'script[0] is "hi", and no turn: say("hi") makes one'],
  [5, "script[0] is 5, and no turn: say(…), call(…) or a list of them makes one"],
  [undefined, "script[0] is undefined, and no turn: "],
  [{ say: "x" }, 'script[0] is {"say":"x"}, and no turn: say("x") makes one'],
  [{ act: "speak" }, 'script[0] is {"act":"speak"}, and no turn: '],
  [[say("a"), ["b"]], 'script[0][1][0] is "b", and no turn: say("b") makes one'],
  [hold("b" as never), 'script[0][1] is "b", and no turn: say("b") makes one'],
  [misorder(say("a"), "b" as never), 'script[0][1] is "b", and no turn: say("b") makes one'],
  [5n, "script[0] is a bigint, and no turn: "],
  [[() => say("a")], "script[0][0] is a function inside of a turn, and no turn: "],
])("what is no turn is refused where the script is given, by its place: %s", async (turn, words) => {
  expect(() => scripted([turn as never])).toThrow(`scripted: ${words}`);
  await expect(rondoWire({ script: [turn as never] })).rejects.toThrow(`rondoWire: ${words}`);
});

it("what a function of the script gives is told when it is no turn, and not taken for an empty answer", async () => {
  const { end } = await new Agent({ model: scripted([() => "hi" as never]) }).run("go");
  expect(end?.error).toMatchObject({
    kind: "invalid_request",
    message: 'scripted: what a function of the script gives is "hi", and no turn: say("hi") makes one',
  });
});
