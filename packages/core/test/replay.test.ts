// Replay under an agent that has changed: what differs, from what to what, and why.

import { Agent, memoryJournal, replay, resolve } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { echo } from "./support.ts";

async function recorded() {
  const journal = memoryJournal();
  const model = scripted([call("look"), say("done")], { id: "m" });
  await new Agent({ model, system: "be brief", tools: [echo("look")], journal }).run("go", { session: "s" });
  return { journal, model };
}

describe("a replay", () => {
  test("with the same agent finds no difference of any kind", async () => {
    const { journal, model } = await recorded();
    const agent = new Agent({ model, system: "be brief", tools: [echo("look")], journal });
    const { requests, firstDifference, difference, today } = await (await agent.open("s")).replay();
    expect(requests.map(({ same }) => same)).toEqual([true, true]);
    expect([firstDifference, difference, today]).toEqual([undefined, undefined, undefined]);
  });

  test("shows which parts the current agent would send differently, the old and new values, and by which options", async () => {
    const { journal, model } = await recorded();
    const agent = new Agent({
      model,
      system: "be long",
      settings: { temperature: 1 },
      tools: [echo("look", { description: "Look again" }), echo("new")],
      maxSteps: 7,
      retry: null,
      journal,
    });
    const { firstDifference, today } = await (await agent.open("s")).replay();
    // What was sent is still what the records say.
    expect(firstDifference).toBeUndefined();
    expect(today).toMatchObject({ step: 1 });
    expect(today?.parts.map(({ what }) => what)).toEqual([
      "system",
      "tool look",
      "tool new",
      "settings.temperature",
    ]);
    expect(today?.parts[0]).toEqual({ what: "system", was: "be brief", is: "be long" });
    expect(today?.causes).toContainEqual({ what: "rule retry", was: "version 4" });
  });

  test("names the text that changed if the records themselves give another request", async () => {
    const journal = memoryJournal();
    const model = scripted([call("look"), say("landed")]);
    const options = { model, tools: [echo("look")], maxSteps: 1, journal };
    await new Agent(options).run("go", { session: "s" });
    const agent = new Agent({ ...options, texts: { landing: () => "Stop now." } });
    const { firstDifference, difference } = await (await agent.open("s")).replay();
    expect(firstDifference).toMatchObject({ step: 2, same: false });
    expect(difference?.causes).toEqual([{ what: "texts", was: "the default", is: "the agent's own" }]);
    expect(difference?.parts).toMatchObject([
      { what: "message 4", is: { content: [{ text: "Stop now." }] } },
    ]);
    expect(JSON.stringify(difference?.parts[0]?.was)).toContain("no more tools can be used");
  });

  test("says so if the sent request cannot be rebuilt, and names the rules with another version", async () => {
    const { journal, model } = await recorded();
    const { rules, options } = resolve({ model, tools: [echo("look")], retry: null });
    const records = journal
      .read("s")
      .map((record) => (record.type === "model_started" ? { ...record, digest: "1" } : record));
    const { difference } = replay(records, rules, options);
    expect(difference).toMatchObject({
      step: 1,
      parts: [],
      causes: [{ what: "rule retry", was: "version 4" }],
    });
  });

  test("reads a result as often in a long session as in a short one", async () => {
    const looksAt = async (steps: number): Promise<number> => {
      const journal = memoryJournal();
      const asked = Array.from({ length: steps }, (_, n) => call("look", { n }));
      const agent = { model: scripted([...asked, say("done")]), tools: [echo("look")], maxSteps: 1_000 };
      await new Agent({ ...agent, journal }).run("go", { session: "s" });
      const { rules, options } = resolve(agent);
      const records = journal.read("s");
      const first = records.find((record) => record.type === "tool_finished");
      const [part] = first?.result.content ?? [];
      if (part?.type !== "text") throw new Error("the first result is a text");
      const { text } = part;
      let looks = 0;
      const counting = {
        type: "text" as const,
        get text() {
          looks += 1;
          return text;
        },
      };
      const watched = records.map((record) =>
        record === first ? { ...first, result: { ...first.result, content: [counting] } } : record,
      );
      expect(replay(watched, rules, options).today).toBeUndefined();
      return looks;
    };
    expect(await looksAt(40)).toBe(await looksAt(10));
  });
});
