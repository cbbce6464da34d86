// What a run has of the outside reaches the sub-agents below it, as deep as they are.

import { Agent, type AgentOptions, dependency, memoryJournal, subAgent, type Tool, tool } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";

const user = dependency("user", () => "nobody");
const plan = dependency("plan", () => "none");
const shelf = dependency("shelf", () => "empty");

/** A tool that tells what it is given, and what it told. */
function asking(options: Partial<Parameters<typeof tool>[0]> = {}): { told: string[]; asks: Tool } {
  const told: string[] = [];
  const asks = tool({
    name: "asks",
    description: "Tells what it has",
    inputSchema: { type: "object" },
    effect: "read",
    ...options,
    execute: async (_args, { resolve }) => {
      told.push(`${await resolve(user)}, ${await resolve(plan)}, ${await resolve(shelf)}`);
      return "asked";
    },
  });
  return { told, asks };
}

const inner = (asks: Tool, options: Partial<AgentOptions> = {}): Agent =>
  new Agent({ model: scripted([call("asks"), say("done")]), tools: [asks], ...options });

const above = (agent: Agent, options: Partial<AgentOptions> = {}): Agent =>
  new Agent({
    model: scripted([call("helper", { task: "ask" }), say("done")]),
    tools: [subAgent({ name: "helper", description: "Helps", agent })],
    ...options,
  });

describe("a sub-agent gets the dependencies", () => {
  test("of its parent's agent, if its own agent gives none", async () => {
    const { told, asks } = asking();
    const child = inner(asks, { dependencies: [plan.as("the child's")] });
    await above(child, { dependencies: [user.as("the parent's"), plan.as("the parent's")] }).run("go");
    expect(told).toEqual(["the parent's, the child's, empty"]);
  });

  test("of the run before those of any agent, two levels down as well", async () => {
    const { told, asks } = asking();
    const child = inner(asks, { dependencies: [user.as("the child's"), shelf.as("the child's")] });
    const middle = above(child, { dependencies: [plan.as("the middle's")] });
    await above(middle, { dependencies: [plan.as("the lead's")] }).run("go", {
      dependencies: [user.as("Ada")],
    });
    expect(told).toEqual(["Ada, the middle's, the child's"]);
  });

  test("of the session in which its parent continues", async () => {
    const { told, asks } = asking({ permission: "ask" });
    const lead = above(inner(asks), { journal: memoryJournal() });
    await lead.run("go", { session: "s", dependencies: [user.as("Ada")] });
    const session = await lead.open("s", { dependencies: [user.as("Ben")] });
    await session.approve(session.pending[0]?.id ?? "");
    expect(told).toEqual(["Ben, none, empty"]);
  });
});
