// The steerable preset over real sockets: Anthropic's stop words, and what goes back and forth.

import { Agent, isPaired, type Json, type RunResult, tool } from "@rondo/core";
import { type SteerableStop, steerable, steerableStop } from "@rondo/core/presets";
import { call, say } from "@rondo/testkit";
import { type RondoWire, raw, status, type WireScript } from "@rondo/testkit/wire";
import { describe, expect, test } from "vitest";
import { anthropic } from "../src/index.ts";
import { rows, serve } from "./end-to-end/stack.ts";

const lookup = tool({
  name: "lookup",
  description: "Looks a word up",
  inputSchema: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
  effect: "read",
  execute: ({ word }) => `${String(word)}: known`,
});

async function run(
  script: WireScript,
): Promise<{ result: RunResult; wire: RondoWire; stops: SteerableStop[] }> {
  const wire = await serve(script);
  const model = anthropic("claude-sonnet-5", {
    apiKey: "k",
    baseURL: wire.urlFor("anthropic"),
    stream: false,
  });
  const stops: SteerableStop[] = [];
  const result = await new Agent(steerable({ model, tools: [lookup] })).run("go", {
    onEvent: (event) => {
      if (event.type === "message") stops.push(steerableStop(event.message.stop));
    },
  });
  expect(isPaired(result.messages)).toBe(true);
  return { result, wire, stops };
}

const answer = (stop_reason: string, ...content: Json[]): Json => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-5",
  content,
  stop_reason,
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
});
const text = { type: "text", text: "so far" };
const use = { type: "tool_use", id: "tu_1", name: "lookup", input: { word: "a" } };

describe("Anthropic's stop words", () => {
  test("C1.5 end_turn, pause_turn and stop_sequence are a stop, max_tokens is length: each ends a run without calls", async () => {
    const words = { end_turn: "stop", pause_turn: "stop", stop_sequence: "stop", max_tokens: "length" };
    for (const [word, meaning] of Object.entries(words)) {
      const { result, wire } = await run([raw(answer(word, text))]);
      const last = result.messages.at(-1);
      if (last?.role !== "assistant") throw new Error("no answer");
      expect([word, steerableStop(last.stop), last.stop.raw]).toEqual([word, meaning, word]);
      const reason = word === "max_tokens" ? "truncated" : "completed";
      expect([word, result.end?.reason, result.text]).toEqual([word, reason, "so far"]);
      expect(wire.requests).toHaveLength(1);
    }
  });

  test("C1.5 tool_use is tool use, and continues; so does a call with any of those words", async () => {
    for (const word of ["tool_use", "end_turn", "pause_turn", "max_tokens", "stop_sequence"]) {
      const { result, wire } = await run([raw(answer(word, text, use)), say("done")]);
      expect([word, result.text, result.toolCalls, wire.requests.length]).toEqual([word, "done", 1, 2]);
      const first = result.messages[1];
      if (word === "tool_use" && first?.role === "assistant")
        expect(steerableStop(first.stop)).toBe("toolUse");
    }
  });

  test("C1.5 refusal and sensitive are errors: the run ends at once, no call runs, nothing of it is kept", async () => {
    for (const word of ["refusal", "sensitive"]) {
      const { result, wire, stops } = await run([raw(answer(word, text, use))]);
      expect([word, result.end?.reason, result.end?.evidence.raw]).toEqual([word, "refused", word]);
      expect([word, stops, result.toolCalls]).toEqual([word, ["error"], 0]);
      expect([wire.requests.length, result.messages.length]).toEqual([1, 1]);
    }
  });

  test("C1.5 an unknown word is unknown, never an error, and is kept", async () => {
    const { result } = await run([raw(answer("constructor", text))]);
    const last = result.messages.at(-1);
    if (last?.role !== "assistant") throw new Error("no answer");
    expect([steerableStop(last.stop), last.stop.raw, result.end?.reason]).toEqual([
      "unknown",
      "constructor",
      "completed",
    ]);
  });

  test("C1.6 a server's error ends the run, with its message, after one request", async () => {
    const { result, wire } = await run([status(529, { message: "we are full" })]);
    expect([result.end?.reason, result.end?.error?.kind, wire.requests.length]).toEqual([
      "error",
      "overloaded",
      1,
    ]);
    expect(result.end?.error?.message).toContain("we are full");
  });
});

describe("the smallest run", () => {
  test("C1.14 C1.12 all results of an answer are sent back as one user message of tool_result blocks, and the end is the joined text", async () => {
    const { result, wire } = await run([
      raw(answer("tool_use", use, { ...use, id: "tu_2", input: { word: "b" } })),
      raw(answer("end_turn", { type: "text", text: "Both " }, { type: "text", text: "are known." })),
    ]);
    const second = wire.requests[1]?.body as { messages: { role: string; content: Json[] }[] };
    expect(second.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(second.messages[2]?.content).toMatchObject([
      { type: "tool_result", tool_use_id: "tu_1", content: [{ type: "text", text: "a: known" }] },
      { type: "tool_result", tool_use_id: "tu_2", content: [{ type: "text", text: "b: known" }] },
    ]);
    expect(result.text).toBe("Both are known.");
    expect(wire.violations).toEqual([]);
  });

  test("C1.14 the same loop drives every protocol", async () => {
    for (const row of rows) {
      const wire = await serve([call("lookup", { word: "c" }), say("It is known.")]);
      const model = row.model(wire);
      const { text: said, toolCalls } = await new Agent(steerable({ model, tools: [lookup] })).run("go");
      expect([row.name, said, toolCalls]).toEqual([row.name, "It is known.", 1]);
      expect(wire.violations).toEqual([]);
    }
  });
});
