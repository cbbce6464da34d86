import { Agent, type LogRecord, memoryJournal, resolve, tool } from "@rondo/core";
import { diff } from "@rondo/core/explain";
import { call, say, scripted, type Turn, usage } from "@rondo/testkit";
import { expect, it } from "vitest";
import { renderDiff } from "../src/render/diff.ts";

async function ran(script: readonly Turn[], price?: { input: number; output: number }): Promise<LogRecord[]> {
  const journal = memoryJournal();
  const model = scripted(script, price === undefined ? {} : { facts: { price } });
  await new Agent({ model, journal }).run("go", { session: "s" });
  return journal.read("s");
}

it("a diff says of tokens and money what is known of them, and never zero of what nobody counted", async () => {
  const told = usage({ inputTokens: 900_000, outputTokens: 100_000 });
  const sides = [
    await ran([say("one")]),
    await ran([call("look"), [say("two"), told]]),
    await ran([[say("three"), told]], { input: 1, output: 1 }),
  ];
  const { rules } = resolve({ model: scripted([]) });
  const page = (a: number, b: number): string =>
    renderDiff(diff(sides[a] ?? [], sides[b] ?? [], rules), ["a", "b"], {
      full: false,
      paint: (_, text) => text,
      width: 140,
    });
  expect(page(0, 1)).toContain("1 step, 0 calls, usage unknown");
  expect(page(0, 1)).toContain("2 steps, 0 calls, at least 1,000,000 tokens, cost unknown");
  expect(page(1, 2)).toContain("1 step, 0 calls, 1,000,000 tokens, $1.00");
});

it("a diff that is asked for in full cuts nothing, in linear time", async () => {
  const long = (letter: string): string => letter.repeat(300_000);
  const look = tool({ name: "look", description: "", inputSchema: {}, execute: () => long("R") });
  const journal = memoryJournal();
  const model = scripted([call("look", { at: long("A") }), say(long("T"))]);
  const agent = new Agent({ model, tools: [look], journal, context: { cap: null } });
  await agent.run("go", { session: "s" });
  const { rules } = resolve({ model: scripted([]) });
  const found = diff(await journal.read("s"), await ran([say("one")]), rules);
  const page = (full: boolean): string =>
    renderDiff(found, ["a", "b"], { full, paint: (_, text) => text, width: 140 });
  // The text stands there twice: as an answer, and as what came of it all.
  for (const [letter, times] of [
    ["A", 1],
    ["R", 1],
    ["T", 2],
  ] as const) {
    expect(page(true).split(letter).length - 1).toBe(times * 300_000);
    expect(page(false).split(letter).length - 1).toBeLessThan(1_000);
  }
});
