// The managed context's own stages, through the preset: what is cut and kept, what is trimmed, what is summed up and when.

import {
  Agent,
  isPaired,
  type Message,
  type ModelFacts,
  memoryBlobs,
  memoryJournal,
  type RondoEvent,
  resolve,
  type Tool,
  textOf,
  tool,
} from "@rondo/core";
import { type AgentEvent, type ManagedContextOptions, managedContext } from "@rondo/core/presets";
import { call, calls, type ScriptedModel, say, scripted, type Turn, usage } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { shortly } from "../support.ts";
import { doing, finalIn, play, resultsOf, typesOf } from "./managed-support.ts";

const facts = (options: Partial<ManagedContextOptions> = {}) =>
  resolve(managedContext({ model: scripted([]), tools: [doing("look", () => "")], ...options })).options
    .context;

/** A tool that gives `length` characters in lines of 50. */
const flood = (length: number, name = "flood"): Tool =>
  doing(name, () => `${"x".repeat(49)}\n`.repeat(length / 50));
const counted = (tokens: number, ...turn: Turn[]): Turn => [
  ...turn,
  usage({ inputTokens: tokens, outputTokens: 0 }),
];
const summary = say("<retain>k1</retain><summary>so far</summary>");
const memory = ["[codelia.compaction.retain]\nk1", "[codelia.compaction.summary]\nso far"];

/** A model with a window that plays turns, and sums up whenever it is asked to. */
function summing(
  turns: readonly Turn[],
  known: ModelFacts = { contextWindow: 1_000 },
  words: Turn = summary,
): ScriptedModel {
  let at = 0;
  const isSummary = (messages: readonly Message[]): boolean =>
    messages.some((one) => textOf(one).includes("You are summarizing the conversation"));
  return scripted(({ messages }) => (isSummary(messages) ? words : (turns[at++] as Turn)), {
    facts: known,
  });
}

const stagesOf = (events: readonly RondoEvent[]): string[] =>
  events.flatMap((event) =>
    event.type === "context" && event.stage !== "compaction"
      ? [event.stage]
      : event.type.startsWith("compaction_") || event.type === "message"
        ? [event.type]
        : [],
  );

async function heard(options: ManagedContextOptions): Promise<{ events: RondoEvent[]; messages: Message[] }> {
  const events: RondoEvent[] = [];
  const { messages } = await new Agent(managedContext(options)).run("go", {
    onEvent: (event) => events.push(event),
  });
  expect(isPaired(messages)).toBe(true);
  return { events, messages };
}

describe("the stages by default", () => {
  test("D1.1 X25 the tool-output cache and compaction are on, pruning and the guard are off", () => {
    expect(facts()).toMatchObject({
      cap: {
        mode: "lines",
        bytes: 51_200,
        keep: "every",
        withFiles: "leave",
        exempt: ["tool_output_cache", "tool_output_cache_grep"],
      },
      trim: {
        budgetTokens: undefined,
        minTokens: 20_000,
        maxTokens: 60_000,
        window: "contextWindow",
        to: 1,
        keep: "none",
      },
      compaction: {
        ...{
          format: "tagged",
          form: "marked",
          auto: true,
          at: 0.8,
          limit: "context_window",
          withoutLimit: "skip",
        },
        ...{ keepTurns: 1, keepTask: false, ledger: false, minGain: null, atEnd: true },
      },
    });
    expect(Object.keys(facts() ?? {}).sort()).toEqual(["cap", "compaction", "trim"]);
  });

  test("D1.1 null, or not enabled, is off; and a stage in the agent's own option wins", () => {
    for (const off of [null, { enabled: false }]) {
      expect(facts({ compaction: off })).not.toHaveProperty("compaction");
      expect(facts({ toolOutputCache: off })).not.toHaveProperty("cap");
      expect(facts({ toolOutputCache: off })).not.toHaveProperty("trim");
      expect(facts({ compaction: off, toolOutputCache: off })).toEqual({});
    }
    expect(facts({ context: { compaction: { at: 0.5 }, guard: {} } })).toMatchObject({
      compaction: { format: "structured", at: 0.5 },
      guard: { results: "cut" },
      trim: { maxTokens: 60_000 },
    });
  });
});

describe("compaction through the preset", () => {
  test("D8.36 its options are the stage's; the share of the later version is one of them", () => {
    const small = scripted([], { id: "small" });
    const words = {
      ...{ summaryPrompt: "Sum up.", summaryDirectives: ["be brief"] },
      ...{ retainPrompt: null, retainDirectives: ["ids"] },
    };
    const given = { ...words, auto: false, thresholdRatio: 0.85, model: small, retainLastTurns: 2.9 };
    expect(facts({ compaction: given })?.compaction).toMatchObject({
      ...words,
      auto: false,
      at: 0.85,
      keepTurns: 2,
    });
    const resolved = resolve(managedContext({ model: scripted([]), compaction: given }));
    expect([resolved.compactor?.id, resolved.options.compactor?.id]).toEqual(["small", "small"]);
    expect(facts({ compaction: { form: "plain" } })?.compaction?.form).toBe("plain");
  });

  test.each<[number | undefined, number, boolean]>([
    [undefined, 799, false],
    [undefined, 800, true],
    [0.85, 849, false],
    [0.85, 850, true],
  ])(
    "D8.37 at a share of %s of 1,000 tokens it compacts with %i used: %s",
    async (thresholdRatio, used, does) => {
      const model = summing([counted(used, say("done"))]);
      const compaction = thresholdRatio === undefined ? {} : { thresholdRatio };
      const { events } = await play({ model, compaction });
      expect(typesOf(events).includes("compaction_start")).toBe(does);
      expect([model.calls, finalIn(events)]).toEqual([does ? 2 : 1, "done"]);
    },
  );

  test("D8.37 if not automatic, or without a usage, it does not compact", async () => {
    for (const [turn, compaction] of [
      [counted(999, say("done")), { auto: false }],
      [say("done"), { withoutLimit: "throw" }],
    ] as const) {
      const { events } = await play({ model: summing([turn]), compaction });
      expect(typesOf(events)).toEqual(["final"]);
    }
  });

  test("D8.37 if both limits are known either may be used, and without any it does nothing or throws", async () => {
    const known = { contextWindow: 1_000, maxInputTokens: 500 };
    for (const [limit, does] of [
      ["context_window", false],
      ["input_tokens", true],
    ] as const) {
      const { events } = await play({
        model: summing([counted(600, say("done"))], known),
        compaction: { limit },
      });
      expect([limit, typesOf(events).includes("compaction_start")]).toEqual([limit, does]);
    }
    const unknown = (): ScriptedModel => summing([counted(600, say("done"))], {});
    expect(typesOf((await play({ model: unknown() })).events)).toEqual(["final"]);
    const { failure, events } = await play({ model: unknown(), compaction: { withoutLimit: "throw" } });
    expect(failure?.message).toBe("Missing context limit for scripted/scripted in model registry");
    expect(finalIn(events)).toBeUndefined();
  });

  test("D8.44 results are trimmed before the check, which is made after the calls and at the end, with events for start and completion", async () => {
    const model = summing([
      counted(900, calls([["flood"], ["flood"]])),
      counted(100, call("flood")),
      counted(900, say("done")),
    ]);
    const toolOutputCache = { contextBudgetTokens: 100 };
    const { events, messages } = await heard({ model, tools: [flood(400)], toolOutputCache });
    const compaction = ["compaction_start", "compaction_end"];
    expect(stagesOf(events)).toEqual([
      ...["message", "trim", ...compaction],
      // The first of the cut results left with the summary: what came since is within the budget.
      ...["message", "message", ...compaction],
    ]);
    const trimmed = model.requests[1]?.messages.map(textOf).join("\n") ?? "";
    expect(trimmed).toContain("[tool output trimmed; ref=");
    const [retained = "", ...after] = messages.map(textOf);
    expect(retained).toMatch(/^\[codelia\.compaction\.retain\]\nk1\s+.*ref=\S+$/s);
    expect(after).toEqual([memory[1], "go", "done"]);
  });

  test("D8.44 a compaction that changed nothing is reported too, and says so", async () => {
    const model = summing([counted(900, say("done"))], { contextWindow: 1_000 }, say("  "));
    const { events } = await play({ model });
    const told = events.filter(
      (event): event is AgentEvent & { type: "compaction_complete" } => event.type === "compaction_complete",
    );
    expect(typesOf(events)).toEqual(["compaction_start", "compaction_complete", "final"]);
    expect(told.map(({ compacted }) => compacted)).toEqual([false]);
  });
});

describe("a forced compaction", () => {
  test("D2.16 accepts no message, compacts below the threshold, and ends with its own text", async () => {
    const model = summing([counted(10, call("look")), counted(10, say("done"))]);
    const journal = memoryJournal();
    const agent = new Agent({ ...managedContext({ model, tools: [doing("look", () => "seen")] }), journal });
    await agent.run("go", { session: "s" });
    const heardEvents: RondoEvent[] = [];
    const { text, end, messages } = await agent.run("not to be looked at", {
      ...{ session: "s", forceCompaction: true },
      onEvent: (event) => heardEvents.push(event),
    });
    expect([text, end?.reason, end?.rule]).toEqual(["Compaction run completed.", "completed", "compaction"]);
    expect(messages.map(textOf)).toEqual([...memory, "go", "done"]);
    expect(JSON.stringify(model.requests)).not.toContain("not to be looked at");
    expect([model.calls, stagesOf(heardEvents)]).toEqual([3, ["compaction_start", "compaction_end"]]);
  });

  test("D2.16 as agent events: start, completion, and the final text, also if there is nothing to summarise", async () => {
    for (const [auto, history] of [
      [true, true],
      [false, true],
      [true, false],
    ] as const) {
      const input = history
        ? [{ role: "user" as const, content: [{ type: "text" as const, text: "a" }] }]
        : "x";
      const model = summing([say("b")]);
      const journal = memoryJournal();
      const options = { model, compaction: { auto } };
      if (history) await new Agent({ ...managedContext(options), journal }).run(input, { session: "s" });
      const { events, result } = await play(options, {
        agent: { journal },
        run: { session: "s", forceCompaction: true },
      });
      expect(typesOf(events)).toEqual(["compaction_start", "compaction_complete", "final"]);
      expect(finalIn(events)).toBe("Compaction run completed.");
      expect([result?.messages.length, model.calls]).toEqual(history ? [4, 2] : [0, 0]);
    }
  });

  test.each([
    ["a word", "and a word", 1],
    ["a".repeat(6_000), "b".repeat(9_000), 1],
    ["a word", "and a word", 3],
    ["a".repeat(6_000), "b".repeat(9_000), 3],
  ])("D2.16 D8.41 reads everything in one call if the window is unknown: %#", async (asked, said, runs) => {
    const model = summing(
      Array.from({ length: runs }, () => say(said)),
      {},
    );
    const agent = new Agent({ ...managedContext({ model }), journal: memoryJournal() });
    for (let run = 0; run < runs; run += 1) await agent.run(asked, { session: "s" });
    const { messages } = await agent.run("", { session: "s", forceCompaction: true });
    expect(messages.map(textOf)).toEqual([...memory, asked, said]);
    expect(model.calls).toBe(runs + 1);
  });

  test("D2.16 the next run continues from the summary, and a signal aborts it like any other", async () => {
    const model = summing([say("one"), say("two")]);
    const agent = new Agent({ ...managedContext({ model }), journal: memoryJournal() });
    await agent.run("a", { session: "s" });
    await agent.run("", { session: "s", forceCompaction: true });
    const { messages } = await agent.run("b", { session: "s" });
    expect(shortly(messages)).toEqual([
      ...memory.map((text) => `user: ${text}`),
      ...["user: a", "assistant: one", "user: b", "assistant: two"],
    ]);
    const aborted = agent.run("", { session: "s", forceCompaction: true, signal: AbortSignal.abort() });
    await expect(aborted).rejects.toMatchObject({ kind: "aborted" });
  });
});

describe("the tool-output cache through the preset", () => {
  test("D9.45 D9.46 every full result is stored; those over 50 KiB are cut at a line and name their ref", async () => {
    const store = memoryBlobs();
    const model = scripted([calls([["flood"], ["look"]]), say("done")]);
    const tools = [flood(60_000), doing("look", () => "seen")];
    const agent = new Agent({ ...managedContext({ model, tools, toolOutputCache: { store } }) });
    const session = await agent.open("s");
    const { messages } = await session.send("go");
    const [cut = "", small] = resultsOf(messages);
    const [, ref = ""] = /\n\n\[tool output truncated; ref=(\S+)\]$/.exec(cut) ?? [];
    expect([cut.indexOf("\n\n["), small]).toEqual([51_200 - 1, "seen"]);
    expect(await store.get("s", ref)).toHaveLength(60_000);
    const kept = messages.flatMap((one) => (one.role === "tool" ? [one.ref] : []));
    expect(kept).toHaveLength(2);
    expect(await store.get("s", kept[1] as string)).toBe("seen");
    expect(model.requests[1]?.tools.map(({ name }) => name)).toEqual([
      ...["flood", "look", "tool_output_cache", "tool_output_cache_grep"],
    ]);
  });

  test("D9.45 without a store there is no ref, and what is disabled is unchanged", async () => {
    const run = async (toolOutputCache: ManagedContextOptions["toolOutputCache"]): Promise<string> => {
      const model = scripted([call("flood"), say("done")]);
      const options = managedContext({
        model,
        tools: [flood(60_000)],
        ...(toolOutputCache === undefined ? {} : { toolOutputCache }),
      });
      return resultsOf((await new Agent(options).run("go")).messages)[0] as string;
    };
    expect(await run({ store: null })).toMatch(/\n\n\[tool output truncated\]$/);
    expect(await run({ maxMessageBytes: 1_000, store: null })).toHaveLength(
      999 + "\n\n[tool output truncated]".length,
    );
    for (const off of [null, { enabled: false }]) expect(await run(off)).toHaveLength(60_000);
  });

  test("D9.47 the budget is a quarter of the window, at most 60,000 tokens, or 100,000 by choice, or a given number", () => {
    expect(facts()?.trim).toMatchObject({ minTokens: 20_000, maxTokens: 60_000 });
    const cache = { maxBudgetTokens: 100_000, limit: "input_tokens" as const, contextBudgetTokens: 7 };
    expect(facts({ toolOutputCache: cache })?.trim).toMatchObject({
      ...{ maxTokens: 100_000, window: "maxInputTokens", budgetTokens: 7 },
    });
    expect(facts({ toolOutputCache: { totalBudgetTrim: false } })).not.toHaveProperty("trim");
  });

  test.each([
    [60_000, undefined, 2],
    [100_000, 100_000, 0],
  ])(
    "D9.47 over a budget of %i tokens the oldest results are replaced permanently, even the newest if necessary",
    async (most, maxBudgetTokens, gone) => {
      // Six results of 50,000 bytes are 75,000 tokens.
      const model = scripted([...Array.from({ length: 6 }, () => call("flood")), say("done")]);
      const toolOutputCache = maxBudgetTokens === undefined ? {} : { maxBudgetTokens };
      const { messages } = await heard({ model, tools: [flood(50_000)], toolOutputCache });
      const results = resultsOf(messages);
      const isGone = results.map((text) => text.startsWith("[tool output trimmed; ref="));
      expect(isGone).toEqual(results.map((_, at) => at < gone));
      const tokens = results.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0);
      expect(tokens).toBeLessThanOrEqual(most);
    },
  );

  test("D9.47 a budget that the newest result alone exceeds replaces that one too, unless trimming is off", async () => {
    for (const totalBudgetTrim of [true, false]) {
      const model = scripted([call("flood"), say("done")]);
      const toolOutputCache = { contextBudgetTokens: 10, totalBudgetTrim };
      const { messages } = await heard({ model, tools: [flood(5_000)], toolOutputCache });
      const [text = ""] = resultsOf(messages);
      expect(text.startsWith("[tool output trimmed; ref=")).toBe(totalBudgetTrim);
      expect(text.length > 1_000).toBe(!totalBudgetTrim);
    }
  });

  test("D9.48 the longest line that is shown concerns the reader tools only: a cut ignores it", async () => {
    const long = `${"y".repeat(3_000)}\n`;
    const tools = [
      tool({
        name: "wide",
        description: "wide",
        inputSchema: { type: "object" },
        execute: () => long.repeat(20),
      }),
    ];
    const ref = ({ messages }: { messages: Message[] }): string =>
      /ref=(\w+)/.exec(messages.map(textOf).join("\n"))?.[1] ?? "";
    for (const maxLineLength of [undefined, 2_000]) {
      const model = scripted([
        call("wide"),
        (request) => call("tool_output_cache", { ref_id: ref(request), limit: 1 }),
        say("done"),
      ]);
      const toolOutputCache = maxLineLength === undefined ? {} : { maxLineLength };
      const [cut = "", read = ""] = resultsOf((await heard({ model, tools, toolOutputCache })).messages);
      expect(cut.split("\n")[0]).toHaveLength(3_000);
      expect(/y+\.\.\./.exec(read)?.[0]).toHaveLength((maxLineLength ?? 1_000) + 3);
    }
  });
});
