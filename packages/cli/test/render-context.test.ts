// What the stages of the context did is told step by step, in words and numbers, afterwards and live.

import { Agent, type LogRecord, memoryJournal, type RondoEvent, textOf, tool } from "@rondo/core";
import { call, fail, say, scripted } from "@rondo/testkit";
import { describe, expect, it } from "vitest";
import { plain } from "../src/console/console.ts";
import { LiveView } from "../src/render/live.ts";
import { renderRun } from "../src/render/run.ts";

/** A real run in which every stage acts: what was recorded, and what a watcher saw. */
async function run(summary: () => ReturnType<typeof say> | ReturnType<typeof fail>) {
  let time = 1_700_000_000_000;
  const clock = {
    now: () => time,
    random: () => 0.5,
    after(ms: number, then: () => void) {
      const timer = setImmediate(() => {
        time += ms;
        then();
      });
      return () => clearImmediate(timer);
    },
  };
  const page = tool({
    name: "page",
    description: "A page",
    inputSchema: { type: "object", properties: {} },
    effect: "read",
    execute: () => {
      time += 60_000;
      return "a line of words\n".repeat(700);
    },
  });
  let read = 0;
  const model = scripted((request) => {
    const first = request.messages[0];
    if (first !== undefined && textOf(first).includes("material to summarize")) return summary();
    read += 1;
    return read <= 8 ? call("page") : say("all read");
  });
  const journal = memoryJournal();
  let screen = "";
  const write = (piece: string): void => {
    screen += piece;
  };
  const view = new LiveView({ write, paint: plain, width: 80, reasoning: false, approvals: true });
  const events: RondoEvent[] = [];
  const agent = new Agent({
    model,
    tools: [page],
    journal,
    repeats: null,
    clock,
    context: {
      window: 10_000,
      cap: { bytes: 8_000 },
      trim: { budgetTokens: 5_000, to: 0.8 },
      prune: {
        mode: "cache-ttl",
        ttl: "30s",
        keepLastAssistants: 1,
        softTrimRatio: 0.1,
        minPrunableToolChars: 100,
      },
      compaction: { at: 0.45 },
    },
  });
  await agent.run("Read all pages.", {
    session: "s",
    onEvent: (event) => {
      events.push(event);
      view.hear(event);
    },
  });
  return { shown: renderRun(journal.read("s") as LogRecord[]), screen, events };
}

describe("a run in a small window", () => {
  it("is shown with each result that was cut, each trimming, pruning and compaction, its sizes and its summary", async () => {
    const { shown } = await run(() => say("Eight pages of words, nothing else."));
    expect(shown).toMatch(/cut from 11,200 bytes in 701 lines to [\d,]+ bytes; kept whole as out_\w+\n/);
    expect(shown).toMatch(/trim +about [\d,]+ tokens became [\d,]+ tokens: \d+ old results? trimmed/);
    expect(shown).toMatch(/prune +about [\d,]+ tokens became [\d,]+ tokens: /);
    expect(shown).toMatch(/compaction +decided on.*compaction/);
    expect(shown).toContain("part 1 of 1 asked for");
    expect(shown).toContain("Eight pages of words, nothing else.");
    expect(shown).toMatch(/compacted +about [\d,]+ tokens became [\d,]+ tokens: \d+ messages/);
    expect(shown).toMatch(/the prefix of the requests before it broke: message \d+ \([a-z, ]*compaction/);
  });

  it("is watched with a line for each stage that acted, in the words of its event", async () => {
    const { screen, events } = await run(() => say("Eight pages of words, nothing else."));
    const flat = screen.replace(/\s+/g, " ");
    const names = {
      cap: "one result cut",
      trim: "old results trimmed",
      prune: "pruned for this request",
      guard: "cut to fit the window",
      compaction: "history compacted",
    };
    const seen = new Set<string>();
    for (const event of events)
      if (event.type === "context") {
        seen.add(event.stage);
        expect(flat).toContain(`${names[event.stage]}, about`);
        expect(flat).toContain(event.note.replace(/\s+/g, " "));
      }
    expect([...seen].sort()).toEqual(["cap", "compaction", "prune", "trim"]);
    expect(flat).toContain("the history is summed up (rule compaction)");
  });

  it("says of a summary that failed what was wrong, and that the history stays as it was", async () => {
    const { shown, screen } = await run(() => fail("invalid_request", { message: "no such model" }));
    expect(shown).toContain("no such model");
    expect(shown).toMatch(
      /as it was +about [\d,]+ tokens: the model gave no summary: the history stays as it is/,
    );
    expect(screen).toContain("no such model");
  });
});
