// The promises of the context over the loop: whatever the settings, the results and what is said meanwhile.

import {
  type CompactionOptions,
  type ContextOptions,
  isPaired,
  type LogRecord,
  type Message,
  reduceAll,
  resolve,
  type Tool,
  textOf,
} from "@rondo/core";
import { call, calls, fail, type SeenRequest, say, scripted, type Turn, think } from "@rondo/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jumpingClock } from "../support.ts";
import { estimated, isJoining, isSummary, only, opened, reader, words } from "./run-support.ts";

const share = fc.double({ min: 0.1, max: 1, noNaN: true });

const anyCompaction: fc.Arbitrary<Omit<CompactionOptions, "model"> | null> = fc.option(
  fc.record({
    format: fc.constantFrom("structured" as const, "tagged" as const),
    at: share,
    keepShare: share,
    atEnd: fc.boolean(),
    minGain: fc.option(fc.double({ min: 0, max: 0.5, noNaN: true }), { nil: null }),
  }),
  { nil: null, freq: 4 },
);

/** Prunes now and again: a tool takes a while. */
const pruning = {
  mode: "cache-ttl",
  ttl: "70s",
  keepLastAssistants: 1,
  softTrimRatio: 0.1,
  minPrunableToolChars: 100,
  softTrim: { maxChars: 400, headChars: 100, tailChars: 100 },
} as const;

/** Settings that keep the guard on. */
const anyContext: fc.Arbitrary<ContextOptions> = fc.record({
  window: fc.integer({ min: 1_500, max: 12_000 }),
  cap: fc.option(
    fc.record({
      bytes: fc.integer({ min: 500, max: 20_000 }),
      keep: fc.constantFrom("cut" as const, "every" as const),
    }),
    { nil: null },
  ),
  trim: fc.option(
    fc.record({
      budgetTokens: fc.integer({ min: 100, max: 6_000 }),
      to: share,
      keep: fc.constantFrom("last_answer" as const, "none" as const),
    }),
    { nil: null },
  ),
  prune: fc.option(fc.constant(pruning), { nil: null, freq: 2 }),
  guard: fc.constant({ results: "cut" as const }),
  compaction: anyCompaction,
});

const anyTurns = fc.array(
  fc.record({
    kind: fc.constantFrom("one", "two", "thought", "overflow"),
    size: fc.integer({ min: 0, max: 6_000 }),
    steer: fc.boolean(),
  }),
  { minLength: 1, maxLength: 10 },
);

const anySummary = fc.constantFrom("good", "long", "empty", "failing", "overflowing");

interface Played {
  records: LogRecord[];
  requests: readonly SeenRequest[];
  session: Awaited<ReturnType<typeof opened>>["session"];
  events: Awaited<ReturnType<typeof opened>>["events"];
  tools: Tool[];
}

async function play(
  context: ContextOptions,
  turns: readonly { kind: string; size: number; steer: boolean }[],
  summaries: string,
): Promise<Played> {
  let at = 0;
  let now: { size: number; steer: boolean } = { size: 0, steer: false };
  const clock = jumpingClock(0.5);
  const page = reader(0, {
    execute: () => {
      clock.pass(50_000 + now.size * 10);
      return words(now.size, `size ${now.size}`);
    },
  });
  let say_: ((text: string) => void) | undefined;
  const model = scripted((request): Turn => {
    if (isSummary(request) || isJoining(request)) {
      if (summaries === "failing") return fail("overloaded");
      if (summaries === "overflowing") return fail("context_overflow");
      if (summaries === "empty") return say("");
      return say(
        summaries === "long" ? words(4_000, "summary") : "What was read so far does not matter any more.",
      );
    }
    const turn = turns[at];
    if (turn === undefined || request.toolChoice === "none") return say("done");
    at += 1;
    now = turn;
    if (turn.steer) say_?.(`steered ${at}`);
    if (turn.kind === "overflow") return fail("context_overflow");
    if (turn.kind === "thought") return [think("I wonder"), call("read")];
    return turn.kind === "two" ? calls([["read"], ["read"]]) : call("read");
  });
  const tools = [page];
  const played = await opened({ model, tools, context, clock, system: "Read." });
  say_ = (text) => played.session.steer(text);
  await played.session.send("Read it all, please.");
  return {
    records: played.records(),
    requests: model.requests,
    session: played.session,
    events: played.events,
    tools,
  };
}

const everyRun = (
  check: (played: Played, context: ContextOptions) => void | Promise<void>,
  runs = 120,
): Promise<void> =>
  fc.assert(
    fc.asyncProperty(anyContext, anyTurns, anySummary, async (context, turns, summaries) =>
      check(await play(context, turns, summaries), context),
    ),
    { numRuns: runs },
  );

describe("for any settings, results and summaries", () => {
  test("P1 is true of the conversation and of every request, and no request exceeds the window by the estimator's own count", async () => {
    const met = new Set<string>();
    await everyRun(({ requests, session, events }, { window = 0 }) => {
      for (const event of events) if (event.type === "context") met.add(event.stage);
      met.add(session.result?.end?.reason ?? "");
      expect(isPaired(session.messages)).toBe(true);
      for (const request of requests) {
        expect(isPaired(request.messages)).toBe(true);
        if (!isSummary(request) && !isJoining(request))
          expect(estimated(request)).toBeLessThanOrEqual(window);
      }
    });
    // What is promised here was put to the test: every stage had something to do.
    expect([...met].sort()).toEqual(["cap", "compaction", "completed", "error", "guard", "prune", "trim"]);
  });

  test("the journal has every permanent change: folding it gives the same conversation, and the replay is the same", () =>
    everyRun(async ({ records, session, tools }, context) => {
      const { rules } = resolve({ model: scripted([]), tools, context });
      expect([...reduceAll(records, rules).history]).toEqual(session.messages);
      const { firstDifference } = await session.replay();
      expect(firstDifference).toBeUndefined();
    }));

  test("messages are in the conversation word for word, once: the task, and steering since the last compaction", () =>
    everyRun(({ records, session }, { compaction }) => {
      const texts = session.messages.map(textOf);
      const compacted = records.findLastIndex(
        (record) => record.type === "compacted" && record.edit !== undefined,
      );
      const cut = records.some((record) => record.type === "trimmed" && record.stage === "guard");
      if (!cut && compaction?.format !== "tagged")
        expect(texts.filter((text) => text === "Read it all, please.")).toHaveLength(1);
      const delivered = records
        .slice(compacted + 1)
        .flatMap((record) => (record.type === "delivered" ? record.ids : []));
      const queued = records.flatMap((record) => (record.type === "queued" ? [record] : []));
      if (!cut)
        for (const { id, message } of queued)
          if (delivered.includes(id))
            expect(texts.filter((text) => text === textOf(message))).toHaveLength(1);
    }));

  test("every compaction that begins also ends, and every changed front was announced by a stage, a note or the tools", () =>
    everyRun(({ events }) => {
      let open = 0;
      let told = false;
      for (const event of events) {
        if (event.type === "compaction_start") open += 1;
        if (event.type === "compaction_end") open -= 1;
        expect(open === 0 || open === 1).toBe(true);
        if (event.type === "context" && event.stage !== "cap") told = true;
        if (event.type !== "request") continue;
        if (event.broke?.startsWith("message ")) {
          expect(event.broke).toMatch(
            /^message \d+ \((trim|guard|compaction|prune|a note shown once|, )+\)$/,
          );
          expect(told || event.broke.includes("prune") || event.broke.includes("note")).toBe(true);
        }
        told = false;
      }
      expect(open).toBe(0);
      expect(only(events, "run_end")).toHaveLength(1);
    }));
});

test("stages that are for one request do not change the conversation, whatever they do", () =>
  fc.assert(
    fc.asyncProperty(anyTurns, fc.integer({ min: 1_500, max: 12_000 }), async (turns, window) => {
      const context: ContextOptions = {
        window,
        cap: null,
        trim: null,
        compaction: null,
        prune: pruning,
        guard: { results: "truncate_and_replace" },
      };
      const plain = turns
        .filter(({ kind }) => kind !== "overflow")
        .map((turn) => ({ ...turn, steer: false }));
      const { records, session } = await play(context, plain, "good");
      expect(records.some(({ type }) => type === "trimmed" || type === "compacted")).toBe(false);
      const results = (messages: readonly Message[]): string[] =>
        messages.flatMap((message) => (message.role === "tool" ? [textOf(message)] : []));
      const finished = records.flatMap((record) =>
        record.type === "tool_finished"
          ? [record.result.content.map((part) => ("text" in part ? part.text : "")).join("")]
          : [],
      );
      expect(results(session.messages)).toEqual(finished);
      expect((await session.replay()).firstDifference).toBeUndefined();
    }),
    { numRuns: 60 },
  ));

test("a run that needs no room is sent its own messages: the same objects at every step", async () => {
  const seen: Message[][] = [];
  const inner = scripted((_, number) => (number < 5 ? call("read") : say("done")));
  const model = {
    ...inner,
    id: inner.id,
    origin: inner.origin,
    call: (...[request, io]: Parameters<typeof inner.call>) => {
      seen.push([...request.messages]);
      return inner.call(request, io);
    },
  };
  const { session } = await opened({ model, tools: [reader(100)], context: { window: 100_000 } });
  await session.send("Read.");
  expect(seen).toHaveLength(5);
  for (const messages of seen)
    for (const [at, message] of messages.entries()) expect(message).toBe(session.messages[at]);
});
