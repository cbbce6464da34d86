// Usage by model, the window that is left, and a session as rows: views over what the journal holds.

import { Agent, memoryBlobs, memoryJournal, resolve } from "@rondo/core";
import {
  contextLeftPercent,
  managedContext,
  type SessionLogRow,
  sessionLog,
  usageSummary,
} from "@rondo/core/presets";
import { badArgs, call, calls, fail, say, scripted, stop, usage } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { doing } from "./managed-support.ts";

const counted = usage({ inputTokens: 100, outputTokens: 20, cachedInputTokens: 30, cacheWriteTokens: 5 });

describe("usage", () => {
  test("D10.50 calls and tokens are summed, and by model; the last usage is that of the last call", async () => {
    const journal = memoryJournal();
    const first = { origin: { api: "a", provider: "p", model: "one" } };
    const second = { origin: { api: "a", provider: "p", model: "two" } };
    const look = doing("look", () => "seen");
    const run = async (model: ReturnType<typeof scripted>): Promise<void> => {
      await new Agent({ ...managedContext({ model, tools: [look] }), journal }).run("go", { session: "s" });
    };
    await run(
      scripted(
        [
          [call("look"), counted],
          [say("done"), counted],
        ],
        { id: "one", ...first },
      ),
    );
    await run(
      scripted([[say("done"), usage({ inputTokens: 7, outputTokens: 1 })]], { id: "two", ...second }),
    );
    const records = await journal.read("s");
    const one = {
      calls: 2,
      total_tokens: 240,
      input_tokens: 200,
      output_tokens: 40,
      cached_input_tokens: 60,
      cache_creation_tokens: 10,
    };
    const two = {
      calls: 1,
      total_tokens: 8,
      input_tokens: 7,
      output_tokens: 1,
      cached_input_tokens: 0,
      cache_creation_tokens: 0,
    };
    expect(usageSummary(records)).toEqual({
      calls: 3,
      total_tokens: 248,
      input_tokens: 207,
      output_tokens: 41,
      cached_input_tokens: 60,
      cache_creation_tokens: 10,
      by_model: { one, two },
      last: two,
    });
  });

  test("D10.50 without tracking nothing is summed, but the last usage is kept", async () => {
    const journal = memoryJournal();
    const managed = { model: scripted([[say("done"), counted]]), enableUsageTracking: false };
    await new Agent({ ...managedContext(managed), journal }).run("go", { session: "s" });
    const summary = usageSummary(await journal.read("s"), managed);
    expect([summary.calls, summary.total_tokens, summary.by_model]).toEqual([0, 0, {}]);
    expect(summary.last).toMatchObject({ calls: 1, total_tokens: 120 });
  });

  test("unreported usage is not zero: it resets the last usage, and nothing is summed", async () => {
    const journal = memoryJournal();
    const model = scripted([[call("look"), counted], say("done")]);
    const look = doing("look", () => "seen");
    await new Agent({ ...managedContext({ model, tools: [look] }), journal }).run("go", { session: "s" });
    expect(usageSummary(await journal.read("s"))).toMatchObject({ calls: 1, last: null });
  });

  test("D10.50 the remaining window is a whole per cent between 0 and 100, or unknown", () => {
    expect(contextLeftPercent(25, 100)).toBe(75);
    expect(contextLeftPercent(1, 3)).toBe(67);
    expect([contextLeftPercent(1, 2), contextLeftPercent(1, 1)]).toEqual([50, 0]);
    expect(contextLeftPercent(500, 100)).toBe(0);
    expect([contextLeftPercent(0, 100), contextLeftPercent(-5, 100)]).toEqual([100, 100]);
    expect([contextLeftPercent(null, 100), contextLeftPercent(5, null)]).toEqual([null, null]);
    expect([contextLeftPercent(undefined, 100), contextLeftPercent(5, 0)]).toEqual([null, null]);
  });
});

describe("the session log", () => {
  const look = doing("look", () => "seen");
  const rowsOf = async (
    model: ReturnType<typeof scripted>,
    tasks: readonly string[],
  ): Promise<SessionLogRow[]> => {
    const journal = memoryJournal();
    let time = 0;
    const clock = { now: () => ++time, random: () => 0, after: () => () => {} };
    const options = { ...managedContext({ model, tools: [look], systemPrompt: "S" }), journal, clock };
    for (const task of tasks) await new Agent(options).run(task, { session: "s" }).catch(() => {});
    return sessionLog(await journal.read("s"), "s", resolve(options).rules);
  };

  test("D10.51 each model call is a row with what was sent and one with what came back, with one number", async () => {
    const answer = [
      say("Looking."),
      call("look", { a: 1 }, { id: "c1" }),
      counted,
      stop("tool_use", { raw: "tool_calls" }),
    ];
    const model = scripted([answer, say("done"), say("again")]);
    const rows = await rowsOf(model, ["one", "two"]);
    expect(rows.map((row) => [row.type, "seq" in row ? row.seq : "", row.run_id])).toEqual([
      ["llm.request", 1, "s:1"],
      ["llm.response", 1, "s:1"],
      ["tool.output", "", "s:1"],
      ["llm.request", 2, "s:1"],
      ["llm.response", 2, "s:1"],
      // The count is the session's: it goes on over its runs.
      ["llm.request", 3, "s:2"],
      ["llm.response", 3, "s:2"],
    ]);
    const requests = rows.flatMap((row) => (row.type === "llm.request" ? [row] : []));
    expect(requests.map((row) => JSON.parse(JSON.stringify(row.input)))).toEqual(model.requests);
    expect(requests[0]).toMatchObject({ model: "scripted", input: { system: "S" } });
    expect(Object.keys(requests[0] ?? {})).toEqual(["type", "run_id", "ts", "seq", "model", "input"]);
    expect(rows[1]).toMatchObject({
      type: "llm.response",
      output: {
        messages: [{ role: "assistant", content: [{ text: "Looking." }, { id: "c1" }] }],
        usage: { inputTokens: 100, outputTokens: 20 },
        stop_reason: "tool_calls",
        provider_meta: { provider: "scripted" },
      },
    });
    expect(rows[4]).toMatchObject({ output: { usage: null, stop_reason: "end_turn" } });
    const times = rows.map((row) => row.ts);
    expect(times).toEqual([...times].sort((one, other) => one - other));
  });

  test("D10.51 each tool output is a row with the call's result, including errors", async () => {
    const script = [calls([["look"], ["nowhere"]]), badArgs("look", "{"), say("done")];
    const rows = (await rowsOf(scripted(script), ["go"])).filter((row) => row.type === "tool.output");
    const outputs = rows.map((row) => [row.tool, row.is_error, row.output_ref]);
    expect(outputs).toContainEqual(["look", false, expect.any(String)]);
    expect(outputs).toContainEqual(["nowhere", true, null]);
    expect(outputs).toContainEqual(["look", true, expect.any(String)]);
    expect(rows.find((row) => !row.is_error)?.result_raw).toEqual([{ type: "text", text: "seen" }]);
  });

  test("D10.51 a failed call is a request without a response, and the next one has the next number", async () => {
    const rows = await rowsOf(scripted([fail("overloaded"), say("done")]), ["one", "two"]);
    expect(rows.map((row) => [row.type, "seq" in row ? row.seq : ""])).toEqual([
      ["llm.request", 1],
      ["llm.request", 2],
      ["llm.response", 2],
    ]);
  });

  test("D10.51 D9.45 a row has the ref of its full text, cut or not, or none if it is not stored", async () => {
    for (const store of [undefined, null]) {
      const journal = memoryJournal();
      const model = scripted([call("look"), say("done")]);
      const given = store === undefined ? {} : { toolOutputCache: { store } };
      const options = { ...managedContext({ model, tools: [look], ...given }), journal };
      const { messages } = await new Agent(options).run("go", { session: "s" });
      const [result] = messages.filter((message) => message.role === "tool");
      const rows = sessionLog(await journal.read("s"), "s", resolve(options).rules);
      const row = rows.find((one) => one.type === "tool.output");
      expect(row).toMatchObject({ output_ref: store === null ? null : result?.ref });
      expect(typeof result?.ref).toBe(store === null ? "undefined" : "string");
    }
  });

  test("D10.51 a result that a hook gives in place of the tool is an output too, but not one that a hook changes afterwards", async () => {
    const journal = memoryJournal();
    const tools = [doing("look", () => "seen"), doing("peek", () => "peeked")];
    const model = scripted([calls([["look"], ["peek"]]), say("done")]);
    const options = {
      ...managedContext({ model, tools }),
      hooks: {
        beforeTool: ({ name }: { name: string }) => (name === "look" ? { result: "by the hook" } : undefined),
        afterTool: () => ({ content: "made of it" }),
      },
      journal,
    };
    await new Agent(options).run("go", { session: "s" });
    const rows = sessionLog(await journal.read("s"), "s", resolve(options).rules);
    expect(rows.filter((row) => row.type === "tool.output")).toMatchObject([
      { tool: "look", result_raw: [{ type: "text", text: "by the hook" }] },
      { tool: "peek", result_raw: [{ type: "text", text: "peeked" }] },
    ]);
  });

  test("D10.51 a row of a cut result has the ref of the full text, and ignores notes in the tool's own text", async () => {
    for (const text of ["long line\n".repeat(6_000), "head\n\n[tool output truncated; ref=abc_1]"]) {
      const journal = memoryJournal();
      const tools = [doing("look", () => text)];
      const options = { ...managedContext({ model: scripted([call("look"), say("done")]), tools }), journal };
      const blobs = memoryBlobs();
      await new Agent({ ...options, blobs }).run("go", { session: "s" });
      const rows = sessionLog(await journal.read("s"), "s", resolve(options).rules);
      const row = rows.find((one) => one.type === "tool.output");
      expect(blobs.get("s", row?.output_ref ?? "")).toBe(text);
    }
  });
});
