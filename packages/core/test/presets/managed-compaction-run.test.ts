// The tagged compaction in a run of the managed context: when it is due, what it is asked with, what the events say.

import { type ContextOptions, DoneSignal, type Message, memoryJournal, textOf } from "@rondo/core";
import type { AgentEvent } from "@rondo/core/presets";
import { call, fail, hold, type SeenRequest, say, scripted, type Turn, usage } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { isSummary, opened, reader, recordsOf, words } from "../context/run-support.ts";
import { doing, only, play, typesOf } from "./managed-support.ts";

const tagged: ContextOptions = {
  cap: null,
  window: 10_000,
  trim: null,
  compaction: { format: "tagged", at: 0.8 },
};

const spent = (tokens: number): Turn => usage({ inputTokens: tokens - 10, outputTokens: 10 });

const good = "<retain>src/a.ts</retain><summary>Two pages were read.</summary>";

/** Answers in order, summaries apart. */
function model(turns: readonly Turn[], sum: () => Turn = () => [say(good), spent(500)]) {
  let at = 0;
  return scripted((request: SeenRequest) => {
    if (isSummary(request)) return sum();
    at += 1;
    return turns[at - 1] ?? say("done");
  });
}

const compactions = (events: readonly AgentEvent[]): (boolean | string)[] =>
  events.flatMap<boolean | string>((event) => {
    if (event.type === "compaction_start") return ["start"];
    return event.type === "compaction_complete" ? [event.compacted] : [];
  });

const run = (turns: readonly Turn[], context = tagged, sum?: () => Turn, input = "go") =>
  play({ model: model(turns, sum), tools: [reader(100)], context }, { input });

describe("when a compaction is due", () => {
  test.each([
    ["one token less than the share", [[call("read"), spent(7_999)], say("done")], []],
    ["exactly the share", [[call("read"), spent(8_000)], say("done")], ["start", true]],
    [
      "more of it together, less each time",
      [[call("read"), spent(7_000)], [call("read"), spent(7_000)], say("done")],
      [],
    ],
    [
      "more before, less with the last call",
      [
        [call("read"), spent(7_999)],
        [call("read"), spent(300)],
        [say("done"), spent(310)],
      ],
      [],
    ],
  ] as const)("D8.38 the last call's usage decides: %s", async (_name, turns, expected) => {
    const { events } = await run(turns as readonly Turn[]);
    expect(compactions(events)).toEqual(expected);
  });

  test("D8.38 an answer without a usage resets it: nothing is due, however long the history is", async () => {
    const { events } = await play({
      model: model([call("read"), call("read")]),
      tools: [reader(4_200)],
      context: tagged,
    });
    expect(compactions(events)).toEqual([]);
  });

  test("D8.38 a compaction's own call is a last call too, and its usage is added to the others", async () => {
    const played = await opened({
      model: model([
        [call("read"), spent(8_500)],
        [say("done"), spent(600)],
      ]),
      tools: [reader(100)],
      context: tagged,
    });
    const seen: (number | undefined)[] = [];
    played.session.subscribe((event) => {
      if (event.type === "compaction_end") seen.push(played.session.state.lastTokens);
    });
    const { usage: used } = await played.session.send("go");
    expect(seen).toEqual([500]);
    expect(used.inputTokens).toBe(8_490 + 490 + 590);
  });

  test("D8.44 tool outputs are trimmed before the check, and before the summary is asked for", async () => {
    const asked: SeenRequest[] = [];
    let at = 0;
    const mind = scripted((request) => {
      asked.push(request);
      if (isSummary(request)) return [say(good), spent(500)];
      at += 1;
      return at <= 3 ? [call("read"), spent(at === 3 ? 9_000 : 100)] : say("done");
    });
    const { records, session } = await opened({
      model: mind,
      tools: [reader(2_000)],
      context: { ...tagged, trim: { budgetTokens: 5_000 } },
    });
    await session.send("go");
    const order = records().flatMap(({ type }) =>
      /^(trimmed|mode|summary_started|compacted)$/.test(type) ? [type] : [],
    );
    expect(order.slice(0, 4)).toEqual(["trimmed", "mode", "summary_started", "compacted"]);
    expect(textOf(asked.find(isSummary)?.messages[0] as Message)).toContain("[tool output trimmed]");
  });

  test("D2.9 if a tool ended the run nothing is due, nor because of it before the next answer", async () => {
    const done = doing("done", () => new DoneSignal("Shipped."));
    const managed = {
      model: model([
        [call("done"), spent(9_000)],
        [say("hello"), spent(9_100)],
      ]),
      tools: [done],
      context: tagged,
    };
    const agent = { journal: memoryJournal() };
    const seen = async () => (await play(managed, { agent, run: { session: "s" } })).events;
    expect(compactions(await seen())).toEqual([]);
    expect(compactions(await seen())).toEqual(["start", true]);
    expect(managed.model.requests.map(isSummary)).toEqual([false, false, true]);
  });
});

describe("the summarising call", () => {
  test.each([100, 1_000, 100_000])(
    "D8.41 is one, for all of the history, in a window of %i tokens",
    async (window) => {
      const asked = (): number => main.requests.filter(isSummary).length;
      const turns = [1, 2, 3].map((): Turn => [say("Reading on."), call("read"), spent(window * 0.1)]);
      const main = model([...turns, [call("read"), spent(window * 0.9)], say("done")]);
      const { events } = await play({
        model: main,
        tools: [reader(window / 10)],
        context: { ...tagged, window },
      });
      expect([compactions(events), asked()]).toEqual([["start", true], 1]);
    },
  );

  test("D8.41 has no tools and may call none, and uses the model that was set for it", async () => {
    const own = scripted(() => [say(good), spent(400)], { id: "own" });
    const main = model([[call("read"), spent(8_000)], say("done")]);
    const { events } = await play({
      model: main,
      tools: [reader(100)],
      context: { ...tagged, compaction: { format: "tagged", at: 0.8, model: own } },
    });
    expect(compactions(events)).toEqual(["start", true]);
    expect(own.requests.map(({ tools, toolChoice }) => [tools, toolChoice])).toEqual([[[], "none"]]);
    expect(main.requests.some(isSummary)).toBe(false);
    expect(main.requests[0]?.tools).not.toEqual([]);
  });

  test.each(["invalid_request", "server_error", "context_overflow"] as const)(
    "D8.41 D8.44 that fails (%s) leaves the history as it is: compacted is false, and the run continues",
    async (kind) => {
      const turns = [[call("read"), spent(8_000)], say("done")];
      const { events, result } = await run(turns, tagged, () => fail(kind));
      expect(compactions(events)).toEqual(["start", false]);
      expect(only(events, "final").map(({ content }) => content)).toEqual(["done"]);
      expect(result?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
    },
  );

  test("D8.41 an abort is not such a failure: it ends the run", async () => {
    const gate = hold(say(good));
    const { session, records } = await opened({
      model: model([[call("read"), spent(8_000)], say("never")], () => gate),
      tools: [reader(100)],
      context: tagged,
      abortGraceMs: 50,
    });
    const running = session.send("go");
    await gate.reached;
    session.abort("enough");
    expect((await running).end?.reason).toBe("aborted");
    expect(recordsOf(records(), "compacted")).toEqual([]);
  });

  test("D8.42 D8.44 without a summary compacts nothing, and its usage is counted", async () => {
    const turns = [
      [call("read"), spent(8_000)],
      [say("done"), spent(100)],
    ];
    const { events, result } = await run(turns, tagged, () => [
      say("<retain> </retain><summary>\n</summary>"),
      spent(700),
    ]);
    expect(compactions(events)).toEqual(["start", false]);
    expect(result?.usage.inputTokens).toBe(7_990 + 690 + 90);
    expect(result?.messages).toHaveLength(4);
  });

  test("D8.42 D8.43 with its tags leaves a retain and a summary message, and then the last texts", async () => {
    const turns = [
      [call("read"), spent(8_000)],
      [say("done"), spent(100)],
    ];
    const { result } = await run(turns, tagged, undefined, words(300, "Read the pages."));
    const texts = result?.messages.map(textOf) ?? [];
    expect(texts[0]).toBe("[codelia.compaction.retain]\nsrc/a.ts");
    expect(texts[1]).toBe("[codelia.compaction.summary]\nTwo pages were read.");
    expect(texts.at(-1)).toBe("done");
  });
});

describe("the events", () => {
  test("D8.44 are compaction_start and then compaction_complete, between two model calls", async () => {
    const { events } = await run([
      [call("read"), spent(8_000)],
      [say("done"), spent(100)],
    ]);
    const types = typesOf(events);
    const start = types.indexOf("compaction_start");
    expect(types[start + 1]).toBe("compaction_complete");
    expect(types.lastIndexOf("tool_result")).toBeLessThan(start);
    expect(types.indexOf("final")).toBeGreaterThan(start);
    expect(only(events, "compaction_complete")[0]).toMatchObject({
      compacted: true,
      timestamp: expect.any(Number),
    });
  });

  test("D8.44 come also if nothing changed: there was nothing to summarise", async () => {
    const { session, events } = await opened({ model: model([]), tools: [reader(100)], context: tagged });
    await session.compact();
    expect(events.map(({ type }) => type).filter((type) => type.startsWith("compaction"))).toEqual([
      "compaction_start",
      "compaction_end",
    ]);
  });
});
