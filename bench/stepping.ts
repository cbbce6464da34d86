// The room of the cheapest agent: its model and its tool cost next to nothing, which leaves the loop and its journal.

import { type AssistantMessage, type Model, type Tool, tool } from "@rondo/core";

export const benchOrigin = { api: "bench", provider: "bench", model: "bench" };

/** The answer of a step: one call of the tool. */
export function callAt(step: number): AssistantMessage {
  const args = { step };
  return {
    role: "assistant",
    content: [{ type: "tool_call", id: `c${step}`, name: "look", args, rawArgs: JSON.stringify(args) }],
    origin: benchOrigin,
    stop: { kind: "tool_use", wire: "tool_use" },
  };
}

/** A model with a fixed answer per step, which looks at nothing. */
export function stepping(answer: (step: number) => AssistantMessage): Model {
  let step = 0;
  return {
    id: "bench",
    origin: benchOrigin,
    async call(): Promise<AssistantMessage> {
      step += 1;
      return answer(step);
    },
  };
}

/** The last answer. */
export const doneAnswer = (): AssistantMessage => ({
  role: "assistant",
  content: [{ type: "text", text: "done" }],
  origin: benchOrigin,
  stop: { kind: "end_turn", wire: "end_turn" },
});

const seen = "x".repeat(1_000);

/** Returns a thousand characters. */
export const look: Tool = tool({
  name: "look",
  description: "looks",
  inputSchema: { type: "object", properties: {} },
  effect: "read",
  execute: () => seen,
});
