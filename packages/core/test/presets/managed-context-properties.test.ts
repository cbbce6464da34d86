// The managed context beside its description: for any answers, the events are those that the description tells.

import { type StopKind, TaskComplete, type Tool, tool } from "@rondo/core";
import type { AgentEvent } from "@rondo/core/presets";
import { badArgs, call, say, scripted, stop, type Turn } from "@rondo/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { play } from "./managed-support.ts";

interface Said {
  texts: string[];
  calls: { name: string; n: number; raw: string | null }[];
  wire: StopKind;
}

interface Options {
  maxIterations: number;
  requireDoneTool: boolean;
  /** What is said at the limit. */
  landing: string;
}

const turnOf = ({ texts: [first = "", last = ""], calls, wire }: Said): Turn => [
  ...(first === "" ? [] : [say(first)]),
  ...calls.map(({ name, n, raw }) => (raw === null ? call(name, { n }) : badArgs(name, raw))),
  ...(last === "" ? [] : [say(last)]),
  stop(wire),
];

/** D4.21 to D4.25; what a parser says is left out. */
function resultOf({ name, n, raw }: Said["calls"][number]): string {
  if (name === "nope") return "Error: Unknown tool 'nope'";
  if (raw === "[1]") return `Error: Tool input validation failed for ${name}`;
  if (raw !== null) return `Error: Invalid tool arguments JSON for ${name}`;
  if (name === "finish") return "Task complete";
  return n === 9 ? "Error: boom" : `look ${n}`;
}

const argsOf = ({ n, raw }: Said["calls"][number]): string =>
  raw === null ? JSON.stringify({ n }) : raw === "[1]" ? raw : JSON.stringify({ _raw: raw });

/** D2.6 to D2.15 and D6.31, written down once more. */
function described(answers: readonly Said[], options: Options): string[] {
  const told: string[] = [];
  for (const { texts, calls } of answers.slice(0, options.maxIterations)) {
    const said = texts.filter((text) => text !== "");
    if (calls.length === 0 && !options.requireDoneTool) return [...told, `final ${said.join("\n").trim()}`];
    told.push(...said.map((text) => `text ${text}`));
    for (const [at, one] of calls.entries()) {
      const result = resultOf(one);
      const failed = result.startsWith("Error");
      told.push(`step ${at + 1} ${one.name}`, `call ${argsOf(one)}`, `result ${failed} ${result}`);
      told.push(`complete ${failed ? "error" : "completed"}`);
      if (result === "Task complete") return [...told, "final finished"];
    }
  }
  return [...told, `final [Max Iterations Reached]\n\n${options.landing.trim()}`];
}

function inShort(event: AgentEvent): string {
  switch (event.type) {
    case "text":
    case "final":
      return `${event.type} ${event.content}`;
    case "step_start":
      return `step ${event.step_number} ${event.title}`;
    case "tool_call":
      return `call ${JSON.stringify(event.args)}`;
    case "tool_result": {
      const result = event.result.replace(/^(Error: (?:Invalid|Tool input)[^:]*):.*$/s, "$1");
      return `result ${event.is_error === true} ${result}`;
    }
    case "step_complete":
      return `complete ${event.status}`;
    default:
      return event.type;
  }
}

const tools: Tool[] = [
  tool({
    name: "look",
    description: "Looks",
    inputSchema: { type: "object", properties: { n: { type: "number" } } },
    effect: "read",
    execute: ({ n }) => {
      if (n === 9) throw new Error("boom");
      return `look ${String(n)}`;
    },
  }),
  tool({
    name: "finish",
    description: "Finishes",
    inputSchema: { type: "object", properties: { n: { type: "number" } } },
    effect: "read",
    execute: () => {
      throw new TaskComplete("finished");
    },
  }),
];

test("D2.7 D2.9 D3.17 any answers give the events that the description gives them", async () => {
  const wires: StopKind[] = ["end_turn", "tool_use", "max_tokens", "stop_sequence", "unknown", "pause"];
  const calls: fc.Arbitrary<Said["calls"][number]> = fc.record({
    name: fc.constantFrom("look", "look", "nope", "finish"),
    n: fc.constantFrom(1, 2, 9),
    raw: fc.constantFrom(null, null, null, "{", "[1]"),
  });
  const said: fc.Arbitrary<Said> = fc.record({
    texts: fc.array(fc.constantFrom("", "so", " and "), { minLength: 2, maxLength: 2 }),
    calls: fc.array(calls, { maxLength: 3 }),
    wire: fc.constantFrom(...wires),
  });
  const options = fc.record({
    maxIterations: fc.integer({ min: 1, max: 5 }),
    requireDoneTool: fc.boolean(),
    landing: fc.constantFrom(" so far ", ""),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(said, { minLength: 5, maxLength: 5 }), options, async (answers, given) => {
      const model = scripted(({ tools: offered }, n): Turn => {
        if (offered.length > 0) return turnOf(answers[n - 1] as Said);
        return given.landing === "" ? [] : say(given.landing);
      });
      const { maxIterations, requireDoneTool } = given;
      const { events } = await play({ model, tools, maxIterations, requireDoneTool });
      expect(events.map(inShort)).toEqual(described(answers, given));
    }),
    { numRuns: 400 },
  );
});
