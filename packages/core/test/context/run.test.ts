// The stages of the context in the loop: what is cut for good, what is left out once, what is refused.

import { Agent, isPaired, type Message, memoryJournal, textOf, userText } from "@rondo/core";
import { call, calls, say, scripted, usage } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { eventsOf, jumpingClock } from "../support.ts";
import { estimated, only, opened, reader, recordsOf, words } from "./run-support.ts";

const texts = (messages: Iterable<Message>): string[] =>
  [...messages].filter(({ role }) => role === "tool").map(textOf);

describe("trimming in a run", () => {
  const options = () => ({
    tools: [reader(1_600)],
    context: { window: 100_000, trim: { budgetTokens: 5_000 }, compaction: null },
  });
  const twice = (number: number) => (number <= 4 ? call("read") : say("done"));

  test("D9.47 comes before a model call, oldest first, permanently: it is a record, is kept in another process, and is replayed", async () => {
    const model = scripted((_, number) => twice(number));
    const { session, journal, events, records } = await opened({ model, ...options() });
    await session.send("read it all");
    const [trim, ...more] = recordsOf(records(), "trimmed");
    expect(more).toEqual([]);
    // Three results of 2,000 tokens are over 5,000, and are trimmed down to half of it.
    expect(trim?.edits.map(({ at }) => at)).toEqual([2, 4]);
    expect(trim).toMatchObject({ stage: "trim", before: 5_997 });
    expect(only(events, "context").filter(({ stage }) => stage === "trim")).toHaveLength(1);
    const trimmed = "[tool output trimmed]";
    expect(texts(model.requests[2]?.messages ?? [])).not.toContain(trimmed);
    expect(texts(model.requests[3]?.messages ?? []).slice(0, 2)).toEqual([trimmed, trimmed]);
    expect(texts(session.messages).slice(0, 2)).toEqual([trimmed, trimmed]);

    const later = scripted([say("still done")]);
    const again = await opened({ model: later, ...options() }, journal);
    expect(again.session.messages).toEqual(session.messages);
    await again.session.send("and now?");
    expect(texts(later.lastRequest.messages).slice(0, 2)).toEqual([trimmed, trimmed]);
    const { requests, firstDifference } = await again.session.replay();
    expect(firstDifference).toBeUndefined();
    expect(requests).toHaveLength(6);
    expect(isPaired(session.messages)).toBe(true);
  });

  test("never trims the results of an exempt tool, in this process and in another", async () => {
    const exempt = {
      ...options(),
      context: { ...options().context, trim: { budgetTokens: 3_000, exempt: ["read"] } },
    };
    const model = scripted((_, number) => twice(number));
    const { session, journal, records } = await opened({ model, ...exempt });
    await session.send("read it all");
    expect(recordsOf(records(), "trimmed")).toEqual([]);
    expect(texts(model.lastRequest.messages)).toHaveLength(4);

    const later = scripted([say("still done")]);
    const again = await opened({ model: later, ...exempt }, journal);
    await again.session.send("and now?");
    expect(texts(later.lastRequest.messages)).toEqual(texts(model.lastRequest.messages));
    expect((await again.session.replay()).firstDifference).toBeUndefined();
  });

  test("changes the prefix once, and the request says at which message and by which stage", async () => {
    const model = scripted((_, number) => twice(number));
    const events = await eventsOf(new Agent({ model, repeats: null, ...options() }), "read it all");
    expect(only(events, "request").map(({ broke }) => broke)).toEqual([
      undefined,
      undefined,
      undefined,
      "message 3 (trim)",
      undefined,
    ]);
  });

  test("offers the tools that read full texts once it has left refs in the conversation", async () => {
    const asked: string[][] = [];
    const model = scripted((request, number) => {
      asked.push(request.tools.map(({ name }) => name));
      return twice(number);
    });
    const { session } = await opened({
      model,
      ...options(),
      context: { ...options().context, cap: { keep: "every" } },
    });
    await session.send("read it all");
    expect(texts(session.messages)[0]).toMatch(/^\[tool output trimmed; ref=out_\w+\]$/);
    expect(asked.map((names) => names.length)).toEqual([1, 1, 1, 3, 3]);
    expect(asked.at(-1)).toEqual(["read", "read_output", "search_output"]);
  });

  test("lets search_output without a ref search all stored outputs, oldest first", async () => {
    let page = 0;
    const pages = reader(0, {
      execute: () => {
        page += 1;
        return `${words(2_000)}\nthe code of page ${page} is ${page * 111}`;
      },
    });
    const model = scripted((_, number) => {
      if (number <= 4) return call("read");
      return number === 5 ? call("search_output", { pattern: "the code of" }) : say("done");
    });
    const { session } = await opened({
      model,
      tools: [pages],
      context: { ...options().context, cap: { keep: "every" } },
    });
    await session.send("read it all");
    expect(
      texts(session.messages)
        .at(-1)
        ?.match(/page \d is \d+/g),
    ).toEqual(["page 1 is 111", "page 2 is 222", "page 3 is 333", "page 4 is 444"]);
  });
});

describe("pruning in a run", () => {
  test("leaves old results out of one request, which its record says, and changes nothing that is stored", async () => {
    const clock = jumpingClock(0.5);
    const model = scripted([call("read"), call("read"), say("one"), say("two")]);
    const { session, events, records } = await opened({
      model,
      clock,
      tools: [reader(9_000)],
      context: {
        window: 20_000,
        prune: { mode: "cache-ttl", ttl: "5m", keepLastAssistants: 1 },
        trim: null,
        guard: null,
        compaction: null,
        cap: null,
      },
    });
    await session.send("read");
    const stored = session.messages;
    expect(recordsOf(records(), "model_started").every(({ stages }) => stages === undefined)).toBe(true);
    clock.pass(6 * 60_000);
    await session.send("again");
    expect(session.messages.slice(0, stored.length)).toEqual(stored);
    const pruned = recordsOf(records(), "model_started").at(-1)?.stages;
    expect(pruned).toMatchObject([{ stage: "prune" }]);
    expect(only(events, "context")).toMatchObject([{ stage: "prune" }]);
    expect(estimated(model.requests[3] ?? model.lastRequest)).toBeLessThan(
      estimated({ messages: stored, tools: [] }),
    );
    expect(only(events, "request").at(-1)?.broke).toMatch(/^message \d+ \(prune\)$/);
    expect((await session.replay()).firstDifference).toBeUndefined();
  });

  test("does not make the history look smaller: the count of a pruned request is not used for the next one", async () => {
    const clock = jumpingClock(0.5);
    const counted = (request: Parameters<typeof estimated>[0]) =>
      usage({ inputTokens: estimated(request), outputTokens: 10 });
    const model = scripted((request, number) => [
      number <= 3 || number === 5 ? call("read") : say("done"),
      counted(request),
    ]);
    const { session, events } = await opened({
      model,
      clock,
      tools: [reader(6_300)],
      context: {
        window: 25_000,
        prune: { mode: "cache-ttl", ttl: "5m", keepLastAssistants: 0, softTrimRatio: 0.1 },
        trim: null,
        compaction: null,
      },
    });
    await session.send("read");
    clock.pass(6 * 60_000);
    // The first request of this run is pruned, the next is not: the cache is warm again.
    await session.send("again");
    expect(only(events, "context").map(({ stage }) => stage)).toEqual(["prune", "guard"]);
    expect(session.context().tokens).toBeGreaterThan(20_000);
    for (const request of model.requests) expect(estimated(request)).toBeLessThanOrEqual(25_000);
  });
});

describe("the guard in a run", () => {
  const none = { trim: null, compaction: null } as const;

  test("cuts the longest text permanently if nothing else made room, and the request fits", async () => {
    const model = scripted([call("read"), say("done")]);
    const { session, events, records } = await opened({
      model,
      tools: [reader(9_000)],
      context: { window: 5_000, ...none },
    });
    const { end } = await session.send("read");
    expect(end?.reason).toBe("completed");
    for (const request of model.requests) expect(estimated(request)).toBeLessThanOrEqual(5_000);
    expect(texts(session.messages)[0]).toMatch(/characters omitted here\]/);
    expect(recordsOf(records(), "trimmed")).toMatchObject([{ stage: "guard" }]);
    expect(only(events, "context").map(({ stage }) => stage)).toContain("guard");
    expect((await session.replay()).firstDifference).toBeUndefined();
  });

  test("ends the run with context_overflow if nothing can be made smaller, and sends nothing", async () => {
    const model = scripted([say("never")]);
    const { session } = await opened({ model, system: words(6_000), context: { window: 5_000, ...none } });
    const { end } = await session.send("go");
    expect(end).toMatchObject({
      reason: "error",
      rule: "guard",
      error: { kind: "context_overflow" },
      resumable: true,
    });
    expect(model.calls).toBe(0);
  });

  test("counts the notes of rules and modes after the history", async () => {
    const landing = words(1_500, "land now");
    const model = scripted((request) => (request.toolChoice === "none" ? say("landed") : call("read")));
    const { session } = await opened({
      model,
      tools: [reader(1_300)],
      maxSteps: 3,
      texts: { landing: () => landing },
      context: { window: 5_000, ...none },
    });
    const { end } = await session.send("read");
    expect(end).toMatchObject({ reason: "max_steps", landed: true });
    expect(textOf(model.lastRequest.messages.at(-1) as Message)).toBe(landing);
    for (const request of model.requests) expect(estimated(request)).toBeLessThanOrEqual(5_000);
  });

  test("refuses messages that the transformContext hook made too large", async () => {
    const model = scripted([say("never")]);
    const { session } = await opened({
      model,
      hooks: { transformContext: (messages) => [...messages, userText(words(6_000))] },
      context: { window: 5_000, ...none },
    });
    const { end } = await session.send("go");
    expect(end?.error).toMatchObject({ kind: "context_overflow" });
    expect(end?.error?.message).toContain("transformContext");
    expect(model.calls).toBe(0);
  });

  test("shortens results for one request only if set so, and the conversation keeps them", async () => {
    const model = scripted([call("read"), say("done")]);
    const { session, records } = await opened({
      model,
      tools: [reader(3_000)],
      context: { window: 5_000, ...none, guard: { results: "truncate" } },
    });
    await session.send("read");
    expect(texts(model.lastRequest.messages)[0]).toMatch(/more characters truncated\]$/);
    expect(texts(session.messages)[0]).not.toMatch(/truncated/);
    expect(recordsOf(records(), "trimmed")).toEqual([]);
    expect(recordsOf(records(), "model_started").at(-1)?.stages).toMatchObject([{ stage: "guard" }]);
  });

  test.each(["truncate", "truncate_and_replace"] as const)(
    "counts the system prompt and the tools if results are to %s, unless it counts messages only",
    async (results) => {
      const endOf = async (counts?: "messages"): Promise<[string | undefined, number]> => {
        const model = scripted([say("sent")]);
        const guard = counts === undefined ? { results } : { results, counts };
        const context = { window: 5_000, ...none, guard };
        const { session } = await opened({ model, system: words(6_000), tools: [reader(1)], context });
        const { end } = await session.send("go");
        return [end?.error?.kind ?? end?.reason, model.calls];
      };
      expect(await endOf()).toEqual(["context_overflow", 0]);
      expect(await endOf("messages")).toEqual(["completed", 1]);
    },
  );

  test("makes room among results for a long system prompt", async () => {
    const model = scripted([call("read"), say("done")]);
    const { session } = await opened({
      model,
      system: words(3_000),
      tools: [reader(800)],
      context: { window: 5_000, ...none, guard: { results: "truncate_and_replace" } },
    });
    const { end } = await session.send("read");
    expect(end?.reason).toBe("completed");
    expect(texts(model.lastRequest.messages)[0]).toBe("[compacted: tool output removed to free context]");
  });

  test("lowers an output limit that is too large, and does not compact for it", async () => {
    const model = scripted([call("read"), say("done")]);
    const { session, events } = await opened({
      model,
      tools: [reader(2_000)],
      settings: { maxOutputTokens: 4_000 },
      context: { window: 5_000 },
    });
    await session.send("go");
    const [first, second] = model.requests;
    expect(first?.settings.maxOutputTokens).toBe(4_000);
    expect(second?.settings.maxOutputTokens).toBe(5_000 - estimated(second as NonNullable<typeof second>));
    expect(only(events, "compaction_start")).toEqual([]);
    expect((await session.replay()).firstDifference).toBeUndefined();
  });
});

describe("context.tell", () => {
  test("tells the model once at each share how much is left, in a note that is not stored", async () => {
    const model = scripted((_, number) => (number <= 4 ? call("read") : say("done")));
    const { session } = await opened({
      model,
      tools: [reader(1_000)],
      context: { window: 6_000, tell: [0.5, 0.25], trim: null, compaction: null },
    });
    await session.send("read");
    const told = model.requests.map((request) =>
      [...request.messages].map(textOf).filter((text) => text.startsWith("About ")),
    );
    expect(told.map((notes) => notes.length)).toEqual([0, 0, 1, 1, 0]);
    expect(told[2]?.[0]).toMatch(/^About 3\d\d\d of 6000 tokens of the context window are left\./);
    expect([...session.messages].map(textOf).join()).not.toContain("About ");
  });
});

describe("the account", () => {
  test("adds up to the provider's count and the estimate of what is new, by source and by message", async () => {
    const model = scripted([
      [say("Let me see."), call("read"), usage({ inputTokens: 300, outputTokens: 40 })],
      [say("done"), usage({ inputTokens: 2_400, outputTokens: 10 })],
    ]);
    const { session } = await opened({
      model,
      system: "Be brief.",
      tools: [reader(2_000)],
      context: { window: 9_000 },
    });
    const before = session.context();
    expect(before.tokens).toBe(0);
    await session.send("go");
    const account = session.context();
    expect(account).toMatchObject({ tokens: 2_410, counted: 2_410, window: 9_000, left: 6_590 });
    const sum = Object.values(account.bySource).reduce((all, one) => all + one, 0);
    expect(Math.abs(sum - account.tokens)).toBeLessThanOrEqual(8);
    expect(account.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(account.bySource.results).toBeGreaterThan(1_500);
    expect(account.bySource.system).toBeGreaterThan(0);
    expect(account.bySource.calls).toBeGreaterThan(0);
  });

  test.each([
    ["zeros", { inputTokens: 0, outputTokens: 0 }],
    ["the answer alone", { outputTokens: 40 }],
  ])("does not use %s as a count of a conversation, and estimates all of it", async (_what, told) => {
    const model = scripted([
      [call("read"), usage(told)],
      [say("done"), usage(told)],
    ]);
    const { session } = await opened({ model, tools: [reader(2_000)], context: { window: 9_000 } });
    await session.send("go");
    const account = session.context();
    expect(account.counted).toBe(0);
    expect(account.tokens).toBeGreaterThan(1_500);
  });

  test("can be read from a stream while it runs", async () => {
    const model = scripted([call("read"), say("done")]);
    const stream = new Agent({ model, tools: [reader(1_000)], context: { window: 9_000 } }).stream("go");
    expect(stream.context()).toBeUndefined();
    const seen: number[] = [];
    for await (const event of stream)
      if (event.type === "request" || event.type === "run_end") seen.push(stream.context()?.tokens ?? -1);
    expect(seen[0]).toBeGreaterThan(0);
    expect(seen.at(-1)).toBeGreaterThan(1_000);
  });
});

test("several results of one answer that are too large together are cut until they fit, each keeping its place", async () => {
  const model = scripted([calls([["read"], ["read"], ["read"]]), say("done")]);
  const { session } = await opened(
    { model, tools: [reader(4_000)], context: { window: 6_000, compaction: null } },
    memoryJournal(),
  );
  const { end } = await session.send("read");
  expect(end?.reason).toBe("completed");
  expect(isPaired(session.messages)).toBe(true);
  for (const request of model.requests) expect(estimated(request)).toBeLessThanOrEqual(6_000);
});
