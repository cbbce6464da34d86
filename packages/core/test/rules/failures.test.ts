// What follows from a failed model call, and from a tool that threw: asked of the rules by themselves.

import {
  type ErrorKind,
  emptyState,
  errorKinds,
  type FilePart,
  type JsonObject,
  type Judgement,
  type Message,
  type Part,
  type Repair,
  type Run,
  repairOfFile,
  repairs,
  retry,
  type State,
  skipRepeatedFailures,
  userText,
} from "@rondo/core";
import { beforeEach, describe, expect, test } from "vitest";
import { Log } from "../../src/loop/log.ts";
import { overflow } from "../../src/rules/overflow.ts";
import { fallback } from "../../src/rules/retry.ts";
import { acting, answerOf, callOf, finished, stateOf } from "../loop/support.ts";
import { afterAll, failureOf, judgementOf, stopOf, texts, turnOf, words } from "./support.ts";

test.each([
  ["retry", 4, retry],
  ["fallback", 3, fallback],
  ["overflow", 3, overflow],
  ["repairs", 6, repairs],
] as const)("%s decides nothing if nothing failed", (name, version, make) => {
  const rule = make();
  expect([rule.name, rule.version]).toStrictEqual([name, version]);
  expect(rule.judge?.(undefined, emptyState, texts)).toBeUndefined();
  expect(judgementOf(rule, {})).toBeUndefined();
  expect(judgementOf(rule, { turn: turnOf(stopOf("end_turn"), [words("so")]) })).toBeUndefined();
});

describe("a failed model call", () => {
  const judged = (
    given: Parameters<typeof retry>[0],
    failure: Run["failure"],
    failures: number = 0,
    run: Partial<Run> = {},
  ): unknown => judgementOf(retry(given), { failure, failures, ...run });
  const last = { model: 1 };
  const network = failureOf("network", {}, 0);

  test("without a rule for retries goes to the next model, unless there is none, or it would fail in the same way", () => {
    const falls = (failure: Run["failure"], run: Partial<Run> = {}): unknown =>
      judgementOf(fallback(), { failure, ...run });
    expect(falls(network)).toStrictEqual({
      follows: { do: "ask_again", model: 1 },
      evidence: { kind: "network" },
    });
    expect(falls(network, last)).toBeUndefined();
    expect(falls(failureOf("invalid_request", { retryable: false }, 0))).toBeUndefined();
    expect(falls(failureOf("invalid_request", { retryable: false, status: 400 }, 0))).toBeUndefined();
  });

  test("that says nothing against the request goes to the next model once it was tried enough", () => {
    const bare = failureOf("invalid_request", { status: 400 }, 0);
    expect(judged({}, bare, 0)).toMatchObject({ follows: { do: "ask_again", until: 5_500 } });
    expect(judged({}, bare, 3)).toMatchObject({ follows: { do: "ask_again", model: 1 } });
    expect(judged({}, bare, 3, last)).toMatchObject({ follows: { do: "stop", reason: "error" } });
  });

  test("whose model is not there, or no longer, goes to the next one", () => {
    const gone = failureOf("invalid_request", { retryable: false, status: 404 }, 0);
    const follows = { do: "ask_again", model: 1 };
    expect(judgementOf(fallback(), { failure: gone })).toMatchObject({ follows });
    expect(judged({}, gone)).toMatchObject({ follows });
    const retired = failureOf("invalid_request", { retryable: false, status: 410 }, 0);
    expect(judged({}, retired)).toMatchObject({ follows });
    expect(judged({}, gone, 0, last)).toMatchObject({ follows: { do: "stop", reason: "error" } });
    expect(judged({}, failureOf("aborted", { retryable: false, status: 404 }))).toMatchObject({
      follows: { do: "stop" },
    });
  });

  test("that may pass is retried, after a wait that doubles up to its maximum", () => {
    const waits = [0, 1, 2].map((failures) => judged({}, network, failures));
    expect(waits).toStrictEqual(
      [500, 1_000, 2_000].map((waitMs, at) => ({
        follows: { do: "ask_again", until: 5_000 + waitMs },
        evidence: { kind: "network", attempt: at + 1, allowed: 4, waitMs },
      })),
    );
    expect(judged({ baseMs: 7, capMs: 20, attempts: 9 }, network, 1)).toMatchObject({
      evidence: { waitMs: 14 },
    });
    expect(judged({ baseMs: 7, capMs: 20, attempts: 9 }, network, 2)).toMatchObject({
      evidence: { waitMs: 20 },
    });
    expect(judged({ attempts: 99 }, network, 50)).toMatchObject({ evidence: { waitMs: 30_000 } });
    for (const failures of [0, 1])
      expect(judged({ baseMs: 40_000 }, network, failures)).toMatchObject({ evidence: { waitMs: 40_000 } });
  });

  test("waits a little longer at random: by up to half, or a tenth of what the provider asks for", () => {
    const half = failureOf("network", {}, 0.5);
    const asked = failureOf("rate_limit", { retryAfterMs: 1_000 }, 0.5);
    expect(judged({}, half)).toMatchObject({ evidence: { waitMs: 625 } });
    expect(judged({ jitter: 1 }, half)).toMatchObject({ evidence: { waitMs: 750 } });
    expect(judged({ jitter: 0 }, half)).toMatchObject({ evidence: { waitMs: 500 } });
    expect(judged({}, asked)).toMatchObject({ evidence: { waitMs: 1_050 }, follows: { until: 6_050 } });
    expect(judged({ jitter: 1 }, asked)).toMatchObject({ evidence: { waitMs: 1_500 } });
    expect(judged({}, failureOf("network", {}, 0.333))).toMatchObject({ evidence: { waitMs: 583 } });
  });

  test("whose provider asks for a moment only, again and again, does not use up its attempts within that moment", () => {
    const asks = (retryAfterMs: number): Run["failure"] => failureOf("rate_limit", { retryAfterMs }, 0);
    const waits = (given: Parameters<typeof retry>[0], asked: number): unknown[] =>
      [0, 1, 2].map((failures) => (judged(given, asks(asked), failures) as Judgement).evidence?.waitMs);
    expect(waits({}, 20)).toEqual([20, 500, 1_000]);
    expect(waits({}, 700)).toEqual([700, 700, 1_000]);
    expect(waits({}, 3_000)).toEqual([3_000, 3_000, 3_000]);
    expect(waits({ baseMs: 10, capMs: 15 }, 1)).toEqual([1, 10, 15]);
    expect(waits({ shortestRetryAfterMs: 30 }, 20)).toEqual([20, 30, 60]);
    expect(waits({ shortestRetryAfterMs: 0 }, 20)).toEqual([20, 20, 20]);
    const spread = failureOf("rate_limit", { retryAfterMs: 20 }, 0.5);
    expect(judged({}, spread, 1)).toMatchObject({ evidence: { waitMs: 525 } });
  });

  test("falls back to the next model after its attempts, and ends the run if there is none", () => {
    expect(judged({}, network, 3)).toStrictEqual({
      follows: { do: "ask_again", model: 1 },
      evidence: { kind: "network", attempt: 4, allowed: 4 },
    });
    expect(judged({}, network, 3, last)).toStrictEqual({
      follows: { do: "stop", reason: "error", error: network.error },
      evidence: { kind: "network", attempt: 4, allowed: 4 },
    });
    expect(judged({ attempts: 1 }, network)).toMatchObject({ follows: { model: 1 } });
  });

  test("that is about the answer rather than the server has three attempts", () => {
    for (const kind of ["malformed_tool_call", "empty_response"]) {
      const failure = failureOf(kind, {}, 0);
      expect(judged({}, failure, 1)).toMatchObject({ evidence: { allowed: 3 }, follows: { until: 6_000 } });
      expect(judged({}, failure, 2, last)).toMatchObject({
        evidence: { allowed: 3 },
        follows: { do: "stop" },
      });
      expect(judged({ attempts: 2 }, failure, 1, last)).toMatchObject({ evidence: { allowed: 2 } });
    }
  });

  test("that cannot pass is not retried; another model would fail with some kinds too", () => {
    const same = ["aborted", "internal", "invalid_request", "content_filter"];
    for (const kind of errorKinds) {
      const follows = same.includes(kind) ? { do: "stop", reason: "error" } : { do: "ask_again", model: 1 };
      expect(judged({}, failureOf(kind, { retryable: false }))).toMatchObject({ follows });
    }
  });

  test("is retried only if its kind is in the list", () => {
    const kinds: ErrorKind[] = ["overloaded"];
    expect(judged({ kinds }, network, 0, last)).toMatchObject({ follows: { do: "stop" } });
    expect(judged({ kinds }, failureOf("overloaded"), 0, last)).toMatchObject({
      follows: { do: "ask_again" },
    });
    expect(judged({ kinds }, failureOf("overloaded", { retryable: false }), 0, last)).toMatchObject({
      follows: { do: "stop" },
    });
  });

  test("whose provider asks for too long a wait is not waited for, and the end says so", () => {
    const asks = (retryAfterMs: number): Run["failure"] => failureOf("rate_limit", { retryAfterMs }, 0);
    expect(judged({}, asks(60_000), 0, last)).toMatchObject({ evidence: { waitMs: 60_000 } });
    expect(judged({}, asks(60_001))).toMatchObject({ follows: { model: 1 } });
    const said = (message: string): string => {
      const failure = failureOf("rate_limit", { retryAfterMs: 2_540, message }, 0);
      const { follows } = judged({ longestRetryAfterMs: 1_250 }, failure, 0, last) as Judgement;
      return follows.do === "stop" ? (follows.error?.message ?? "") : follows.do;
    };
    const longer = "is longer than 1.25 s, the longest that is waited: longestRetryAfterMs of retry)";
    expect(said("it failed")).toBe(`it failed (the provider asks to wait 2.54 s, which ${longer}`);
    expect(said("It failed. It asks to wait 2.54 s.")).toBe(
      `It failed. It asks to wait 2.54 s. (that ${longer}`,
    );
    expect(said("12.54 s went by")).toContain("asks to wait 2.54 s");
  });
});

describe("a request that is too large", () => {
  const large = { failure: failureOf("payload_too_large") };
  const over = { failure: failureOf("context_overflow") };
  const file = { type: "file", mediaType: "image/png", data: "" } as Part;
  const holding = (...content: Part[]): Partial<State> => ({
    history: Log.of<Message>([userText("task"), { role: "user", content } as Message]),
  });
  const context = (change: object): object => ({ context: change });
  const judged = (run: Partial<Run>, change: object = {}, more: Partial<State> = {}): unknown =>
    judgementOf(overflow(), run, undefined, change, more);
  const guard = context({ guard: {} });
  const compaction = context({ compaction: {}, guard: {} });

  test("in bytes is sent without its files first, once", () => {
    const files = { follows: { do: "ask_again", drop: "files" }, evidence: { kind: "payload_too_large" } };
    expect(judged(large, compaction, holding(words("so"), file))).toStrictEqual(files);
    expect(judged(large, {}, holding(words("so")))).toBeUndefined();
    expect(judged(large, compaction, holding(words("so")))).toMatchObject({ follows: { reduce: "compact" } });
    expect(judged({ ...large, dropped: ["files"] }, guard, holding(file))).toMatchObject({
      follows: { reduce: "cut" },
    });
    expect(judged({ ...large, dropped: ["reasoning"] }, guard, holding(file))).toStrictEqual(files);
    expect(judged(over, guard, holding(file))).toMatchObject({ follows: { reduce: "cut" } });
  });

  test("is made smaller with a summary, or without one by cutting its longest texts", () => {
    expect(judged(over, compaction)).toStrictEqual({
      follows: { do: "ask_again", reduce: "compact" },
      evidence: { kind: "context_overflow" },
    });
    expect(
      judged({ failure: failureOf("context_overflow", { contextWindow: 4_096 }) }, compaction),
    ).toMatchObject({
      evidence: { kind: "context_overflow", window: 4_096 },
    });
    expect(judged(over, context({ compaction: {} }))).toMatchObject({ follows: { reduce: "compact" } });
    expect(judged(over, guard)).toMatchObject({ follows: { reduce: "cut" } });
    for (const change of [{}, context({})]) expect(judged(over, change)).toBeUndefined();
  });

  test("because of its output alone gets a lower output limit, a few times in a row at most", () => {
    const fits = failureOf("context_overflow", { maxOutputTokens: 900 });
    const lower = {
      follows: { do: "ask_again", maxOutputTokens: 900 },
      evidence: { kind: "context_overflow", maxOutputTokens: 900 },
    };
    const settings = { ...compaction, settings: { maxOutputTokens: 1_000 } };
    const compacts = { follows: { reduce: "compact" } };
    expect(judged({ failure: fits }, compaction)).toStrictEqual(lower);
    expect(judged({ failure: fits }, settings)).toStrictEqual(lower);
    expect(judged({ failure: fits, failures: 2 }, settings)).toStrictEqual(lower);
    expect(judged({ failure: fits, failures: 3 }, settings)).toMatchObject(compacts);
    expect(judged({ failure: fits, maxOutputTokens: 900 }, settings)).toMatchObject(compacts);
    expect(judged({ failure: fits, maxOutputTokens: 901 }, settings)).toStrictEqual(lower);
  });

  test("because of an output limit above the model's own is sent with that, and nothing else is made smaller", () => {
    const most = failureOf("invalid_request", { maxOutputTokens: 900 });
    const settings = { ...compaction, settings: { maxOutputTokens: 1_000 } };
    expect(judged({ failure: most }, settings)).toStrictEqual({
      follows: { do: "ask_again", maxOutputTokens: 900 },
      evidence: { kind: "invalid_request", maxOutputTokens: 900 },
    });
    expect(judged({ failure: most, maxOutputTokens: 900 }, settings)).toBeUndefined();
    expect(judged({ failure: failureOf("invalid_request") }, settings)).toBeUndefined();
  });

  test("is made smaller once until an answer comes, and never if a paused answer is sent back", () => {
    const reduced = { error: over.failure.error, helped: true };
    expect(judged({ ...over, reduced }, compaction)).toBeUndefined();
    expect(judged({ ...over, paused: true }, compaction)).toBeUndefined();
  });

  test("is recognised by the kind of its failure", () => {
    expect(judged({ failure: failureOf("network") }, compaction, holding(file))).toBeUndefined();
  });
});

describe("a request refused for its reasoning", () => {
  const refused = { failure: failureOf("invalid_request", { repair: "reasoning" }) };
  const thought = answerOf([{ type: "reasoning", text: "hm" }]);
  const holding = (...messages: Message[]): Partial<State> => ({ history: Log.of<Message>(messages) });
  const judged = (
    run: Partial<Run>,
    more: Partial<State> = holding(thought),
    settings: object = {},
  ): unknown => judgementOf(repairs(), run, undefined, { settings }, more);
  const again = {
    follows: { do: "ask_again", drop: "reasoning" },
    evidence: { kind: "invalid_request", dropped: "reasoning" },
  };

  test("is sent without it, once in a run", () => {
    expect(judged(refused)).toStrictEqual(again);
    expect(judged({ ...refused, dropped: ["reasoning"] })).toBeUndefined();
    expect(judged({ ...refused, dropped: ["files"] })).toStrictEqual(again);
  });

  test("is sent again only if that changes the request", () => {
    const plain = holding(userText("task"), answerOf([words("so")]));
    expect(judged(refused, plain)).toBeUndefined();
    expect(judged(refused, plain, { reasoning: "off" })).toBeUndefined();
    expect(judged(refused, plain, { reasoning: "high" })).toStrictEqual(again);
    expect(judged(refused, holding(answerOf([words("so")]), thought))).toStrictEqual(again);
    expect(judged(refused, holding(answerOf([...thought.content, words("so")])))).toStrictEqual(again);
    expect(judged(refused, holding({ ...thought, role: "user" } as never))).toBeUndefined();
  });

  test("is sent without its files if those were refused", () => {
    const noFiles = { failure: failureOf("invalid_request", { repair: "files" }) };
    const file = { type: "file" as const, mediaType: "image/png", data: "AA==" };
    const seen = holding({ role: "user", content: [file] });
    const without = {
      follows: { do: "ask_again", drop: "files" },
      evidence: { kind: "invalid_request", dropped: "files" },
    };
    expect(judged(noFiles, seen)).toStrictEqual(without);
    expect(judged({ ...noFiles, dropped: ["reasoning"] }, seen)).toStrictEqual(without);
    expect(judged({ ...noFiles, dropped: ["files"] }, seen)).toBeUndefined();
    expect(judged(noFiles)).toBeUndefined();
  });

  test("is sent without the one file that was refused, and without all after four such refusals", () => {
    const file = (data: string): FilePart => ({ type: "file", mediaType: "image/png", data });
    const url: FilePart = { type: "file", mediaType: "image/png", url: "https://x.invalid/a.png" };
    const stored: FilePart = { type: "file", mediaType: "image/png", data: { blob: "b1", bytes: 3 } };
    const broken = file("AA==");
    const seen = holding({ role: "user", content: [broken, file("AB=="), url, stored] });
    const refusedFor = (repair: Repair, dropped: Repair[] = [], more: Partial<State> = seen): unknown =>
      judged({ failure: failureOf("invalid_request", { repair }), dropped }, more);
    const dropping = (drop: Repair): unknown => ({
      follows: { do: "ask_again", drop },
      evidence: { kind: "invalid_request", dropped: drop },
    });
    for (const one of [broken, url, stored]) {
      const repair = repairOfFile(one);
      expect(refusedFor(repair)).toStrictEqual(dropping(repair));
      expect(refusedFor(repair, [repair])).toBeUndefined();
      expect(refusedFor(repair, ["files"])).toBeUndefined();
    }
    expect(refusedFor(repairOfFile(file("other")))).toBeUndefined();
    expect(refusedFor(repairOfFile(broken), [], {})).toBeUndefined();
    const three: Repair[] = ["file.1", "file.2", "file.3"];
    expect(refusedFor(repairOfFile(broken), three)).toStrictEqual(dropping(repairOfFile(broken)));
    expect(refusedFor(repairOfFile(broken), [...three, "file.4"])).toStrictEqual(dropping("files"));
    expect(refusedFor("files", three)).toStrictEqual(dropping("files"));
    // What else was left out does not count.
    const others: Repair[] = ["reasoning", "settings.temperature", "settings.topP", "settings.seed"];
    expect(refusedFor(repairOfFile(broken), others)).toStrictEqual(dropping(repairOfFile(broken)));
    const another: FilePart = { ...stored, data: { blob: "b2", bytes: 3 } };
    expect(repairOfFile(another)).not.toBe(repairOfFile(stored));
    const alone = holding({ role: "user", content: [broken] });
    expect(refusedFor("files", [repairOfFile(broken)], alone)).toBeUndefined();
  });

  test("is sent with the last files only if there were too many, and without any after four such refusals", () => {
    const file = (data: string): FilePart => ({ type: "file", mediaType: "image/png", data });
    const [one, two, three, four] = ["AA==", "AB==", "AC==", "AD=="].map(file);
    const seen = holding({ role: "user", content: [one, two, three, four] as FilePart[] });
    const refusedFor = (repair: Repair, dropped: Repair[] = []): unknown =>
      judged({ failure: failureOf("invalid_request", { repair }), dropped }, seen);
    const dropping = (drop: Repair): unknown => ({
      follows: { do: "ask_again", drop },
      evidence: { kind: "invalid_request", dropped: drop },
    });
    expect(refusedFor("files.last.3")).toStrictEqual(dropping("files.last.3"));
    expect(refusedFor("files.last.4")).toBeUndefined();
    // One that is gone anyway is not counted; nor is one that an earlier refusal took.
    expect(refusedFor("files.last.3", [repairOfFile(one as FilePart)])).toBeUndefined();
    expect(refusedFor("files.last.2", [repairOfFile(one as FilePart)])).toStrictEqual(
      dropping("files.last.2"),
    );
    expect(refusedFor("files.last.2", ["files.last.3"])).toStrictEqual(dropping("files.last.2"));
    for (const before of ["files.last.1", "files.last.2", "files"] as const)
      expect(refusedFor("files.last.2", [before])).toBeUndefined();
    const tried: Repair[] = ["file.1", "files.last.9", "files.last.8", "file.2"];
    expect(refusedFor("files.last.2", tried)).toStrictEqual(dropping("files"));
    expect(refusedFor("files.last.2", tried.slice(1))).toStrictEqual(dropping("files.last.2"));
    expect(refusedFor("files", ["files.last.1"])).toStrictEqual(dropping("files"));
  });

  test("is sent without a setting that was refused, if it had one", () => {
    const cold = { failure: failureOf("invalid_request", { repair: "settings.temperature" }) };
    expect(judged(cold, {}, { temperature: 0.5 })).toStrictEqual({
      follows: { do: "ask_again", drop: "settings.temperature" },
      evidence: { kind: "invalid_request", dropped: "settings.temperature" },
    });
    expect(judged({ ...cold, dropped: ["settings.temperature"] }, {}, { temperature: 0.5 })).toBeUndefined();
    expect(judged(cold, {}, { topP: 0.5 })).toBeUndefined();
  });

  test("is recognised by the error's own field", () => {
    expect(judged({ failure: failureOf("invalid_request") })).toBeUndefined();
  });
});

describe("a request that is too large, without repairs", () => {
  const file = { type: "file" as const, mediaType: "image/png", data: "AA==" };
  const history = Log.of<Message>([{ role: "user", content: [file] }]);
  const judged = (mends: boolean, kind: ErrorKind, more: object = {}): unknown =>
    judgementOf(overflow(mends), { failure: failureOf(kind, more) }, undefined, {}, { history });

  test("keeps its files, and its output limit", () => {
    expect(judged(true, "payload_too_large")).toMatchObject({ follows: { drop: "files" } });
    expect(judged(false, "payload_too_large")).toBeUndefined();
    const asked = (run: Partial<Run>, settings: object): unknown =>
      judgementOf(
        overflow(),
        { failure: failureOf("context_overflow", { maxOutputTokens: 100 }), ...run },
        undefined,
        { settings },
        {},
      );
    const lower = { follows: { do: "ask_again", maxOutputTokens: 100 } };
    expect(asked({}, {})).toMatchObject(lower);
    expect(asked({}, { maxOutputTokens: 101 })).toMatchObject(lower);
    expect(asked({}, { maxOutputTokens: 100 })).toBeUndefined();
    expect(asked({ maxOutputTokens: 100 }, { maxOutputTokens: 500 })).toBeUndefined();
    expect(asked({ failures: 2 }, {})).toMatchObject(lower);
    expect(asked({ failures: 3 }, {})).toBeUndefined();
    const limit = { maxOutputTokens: 100 };
    expect(judged(true, "context_overflow", limit)).toMatchObject({ follows: limit });
    expect(judged(false, "context_overflow", limit)).toBeUndefined();
  });
});

describe("a call that threw", () => {
  let rule = skipRepeatedFailures();
  const one = callOf("5.0", { args: { a: 1, b: 2 } });
  const ended = (code?: string, call: string = "5.0"): object => ({
    type: "tool_finished",
    call,
    result: { content: [], isError: true, ...(code === undefined ? {} : { code }) },
  });
  const before = acting([callOf("5.1", { args: { z: 1 } }), one]);
  let failed = afterAll(rule, [ended("threw")], before);
  beforeEach(() => {
    rule = skipRepeatedFailures();
    failed = afterAll(rule, [ended("threw")], before);
  });
  const call = (args: JsonObject, name: string = "write"): typeof one => callOf("7.0", { args, name });
  const text = "tool invoke error: repeated failure detected; skipped duplicate call";

  test("is not repeated, whatever the order of its arguments is", () => {
    expect(rule).toMatchObject({ name: "skip_repeated_failures", version: 1 });
    const same = call({ b: 2, a: 1 });
    expect(rule.judgeCall?.(failed, same, emptyState, texts)).toStrictEqual({
      do: "answer",
      code: "repeated",
      text,
      evidence: { tool: "write" },
    });
    const evidence = { tool: "write" };
    expect(rule.judgeStart?.(failed, same, emptyState)).toStrictEqual({ code: "repeated", text, evidence });
    const worded = skipRepeatedFailures({ text: "no" });
    expect(worded.judgeStart?.(failed, same, emptyState)).toMatchObject({ code: "repeated", text: "no" });
    expect(worded.judgeCall?.(failed, same, emptyState, texts)).toMatchObject({ text: "no" });
  });

  test("does not affect other calls", () => {
    for (const other of [call({ a: 1 }), call({ a: 1, b: 3 }), call({ a: 1, b: 2 }, "read")]) {
      expect(rule.judgeCall?.(failed, other, emptyState, texts)).toBeUndefined();
      expect(rule.judgeStart?.(failed, other, emptyState)).toBeUndefined();
    }
  });

  test("counts once it threw, and not if it failed in another way or was finished before", () => {
    const empty = rule.init?.(before);
    for (const fact of [
      ended(),
      ended("timeout"),
      ended("threw", "5.9"),
      { type: "approval_asked", calls: [] },
    ])
      expect(afterAll(rule, [fact], before, empty)).toBe(empty);
    expect(afterAll(rule, [ended("threw")], acting([finished("5.0")]), empty)).toBe(empty);
    expect(afterAll(rule, [ended("threw")], stateOf(), empty)).toBe(empty);
    expect(afterAll(rule, [ended("threw")], emptyState, empty)).toBe(empty);
  });

  test("is compared with the runtime parameters of its tool too", () => {
    const beside = skipRepeatedFailures({ runtimeParameters: { write: { where: "here" } } });
    const there = afterAll(beside, [ended("threw")], before);
    expect(beside.judgeStart?.(there, call({ a: 1, b: 2 }), emptyState)).toBeDefined();
    expect(beside.judgeStart?.(failed, call({ a: 1, b: 2 }), emptyState)).toBeUndefined();
    expect(rule.judgeStart?.(there, call({ a: 1, b: 2, where: "here" }), emptyState)).toBeDefined();
    // Names that objects come with are names like any other.
    const odd = callOf("5.0", { name: "constructor", args: {} });
    const known = afterAll(beside, [ended("threw")], acting([odd]));
    expect(rule.judgeStart?.(known, odd, emptyState)).toBeDefined();
  });
});
