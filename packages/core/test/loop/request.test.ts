// What a model is sent, and how room is made for it: the pure rooms, on states made by hand.

import {
  contextFacts,
  type FilePart,
  type Message,
  next,
  type Repair,
  type Rules,
  type RunOptions,
  repairOfFile,
  requestOf,
  type State,
} from "@rondo/core";
import { describe, expect, test } from "vitest";
import { compactionDue, guarded, tooLarge, trimmed } from "../../src/loop/deciding/making-room.ts";
import { Log } from "../../src/loop/log.ts";
import { besideOf, notesOf } from "../../src/loop/request/notes.ts";
import {
  accountOf,
  frontOf,
  outputThatFits,
  sizeOf,
  windowFacts,
  windowOf,
} from "../../src/loop/request/window.ts";
import { shaped, toolChoiceOf } from "../../src/loop/request.ts";
import type { RunState } from "../../src/loop/state.ts";
import { answerOf, options, rules, stateOf } from "./support.ts";

const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const because = { rule: "some_rule", evidence: {} };
const landing = { reason: "max_steps" as const, ...because };
const output = { schema: { type: "object" }, decodeRetries: 0 };
const { texts } = rules;
/** Measures that can be counted by hand: a message is 10, a tool 1, a text 100. */
const plain: Rules = {
  ...rules,
  estimator: {
    ...rules.estimator,
    message: () => 10,
    text: (text: string) => (text === "" ? 0 : 100),
    tools: (list: readonly unknown[]) => list.length,
  } as never,
};
const contextOf = (given: Parameters<typeof contextFacts>[0]): Pick<RunOptions, "context"> => ({
  context: contextFacts(given),
});

describe("a request", () => {
  const request = (run: object = {}, change: object = {}, more: object = {}): ReturnType<typeof requestOf> =>
    requestOf(stateOf(run, more, change), rules);

  test("has the system prompt, the history, the tools and the settings", () => {
    const tools = options().tools.map(({ definition }) => definition);
    expect(request()).toStrictEqual({
      messages: stateOf().history,
      tools,
      toolChoice: "auto",
      settings: { maxOutputTokens: 1_000 },
    });
    expect(request({}, { system: "be brief" }).system).toBe("be brief");
    // The very list, and no copy: what was seen of it before need not be looked at again.
    const state = stateOf();
    expect(requestOf(state, rules).messages).toBe(state.history);
  });

  test("has the notes of rules and modes after the history", () => {
    const said = (run: object, change: object = {}): string[] =>
      [...request(run, change).messages]
        .slice(1)
        .map((message) => (message.content[0] as { text: string }).text);
    expect(said({ notes: ["a", "b"] })).toStrictEqual(["a", "b"]);
    expect(said({ landing })).toStrictEqual([texts.landing("max_steps")]);
    expect(said({ output: { attempt: 0, error: "no" } }, { output })).toStrictEqual([
      texts.finalOutput("no"),
    ]);
    expect(said({ output: { attempt: 0 } }, { output: { ...output, request: "stored" } })).toStrictEqual([]);
    const prompted = { output: { ...output, way: "prompted" as const } };
    expect(said({ output: { attempt: 0 } }, prompted)).toStrictEqual([
      texts.finalOutput(undefined),
      texts.outputSchema('{"type":"object"}'),
    ]);
    expect(said({}, prompted)).toStrictEqual([]);
    expect(said({}, { ...prompted, tools: [] })).toStrictEqual([texts.outputSchema('{"type":"object"}')]);
    expect(said({ output: { attempt: 0 } })).toHaveLength(1);
    const origin = { api: "a", provider: "p", model: "m" };
    const wordless = { id: "m", origin, facts: { output: "none" as const, tools: false } };
    expect(notesOf(stateOf({}, {}, { models: [wordless], tools: [] }), rules)).toStrictEqual([]);
  });

  test("says that no tool may be used while the run lands or makes its typed output", () => {
    expect(request({ landing }).toolChoice).toBe("none");
    expect(request({ landing }).tools).toHaveLength(3);
    expect(request({ output: { attempt: 0 } }).toolChoice).toBe("none");
    expect(request({ landing }, { landing: { omitTools: true } }).tools).toStrictEqual([]);
    expect(request({ landing }, { landing: { omitTools: false } }).tools).toHaveLength(3);
    expect(request({}, { landing: { omitTools: true } }).tools).toHaveLength(3);
  });

  test("has the settings its step was prepared with, which override the agent's own in that step only", () => {
    const settingsAt = (step: number): unknown =>
      request({ prepared: { step, settings: { temperature: 0.5 } } }).settings;
    expect(settingsAt(1)).toStrictEqual({ maxOutputTokens: 1_000, temperature: 0.5 });
    expect(settingsAt(2)).toStrictEqual({ maxOutputTokens: 1_000 });
  });

  test("has the tool choice its step was prepared for", () => {
    expect(request({ prepared: { step: 1, toolChoice: "required" } }).toolChoice).toBe("required");
    expect(request({ prepared: { step: 2, toolChoice: "required" } }).toolChoice).toBe("auto");
    expect(request({ prepared: { step: 1 } }).toolChoice).toBe("auto");
  });

  test("has the schema of its output if the model is held to it natively", () => {
    const native = { output: { ...output, way: "native" as const } };
    expect(request({ output: { attempt: 0 } }, native).outputSchema).toStrictEqual({ type: "object" });
    expect(request({}, native)).not.toHaveProperty("outputSchema");
    expect(
      request({ output: { attempt: 0 } }, { output: { ...output, way: "prompted" } }),
    ).not.toHaveProperty("outputSchema");
    const tool = request({ output: { attempt: 0 } }, { output: { ...output, way: "tool" } });
    expect(tool).not.toHaveProperty("outputSchema");
    expect(tool.tools).toHaveLength(4);
  });

  test("keeps its messages if only a setting was refused", () => {
    const state = stateOf({ dropped: ["settings.temperature"] });
    expect(shaped(state, rules)).toStrictEqual({ messages: state.history, stages: [], by: [] });
  });

  test("has the reduced output limit, and no reasoning if that was refused", () => {
    const settings = (run: object, change: object = {}): object => request(run, change).settings;
    const given = options().settings;
    expect(request({}, { settings: given }).settings).toBe(given);
    expect(settings({ maxOutputTokens: 2_000 })).toStrictEqual({ maxOutputTokens: 2_000 });
    expect(settings({ dropped: ["reasoning"] })).toStrictEqual({ maxOutputTokens: 1_000 });
    const reasoning = { settings: { reasoning: "high" as const } };
    expect(settings({ dropped: ["reasoning"] }, reasoning)).toStrictEqual({ reasoning: "off" });
    expect(settings({ dropped: ["files"] }, reasoning)).toStrictEqual({ reasoning: "high" });
    expect(settings({ dropped: ["reasoning"], maxOutputTokens: 5 }, reasoning)).toStrictEqual({
      reasoning: "off",
      maxOutputTokens: 5,
    });
    const cold = { settings: { temperature: 0.5, topP: 0.9, reasoning: "high" as const } };
    const left = settings({ dropped: ["files", "settings.temperature"] }, cold);
    expect(left).toStrictEqual({ topP: 0.9, reasoning: "high" });
    expect(settings({ dropped: ["reasoning", "settings.topP"] }, cold)).toStrictEqual({
      temperature: 0.5,
      reasoning: "off",
    });
    const small = contextOf({ window: 600, guard: null });
    expect(settings({}, small)).toStrictEqual({ maxOutputTokens: 1_000 });
    expect(
      (settings({}, contextOf({ window: 600 })) as { maxOutputTokens: number }).maxOutputTokens,
    ).toBeLessThan(600);
  });
});

describe("the tool choice of a request", () => {
  test("is the agent's, unless a hook chose another, and none in a landing", () => {
    const landing = { reason: "max_steps", rule: "max_steps", evidence: {} } as const;
    expect(toolChoiceOf(stateOf())).toBe("auto");
    expect(toolChoiceOf(stateOf({}, {}, { toolChoice: "any" }))).toBe("any");
    expect(toolChoiceOf(stateOf({ prepared: { step: 1, toolChoice: "none" } }))).toBe("none");
    expect(toolChoiceOf(stateOf({ landing }))).toBe("none");
  });
});

describe("the messages of a request", () => {
  const history = (...messages: Message[]): Partial<State> => ({ history: Log.of(messages) });

  test("are the history itself, if nothing changes", () => {
    const state = stateOf();
    expect(shaped(state, rules)).toStrictEqual({ messages: state.history, stages: [], by: [] });
    expect(shaped(state, rules).messages).toBe(state.history);
    const cutting = stateOf({}, {}, contextOf({ window: 1_000 }));
    expect(shaped(cutting, rules).messages).toBe(cutting.history);
  });

  test("are edited by the hook of this step only", () => {
    const at = (step: number): ReturnType<typeof shaped> =>
      shaped(stateOf({ transformed: { step, edit: [{ put: user("other") }] } }), rules);
    expect([at(1).by, [...at(1).messages]]).toStrictEqual([["transformContext"], [user("other")]]);
    expect([at(2).by, [...at(2).messages]]).toStrictEqual([[], [user("task")]]);
    expect(shaped(stateOf({ transformed: { step: 1 } }), rules).by).toStrictEqual([]);
  });

  const results: Message[] = [
    user("task"),
    ...Array.from({ length: 6 }, (_, at): Message[] => [
      answerOf([{ type: "tool_call", id: `c${at}`, name: "read", args: {}, rawArgs: "{}" }]),
      {
        role: "tool",
        callId: `c${at}`,
        name: "read",
        content: [{ type: "text", text: "word ".repeat(3_000) }],
        isError: false,
      },
    ]).flat(),
  ];

  test("are pruned once the cache has expired, if the window is known and fills", () => {
    const pruned = (
      more: object,
      change: object = contextOf({ window: 10_000, prune: { mode: "cache-ttl" } }),
    ): ReturnType<typeof shaped> =>
      shaped(stateOf({}, { ...history(...results), now: 10_000_000, ...more }, change), rules);
    const cold = pruned({ touchedAt: 1_000 });
    expect([cold.by, cold.stages.map(({ stage }) => stage)]).toStrictEqual([["prune"], ["prune"]]);
    expect(JSON.stringify([...cold.messages]).length).toBeLessThan(JSON.stringify(results).length);
    const asked = (more: object): object =>
      next(
        stateOf(
          {},
          { ...history(...results), now: 10_000_000, ...more },
          contextOf({ window: 40_000, prune: { mode: "cache-ttl" }, trim: null, compaction: null }),
        ),
        rules,
      );
    expect(asked({ touchedAt: 1_000 })).toMatchObject({ do: "call_model", stages: [{ stage: "prune" }] });
    expect(asked({ touchedAt: 9_999_999 })).not.toHaveProperty("stages");
    expect(pruned({}).by).toStrictEqual([]);
    expect(pruned({ touchedAt: 9_999_999 }).by).toStrictEqual([]);
    expect(pruned({ touchedAt: 1_000 }, contextOf({ prune: { mode: "cache-ttl" } })).by).toStrictEqual([]);
    expect(pruned({ touchedAt: 1_000 }, contextOf({ window: 10_000 })).by).toStrictEqual([]);
  });

  test("are never larger after pruning, and the same objects for the same size", () => {
    const headChars = 4_000;
    /** What pruning makes of a result: as much longer than it was. */
    const longer = (by: number): ReturnType<typeof shaped> & { state: State } => {
      const told = (tailChars: number): string =>
        `\n...\n\n\n[Tool result trimmed: kept first ${headChars} chars and last ${tailChars} chars of 9000 chars.]`;
      const tailChars = 9_000 - headChars - told(4_000).length + by;
      const text = `${"a".repeat(headChars)}${"b".repeat(9_000 - headChars)}`;
      const messages = results.map(
        (message): Message =>
          message.role === "tool" ? { ...message, content: [{ type: "text", text }] } : message,
      );
      const prune = {
        mode: "cache-ttl",
        softTrim: { maxChars: 8_999, headChars, tailChars },
        hardClear: { enabled: false },
      };
      const state = stateOf(
        {},
        { ...history(...messages), now: 10_000_000, touchedAt: 1_000 },
        contextOf({ window: 10_000, prune }),
      );
      return { ...shaped(state, rules), state };
    };
    expect(longer(-40).by).toStrictEqual(["prune"]);
    for (const by of [0, 40]) {
      const { messages, stages, by: what, state } = longer(by);
      expect([what, stages]).toStrictEqual([[], []]);
      expect(messages).toBe(state.history);
    }
  });

  test("are shortened by the request guard, for this request, or do not fit", () => {
    const guardedBy = (given: object, messages: Message[] = results): ReturnType<typeof shaped> =>
      shaped(stateOf({}, history(...messages), contextOf(given as never)), rules);
    const shortened = guardedBy({ window: 10_000, guard: { results: "truncate" } });
    expect(shortened.by).toStrictEqual(["guard"]);
    expect(JSON.stringify([...shortened.messages]).length).toBeLessThan(JSON.stringify(results).length);
    expect(guardedBy({ window: 10_000, guard: { results: "cut" } }).by).toStrictEqual([]);
    expect(guardedBy({ guard: { results: "truncate" } }).by).toStrictEqual([]);
    const large = guardedBy({ window: 100, guard: { results: "truncate" } }, [user("word ".repeat(3_000))]);
    expect(large.overflow).toEqual(expect.any(String));
    const noted = (counts: object): ReturnType<typeof shaped> => {
      const guard = { results: "truncate", ...counts };
      const state = stateOf(
        { notes: ["word ".repeat(9_000)] },
        history(user("go")),
        contextOf({ window: 10_000, guard } as never),
      );
      return shaped(state, rules);
    };
    expect(noted({}).overflow).toEqual(expect.any(String));
    expect(noted({ counts: "messages" }).overflow).toBeUndefined();
  });

  const thought = { type: "reasoning", text: "hm" } as never;
  const file = { type: "file", mediaType: "image/png", data: "AA==" } as never;

  test("have only the last files if more were too many, each message copied once", () => {
    const file = (name: string): FilePart => ({ type: "file", mediaType: "image/png", data: "AA==", name });
    const some: Message[] = [
      { role: "user", content: [file("a"), file("b")] },
      user("and"),
      { role: "user", content: [file("c"), { type: "text", text: "look" }, file("d"), file("e")] },
      { role: "user", content: [file("f")] },
    ];
    const sent = (dropped: Repair[], list: Message[] = some): Message[] => [
      ...shaped(stateOf({ dropped }, history(...list)), rules).messages,
    ];
    const words = (messages: Message[]): string[][] =>
      messages.map(({ content }) =>
        content.map((part) =>
          part.type === "file" ? (part.name ?? "") : part.type === "text" ? part.text : "",
        ),
      );
    const left = sent(["files.last.3"]);
    expect(words(left)).toStrictEqual([
      ["[a left out]", "[b left out]"],
      ["and"],
      ["[c left out]", "look", "d", "e"],
      ["f"],
    ]);
    expect([left[1], left[3]]).toStrictEqual([some[1], some[3]]);
    sent(["files.last.3"]).forEach((message, at) => {
      expect(message).toBe(left[at]);
    });
    // One that comes takes the place of the oldest.
    const later = sent(["files.last.3"], [...some, { role: "user", content: [file("g")] }]);
    expect(words(later)[2]).toStrictEqual(["[c left out]", "look", "[d left out]", "e"]);
    expect(words(sent(["files.last.0"])).flat()).not.toContain("f");
    expect(sent(["files.last.6"])).toStrictEqual(some);
  });

  test("are without refused reasoning; an answer that was nothing else is left out", () => {
    const some = [
      user("a"),
      answerOf([thought]),
      answerOf([thought, { type: "text", text: "so" }]),
      answerOf([{ type: "text", text: "plain" }]),
    ];
    const state = stateOf({ dropped: ["reasoning"] }, history(...some));
    const { messages, by } = shaped(state, rules);
    expect([...messages]).toStrictEqual([some[0], answerOf([{ type: "text", text: "so" }]), some[3]]);
    expect([...messages][2]).toBe(some[3]);
    expect(by).toStrictEqual(["reasoning left out"]);
    expect([...shaped(state, rules).messages][1]).toBe([...messages][1]);
  });

  test("are without refused files, each replaced by a note", () => {
    const named = { type: "file", mediaType: "image/png", data: "AA==", name: "cat.png" } as never;
    const some: Message[] = [
      user("a"),
      { role: "user", content: [{ type: "text", text: "see" }, file, named] },
    ];
    const { messages } = shaped(stateOf({ dropped: ["files", "reasoning"] }, history(...some)), rules);
    expect([...messages]).toStrictEqual([
      some[0],
      {
        role: "user",
        content: [
          { type: "text", text: "see" },
          { type: "text", text: "[image/png left out]" },
          { type: "text", text: "[cat.png left out]" },
        ],
      },
    ]);
    expect([...messages][0]).toBe(some[0]);
  });

  test("are without the one refused file, and copied once", () => {
    const other = { type: "file", mediaType: "image/png", data: "AB==" } as const;
    const some: Message[] = [
      { role: "user", content: [{ type: "text", text: "see" }, file, other] },
      { role: "user", content: [other] },
    ];
    const dropped: Repair[] = [repairOfFile(file as FilePart)];
    const state = stateOf({ dropped }, history(...some));
    const { messages } = shaped(state, rules);
    expect([...messages]).toStrictEqual([
      { role: "user", content: [some[0]?.content[0], { type: "text", text: "[image/png left out]" }, other] },
      some[1],
    ]);
    expect([...messages][1]).toBe(some[1]);
    expect([...shaped(state, rules).messages][0]).toBe([...messages][0]);
    const both: Repair[] = [...dropped, repairOfFile(other)];
    const none = [...shaped(stateOf({ dropped: both }, history(...some)), rules).messages];
    expect(JSON.stringify(none)).not.toContain('"file"');
  });
});

describe("the window", () => {
  test("is the option's, else that of the model in use", () => {
    const origin = { api: "a", provider: "p", model: "m" };
    const models = [
      { id: "one", origin, facts: { contextWindow: 100 } },
      { id: "two", origin, facts: { contextWindow: 200 } },
    ];
    expect(windowOf(stateOf({}, {}, { models }))).toBe(100);
    expect(windowOf(stateOf({ model: 1 }, {}, { models }))).toBe(200);
    expect(windowOf(stateOf({ model: 7 }, {}, { models }))).toBeUndefined();
    expect(windowOf(stateOf({}, {}, { models, context: { window: 50 } }))).toBe(50);
    const { run: _run, ...idle } = stateOf({}, {}, { models });
    expect(windowOf(idle)).toBe(100);
    const { options: _options, ...bare } = stateOf();
    expect(windowFacts(bare)).toStrictEqual({});
  });

  test("is filled by what was counted and what is newer, or by the estimate of everything", () => {
    const history = Log.of([user("a"), user("b"), user("c")]);
    expect(sizeOf(stateOf({}, { history, counted: { tokens: 7, length: 2 } }), plain)).toBe(17);
    expect(sizeOf(stateOf({}, { history }), plain)).toBe(33);
    expect(sizeOf(stateOf({}, { history }, { system: "be brief" }), plain)).toBe(133);
    expect(frontOf(stateOf({}, {}, { tools: [] }), plain)).toBe(0);
    const { options: _options, ...bare } = stateOf();
    expect(frontOf(bare, plain)).toBe(0);
  });

  test("is also filled by notes and by the schema of a typed output", () => {
    const beside = (run: object, change: object = {}): number => besideOf(stateOf(run, {}, change), plain);
    expect(beside({})).toBe(0);
    expect(beside({ notes: ["a", "b"] })).toBe(20);
    expect(beside({ output: { attempt: 0 } }, { output: { ...output, way: "native" } })).toBe(110);
    expect(beside({ output: { attempt: 0 } }, { output: { ...output, way: "prompted" } })).toBe(20);
    expect(beside({}, { output: { ...output, way: "native" } })).toBe(0);
  });

  test("limits the output to what the input leaves", () => {
    expect(outputThatFits(stateOf(), plain, 500)).toBe(500);
    expect(outputThatFits(stateOf({}, {}, { context: { window: 100 } }), plain, undefined)).toBeUndefined();
    const lowered = outputThatFits(stateOf({}, {}, { context: { window: 10_000 } }), plain, 50_000);
    expect(lowered).toBeLessThan(10_000);
    const beside = outputThatFits(
      stateOf({ notes: ["a"] }, {}, { context: { window: 10_000 } }),
      plain,
      50_000,
    );
    expect(beside).toBeLessThan(lowered as number);
  });

  test("has an account by source", () => {
    const account = accountOf(stateOf({}, {}, { system: "be brief", context: { window: 1_000 } }), plain);
    expect(account).toMatchObject({ window: 1_000 });
    expect(JSON.stringify(account)).toContain("100");
  });
});

describe("room is made", () => {
  const many = (count: number): Log<Message> =>
    Log.of(Array.from({ length: count }, (_, at) => user(`message ${at}`)));
  const small = (given: object = {}): Pick<RunOptions, "context"> =>
    contextOf({ window: 100, compaction: { at: 0.5, ...given } } as never);
  const due = (more: object, change: object = small(), run: object = {}): unknown =>
    compactionDue(stateOf(run, more, change), plain);
  const compacts = (rule: string, evidence: object): object => ({
    do: "record",
    facts: [{ type: "mode", mode: "compacting", rule, evidence }],
  });

  test("by a compaction if the history fills its share of the window", () => {
    expect(due({ history: many(4) })).toBeUndefined();
    expect(due({ history: many(5) })).toStrictEqual(
      compacts("compaction", { tokens: 53, limit: 100, at: 0.5 }),
    );
    expect(due({ history: many(5) }, {})).toBeUndefined();
    expect(due({ history: many(5) }, small({ auto: false }))).toBeUndefined();
    expect(due({ history: many(5) }, contextOf({ compaction: { at: 0.5 } }))).toBeUndefined();
    expect(due({ history: many(5) }, {}, { model: 7 })).toBeUndefined();
    const models = options().models.map((one) => ({ ...one, origin: { ...one.origin, model: one.id } }));
    const throwing = { ...contextOf({ compaction: { at: 0.5, withoutLimit: "throw" } }), models };
    expect(due({ history: many(5) }, throwing)).toMatchObject({
      facts: [
        {
          type: "run_ended",
          end: {
            reason: "error",
            rule: "compaction",
            error: { kind: "capability", message: expect.stringContaining("checked/first") },
          },
        },
      ],
    });
    expect(due({ history: many(5) }, throwing, { model: 1 })).toMatchObject({
      facts: [{ end: { error: { message: expect.stringContaining("checked/second") } } }],
    });
  });

  test("by a compaction, in the tagged format, if the last call was counted and was that large", () => {
    const tagged = small({ format: "tagged" });
    const answered = { steps: 1 };
    expect(due({ history: many(9) }, tagged, answered)).toBeUndefined();
    expect(due({ history: many(1), lastTokens: 49 }, tagged, answered)).toBeUndefined();
    expect(due({ history: many(1), lastTokens: 50 }, tagged, answered)).toMatchObject(
      compacts("compaction", { tokens: 50 }),
    );
  });

  test("by a compaction only if another one could help", () => {
    const again = (compacted: object | undefined, answers: number, run: object = {}): boolean =>
      due(
        {
          history: many(9),
          answers,
          ...(compacted === undefined
            ? {}
            : { compacted: { length: 1, answers: 10, helped: true, inARow: 1, ...compacted } }),
        },
        small(),
        run,
      ) !== undefined;
    expect(again(undefined, 0)).toBe(true);
    expect([again({}, 10), again({}, 11)]).toStrictEqual([false, true]);
    expect([again({ helped: false }, 14), again({ helped: false }, 15)]).toStrictEqual([false, true]);
    expect([again({ inARow: 2 }, 11), again({ inARow: 3 }, 14), again({ inARow: 3 }, 15)]).toStrictEqual([
      true,
      false,
      true,
    ]);
    expect(again(undefined, 0, { paused: true })).toBe(false);
    expect(again(undefined, 0, { landing })).toBe(true);
    expect(again(undefined, 0, { landing: { ...landing, reason: "deadline" } })).toBe(false);
  });

  test("by cutting old results permanently, but not after a paused answer", () => {
    const long = "x".repeat(5_000);
    const results: Message[] = Array.from({ length: 4 }, (_, at) => [
      answerOf([{ type: "tool_call", id: `c${at}`, name: "read", args: {}, rawArgs: "{}" }]),
      {
        role: "tool" as const,
        callId: `c${at}`,
        name: "read",
        content: [{ type: "text" as const, text: long }],
        isError: false,
      },
    ]).flat();
    const state = (
      run: object = {},
      change: object = contextOf({ window: 10_000, trim: { budgetTokens: 100 } }),
    ): RunState => stateOf(run, { history: Log.of(results) }, change);
    expect(trimmed(state())).toMatchObject({ do: "record", facts: [{ type: "trimmed", stage: "trim" }] });
    expect(trimmed(state({ paused: true }))).toBeUndefined();
    expect(trimmed(state({}, {}))).toBeUndefined();
    expect(
      trimmed(stateOf({}, {}, contextOf({ window: 10_000, trim: { budgetTokens: 100 } }))),
    ).toBeUndefined();
  });

  const guard = (
    more: object,
    run: object = {},
    change: object = contextOf({ window: 100, compaction: null }),
  ): unknown => guarded(stateOf(run, more, change), plain);

  test("if the request would not fit: by a compaction, else the run ends", () => {
    expect(guard({ history: many(9) })).toBeUndefined();
    expect(guard({ history: many(10) })).toMatchObject({
      facts: [
        {
          type: "run_ended",
          end: {
            reason: "error",
            rule: "guard",
            evidence: { tokens: 103, window: 100 },
            error: { kind: "context_overflow" },
          },
        },
      ],
    });
    // Exactly the window fits.
    const full = { history: many(9), counted: { tokens: 100, length: 9 } };
    expect(guard(full)).toBeUndefined();
    expect(guard({ ...full, counted: { tokens: 101, length: 9 } })).toBeDefined();
    expect(guard({ history: many(9) }, { notes: ["a"] })).toMatchObject({
      facts: [{ end: { evidence: { tokens: 103 } } }],
    });
    expect(guard({ history: many(10) }, {}, small())).toStrictEqual(
      compacts("guard", { tokens: 103, window: 100 }),
    );
    expect(guard({ history: many(10) }, { paused: true })).toBeUndefined();
    expect(guard({ history: many(10) }, {}, {})).toBeUndefined();
    expect(guard({ history: many(10) }, {}, contextOf({ compaction: null }))).toBeUndefined();
    expect(
      guard({ history: many(10) }, {}, contextOf({ window: 100, guard: null, compaction: null })),
    ).toBeUndefined();
  });

  test("if a request was refused: it is not sent again unchanged", () => {
    const error = { kind: "context_overflow", message: "too long", retryable: false } as const;
    const reduced = { error, helped: false };
    expect(guard({ history: many(2) }, { reduced })).toMatchObject({
      facts: [{ type: "run_ended", end: { reason: "error", rule: "guard", error } }],
    });
    expect(guard({ history: many(2) }, { reduced: { error, helped: true } })).toBeUndefined();
    expect(guard({ history: many(2) }, { reduced }, {})).toMatchObject({
      facts: [{ end: { error, evidence: { tokens: 23 } } }],
    });
    expect(guard({ history: many(2) }, { reduced }, small())).toMatchObject({ facts: [{ end: { error } }] });
    expect(guard({ history: many(10) }, { reduced: { error, helped: true } })).toMatchObject({
      facts: [{ end: { rule: "guard", error } }],
    });
  });

  test("if a hook's messages do not fit: the run ends", () => {
    const edit: [{ keep: [number, number] }] = [{ keep: [0, 10] }];
    const hooked = (
      count: number,
      step: number = 1,
      change: object = contextOf({ window: 100, compaction: null }),
    ): unknown => tooLarge(stateOf({ transformed: { step, edit } }, { history: many(count) }, change), plain);
    expect(hooked(9)).toBeUndefined();
    expect(hooked(10)).toMatchObject({
      facts: [
        {
          end: { rule: "guard", evidence: { tokens: 103, window: 100 }, error: { kind: "context_overflow" } },
        },
      ],
    });
    expect(hooked(10, 2)).toBeUndefined();
    expect(hooked(10, 1, {})).toBeUndefined();
    expect(hooked(10, 1, contextOf({ compaction: null }))).toBeUndefined();
    expect(
      tooLarge(
        stateOf(
          { transformed: { step: 1 } },
          { history: many(10) },
          contextOf({ window: 100, compaction: null }),
        ),
        plain,
      ),
    ).toBeUndefined();
  });
});
