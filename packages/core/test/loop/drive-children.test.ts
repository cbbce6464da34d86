// The driver's arm towards sub-agents, by hand: what one is started with, what is passed on to it, and when it is ended.

import {
  type Call,
  type ChildStart,
  defaultTexts,
  type Fact,
  memoryBlobs,
  memoryJournal,
  RondoError,
  type RondoEvent,
  type Spent,
  type State,
  type Tool,
} from "@rondo/core";
import { describe, expect, test } from "vitest";
import type { LeftChild } from "../../src/loop/child-facts.ts";
import { nothingSpent } from "../../src/loop/children.ts";
import { viewOf } from "../../src/loop/driving/announce.ts";
import { Children } from "../../src/loop/driving/children.ts";
import { echo, jumpingClock } from "../support.ts";
import { acting, callOf, recordOf, rules, stateOf, textResult } from "./support.ts";

type Child = NonNullable<Call["child"]>;
const childFacts: Child = {
  session: "s:5.0",
  reserved: { tokens: 7 },
  spent: { ...nothingSpent, tokens: 2 },
  parked: false,
  waiting: [],
  answers: [{ inside: "id-0", said: { answer: "approve" } }],
  told: 0,
};
const sub = (change: Partial<Call> = {}): Call => callOf("5.0", { child: childFacts, ...change });
const journal = memoryJournal();
const blobs = memoryBlobs();
const clock = jumpingClock(0);

interface World {
  readonly children: Children;
  readonly posted: Fact[];
  readonly told: RondoEvent[];
  /** Errors of storage that stop the parent too. */
  readonly lost: RondoError[];
}

function worldOf(state: State, tools: readonly Tool[] = []): World {
  const posted: Fact[] = [];
  const told: RondoEvent[] = [];
  const lost: RondoError[] = [];
  const place = {
    session: "s",
    rules,
    journalOfChildren: journal,
    blobs,
    clock,
    tools: new Map(tools.map((one) => [one.name, one])),
  };
  const children = new Children(place, {
    state: () => state,
    post: (fact) => void posted.push(fact),
    tell: (event) => void told.push(event),
    lose: (error) => void lost.push(error),
  });
  return { children, posted, told, lost };
}

const startOf = ({ children }: World, call = sub(), wanted = (): boolean => true): ChildStart =>
  children.startOf(call, wanted).child as ChildStart;

describe("a sub-agent is started with", () => {
  test("its place, its parent, and what it may spend; other calls get nothing", () => {
    const world = worldOf(acting([sub()], {}, {}, { abortGraceMs: 101 }));
    expect(startOf(world)).toMatchObject({
      session: "s:5.0",
      graceMs: 75,
      parent: { session: "s", call: "5.0", depth: 1, budget: { tokens: 7 } },
      answers: childFacts.answers,
      told: childFacts.spent,
    });
    const started = startOf(world);
    expect(started.journal).toBe(journal);
    expect(started.blobs).toBe(blobs);
    expect(started.clock).toBe(clock);
    expect(started.texts).toBe(rules.texts);
    expect(rules.texts.skippedForEnd("x")).toBe(defaultTexts.skippedForEnd("x"));
    expect(world.children.startOf(callOf("5.1"), () => true)).toStrictEqual({});
  });

  test("a depth one below its parent's", () => {
    const parent = { session: "p", call: "1.0", depth: 2, budget: {} } as const;
    const { parent: mine } = startOf(worldOf(acting([sub()], { parent })));
    expect(mine).toMatchObject({ session: "s", call: "5.0", depth: 3 });
  });

  test("the first depth if there is no run", () => {
    const { run: _run, ...idle } = stateOf();
    expect(startOf(worldOf(idle))).toMatchObject({ parent: { depth: 1 } });
  });

  test("functions to notify its parent, which do nothing once it is no longer wanted", () => {
    let wanted = true;
    const world = worldOf(acting([sub()]));
    const started = startOf(world, sub(), () => wanted);
    const event: RondoEvent = { type: "step_start", step: 1 };
    const pending = [{ id: "id-0", name: "write", args: {}, session: "s:5.0", agents: [] }];
    started.emit(event);
    started.waits(pending);
    const full = new RondoError("storage", "the disk is full");
    started.lose(full);
    const told = [{ type: "child", call: viewOf(sub()), event }];
    const posted = [{ type: "child_waits", call: "5.0", pending, parked: false }];
    expect(world.told).toStrictEqual(told);
    expect(world.posted).toStrictEqual(posted);
    expect(world.lost).toStrictEqual([full]);
    wanted = false;
    started.emit(event);
    started.waits(pending);
    started.lose(full);
    expect(world.told).toStrictEqual(told);
    expect(world.posted).toStrictEqual(posted);
    expect(world.lost).toStrictEqual([full]);
  });
});

describe("a working sub-agent", () => {
  const passed = recordOf({
    type: "approval_passed",
    call: "5.0",
    inside: "id-0",
    said: { answer: "approve" },
    by: "ann",
  });
  /** A sub-agent that listens, and what it has heard. */
  function listening(world: World, call = sub()): { answers: unknown[]; leaves: boolean[] } {
    const heard = { answers: [] as unknown[], leaves: [] as boolean[] };
    const started = startOf(world, call);
    started.onAnswer((answer) => void heard.answers.push(answer));
    started.onLeave((now) => void heard.leaves.push(now));
    return heard;
  }

  test("gets the answers to its own calls, and nothing else", () => {
    const state = acting([sub()]);
    const world = worldOf(state);
    const { answers } = listening(world);
    world.children.see(passed);
    world.children.see({ ...passed, call: "5.1" } as typeof passed);
    world.children.see(recordOf({ type: "woke" }));
    expect(answers).toStrictEqual([{ inside: "id-0", said: { answer: "approve" } }]);
  });

  test("is told of a drain, at once if it is under way already, until the drain is taken back", () => {
    const world = worldOf(acting([sub()]));
    const early = listening(world);
    expect(early.leaves).toStrictEqual([]);
    world.children.leave("soon");
    const late = listening(world, sub({ key: "5.1" }));
    expect([early.leaves, late.leaves]).toStrictEqual([[false], [false]]);
    world.children.leave("now");
    expect([early.leaves, late.leaves]).toStrictEqual([
      [false, true],
      [false, true],
    ]);
    expect(listening(world, sub({ key: "5.2" })).leaves).toStrictEqual([true]);
    world.children.stay();
    expect(listening(world, sub({ key: "5.3" })).leaves).toStrictEqual([]);
  });

  const waits = { type: "child_waits", call: "5.0", pending: [] };
  const result = { type: "tool_finished", call: "5.0", result: textResult };
  test.each([
    ["has its result", result, false],
    ["has stopped to wait", { ...waits, parked: true }, false],
    ["waits while others are at work", { ...waits, parked: false }, true],
  ])("that %s is notified as long as it works", (_what, fact, hears) => {
    const state = acting([sub({ startedAt: 1 })]);
    const world = worldOf(state);
    const { answers, leaves } = listening(world);
    world.children.see(recordOf(fact));
    world.children.see(passed);
    world.children.leave("soon");
    expect([answers.length, leaves.length]).toStrictEqual(hears ? [1, 1] : [0, 0]);
  });

  test("that is started again does not notify its earlier start", () => {
    const state = acting([sub()]);
    const world = worldOf(state);
    const before = listening(world);
    startOf(world);
    world.children.see(passed);
    world.children.leave("now");
    expect(before).toStrictEqual({ answers: [], leaves: [] });
  });
});

describe("an abandoned sub-agent", () => {
  const left: LeftChild = {
    call: "5.0",
    name: "write",
    session: "s:5.0",
    told: { ...nothingSpent, tokens: 2 },
    until: 9,
  };

  /** What comes of ending it. */
  async function ended(endChild: NonNullable<Tool["endChild"]> | undefined): Promise<[Fact, RondoEvent[]]> {
    const { endChild: _none, ...plain } = echo("write");
    const world = worldOf(acting([sub()]), [{ ...plain, ...(endChild === undefined ? {} : { endChild }) }]);
    return [await world.children.end(left), world.told];
  }

  test("is ended in its own journal, and what it spent since its last report is recorded", async () => {
    const asked: unknown[] = [];
    const endChild = (place: object, reason: string): Promise<Spent> => {
      asked.push([place, reason]);
      return Promise.resolve({ ...nothingSpent, tokens: 5 });
    };
    const [fact, told] = await ended(endChild);
    expect(asked).toStrictEqual([
      [
        { session: "s:5.0", parent: { session: "s", call: "5.0" }, journal, blobs, clock, graceMs: 75 },
        "its parent was ended",
      ],
    ]);
    expect(fact).toStrictEqual({
      type: "late_result",
      call: "5.0",
      result: { content: [], isError: true, spent: { ...nothingSpent, tokens: 3, usd: 0 } },
    });
    expect(told).toStrictEqual([]);
  });

  test("is recorded without spending if it never began, or has spent nothing more", async () => {
    const over = { type: "late_result", call: "5.0" };
    for (const spent of [undefined, left.told]) {
      expect(await ended(() => Promise.resolve(spent))).toStrictEqual([over, []]);
    }
    for (const name of ["modelCalls", "agents", "uncounted"]) {
      const [fact] = await ended(() => Promise.resolve({ ...left.told, [name]: 1 }));
      expect(fact).toMatchObject({ result: { spent: { [name]: 1 } } });
    }
  });

  test("is recorded too if its tool is gone", async () => {
    const { children } = worldOf(acting([sub()]));
    const error = "there is no sub-agent write any more";
    expect(await children.end(left)).toStrictEqual({ type: "late_result", call: "5.0", error });
  });

  test.each<[string, NonNullable<Tool["endChild"]> | undefined, string, { open?: true }]>([
    [
      "that could not be ended is not over",
      () => Promise.reject(new Error("disk full")),
      "disk full",
      { open: true },
    ],
    ["that has no tool any more is not waited for", undefined, "there is no sub-agent write any more", {}],
  ])("and %s", async (_what, endChild, error, open) => {
    expect(await ended(endChild)).toStrictEqual([{ type: "late_result", call: "5.0", error, ...open }, []]);
  });
});
