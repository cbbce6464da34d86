// What a run has used up, and what it was told, survives its process: another one goes on from any record of it.

import {
  Agent,
  type AgentOptions,
  type LogRecord,
  memoryJournal,
  type RunResult,
  systemClock,
} from "@rondo/core";
import { call, calls, fail, type Script, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { deferred, echo, shortly } from "./support.ts";

const quick = { retry: { baseMs: 1, capMs: 2, attempts: 3 } };

async function records(script: Script, options: Partial<AgentOptions> = {}): Promise<LogRecord[]> {
  const journal = memoryJournal();
  await new Agent({ model: scripted(script), ...quick, ...options, journal }).run("go", { session: "s" });
  return journal.read("s");
}

/** Another agent goes on from the first records. */
async function goOn(
  before: readonly LogRecord[],
  script: Script,
  options: Partial<AgentOptions> = {},
): Promise<{ result: RunResult; model: ReturnType<typeof scripted>; after: LogRecord[] }> {
  const journal = memoryJournal();
  journal.append("s", 0, before);
  const model = scripted(script);
  const session = await new Agent({ model, ...quick, ...options, journal }).open("s");
  const result = await session.resume();
  return { result, model, after: journal.read("s") };
}

/** The records up to the nth of a type, that one included. */
function upTo(all: readonly LogRecord[], type: LogRecord["type"], nth: number = 1): LogRecord[] {
  const at = all.map((record, index) => (record.type === type ? index : -1)).filter((index) => index >= 0)[
    nth - 1
  ];
  if (at === undefined) throw new Error(`there is no ${type} number ${nth}`);
  return all.slice(0, at + 1);
}

describe("a run that continues in another process", () => {
  test("has its remaining attempts: failures before the crash count, the interrupted call does not", async () => {
    const all = await records([fail("overloaded"), fail("overloaded"), fail("overloaded")]);
    const second = upTo(all, "turn_judged", 2);
    const failing = await goOn(second, [fail("overloaded"), say("too late")]);
    expect([failing.result.end?.reason, failing.model.calls]).toEqual(["error", 1]);
    // Cut off in the third attempt: it is made again, as the third.
    const cut = await goOn(upTo(all, "model_started", 3), [say("done")]);
    expect(cut.result.text).toBe("done");
    expect(cut.after.filter((record) => record.type === "model_started").map((one) => one.attempt)).toEqual([
      1, 2, 3, 3,
    ]);
  });

  test("waits for a retry until the time that was set before the crash", async () => {
    const wait = { retry: { baseMs: 7_000, capMs: 7_000 } };
    let now = 1_000;
    const waits: number[] = [];
    const clock = {
      now: () => now,
      random: () => 0.5,
      after: (ms: number, then: () => void) => {
        // What is longer is no wait for a retry: the clocks of a model call never run out here.
        if (ms > 9_000) return () => {};
        waits.push(ms);
        now += ms;
        setImmediate(then);
        return () => {};
      },
    };
    const all = await records([fail("overloaded"), say("done")], { ...wait, clock });
    const judged = upTo(all, "turn_judged");
    const [asked] = waits.splice(0);
    now = (judged.at(-1)?.at ?? 0) + 1_000;
    const { result } = await goOn(judged, [say("done")], { ...wait, clock });
    expect(result.text).toBe("done");
    expect(waits).toEqual([(asked ?? 0) - 1_000]);
  });

  test("has its remaining tokens", async () => {
    const usage = { inputTokens: 30, outputTokens: 10 };
    const journal = memoryJournal();
    const options = { budget: { tokens: 100 }, tools: [echo("look")], repeats: null };
    const script = [call("look"), call("look"), call("look"), say("landed")];
    await new Agent({ model: scripted(script, { usage }), ...options, journal }).run("go", { session: "s" });
    const all = journal.read("s");
    for (const [finished, calls] of [
      [1, 3],
      [2, 2],
      [3, 1],
    ] as const) {
      const model = scripted(script.slice(finished), { usage });
      const other = memoryJournal();
      other.append("s", 0, upTo(all, "model_finished", finished));
      const result = await (await new Agent({ model, ...options, journal: other }).open("s")).resume();
      expect([result.end?.reason, model.calls, result.text]).toEqual(["token_budget", calls, "landed"]);
    }
  });

  test("has its remaining time, and none if it ran out meanwhile", async () => {
    let now = 1_000;
    const clock = { ...systemClock, now: () => now };
    const options = { budget: { ms: 5_000 }, clock, tools: [echo("look")] };
    const all = await records([call("look"), say("done")], options);
    const left = upTo(all, "tool_finished");
    now = 5_900;
    expect((await goOn(left, [say("in time")], options)).result.end?.reason).toBe("completed");
    now = 6_100;
    expect((await goOn(left, [say("what there is")], options)).result.end).toMatchObject({
      reason: "deadline",
      landed: true,
    });
  });

  test("says why a call did not run that is approved after its deadline", async () => {
    let now = 1_000;
    const clock = { ...systemClock, now: () => now };
    const ran: string[] = [];
    const press = echo("press", { permission: "ask", execute: () => void ran.push("press") });
    const model = scripted([calls([["press"], ["press", { again: true }]]), say("what there is")]);
    const options = { model, budget: { ms: 5_000 }, clock, tools: [press], journal: memoryJournal() };
    const session = await new Agent(options).open("s");
    await session.send("go");
    now = 7_000;
    const { end, messages } = await session.approve(session.pending[0]?.id ?? "");
    expect([end?.reason, end?.landed, ran]).toEqual(["deadline", true, []]);
    expect(shortly(messages).slice(2, 4)).toEqual([
      "tool: press was approved, and did not run: the run was over before that (deadline).",
      "tool: press was skipped: the run ended before it.",
    ]);
    expect((await session.replay()).difference).toBeUndefined();
  });

  test("has its remaining steps, and the rules' memories", async () => {
    const options = { maxSteps: 4, tools: [echo("look")], repeats: { nudgeAt: 2, hideAt: 3, landAt: 4 } };
    const script = [call("look"), call("look"), call("look"), say("landed")];
    const whole = await records(script, options);
    for (let cut = 1; cut < whole.length - 1; cut += 1) {
      const answered = whole.slice(0, cut).filter((record) => record.type === "model_finished").length;
      const { after, result } = await goOn(whole.slice(0, cut), script.slice(answered), options);
      const told = (all: LogRecord[]): unknown[] =>
        all.flatMap((record) =>
          record.type === "noted" || record.type === "mode" ? [[record.type, record.rule]] : [],
        );
      expect(told(after)).toEqual(told(whole));
      expect(result.end?.reason).toBe((whole.at(-1) as LogRecord & { type: "run_ended" }).end.reason);
    }
  });

  test("delivers queued messages once, in their order, and nothing twice", async () => {
    const journal = memoryJournal();
    const model = scripted([call("look"), say("so"), say("then")]);
    const tools = [
      echo("look", {
        execute: () => {
          session.steer("one", "a");
          session.steer("two", "b");
          session.followUp("after", "c");
          return "looked";
        },
      }),
    ];
    const session = await new Agent({ model, tools, journal }).open("s");
    const { messages } = await session.send("go");
    const all = journal.read("s");
    for (let cut = upTo(all, "queued", 3).length; cut < all.length; cut += 1) {
      const answered = all.slice(0, cut).filter((record) => record.type === "model_finished").length;
      const script = [call("look"), say("so"), say("then")].slice(answered);
      const { result } = await goOn(all.slice(0, cut), script, {
        tools: [echo("look", { execute: () => "looked" })],
      });
      expect(shortly(result.messages)).toEqual(shortly(messages));
    }
  });
});

test("the result of one of several calls is durable when it is there, whatever the others do", async () => {
  const journal = memoryJournal();
  const never = deferred();
  const ran: string[] = [];
  const tools = (hang: boolean) => [
    echo("quick", { execute: () => void ran.push("quick") }),
    echo("slow", {
      execute: async () => {
        ran.push("slow");
        if (hang) await never.promise;
      },
    }),
  ];
  const first = await new Agent({ model: scripted([calls([["slow"], ["quick"]])]), tools: tools(true) }).open(
    "s",
    { journal },
  );
  first.send("go").catch(() => {});
  await expect
    .poll(() => journal.read("s").filter((record) => record.type === "tool_finished").length)
    .toBe(1);
  const second = await new Agent({ model: scripted([say("done")]), tools: tools(false) }).open("s", {
    journal,
    takeOver: true,
  });
  const { end } = await second.resume();
  expect([end?.reason, ran]).toEqual(["completed", ["slow", "quick", "slow"]]);
});
