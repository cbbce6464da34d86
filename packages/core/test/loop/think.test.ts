// One model call, watched by clocks: a model by hand, and time that passes only when the test says so.

import {
  type AssistantMessage,
  type ErrorKind,
  type Model,
  type ModelEvent,
  type ModelRequest,
  RondoError,
  type RondoEvent,
} from "@rondo/core";
import { describe, expect, test } from "vitest";
import { type Hearing, hearing } from "../../src/loop/driving/hearing.ts";
import { think } from "../../src/loop/driving/think.ts";
import { ToldIds } from "../../src/loop/driving/told-ids.ts";
import { Names } from "../../src/loop/log.ts";
import { answerOf, come, type HandClock, handClock, rules, stateOf } from "./support.ts";

const clocks = { connectMs: 5, firstByteMs: 10, idleMs: 20, totalMs: 100 };
const request = { messages: [] } as unknown as ModelRequest;
const origin = { api: "a", provider: "p", model: "m" };
const answer = answerOf([{ type: "text", text: "so" }]);
const delta = (text: string, index = 0): ModelEvent => ({ type: "text_delta", index, text });
const thought = (text: string, index = 0): ModelEvent => ({ type: "reasoning_delta", index, text });
const progress: ModelEvent = { type: "progress" };

interface Watched {
  readonly clock: HandClock;
  readonly controller: AbortController;
  /** What was passed on. */
  readonly heard: RondoEvent[];
  /** Whether any of an answer was. */
  shown(): boolean;
  /** What the model was called with. */
  readonly given: unknown[];
  emit(event: ModelEvent, more?: boolean): void;
  /** The model says that it waits for its turn. */
  queued(turn: Promise<unknown>): void;
  /** Whoever listened wants to hear no more. */
  leave(): void;
  answers(message: AssistantMessage): void;
  fails(thrown: unknown): void;
  readonly answered: Promise<AssistantMessage>;
  /** The failure it came to. */
  failure(): Promise<RondoError>;
}

function watch(change: Partial<typeof clocks> = {}, listening?: Hearing, own?: Model["clocks"]): Watched {
  const { promise, resolve, reject } = Promise.withResolvers<AssistantMessage>();
  const clock = handClock();
  const controller = new AbortController();
  const heard: RondoEvent[] = [];
  const given: unknown[] = [];
  let emit = (_event: ModelEvent, _more?: boolean): void => {};
  let queued = (_turn: Promise<unknown>): void => {};
  const model = {
    id: "m",
    origin,
    ...(own === undefined ? {} : { clocks: own }),
    call: (asked, io) => {
      given.push(asked, io.signal, io.clocks, io.clock);
      emit = io.emit;
      queued = io.queued ?? queued;
      return promise;
    },
  } as Model;
  const tell = (event: RondoEvent): unknown => heard.push(event);
  const audience = {
    step: 4,
    isThere: true,
    tell,
    shown: false,
    ids: new ToldIds(Names.empty(), 9),
    heard: new Map(),
  };
  const answered = think(
    model,
    request,
    controller,
    { clocks: { ...clocks, ...change }, session: "s" },
    clock,
    audience,
    listening,
  );
  answered.catch(() => {});
  return {
    clock,
    controller,
    heard,
    shown: () => audience.shown,
    given,
    emit: (event, more) => emit(event, more),
    queued: (turn) => queued(turn),
    leave: () => {
      audience.isThere = false;
    },
    answers: resolve,
    fails: reject,
    answered,
    failure: async () => {
      const thrown = await answered.then(
        () => "it was answered",
        (one: unknown) => one,
      );
      expect(thrown).toBeInstanceOf(RondoError);
      return thrown as RondoError;
    },
  };
}

const isOpen = async ({ answered }: Watched): Promise<boolean> => {
  let open = true;
  const settle = (): void => {
    open = false;
  };
  answered.then(settle, settle);
  await come();
  return open;
};

const partialOf = (content: AssistantMessage["content"], kind: string): object => ({
  role: "assistant",
  content,
  origin,
  stop: { kind, wire: "unknown" },
});

test("a model is called with the request, the signal, the stream's timeouts, and the clock", () => {
  const { given, controller, clock } = watch();
  const { connectMs, firstByteMs, idleMs } = clocks;
  expect(given).toStrictEqual([request, controller.signal, { connectMs, firstByteMs, idleMs }, clock]);
});

test("a model's answer is returned, its events are passed on, and the timers are cleared", async () => {
  const call = watch();
  const args: ModelEvent = { type: "tool_args_delta", index: 1, id: "c", name: "f", delta: "{" };
  const warning: ModelEvent = { type: "warning", code: "odd", message: "It is odd." };
  for (const event of [thought("hm"), delta("s"), progress, delta("o"), args, warning]) call.emit(event);
  call.answers(answer);
  expect(await call.answered).toBe(answer);
  const told = [thought("hm"), delta("s"), delta("o"), args].map((event) => ({ ...event, step: 4 }));
  expect(call.heard).toStrictEqual([...told, warning]);
  expect(call.clock.waits()).toStrictEqual([]);
  expect(call.controller.signal.aborted).toBe(false);
});

test.each([
  ["text", delta("s")],
  ["thoughts", thought("hm")],
  ["arguments", { type: "tool_args_delta", index: 1, id: "c", name: "f", delta: "{" } as const],
])("%s passed to a listener make an answer that was shown, and nothing else does", (_what, said) => {
  const call = watch();
  call.emit(progress);
  call.emit({ type: "warning", code: "odd", message: "It is odd." });
  expect(call.shown()).toBe(false);
  call.emit(said);
  expect(call.shown()).toBe(true);
  const unheard = watch();
  unheard.leave();
  unheard.emit(said);
  expect(unheard.shown()).toBe(false);
});

test("arguments that come before the id and the name of their call are shown with them, and before that nothing was", () => {
  const call = watch();
  const args = (id: string, name: string, text: string): ModelEvent => ({
    type: "tool_args_delta",
    index: 1,
    id,
    name,
    delta: text,
  });
  call.emit(args("", "", "{"));
  expect([call.heard, call.shown()]).toStrictEqual([[], false]);
  for (const event of [args("", "f", '"a":'), args("", "f", "1}")]) call.emit(event);
  const told = [args("call_9_0", "f", '{"a":'), args("call_9_0", "f", "1}")].map((event) => ({
    ...event,
    step: 4,
  }));
  expect([call.heard, call.shown()]).toStrictEqual([told, true]);
});

test("text without an index, which plain JavaScript may send, is one text", async () => {
  const call = watch();
  const placeless = (text: string): ModelEvent => ({ type: "text_delta", text }) as ModelEvent;
  for (const text of ["s", "o"]) call.emit(placeless(text));
  call.fails(new RondoError("network", "gone"));
  expect((await call.failure()).partial?.content).toStrictEqual([{ type: "text", text: "so" }]);
  expect(call.heard.map((event) => "text" in event && event.text)).toStrictEqual(["s", "o"]);
});

test("a call without listeners, e.g. for a summary, is answered like any other, whatever it emits", async () => {
  const events: ModelEvent[] = [
    { type: "warning", code: "odd", message: "odd" },
    { type: "tool_args_delta", index: 1, id: "x", name: "look", delta: "{" },
    delta("so"),
    progress,
  ];
  const model: Model = {
    id: "m",
    origin,
    call: (_request, io) => {
      for (const event of events) io.emit(event);
      return Promise.resolve(answer);
    },
  };
  expect(
    await think(model, request, new AbortController(), { clocks: clocks, session: "s" }, handClock()),
  ).toBe(answer);
});

test("text without listeners is kept, and emitted to nobody", async () => {
  const call = watch();
  call.emit(delta("a"));
  call.leave();
  call.emit(delta("b"));
  call.fails(new RondoError("network", "gone"));
  expect((await call.failure()).partial?.content).toStrictEqual([{ type: "text", text: "ab" }]);
  expect(call.heard).toStrictEqual([{ ...delta("a"), step: 4 }]);
});

test("what a model emits after its end is ignored, and keeps no timer", async () => {
  const call = watch();
  call.answers(answer);
  await come();
  call.emit(delta("late"));
  expect(call.heard).toStrictEqual([]);
  expect(call.clock.waits()).toStrictEqual([]);
});

describe("the timeouts", () => {
  test("end a call without any event, at the first-byte timeout", async () => {
    const call = watch();
    call.clock.pass(9);
    expect(await isOpen(call)).toBe(true);
    call.clock.pass(1);
    const error = await call.failure();
    expect(error).toMatchObject({
      kind: "timeout",
      message: "m: nothing came within 10 ms (clocks.firstByteMs)",
    });
    expect(error.partial).toBeUndefined();
    expect(call.controller.signal.reason).toMatchObject({ kind: "timeout" });
  });

  test("end a call that falls silent, after the idle timeout, and keep its text", async () => {
    const call = watch();
    call.clock.pass(9);
    call.emit(delta("Hel"));
    call.clock.pass(19);
    call.emit(delta("lo"));
    call.clock.pass(19);
    expect(await isOpen(call)).toBe(true);
    call.clock.pass(1);
    const error = await call.failure();
    expect(error).toMatchObject({
      kind: "stream_idle",
      message: "m: nothing came for 20 ms (clocks.idleMs)",
    });
    expect(error.partial).toStrictEqual(partialOf([{ type: "text", text: "Hello" }], "error"));
    expect(call.controller.signal.reason).toBeInstanceOf(RondoError);
  });

  test("are reset by any event", async () => {
    const call = watch();
    for (let at = 0; at < 5; at += 1) {
      call.clock.pass(9);
      call.emit(progress);
    }
    expect(await isOpen(call)).toBe(true);
    call.clock.pass(20);
    expect(await call.failure()).toMatchObject({ kind: "stream_idle" });
  });

  test("count idle time from the last of several events that were emitted together", async () => {
    const call = watch();
    call.clock.pass(9);
    call.emit(delta("Hel"), true);
    call.emit(delta("lo"));
    call.clock.pass(19);
    expect(await isOpen(call)).toBe(true);
    call.clock.pass(1);
    expect(await call.failure()).toMatchObject({ kind: "stream_idle" });
  });

  test("start the idle timer with the first event, also if it is the shorter one", async () => {
    const call = watch({ firstByteMs: 10, idleMs: 3 });
    call.emit(progress);
    call.clock.pass(3);
    expect(await call.failure()).toMatchObject({ kind: "stream_idle" });
  });

  test("use a model's own values before the agent's: a longer one, a shorter one or none", async () => {
    const longer = watch({}, undefined, { firstByteMs: 15 });
    longer.clock.pass(14);
    expect(await isOpen(longer)).toBe(true);
    longer.clock.pass(1);
    expect(await longer.failure()).toMatchObject({
      kind: "timeout",
      message: "m: nothing came within 15 ms (clocks.firstByteMs)",
    });
    const shorter = watch({}, undefined, { firstByteMs: 4 });
    shorter.clock.pass(4);
    expect(await shorter.failure()).toMatchObject({ kind: "timeout" });
    const none = watch({}, undefined, { firstByteMs: 0, connectMs: 7 });
    expect(none.given[2]).toStrictEqual({ connectMs: 7, firstByteMs: 0, idleMs: 20 });
    none.clock.pass(99);
    expect(await isOpen(none)).toBe(true);
    none.clock.pass(1);
    expect(await none.failure()).toMatchObject({ message: expect.stringContaining("clocks.totalMs") });
  });

  test("are not reset by a warning: a model says what it leaves out before it sends anything", async () => {
    const warning: ModelEvent = { type: "warning", code: "unsupported_setting", message: "topK is left out" };
    const waits = watch({ firstByteMs: 10, idleMs: 3 });
    waits.emit(warning);
    waits.clock.pass(9);
    expect(await isOpen(waits)).toBe(true);
    waits.clock.pass(1);
    expect(await waits.failure()).toMatchObject({ kind: "timeout" });
    const silent = watch({ idleMs: 3 });
    silent.emit(delta("Hel"));
    silent.clock.pass(2);
    silent.emit(warning);
    silent.clock.pass(1);
    expect(await silent.failure()).toMatchObject({ kind: "stream_idle" });
  });

  test("start the first-byte timer when a call that waits in its model's own queue has its turn", async () => {
    const call = watch();
    const { promise, resolve } = Promise.withResolvers<void>();
    call.clock.pass(9);
    call.queued(promise);
    call.clock.pass(80);
    expect(await isOpen(call)).toBe(true);
    resolve();
    await come();
    call.clock.pass(9);
    expect(await isOpen(call)).toBe(true);
    call.clock.pass(1);
    expect(await call.failure()).toMatchObject({
      message: "m: nothing came within 10 ms (clocks.firstByteMs)",
    });
  });

  test("do not count time in a queue at all, and are cleared if the call never had its turn", async () => {
    const call = watch();
    call.queued(new Promise(() => {}));
    call.clock.pass(100);
    expect(await call.failure()).toMatchObject({ message: expect.stringContaining("clocks.totalMs") });
    const gone = watch();
    const turn = Promise.reject(new Error("the one before broke"));
    gone.queued(turn);
    gone.answers(answer);
    await come();
    expect(gone.clock.waits()).toStrictEqual([]);
    const late = watch();
    const { promise, resolve } = Promise.withResolvers<void>();
    late.queued(promise);
    late.answers(answer);
    await come();
    resolve();
    await come();
    expect(late.clock.waits()).toStrictEqual([]);
  });

  test("set one timer for many events, not one for each", () => {
    const call = watch();
    expect(call.clock.waits()).toStrictEqual([10]);
    call.emit(progress);
    call.clock.pass(8);
    call.emit(progress);
    expect(call.clock.waits()).toStrictEqual([10]);
    call.clock.pass(2);
    expect(call.clock.waits()).toStrictEqual([18]);
  });

  test("find an idle stream on time even if the first event may take longer", async () => {
    const call = watch({ firstByteMs: 90 });
    expect(call.clock.waits()).toStrictEqual([20]);
    call.clock.pass(5);
    call.emit(progress);
    call.clock.pass(19);
    expect(await isOpen(call)).toBe(true);
    call.clock.pass(1);
    expect(await call.failure()).toMatchObject({ kind: "stream_idle" });
  });

  test("end a call that takes too long in total", async () => {
    const call = watch();
    for (let at = 0; at < 11; at += 1) {
      call.emit(delta("."));
      call.clock.pass(9);
    }
    expect(await isOpen(call)).toBe(true);
    call.clock.pass(1);
    expect(await call.failure()).toMatchObject({
      kind: "timeout",
      message: "m: the answer took longer than 100 ms (clocks.totalMs)",
      partial: { content: [{ type: "text", text: "..........." }] },
    });
  });

  test("name the total timeout if both passed, and wait no longer at once than timers can", async () => {
    const call = watch({ firstByteMs: 100 });
    call.clock.pass(100);
    expect(await call.failure()).toMatchObject({ message: expect.stringContaining("clocks.totalMs") });
    const long = watch({ firstByteMs: 2 ** 40, idleMs: 2 ** 40, totalMs: 2 ** 41 });
    expect(long.clock.waits()).toStrictEqual([2 ** 31 - 1]);
    long.clock.pass(2 ** 31 - 1);
    expect(await isOpen(long)).toBe(true);
    expect(long.clock.waits()).toStrictEqual([2 ** 31 - 1]);
  });

  test("are not checked after a model that had no time to begin", async () => {
    const call = watch({ totalMs: 0 });
    expect(await call.failure()).toMatchObject({ kind: "timeout" });
    expect(call.controller.signal.aborted).toBe(true);
    call.emit(progress);
    expect([call.heard, call.clock.waits()]).toStrictEqual([[], []]);
  });
});

describe("a model that fails", () => {
  test.each([
    ["an error of Rondo's, as it is", new RondoError("overloaded", "busy", { status: 529 }), "overloaded"],
    ["anything else, as an error", "boom", "internal"],
  ])("rejects with %s", async (_what, thrown, kind) => {
    const call = watch();
    call.fails(thrown);
    const error = await call.failure();
    expect(error.kind).toBe(kind);
    expect(error.partial).toBeUndefined();
    if (thrown instanceof RondoError) expect(error).toBe(thrown);
    expect(call.clock.waits()).toStrictEqual([]);
  });

  test("by throwing synchronously rejects too", async () => {
    const model = {
      id: "m",
      origin,
      call: () => {
        throw new RondoError("auth", "no key");
      },
    } as unknown as Model;
    const clock = handClock();
    const call = think(model, request, new AbortController(), { clocks: clocks, session: "s" }, clock);
    await expect(call).rejects.toMatchObject({ kind: "auth" });
    expect(clock.waits()).toStrictEqual([]);
  });

  test("leaves its partial text, piece by piece as it came, and no thoughts", async () => {
    const call = watch();
    const facts = {
      retryable: false,
      retryAfterMs: 7,
      status: 500,
      raw: { why: "x" },
      repair: "files" as const,
      usage: { inputTokens: 3 },
      cause: "the wire",
    };
    call.emit(thought("I ", 0));
    call.emit(delta("a", 1));
    call.emit(delta("c", 2));
    call.emit(thought("think", 0));
    call.emit(delta("b", 1));
    call.fails(new RondoError("server_error", "broke", facts));
    const error = await call.failure();
    expect(error).toMatchObject({ kind: "server_error", message: "broke", ...facts });
    expect(error.partial).toStrictEqual(
      partialOf(
        [
          { type: "text", text: "ab" },
          { type: "text", text: "c" },
        ],
        "error",
      ),
    );
  });

  test("without known details adds none", async () => {
    const call = watch();
    call.emit(delta("a"));
    call.fails(new RondoError("server_error", "broke"));
    const { retryAfterMs, status, raw, repair, usage, ...error } = await call.failure();
    expect({ retryAfterMs, status, raw, repair, usage }).toStrictEqual({
      retryAfterMs: undefined,
      status: undefined,
      raw: undefined,
      repair: undefined,
      usage: undefined,
    });
    expect(error.retryable).toBe(true);
    expect(error.cause).toBeUndefined();
  });

  test("after thoughts alone leaves nothing", async () => {
    const call = watch();
    call.emit(thought("I think"));
    call.emit({ type: "tool_args_delta", index: 1, id: "x", name: "look", delta: "{" });
    call.fails(new RondoError("server_error", "broke"));
    expect((await call.failure()).partial).toBeUndefined();
  });

  test("knows itself best what had arrived", async () => {
    const call = watch();
    const partial = answerOf([{ type: "text", text: "its own" }]);
    call.emit(delta("a"));
    call.fails(new RondoError("server_error", "broke", { partial }));
    expect((await call.failure()).partial).toBe(partial);
  });
});

describe("an abort", () => {
  test("is the failure of a model that fails after its signal fired", async () => {
    const call = watch();
    const thrown = new Error("socket hang up");
    call.emit(delta("a"));
    call.controller.abort();
    call.fails(thrown);
    const error = await call.failure();
    expect(error).toMatchObject({ kind: "aborted", message: "the model call was aborted" });
    expect(error.cause).toBe(thrown);
    expect(error.partial).toStrictEqual(partialOf([{ type: "text", text: "a" }], "aborted"));
  });

  test("keeps the model's own partial answer and usage", async () => {
    const call = watch();
    const partial = answerOf([{ type: "text", text: "its own" }]);
    call.emit(delta("a"));
    call.controller.abort();
    call.fails(new RondoError("network", "gone", { partial, usage: { outputTokens: 2 } }));
    const error = await call.failure();
    expect(error).toMatchObject({ kind: "aborted", usage: { outputTokens: 2 } });
    expect(error.partial).toBe(partial);
    expect(error.retryable).toBe(false);
  });

  test.each(["auth", "network"] as ErrorKind[])("does not depend on kinds: %s", async (kind) => {
    const call = watch();
    call.controller.abort();
    call.fails(new RondoError(kind, "gone"));
    const error = await call.failure();
    expect([error.kind, error.partial, error.usage]).toStrictEqual(["aborted", undefined, undefined]);
  });
});

describe("an answer to which a rule listens that fails", () => {
  test("fails with it, and is aborted", async () => {
    const hear = (): never => {
      throw new Error("deaf");
    };
    const call = watch({}, hearing([{ name: "ears", version: 1, hear }], stateOf()));
    call.emit(delta("So."));
    const error = await call.failure();
    expect([error.kind, error.message]).toStrictEqual(["internal", "the rule ears failed in hear: deaf"]);
    expect(call.controller.signal.reason).toBe(error);
    call.emit(delta("Well."));
    expect(call.heard).toStrictEqual([]);
  });
});

describe("an answer that repeats one sentence over and over", () => {
  const sorry = " I apologize for the confusion.".repeat(100);
  const brokenOff = (content: AssistantMessage["content"]): object => ({
    role: "assistant",
    content,
    origin,
    stop: {
      kind: "max_tokens",
      wire: "unknown",
      detail: "broken off: it repeated itself",
      by: "degenerate_answers",
    },
  });
  const watched = (): Watched => watch({}, hearing(rules.list, stateOf()));

  test("is aborted, and is kept as one that reached the output limit", async () => {
    const call = watched();
    call.emit(delta("So. "));
    expect(call.controller.signal.aborted).toBe(false);
    call.emit(delta(sorry));
    expect(call.controller.signal.reason).toMatchObject({
      kind: "aborted",
      message: "m: the answer is broken off: it repeated itself",
    });
    expect(await isOpen(call)).toBe(true);
    call.fails(new Error("socket hang up"));
    expect(await call.answered).toStrictEqual(brokenOff([{ type: "text", text: `So. ${sorry}` }]));
  });

  test("is checked each time 2,000 characters of a part have come", async () => {
    const call = watched();
    call.emit(thought("?".repeat(100)));
    const piece = sorry.slice(0, 31);
    for (let at = 0; at < 64; at += 1) call.emit(delta(piece));
    call.emit(delta(piece.slice(0, 15)));
    expect(call.controller.signal.aborted).toBe(false);
    call.emit(delta(piece.slice(15, 16)));
    expect(call.controller.signal.aborted).toBe(true);
    call.fails(new Error("socket hang up"));
    await call.answered;
  });

  test("is not one if a thought and a text only repeat it together", async () => {
    const call = watched();
    const half = " I apologize for the confusion.".repeat(33);
    call.emit(thought(half));
    call.emit(delta(half));
    expect(call.controller.signal.aborted).toBe(false);
    call.fails(new Error("socket hang up"));
    expect((await call.failure()).partial?.content).toStrictEqual([{ type: "text", text: half }]);
  });

  test("in its thoughts is aborted too, and these come before the text", async () => {
    const call = watched();
    call.emit(delta("So.", 1));
    call.emit(thought(sorry));
    call.fails(new Error("socket hang up"));
    expect(await call.answered).toStrictEqual(
      brokenOff([
        { type: "reasoning", text: sorry },
        { type: "text", text: "So." },
      ]),
    );
  });

  test("is not emitted, nor kept, from there on", async () => {
    const call = watched();
    for (const text of ["So.", sorry, "Well."]) call.emit(delta(text));
    expect(call.heard).toStrictEqual([{ ...delta("So."), step: 4 }]);
    call.fails(new Error("socket hang up"));
    expect((await call.answered).content).toStrictEqual([{ type: "text", text: `So.${sorry}` }]);
  });

  test("is kept when its timeout passes, if the model does not stop", async () => {
    const call = watched();
    call.emit(delta(sorry));
    call.emit(progress);
    call.clock.pass(20);
    expect(await call.answered).toStrictEqual(brokenOff([{ type: "text", text: sorry }]));
  });
});
