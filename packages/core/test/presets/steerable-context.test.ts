// The steerable preset's guard and pruning, through its options: for one request only, the stored history stays whole.

import {
  Agent,
  type AgentOptions,
  isPaired,
  type Message,
  memoryJournal,
  systemClock,
  textOf,
} from "@rondo/core";
import { steerable } from "@rondo/core/presets";
import { call, calls, fail, type ScriptedModel, say, scripted, stall, type Turn } from "@rondo/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { echo } from "../support.ts";

type Options = Partial<Parameters<typeof steerable>[0]>;

const resultsIn = (messages: readonly Message[]): string[] =>
  messages.flatMap((message) => (message.role === "tool" ? [textOf(message)] : []));
const lengths = (messages: readonly Message[]): number[] => resultsIn(messages).map((text) => text.length);

/** A window of 10,000 tokens: one result may take 5,000 characters, all 36,000, results counted twice. */
function agentOf(
  script: readonly Turn[],
  characters: number,
  options: Options = {},
): [AgentOptions, ScriptedModel] {
  const model = scripted(script, { facts: { contextWindow: 10_000 } });
  const tools = [echo("read", { execute: () => "x".repeat(characters) })];
  return [steerable({ model, tools, ...options }), model];
}

async function run(script: readonly Turn[], characters: number, options: Options = {}) {
  const [agent, model] = agentOf(script, characters, options);
  const result = await new Agent(agent).run("go");
  expect(isPaired(result.messages)).toBe(true);
  for (const request of model.requests) expect(isPaired(request.messages)).toBe(true);
  return { result, model };
}

const fourReads = calls([["read"], ["read"], ["read"], ["read"]]);

describe("the guard, which is on", () => {
  test("C4.36 a result that is too large by itself is shortened for the request and stays complete in the history", async () => {
    const { result, model } = await run([call("read"), say("done")], 12_000);
    const [shown = ""] = resultsIn(model.lastRequest.messages);
    expect(shown).toMatch(/^x+\[\.\.\. \d+ more characters truncated\]$/);
    expect(shown.length).toBeLessThanOrEqual(5_000);
    expect([lengths(result.messages), result.text]).toEqual([[12_000], "done"]);
  });

  test("C4.36 what still does not fit is not sent: older results are never rewritten, and the run ends with the error", async () => {
    const { result, model } = await run([fourReads, say("done")], 4_900);
    expect(result.end).toMatchObject({
      reason: "error",
      rule: "guard",
      error: {
        kind: "context_overflow",
        message: "Context overflow: estimated context size exceeds safe threshold during tool loop.",
      },
    });
    expect([model.calls, lengths(result.messages)]).toEqual([1, [4_900, 4_900, 4_900, 4_900]]);
  });

  test("C4.33 only the messages are counted, not the system prompt or the tools", async () => {
    const { result, model } = await run([call("read"), say("done")], 100, { system: "x".repeat(50_000) });
    expect([result.end?.reason, model.calls]).toEqual(["completed", 2]);
  });

  test("C4.35 the first version also clears the oldest results, and has texts of its own if that is not enough", async () => {
    const guard = { results: "truncate_and_replace" } as const;
    const cleared = "[compacted: tool output removed to free context]";
    const { result, model } = await run([fourReads, say("done")], 4_900, { guard });
    expect(resultsIn(model.lastRequest.messages).map((text) => text === cleared)).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect([lengths(result.messages), result.text]).toEqual([[4_900, 4_900, 4_900, 4_900], "done"]);
    const full = await run([[say("y".repeat(36_100)), call("read")], say("done")], 10, { guard });
    expect([full.model.calls, full.result.end?.error?.message]).toEqual([
      1,
      "Preemptive context overflow: estimated context size exceeds safe threshold during tool loop",
    ]);
  });

  test("C4.32 null removes it, and it does nothing if the window is unknown", async () => {
    const off = await run([fourReads, say("done")], 12_000, { guard: null });
    expect(lengths(off.model.lastRequest.messages)).toEqual([12_000, 12_000, 12_000, 12_000]);
    const model = scripted([call("read"), say("done")]);
    const tools = [echo("read", { execute: () => "x".repeat(900_000) })];
    await new Agent(steerable({ model, tools })).run("go");
    expect(lengths(model.lastRequest.messages)).toEqual([900_000]);
  });
});

describe("pruning, which is off by default", () => {
  test("C5.38 C5.40 once the cache has expired old results are cut for one request, and the next one has them again", async () => {
    for (const prune of [undefined, { mode: "cache-ttl", ttl: "5m", keepLastAssistants: 1 }]) {
      let now = 1_000_000;
      const clock = { ...systemClock, now: () => now };
      const script = [call("read"), say("one"), say("two"), say("three")];
      const [agent, model] = agentOf(script, 4_900, {
        clock,
        guard: null,
        ...(prune === undefined ? {} : { prune }),
      });
      const session = await new Agent({ ...agent, context: { ...agent.context, window: 4_000 } }).open("s");
      await session.send("first");
      now += 6 * 60_000;
      await session.send("second");
      const pruned = resultsIn(model.lastRequest.messages)[0] ?? "";
      await session.send("third");
      const again = resultsIn(model.lastRequest.messages)[0] ?? "";
      const note = "[Tool result trimmed: kept first 1500 chars and last 1500 chars of 4900 chars.]";
      expect([pruned.endsWith(note), lengths(session.messages), isPaired(session.messages)]).toEqual([
        prune !== undefined,
        [4_900],
        true,
      ]);
      expect(again).toHaveLength(4_900);
    }
  });

  test("C5.40 a failed request left no cache: repeated, by a retry or after a crash, it is cut as before", async () => {
    let now = 1_000_000;
    const clock = {
      ...systemClock,
      now: () => now,
      after: (ms: number, then: () => void) => systemClock.after(Math.min(ms, 1), then),
    };
    const journal = memoryJournal();
    const open = async (script: readonly Turn[], options: object) => {
      const [agent, model] = agentOf(script, 4_900, {
        clock,
        journal,
        guard: null,
        prune: { mode: "cache-ttl", keepLastAssistants: 1 },
      });
      const context = { ...agent.context, window: 4_000 };
      return { session: await new Agent({ ...agent, ...options, context }).open("s"), model };
    };
    const script = [call("read"), say("one"), fail("overloaded"), stall()];
    const { session, model } = await open(script, { retry: { baseMs: 0 } });
    await session.send("first");
    now += 6 * 60_000;
    session.send("second").catch(() => {});
    // The one that crashed lives in this process, and its clock would go on for ever.
    onTestFinished(() => session.abort());
    await expect.poll(() => model.calls).toBe(4);
    const after = await open([say("two")], {});
    await after.session.resume();
    const requests = [...model.requests.slice(-2), ...after.model.requests];
    expect(requests.map(({ messages }) => lengths(messages))).toEqual([[3_086], [3_086], [3_086]]);
  });
});
