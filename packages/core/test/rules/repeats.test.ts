// Calls that bring nothing new: how they are counted, and what is done about them. Asked of the rule by itself.

import { type Call, emptyState, type Rule, repeats, type State } from "@rondo/core";
import { beforeEach, describe, expect, test } from "vitest";
import { acting, finished, recordOf, stateOf, toolOf } from "../loop/support.ts";
import { afterAll, afterOne, ended, look, peek, saying } from "./support.ts";

describe("repeats", () => {
  type Memory = Parameters<NonNullable<ReturnType<typeof repeats>["decide"]>>[0];
  let rule = repeats();
  beforeEach(() => {
    rule = repeats();
  });
  /** What it remembers after calls that each came to something, one after the other. */
  const after = (
    made: readonly (readonly [call: Call, said: string])[],
    of: Rule<Memory> = rule,
    run: object = {},
  ) =>
    made.reduce<Memory>(
      (memory, [call, said]) => afterAll(of, [ended(saying(said))], acting([call], run), memory),
      of.init?.(emptyState) as Memory,
    );
  const times = (memory: Memory): number[] => [...memory.repeats.values()].map((one) => one.times);
  const again = (count: number, call: Call = look, said: string = "so"): [Call, string][] =>
    Array.from({ length: count }, () => [call, said]);

  test("are calls with the same outcome, whatever the order of their arguments is", () => {
    expect(rule).toMatchObject({ name: "repeats", version: 6 });
    const one = { ...look, args: { a: 1, b: 2 } };
    const turned = { ...look, args: { b: 2, a: 1 } };
    expect(
      times(
        after([
          [one, "so"],
          [turned, "so"],
        ]),
      ),
    ).toStrictEqual([2]);
    expect(
      times(
        after([
          [one, "so"],
          [{ ...one, args: { a: 1 } }, "so"],
        ]),
      ),
    ).toStrictEqual([1]);
    expect(
      times(
        after([
          [one, "so"],
          [{ ...one, name: "peek" }, "so"],
        ]),
      ),
    ).toStrictEqual([1]);
  });

  test("include those that a hook answers in place of running them, but not what it makes of other results", () => {
    const given = (hook: "beforeTool" | "afterTool", result?: object) =>
      recordOf({ type: "hook_answered", hook, call: look.key, ...(result && { result }) } as never);
    const seen = (...records: ReturnType<typeof given>[]): number[] =>
      times(
        records.reduce<Memory>(
          (memory, record) => afterAll(rule, [record], acting([look]), memory),
          rule.init?.(emptyState) as Memory,
        ),
      );
    const result = saying("so");
    expect(seen(given("beforeTool", result), given("beforeTool", result))).toStrictEqual([2]);
    expect(seen(given("beforeTool"), given("afterTool", result))).toStrictEqual([]);
  });

  test("of calls that could not be parsed are compared by the model's text", () => {
    const unread = (rawArgs: string): Call => ({ ...look, args: {}, argsError: "cut off", rawArgs });
    expect(
      times(
        after([
          [unread('{"a'), "no"],
          [unread('{"b'), "no"],
        ]),
      ),
    ).toStrictEqual([1]);
    expect(
      times(
        after([
          [unread('{"a'), "no"],
          [unread('{"a'), "no"],
        ]),
      ),
    ).toStrictEqual([2]);
    const read = (rawArgs: string): Call => ({ ...look, rawArgs });
    expect(
      times(
        after([
          [read("{}"), "no"],
          [read("{ }"), "no"],
        ]),
      ),
    ).toStrictEqual([2]);
  });

  const misfit = (text: string) => saying(text, { isError: true, code: "invalid_args" });
  /** Calls that do not fit, each in the answer that its key names. */
  const unfit = (...made: readonly (readonly [key: Call["key"], args: object, name?: string])[]): Memory =>
    made.reduce<Memory>((memory, [key, args, name = "look"]) => {
      const call = { ...look, key, name, args } as Call;
      const said = misfit(`no: ${JSON.stringify(args)}`);
      return afterAll(rule, [ended(said, key)], acting([call]), memory);
    }, rule.init?.(emptyState) as Memory);

  test("include calls of a tool with arguments that do not fit, whatever these are and whatever the error was", () => {
    const memory = unfit(["5.0", { a: 1 }], ["7.0", { b: 2 }], ["9.0", { c: 3 }]);
    expect(times(memory)).toStrictEqual([3]);
    expect(times(unfit(["11.0", { a: 1 }], ["13.0", { b: 2 }]))).toStrictEqual([2]);
    expect(times(unfit(["5.0", { a: 1 }], ["7.0", { b: 2 }, "peek"]))).toStrictEqual([1]);
    // The arguments that fit at last are something new.
    const fits = afterAll(rule, [ended(saying("so"), "11.0")], acting([{ ...look, key: "11.0" }]), memory);
    expect(times(fits)).toStrictEqual([1]);
  });

  test("are not within one answer: its calls were made before the model knew what was wrong", () => {
    expect(times(unfit(["5.0", { a: 1 }], ["5.1", { a: 2 }], ["5.2", { a: 3 }]))).toStrictEqual([1]);
    expect(times(unfit(["5.0", { a: 1 }], ["5.1", { a: 2 }], ["7.0", { a: 3 }]))).toStrictEqual([2]);
    const fits = afterAll(
      rule,
      [ended(saying("so"), "7.1")],
      acting([{ ...look, key: "7.1" }]),
      unfit(["5.0", {}]),
    );
    const back = { ...look, key: "7.2", args: { a: 1 } } as Call;
    expect(times(afterAll(rule, [ended(misfit("no"), "7.2")], acting([back]), fits))).toStrictEqual([1, 1]);
  });

  test("include calls of unknown tools, whatever their names and arguments are, each answer once", () => {
    const unknown = (...made: readonly (readonly [key: Call["key"], name: string, args: object])[]): Memory =>
      made.reduce<Memory>((memory, [key, name, args]) => {
        const said = saying(`unknown tool ${name}`, { isError: true, code: "unknown_tool" });
        return afterAll(rule, [ended(said, key)], acting([{ ...look, key, name, args } as Call]), memory);
      }, rule.init?.(emptyState) as Memory);
    const three = unknown(["5.0", "a", { x: 1 }], ["7.0", "b", {}], ["9.0", "a", { x: 2 }]);
    expect(times(three)).toStrictEqual([3]);
    expect(times(unknown(["5.0", "a", {}], ["5.1", "b", {}], ["7.0", "a", {}]))).toStrictEqual([2]);
    expect(rule.decide?.(three, stateOf())).toMatchObject({
      do: "nudge",
      text: '3 answers have called tools that do not exist, "a" the last of them. Call one of those there are, or do without.',
    });
    const four = unknown(["5.0", "a", {}], ["7.0", "b", {}], ["9.0", "c", {}], ["11.0", "d", {}]);
    // There is nothing to hide.
    expect(rule.decide?.(four, stateOf())).toBeUndefined();
    expect(
      rule.decide?.(
        unknown(...["5.0", "7.0", "9.0", "11.0", "13.0"].map((key) => [key, key, {}] as never)),
        stateOf(),
      ),
    ).toMatchObject({
      do: "land",
      reason: "no_progress",
    });
  });

  /** Calls of a tool that failed, each in the answer that its key names. */
  const failed = (
    ...made: readonly (readonly [key: Call["key"], args: object, said?: string, code?: string | undefined])[]
  ): Memory =>
    made.reduce<Memory>((memory, [key, args, text = "disk full", code]) => {
      const said = saying(text, { isError: true, ...(code === undefined ? {} : { code: code as "threw" }) });
      return afterAll(rule, [ended(said, key)], acting([{ ...look, key, args } as Call]), memory);
    }, rule.init?.(emptyState) as Memory);

  test("include calls of a tool that fail with the same words, whatever their arguments are, each answer once", () => {
    for (const code of [undefined, "threw", "timeout", "denied", "hook_failed"])
      expect(times(failed(["5.0", { a: 1 }, "no", code], ["7.0", { b: 2 }, "no", code]))).toStrictEqual([
        2, 1, 1,
      ]);
    const one = failed(["5.0", { a: 1 }], ["5.1", { a: 2 }], ["5.2", { a: 3 }]);
    expect(times(one)).toStrictEqual([1, 1, 1, 1]);
    // Other words are something new, and what was not run or was cut off says nothing about the tool.
    expect(times(failed(["5.0", { a: 1 }, "no a"], ["7.0", { b: 2 }, "no b"]))).toStrictEqual([1, 1]);
    for (const code of ["skipped", "too_many_calls", "aborted", "limit"])
      expect(times(failed(["5.0", { a: 1 }, "no", code], ["7.0", { b: 2 }, "no", code]))).toStrictEqual([1]);
  });

  /** So many answers in which the tool fails, each time with other arguments. */
  const failing = (count: number): Memory =>
    failed(...Array.from({ length: count }, (_, at) => [`${5 + 2 * at}.0`, { at }] as [Call["key"], object]));

  test("that fail alike bring a note, never hide the tool, and land two repeats later", () => {
    expect(rule.decide?.(failing(2), stateOf())).toBeUndefined();
    expect(rule.decide?.(failing(3), stateOf())).toMatchObject({
      do: "nudge",
      text: "3 answers have called look, and it failed with the same words each time. Calling it again, with these or other arguments, is unlikely to help.",
    });
    expect(rule.decide?.(failing(6), stateOf())).toMatchObject({ do: "nudge" });
    expect(rule.decide?.(failing(7), stateOf())).toMatchObject({
      do: "land",
      reason: "no_progress",
      evidence: { tool: "look", times: 7, landAt: 7 },
    });
  });

  test("that fail alike have their note beside the repeats of another tool", () => {
    let memory = rule.init?.(emptyState) as Memory;
    for (let at = 0; at < 4; at += 1) {
      const fails = { ...look, key: `${5 + 4 * at}.0`, args: { at } } as Call;
      const same = { ...peek, key: `${7 + 4 * at}.0` } as Call;
      const words = saying("disk full", { isError: true });
      memory = afterAll(rule, [ended(words, fails.key)], acting([fails]), memory);
      if (at < 3) memory = afterAll(rule, [ended(saying("so"), same.key)], acting([same]), memory);
    }
    const peeked = rule.decide?.(memory, stateOf());
    expect(peeked).toMatchObject({ do: "nudge", evidence: { tool: "peek", times: 3 } });
    const nudged = [...memory.repeats].flatMap(([outcome, { tool }]) => (tool === "peek" ? [outcome] : []));
    expect(rule.decide?.({ ...memory, nudged }, stateOf())).toMatchObject({
      do: "nudge",
      evidence: { tool: "look", times: 3 },
    });
  });

  test("of a hidden tool that still fails count for its call alone", () => {
    const four = failed(
      ...Array.from({ length: 4 }, (_, at) => [`${5 + 2 * at}.0`, { a: 1 }] as [Call["key"], object]),
    );
    expect(times(four)).toStrictEqual([4, 4]);
    const call = { ...look, key: "13.0", args: { a: 1 } } as Call;
    const words = saying("disk full", { isError: true });
    const hidden = afterAll(rule, [ended(words, call.key)], acting([call], { hidden: ["look"] }), four);
    expect(times(hidden)).toStrictEqual([4, 5]);
  });

  test("that fail alike with the same arguments are the same call: one note, then the tool is hidden", () => {
    const same = (count: number): Memory =>
      failed(
        ...Array.from({ length: count }, (_, at) => [`${5 + 2 * at}.0`, { a: 1 }] as [Call["key"], object]),
      );
    expect(rule.decide?.(same(3), stateOf())).toMatchObject({
      do: "nudge",
      text: expect.stringContaining("3 times with the same arguments"),
    });
    expect(rule.decide?.(same(4), stateOf())).toMatchObject({ do: "hide_tool", tool: "look" });
  });

  test.each([
    ...["displayName", "display_text", "displayTitle", "explanation", "rationale", "reason", "reasoning"],
    ...[
      "justification",
      "purpose",
      "intent",
      "thought",
      "thoughts",
      "toolSummary",
      "tool_action",
      "requestId",
    ],
    ...["call-id", "traceId", "correlation_id", "nonce", "timestamp"],
    ...["display", "label", "title", "description", "comment", "note", "message", "summary"],
  ])(
    "of a read are the same calls whatever %s says, and so are those of an unknown tool if it is no word of writes",
    (name) => {
      const isOfAny = !/^(display|label|title|description|comment|note|message|summary)$/.test(name);
      const both = (call: Call): number[] =>
        times(
          after(["x", "y"].map((said): [Call, string] => [{ ...call, args: { a: 1, [name]: said } }, "so"])),
        );
      expect(both({ ...look, tool: toolOf("look", { effect: "read" }) })).toStrictEqual([2]);
      const { tool: _tool, ...unknown } = look;
      expect(both(unknown as Call)).toStrictEqual([isOfAny ? 2 : 1]);
    },
  );

  test("are the same calls although what they say about themselves differs", () => {
    const made = (...all: readonly object[]): number[] =>
      times(after(all.map((args): [Call, string] => [{ ...look, args } as Call, "so"])));
    expect(made({ a: 1, explanation: "first" }, { a: 1, explanation: "again" })).toStrictEqual([2]);
    expect(made({ a: 1, displayName: "x" }, { a: 1, display_name: "y", requestId: "2" })).toStrictEqual([2]);
    expect(made({ a: 1, explanation: "first" }, { a: 2, explanation: "first" })).toStrictEqual([1]);
    // What is all that a call says is what it is about.
    expect(made({ explanation: "first" }, { explanation: "again" })).toStrictEqual([1]);
    // A description may be what a write is about; what is read does not depend on it.
    for (const [effect, count] of [
      ["write", 1],
      ["read", 2],
    ] as const) {
      const call = { ...look, tool: toolOf("look", { effect }) };
      const described = ["x", "y"].map((description): [Call, string] => [
        { ...call, args: { a: 1, description } } as Call,
        "so",
      ]);
      expect(times(after(described))).toStrictEqual([count]);
    }
  });

  test("of arguments that do not fit are reported with the schema, unless that is long", () => {
    const three = unfit(["5.0", { a: 1 }], ["7.0", { b: 2 }], ["9.0", { c: 3 }]);
    const withSchema = (inputSchema: object): unknown => {
      const tool = toolOf("look");
      const options = {
        tools: [toolOf("peek"), { ...tool, definition: { ...tool.definition, inputSchema } }],
      };
      return rule.decide?.(three, { ...stateOf(), options } as unknown as State);
    };
    const told = (inputSchema: object): unknown => (withSchema(inputSchema) as { text: string }).text;
    expect(told({ type: "object", required: ["x"] })).toBe(
      '3 answers have called look with arguments that do not fit. They must fit this schema: {"type":"object","required":["x"]}. Call it with what fits, or do without it.',
    );
    const short =
      "3 answers have called look with arguments that do not fit. Call it with what fits, or do without it.";
    const sized = (chars: number): object => ({ type: "object", title: "x".repeat(chars - 28) });
    expect(JSON.stringify(sized(2_000))).toHaveLength(2_000);
    expect(told(sized(2_000))).toContain("They must fit this schema");
    expect(told(sized(2_001))).toBe(short);
    const noTool = { ...stateOf(), options: { tools: [toolOf("peek")] } } as unknown as State;
    expect(rule.decide?.(three, noTool)).toMatchObject({ text: short });
  });

  test("of a tool that was hidden because of them are counted on if it is still called", () => {
    const four = unfit(["5.0", { a: 1 }], ["7.0", { b: 2 }], ["9.0", { c: 3 }], ["11.0", { d: 4 }]);
    const call = { ...look, key: "13.0", args: { e: 5 } } as Call;
    const hidden = afterAll(
      rule,
      [ended(saying("gone"), "13.0")],
      acting([call], { hidden: ["look"] }),
      four,
    );
    expect([...hidden.repeats.values()]).toMatchObject([{ tool: "look", times: 5 }]);
  });

  test("are reset by anything new, and counted on if two calls alternate", () => {
    expect(times(after([...again(3), [look, "new"]]))).toStrictEqual([1]);
    expect(times(after([...again(3), [look, "new"], ...again(1)]))).toStrictEqual([1, 1]);
    const turns = [look, peek, look, peek, look].map((call): [Call, string] => [call, "so"]);
    expect(times(after(turns))).toStrictEqual([2, 2]);
  });

  test("of a hidden tool are counted on, whatever their outcome is", () => {
    const three = after(again(3));
    const hidden = afterAll(rule, [ended(saying("gone"))], acting([look], { hidden: ["look"] }), three);
    expect([...hidden.repeats.values()]).toMatchObject([{ tool: "look", times: 4 }]);
    const other = afterAll(rule, [ended(saying("gone"))], acting([peek], { hidden: ["peek"] }), three);
    expect(times(other)).toStrictEqual([1]);
  });

  test("exclude tools that may repeat, sub-agents, and calls that are over or were not made", () => {
    const empty = rule.init?.(emptyState) as Memory;
    const agent = { ...look, tool: toolOf("look", { agent: { maxDepth: 1 } }) };
    const { tool: _tool, ...unknown } = look;
    expect(
      times(
        after([
          [unknown as Call, "so"],
          [unknown as Call, "so"],
        ]),
      ),
    ).toStrictEqual([2]);
    const still = (fact: object, before: State, of: Rule<Memory> = rule): void =>
      expect(afterOne(of, empty, recordOf(fact), before)).toBe(empty);
    still(ended(), acting([agent]));
    still(ended(), acting([finished("5.0")]));
    still(ended(saying("so"), "5.1"), acting([look]));
    still(ended(), stateOf());
    still(ended(), emptyState);
    still({ type: "tool_started", call: "5.0", idempotencyKey: "k" }, acting([look]));
    still({ type: "noted", rule: "room", text: "", evidence: {} }, acting([look]));
    still(ended(), acting([look]), repeats({ exempt: ["look"] }));
  });

  const decided = (memory: Memory, run: object = {}, of: Rule<Memory> = rule): unknown =>
    of.decide?.(memory, stateOf(run));
  const evidence = (count: number): object => ({ tool: "look", times: count, outcome: expect.any(String) });

  test("cause a note at three, hide the tool at four and land the run at five", () => {
    expect(decided(after(again(2)))).toBeUndefined();
    expect(decided(after(again(3)))).toStrictEqual({
      do: "nudge",
      text: expect.stringMatching(/^look has been called 3 times/),
      evidence: evidence(3),
    });
    expect(decided(after(again(4)))).toStrictEqual({ do: "hide_tool", tool: "look", evidence: evidence(4) });
    for (const count of [5, 6])
      expect(decided(after(again(count)))).toStrictEqual({
        do: "land",
        reason: "no_progress",
        evidence: { ...evidence(count), landAt: 5 },
      });
  });

  test("cause one note, and hide a tool once", () => {
    const three = after(again(3));
    const [outcome] = [...three.repeats.keys()];
    const noted = (rule: string, of: unknown): object => ({
      type: "noted",
      rule,
      text: "",
      evidence: { outcome: of },
    });
    const told = (memory: Memory, ...facts: object[]): Memory => afterAll(rule, facts, stateOf(), memory);
    expect(decided(told(three, noted("repeats", outcome), noted("repeats", "other")))).toBeUndefined();
    expect(decided(told(three, noted("repeats", "other")))).toMatchObject({ do: "nudge" });
    expect(decided(told(three, noted("mine", outcome)))).toMatchObject({ do: "nudge" });
    expect(decided(told(three, { ...noted("repeats", outcome), type: "mode" }))).toMatchObject({
      do: "nudge",
    });
    const four = after(again(4));
    expect(decided(four, { hidden: ["look"] })).toBeUndefined();
    expect(decided(four, { hidden: ["peek"] })).toMatchObject({ do: "hide_tool" });
    expect(rule.decide?.(four, emptyState)).toBeUndefined();
  });

  test("of the second of two calls are found too", () => {
    const mixed = [look, peek, peek, peek].map((call): [Call, string] => [call, "so"]);
    expect(decided(after(mixed))).toMatchObject({ do: "nudge", evidence: { tool: "peek" } });
  });

  test("are allowed up to the set number", () => {
    const patient = repeats({ nudgeAt: 1, hideAt: 6, landAt: 7 });
    expect(decided(after(again(1), patient), {}, patient)).toMatchObject({ do: "nudge" });
    expect(decided(after(again(5), patient), {}, patient)).toMatchObject({ do: "nudge" });
    expect(decided(after(again(6), patient), {}, patient)).toMatchObject({ do: "hide_tool" });
    expect(decided(after(again(7), patient), {}, patient)).toMatchObject({ do: "land" });
    expect(decided(after(again(1)))).toBeUndefined();
  });
});
