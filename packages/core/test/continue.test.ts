// A session goes on without a new word: after an error, and where another agent takes it over.

import { Agent, memoryJournal, resolve, type Session, textOf, toolResult } from "@rondo/core";
import { explain } from "@rondo/core/explain";
import { call, fail, hold, replayTest, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { wordsOf } from "./refused.ts";
import { echo, quick, shortly } from "./support.ts";

const refusal = (session: Session): Promise<string> =>
  session.continue().then(
    () => "it went on",
    (thrown: unknown) =>
      wordsOf(() => {
        throw thrown;
      }),
  );

describe("continue", () => {
  test("calls the model again after an error, without adding or repeating anything", async () => {
    const model = scripted([call("look"), fail("auth"), say("It rains.")]);
    const session = await new Agent({ model, tools: [echo("look")], ...quick }).open("s");
    expect((await session.send("How is it?")).end?.reason).toBe("error");
    const { text, end, messages, steps } = await session.continue();
    expect([text, end?.reason, steps]).toEqual(["It rains.", "completed", 1]);
    expect(shortly(messages)).toEqual([
      "user: How is it?",
      "assistant: look()",
      "tool: look ran",
      "assistant: It rains.",
    ]);
    expect(model.requests[2]?.messages).toEqual(model.requests[1]?.messages);
    expect((await session.replay()).difference).toBeUndefined();
  });

  test("is replayed from a cassette, and explained as a continuation", async () => {
    const journal = memoryJournal();
    const options = { model: scripted([fail("auth"), say("Hello.")]), ...quick };
    const session = await new Agent({ ...options, journal }).open("s");
    await session.send("Hi.");
    await session.continue();
    await replayTest({ ...options, model: scripted([]) }, journal.read("s"));
    const { rules } = resolve(options);
    expect(JSON.stringify(explain(journal.read("s"), { rules }))).toContain(
      "the conversation was to go on, without a new word",
    );
  });

  test("lets another agent take over a conversation, after its last call ended it", async () => {
    const journal = memoryJournal();
    const over = echo("to_billing", { execute: () => toolResult("Handed over.", { done: true }) });
    const front = await new Agent({ model: scripted([call("to_billing")]), tools: [over], journal }).open(
      "u",
    );
    await front.send("My invoice is wrong.");
    const model = scripted([say("I see it.")]);
    const { text } = await (await new Agent({ model, system: "billing", journal }).open("u")).continue();
    expect([text, model.lastRequest.system]).toEqual(["I see it.", "billing"]);
  });

  test("delivers a message that was steered in meanwhile, also after an answer", async () => {
    const session = await new Agent({ model: scripted([say("Hello."), say("Good.")]) }).open("s");
    await session.send("Hi.");
    expect(await refusal(session)).toBe(
      "the conversation of session s ends with an answer: send() it a word",
    );
    session.steer("And now?");
    expect(shortly((await session.continue()).messages).slice(2)).toEqual([
      "user: And now?",
      "assistant: Good.",
    ]);
  });

  test("delivers a message that was steered in after the conversation was cleared", async () => {
    const session = await new Agent({ model: scripted([say("Hello."), say("Good.")]) }).open("s");
    await session.send("Hi.");
    await session.clear();
    session.steer("And now?");
    expect(shortly((await session.continue()).messages)).toEqual(["user: And now?", "assistant: Good."]);
  });

  test("delivers work that was queued meanwhile, also after the conversation was cleared", async () => {
    const model = scripted([say("Hello."), say("Good."), say("Done.")]);
    const session = await new Agent({ model }).open("s");
    await session.send("Hi.");
    session.followUp("And now?");
    expect(shortly((await session.continue()).messages).slice(2)).toEqual([
      "user: And now?",
      "assistant: Good.",
    ]);
    await session.clear();
    session.followUp("Begin again.");
    expect(shortly((await session.continue()).messages)).toEqual(["user: Begin again.", "assistant: Done."]);
  });

  test("delivers steering before queued follow-ups", async () => {
    const session = await new Agent({ model: scripted([say("One."), say("Two."), say("Three.")]) }).open("s");
    await session.send("Hi.");
    session.followUp("Later.");
    session.steer("Now.");
    expect(shortly((await session.continue()).messages).slice(2)).toEqual([
      "user: Now.",
      "assistant: Two.",
      "user: Later.",
      "assistant: Three.",
    ]);
  });

  test("delivers follow-ups together, or one by one, each once the one before it is answered", async () => {
    const said = async (options: object): Promise<string[]> => {
      const model = scripted([say("One."), say("Two."), say("Three."), say("Four.")]);
      const session = await new Agent({ model, ...options }).open("s");
      await session.send("Hi.");
      session.followUp("First.");
      session.followUp("Second.");
      session.steer("Now.");
      session.steer("At once.");
      return shortly((await session.continue()).messages).slice(2);
    };
    const steering = ["user: Now.", "user: At once.", "assistant: Two."];
    const together = [...steering, "user: First.", "user: Second.", "assistant: Three."];
    expect(await said({})).toEqual(together);
    expect(await said({ followUps: "together" })).toEqual(together);
    expect(await said({ followUps: "one_by_one" })).toEqual([
      ...steering,
      "user: First.",
      "assistant: Three.",
      "user: Second.",
      "assistant: Four.",
    ]);
  });

  test("keeps a follow-up whose turn had not come when the run failed", async () => {
    const model = scripted([fail("auth"), say("One."), say("Two.")]);
    const session = await new Agent({ model, followUps: "one_by_one", ...quick }).open("s");
    session.followUp("First.");
    session.followUp("Second.");
    expect((await session.continue()).end?.reason).toBe("error");
    expect(session.queued.map(({ message }) => textOf(message))).toEqual(["Second."]);
    expect(shortly((await session.continue()).messages)).toEqual([
      "user: First.",
      "assistant: One.",
      "user: Second.",
      "assistant: Two.",
    ]);
  });

  test.each([true, false])(
    "calls no model if the message was withdrawn before it was read (said before: %s)",
    async (before) => {
      const model = scripted([say("Hello."), say("never said")]);
      const journal = memoryJournal();
      const session = await new Agent({ model, journal }).open("s");
      if (before) await session.send("Hi.");
      session.steer("And now?", "word");
      await session.settled();
      // The process dies when the run has begun, and the next one is told to forget it.
      const died = before ? journal.read("s").length : 1;
      await session.continue();
      const left = memoryJournal();
      left.append("s", 0, journal.read("s").slice(0, died + 1));
      const other = scripted([say("never said")]);
      const next = await new Agent({ model: other, journal: left }).open("s");
      expect(next.status).toBe("interrupted");
      expect(await next.withdraw("word")).toBe(true);
      const { end, text, messages } = await next.resume();
      expect([end?.reason, end?.rule, text, other.calls]).toEqual(["completed", "continue", "", 0]);
      expect(messages).toHaveLength(before ? 2 : 0);
      expect((await next.replay()).difference).toBeUndefined();
    },
  );

  test("is refused in a new session, and while a run is active", async () => {
    const gate = hold();
    const session = await new Agent({ model: scripted([[gate, say("Hello.")]]) }).open("s");
    expect(await refusal(session)).toBe("session s has no conversation to go on with: send() it a task");
    const running = session.send("Hi.");
    expect(await refusal(session)).toContain("has a run that is running");
    gate.release();
    await running;
  });
});
