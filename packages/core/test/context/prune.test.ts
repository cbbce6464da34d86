// Old results leave the request once the cache is cold, and stay in the history.

import {
  Agent,
  isPaired,
  type Message,
  type PruneOptions,
  type PruneSettings,
  prune,
  pruneNow,
  pruneSettings,
  textOf,
} from "@rondo/core";
import { call as callTurn, say, scripted } from "@rondo/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Log } from "../../src/loop/log.ts";
import { echo } from "../support.ts";
import { answer, anyHistory, call, history, image, result, said, text, turn, user } from "./support.ts";

const settings = (options: Omit<PruneOptions, "mode"> = {}): PruneSettings =>
  pruneSettings({ mode: "cache-ttl", ...options }) as PruneSettings;

/** Everything may go, whatever the size. */
const eager = (options: Omit<PruneOptions, "mode"> = {}): PruneSettings =>
  settings({ softTrimRatio: 0, keepLastAssistants: 0, hardClear: { enabled: false }, ...options });

/** The results after pruning, in short. */
const pruned = (messages: readonly Message[], own: PruneSettings, window = 1_000): string[] =>
  [...pruneNow(messages, own, window).messages].filter((one) => one?.role === "tool").map((one) => said(one));

const long = (count: number): string => "x".repeat(count);
const minute = 60_000;

describe("settings of pruning", () => {
  const defaults = {
    ttlMs: 5 * minute,
    keepLastAssistants: 3,
    softTrimRatio: 0.3,
    hardClearRatio: 0.5,
    minPrunableToolChars: 50_000,
    softTrim: { maxChars: 4_000, headChars: 1_500, tailChars: 1_500 },
    hardClear: { enabled: true, placeholder: "[Old tool result content cleared]" },
    tools: { allow: [], deny: [] },
  };

  test("C5.39 have these defaults", () => {
    expect(pruneSettings({ mode: "cache-ttl" })).toMatchObject(defaults);
    expect(
      pruneSettings({ mode: "cache-ttl", softTrim: null, hardClear: 3, tools: "all", softTrimRatio: "0.1" }),
    ).toMatchObject(defaults);
  });

  test.each([
    { mode: "off" },
    { mode: "CACHE-TTL" },
    { mode: true },
    {},
    null,
    undefined,
    "cache-ttl",
    7,
    [],
  ])("C5.39 are off for %j: any other mode turns pruning off", (given) => {
    expect(pruneSettings(given)).toBeNull();
  });

  test("C5.39 clamp ratios to 0..1, floor counts and keep them at 0 or more", () => {
    expect(
      settings({
        softTrimRatio: -1,
        hardClearRatio: 7,
        keepLastAssistants: 2.9,
        minPrunableToolChars: -5,
        softTrim: { maxChars: 10.7, headChars: -1, tailChars: Number.NaN },
      }),
    ).toMatchObject({
      softTrimRatio: 0,
      hardClearRatio: 1,
      keepLastAssistants: 2,
      minPrunableToolChars: 0,
      softTrim: { maxChars: 10, headChars: 0, tailChars: 1_500 },
    });
    expect(settings({ keepLastAssistants: -3 }).keepLastAssistants).toBe(0);
    expect(settings({ softTrimRatio: Number.POSITIVE_INFINITY }).softTrimRatio).toBe(0.3);
  });

  test("C5.39 ignore a blank placeholder and trim any other", () => {
    expect(settings({ hardClear: { placeholder: "  \n" } }).hardClear.placeholder).toBe(
      "[Old tool result content cleared]",
    );
    expect(settings({ hardClear: { placeholder: "  gone " } }).hardClear).toEqual({
      enabled: true,
      placeholder: "gone",
    });
    expect(settings({ hardClear: { enabled: false } }).hardClear.enabled).toBe(false);
  });

  test.each([
    ["5m", 5 * minute],
    ["90s", 90_000],
    ["1h30m", 90 * minute],
    ["1.5h", 90 * minute],
    [" 500MS ", 500],
    ["2d", 2 * 24 * 60 * minute],
    ["7", 7 * minute],
    [7, 7 * minute],
    ["0", 0],
    [0, 0],
    ["soon", 5 * minute],
    ["-5m", 5 * minute],
    ["5 parsecs", 5 * minute],
    ["", 5 * minute],
    [null, 5 * minute],
    [Number.NaN, 5 * minute],
  ])("C5.39 parse a ttl of %j: in minutes without a unit, the default if it is no time", (ttl, ms) => {
    expect(pruneSettings({ mode: "cache-ttl", ttl })?.ttlMs).toBe(ms);
  });
});

describe("when it prunes", () => {
  const messages = history(long(5_000), "new");
  const own = eager({ ttl: "5m" });
  const at = { now: 100 * minute, contextWindow: 1_000 };

  test("C5.40 only if the last touch is known and older than the ttl", () => {
    for (const lastTouch of [undefined, at.now, at.now - 5 * minute]) {
      const fresh = prune(messages, own, { ...at, ...(lastTouch === undefined ? {} : { lastTouch }) });
      expect(fresh.messages).toBe(messages);
      expect(fresh.lastTouch).toBe(lastTouch);
    }
    const cold = prune(messages, own, { ...at, lastTouch: at.now - 5 * minute - 1 });
    expect(cold.edits).toHaveLength(1);
    expect(prune(messages, eager({ ttl: 0 }), { ...at, lastTouch: 0 }).messages).toBe(messages);
    expect(prune(messages, null, { ...at, lastTouch: 0 }).messages).toBe(messages);
  });

  test("C5.40 after a prune that changed something the touch is now, so that the next call does not prune", () => {
    const first = prune(messages, own, { ...at, lastTouch: 0 });
    expect(first.lastTouch).toBe(at.now);
    const next = prune(messages, own, { ...at, now: at.now + minute, lastTouch: first.lastTouch as number });
    expect(next.messages).toBe(messages);
    const idle = prune(history("short"), own, { ...at, lastTouch: 3 });
    expect(idle.lastTouch).toBe(3);
  });

  test("C5.41 by the override if it is over 0, else the model's window; without either it does nothing", () => {
    const half = settings({ keepLastAssistants: 0, softTrimRatio: 0.5 });
    const cold = { now: at.now, lastTouch: 0 };
    const does = (more: object): boolean => prune(messages, half, { ...cold, ...more }).edits.length > 0;
    // 5,005 characters with the task's and the second result's: half of 10,010, which is 2,502.5 tokens.
    expect(does({ contextWindow: 2_502 })).toBe(true);
    expect(does({ contextWindow: 2_600 })).toBe(false);
    expect(does({ contextWindow: 2_600, windowOverride: 1_000 })).toBe(true);
    expect(does({ contextWindow: 2_502, windowOverride: 9_000 })).toBe(false);
    expect(does({ contextWindow: 2_502, windowOverride: 0 })).toBe(true);
    expect(does({ windowOverride: -1 })).toBe(false);
    expect(prune(messages, half, cold).messages).toBe(messages);
  });

  test("C5.44 below the soft ratio the list is unchanged", () => {
    const big = history(long(6_000));
    const of = (window: number): boolean =>
      pruneNow(big, settings({ keepLastAssistants: 0 }), window).messages === big;
    // go, {} and 6,000: 6,004 characters, 0.3 of 20,013.3, which is 5,003.3 tokens.
    expect(of(5_004)).toBe(true);
    expect(of(5_003)).toBe(false);
  });
});

describe("what it prunes", () => {
  test("C5.38 only results, only in the request: the history keeps all of them", async () => {
    const big = echo("look", { execute: () => long(5_000) });
    const model = scripted([callTurn("look"), callTurn("look"), say("done")]);
    const own = eager();
    const agent = new Agent({
      model,
      tools: [big],
      repeats: null,
      hooks: {
        transformContext: (messages) => [
          ...prune(messages, own, { now: 10 * minute, lastTouch: 0, contextWindow: 1_000 }).messages,
        ],
      },
    });
    const { messages } = await agent.run(long(5_000));
    const sent = model.lastRequest.messages;
    expect(sent.map((one) => textOf(one).length < 5_000 && one.role === "tool")).toEqual([
      ...[false, false, true, false, true],
    ]);
    expect(sent.filter((one) => one.role !== "tool")).toEqual(
      messages.slice(0, 5).filter((one) => one.role !== "tool"),
    );
    expect(messages.filter((one) => one.role === "tool").map(textOf)).toEqual([long(5_000), long(5_000)]);
    expect(isPaired(sent)).toBe(true);
  });

  test("C5.42 results at or after the Nth answer from the end are protected", () => {
    const messages = history(...Array.from({ length: 5 }, () => long(5_000)));
    const whole = (keepLastAssistants: number): boolean[] =>
      pruned(messages, eager({ keepLastAssistants })).map((one) => one.length === 5_000);
    expect(whole(3)).toEqual([false, false, true, true, true]);
    expect(whole(1)).toEqual([false, false, false, false, true]);
    expect(whole(0)).toEqual([false, false, false, false, false]);
    expect(whole(5)).toEqual([true, true, true, true, true]);
    expect(whole(6)).toEqual([true, true, true, true, true]);
    expect(pruned([user("go"), result("c", long(5_000))], eager({ keepLastAssistants: -1 }))[0]).toHaveLength(
      3_086,
    );
  });

  test("C5.43 nothing before the first user message, and nothing if there is none", () => {
    const early = turn("a", long(5_000));
    const late = turn("b", long(5_000));
    expect(pruned([...early, user("go"), ...late], eager()).map((one) => one.length === 5_000)).toEqual([
      true,
      false,
    ]);
    expect(pruned([...early, ...late], eager()).map((one) => one.length === 5_000)).toEqual([true, true]);
  });

  test("C5.47 tools by lower-case globs: deny overrides, an empty allow means every tool", () => {
    const names = ["Read", "read_file", "shell.run", "browser"];
    const messages = [user("go"), ...names.flatMap((name, at) => turn(`c${at}`, long(5_000), name))];
    const prunes = (tools: PruneOptions["tools"]): boolean[] =>
      pruned(messages, eager(tools === undefined ? {} : { tools })).map((one) => one.length < 5_000);
    expect(prunes({})).toEqual([true, true, true, true]);
    expect(prunes({ allow: [] })).toEqual([true, true, true, true]);
    expect(prunes({ allow: ["READ*"] })).toEqual([true, true, false, false]);
    expect(prunes({ allow: ["*"], deny: [" Shell.* "] })).toEqual([true, true, false, true]);
    expect(prunes({ allow: ["read*"], deny: ["*_*le"] })).toEqual([true, false, false, false]);
    expect(prunes({ allow: ["r*d", "browser", "*l*run"] })).toEqual([true, false, true, true]);
    expect(prunes({ deny: ["*"] })).toEqual([false, false, false, false]);
    expect(prunes({ allow: ["", "  "] })).toEqual([true, true, true, true]);
  });

  test("C5.47 globs are exact, and fast for any invented name", () => {
    const star = fc.array(fc.constantFrom("a", "b", "*", "."), { maxLength: 8 }).map((all) => all.join(""));
    const name = fc.array(fc.constantFrom("a", "b", "."), { maxLength: 10 }).map((all) => all.join(""));
    fc.assert(
      fc.property(star, name, (glob, tool) => {
        if (glob === "") return;
        const pattern = new RegExp(`^${glob.replaceAll(".", "\\.").replaceAll("*", ".*")}$`);
        const before = [user("go"), ...turn("c", long(5_000), tool)];
        const went = pruneNow(before, eager({ tools: { allow: [glob] } }), 1_000).edits.length > 0;
        expect(went).toBe(pattern.test(tool));
      }),
      { numRuns: 300 },
    );
    const hostile = [user("go"), ...turn("c", long(5_000), "a".repeat(50_000))];
    expect(pruneNow(hostile, eager({ tools: { allow: [`${"*a".repeat(30)}*b`] } }), 1_000).edits).toEqual([]);
  });

  test("C5.48 results with images are never touched, or only the three newest of them", () => {
    const messages = history(...Array.from({ length: 5 }, (_, at) => [text(`${at}`), image]), long(5_000));
    const trimmedEnd = /^x{1500}\n\.\.\.\nx{1500}\n\n\[Tool result trimmed/;
    const first = pruned(messages, eager());
    expect(first.slice(0, 5)).toEqual(["0|<file>", "1|<file>", "2|<file>", "3|<file>", "4|<file>"]);
    expect(first[5]).toMatch(trimmedEnd);
    const later = pruned(messages, eager({ keepFileResults: 3 }));
    expect(later.slice(0, 5)).toEqual([
      "0\n\n[Files left out of old tool result: 1]",
      "1\n\n[Files left out of old tool result: 1]",
      "2|<file>",
      "3|<file>",
      "4|<file>",
    ]);
    expect(later[5]).toMatch(trimmedEnd);
    const cleared = eager({
      keepFileResults: 0,
      hardClear: { enabled: true },
      minPrunableToolChars: 0,
      hardClearRatio: 0,
    });
    expect(new Set(pruned(messages, cleared))).toEqual(new Set(["[Old tool result content cleared]"]));
  });
});

describe("how it prunes", () => {
  test("C5.45 a long result keeps its head and tail, and says so", () => {
    const words = `${"h".repeat(1_500)}${"m".repeat(2_000)}${"t".repeat(1_500)}`;
    expect(pruned(history(words), eager())).toEqual([
      `${"h".repeat(1_500)}\n...\n${"t".repeat(1_500)}\n\n[Tool result trimmed: kept first 1500 chars and last 1500 chars of 5000 chars.]`,
    ]);
  });

  test("C5.45 the head and tail may span several blocks, joined by line ends, and one text block is left", () => {
    const messages = history([text("ab"), text("cdefghij"), text("kl")]);
    const own = eager({ softTrim: { maxChars: 10, headChars: 4, tailChars: 4 } });
    const { messages: after } = pruneNow(messages, own, 1);
    expect([...after][2]?.content).toEqual([
      text("ab\nc\n...\nj\nkl\n\n[Tool result trimmed: kept first 4 chars and last 4 chars of 14 chars.]"),
    ]);
  });

  test("C5.45 a result that is not longer than the maximum, or than head and tail, is unchanged", () => {
    const own = eager({ softTrim: { maxChars: 10, headChars: 6, tailChars: 6 } });
    const messages = history("x".repeat(10), "y".repeat(12));
    expect(pruneNow(messages, own, 1).messages).toBe(messages);
    expect(pruned(history("z".repeat(13)), own, 1)[0]).toBe(
      "zzzzzz\n...\nzzzzzz\n\n[Tool result trimmed: kept first 6 chars and last 6 chars of 13 chars.]",
    );
  });

  test("C5.45 never cuts an emoji", () => {
    const own = eager({ softTrim: { maxChars: 10, headChars: 5, tailChars: 5 } });
    const [after = ""] = pruned(history("😀".repeat(20)), own, 1);
    expect(after.isWellFormed()).toBe(true);
    expect(after).toMatch(/^😀😀\n\.\.\.\n😀😀\n/);
  });

  test("C5.46 over the hard ratio the oldest results are cleared, until it is below again", () => {
    const messages = history(...Array.from({ length: 4 }, () => long(3_000)));
    const own = eager({ hardClear: { enabled: true }, hardClearRatio: 0.5, minPrunableToolChars: 12_000 });
    // 12,010 characters ("go", four times "{}"); each clearing frees 2,967.
    const cleared = (window: number): number =>
      pruned(messages, own, window).filter((one) => one === "[Old tool result content cleared]").length;
    expect(cleared(6_006)).toBe(0);
    expect(cleared(6_005)).toBe(1);
    expect(cleared(4_522)).toBe(1);
    expect(cleared(4_521)).toBe(2);
    expect(cleared(1)).toBe(4);
    const order = pruned(messages, own, 4_000).map((one) => one.length === 3_000);
    expect(order).toEqual([false, false, true, true]);
  });

  test("C5.46 a result shorter than the placeholder is cleared in its turn like any other", () => {
    const own = eager({ hardClear: { enabled: true }, hardClearRatio: 0, minPrunableToolChars: 0 });
    const word = "[Old tool result content cleared]";
    expect(pruned(history("short", long(3_000), ""), own)).toEqual([word, word, word]);
  });

  test("C5.46 nothing is cleared if clearing is off, or if there is too little to clear", () => {
    const messages = history(long(3_000), long(3_000));
    const on = { hardClear: { enabled: true, placeholder: "gone" } };
    expect(pruned(messages, eager({ ...on, minPrunableToolChars: 6_000 }), 1)).toEqual(["gone", "gone"]);
    expect(pruned(messages, eager({ ...on, minPrunableToolChars: 6_001 }), 1)[0]).toHaveLength(3_000);
    expect(pruned(messages, eager({ minPrunableToolChars: 0 }), 1)[0]).toHaveLength(3_000);
    // What was trimmed counts as it is now.
    expect(pruned(history(long(9_000)), eager({ ...on, minPrunableToolChars: 4_000 }), 1)[0]).not.toBe(
      "gone",
    );
    // Protected results do not count.
    const kept = eager({ ...on, minPrunableToolChars: 6_000, keepLastAssistants: 1 });
    expect(pruned(messages, kept, 1)).toEqual([long(3_000), long(3_000)]);
  });

  test("C5.49 thinking before the kept answers is removed if asked for, and leaves a blank text", () => {
    const thought = { type: "reasoning" as const, text: "hmm", opaque: { signature: "s" } };
    const messages = [
      user("go"),
      answer(thought),
      answer(thought, text("a"), call("c")),
      result("c", "r"),
      answer(thought, text("b")),
    ];
    const own = eager({ stripThinking: true, keepLastAssistants: 1 });
    const after = [...pruneNow(messages, own, 1).messages];
    expect(after.map(said)).toEqual(["go", "", "a|<tool_call>", "r", "<reasoning>|b"]);
    expect(after[1]?.content).toEqual([text("")]);
    expect(after[4]).toBe(messages[4]);
    expect(pruneNow(messages, eager({ keepLastAssistants: 1 }), 1).messages).toBe(messages);
  });

  test("C5.49 a Chinese character counts four if asked for, and one result may have a limit of its own", () => {
    const messages = history("漢".repeat(5_000));
    const ratio = { keepLastAssistants: 0, softTrimRatio: 0.5 };
    expect(pruneNow(messages, settings(ratio), 9_000).messages).toBe(messages);
    expect(pruneNow(messages, settings({ ...ratio, cjkWeight: 4 }), 9_000).edits).toHaveLength(1);
    const big = history(long(50_000), long(50_001), long(60_000));
    const limited = settings({ keepLastAssistants: 1, maxToolResultChars: 50_000 });
    expect(pruned(big, limited, 1_000_000).map((one) => one.length)).toEqual([50_000, 3_087, 60_000]);
    expect(pruneNow(big, settings({ keepLastAssistants: 1 }), 1_000_000).messages).toBe(big);
  });

  test("C5.49 nothing that is null or malformed makes it fail", () => {
    const odd = (message: object | null): Message => message as Message;
    const messages = [
      odd(null),
      user("go"),
      odd({ role: "assistant", content: null }),
      odd({ role: "assistant", content: [null, { type: "text" }, { type: "tool_call" }, 7, {}] }),
      odd({
        role: "tool",
        content: [null, { type: "text", text: null }, { type: "text", text: long(5_000) }],
      }),
      odd({ role: "tool", name: 7, content: long(5_000) }),
      odd({ role: "tool" }),
      odd({}),
    ];
    const own = eager({
      stripThinking: true,
      keepFileResults: 3,
      cjkWeight: 4,
      hardClear: { enabled: true },
    });
    const after = [...pruneNow(messages, own, 1_000).messages];
    expect(after).toHaveLength(messages.length);
    expect(said(after[4])).toMatch(/^x{1500}\n/);
    expect(said(after[5])).toMatch(/^x{1500}\n/);
    expect([0, 1, 2, 3, 6, 7].map((at) => after[at] === messages[at])).toEqual(Array(6).fill(true));
  });

  test("C5.50 text, thinking, arguments and images fill the window, whoever wrote them", () => {
    const words = answer(
      text(long(100)),
      { type: "reasoning", text: long(100) },
      call("c", "look", { at: long(91) }),
    );
    const messages = [user(long(100)), words, result("c", [text(long(100)), image])];
    // 100 + 100 + 100 + {"at":"91 characters"} + 100 + 8,000: 8,500.
    const own = eager({ softTrimRatio: 1, keepFileResults: 0 });
    expect(pruneNow(messages, own, 2_125).edits).toHaveLength(1);
    expect(pruneNow(messages, own, 2_126).messages).toBe(messages);
    const odd = [...messages, { role: "custom" } as unknown as Message];
    expect(pruneNow(odd, own, 2_189).edits).toHaveLength(1);
    expect(pruneNow(odd, own, 2_190).messages).toBe(odd);
  });
});

describe("pruning any history", () => {
  test("keeps pairs, changes results only, does not change its input, and always does the same", () => {
    const options = fc.record({
      softTrimRatio: fc.double({ min: 0, max: 1, noNaN: true }),
      hardClearRatio: fc.double({ min: 0, max: 1, noNaN: true }),
      keepLastAssistants: fc.nat(4),
      minPrunableToolChars: fc.nat(3_000),
      softTrim: fc.record({ maxChars: fc.nat(500), headChars: fc.nat(200), tailChars: fc.nat(200) }),
      keepFileResults: fc.constantFrom("all" as const, 0, 1),
    });
    fc.assert(
      fc.property(anyHistory, options, fc.integer({ min: 1, max: 5_000 }), (messages, given, window) => {
        const before = structuredClone(messages);
        const own = settings(given);
        const staged = pruneNow(messages, own, window);
        expect(messages).toEqual(before);
        expect(isPaired(staged.messages)).toBe(true);
        expect(staged.messages === messages).toBe(staged.edits.length === 0);
        const after = [...staged.messages];
        expect(after).toHaveLength(messages.length);
        for (const [at, message] of after.entries())
          if (message !== messages[at]) expect(message.role).toBe("tool");
        const again = [...pruneNow(Log.of<Message>(messages), own, window).messages];
        for (const [at, message] of after.entries()) expect(again[at]).toBe(message);
      }),
      { numRuns: 150 },
    );
  });

  test("has the edits of its list, and a note with the numbers", () => {
    const messages = history(long(5_000), long(5_000));
    const { edits, messages: after, note } = pruneNow(messages, eager({ keepLastAssistants: 1 }), 1_000);
    expect(edits.map(({ at }) => at)).toEqual([2]);
    expect([...after][2]).toBe(edits[0]?.message);
    expect(note).toMatchObject({ stage: "prune", before: 2_502, after: 2_023 });
    expect(note?.note).toBe(
      "1 message trimmed and 0 results cleared in this request: 8,092 of 4,000 characters, from 10,006",
    );
  });
});
