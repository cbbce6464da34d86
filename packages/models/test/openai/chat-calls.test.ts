import type { AssistantMessage, Json, ToolCallPart } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { nameTable } from "../../src/codecs/openai/names.ts";
import { called, calls, callsOf, chunk, finish, fn, type Loose, read } from "./chat-chunks.ts";
import { target } from "./corpus.ts";

describe("which call a fragment belongs to", () => {
  const whole = (list: (Loose | string)[]): AssistantMessage =>
    read([...list, finish("tool_calls"), "[DONE]"]);

  test("a complete call in one delta without index and type (F067)", () => {
    const message = read([
      chunk(
        { content: null, tool_calls: [{ id: "gSIMJiOkT", function: fn("weather", '{"location":"SF"}') }] },
        { finish_reason: "tool_calls" },
      ),
      "[DONE]",
    ]);
    expect(callsOf(message)).toMatchObject([{ id: "gSIMJiOkT", name: "weather", args: { location: "SF" } }]);
  });

  test("two calls with index 0 are two calls (F068)", () => {
    const message = whole([
      calls({ index: 0, id: "a", function: fn("get_weather", '{"city":"Paris"}') }),
      calls({ index: 0, id: "b", function: fn("get_time", "{}") }),
    ]);
    expect(called(message)).toEqual([
      ["get_weather", { city: "Paris" }],
      ["get_time", {}],
    ]);
  });

  test("a call that is mentioned again by its id continues, even if another had its number meanwhile (F068, F070)", () => {
    const turns = (...args: string[]): Loose[] =>
      args.map((piece, at) =>
        calls({ index: 0, id: at % 2 === 0 ? "a" : "b", function: { arguments: piece } }),
      );
    const begun = [
      calls({ index: 0, id: "a", function: fn("f", "") }),
      calls({ index: 0, id: "b", function: fn("g", "") }),
    ];
    const both = [
      ["f", { a: 1 }],
      ["g", { b: 2 }],
    ];
    expect(called(whole([...begun, ...turns('{"a":1}', '{"b":2}')]))).toEqual(both);
    expect(called(whole([...begun, ...turns('{"a"', '{"b"', ":1}", ":2}")]))).toEqual(both);
    expect(called(whole([...begun, ...turns('{"a":1}', '{"b":2}', "", "")]))).toEqual(both);
  });

  test("fragments with other ids continue the call before them, numbered or not (F071)", () => {
    for (const number of [{ index: 0 }, {}]) {
      const message = whole([
        calls({ ...number, id: "a", function: fn("f", "") }),
        calls({ ...number, id: "tool0", function: { arguments: '{"a"' } }),
        calls({ ...number, id: "tool0", function: { arguments: ":1}" } }),
        calls({ ...number, id: "b", function: fn("g", "") }),
        calls({ ...number, id: "tool1", function: { name: null, arguments: '{"b":2}' } }),
      ]);
      expect(called(message)).toEqual([
        ["f", { a: 1 }],
        ["g", { b: 2 }],
      ]);
      expect(callsOf(message).map(({ id }) => id)).toEqual(["a", "b"]);
    }
  });

  test("an empty entry is no call, until a later one is (F066)", () => {
    for (const nothing of [
      { index: 0, id: "", type: "function" },
      { type: "function", function: {} },
      { index: 0, id: null, type: "function", function: { name: "", arguments: "" } },
    ]) {
      const said = whole([chunk({ content: "I made it." }), calls(nothing)]);
      expect(said.content).toEqual([{ type: "text", text: "I made it." }]);
      expect(said.stop).toMatchObject({ kind: "end_turn", wire: "tool_use" });
      const { index = null } = nothing as { index?: number };
      const later = whole([calls(nothing), calls({ index, id: "a", function: fn("f", '{"a":1}') })]);
      expect(called(later)).toEqual([["f", { a: 1 }]]);
    }
  });

  test("two calls without ids under index 0 are distinguished by the name after complete arguments", () => {
    const message = whole([
      calls({ index: 0, function: fn("f", '{"a":1}') }),
      calls({ index: 0, function: fn("f", '{"a":2}') }),
    ]);
    expect(called(message)).toEqual([
      ["f", { a: 1 }],
      ["f", { a: 2 }],
    ]);
    expect(new Set(callsOf(message).map((call) => call.id)).size).toBe(2);
  });

  test("calls that share one id and are in separate deltas are separate calls (F052)", () => {
    const pair = (more: Loose): Loose[] =>
      ['{"a":1}', '{"a":2}'].map((args) => calls({ ...more, id: "c", function: fn("f", args) }));
    for (const list of [pair({}), pair({ index: 0 })])
      expect(called(whole(list))).toEqual([
        ["f", { a: 1 }],
        ["f", { a: 2 }],
      ]);
  });

  test("a complete call that is repeated is one call (F085)", () => {
    const again = calls({ index: 0, id: "c", function: fn("f", '{"a":1}') });
    expect(called(whole([again, again]))).toEqual([["f", { a: 1 }]]);
  });

  test.each([
    ["spelt otherwise", '{ "a": 1 }'],
    ["encoded twice", JSON.stringify('{"a": 1}')],
    ["as a value", { a: 1 }],
  ])("so is one that is repeated %s", (_how, args) => {
    const pieces = ['{"a":', "1}", args].map((piece) =>
      calls({ index: 0, id: "c", function: { name: "f", arguments: piece } }),
    );
    expect(called(whole(pieces))).toEqual([["f", { a: 1 }]]);
  });

  test("an empty object before the real arguments is no call, also under one id (F074)", () => {
    const message = whole([
      calls({ index: 0, id: "c", function: fn("f", "{}") }),
      calls({ index: 0, id: "c", function: fn("f", '{"a":1}') }),
    ]);
    expect(callsOf(message)).toMatchObject([{ name: "f", args: { a: 1 }, rawArgs: '{"a":1}' }]);
  });

  test("fragments with an id each belong to the call that was opened with its name", () => {
    const message = whole([
      calls({ index: 0, id: "a", function: fn("f", "") }),
      calls({ index: 0, id: "b", function: { arguments: '{"a"' } }),
      calls({ index: 0, id: "c", function: { name: "", arguments: ":1}" } }),
      calls({ index: 0, id: "d", function: { name: "", arguments: "" } }),
    ]);
    expect(callsOf(message)).toMatchObject([{ id: "a", name: "f", args: { a: 1 } }]);
  });

  test.each(["null", "None"])("the word %s for a name counts as no name", (name) => {
    const message = whole([
      calls({ index: 0, id: "c", type: "FUNCTION", function: fn("f", '{"a":') }),
      calls({ index: 0, id: "", type: "FUNCTION", function: fn(name, "1}") }),
    ]);
    expect(callsOf(message)).toMatchObject([{ id: "c", name: "f", args: { a: 1 } }]);
  });

  test.each([
    ["in one piece", ['{"a":{"b":1}}']],
    ["in pieces", ['{"a":{"b"', ":1}", "}"]],
  ])("arguments that came %s and come again completely came once (F085)", (_, pieces) => {
    const more = [...pieces, pieces.join("")].map((args) =>
      calls({ index: 0, function: { arguments: args } }),
    );
    expect(called(whole([calls({ index: 0, id: "c", function: fn("f", "") }), ...more]))).toEqual([
      ["f", { a: { b: 1 } }],
    ]);
  });

  test("arguments under another number belong to the call that waits for them", () => {
    const message = whole([
      calls({ index: 1, id: "c", function: fn("f", "") }),
      calls({ index: 0, function: { arguments: '{"a":1}' } }),
    ]);
    expect(callsOf(message)).toMatchObject([{ id: "c", name: "f", args: { a: 1 } }]);
  });

  test("arguments under the number of a complete call belong to the one after it", () => {
    const piece = (args: string): Loose => calls({ index: 0, function: { arguments: args } });
    const list = [
      calls({ index: 0, id: "a", function: fn("f", "") }),
      piece('{"a":'),
      piece("1}"),
      piece(" "),
      calls({ index: 1, id: "b", function: fn("g", "") }),
      piece('{"b":'),
      piece("{}"),
      piece("}"),
    ];
    expect(called(whole(list))).toEqual([
      ["f", { a: 1 }],
      ["g", { b: {} }],
    ]);
  });

  test.each([
    ["in pieces", ["get_", "weather"], [["get_weather", {}]]],
    ["in pieces, one of which is a tool", ["get", "_weather"], [["get_weather", {}]]],
    ["that grows", ["get_", "get_weather"], [["get_weather", {}]]],
    ["again and again", ["get_weather", "get_weather"], [["get_weather", {}]]],
    [
      "of another tool",
      ["get", "get_weather"],
      [
        ["get", {}],
        ["get_weather", {}],
      ],
    ],
  ])("a name that comes %s", (_, names, want) => {
    const to = target("openai-chat");
    for (const tool of ["get", "get_weather"]) nameTable(to.origin).wire(tool);
    const list = names.map((name) => calls({ index: 0, function: { name } }));
    expect(called(read([...list, finish("tool_calls"), "[DONE]"], to))).toEqual(want);
  });

  test.each([
    ["is the rest of one", ["get", "_weather"], [["get_weather", { a: 1 }]]],
    [
      "is a tool's own",
      ["get", "get_weather"],
      [
        ["get", {}],
        ["get_weather", { a: 1 }],
      ],
    ],
  ])("a name without a number and an id that %s", (_, [first = "", then = ""], want) => {
    const to = target("openai-chat");
    for (const tool of ["get", "get_weather"]) nameTable(to.origin).wire(tool);
    const list = [calls({ id: "c", function: { name: first } }), calls({ function: fn(then, '{"a":1}') })];
    expect(called(read([...list, finish("tool_calls"), "[DONE]"], to))).toEqual(want);
  });

  test("a name that comes in pieces with arguments that are still empty", () => {
    const to = target("openai-chat");
    for (const tool of ["get", "get_weather"]) nameTable(to.origin).wire(tool);
    const list = ["get", "_weather"].map((name) => calls({ index: 0, id: "c", function: fn(name, "") }));
    const args = calls({ index: 0, function: { arguments: '{"a":1}' } });
    const message = read([...list, args, finish("tool_calls"), "[DONE]"], to);
    expect(called(message)).toEqual([["get_weather", { a: 1 }]]);
  });

  test.each([
    ["without a wrapping", { name: "f", arguments: { a: 1 } }],
    ["with parameters", { function: { name: "f", parameters: { a: 1 } } }],
  ])("a call %s", (_, call) => {
    expect(called(whole([calls({ id: "c", ...call })]))).toEqual([["f", { a: 1 }]]);
  });

  test.each([" ", "null", '""', "\n"])("arguments without content, as in %j, are none (F086)", (args) => {
    expect(called(whole([calls({ index: 0, id: "c", function: fn("f", args) })]))).toEqual([["f", {}]]);
  });

  test.each([" f ", "\nf", "f\n"])("blanks that a parser left on a name, as in %j, are removed", (name) => {
    expect(called(whole([calls({ index: 0, id: "c", function: fn(name, "{}") })]))).toEqual([["f", {}]]);
  });

  test("an index is a key and not a position (F069)", () => {
    const message = whole([
      calls({ index: 1, id: "x", function: fn("read", "") }),
      calls({ index: 1, function: { arguments: '{"p":1}' } }),
    ]);
    expect(called(message)).toEqual([["read", { p: 1 }]]);
  });

  test("fragments of two calls may alternate (F070)", () => {
    const message = whole([
      calls({ index: 0, id: "a", function: fn("f", "") }, { index: 1, id: "b", function: fn("g", "") }),
      calls({ index: 0, function: { arguments: '{"a"' } }),
      calls({ index: 1, function: { arguments: '{"b"' } }),
      calls({ index: 0, function: { arguments: ":1}" } }),
      calls({ index: 1, function: { arguments: ":2}" } }),
    ]);
    expect(called(message)).toEqual([
      ["f", { a: 1 }],
      ["g", { b: 2 }],
    ]);
  });

  test("id and name repeated in every fragment count once (F071)", () => {
    const message = whole(
      ['{"a', '":1', "}"].map((piece) =>
        calls({ index: 0, id: "a", type: "function", function: fn("f", piece) }),
      ),
    );
    expect(callsOf(message)).toMatchObject([{ id: "a", name: "f", args: { a: 1 } }]);
  });

  test("a later empty name erases nothing (F072)", () => {
    const message = whole([
      calls({ index: 0, id: "a", function: fn("f", "") }),
      calls({ index: 0, function: fn("", '{"q":"x"}') }),
    ]);
    expect(called(message)).toEqual([["f", { q: "x" }]]);
  });

  test("arguments may come before the name (F073)", () => {
    const message = whole([
      calls({ function: { arguments: '{"a":1}' } }),
      calls({ id: "call_1", type: "function", function: { name: "f" } }),
    ]);
    expect(callsOf(message)).toMatchObject([{ id: "call_1", name: "f", args: { a: 1 } }]);
  });

  test("several unnumbered calls in one list are several calls, with or without ids (F053)", () => {
    const message = read([
      chunk(
        {
          tool_calls: [
            { id: "", function: fn("f", "{}") },
            { id: "", function: fn("f", "{}") },
            { id: "", function: fn("g", "") },
          ],
        },
        { finish_reason: "stop" },
      ),
      "[DONE]",
    ]);
    expect(called(message)).toEqual([
      ["f", {}],
      ["f", {}],
      ["g", {}],
    ]);
    expect(new Set(callsOf(message).map((call) => call.id)).size).toBe(3);
    expect(callsOf(message).every((call) => call.id !== "")).toBe(true);
  });

  test("two calls with one id get ids of their own (F052)", () => {
    const message = whole([
      calls({ index: 0, id: "call_0", function: fn("f", '{"l":"A"}') }),
      calls({ index: 1, id: "call_0", function: fn("f", '{"l":"B"}') }),
    ]);
    expect(called(message)).toEqual([
      ["f", { l: "A" }],
      ["f", { l: "B" }],
    ]);
    expect(callsOf(message)[0]!.id).toBe("call_0");
    expect(callsOf(message)[1]!.id).not.toBe("call_0");
  });

  test("an id that changes in every fragment does not split a call", () => {
    const message = whole([
      calls({ index: 0, id: "r1", function: fn("f", '{"a"') }),
      calls({ index: 0, id: "r2", function: { arguments: ":1}" } }),
    ]);
    expect(callsOf(message)).toMatchObject([{ id: "r1", args: { a: 1 } }]);
  });

  test("a call is judged only when it is complete: a complete prefix is never run (F074)", () => {
    const message = whole([
      calls({ index: 0, id: "a", function: fn("rm", '{"path":"/tmp"}') }),
      calls({ index: 0, function: { arguments: ' {"path":"/tmp/x"}' } }),
    ]);
    expect(callsOf(message)[0]!.argsError).toMatch(/not valid JSON/);
  });

  test("the legacy function_call is a call with an id of its own (F010)", () => {
    const message = read([
      chunk({ function_call: { name: "f", arguments: '{"a"' } }),
      chunk({ function_call: { arguments: ":1}" } }),
      finish("function_call"),
      "[DONE]",
    ]);
    expect(message.stop).toEqual({ kind: "tool_use", wire: "tool_use", raw: "function_call" });
    expect(callsOf(message)).toMatchObject([{ name: "f", args: { a: 1 } }]);
    expect(callsOf(message)[0]!.id).not.toBe("");
  });

  test("a call without a name is marked and cannot run (F066)", () => {
    const message = whole([calls({ index: 0, id: "a", function: { arguments: "{}" } })]);
    expect(callsOf(message)[0]!.argsError).toMatch(/no name/);
  });

  test("control tokens are cut off a name (F064)", () => {
    const message = whole([calls({ index: 0, id: "a", function: fn("weather<|channel|>commentary", "{}") })]);
    expect(called(message)).toEqual([["weather", {}]]);
  });

  test("unknown members of a call are kept for its own origin (F110)", () => {
    const message = whole([
      calls({
        index: 0,
        id: "a",
        function: fn("f", "{}"),
        extra_content: { google: { thought_signature: "Cv" } },
      }),
    ]);
    expect(callsOf(message)[0]!.opaque).toEqual({ extra_content: { google: { thought_signature: "Cv" } } });
  });
});

describe("arguments", () => {
  const of = (args: Json): ToolCallPart =>
    callsOf(
      read([
        calls({ index: 0, id: "a", function: { name: "f", arguments: args } }),
        finish("tool_calls"),
        "[DONE]",
      ]),
    )[0]!;

  test.each([
    ["nothing", "", {}],
    ["null", null, {}],
    ["an object (F087)", { city: "Paris" }, { city: "Paris" }],
    ["an object encoded twice (F088)", JSON.stringify('{"city":"Paris"}'), { city: "Paris" }],
  ])("%s is read as what it means", (_, given, meant) => {
    expect(of(given as Json)).toMatchObject({ args: meant });
    expect(of(given as Json).argsError).toBeUndefined();
  });

  test.each([
    ["two objects", '{"a":1}{"b":2}'],
    ["two empty objects", "{}{}"],
    ["an empty object before half of one", '{}{"a":'],
    ["trailing junk", '{"a":1}</tool_call>'],
    ["a list", "[1]"],
    ["prose", "Dave"],
    ["half", '{"a":'],
  ])("%s is not a call that runs (F090, F095)", (_, given) => {
    expect(of(given)).toMatchObject({ args: {}, rawArgs: given });
    expect(of(given).argsError).toBeTypeOf("string");
  });

  test("the digits of large numbers are kept (F093)", () => {
    expect(of('{"id":2512292042121000001}').rawArgs).toBe('{"id":2512292042121000001}');
  });
});
