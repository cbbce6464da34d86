// A process may die at any record around a trimming or a compaction: whoever opens the session goes on to the same end.

import {
  Agent,
  type ContextOptions,
  type LogRecord,
  type Message,
  memoryJournal,
  type Session,
  textOf,
} from "@rondo/core";
import { call, fail, type SeenRequest, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { jumpingClock } from "../support.ts";
import { isJoining, isSummary, reader, recordsOf, words } from "./run-support.ts";

/** Answers by what it is shown alone, so that it says the same after a crash. */
function mind(pages: number): (request: SeenRequest) => ReturnType<typeof say> {
  return (request) => {
    if (isSummary(request) || isJoining(request))
      return say(`The pages up to ${lastPage(request)} were read, and nothing else happened.`);
    const page = lastPage(request);
    return page < pages ? call("read", { page: page + 1 }) : say("all read");
  };
}

const lastPage = (request: SeenRequest): number =>
  Math.max(
    0,
    ...[...JSON.stringify(request.messages).matchAll(/(?:page|up to) (\d+)/g)].map(([, page]) =>
      Number(page),
    ),
  );

const pages = reader(0, {
  inputSchema: { type: "object", properties: { page: { type: "integer" } }, required: ["page"] },
  execute: (args: unknown) => words(2_000, `page ${(args as { page: number }).page}`),
});

const cases: { [name: string]: ContextOptions } = {
  "a compaction at half of the window": { window: 10_000, trim: null, compaction: { at: 0.5 } },
  "a compaction and trimming": { window: 10_000, trim: { budgetTokens: 5_000 }, compaction: { at: 0.5 } },
  "the tagged format, also at the end": {
    window: 10_000,
    trim: { budgetTokens: 6_000, to: 1, keep: "none" },
    compaction: { format: "tagged", at: 0.2 },
  },
  "the guard alone": { window: 5_000, trim: null, compaction: null },
};

function agentOf(context: ContextOptions, journal = memoryJournal()): Agent {
  const model = scripted((request) => mind(6)(request), { usage: { inputTokens: 4_000, outputTokens: 20 } });
  return new Agent({
    model,
    tools: [pages],
    repeats: null,
    journal,
    clock: jumpingClock(0.5),
    context: { cap: null, ...context },
  });
}

/** What came of a session: the end, the text, and the conversation without what only a crash explains. */
function outcome(session: Session): unknown {
  const { end, text } = session.result ?? {};
  return { reason: end?.reason, text, messages: session.messages.map((message: Message) => textOf(message)) };
}

describe.each(Object.entries(cases))("with %s", (_name, context) => {
  test("folding any prefix and continuing gives the same end, text and conversation, and the replay is the same", async () => {
    const journal = memoryJournal();
    const whole = (await agentOf(context, journal).open("whole")) as Session;
    await whole.send("Read every page.");
    const records = journal.read("whole");
    expect(outcome(whole)).toMatchObject({ reason: "completed", text: "all read" });
    const expected =
      context.compaction === null ? recordsOf(records, "trimmed") : recordsOf(records, "compacted");
    expect(expected.length).toBeGreaterThan(0);
    for (let length = 1; length < records.length; length += 1) {
      const cut = memoryJournal();
      cut.append("cut", 0, records.slice(0, length) as LogRecord[]);
      const session = (await agentOf(context, cut).open("cut")) as Session;
      await session.resume();
      expect(outcome(session), `cut after ${length} of ${records.length} records`).toEqual(outcome(whole));
      expect((await session.replay()).firstDifference, `cut after ${length}`).toBeUndefined();
    }
  });
});

test("a crash between the attempts at a summary does not use up an attempt", async () => {
  const journal = memoryJournal();
  let sums = 0;
  const failing = scripted((request) => {
    if (!isSummary(request)) return mind(6)(request);
    sums += 1;
    return fail("overloaded");
  });
  const options = {
    tools: [pages],
    repeats: null,
    clock: jumpingClock(0.5),
    context: { cap: null, window: 10_000, trim: null } as const,
  };
  const first = (await new Agent({ model: failing, journal, ...options }).open("s")) as Session;
  await first.send("Read.");
  expect(sums).toBeGreaterThanOrEqual(3);
  const records = journal.read("s");
  const second = records.findIndex((record) => record.type === "summary_started" && record.attempt === 2);
  const cut = memoryJournal();
  cut.append("s", 0, records.slice(0, second + 1) as LogRecord[]);
  const model = scripted((request) => mind(6)(request));
  const session = (await new Agent({ model, journal: cut, ...options }).open("s")) as Session;
  await session.resume();
  const attempts = recordsOf(cut.read("s"), "summary_started").map(({ attempt }) => attempt);
  expect(attempts.slice(0, 3)).toEqual([1, 2, 2]);
  expect(session.result?.end?.reason).toBe("completed");
});
