// The last look before a request goes out: what cannot fit does not go.

import {
  Agent,
  fittingOutput,
  type GuardedContext,
  type GuardOptions,
  guard,
  guardedContext,
  guardLimits,
  guardWeights,
  isPaired,
  type Message,
  RondoError,
  reducibleChars,
  refIn,
  routeOf,
  shortenResults,
  type TransformContext,
  textOf,
  userText,
} from "@rondo/core";
import { call as callTurn, say, scripted } from "@rondo/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { charsBy } from "../../src/context/estimate.ts";
import { Log } from "../../src/loop/log.ts";
import { echo } from "../support.ts";
import { answer, anyHistory, history, image, result, said, text, turn, user } from "./support.ts";

const chars = charsBy(guardWeights);
const total = (messages: Iterable<Message>): number =>
  [...messages].reduce((sum, one) => sum + chars(one), 0);
const long = (count: number): string => "x".repeat(count);
const results = (messages: Iterable<Message>): string[] =>
  [...messages].filter((one) => one.role === "tool").map(said);

const replacing: GuardOptions = { results: "truncate_and_replace" };
const oldText = "Preemptive context overflow: estimated context size exceeds safe threshold during tool loop";
const newText = "Context overflow: estimated context size exceeds safe threshold during tool loop.";
const placeholder = "[compacted: tool output removed to free context]";

describe("the guard's limits", () => {
  test("C4.34 one result half the window at two characters a token, all nine tenths at four, and never under 1,024", () => {
    expect(guardLimits(128_000)).toEqual({ result: 128_000, total: 460_800, input: 384_000 });
    expect(guardLimits(1_001)).toEqual({ result: 1_024, total: 3_603, input: 3_003 });
    expect(guardLimits(100)).toEqual({ result: 1_024, total: 1_024, input: 1_024 });
    expect(guardLimits(0)).toEqual({ result: 1_024, total: 1_024, input: 1_024 });
  });

  test("C4.34 are applied exactly: a result counts twice, and may reach its limit but not exceed it", () => {
    const of = (length: number): boolean =>
      guard(history(long(length)), {}, { contextWindow: 10_000 }).edits.length > 0;
    expect(of(5_000)).toBe(false);
    expect(of(5_001)).toBe(true);
    const all = (length: number): string | undefined =>
      guard([user(long(length))], {}, { contextWindow: 10_000 }).overflow;
    expect(all(36_000)).toBeUndefined();
    expect(all(36_001)).toBe(newText);
  });
});

describe("the guard that truncates and replaces", () => {
  const at = { contextWindow: 10_000 };

  test("C4.35 cuts each oversized result, at a line end after seven tenths, and says so", () => {
    const note = "\n[truncated: output exceeded context limit]";
    const room = 5_000 - note.length;
    const late = `${long(4_000)}\n${long(9_000)}`;
    const early = `${long(3_000)}\n${long(9_000)}`;
    const seven = Math.floor(room * 0.7);
    const lined = (length: number): string => `${long(length)}\n${long(9_000)}`;
    const [beyond, not] = results(guard(history(lined(seven + 1), lined(seven)), replacing, at).messages);
    expect([beyond?.length, not?.length]).toEqual([seven + 1 + note.length, 5_000]);
    const { messages } = guard(history(late, early, "small"), replacing, at);
    expect(results(messages)).toEqual([
      `${long(4_000)}${note}`,
      `${long(3_000)}\n${long(room - 3_001)}${note}`,
      "small",
    ]);
  });

  test("C4.35 over three quarters it replaces results, oldest first, until enough is free, even the newest if necessary", () => {
    const three = history(long(5_000), long(5_000), long(5_000));
    // 30,008 of 30,000: one has to go.
    expect(results(guard(three, replacing, at).messages)).toEqual([placeholder, long(5_000), long(5_000)]);
    expect(guard(history(long(5_000), long(5_000), long(4_990)), replacing, at).edits).toEqual([]);
    const talkative = [user(long(29_000)), ...history(long(3_000), long(3_000)).slice(1)];
    expect(results(guard(talkative, replacing, at).messages)).toEqual([placeholder, placeholder]);
  });

  test("C4.35 refuses messages that are still over nine tenths, and the error says why", () => {
    const over = guard([user(long(36_001)), ...turn("c", long(100))], replacing, at);
    expect(over.overflow).toBe(oldText);
    const under = guard([user(long(35_000)), ...turn("c", long(100))], replacing, at);
    expect(under.overflow).toBeUndefined();
    expect(results(under.messages)).toEqual([placeholder]);
  });

  test("C4.35 removes details with what it cuts or replaces, and does not change the history", () => {
    const withDetails = { ...result("c0", long(9_000)), details: { all: long(50) } };
    const messages = [user("go"), ...history("x").slice(1, 2), withDetails];
    const before = structuredClone(messages);
    for (const contextWindow of [10_000, 256]) {
      const cut = [...guard(messages, replacing, { contextWindow }).messages][2];
      expect(cut).not.toHaveProperty("details");
      expect(cut).toMatchObject({ role: "tool", callId: "c0", name: "look", isError: false });
    }
    expect(messages).toEqual(before);
  });
});

describe("the guard that truncates", () => {
  const at = { contextWindow: 10_000 };

  test("C4.36 shortens results that are too large by themselves, and says how much is missing", () => {
    const messages = history(long(9_000), long(5_000));
    const before = structuredClone(messages);
    const { messages: after, note } = guard(messages, {}, at);
    const [cut = "", whole] = results(after);
    expect(cut).toMatch(/^x+\[\.\.\. (\d+) more characters truncated\]$/);
    const missing = Number(/\d+/.exec(cut)?.[0]);
    expect(cut.indexOf("[") + missing).toBe(9_000);
    expect(cut.length).toBeLessThanOrEqual(5_000);
    expect(whole).toBe(long(5_000));
    expect(messages).toEqual(before);
    expect(note).toMatchObject({ stage: "guard", before: 7_002 });
  });

  test("C4.36 never rewrites older results: messages too large in total are refused unchanged", () => {
    const messages = history(...Array.from({ length: 4 }, () => long(5_000)));
    const refused = guard(messages, {}, at);
    expect(refused.messages).toBe(messages);
    expect(refused.overflow).toBe(newText);
    expect(refused.chars).toBeGreaterThan(refused.maxChars);
  });

  test("C4.36 returns the same list if nothing changes, and removes details with what it cuts", () => {
    const small = history("small", "other");
    expect(guard(small, {}, at)).toMatchObject({ edits: [] });
    expect(guard(small, {}, at).messages).toBe(small);
    const log = Log.of<Message>(small);
    expect(guard(log, {}, at).messages).toBe(log);
    const detailed = [
      ...history(long(100)).slice(0, 2),
      { ...result("c0", long(100)), details: long(20_000) },
    ];
    const after = [...guard(detailed, {}, at).messages];
    expect(after[2]).toEqual(result("c0", long(100)));
    expect(after.slice(0, 2).every((one, place) => one === detailed[place])).toBe(true);
  });

  test("C4.36 puts the route of a precheck into its error", async () => {
    const hook = guardedContext({ contextWindow: 10_000, precheck: { reserve: 2_000 } });
    const failed = async (messages: Message[]): Promise<unknown> =>
      await Promise.resolve(
        hook(messages, {
          step: 2,
          session: "s",
          signal: new AbortController().signal,
          deps: {},
          resolve: async (key) => key.create(),
        }),
      ).then(
        () => "sent",
        (thrown: unknown) => thrown,
      );
    const big = await failed([user(long(24_000)), ...turn("a", long(4_000))]);
    expect(big).toBeInstanceOf(RondoError);
    expect(big).toMatchObject({
      kind: "context_overflow",
      message: "Context overflow: prompt too large for the model (precheck).",
      raw: { route: "compact_then_truncate", budget: 8_000 },
    });
    // Only inside a turn: what a person just said is not prechecked.
    expect(await failed([user(long(30_000))])).toBe("sent");
    expect(await failed(history("small"))).toBe("sent");
  });
});

describe("the guard as a hook", () => {
  const big = echo("look", { execute: () => long(9_000) });

  test("C4.32 runs around transformContext before each model call", async () => {
    const order: string[] = [];
    const model = scripted((_, number) => {
      order.push(`model ${number}`);
      return number < 3 ? callTurn("look") : say("done");
    });
    const inner: TransformContext = (messages, { step }) => {
      order.push(`inner ${step}`);
      return [...messages, userText(`step ${step}`)];
    };
    const transformContext = guardedContext({ contextWindow: 10_000 }, inner);
    const { messages } = await new Agent({
      model,
      tools: [big],
      repeats: null,
      hooks: { transformContext },
    }).run("go");
    expect(order).toEqual(["inner 1", "model 1", "inner 2", "model 2", "inner 3", "model 3"]);
    for (const { messages: sent } of model.requests.slice(1)) {
      expect(results(sent)[0]).toMatch(/more characters truncated\]$/);
      expect(textOf(sent.at(-1) as Message)).toMatch(/^step \d$/);
    }
    expect(messages.filter((one) => one.role === "tool").map((one) => textOf(one).length)).toEqual([
      9_000, 9_000,
    ]);
  });

  test("C4.32 removed again, leaves the hook that was there before", () => {
    const inner: TransformContext = (messages) => [...messages];
    expect(guardedContext({ contextWindow: 10_000 }, inner).uninstall()).toBe(inner);
    const twice: GuardedContext = guardedContext(
      { contextWindow: 5_000 },
      guardedContext({ contextWindow: 1 }, inner),
    );
    expect((twice.uninstall() as GuardedContext).uninstall()).toBe(inner);
    expect(guardedContext({ contextWindow: 1 }).uninstall()).toBeUndefined();
  });

  test.each([
    ["C4.35", replacing, oldText],
    ["C4.36", {}, newText],
  ])(
    "%s a request that cannot fit is not sent, and the run ends with the guard's error",
    async (_, options, words) => {
      const model = scripted([say("never")]);
      const transformContext = guardedContext({ contextWindow: 1_000, ...options });
      const { end } = await new Agent({ model, hooks: { transformContext } }).run(long(5_000));
      expect(model.calls).toBe(0);
      expect(end).toMatchObject({ reason: "error" });
      expect(JSON.stringify(end)).toContain(words);
    },
  );
});

describe("the route", () => {
  const ask = { window: 10_000, reserve: 2_000, reducible: 0 };

  test("C4.37 adds a fifth to the estimate, and compares it with the window minus the reserve", () => {
    expect(routeOf({ ...ask, tokens: 6_666 })).toEqual({
      route: "fits",
      tokens: 8_000,
      budget: 8_000,
      overflow: 0,
    });
    expect(routeOf({ ...ask, tokens: 6_667 })).toEqual({
      route: "compact",
      tokens: 8_001,
      budget: 8_000,
      overflow: 1,
      error: "Context overflow: prompt too large for the model (precheck).",
    });
    expect(routeOf({ ...ask, tokens: 8_000, safety: 1 }).route).toBe("fits");
    expect(routeOf({ ...ask, tokens: 1, reserve: 20_000 })).toMatchObject({ route: "compact", budget: 1 });
  });

  test("C4.37 without results to shorten it is compaction, with enough of them shortening, with fewer both", () => {
    // 1,600 over: 6,400 characters, and 2,048 or half as much again to be sure: 9,600.
    const over = { ...ask, tokens: 8_000 };
    expect(routeOf({ ...over, reducible: 0 }).route).toBe("compact");
    expect(routeOf({ ...over, reducible: 1 }).route).toBe("compact_then_truncate");
    expect(routeOf({ ...over, reducible: 9_599 }).route).toBe("compact_then_truncate");
    expect(routeOf({ ...over, reducible: 9_600 }).route).toBe("truncate_results");
    // 200 over: 800 characters and 2,048.
    const little = { ...ask, tokens: 8_200, safety: 1 };
    expect(routeOf({ ...little, reducible: 2_847 }).route).toBe("compact_then_truncate");
    expect(routeOf({ ...little, reducible: 2_848 }).route).toBe("truncate_results");
  });

  test("C4.37 for more than 200 messages includes a compaction", () => {
    const over = { ...ask, tokens: 8_000, reducible: 99_999 };
    expect(routeOf({ ...over, messages: 200 }).route).toBe("truncate_results");
    expect(routeOf({ ...over, messages: 201 }).route).toBe("compact_then_truncate");
    expect(routeOf({ ...over, messages: 201, reducible: 0 }).route).toBe("compact");
    expect(routeOf({ ...over, tokens: 1, messages: 201 }).route).toBe("fits");
  });

  test("for a too high output limit is to lower it to what fits, at least 16", () => {
    expect(fittingOutput(4_000, 5_000, 10_000)).toBe(4_000);
    expect(fittingOutput(5_000, 5_000, 10_000)).toBe(5_000);
    expect(fittingOutput(262_144, 22_139, 262_144)).toBe(240_005);
    expect(fittingOutput(4_000, 9_990, 10_000)).toBe(16);
    expect(fittingOutput(4_000, 99_990, 10_000)).toBe(16);
    expect(fittingOutput(10, 9_995, 10_000)).toBe(16);
    expect(fittingOutput(undefined, 9_990, 10_000)).toBeUndefined();
    expect(fittingOutput(4_000, 9_990, undefined)).toBe(4_000);
  });
});

describe("shortening results for room", () => {
  test("takes from the newest first, keeps head and tail, and keeps the ref of the full text in the tail", () => {
    const ended = `${"h".repeat(5_000)}${"t".repeat(5_000)}\n\n[tool output truncated; ref=r1]`;
    const messages = history(long(10_000), ended);
    expect(reducibleChars(messages)).toBe(7_900 + ended.length - 2_100);
    const { messages: after, edits, note } = shortenResults(messages, 3_000);
    expect(edits.map(({ at }) => at)).toEqual([4]);
    const [first, second = ""] = results(after);
    expect(first).toBe(long(10_000));
    expect(second).toMatch(
      /^h+t*\n\[\.\.\. \d+ characters left out \.\.\.\]\nt+\n\n\[tool output truncated; ref=r1\]$/,
    );
    expect(ended.length - second.length).toBeGreaterThanOrEqual(3_000);
    expect(refIn([...after][4] as Parameters<typeof refIn>[0])).toBe("r1");
    expect(note?.note).toContain("1 result shortened by 3,0");
  });

  test("leaves small results and images alone, and returns the same list if there is nothing to take", () => {
    const messages = history("small", [text(long(9_000)), image], long(2_100));
    expect(reducibleChars(messages)).toBe(0);
    expect(shortenResults(messages, 1_000).messages).toBe(messages);
    expect(shortenResults(history(long(9_000)), 0).edits).toEqual([]);
  });

  test("frees as much as it promises, keeps 2,000 characters of each result, and keeps pairs", () => {
    fc.assert(
      fc.property(anyHistory, fc.nat(20_000), (messages, wanted) => {
        const before = structuredClone(messages);
        const possible = reducibleChars(messages);
        const { messages: after } = shortenResults(messages, wanted);
        const length = (list: Iterable<Message>): number => results(list).join("").length;
        expect(messages).toEqual(before);
        expect(isPaired(after)).toBe(true);
        expect(length(messages) - length(after)).toBeGreaterThanOrEqual(Math.min(wanted, possible));
        for (const [at, message] of [...after].entries())
          if (message !== messages[at]) expect(textOf(message).length).toBeGreaterThanOrEqual(2_000);
      }),
      { numRuns: 100 },
    );
  });
});

describe("guarding any history", () => {
  test("lets nothing over its limits pass by its own count, keeps pairs, and does not change its input", () => {
    const options = fc.constantFrom<GuardOptions>({}, replacing);
    fc.assert(
      fc.property(
        anyHistory,
        options,
        fc.integer({ min: 0, max: 20_000 }),
        (messages, own, contextWindow) => {
          const before = structuredClone(messages);
          const limits = guardLimits(contextWindow);
          const guarded = guard(messages, own, { contextWindow });
          expect(messages).toEqual(before);
          expect(isPaired(guarded.messages)).toBe(true);
          expect(guarded.messages.length).toBe(messages.length);
          expect(guarded.messages === messages).toBe(guarded.edits.length === 0);
          expect(guarded.chars).toBe(total(guarded.messages));
          expect(guarded.overflow === undefined).toBe(guarded.chars <= limits.total);
          for (const [at, message] of [...guarded.messages].entries()) {
            if (message.role === "tool") expect(chars(message)).toBeLessThanOrEqual(limits.result);
            else expect(message).toBe(messages[at]);
            expect(said(message).isWellFormed()).toBe(true);
          }
          const again = [...guard(Log.of<Message>(messages), own, { contextWindow }).messages];
          for (const [at, message] of [...guarded.messages].entries()) expect(again[at]).toBe(message);
          expect(guard(guarded.messages, {}, { contextWindow }).edits).toEqual([]);
        },
      ),
      { numRuns: 200 },
    );
  });

  test("replaces an image that is too large for a small window with a note", () => {
    const messages = [user("go"), ...turn("c", [image])];
    expect(results(guard(messages, {}, { contextWindow: 4_000 }).messages)).toEqual([
      "[... 6000 more characters truncated]",
    ]);
    const both = [user("go"), ...turn("c", [text("a chart"), image])];
    expect(results(guard(both, {}, { contextWindow: 4_000 }).messages)).toEqual(["a chart"]);
  });

  test("counts what is sent besides the messages too, and costs only the new messages if called again", () => {
    const messages = [user(long(30_000)), answer(text("ok"))];
    expect(guard(messages, {}, { contextWindow: 10_000, beside: 1_400 }).overflow).toBeUndefined();
    expect(guard(messages, {}, { contextWindow: 10_000, beside: 1_600 }).overflow).toBe(newText);
    let asked = 0;
    let log = Log.of<Message>([user("go")]);
    for (let at = 0; at < 300; at += 1) {
      const watched = turn(`c${at}`, "x").map(
        (message) =>
          new Proxy(message, {
            get: (target, key, self) => {
              asked += 1;
              return Reflect.get(target, key, self) as unknown;
            },
          }),
      );
      log = log.push(...watched);
      expect(guard(log, {}, { contextWindow: 10_000 }).messages).toBe(log);
    }
    expect(asked).toBeLessThan(300 * 16);
  });
});
