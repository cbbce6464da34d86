// The agent strategy over every provider's own protocol: its rounds, its refusals, and what it reads of calls.

import { Agent, type Tool, textOf, tool } from "@rondo/core";
import { type AgentStrategyOptions, agentStrategy } from "@rondo/core/presets";
import { badArgs, call, calls, say } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { cells, expectValid, serve } from "./end-to-end/stack.ts";

const look: Tool = tool({
  name: "look",
  description: "Looks",
  inputSchema: { type: "object", properties: { q: { type: "string" } } },
  effect: "read",
  execute: ({ q }) => `saw ${String(q)}`,
});

describe.each(cells)("$name", ({ row, mode }) => {
  const { stream } = mode;

  /** What became of each call, in order, and the text. */
  async function played(
    script: Parameters<typeof serve>[0],
    options: Partial<AgentStrategyOptions> = {},
  ): Promise<{ results: string[]; text: string }> {
    const wire = await serve(script, mode);
    const model = row.model(wire, { stream });
    const result = await new Agent(agentStrategy({ model, tools: [look], ...options })).run("go");
    expectValid(wire, result);
    const results = result.messages.filter((message) => message.role === "tool").map(textOf);
    return { results, text: result.text };
  }

  test("E2.4 E2.6 runs every call of a round, with or without ids in the protocol", async () => {
    const two = calls([
      ["look", { q: "a" }],
      ["look", { q: "b" }],
    ]);
    expect(await played([[say("Looking."), two], call("look", { q: "c" }), say("Seen.")])).toEqual({
      results: ["saw a", "saw b", "saw c"],
      text: "Seen.",
    });
  });

  test("E2.10 refuses the calls of the last round", async () => {
    const { results } = await played([call("look", { q: "a" }), call("look", { q: "b" })], {
      maximumIterations: 2,
    });
    expect(results).toEqual([
      "saw a",
      "Maximum iteration limit (2) reached. Cannot call tool 'look'. Please consider increasing the iteration limit.",
    ]);
  });

  test("E5.24 never runs arguments that are no object, and says so if there is a call at all", async () => {
    const { results, text } = await played([badArgs("look", "[1]"), say("So.")]);
    // Gemini's arguments are no text: what it could not write as an object is no call, and the round is the last.
    const told =
      row.name === "google" ? [] : ["tool arguments parse error: tool arguments must be a JSON object"];
    expect([results, text]).toEqual([told, row.name === "google" ? "" : "So."]);
  });
});
