// Forks in which a call came to another result: what the model reads then, and where such a fork can be taken.

import { Agent, type CallResult, type Hooks, memoryJournal, subAgent } from "@rondo/core";
import { call, calls, say, scripted, usage } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { echo, quick, shortly } from "./support.ts";

const script = [call("look"), call("look"), say("the end")];

/** A run of three steps, in a journal. */
async function threeSteps() {
  const journal = memoryJournal();
  const agent = new Agent({
    ...quick,
    model: scripted(script),
    system: "old",
    tools: [echo("look")],
    journal,
  });
  const session = await agent.open("s");
  await session.send("go");
  return { journal, session };
}

describe("a fork with another result", () => {
  test("branches where the result is first read, and the model reads the new one", async () => {
    const { session, journal } = await threeSteps();
    const key = journal.read("s").find((record) => record.type === "tool_finished")?.call ?? "";
    const model = scripted([say("seen")]);
    const fork = await session.fork("t", { edit: { call: key, result: "nothing there" }, model });
    await fork.resume();
    expect(shortly(model.requests[0]?.messages ?? [])).toEqual([
      "user: go",
      "assistant: look()",
      "tool: nothing there",
    ]);
    expect(
      journal.read("t").findLast((record) => record.type === "opened" && record.by === "fork"),
    ).toMatchObject({ from: { edited: key } });
    expect((await fork.replay()).firstDifference).toBeUndefined();
  });

  test("stores a copy of what was given, without anything that a request could not carry", async () => {
    const { session, journal } = await threeSteps();
    const key = journal.read("s").find((record) => record.type === "tool_finished")?.call ?? "";
    const forked = async (id: string, result: string | CallResult) => {
      await session.fork(id, { edit: { call: key, result } });
      if (typeof result === "object") result.content[0] = { type: "text", text: "written behind it" };
      return journal.read(id).findLast((record) => record.type === "tool_finished")?.result;
    };
    const text = (words: string): CallResult => ({
      content: [{ type: "text", text: words }],
      isError: false,
    });
    expect(await forked("t", "half \ud800 of it")).toEqual(text("half \ufffd of it"));
    expect(await forked("u", " ")).toEqual(text("(no output)"));
    const seen = { ...text("half \ud800 of it"), isError: true, details: { of: 2 } };
    const link = { type: "link", url: "https://example.com" } as never;
    expect(await forked("v", { ...seen, content: [...seen.content, link] })).toEqual({
      content: [...text("half \ufffd of it").content, { type: "text", text: "https://example.com" }],
      isError: true,
      details: { of: 2 },
    });
    await expect(forked("w", { content: [{ type: "text" } as never], isError: false })).rejects.toThrow(
      "fork: option edit.result: a text, or a result with its list of parts (content, isError), is needed",
    );
  });

  test("replaces what the afterTool hook made of the old result; what it made of others stays", async () => {
    const journal = memoryJournal();
    const model = scripted([calls([["look"], ["peek"]]), say("done")]);
    const hooks: Hooks = {
      beforeTool: ({ name }) => ({ args: { name } }),
      afterTool: ({ name }) => ({ content: `${name}, hooked` }),
    };
    const options = { ...quick, tools: [echo("look"), echo("peek")], hooks, journal };
    const session = await new Agent({ ...options, model }).open("s");
    await session.send("go");
    const other = scripted([say("seen")]);
    const fork = await session.fork("t", { edit: { call: "call_1", result: "edited" }, model: other });
    await fork.resume();
    expect(shortly(other.lastRequest.messages).slice(-2)).toEqual(["tool: edited", "tool: peek, hooked"]);
    // What the call ran with is as it was.
    const before = (id: string) =>
      journal.read(id).filter((record) => record.type === "hook_answered" && record.hook === "beforeTool");
    expect(before("t")).toEqual(before("s"));
    expect((await fork.replay()).firstDifference).toBeUndefined();
  });

  test.each<[string, Hooks]>([
    ["gave", { beforeTool: () => ({ result: "from the hook" }) }],
    [
      "failed over",
      {
        beforeTool: () => {
          throw new Error("no");
        },
      },
    ],
  ])("stands in place of one that a beforeTool hook %s", async (_how, hooks) => {
    const journal = memoryJournal();
    const model = scripted([call("look"), say("done")]);
    const agent = new Agent({ ...quick, model, tools: [echo("look")], hooks, journal });
    const session = await agent.open("s");
    await session.send("go");
    const other = scripted([say("seen")]);
    const fork = await session.fork("t", { edit: { call: "call_1", result: "edited" }, model: other });
    await fork.resume();
    expect(shortly(other.lastRequest.messages).at(-1)).toBe("tool: edited");
    expect(JSON.stringify(fork.messages)).not.toContain('isError":true');
    const answered = journal.read("t").filter(({ type }) => type === "hook_answered");
    expect(answered).toMatchObject([{ hook: "beforeTool", result: { isError: false } }]);
    expect(answered[0]).not.toHaveProperty("error");
  });

  test("gives the model the new result also if the old one was cut to make room before it was sent", async () => {
    const journal = memoryJournal();
    const tools = [echo("look", { execute: () => "long ".repeat(1_000) })];
    const context = { trim: { budgetTokens: 100, keep: "none" } } as const;
    const model = scripted([call("look"), say("done")]);
    const session = await new Agent({ ...quick, model, tools, journal, context }).open("s");
    // Behind what is said meanwhile, what made room is not the last record before the request.
    session.subscribe((event) => event.type === "context" && event.stage === "trim" && session.steer("hm"));
    await session.send("go");
    const records = journal.read("s");
    const cut = records.findIndex(({ type }) => type === "trimmed");
    expect(records[cut + 1]?.type).toBe("queued");
    const other = scripted([say("seen")]);
    const edit = { call: "call_1", result: "edited" };
    await (await session.fork("t", { edit, model: other })).resume();
    expect(shortly(other.lastRequest.messages).at(-1)).toBe("tool: edited");
    await expect(session.fork("u", { at: 2, edit })).rejects.toThrow(
      `the result of call call_1 was read already where the fork is taken, to make room: fork at record ${cut}`,
    );
  });

  test("branches before the old one is summarised, and is refused after that", async () => {
    const journal = memoryJournal();
    const tools = [echo("look", { execute: () => "old ".repeat(20_000) })];
    const facts = { contextWindow: 4_000, maxOutputTokens: 100 };
    const model = scripted([call("look"), say("a summary of it all"), say("done")], { facts });
    const context = { guard: {}, cap: null } as const;
    const session = await new Agent({ ...quick, model, tools, journal, context }).open("s");
    expect((await session.send("go")).end?.reason).toBe("completed");
    const seq = journal.read("s").findIndex(({ type }) => type === "summary_started");
    const edit = { call: "call_1", result: "edited" };
    await expect(session.fork("t", { at: 2, edit })).rejects.toThrow(
      `was read already where the fork is taken, in a summary: fork at record ${seq}`,
    );
    for (const [id, point] of Object.entries({ t: {}, u: { seq } })) {
      const other = scripted([say("a summary of it all"), say("seen")], { facts });
      await (await session.fork(id, { ...point, edit, model: other })).resume();
      expect(JSON.stringify(other.requests)).toContain("edited");
      expect(JSON.stringify(other.requests)).not.toContain("old old");
    }
  });

  test("is refused if another call of that answer ended the run, because nobody would read it", async () => {
    const model = scripted([calls([["look"], ["guarded"]])]);
    const tools = [echo("look"), echo("guarded", { permission: "ask" })];
    const session = await new Agent({ ...quick, model, tools }).open("s");
    await session.send("go");
    const key = session.pending[0]?.key;
    await session.deny("call_2", "no", { stop: true });
    await expect(session.fork("t", { edit: { call: "call_1", result: "edited" } })).rejects.toThrow(
      `session s has no step in which the other result would be read: call ${key} of the same answer ended the run`,
    );
  });

  test("is refused if the result was already read, or the call is unknown, with what to do", async () => {
    const { session, journal } = await threeSteps();
    const key = journal.read("s").find((record) => record.type === "tool_finished")?.call ?? "";
    await expect(session.fork("t", { at: 3, edit: { call: key, result: "x" } })).rejects.toThrow(
      "was read already where the fork is taken, in step 2: fork at step 2",
    );
    await expect(session.fork("t", { at: 1, edit: { call: key, result: "x" } })).rejects.toThrow(
      `call ${key} has no result yet where the fork is taken: take it later, or edit another call`,
    );
    await expect(session.fork("t", { edit: { call: "9.9", result: "x" } })).rejects.toThrow(
      /no call "9.9" with a result in session s: those with a result are /,
    );
    expect(journal.read("t")).toEqual([]);
  });
});

test("a new result for a sub-agent's call does not change what the sub-agent spent, whatever it says", async () => {
  const journal = memoryJournal();
  const counted = (tokens: number) => usage({ inputTokens: tokens, outputTokens: 0 });
  const child = new Agent({ ...quick, model: scripted([[say("child done"), counted(100)]]) });
  const helper = subAgent({ name: "helper", description: "helps", agent: child });
  const model = scripted(
    [
      [call("helper", { task: "x" }), counted(10)],
      [say("over"), counted(10)],
    ],
    { repeatLast: true },
  );
  const session = await new Agent({ ...quick, model, tools: [helper], journal }).open("s");
  expect((await session.send("go")).usage?.inputTokens).toBe(120);
  const key = journal.read("s").find((record) => record.type === "tool_finished")?.call ?? "";
  const others = ["no", { content: [], isError: false, spent: { tokens: 1 } as never }];
  for (const [at, result] of others.entries()) {
    const fork = await session.fork(`f${at}`, { edit: { call: key, result } });
    expect((await fork.resume()).usage?.inputTokens).toBe(120);
  }
});
