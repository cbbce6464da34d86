// Compaction in the loop: when it comes, what it asks for, what becomes of a summary that fails, and what else may happen meanwhile.

import {
  type AgentOptions,
  budget,
  isPaired,
  type Message,
  type ModelFacts,
  type RondoEvent,
  textOf,
  tool,
  toolResult,
} from "@rondo/core";
import {
  call,
  empty,
  type FailOptions,
  fail,
  hold,
  type SeenRequest,
  say,
  scripted,
  stop,
  type Turn,
  think,
  usage,
} from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { deferred, jumpingClock } from "../support.ts";
import { estimated, isJoining, isSummary, only, opened, reader, recordsOf, words } from "./run-support.ts";
import { answer, text as textPart, user } from "./support.ts";

const summary = "The pages were read; nothing in them matters for the task any more.";

/** Reads so many pages, then is done; sums up when asked. */
const worker =
  (pages: number, sum: (request: SeenRequest, nth: number) => Turn = () => say(summary)) =>
  (request: SeenRequest): Turn => {
    if (isAsked(request)) {
      sums += 1;
      return sum(request, sums);
    }
    steps += 1;
    return steps <= pages ? call("read") : say("all read");
  };
let sums = 0;
let steps = 0;

/** A model, its counters at nought. */
const asModel = (decide: (request: SeenRequest) => Turn, options: Parameters<typeof scripted>[1] = {}) => {
  sums = 0;
  steps = 0;
  return scripted(decide, options);
};

const isAsked = (request: SeenRequest): boolean => isSummary(request) || isJoining(request);

const untrimmed = { window: 10_000, trim: null, cap: null } as const;

const base = (more: Partial<AgentOptions> = {}) => ({ tools: [reader(2_500)], context: untrimmed, ...more });

/** The kinds of context events and of what stands around them. */
const outline = (events: readonly RondoEvent[]): string[] =>
  events.flatMap((event) => {
    if (event.type === "compaction_start") return [`start: ${event.rule}`];
    if (event.type === "compaction_end") return [event.helped ? "helped" : "unhelpful"];
    return event.type === "request" ? ["request"] : [];
  });

const memoryOf = (messages: Iterable<Message>): string =>
  [...messages].map(textOf).find((text) => text.startsWith("[rondo.compaction]")) ?? "";

describe("a compaction", () => {
  test("begins when the history fills 80 % of the window: the task and the last turn stay, the rest is summarised, and the run continues", async () => {
    const model = asModel(worker(5));
    const { session, events } = await opened({ model, system: "Be quick.", ...base() });
    const { end, text } = await session.send("Read every page.");
    expect([end?.reason, text]).toEqual(["completed", "all read"]);
    expect(outline(events)).toEqual([
      ...["request", "request", "request", "request"],
      ...["start: compaction", "helped", "request", "request"],
    ]);
    expect(only(events, "compaction_start")[0]?.evidence).toMatchObject({ limit: 10_000, at: 0.8 });
    const [end1] = only(events, "compaction_end");
    expect(end1?.after).toBeLessThan((end1?.before ?? 0) / 2);
    const [task, memory, ...rest] = session.messages;
    expect(textOf(task as Message)).toBe("Read every page.");
    expect(textOf(memory as Message)).toContain(summary);
    expect(rest.length).toBeGreaterThan(1);
    expect(isPaired(session.messages)).toBe(true);
    for (const request of model.requests) expect(estimated(request)).toBeLessThanOrEqual(10_000);
    const { requests, firstDifference } = await session.replay();
    expect(firstDifference).toBeUndefined();
    expect(requests.filter((one) => one.summary !== undefined)).toMatchObject([
      { summary: { part: 1, of: 1 } },
    ]);
    expect(only(events, "request").at(-2)?.broke).toBe("message 2 (compaction)");
  });

  test("begins in time also if the provider counts only what its cache did not hold, but not for what a hook does not send", async () => {
    const few = usage({ inputTokens: 20, outputTokens: 5 });
    const decide = worker(5);
    const model = asModel((request) => [decide(request) as never, few]);
    const { session, events } = await opened({ model, ...base() });
    await session.send("Read every page.");
    expect(only(events, "compaction_start")).toHaveLength(1);
    for (const request of model.requests) expect(estimated(request)).toBeLessThanOrEqual(10_000);

    const again = worker(5);
    const shaped = asModel((request) => [again(request) as never, few]);
    const hooks = { transformContext: (messages: readonly Message[]) => messages.slice(-3) };
    const short = await opened({ model: shaped, hooks, ...base() });
    await short.session.send("Read every page.");
    expect(only(short.events, "compaction_start")).toEqual([]);
  });

  test("requests no tools, and its cost is counted", async () => {
    const model = asModel(worker(4, () => [say(summary), usage({ inputTokens: 700, outputTokens: 30 })]));
    const { session } = await opened({ model, ...base() });
    const { usage: used } = await session.send("Read.");
    const asked = model.requests.find(isSummary);
    expect(asked).toMatchObject({ tools: [], toolChoice: "none" });
    expect(used).toMatchObject({ inputTokens: 700, outputTokens: 30 });
    // 15 % of a window of 10,000.
    expect(asked?.settings.maxOutputTokens).toBe(1_500);
  });

  test("may use a model of its own, with that model's price", async () => {
    const own = asModel(() => [say(summary), usage({ inputTokens: 1_000_000, outputTokens: 0 })], {
      id: "cheap",
      facts: { contextWindow: 20_000, price: { input: 0.5, output: 1 } },
    });
    const decide = worker(4);
    const model = scripted(
      (request) => [decide(request) as never, usage({ inputTokens: 0, outputTokens: 0 })],
      {
        facts: { price: { input: 100, output: 100 } },
      },
    );
    const played = await opened({
      model,
      tools: [reader(2_500)],
      context: { ...untrimmed, compaction: { model: own } },
    });
    await played.session.compact();
    const idle = played.session.result;
    expect(idle?.end?.reason).toBe("completed");
    await played.session.send("Read.");
    await played.session.compact();
    expect(own.calls).toBeGreaterThan(0);
    expect(model.requests.some(isSummary)).toBe(false);
    const result = played.session.result;
    expect(result?.usage.inputTokens).toBe(1_000_000);
    expect(result?.usd).toBeCloseTo(0.5);
  });

  test("can be requested in an idle session, as a run of its own", async () => {
    const model = asModel(worker(2));
    const { session, events, records } = await opened({ model, ...base() });
    await session.send("Read.");
    const before = session.messages.length;
    const { end, text } = await session.compact();
    expect(end).toMatchObject({ reason: "completed", rule: "compaction", evidence: { helped: true } });
    expect(text).not.toBe("");
    expect(session.messages.length).toBeLessThan(before);
    expect(recordsOf(records(), "run_started").at(-1)?.only).toBe("compaction");
    expect(outline(events).slice(-2)).toEqual(["start: asked", "helped"]);
    expect((await session.replay()).firstDifference).toBeUndefined();
  });

  test("keeps the newest request word for word, and not what the loop asked for the typed output since", async () => {
    const work = worker(2);
    const model = asModel((request) => (request.outputSchema === undefined ? work(request) : say('{"n":1}')));
    const output = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const;
    const { session } = await opened({ model, ...base(), output, outputRequest: "stored" });
    await session.send("The first task.");
    await session.send("The second task.");
    await session.compact();
    const texts = session.messages.map(textOf);
    expect(texts).toContain("The second task.");
    expect(texts.some((text) => text.startsWith("[rondo.compaction]"))).toBe(true);
  });

  test("knows nothing any more of what the loop asked in a history that was cleared or replaced", async () => {
    const model = asModel(({ outputSchema }) => say(outputSchema === undefined ? "Hm." : '{"n":1}'));
    const output = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const;
    const { session } = await opened({ model, ...base(), output, outputRequest: "stored" });
    await session.send("A task.");
    expect(session.state.asked).toHaveLength(1);
    await session.clear();
    expect(session.state.asked).toEqual([]);
    for (let run = 0; run < 3; run += 1) await session.send([...session.messages, user("Again.")]);
    expect(session.state.asked).toHaveLength(1);
  });

  test("can be requested during a run, before the next model call", async () => {
    const gate = deferred();
    const model = asModel(worker(3));
    let page = 0;
    const slow = reader(0, {
      execute: async () => {
        page += 1;
        if (page === 3) await gate.promise;
        return words(2_000, `page ${page}`);
      },
    });
    const { session, events } = await opened({ model, ...base({ tools: [slow] }) });
    const running = session.send("Read.");
    await new Promise<void>((resolve) => {
      session.subscribe((event) => {
        if (event.type === "tool_start" && only(events, "tool_start").length === 3) resolve();
      });
    });
    const compacting = session.compact();
    void session.compact();
    gate.resolve();
    expect((await running).end?.reason).toBe("completed");
    expect((await compacting).text).toBe("all read");
    // Asked for twice, done once; the results of the open turn are there before it.
    expect(outline(events)).toEqual(["request", "request", "request", "start: asked", "helped", "request"]);
    expect(textOf(session.messages.at(-2) as Message)).toContain("page 3");
  });

  test("calls no model if there is nothing to summarise, and the events say so", async () => {
    const model = asModel(worker(0));
    const { session, events } = await opened({ model, ...base() });
    const { end } = await session.compact();
    expect(end?.evidence).toEqual({ helped: false });
    expect(model.calls).toBe(0);
    expect(only(events, "compaction_end")).toMatchObject([
      { helped: false, note: "there is nothing that could be summed up: the history stays as it is" },
    ]);
  });

  test("keeps tools' ledger entries word for word, whatever the summary forgets", async () => {
    const write = tool({
      name: "write",
      description: "Writes",
      inputSchema: { type: "object", properties: {} },
      effect: "write",
      execute: () =>
        toolResult("written", {
          ledger: [
            { kind: "file_written", path: "src/a.ts", hash: "sha256:abcdef" },
            { kind: "command", command: "npm test", exitCode: 1 },
            { kind: "decision", text: "use tabs" },
          ],
        }),
    });
    const decide = worker(4);
    const model = asModel((request) =>
      request.messages.length === 1 && !isSummary(request) ? call("write") : decide(request),
    );
    const { session } = await opened({ model, ...base({ tools: [reader(2_500), write] }) });
    await session.send("Write, then read.");
    const memory = memoryOf(session.messages);
    expect(memory).toContain("src/a.ts (step 1, sha256:abcdef)");
    expect(memory).toContain("npm test (step 1, exit code 1)");
    expect(memory).toContain("use tabs");
  });

  test("keeps the refs of stored outputs", async () => {
    const model = asModel(worker(3));
    const { session } = await opened({
      model,
      ...base({ tools: [reader(6_000)] }),
      context: { ...untrimmed, cap: { bytes: 10_000 } },
    });
    await session.send("Read.");
    const refs = [...session.state.outputs];
    expect(refs).toHaveLength(3);
    await session.compact();
    const now = session.messages.map(textOf).join("\n");
    for (const ref of refs) expect(now).toContain(ref);
  });

  test("summarises a history larger than the summariser's window in parts, and joins the parts", async () => {
    const own = asModel((request) => say(isJoining(request) ? `joined: ${summary}` : `part: ${summary}`), {
      id: "small",
      facts: { contextWindow: 9_000 },
    });
    const main = worker(12);
    const model = scripted(main);
    const { session, records } = await opened({
      model,
      tools: [reader(1_500)],
      context: {
        window: 40_000,
        trim: null,
        compaction: { model: own, auto: false, resultCharacters: null },
      },
    });
    sums = 0;
    steps = 0;
    await session.send("Read.");
    await session.compact();
    const started = recordsOf(records(), "summary_started").map(({ part, of, attempt }) => [
      part,
      of,
      attempt,
    ]);
    const of = started.length;
    expect(of).toBeGreaterThan(2);
    expect(started).toEqual(Array.from({ length: of }, (_, at) => [at + 1, of, 1]));
    expect(own.requests.map(isJoining).lastIndexOf(true)).toBe(of - 1);
    for (const request of own.requests) expect(estimated(request)).toBeLessThanOrEqual(9_000);
    expect(memoryOf(session.messages)).toContain(`joined: ${summary}`);
    expect((await session.replay()).firstDifference).toBeUndefined();
  });
});

describe("a summary that fails", () => {
  test("C10.66 is tried three times, with waits of half a second and more in between", async () => {
    const clock = jumpingClock(0.5);
    const model = asModel(worker(4, (_, nth) => (nth < 3 ? fail("overloaded") : say(summary))));
    const { session, records } = await opened({ model, clock, ...base() });
    await session.send("Read.");
    expect(recordsOf(records(), "summary_started").map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(clock.waits).toEqual([500, 1_000]);
    expect(recordsOf(records(), "compacted")[0]?.edit).toBeDefined();
    expect((await session.replay()).firstDifference).toBeUndefined();
  });

  test.each([
    ["that fails for good", () => fail("invalid_request"), 1],
    ["that is too long itself however small its parts (F187)", () => fail("context_overflow"), 4],
    ["that is refused", () => [say("I cannot go on with such a conversation."), stop("refusal")], 1],
    ["that is filtered", () => [say("The conversation was about a"), stop("content_filter")], 1],
    ["that fails three times", () => fail("overloaded"), 3],
    ["without a text", () => empty(), 3],
    ["that is a call", () => call("read"), 3],
    ["that has only headings", () => say("## Goal\n\n## Next steps"), 2],
  ] as const)(
    "%s: the history stays as it is, the run continues, and the events say so",
    async (_name, turn, attempts) => {
      const model = asModel(worker(4, turn as () => Turn));
      const { session, events, records } = await opened({ model, clock: jumpingClock(0.5), ...base() });
      const { end } = await session.send("Read.");
      expect(end?.reason).toBe("completed");
      expect(recordsOf(records(), "summary_started")).toHaveLength(attempts);
      expect(only(events, "warning").filter(({ code }) => code === "summary_failed").length).toBe(
        recordsOf(records(), "summary_failed").length,
      );
      expect(only(events, "compaction_end").map(({ helped }) => helped)).toEqual([false]);
      expect(recordsOf(records(), "compacted")[0]?.edit).toBeUndefined();
      expect(isPaired(session.messages)).toBe(true);
    },
  );

  test("because its input is too long is requested in smaller parts, before it is given up (F187)", async () => {
    const asked: number[] = [];
    const model = asModel(
      worker(6, (request) => {
        asked.push(estimated(request));
        return estimated(request) > 4_000 ? fail("context_overflow") : say(summary);
      }),
    );
    const { session, events } = await opened({
      model,
      ...base({ tools: [reader(5_000)] }),
      context: { ...untrimmed, window: 40_000, compaction: { resultCharacters: null, at: 0.6 } },
    });
    const { end } = await session.send("Read every page.");
    expect(end?.reason).toBe("completed");
    expect(only(events, "compaction_end").map(({ helped }) => helped)).toEqual([true]);
    expect(memoryOf(session.messages)).toContain(summary);
    expect(asked[0]).toBeGreaterThan(4_000);
    expect(asked.at(-1)).toBeLessThan(4_000);
    expect((await session.replay()).firstDifference).toBeUndefined();
  });

  test("because reasoning used its output limit is requested with a larger limit, and with the run's headers", async () => {
    const limits: unknown[] = [];
    const model = asModel(
      worker(5, ({ settings }) => {
        limits.push(settings.maxOutputTokens);
        expect(settings.headers).toEqual({ "x-team": "a" });
        return limits.length < 3 ? [think("Well then. ".repeat(50)), stop("max_tokens")] : say(summary);
      }),
    );
    const { session, events } = await opened({
      model,
      clock: jumpingClock(0.5),
      settings: { headers: { "x-team": "a" } },
      ...base({ context: { ...untrimmed, compaction: { summaryMaxTokens: 500 } } }),
    });
    const { end } = await session.send("Read every page.");
    expect([end?.reason, limits]).toEqual(["completed", [500, 2_000, 5_000]]);
    expect(only(events, "compaction_end").map(({ helped }) => helped)).toEqual([true]);
  });

  test.each([
    ["comes whole then", () => say(summary), summary],
    [
      "is cut off again: better than none",
      () => [say("<summary>Page one w"), stop("max_tokens")],
      "Page one w",
    ],
  ] as const)(
    "because its output limit cut it off is asked for once more, with a larger one, and %s",
    async (_what, second, kept) => {
      const limits: unknown[] = [];
      const model = asModel(
        worker(5, ({ settings }) => {
          limits.push(settings.maxOutputTokens);
          return limits.length === 1
            ? [say("<summary>Page one was"), stop("max_tokens")]
            : (second() as Turn);
        }),
      );
      const compaction = { summaryMaxTokens: 500, minSummaryCharacters: 5 };
      const clock = jumpingClock(0.5);
      const { session } = await opened({ model, clock, ...base({ context: { ...untrimmed, compaction } }) });
      const { end } = await session.send("Read every page.");
      expect([end?.reason, limits]).toEqual(["completed", [500, 2_000]]);
      expect(memoryOf(session.messages)).toContain(kept);
    },
  );

  const skeleton = say("## Goal\n\n## Progress\n\n## Next steps\n");
  test.each([
    ["has only headings", skeleton, say(summary), summary],
    ["is much too short", say("ok"), say(summary), summary],
    ["has only headings, twice: a note takes its place", skeleton, skeleton, "Summary unavailable"],
    ["was cut off, and then is too short: a note", [skeleton, stop("max_tokens")], say("ok"), "unavailable"],
  ] as const)("because it %s is asked for once more", async (_what, first, second, kept) => {
    let refused = false;
    sums = 0;
    const model = scripted((request) => {
      if (isAsked(request)) {
        sums += 1;
        return (sums === 1 ? first : second) as Turn;
      }
      if (refused) return say("done");
      refused = true;
      return fail("context_overflow");
    });
    const { session, events } = await opened({ model, clock: jumpingClock(0.5) });
    const said = [user("First this."), answer(textPart("This was done.")), user("Now only that.")];
    const { end } = await session.send(said);
    expect([end?.reason, sums]).toEqual(["completed", 2]);
    expect(memoryOf(session.messages)).toContain(kept);
    expect(only(events, "compaction_end").map(({ helped }) => helped)).toEqual([true]);
    expect((await session.replay()).firstDifference).toBeUndefined();
  });

  test("because it says one sentence over and over is asked for again: such a text would be continued", async () => {
    const sentence = "I apologize for the confusion about all this. ";
    const model = asModel(worker(5, (_, nth) => say(nth === 1 ? sentence.repeat(60) : summary)));
    const { session, records } = await opened({ model, clock: jumpingClock(0.5), ...base() });
    const { end } = await session.send("Read every page.");
    expect([end?.reason, sums]).toEqual(["completed", 2]);
    expect(memoryOf(session.messages)).toContain(summary);
    expect(memoryOf(session.messages)).not.toContain("apologize");
    expect(recordsOf(records(), "summary_started").map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  test("never has a higher output limit than the model's, known from its facts or from its refusal", async () => {
    const limits = async (
      facts: ModelFacts,
      refuse: (nth: number) => Turn | undefined,
    ): Promise<unknown[]> => {
      const seen: unknown[] = [];
      const model = asModel(
        worker(5, ({ settings }, nth) => {
          seen.push(settings.maxOutputTokens);
          return refuse(nth) ?? say(summary);
        }),
        { facts },
      );
      const { session, events } = await opened({ model, clock: jumpingClock(0.5), ...base() });
      expect((await session.send("Read every page.")).end?.reason).toBe("completed");
      expect(only(events, "compaction_end").map(({ helped }) => helped)).toEqual([true]);
      return seen;
    };
    expect(await limits({ maxOutputTokens: 700 }, () => undefined)).toEqual([700]);
    const once =
      (more: FailOptions) =>
      (nth: number): Turn | undefined =>
        nth > 1 ? undefined : fail("invalid_request", { status: 400, ...more });
    expect(await limits({}, once({ maxOutputTokens: 600 }))).toEqual([1_500, 600]);
    expect(await limits({}, once({ repair: "settings.maxOutputTokens" }))).toEqual([1_500, undefined]);
  });

  test("is requested again too if the model's window is unknown and it refused a short conversation", async () => {
    let refused = false;
    const model = scripted((request) => {
      if (isSummary(request)) return say(summary);
      if (refused) return say("done");
      refused = true;
      return fail("context_overflow");
    });
    const { session } = await opened({ model });
    const said = [user("First this."), answer(textPart("This was done.")), user("Now only that.")];
    const { end, text } = await session.send(said);
    expect([end?.reason, text, model.calls]).toEqual(["completed", "done", 3]);
    expect(textOf(session.messages[1] as Message)).toContain(summary);
    expect(textOf(session.messages.findLast(({ role }) => role === "user") as Message)).toBe(
      "Now only that.",
    );
  });

  test("takes few calls if the model's window is unknown and it refused a conversation of many messages", async () => {
    let refused = false;
    const model = scripted((request) => {
      if (isAsked(request)) return say(summary);
      if (refused) return say("done");
      refused = true;
      return fail("context_overflow");
    });
    const { session } = await opened({ model, context: { trim: null } });
    const said = Array.from({ length: 12 }, (_, at) => [
      user(`Question ${at}.`),
      answer(textPart(words(4_000, `page ${at}`))),
    ]);
    const { end } = await session.send([...said.flat(), user("And now?")]);
    expect(end?.reason).toBe("completed");
    expect(model.requests.filter(isAsked).length).toBeLessThanOrEqual(5);
    expect(memoryOf(session.messages)).toContain(summary);
  });

  test("is replaced by a note with numbers if the request would not fit otherwise", async () => {
    const model = asModel(worker(3, () => fail("invalid_request")));
    const { session, events } = await opened({
      model,
      ...base({ tools: [reader(4_000)] }),
      context: { ...untrimmed, compaction: { auto: false } },
    });
    const { end } = await session.send("Read.");
    expect(end?.reason).toBe("completed");
    expect(only(events, "compaction_start").map(({ rule }) => rule)).toContain("guard");
    expect(memoryOf(session.messages)).toMatch(
      /Context contained \d+ messages \(\d+ oversized\)\. Summary unavailable due to size limits\./,
    );
    for (const request of model.requests) expect(estimated(request)).toBeLessThanOrEqual(10_000);
  });
});

describe("the breaker", () => {
  test("waits for five answers after a compaction that did not help", async () => {
    const model = asModel(worker(9, () => fail("invalid_request")));
    const { session, events } = await opened({
      model,
      tools: [reader(100)],
      context: { window: 3_000, trim: null, compaction: { at: 0.1 } },
    });
    await session.send("Read.");
    const line = outline(events);
    const tries = line.flatMap((one, at) => (one === "start: compaction" ? [at] : []));
    expect(tries.length).toBeGreaterThan(1);
    const [first = 0, second = 0] = tries;
    expect(line.slice(first, second).filter((one) => one === "request")).toHaveLength(5);
  });

  test("opens after a compaction after each of three answers, and then waits for five", async () => {
    // The task alone is over the threshold: every compaction helps, and none for long.
    const model = asModel(worker(9));
    const { session, events } = await opened({
      model,
      tools: [reader(500)],
      context: { window: 4_000, trim: null, compaction: { at: 0.3, keepShare: 0 } },
    });
    await session.send(words(1_000, "task"));
    const line = outline(events);
    let inARow = 0;
    let most = 0;
    let requests = 0;
    for (const one of line) {
      if (one === "request") requests += 1;
      if (one === "start: compaction") {
        inARow = requests <= 1 ? inARow + 1 : 1;
        most = Math.max(most, inARow);
        requests = 0;
      }
    }
    expect(most).toBe(3);
  });
});

test("does not affect the notice of the window's rest, which is given with the request after room was made", async () => {
  const model = asModel(worker(6));
  const { session } = await opened({
    model,
    ...base({ context: { ...untrimmed, compaction: { at: 0.6 }, tell: [0.2, 0.6] } }),
  });
  await session.send("Read every page.");
  const told = model.requests.flatMap((request) => {
    const note = [...request.messages].map(textOf).find((text) => text.startsWith("About "));
    const [, left] = /^About (\d+) of 10000 tokens/.exec(note ?? "") ?? [];
    return left === undefined ? [] : [10_000 - Number(left) - estimated(request)];
  });
  expect(told.length).toBeGreaterThan(2);
  // The note itself is the difference.
  for (const off of told) expect(Math.abs(off)).toBeLessThan(60);
});

describe("a compaction in many parts", () => {
  const talk = (exchanges: number): Message[] => [
    ...Array.from({ length: exchanges }, (_, at) => [
      user(words(1_000, `question ${at}`)),
      answer(textPart(words(1_000, `answer ${at}`))),
    ]).flat(),
    user("And now?"),
  ];

  test("spends no more than the budget's rest, and the run lands with a note in place of the summary", async () => {
    const model = scripted((request) =>
      isAsked(request)
        ? [say(summary), usage({ inputTokens: 9_000, outputTokens: 100 })]
        : [say("as far as I know"), usage({ inputTokens: 1_000, outputTokens: 10 })],
    );
    const context = { window: 16_000, trim: null } as const;
    const { session, events } = await opened({ model, context, rules: [budget({ tokens: 30_000 })] });
    const { end, text } = await session.send(talk(50));
    expect([end?.reason, end?.landed, text]).toEqual(["token_budget", true, "as far as I know"]);
    expect(model.requests.filter(isAsked)).toHaveLength(4);
    expect(only(events, "compaction_end").map(({ helped, note }) => [helped, note])).toEqual([
      [false, "the model gave no summary: the history stays as it is (token_budget)"],
      [true, expect.stringContaining("became 3")],
    ]);
    expect(memoryOf(session.messages)).toMatch(/Context contained 101 messages/);
    expect((await session.replay()).firstDifference).toBeUndefined();
  });

  test("reads as much of an earlier summary as its window allows, and less after a refusal (F187)", async () => {
    const memory = `[rondo.compaction]\nAbout.\n\n<summary>\n${words(12_000, "long ago")}\n</summary>`;
    const said = [user("The task."), user(memory), ...talk(6)];
    let refused = 0;
    const model = scripted((request) => {
      if (!isAsked(request)) return say("done");
      if (refused > 0) return say(summary);
      refused += 1;
      return fail("context_overflow");
    });
    const { session } = await opened({ model, context: { window: 16_000, trim: null } });
    const { end } = await session.send(said);
    expect(end?.reason).toBe("completed");
    const asked = model.requests.filter(isAsked);
    for (const request of asked) expect(estimated(request)).toBeLessThanOrEqual(16_000);
    const earlier = (request: SeenRequest | undefined): number =>
      textOf(request?.messages[0] as Message).split("[start of the conversation]")[0]?.length ?? 0;
    expect(earlier(asked[0])).toBeGreaterThan(10_000);
    expect(earlier(asked[1])).toBeLessThan(earlier(asked[0]) * 0.7);
    expect(memoryOf(session.messages)).toContain(summary);
  });

  test("joins its summaries in a request that fits, however many and long they are", async () => {
    const model = scripted((request) =>
      isAsked(request) ? say(`<summary>${words(1_500, "long")}</summary><next>the end</next>`) : say("done"),
    );
    const { session } = await opened({ model, context: { window: 16_000, trim: null } });
    await session.send(talk(200));
    const asked = model.requests.filter(isAsked);
    const joining = asked.filter(isJoining);
    expect([asked.length > 20, joining.length]).toEqual([true, 1]);
    for (const request of asked) expect(estimated(request)).toBeLessThanOrEqual(16_000);
    // Of each the beginning and the end are read.
    const read = textOf(joining[0]?.messages[0] as Message);
    expect(read.split("- the end").length).toBe(asked.length);
  });
});

describe("if the run would end otherwise", () => {
  // What a model wrote into its calls is nothing that the guard may cut.
  const long = (tokens: number): Turn => call("read", { why: words(tokens, "because") });
  const window = 6_000;

  test("a compaction that saved nothing is no reason to wait for five answers", async () => {
    let sums = 0;
    const turns = [call("read"), long(6_500), say("done")];
    const model = scripted((request) => {
      if (!isSummary(request)) return turns.shift() as Turn;
      sums += 1;
      return sums === 1 ? fail("invalid_request") : say(summary);
    });
    const context = { window, trim: null, compaction: { at: 0.1 } } as const;
    const { session, events } = await opened({ model, tools: [reader(1_000)], context });
    const { end, text } = await session.send("Read.");
    expect([end?.reason, text]).toEqual(["completed", "done"]);
    expect(outline(events)).toEqual([
      ...["request", "start: compaction", "unhelpful", "request"],
      ...["start: guard", "helped", "request"],
    ]);
    expect((await session.replay()).firstDifference).toBeUndefined();
  });

  test("a note replaces a summary that cannot be made, also after the answer at which it was first requested", async () => {
    const turns = [call("read"), long(6_500), say("done")];
    const model = scripted((request) =>
      isSummary(request) ? fail("invalid_request") : (turns.shift() as Turn),
    );
    const context = { window, trim: null, compaction: { at: 0.8 } } as const;
    const { session, events } = await opened({ model, tools: [reader(1_000)], context });
    const { end, text } = await session.send("Read.");
    expect([end?.reason, text]).toEqual(["completed", "done"]);
    expect(outline(events).slice(2)).toEqual([
      ...["start: compaction", "unhelpful", "start: guard", "helped", "request"],
    ]);
    expect(memoryOf(session.messages)).toMatch(/Context contained \d+ messages/);
    expect((await session.replay()).firstDifference).toBeUndefined();
  });

  test("and nothing helps, the run ends after one more attempt", async () => {
    const model = scripted((request) => (isSummary(request) ? fail("invalid_request") : say("never said")));
    const said: Message[] = [user("Go on."), answer(textPart(words(200))), user("Go on.")];
    const context = { window: 300, trim: null, compaction: { at: 0.5 } } as const;
    const { session, events } = await opened({ model, system: words(400), context });
    const { end } = await session.send(said);
    expect([end?.reason, end?.error?.kind]).toEqual(["error", "context_overflow"]);
    expect(only(events, "compaction_start").length).toBeLessThanOrEqual(2);
  });
});

describe("a provider that says the request is too large", () => {
  test("causes a compaction and a second request, once; a second refusal ends the run", async () => {
    let refusals = 0;
    const model = asModel((request) => {
      if (isSummary(request)) return say(summary);
      steps += 1;
      if (steps <= 2) return call("read");
      refusals += 1;
      return fail("context_overflow", { message: "too long" });
    });
    const { session, events } = await opened({ model, ...base() });
    const { end } = await session.send("Read.");
    expect(end).toMatchObject({ reason: "error", error: { kind: "context_overflow", message: "too long" } });
    expect(refusals).toBe(2);
    expect(outline(events)).toEqual([
      "request",
      "request",
      "request",
      "start: overflow",
      "helped",
      "request",
    ]);
    expect((await session.replay()).firstDifference).toBeUndefined();
  });

  test("may do so again after an answer in between", async () => {
    const model = asModel((request) => {
      if (isSummary(request)) return say(summary);
      steps += 1;
      if (steps === 3 || steps === 6) return fail("context_overflow");
      return steps < 8 ? call("read") : say("done");
    });
    const { session, events } = await opened({ model, ...base() });
    const { end } = await session.send("Read.");
    expect(end?.reason).toBe("completed");
    expect(outline(events).filter((one) => one === "start: overflow")).toHaveLength(2);
  });

  test("causes the longest texts to be cut if there is no compaction", async () => {
    const model = asModel((request) => {
      steps += 1;
      if (steps === 2 && estimated(request) > 2_000) return fail("context_overflow");
      return steps === 1 ? call("read") : say("done");
    });
    const { session, records } = await opened({
      model,
      ...base(),
      context: { trim: null, compaction: null },
    });
    const { end } = await session.send("Read.");
    expect(end?.reason).toBe("completed");
    expect(recordsOf(records(), "trimmed")).toMatchObject([{ stage: "guard" }]);
  });

  test("causes files to be left out first if its bytes are the problem, and the history stays", async () => {
    const model = scripted([fail("payload_too_large"), say("done")]);
    const { session, events } = await opened({ model, ...base() });
    const { end } = await session.send([
      { type: "text", text: "look" },
      { type: "file", mediaType: "image/png", data: new Uint8Array(64) },
    ] as never);
    expect(end?.reason).toBe("completed");
    expect(JSON.stringify(model.lastRequest.messages)).not.toContain('"file"');
    expect(JSON.stringify(session.messages)).toContain('"file"');
    expect(only(events, "compaction_start")).toEqual([]);
  });
});

describe("during a compaction", () => {
  const held = () => {
    const gate = hold(say(summary));
    const model = asModel(worker(4, () => gate));
    return { gate, model };
  };

  test("that is requested as the run ends: it follows at once, and settled() waits for it", async () => {
    const { session, events } = await opened({ model: asModel(worker(2, () => say(summary))), ...base() });
    let asked: Promise<unknown> | undefined;
    session.subscribe(({ type }) => {
      if (type === "run_end") asked ??= session.compact();
    });
    await session.send("Read.");
    expect(session.status).toBe("running");
    await session.settled();
    expect(session.status).toBe("idle");
    expect(only(events, "run_end").map(({ end }) => end.rule)).toEqual(["answer", "compaction"]);
    await asked;
    expect(only(events, "run_end")).toHaveLength(2);
  });

  test("a message is delivered after it, once", async () => {
    const { gate, model } = held();
    const { session, events } = await opened({ model, ...base() });
    const running = session.send("Read.");
    await gate.reached;
    session.steer("Faster!");
    gate.release();
    await running;
    expect(only(events, "message_delivered")).toHaveLength(1);
    const at = (type: string): number => events.findIndex((event) => event.type === type);
    expect(at("message_delivered")).toBeGreaterThan(at("compaction_end"));
    expect(session.messages.filter((message) => textOf(message) === "Faster!")).toHaveLength(1);
    expect([...model.lastRequest.messages].map(textOf)).toContain("Faster!");
  });

  test("an abort ends it at once: nothing more starts, the history stays, and the events report its end", async () => {
    const { gate, model } = held();
    const { session, events } = await opened({ model, abortGraceMs: 50, ...base() });
    const running = session.send("Read.");
    await gate.reached;
    const before = session.messages;
    const asked = model.calls;
    session.abort("enough");
    const { end } = await running;
    expect(end).toMatchObject({ reason: "aborted" });
    expect(model.calls).toBe(asked);
    expect(session.messages).toEqual(before);
    expect(only(events, "compaction_end")).toMatchObject([{ helped: false }]);
  });

  test("a deadline lands the run without it", async () => {
    const clock = jumpingClock(0.5);
    const { gate, model } = held();
    const { session, events } = await opened({ model, clock, budget: { ms: 5_000 }, ...base() });
    const { end } = await session.send("Read.");
    expect(end).toMatchObject({ reason: "deadline", landed: true });
    expect(only(events, "compaction_end")).toMatchObject([{ helped: false }]);
    gate.release();
  });

  test("a budget that the summary used up lands the run", async () => {
    const model = asModel(worker(9, () => [say(summary), usage({ inputTokens: 5_000, outputTokens: 100 })]));
    const { session } = await opened({ model, budget: { tokens: 5_000 }, ...base() });
    const { end } = await session.send("Read.");
    expect(end).toMatchObject({ reason: "token_budget" });
  });
});
