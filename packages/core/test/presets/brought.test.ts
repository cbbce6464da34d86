// A result that somebody brings reads as the tool's own would under the preset: whoever made it, the model knows one way of telling.

import { Agent, memoryJournal, RecordedResult, subAgent, tool, toolResult, toolWith } from "@rondo/core";
import { agentStrategy, managedContext, stepSequence } from "@rondo/core/presets";
import { call, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { resultsOf } from "./managed-support.ts";

type Preset = typeof managedContext | typeof stepSequence | typeof agentStrategy;
const cases: [string, Preset, string, unknown, string][] = [
  ["E5.31", agentStrategy, "a value", { a: 1 }, 'tool response: {"a":1}.'],
  ["E5.31", agentStrategy, "a number", 5, "tool response: 5."],
  ["E5.31", agentStrategy, "a text", "as it is", "as it is"],
  [
    "E5.31",
    agentStrategy,
    "outputs",
    [
      { type: "text", text: "a" },
      { type: "link", url: "u" },
    ],
    "aresult link: u. please tell user to check it.",
  ],
  [
    "E5.31",
    agentStrategy,
    "an image",
    { type: "image", data: new Uint8Array([1]) },
    "image generated and sent to user. Tell user to review it now.",
  ],
  ["D4.27", managedContext, "null", null, "null"],
  ["D4.27", managedContext, "a value", { a: 1 }, '{"a":1}'],
  ["B2.15", stepSequence, "an error result", toolResult("torn", { isError: true }), "Error: torn (error)"],
  [
    "B2.15",
    stepSequence,
    "a promise of nothing",
    [Promise.resolve()],
    "Error: the tool returned a list of promises",
  ],
  ["B2.15", stepSequence, "a result", toolResult("whole"), "whole"],
];

const look = (permission: "allow" | "ask", value: unknown) =>
  tool({ name: "look", description: "d", inputSchema: { type: "object" }, permission, execute: () => value });

describe("a result that is given with answer", () => {
  test.each(cases)(
    "%s is rendered under %o like the tool's own: %s",
    async (_rule, preset, _what, value, text) => {
      const own = await new Agent(
        preset({ model: scripted([call("look"), say("done")]), tools: [look("allow", value)] }),
      ).run("go");
      const session = await new Agent(
        preset({ model: scripted([call("look"), say("done")]), tools: [look("ask", value)] }),
      ).open("s");
      await session.send("go");
      const brought = await session.answer(session.pending[0]?.id ?? "", value);
      expect(resultsOf(own.messages)[0]).toContain(text);
      expect(resultsOf(brought.messages)).toEqual(resultsOf(own.messages));
    },
  );

  test.each(cases)(
    "%s is rendered so inside a sub-agent under %o: %s",
    async (_rule, preset, _what, value, text) => {
      const journal = memoryJournal();
      const inner = new Agent(
        preset({ model: scripted([call("look"), say("done")]), tools: [look("ask", value)] }),
      );
      const session = await new Agent({
        model: scripted([call("helper", { task: "look" }), say("so be it")]),
        tools: [subAgent({ name: "helper", description: "h", agent: inner })],
        journal,
      }).open("s");
      await session.send("go");
      const [waits] = session.pending;
      await session.answer(waits?.id ?? "", value);
      const child = await inner.open(waits?.child?.session ?? "", { journal });
      expect(resultsOf(child.messages)[0]).toContain(text);
    },
  );

  test("is recorded as given, however its tool renders it, and as an error if the rendering fails", async () => {
    const resultTold = async (tell: (value: unknown) => unknown, value: unknown): Promise<unknown> => {
      const journal = memoryJournal();
      const tools = [toolWith(look("ask", ""), { tell })];
      const session = await new Agent({
        model: scripted([call("look"), say("done")]),
        tools,
        journal,
      }).open("s");
      await session.send("go");
      await session.answer(session.pending[0]?.id ?? "", value);
      const records = await journal.read("s");
      return records.flatMap((record) => ("result" in record ? [record.result] : []));
    };
    const torn = (): never => {
      throw new Error("no words for it");
    };
    const said = (text: string): object[] => [{ type: "text", text }];
    expect(await resultTold(() => "in other words", 5)).toMatchObject([
      { code: "answered", isError: false, content: said("in other words") },
    ]);
    expect(await resultTold(torn, 5)).toMatchObject([
      { code: "answered", isError: true, content: said("Error: no words for it") },
    ]);
    expect(await resultTold(String, new Error("lost"))).toMatchObject([
      { code: "answered", isError: true, content: said("Error: lost") },
    ]);
  });

  test("that was recorded is replayed unchanged", async () => {
    const session = await new Agent(
      stepSequence({ model: scripted([call("look"), say("done")]), tools: [look("ask", "")] }),
    ).open("s");
    await session.send("go");
    const recorded = new RecordedResult({ content: [{ type: "text", text: "Error: torn" }], isError: true });
    const result = await session.answer(session.pending[0]?.id ?? "", recorded);
    expect(resultsOf(result.messages)).toEqual(["Error: torn (error)"]);
  });
});
