// A history too long for one summary, and one for which there is no summary.

import {
  applyEdit,
  assemble,
  type CompactionOptions,
  compactionSettings,
  emptyLedger,
  failureNote,
  type Message,
  mustPreserve,
  planCompaction,
  pruneToShare,
  stagedBounds,
  summaryRequest,
  textOf,
} from "@rondo/core";
import { describe, expect, test } from "vitest";
import { chunkRatio, isTooLargeToRead, splitInParts } from "../../src/context/compact/in-parts.ts";
import { answer, compacted, quarter, result, system, textsOf, user } from "./compact-support.ts";

const estimator = quarter;
const pieces = (count: number, tokens: number) =>
  Array.from({ length: count }, (_, index) => ({ index, tokens }));

/** A conversation of so many exchanges, each about 1,000 tokens. */
const talk = (exchanges: number): Message[] =>
  Array.from({ length: exchanges }, (_, at) => [
    user(`question ${at} ${"q".repeat(2000)}`),
    answer(`answer ${at} ${"a".repeat(2000)}`),
  ]).flat();

function staged(exchanges: number, window: number, options: CompactionOptions = {}) {
  const history = [...talk(exchanges), user("and now?")];
  const settings = compactionSettings({ summaryMaxTokens: 1000, ...options });
  const plan = planCompaction(history, settings, { estimator, window: 200_000, summariserWindow: window });
  if (plan === undefined) throw new Error("no plan");
  return { history, settings, plan };
}

describe("parts", () => {
  test("C10.66 the limits: safety 1.2, chunks of 0.4 down to 0.15, 2 parts, 4 messages, 4,096 tokens of overhead, 3 attempts", () => {
    expect(stagedBounds).toEqual({
      safety: 1.2,
      baseChunk: 0.4,
      minChunk: 0.15,
      parts: 2,
      minMessagesToSplit: 4,
      overheadTokens: 4096,
      oversized: 0.5,
      attempts: 3,
      minWaitMs: 500,
      maxWaitMs: 5000,
      jitter: 0.2,
    });
  });

  test("C10.66 chunks are 0.4 of the window, and smaller for larger messages, down to 0.15", () => {
    expect(chunkRatio([], 100_000)).toBe(0.4);
    // 1.2 times the average is a tenth of the window: still all of it.
    expect(chunkRatio(pieces(4, 8333), 100_000)).toBe(0.4);
    expect(chunkRatio(pieces(4, 10_000), 100_000)).toBeCloseTo(0.4 - 0.24 + 0, 10);
    expect(chunkRatio(pieces(4, 50_000), 100_000)).toBeCloseTo(0.15, 10);
  });

  test("C10.66 a part has at most its chunk minus the overhead, divided by 1.2", () => {
    const window = 100_000;
    const parts = splitInParts(pieces(200, 1000), window, 1000);
    const room = (window * 0.4 - 4096) / 1.2;
    expect(Math.max(...parts.map(({ from, to }) => (to - from) * 1000))).toBe(Math.floor(room / 1000) * 1000);
    expect(parts[0]?.from).toBe(0);
    expect(parts.at(-1)?.to).toBe(200);
    for (const [at, part] of parts.entries()) expect(part.from).toBe(at === 0 ? 0 : parts[at - 1]?.to);
  });

  test("in a small window a part is as large as fits, however large its messages are", () => {
    // A fifteenth of the window each, which would have a call of its own.
    expect(splitInParts(pieces(12, 600), 9_000, 1_000).length).toBe(2);
    expect(splitInParts(pieces(40, 1_000), 41_000, 8_192).length).toBe(3);
    for (const { from, to } of splitInParts(pieces(60, 900), 16_000, 2_000))
      expect((to - from) * 900 * stagedBounds.safety).toBeLessThanOrEqual(16_000 - 4_096 - 2_000);
  });

  test("C10.66 a text that fits is one part, any other at least two; fewer than four messages are not split", () => {
    expect(splitInParts(pieces(50, 1000), 100_000, 1000)).toHaveLength(1);
    expect(splitInParts(pieces(4, 21_000), 100_000, 1000).length).toBeGreaterThanOrEqual(2);
    expect(splitInParts(pieces(3, 40_000), 100_000, 1000)).toEqual([{ from: 0, to: 3 }]);
    expect(splitInParts([], 100_000, 1000)).toEqual([]);
  });

  test("C10.66 a message whose size times 1.2 is over half the window is left out and named", () => {
    expect(isTooLargeToRead(41_666, 100_000)).toBe(false);
    expect(isTooLargeToRead(41_667, 100_000)).toBe(true);
    const history = [
      user("task"),
      user("u".repeat(200_000)),
      answer("read"),
      user("so?"),
      answer("well"),
      user("and now?"),
    ];
    const settings = compactionSettings();
    const plan = planCompaction(history, settings, { estimator, window: 60_000 });
    if (plan === undefined) throw new Error("no plan");
    const note = "[Large user (~50K tokens) omitted from summary]";
    expect(plan.omitted).toEqual([{ index: 1, note }]);
    const asked = textsOf(summaryRequest(history, plan, 0, [], emptyLedger, settings).messages);
    expect(asked).toContain(note);
    expect(asked).not.toContain("uuuu");
    const after = compacted(history, plan, ["<summary>a long story in short</summary>"], settings) ?? [];
    expect(textOf(after[1] as Message)).toContain(`a long story in short\n\n${note}`);
  });
});

describe("in parts", () => {
  test("C10.66 each part is summarised alone, and one more call joins the summaries", () => {
    const { history, settings, plan } = staged(30, 20_000);
    expect(plan.parts.length).toBeGreaterThan(1);
    expect(plan.calls).toBe(plan.parts.length + 1);
    const seen: string[] = [];
    plan.parts.forEach((part, call) => {
      const asked = textsOf(summaryRequest(history, plan, call, [], emptyLedger, settings).messages);
      expect(asked).toContain(`Part ${call + 1} of ${plan.parts.length} of a conversation`);
      for (let at = part.from; at < part.to; at += 1) {
        const said = `${at % 2 === 0 ? "question" : "answer"} ${Math.floor(at / 2)} `;
        if (asked.includes(said)) seen.push(said);
      }
    });
    expect(seen).toHaveLength(60);
    const answers = plan.parts.map((_, at) => `<summary>what happened in part ${at + 1}</summary>`);
    const joining = textsOf(
      summaryRequest(history, plan, plan.parts.length, answers, emptyLedger, settings).messages,
    );
    for (const at of plan.parts.keys()) expect(joining).toContain(`what happened in part ${at + 1}`);
    expect(joining).not.toContain("question 1 ");
  });

  test("C10.66 the joining call names what must be kept", () => {
    const { history, settings, plan } = staged(30, 20_000);
    const answers = plan.parts.map(() => "");
    const asked = textsOf(
      summaryRequest(history, plan, plan.parts.length, answers, emptyLedger, settings).messages,
    );
    expect(mustPreserve.length).toBeGreaterThanOrEqual(6);
    expect(asked).toContain(`MUST PRESERVE:\n${mustPreserve.map((one) => `- ${one}`).join("\n")}`);
    // A part that came to nothing.
    expect(asked).toContain(`[summary of part 1 of ${plan.parts.length}]\nNo prior history.\n`);
  });

  test("the last answer is the summary; if one call is missing there is none", () => {
    const { history, settings, plan } = staged(30, 20_000);
    const answers = plan.parts.map(() => "<summary>a part of the story</summary>");
    expect(assemble(history, plan, answers, emptyLedger, settings, estimator)).toMatchObject({
      unchanged: "no_summary",
    });
    const after =
      compacted(history, plan, [...answers, "<summary>the whole of the story</summary>"], settings) ?? [];
    expect(textOf(after[1] as Message)).toContain("the whole of the story");
    expect(textOf(after[1] as Message)).not.toContain("a part of the story");
  });

  test("every request fits the window for which it was planned", () => {
    const { history, settings, plan } = staged(80, 16_000);
    plan.parts.forEach((_, call) => {
      const messages = [...summaryRequest(history, plan, call, [], emptyLedger, settings).messages];
      expect(messages.reduce((sum, message) => sum + quarter(message), 0) + 1000).toBeLessThan(16_000);
    });
  });
});

describe("without a summary", () => {
  test.each([
    ["note", "Context contained 61 messages (0 oversized). Summary unavailable due to size limits."],
    ["keep", undefined],
  ] as const)("C10.66 after all attempts failed, onFailure %s leaves %j", (onFailure, note) => {
    const { history, settings, plan } = staged(30, 100_000, { onFailure });
    const made = assemble(history, plan, [], emptyLedger, settings, estimator);
    if (note === undefined) expect(made).toMatchObject({ unchanged: "no_summary" });
    else {
      expect(failureNote(plan)).toBe(note);
      const after = "edit" in made ? applyEdit(history, made.edit) : [];
      expect(textOf(after[1] as Message)).toContain(note);
      expect(after.at(-1)).toEqual(user("and now?"));
    }
  });

  test("a note in place of a summary keeps the content of an earlier memory", () => {
    const settings = compactionSettings({ onFailure: "note" });
    const plan = (history: readonly Message[]) => {
      const made = planCompaction(history, settings, { estimator, window: 10_000 });
      if (made === undefined) throw new Error("no plan");
      return made;
    };
    const first = [...talk(6), user("and now?")];
    const answers = Array.from(
      { length: plan(first).calls },
      () => "<summary>the early story</summary><done>- step one</done>",
    );
    const once = compacted(first, plan(first), answers, settings) ?? [];
    const later = [...once, ...talk(6).slice(1), user("and then?")];
    const memory = textOf((compacted(later, plan(later), [], settings) ?? [])[1] as Message);
    expect(memory).toContain(`the early story\n\n${failureNote(plan(later))}`);
    expect(memory).toContain("- step one");
  });

  test("C10.66 if everything is too large for a summariser, no model is called", () => {
    const history = [
      answer("a".repeat(50_000)),
      user("b".repeat(100)),
      answer("c".repeat(50_000)),
      user("now?"),
    ];
    const facts = { estimator, window: 40_000, summariserWindow: 20 };
    expect(planCompaction(history, compactionSettings(), facts)).toBeUndefined();
    const plan = planCompaction(history, compactionSettings({ onFailure: "note" }), facts);
    expect(plan).toMatchObject({ calls: 0, parts: [] });
  });

  test("C10.67 the oldest halves are dropped until the rest fits half the window, in whole rounds", () => {
    const history: Message[] = [
      system("rules"),
      ...Array.from({ length: 8 }, (_, at) => [
        answer("", `c${at}`, `d${at}`),
        result(`c${at}`, "x".repeat(1800)),
        result(`d${at}`, "y".repeat(1800)),
      ]).flat(),
    ];
    const total = history.reduce((sum, message) => sum + quarter(message), 0);
    const pruned = pruneToShare(history, { window: 6000, estimator });
    expect(pruned.budgetTokens).toBe(3000);
    expect(total).toBeGreaterThan(7000);
    const kept = applyEdit(history, pruned.edit);
    // Eight rounds: four go, then two of the four that are left.
    expect(kept).toEqual([history[0], ...history.slice(-6)]);
    expect(pruned).toMatchObject({ droppedMessages: 18, droppedTokens: total - pruned.keptTokens });
    expect(pruned.keptTokens).toBeLessThanOrEqual(3000);
  });

  test("C10.67 a history that fits is unchanged; pinned messages stay; the last round is never dropped", () => {
    const history = [user("task"), answer("x".repeat(4000)), user("more"), answer("y".repeat(4000))];
    expect(pruneToShare(history, { window: 100_000, estimator }).edit).toEqual([{ keep: [0, 4] }]);
    const pruned = pruneToShare(history, { window: 100, estimator, pinned: [0, 2] });
    expect(applyEdit(history, pruned.edit)).toEqual([history[0], history[2], history[3]]);
  });
});
