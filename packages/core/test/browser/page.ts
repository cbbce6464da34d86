// The program of the browser test: what a page would do with core. It is bundled, and must run without Node.

import * as core from "../../src/index.ts";

/** The agent as far as this page needs it. */
type AgentClass = new (options: {
  model: core.Model;
  tools: readonly core.Tool[];
}) => { run(prompt: string): Promise<{ text: string }> };

const add = core.tool({
  name: "add",
  description: "Adds two numbers",
  inputSchema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  },
  effect: "read",
  execute: (args) => {
    const { a, b } = args as { a: number; b: number };
    return `sum: ${a + b}`;
  },
});

const origin: core.Origin = { api: "inline", provider: "inline", model: "inline" };

/** Asks for the tool once, then answers with what the tool said. */
const model: core.Model = {
  id: "inline/inline",
  origin,
  call: async ({ messages }) => {
    const last = messages.at(messages.length - 1);
    if (last?.role === "tool") {
      const said = last.content.map((part) => (part.type === "text" ? part.text : "")).join("");
      return {
        role: "assistant",
        content: [{ type: "text", text: `The tool says ${said}` }],
        origin,
        stop: { kind: "end_turn", wire: "end_turn" },
      };
    }
    const args = { a: 5, b: 7 };
    return {
      role: "assistant",
      content: [{ type: "tool_call", id: "c1", name: "add", args, rawArgs: JSON.stringify(args) }],
      origin,
      stop: { kind: "tool_use", wire: "tool_use" },
    };
  },
};

/** What the page shows: the agent's answer; while core has no agent, what the tool makes of arguments. */
export async function main(): Promise<string> {
  const Agent = Reflect.get(core, "Agent") as AgentClass | undefined;
  if (Agent !== undefined) return (await new Agent({ model, tools: [add] }).run("What is 5 and 7?")).text;
  const check = await add.check({ a: "5", b: 7 });
  return check.ok
    ? `No agent yet; ${add.execute(check.value as never, {} as core.ToolContext)}`
    : check.error;
}
