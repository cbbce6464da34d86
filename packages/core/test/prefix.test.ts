// The front of a request over the lives of a session: whoever opens it again is told what broke it, as whoever kept it open (P10).

import {
  Agent,
  type AgentOptions,
  type Journal,
  memoryJournal,
  type RondoEvent,
  type Rule,
  tool,
} from "@rondo/core";
import { call, type Script, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";

const toolNamed = (name: string) =>
  tool({ name, description: name, inputSchema: { type: "object" }, effect: "read", execute: () => "seen" });
const look = toolNamed("look");

type Told = (string | undefined)[];

/** One life of a session: it is opened, does a task, and is let go. What each request of it was told to have broken. */
async function live(journal: Journal, script: Script, more: Partial<AgentOptions> = {}): Promise<Told> {
  const agent = new Agent({ model: scripted(script), tools: [look], system: "Be brief.", journal, ...more });
  const session = await agent.open("lives");
  const told: Told = [];
  session.subscribe((event: RondoEvent) => {
    if (event.type === "request") told.push(event.broke);
  });
  await session.send("look");
  return told;
}

const first = (journal: Journal): Promise<Told> => live(journal, [call("look"), say("seen")]);

describe("a session that is opened again", () => {
  test("reports nothing if its requests only grew", async () => {
    const journal = memoryJournal();
    expect(await first(journal)).toEqual([undefined, undefined]);
    expect(await live(journal, [call("look"), say("again")])).toEqual([undefined, undefined]);
  });

  test.each<[what: string, more: Partial<AgentOptions>]>([
    ["another system prompt", { system: "Be brief. It is 12:31." }],
    ["another tool", { tools: [look, toolNamed("find")] }],
  ])("is told once of %s", async (_what, more) => {
    const journal = memoryJournal();
    await first(journal);
    expect(await live(journal, [call("look"), say("again")], more)).toEqual(["system or tools", undefined]);
  });

  test("reports nothing if its rules would not have asked as the last ones did", async () => {
    const journal = memoryJournal();
    await first(journal);
    const notThen: Rule = {
      name: "not_then",
      version: 1,
      decide: (_, { run }) =>
        run?.number === 1 ? { do: "stop", reason: "no_progress", evidence: {} } : undefined,
    };
    expect(await live(journal, [say("again")], { rules: [notThen] })).toEqual([undefined]);
  });

  test("reports a note that was in the last request only", async () => {
    const journal = memoryJournal();
    // The last request of this life has a note behind its messages: no answer is there to be asked for again.
    await live(journal, [[], say("now")], { system: "s" });
    expect(await live(journal, [say("again")], { system: "s" })).toEqual(["message 2 (a note shown once)"]);
  });

  test("reports what another process changed while this one had it open", async () => {
    const journal = memoryJournal();
    const agent = new Agent({
      model: scripted([say("one"), say("three")]),
      tools: [look],
      system: "s",
      journal,
    });
    const session = await agent.open("lives");
    const told: Told = [];
    session.subscribe((event) => {
      if (event.type === "request") told.push(event.broke);
    });
    await session.send("one");
    expect(await live(journal, [say("two")], { system: "other" })).toEqual(["system or tools"]);
    await session.send("three");
    expect(told).toEqual([undefined, "system or tools"]);
  });

  test("reports in a fork the system prompt that it was forked with", async () => {
    const journal = memoryJournal();
    await first(journal);
    const agent = new Agent({ model: scripted([say("else")]), tools: [look], journal });
    const session = await agent.open("lives");
    const fork = await session.fork("fork", { at: 2, system: "Be long." });
    const told: Told = [];
    fork.subscribe((event) => {
      if (event.type === "request") told.push(event.broke);
    });
    await fork.resume();
    expect(told).toEqual(["system or tools"]);
  });
});
