import {
  budget,
  emptyState,
  type Rule,
  resolve,
  type State,
  type StopRule,
  skipRepeatedFailures,
  tool,
} from "@rondo/core";
import { steerable } from "@rondo/core/presets";
import { fail, modelCheck, say, scripted } from "@rondo/testkit";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { noShadow } from "../src/modelcheck/promises.ts";
import { keyOf } from "../src/modelcheck/state-key.ts";

const input = { type: "object", properties: { to: { type: "string" } }, required: ["to"] } as const;
const test = tool({
  name: "test",
  description: "Tests",
  inputSchema: { type: "object" },
  effect: "read",
  execute: () => "ok",
});
const deploy = tool({ name: "deploy", description: "Deploys", inputSchema: input, execute: () => "ok" });

/** Nothing is deployed that was not tested. */
function testFirst({
  forgets = false,
  counts = "finished",
}: {
  forgets?: boolean;
  counts?: "asked" | "finished";
} = {}): Rule<boolean> {
  return {
    name: "test_first",
    version: 1,
    init: () => false,
    fold(tested, record, before) {
      if (forgets && record.type === "delivered") return false;
      if (counts === "asked" && record.type === "model_finished")
        return (
          tested || record.message.content.some((part) => part.type === "tool_call" && part.name === "test")
        );
      if (counts !== "finished" || record.type !== "tool_finished") return tested;
      const call = before.run?.turn?.calls.find(({ key }) => key === record.call);
      return tested || (call?.name === "test" && call.result === undefined && !record.result.isError);
    },
    judgeCall: (tested, call) =>
      call.name === "deploy" && !tested
        ? { do: "answer", code: "denied", text: "test first", evidence: { tested } }
        : undefined,
  };
}

const promises = () => {
  return {
    "nothing is deployed that was not tested": ({
      before,
      record,
    }: Parameters<
      NonNullable<NonNullable<Parameters<typeof modelCheck>[0]["promises"]>[string]>
    >[0]): boolean => {
      if (record.type !== "tool_started") return true;
      const call = before.run?.turn?.calls.find(({ key }) => key === record.call);
      if (call?.name !== "deploy") return true;
      return [...before.history].some(
        (message) => message.role === "tool" && message.name === "test" && !message.isError,
      );
    },
  };
};

const tools = [test, { tool: deploy, examples: [{ to: "staging" }, { to: "production" }] }];

describe("the model checker over a user's rules and tools", () => {
  it("finds nothing in a rule that is right, and says what it reached", () => {
    const { broken, reached, unreached, states, text } = modelCheck({
      rules: [testFirst() as Rule],
      tools,
      promises: promises(),
      disturbances: { crash: 0, followUp: 0 },
      states: 8_000,
    });
    expect(broken, text).toEqual([]);
    expect(states).toBe(8_000);
    expect(unreached).toEqual([]);
    expect(reached.ends).toMatchObject({ completed: expect.any(Number), aborted: expect.any(Number) });
    expect(reached.rules).toMatchObject({ test_first: expect.any(Number) });
    expect(Object.keys(reached.tools).sort()).toEqual(["deploy", "test"]);
    expect(text).toMatch(/visited 8000 states, 0 broken$/);
  });

  it("finds a rule that counts what was asked for and not what came of it, with a story nothing can be left out of", () => {
    const { broken } = modelCheck({
      rules: [testFirst({ counts: "asked" }) as Rule],
      tools,
      promises: promises(),
      states: 4_000,
    });
    expect(broken.map(({ promise }) => promise)).toEqual(["nothing is deployed that was not tested"]);
    const [{ steps, story }] = broken as [(typeof broken)[0]];
    // One answer of the world is enough: both calls at once.
    expect(steps.filter((step) => !step.startsWith("loop: ") && step !== "start")).toHaveLength(1);
    expect(story).toMatch(/model answers .*deploy/);
    expect(story).toMatch(/the loop: start them\.?/);
  });

  it("takes no word for a yes, nor a promise of one", () => {
    const words = { later: async () => Promise.reject(new Error("no")), never: () => undefined } as unknown;
    const { broken } = modelCheck({ promises: words as ReturnType<typeof promises>, states: 20 });
    expect(broken.map(({ promise }) => promise).sort()).toEqual([
      "later: it must say true or false, at once",
      "never: it must say true or false, at once",
    ]);
  });

  it("finds a rule that says another thing each time it is asked", () => {
    let asked = 0;
    const moody: StopRule = () => {
      asked += 1;
      return asked % 2 === 0;
    };
    const { broken } = modelCheck({ rules: [moody], tools: [test], states: 500 });
    expect(broken.map(({ promise }) => promise)).toContain("P2: the same state led to two decisions");
    expect(broken[0]?.story).toMatch(/\n +A rule may go by its memory and the state alone/);
  });

  it("finds a rule that changes what it remembers instead of folding it", () => {
    const impure: Rule<{ calls: number }> = {
      name: "impure",
      version: 1,
      init: () => ({ calls: 0 }),
      fold: (seen, record) => {
        if (record.type === "tool_started") seen.calls += 1;
        return seen;
      },
    };
    const { broken } = modelCheck({ rules: [impure as Rule], tools: [test], states: 2_000 });
    const [{ promise, story }] = broken as [(typeof broken)[0]];
    expect(promise).toMatch(/^P2: folding tool_started: .*read only property 'calls'/);
    expect(story).toContain("its fold gives another memory");
  });

  it("finds a rule that remembers by a variable of its own", () => {
    let calls = 0;
    const impure: Rule<number> = {
      name: "impure",
      version: 1,
      init: () => 0,
      fold: (seen, record) => {
        if (record.type !== "tool_started") return seen;
        calls += 1;
        return calls;
      },
    };
    const { broken } = modelCheck({ rules: [impure as Rule], tools: [test], states: 2_000 });
    expect(broken.map(({ promise }) => promise)).toContain(
      "P3: the rule impure remembers something else when the same records are folded again",
    );
    expect(broken.map(({ story }) => story).join()).toContain(
      "Its fold may go by its memory, the record and",
    );
  });

  it("finds a rule whose memory it cannot see into, and says what a memory must be", () => {
    class Count {
      readonly #all: number;
      constructor(all: number) {
        this.#all = all;
      }
      more(): Count {
        return new Count(this.#all + 1);
      }
    }
    class Told extends Count {
      toJSON(): number {
        return 1;
      }
    }
    const remembering = (memory: unknown): Rule =>
      ({ name: "counts", version: 1, init: () => memory, fold: (seen: unknown) => seen }) as Rule;
    const broken = (memory: unknown): (readonly [string, string])[] =>
      modelCheck({ rules: [remembering(memory)], tools: [test], states: 200 }).broken.map(
        ({ promise, story }) => [promise, story],
      );
    const count = "an object of the class Count";
    for (const [memory, what] of [
      [new Count(0), count],
      [{ deep: [new Map([["a", new Set([new Count(0)])]])] }, count],
      [{ when: /x/ }, "an object of the class RegExp"],
      [[() => 1], "a function"],
    ]) {
      const found = broken(memory);
      expect(found.map(([promise]) => promise)).toEqual([
        `P3: the rule counts remembers ${what}: a memory must be plain data`,
      ]);
      expect(found[0]?.[1]).toContain("remember numbers, texts, plain objects, lists, maps and sets");
    }
    const data = { a: [1, null, undefined, "b"], m: new Map([[{ c: 1n }, new Set([true])]]), n: new Told(1) };
    for (const memory of [data, Object.create(null), undefined, skipRepeatedFailures().init?.(emptyState)])
      expect(broken(memory)).toEqual([]);
  });

  it("finds a rule that adds to the set or the map that it remembers, which no freezing holds", () => {
    const adding: { [change: string]: Partial<Rule<never>> } = {
      "the Set is read only: add()": {
        init: () => new Set() as never,
        fold: (seen: Set<string>, { type }) => (type === "tool_started" ? seen.add(type) : seen) as never,
      },
      "the Map is read only: set()": {
        init: () => ({ counts: new Map() }) as never,
        fold(memory: { counts: Map<string, number> }, { type }) {
          if (type === "tool_started") memory.counts.set(type, 1);
          return memory as never;
        },
      },
      "the Set is read only: clear()": {
        init: () => new Map([["all", new Set([1])]]) as never,
        fold(memory: Map<string, Set<number>>, { type }) {
          if (type === "tool_started") memory.get("all")?.clear();
          return memory as never;
        },
      },
    };
    for (const [change, part] of Object.entries(adding)) {
      const rule = { name: "adds", version: 1, ...part } as Rule;
      const { broken } = modelCheck({ rules: [rule], tools: [test], states: 500 });
      expect(broken[0]?.promise).toContain(change);
      expect(broken[0]?.story).toContain("its fold gives another memory");
    }
    const right: Rule<Set<string>> = {
      name: "right",
      version: 1,
      init: () => new Set(),
      fold: (seen, { type }) => (type === "tool_started" ? new Set([...seen, type]) : seen),
    };
    expect(modelCheck({ rules: [right as Rule], tools: [test], states: 500 }).broken).toEqual([]);
  });

  it("finds a rule that remembers by a variable of its own, in a map", () => {
    let calls = 0;
    const impure: Rule<Map<string, number>> = {
      name: "impure",
      version: 1,
      init: () => new Map(),
      fold: (seen, { type }) => {
        if (type !== "tool_started") return seen;
        calls += 1;
        return new Map([["calls", calls]]);
      },
    };
    const { broken } = modelCheck({ rules: [impure as Rule], tools: [test], states: 2_000 });
    expect(broken.map(({ promise }) => promise)).toContain(
      "P3: the rule impure remembers something else when the same records are folded again",
    );
  });

  it("finds a rule that changes its mind for good, whenever it does", () => {
    for (const after of [2, 5, 10, 11, 50, 51]) {
      let asked = 0;
      const tired: StopRule = () => {
        asked += 1;
        return asked > after;
      };
      const { broken } = modelCheck({ rules: [tired], tools: [test], states: 3_000 });
      expect(
        broken.map(({ promise }) => promise),
        String(after),
      ).toEqual(["P2: the same state led to two decisions"]);
    }
  });

  it("tells states apart by all that a user's rule remembers, whatever its members are called", () => {
    const { rules } = resolve({ model: scripted([]), rules: [testFirst() as Rule] });
    const at = rules.list.findIndex(({ name }) => name === "test_first");
    const key = (memory: unknown, toTheLetter = new Set(["test_first"])): string => {
      const memories = rules.list.map((_, place) => (place === at ? memory : undefined));
      const node = { state: { ...emptyState, memories, seq: 7 }, shadow: noShadow };
      return keyOf({ ...node, fuel: { abort: 0, steer: 0, followUp: 0, crash: 0 } }, { rules, toTheLetter });
    };
    for (const name of ["seen", "id", "key", "seq", "startedAt", "at", "notBefore"])
      expect(key({ [name]: 1 }), name).not.toBe(key({ [name]: 2 }));
    expect(key({ n: 7 })).not.toBe(key({ n: 0 }));
    for (const memory of [new Set(["a"]), new Map([["a", 1]]), { deep: [new Set(["a"])] }, 1n])
      for (const letter of [undefined, new Set<string>()])
        expect(key(memory, letter)).not.toBe(key(new Set(["b"]), letter));
    expect(key({ at: 1 }, new Set())).toBe(key({ at: 2 }, new Set()));
  });

  it("finds a rule that writes into the state, a record or a message of it", () => {
    type Writable = Record<string, unknown>;
    const judging = (write: (state: State) => unknown): Partial<Rule> => ({
      judge(_memory, state) {
        write(state);
        return undefined;
      },
    });
    const writes: { [what: string]: Partial<Rule> } = {
      "the run": judging(({ run }) => Object.assign(run as unknown as Writable, { step: 0 })),
      "the inbox": judging(({ inbox }) => (inbox as unknown[]).push("more")),
      "a message": judging(({ history }) => {
        for (const { content } of history) (content as unknown[]).push({ type: "text", text: "more" });
      }),
      "a record": {
        fold(memory, record) {
          Object.assign(record, { at: 0 });
          return memory;
        },
      },
    };
    for (const [what, part] of Object.entries(writes)) {
      const rule = { name: "writes", version: 1, init: () => 0, fold: (memory: unknown) => memory, ...part };
      const { broken } = modelCheck({ rules: [rule as Rule], tools: [test], states: 500 });
      const [first] = broken;
      expect(first?.promise, what).toMatch(/^P2: .*(read only|not extensible|Cannot delete)/);
      expect(first?.story, what).toContain("must leave the state, and the memory it is given, as they are");
    }
  });

  it("finds a rule that throws, where it folds and where it decides, and a promise that throws", () => {
    const broken = (part: Partial<Rule>): string[] =>
      modelCheck({
        rules: [{ name: "throws", version: 1, init: () => 0, ...part } as Rule],
        tools: [test],
        states: 500,
      }).broken.map(({ promise }) => promise);
    const boom = (): never => {
      throw new Error("boom");
    };
    expect(broken({ fold: (_, record) => (record.type === "tool_started" ? boom() : 0) })).toEqual([
      "P2: folding tool_started: the rule throws failed in fold: boom",
    ]);
    expect(broken({ decide: (_, state) => (state.run?.steps === 1 ? boom() : undefined) })).toEqual([
      "P2: the rule throws failed in decide: boom",
    ]);
    const throwing = modelCheck({ tools: [test], states: 50, promises: { mine: boom } });
    expect(throwing.broken.map(({ promise }) => promise)).toContain("mine: it threw: boom");
  });

  it("counts a rule as reached that only answers calls about to start", () => {
    const once: Rule<boolean> = {
      name: "once",
      version: 1,
      init: () => false,
      fold: { tool_finished: () => true },
      judgeStart: (done) => (done ? { code: "denied", text: "Once is enough." } : undefined),
    };
    const { reached, unreached } = modelCheck({ rules: [once], tools: [test], states: 3000 });
    expect(unreached).toEqual([]);
    expect(reached.rules.once).toBeGreaterThan(0);
  });

  it("gives a rule the answers it waits for", () => {
    const found: StopRule = ({ lastText }) => lastText.includes("FOUND");
    const without = modelCheck({ rules: [found], tools: [test], states: 300 });
    expect(without.unreached).toEqual(["rule found"]);
    expect(without.text).toContain("not reached: rule found");
    const answers = [[say("FOUND it"), say(".")]];
    const told = modelCheck({
      rules: [found],
      tools: [test],
      answers,
      disturbances: { abort: 0, crash: 0 },
      states: 20,
    });
    expect(told.broken).toEqual([]);
    expect(told.states).toBe(20);
  });

  it("takes presets and other options, and says the same for the same seed", () => {
    const check = (seed: number) =>
      modelCheck({
        agent: steerable({ model: scripted([]), ceiling: 3 }),
        tools: [test, deploy],
        states: 1_500,
        seed,
      });
    expect(check(1).broken).toEqual([]);
    expect(check(1).text).toBe(check(1).text);
    expect(check(2).text).not.toBe(check(1).text);
    const limited = modelCheck({
      agent: { budget: { tokens: 3 }, onLimit: "stop" },
      tools: [test],
      disturbances: { abort: 0, crash: 0, steer: 0, followUp: 0 },
      states: 1_500,
    });
    expect(limited.reached.ends).toHaveProperty("token_budget");
    expect(limited.broken).toEqual([]);
    expect(() => modelCheck({ rules: [budget({ usd: 1 })], states: 10 })).toThrow(/price/);
  });

  it("asks a tool what it touches as a run does: of what its schema makes of the arguments, and whoever cannot say touches anything", () => {
    const asked: unknown[] = [];
    const book = tool({
      name: "book",
      description: "Books a day",
      inputSchema: z.object({ day: z.string().transform((day) => new Date(day)) }),
      keys: ({ day }) => {
        asked.push(day);
        return [day.toISOString()];
      },
      execute: () => "booked",
    });
    const vague = tool({
      name: "vague",
      description: "Touches who knows what",
      inputSchema: { type: "object" },
      keys: () => {
        throw new Error("who knows");
      },
      execute: () => "done",
    });
    const { broken, text } = modelCheck({
      tools: [{ tool: book, examples: [{ day: "2026-01-01" }] }, vague],
      states: 500,
    });
    expect(broken, text).toEqual([]);
    expect(asked.length).toBeGreaterThan(0);
    for (const day of asked) expect(day).toEqual(new Date("2026-01-01"));
  });

  it("says so when a tool does not take what it is to be called with", () => {
    const strict = tool({
      name: "strict",
      description: "Strict",
      inputSchema: { type: "object", properties: { at: { type: "string", minLength: 5 } }, required: ["at"] },
      execute: () => "ok",
    });
    expect(() => modelCheck({ tools: [strict] })).toThrow(
      /does not take \{"at":"x"\}.*Give \{ tool, examples \}/,
    );
    expect(modelCheck({ tools: [{ tool: strict, examples: [{ at: "12345" }] }], states: 50 }).broken).toEqual(
      [],
    );
    expect(() => modelCheck({ answers: [fail("auth")] })).toThrow(
      /failures, aborts and time are the world's own/,
    );
  });
});
