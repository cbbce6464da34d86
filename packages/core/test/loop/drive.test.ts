// The driver, by hand: how it drives a run, and what becomes of what it is told, and of what it cannot keep.

import {
  ChildWaits,
  contextFacts,
  type Fact,
  type Listener,
  RondoError,
  type RondoEvent,
  type Rule,
} from "@rondo/core";
import { describe, expect, onTestFinished, test } from "vitest";
import { nothingSpent } from "../../src/loop/children.ts";
import { Driver } from "../../src/loop/drive.ts";
import type { Shell } from "../../src/loop/driving/shell.ts";
import { echo } from "../support.ts";
import { answer, begun, calling, driverOf, ended, queued, start } from "./drive-support.ts";
import { heldTool, shellOf } from "./ongoing-support.ts";
import { answerOf, come, handClock, rules, toolOf } from "./support.ts";

/** What is rejected and heard by nobody. */
function unheard(): unknown[] {
  const list: unknown[] = [];
  const hear = (thrown: unknown): void => void list.push(thrown);
  process.on("unhandledRejection", hear);
  onTestFinished(() => void process.off("unhandledRejection", hear));
  return list;
}

/** Ends the run at a time. */
const until = (time: number): Rule => ({
  name: "until",
  version: 1,
  wakeAt: () => time,
  decide: (_memory, state) =>
    state.now < time ? undefined : { do: "stop", reason: "turn_stopped", evidence: {} },
});

/** A window that a long answer fills. */
const compactingOptions = { context: contextFacts({ window: 2_000 }), tools: [] };

describe("a run", () => {
  test("is driven to its end, and says that it is done", async () => {
    const { driver, journal, model, end } = await begun();
    expect([driver.running, end.how]).toStrictEqual([true, undefined]);
    await model.answers(answer);
    expect([driver.running, end.how]).toStrictEqual([false, "done"]);
    expect(journal.types).toStrictEqual([
      "run_started",
      "model_started",
      "model_finished",
      "turn_judged",
      "run_ended",
    ]);
    expect(driver.state.run?.end?.reason).toBe("completed");
  });

  test("has numbered records, with times that never go back", async () => {
    const { journal, model, clock } = await begun();
    clock.pass(5);
    await model.answers(answer);
    expect(journal.records.map(({ seq }) => seq)).toStrictEqual([0, 1, 2, 3, 4]);
    expect(journal.records.map(({ at }) => at)).toStrictEqual([1_000, 1_000, 1_005, 1_005, 1_005]);
    expect(journal.records.map(({ rand }) => rand)).toStrictEqual(Array(5).fill(0.5));
    const back = { ...handClock(), now: () => 7 - back.reads++, reads: 0 };
    const odd = driverOf({ clock: back });
    odd.driver.post(start());
    odd.driver.post(queued("more"));
    expect(odd.journal.records.map(({ at }) => at)).toStrictEqual([7, 7]);
  });

  test("returns to the host's time once it is over, if that was set back meanwhile", async () => {
    const { driver, journal, model, clock } = await begun();
    clock.pass(-500);
    await model.answers(answer);
    clock.pass(700);
    driver.post(queued("more"));
    await come();
    expect(journal.records.map(({ at }) => at)).toStrictEqual([...Array(5).fill(1_000), 1_200]);
  });

  test("that waits for an approval is parked, and continues with it", async () => {
    const { driver, model, end, told } = await begun({ with: [echo("guarded")] });
    await model.answers(calling("guarded"));
    expect(end.how).toBe("parked");
    expect(told.filter(({ type }) => type === "approval_request")).toHaveLength(1);
    const [call] = driver.state.run?.turn?.calls ?? [];
    driver.post({
      type: "approval_given",
      call: call?.key as "5.0",
      approval: { answer: "approve" } as never,
    });
    const again = ended(driver);
    await come();
    await model.answers(answer);
    expect(again.how).toBe("done");
  });

  test("that another driver began has events from here on, even though its beginning was not heard", async () => {
    const first = await begun({ with: [echo("guarded")] });
    await first.model.answers(calling("guarded"));
    const told: string[] = [];
    const current = [({ type }: RondoEvent) => void told.push(type)];
    const shell = shellOf({ journal: first.journal }, first.model);
    const second = new Driver(shell, { current }, first.driver.state);
    second.post({ type: "abort_asked", reason: "enough" });
    expect(await second.run()).toBe("done");
    expect(told).toContain("run_end");
  });

  test("that another driver began ends if a listener fails, even though its beginning was not heard", async () => {
    const first = await begun({ with: [echo("guarded")] });
    await first.model.answers(calling("guarded"));
    const listener: Listener = ({ type }) => {
      if (type === "message_withdrawn") throw new Error("deaf");
    };
    const shell = shellOf({ journal: first.journal }, first.model);
    const second = new Driver(shell, { current: [listener] }, first.driver.state);
    second.post(queued("more"));
    const [word] = second.state.inbox;
    second.post({ type: "withdrawn", id: word?.id ?? "" });
    expect(await second.run()).toBe("done");
    expect(second.state.run?.end).toMatchObject({ rule: "listener", error: { kind: "internal" } });
  });

  test("continues from what others wrote since it was read", async () => {
    const first = driverOf();
    first.driver.post(start());
    await come();
    const { driver, journal, model } = driverOf({ journal: first.journal });
    driver.startFrom(first.driver.state);
    ended(driver);
    await come();
    expect(driver.state.seq).toBe(2);
    expect(first.journal.types).toStrictEqual(["run_started", "model_started"]);
    expect([journal.records, model.heard.length]).toStrictEqual([[], 1]);
  });

  test("is driven by one caller at a time", async () => {
    const { driver } = await begun();
    await expect(driver.run()).rejects.toMatchObject({
      kind: "internal",
      message: "session s is being driven already",
    });
    expect(driver.running).toBe(true);
  });

  test("of an empty session is done at once", async () => {
    const { driver, journal } = driverOf();
    expect(await driver.run()).toBe("done");
    expect(journal.groups).toStrictEqual([]);
  });

  test("has secrets removed before they become facts", async () => {
    const redact = (fact: Fact): Fact => (fact.type === "queued" ? { ...fact, id: "***" } : fact);
    const { driver, journal } = driverOf({ redact });
    driver.post(start());
    driver.post(queued("secret"));
    expect(journal.records).toMatchObject([{ type: "run_started" }, { id: "***" }]);
    expect(driver.state.inbox).toMatchObject([{ id: "***" }]);
  });
});

describe("a fact that is posted to a driver", () => {
  test("while nobody drives is in the journal at once, and durable if the journal says so", async () => {
    const { driver, journal } = driverOf();
    journal.slow = true;
    driver.post(start());
    expect(journal.types).toStrictEqual(["run_started"]);
    let durable = false;
    void driver.settled().then(() => {
      durable = true;
    });
    await come();
    expect(durable).toBe(false);
    await journal.keeps();
    expect(durable).toBe(true);
    await driver.settled();
  });

  test("while nobody drives is written after earlier ones, and each caller waits for its own", async () => {
    const { driver, journal } = driverOf();
    journal.slow = true;
    const durable: string[] = [];
    driver.post(start());
    void driver.settled().then(() => durable.push("first"));
    driver.post(queued("more"));
    expect(journal.types).toStrictEqual(["run_started"]);
    await journal.keeps();
    expect([journal.types, durable]).toStrictEqual([["run_started", "queued"], ["first"]]);
    void driver.settled().then(() => durable.push("second"));
    await come();
    expect(durable).toStrictEqual(["first"]);
    await journal.keeps();
    expect(durable).toStrictEqual(["first", "second"]);
  });

  test("about a conversation that has been replaced is not written", () => {
    const { driver, journal } = driverOf();
    driver.post(start());
    driver.post({ ...queued("too late"), asked: 0 });
    driver.post({ ...queued("in time"), asked: 1 });
    expect(journal.records).toMatchObject([{ type: "run_started" }, { id: "in time" }]);
  });

  test("and stored as the last one is known, until others have written since", async () => {
    const { driver, journal } = driverOf();
    expect(driver.written).toBeUndefined();
    driver.post(start());
    driver.post(queued("more"));
    expect(driver.written).toBe(journal.records[1]);
    const { state } = driver;
    journal.refuses = new RondoError("storage", "disk full");
    expect(() => driver.post(queued("lost"))).toThrow("disk full");
    expect(driver.written).toBe(journal.records[1]);
    driver.startFrom(state);
    expect([driver.written, driver.failed]).toStrictEqual([undefined, undefined]);
  });

  test("and cannot be stored causes an error for whoever waits for it, or drives next, once", async () => {
    const heard = unheard();
    const { driver, journal } = driverOf();
    journal.slow = true;
    driver.post(start());
    await journal.fails(new RondoError("storage", "disk full"));
    expect(heard).toStrictEqual([]);
    await expect(driver.settled()).rejects.toMatchObject({ kind: "storage" });
    await driver.settled();
    expect(() => driver.post(queued("more"))).toThrow("disk full");
    expect(journal.types).toStrictEqual(["run_started"]);
    const next = driverOf();
    next.journal.slow = true;
    next.driver.post(start());
    await next.journal.fails(new RondoError("storage", "disk full"));
    await expect(next.driver.run()).rejects.toMatchObject({ kind: "storage" });
    expect(next.model.heard).toStrictEqual([]);
  });

  test("while it drives is processed, also while the last record is being written", async () => {
    const { driver, journal, model, end } = await begun();
    journal.slow = true;
    await model.answers(answer);
    expect(journal.types.at(-1)).toBe("run_ended");
    driver.post(queued("more"));
    expect(journal.types.at(-1)).toBe("run_ended");
    await journal.keeps();
    expect(journal.types.at(-1)).toBe("queued");
    expect(end.how).toBeUndefined();
    await journal.keeps();
    expect(end.how).toBe("done");
  });

  test("while a wait begins wakes it up", async () => {
    const { tool } = heldTool();
    const { driver, journal, model, end } = await begun({ with: [tool, echo("read")] });
    await model.answers(calling("read", "write"));
    expect(driver.state.run?.turn?.calls).toMatchObject([{ result: {} }, { startedAt: 1_000 }]);
    expect(end.how).toBeUndefined();
    journal.slow = true;
    driver.post(queued("more"));
    await come();
    expect(journal.types.at(-1)).toBe("queued");
    driver.post({ type: "abort_asked", reason: "enough" });
    expect(journal.types.at(-1)).toBe("queued");
    await journal.keeps();
    expect(journal.types).toContain("abort_asked");
  });
});

describe("a result that comes when nobody drives any more", () => {
  const late: Fact = { type: "tool_finished", call: "5.0", result: { content: [], isError: false } };
  const error = { kind: "network", message: "gone", retryable: true } as const;

  const outcomes: Fact[] = [
    late,
    { type: "child_waits", call: "5.0", pending: [], parked: true },
    { type: "model_finished", message: answer, checks: [] },
    { type: "model_failed", error },
    { type: "summary_finished", message: answer },
    { type: "summary_failed", error },
  ];

  test.each(outcomes)("is recorded as late: $type", (fact) => {
    const { driver, journal } = driverOf();
    driver.post(start());
    driver.post(fact);
    expect(journal.records[1]).toMatchObject({ type: "late_result", call: "call" in fact ? "5.0" : null });
  });

  test("is recorded as late, also if the run that asked for it has ended", async () => {
    const { tool, settle } = heldTool();
    const { driver, journal, model, clock, end } = await begun({ with: [tool] });
    await model.answers(calling("write"));
    driver.post({ type: "abort_asked", reason: "enough" });
    await come();
    clock.pass(100);
    await come();
    expect(end.how).toBe("done");
    await settle("so");
    expect(journal.types.slice(-2)).toStrictEqual(["run_ended", "late_result"]);
  });

  test("is no unhandled rejection if the journal has failed meanwhile, even if it is a hook's answer", async () => {
    const heard = unheard();
    const answered = Promise.withResolvers<undefined>();
    const asked = {
      hooks: { prepareStep: () => answered.promise },
      tools: new Map(),
      modelIndex: () => 0,
      session: "s",
      given: {},
    };
    const driven = driverOf({ hooks: asked });
    driven.driver.post(start({ hooks: ["prepareStep"] }));
    const end = ended(driven.driver);
    await come();
    driven.journal.refuses = new RondoError("storage", "disk full");
    driven.driver.post(queued("more"));
    await come();
    expect(end.how).toBe("rejected");
    answered.resolve(undefined);
    await come();
    expect([heard, driven.journal.types]).toStrictEqual([[], ["run_started"]]);
  });

  test.each(outcomes)("causes no error if it cannot be stored, at once or later: $type", async (fact) => {
    const heard = unheard();
    for (const at of ["once", "later"]) {
      const { driver, journal } = driverOf();
      driver.post(start());
      journal.slow = true;
      if (at === "once") journal.refuses = new Error("closed");
      expect(() => driver.post(fact)).not.toThrow();
      await journal.fails(new Error("closed"));
      const { length } = journal.groups;
      const { seq } = driver.state;
      expect(() => driver.post(fact)).not.toThrow();
      expect(() => driver.post(queued("more"))).toThrow("closed");
      expect([journal.groups.length, driver.state.seq]).toStrictEqual([length, seq]);
    }
    expect(heard).toStrictEqual([]);
  });
});

test("the callback for late results is not called while the run is driven", async () => {
  const late: Fact[] = [];
  const { driver, model } = driverOf({}, (fact) => void late.push(fact));
  driver.post(start());
  const end = ended(driver);
  await come();
  await model.answers(answer);
  expect([end.how, late]).toStrictEqual(["done", []]);
});

describe("a journal that fails", () => {
  test("ends the drive, and stops work in flight", async () => {
    const { driver, journal, model, end } = await begun();
    journal.refuses = new Error("disk full");
    driver.post(queued("more"));
    await come();
    expect(end).toMatchObject({ how: "rejected", thrown: { message: "disk full" } });
    expect(driver.running).toBe(false);
    expect(model.signal.reason).toMatchObject({ message: "disk full" });
    await expect(driver.run()).rejects.toThrow("disk full");
    expect(driver.failed).toMatchObject({
      message: expect.stringMatching(/nothing more until it is opened again: disk full$/),
      cause: { message: "disk full" },
    });
  });

  test("leaves the unwritten messages to the session when it asks, once, and nothing of the run", async () => {
    const { driver, journal, end } = await begun();
    expect(driver.takeUnkept()).toStrictEqual([]);
    journal.refuses = new Error("disk full");
    driver.post(queued("one"));
    driver.post({ type: "abort_asked", reason: "enough" });
    driver.post(queued("two"));
    await come();
    expect(end.how).toBe("rejected");
    expect(driver.takeUnkept()).toStrictEqual([queued("one"), queued("two")]);
    expect([driver.takeUnkept(), driver.mail]).toStrictEqual([[], []]);
  });

  test("later ends the drive too, even while it waits for something else", async () => {
    const { driver, journal, model, end } = await begun();
    journal.slow = true;
    driver.post(queued("more"));
    await come();
    await journal.fails(new RondoError("conflict", "another writer was faster"));
    expect(end).toMatchObject({ how: "rejected", thrown: { kind: "conflict" } });
    expect(model.signal.aborted).toBe(true);
    // That one has to be opened again was said in it.
    expect(driver.failed?.message).toBe("another writer was faster");
  });

  test("because another writer holds the session causes an error for a driver, and none for an idle object", async () => {
    const taken = new RondoError("conflict", "another has taken it");
    const one = await begun();
    one.driver.lose(taken);
    await come();
    expect(one.end).toMatchObject({ how: "rejected", thrown: taken });
    const other = await begun();
    await other.model.answers(answer);
    other.driver.lose(taken);
    expect([other.end.how, other.driver.failed]).toStrictEqual(["done", undefined]);
  });

  test("includes any failure of the driver itself: nothing more happens", async () => {
    const redact = (fact: Fact): Fact => {
      if (fact.type === "queued") throw new Error("a defect");
      return fact;
    };
    const { driver, model, end, journal } = await begun({ redact });
    const { length } = journal.groups;
    driver.post(queued("more"));
    await come();
    expect(end).toMatchObject({ how: "rejected", thrown: { message: "a defect" } });
    expect(model.signal.aborted).toBe(true);
    expect(() => driver.post({ type: "abort_asked", reason: "enough" })).toThrow("a defect");
    await model.answers(answer);
    expect(journal.groups).toHaveLength(length);
  });
});

describe("nothing starts", () => {
  test("before the record it follows from is durable: a model call", async () => {
    const { driver, journal, model } = driverOf();
    driver.post(start());
    journal.slow = true;
    ended(driver);
    await come();
    expect(journal.types).toStrictEqual(["run_started", "model_started"]);
    expect(model.heard).toHaveLength(0);
    await journal.keeps();
    expect(model.heard).toHaveLength(1);
  });

  test("before the record it follows from is durable: a question to a hook, which an abort meanwhile cancels", async () => {
    for (const [aborts, asked] of [
      [false, ["write"]],
      [true, []],
    ] as const) {
      const names: string[] = [];
      const hooks = { permission: ({ name }: { name: string }) => void names.push(name) };
      const about = { hooks, tools: new Map(), modelIndex: () => undefined, session: "s", given: {} };
      const { driver, journal, model } = await begun(
        { with: [echo("write")], hooks: about },
        { hooks: ["permission"], tools: [toolOf("write")] },
      );
      journal.slow = true;
      await model.answers(calling("write"));
      expect(names).toStrictEqual([]);
      if (aborts) driver.post({ type: "abort_asked", reason: "enough" });
      journal.slow = false;
      await journal.keeps();
      expect(names).toStrictEqual(asked);
    }
  });

  test("after an abort by the hook that was asked just before", async () => {
    const names: string[] = [];
    const permission = ({ name }: { name: string }): undefined => {
      names.push(name);
      one.driver.post({ type: "abort_asked", reason: "enough" });
    };
    const about = {
      hooks: { permission },
      tools: new Map(),
      modelIndex: () => undefined,
      session: "s",
      given: {},
    };
    const one = await begun(
      { with: [echo("read"), echo("write")], hooks: about },
      { hooks: ["permission"], tools: [toolOf("read"), toolOf("write")] },
    );
    await one.model.answers(calling("read", "write"));
    expect(names).toStrictEqual(["read"]);
    expect(one.driver.state.run?.end?.reason).toBe("aborted");
  });

  test("after an abort that came while its intent was written", async () => {
    const { driver, journal, model } = driverOf();
    driver.post(start());
    journal.slow = true;
    const end = ended(driver);
    await come();
    driver.post({ type: "abort_asked", reason: "enough" });
    journal.slow = false;
    await journal.keeps();
    expect(model.heard).toHaveLength(0);
    expect(end.how).toBe("done");
    expect(driver.state.run?.end?.reason).toBe("aborted");
  });

  test("after a drain at once, even if its intent is written", async () => {
    const { driver, journal, model } = driverOf();
    driver.post(start());
    journal.slow = true;
    const end = ended(driver);
    await come();
    driver.leaveNow();
    await journal.keeps();
    expect(model.heard).toHaveLength(0);
    expect(end.how).toBe("left");
  });

  test("while a gate is closed; it is checked again when it opens, or has opened meanwhile", async () => {
    const gate: NonNullable<Shell["gate"]> & { isOpen: boolean; looks: number } = {
      isOpen: false,
      looks: 0,
      pass() {
        this.looks += 1;
        return this.isOpen;
      },
      open: undefined,
    };
    const { model, journal } = await begun({ gate });
    expect([model.heard.length, journal.types]).toStrictEqual([0, ["run_started"]]);
    gate.isOpen = true;
    gate.open?.();
    await come();
    expect(model.heard).toHaveLength(1);
    await model.answers(answer);
    expect(() => gate.open?.()).not.toThrow();
    const quick = { open: undefined, left: 1, pass: () => quick.left-- < 1 };
    const passed = await begun({ gate: quick });
    expect(passed.model.heard).toHaveLength(1);
  });
});

describe("a listener that fails", () => {
  test("ends the run with its error, once, and gets no more of its events", async () => {
    const told: string[] = [];
    const listener: Listener = ({ type }) => {
      told.push(type);
      throw new Error("boom");
    };
    const { end, driver, journal } = await begun({ listener });
    expect(end.how).toBe("done");
    expect(told).toStrictEqual(["run_start"]);
    expect(journal.types.filter((type) => type === "abort_asked")).toHaveLength(1);
    const message = "a listener failed on run_start: boom";
    expect(driver.state.run?.end).toMatchObject({ reason: "error", error: { kind: "internal", message } });
    expect(journal.records.find(({ type }) => type === "abort_asked")).toMatchObject({
      reason: message,
      error: { kind: "internal", message, retryable: false },
    });
    // It has ended the run it heard, and no other.
    driver.post(start());
    const again = ended(driver);
    await come();
    expect([again.how, told.length]).toStrictEqual(["done", 2]);
  });
});

test("that gets a request for approval cannot change what is approved", async () => {
  const { model, told, driver } = await begun({ with: [echo("guarded")] });
  await model.answers(calling("guarded"));
  const asked = told.find((event) => event.type === "approval_request");
  expect(asked).toMatchObject({ call: { name: "guarded" } });
  expect(Object.isFrozen(asked?.type === "approval_request" && asked.call.args)).toBe(true);
  driver.leaveNow();
});

describe("a listener that fails later", () => {
  const slowly = (): { listener: Listener; fail: ((thrown: unknown) => void)[] } => {
    const fail: ((thrown: unknown) => void)[] = [];
    return { fail, listener: () => new Promise((_, reject) => fail.push(reject)) };
  };

  test("ends the run once, however often it fails", async () => {
    const { listener, fail } = slowly();
    const { journal } = await begun({ listener });
    for (const one of fail) one(new Error("boom"));
    await come();
    expect(fail.length).toBeGreaterThan(1);
    expect(journal.types.filter((type) => type === "abort_asked")).toHaveLength(1);
  });

  test("ends nothing if nobody drives any more", async () => {
    const { listener, fail } = slowly();
    const { journal, model, end } = await begun({ listener });
    await model.answers(answer);
    expect(end.how).toBe("done");
    for (const one of fail) one(new Error("boom"));
    await come();
    expect(journal.types.at(-1)).toBe("run_ended");
  });
});

describe("the action of the table is performed", () => {
  test("an abort stops work in flight, and waits for it within its grace", async () => {
    const { driver, model, clock, end } = await begun();
    driver.post({ type: "abort_asked", reason: "enough" });
    await come();
    expect(model.signal.reason).toMatchObject({ message: "no longer wanted: enough" });
    expect(end.how).toBeUndefined();
    clock.pass(100);
    await come();
    expect(end.how).toBe("done");
  });

  test("and a model's warnings are emitted", async () => {
    const { model, told } = await begun();
    const warning = { type: "warning", code: "odd", message: "a field was odd" } as const;
    model.emit(warning);
    expect(told.at(-1)).toStrictEqual(warning);
  });

  test("an output is checked against its schema, once", async () => {
    const texts: string[] = [];
    const checkOutput = (text: string): Promise<Fact & { type: "output_checked" }> => {
      texts.push(text);
      return Promise.resolve({ type: "output_checked", ok: true, value: "so" });
    };
    const output = { schema: { type: "string" }, decodeRetries: 0 };
    const { model, end } = await begun({ checkOutput }, { output, tools: [] });
    await model.answers(answer);
    expect([texts, end.how]).toStrictEqual([["so"], "done"]);
  });

  test("a history that is too long is summarised", async () => {
    const { driver, model, journal } = await begun({}, compactingOptions);
    await model.answers(answerOf([{ type: "text", text: "word ".repeat(2_000) }], { stop: answer.stop }));
    driver.post(start(compactingOptions));
    ended(driver);
    await come();
    expect(journal.types.at(-1)).toBe("summary_started");
    expect(model.heard).toHaveLength(2);
  });

  test("a tool is asked about an interrupted call", async () => {
    const asked: string[] = [];
    const reconcile = (key: string): { notDone: true } => {
      asked.push(key);
      return { notDone: true };
    };
    const { tool, contexts } = heldTool({ reconcile });
    const tools = [toolOf("write", { reconciles: true })];
    const { driver, model, journal } = await begun({ with: [tool] }, { tools });
    await model.answers(calling("write"));
    driver.leaveNow();
    await come();
    driver.stay();
    driver.post({ type: "opened", by: "test" });
    ended(driver);
    await come();
    expect(asked).toHaveLength(1);
    expect(journal.types).toContain("reconciled");
    expect(contexts).toHaveLength(2);
  });
});

describe("an abandoned sub-agent", () => {
  /** One that waits for somebody, and is ended when the test says so. */
  async function waiting() {
    const ended: string[] = [];
    const gone = Promise.withResolvers<undefined>();
    const { tool, settle } = heldTool({
      agent: { maxDepth: 1 },
      endChild: ({ session }) => {
        ended.push(session);
        return gone.promise;
      },
    });
    const driven = await begun({ with: [tool] }, { tools: [toolOf("write", { agent: { maxDepth: 1 } })] });
    await driven.model.answers(calling("write"));
    const pending = [{ id: "a", name: "write", args: {}, session: "s:2.0", agents: [] }];
    await settle(new ChildWaits(pending, nothingSpent, false));
    return { ...driven, ended, gone };
  }

  test("is ended before the run is over", async () => {
    const { driver, ended: children, gone, end, journal } = await waiting();
    expect(end.how).toBe("parked");
    driver.post({ type: "abort_asked", reason: "enough" });
    const again = ended(driver);
    await come();
    expect([children, again.how]).toStrictEqual([["s:2.0"], undefined]);
    gone.resolve(undefined);
    await come();
    expect(again.how).toBe("done");
    expect(journal.types.slice(-2)).toStrictEqual(["late_result", "run_ended"]);
  });

  test("is waited for no longer than an abort may take", async () => {
    const { driver, clock, journal } = await waiting();
    driver.post({ type: "abort_asked", reason: "enough" });
    const end = ended(driver);
    await come();
    clock.pass(60_000);
    await come();
    expect([end.how, journal.types.at(-1)]).toStrictEqual(["done", "run_ended"]);
  });
});

test("a message that comes while nobody drives is pending until the journal has it", async () => {
  const { driver, journal } = driverOf();
  expect(driver.writing).toBeUndefined();
  journal.slow = true;
  driver.post(queued("so"));
  let written = false;
  void driver.writing?.then(() => {
    written = true;
  });
  await come();
  expect(written).toBe(false);
  await journal.keeps();
  expect(written).toBe(true);
});

describe("time", () => {
  test("does not matter if nothing must be checked again", async () => {
    const { clock } = await begun();
    expect(clock.waits()).toStrictEqual([10]);
  });

  test("that passed while messages came is no finished wait", async () => {
    let time = 1_000;
    const clock = { ...handClock(), now: () => time };
    const timed = { ...rules, list: [until(1_009), ...rules.list] };
    const { driver, journal } = await begun({ rules: timed, clock });
    time = 1_009;
    driver.post(queued("more"));
    await come();
    expect(journal.types).toContain("queued");
    expect(journal.types).not.toContain("woke");
  });

  test("that passed is recorded as a fact, and not earlier", async () => {
    const timed = { ...rules, list: [until(1_009), ...rules.list] };
    const { clock, journal } = await begun({ rules: timed });
    clock.pass(8);
    await come();
    expect(journal.types).not.toContain("woke");
    clock.pass(1);
    await come();
    expect(journal.types).toContain("woke");
  });

  test("is waited for in pieces that timers support, and an interrupted wait is no finished one", async () => {
    const far = 2 ** 40;
    const clocks = { connectMs: 1, firstByteMs: 2 ** 50, idleMs: 2 ** 50, totalMs: 2 ** 51 };
    const timed = { ...rules, list: [until(far), ...rules.list] };
    const { clock, journal, driver } = await begun({ rules: timed }, { clocks });
    expect(clock.waits()).toStrictEqual([2 ** 31 - 1, 2 ** 31 - 1]);
    clock.pass(2 ** 31 - 1);
    await come();
    expect(journal.types).not.toContain("woke");
    expect(clock.waits()).toHaveLength(2);
    driver.post(queued("more"));
    await come();
    expect(clock.waits()).toHaveLength(2);
  });
});
