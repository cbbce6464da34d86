// Answers that say the same thing without end.

import {
  Agent,
  type AssistantMessage,
  type Model,
  type ModelIo,
  type ModelRequest,
  textOf,
  tool,
} from "@rondo/core";
import { call, say, scripted, stop, think } from "@rondo/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { repetition } from "../src/rules/degenerate.ts";

const sorry = "I apologize for the confusion. ";

describe("a degenerate answer", () => {
  const cut = (text: string) => [say(text), stop("max_tokens")];

  test("is requested again, and not stored", async () => {
    const model = scripted([cut(`Let me see. ${sorry.repeat(100)}`), say("Here it is.")]);
    const { text, messages } = await new Agent({ model }).run("go");
    expect([text, messages.length, model.calls]).toEqual(["Here it is.", 2, 2]);
    expect(messages.some((message) => textOf(message).includes("apologize"))).toBe(false);
  });

  test("is requested again with a message that asks not to repeat it, and is not kept", async () => {
    const model = scripted([cut(sorry.repeat(100)), say("Here it is.")]);
    const { messages } = await new Agent({ model }).run("go");
    const [first, second] = model.requests.map((request) => request.messages.map(textOf));
    expect(second?.slice(0, -1)).toEqual(first);
    expect(second?.at(-1)).toMatch(/repeated itself/);
    expect(second?.at(-1)).not.toContain("apologize");
    expect(messages.map(textOf)).toEqual(["go", "Here it is."]);
  });

  test("that comes again and again ends the run, and the end says what was repeated", async () => {
    const model = scripted([cut(sorry.repeat(30))], { repeatLast: true });
    const { end, messages } = await new Agent({ model }).run("go");
    const error = { kind: "loop_detected" };
    expect(end).toMatchObject({ reason: "no_progress", rule: "degenerate_answers", error });
    expect(end?.evidence.times).toBeGreaterThanOrEqual(29);
    expect([model.calls, messages.length]).toEqual([2, 1]);
  });

  test("may also be a wall of the same call: none of them runs, and none is kept", async () => {
    let ran = 0;
    const wait = tool({
      name: "wait",
      description: "Waits",
      inputSchema: {},
      execute: () => {
        ran += 1;
        return `${ran}`;
      },
    });
    const wall = Array.from({ length: 3_000 }, () => call("wait", { command: ":" }));
    const model = scripted([[...wall, stop("max_tokens")], say("Fine.")]);
    const { text, messages } = await new Agent({ model, tools: [wait] }).run("go");
    expect([text, messages.length, ran]).toEqual(["Fine.", 2, 0]);
  });

  test("may also be a repetition in the reasoning", async () => {
    const model = scripted([[think("wait, no, ".repeat(300)), stop("max_tokens")], say("Fine.")]);
    expect((await new Agent({ model }).run("go")).text).toBe("Fine.");
  });

  test("that ended by itself is accepted if a user asked for the repetition", async () => {
    const text = "All work and no play. ".repeat(500);
    const model = scripted([say(text)]);
    expect((await new Agent({ model }).run("Write 'All work and no play' 500 times")).text).toBe(text);
  });

  test("that ended by itself is rejected if nobody did, and is not kept", async () => {
    const model = scripted([say("All work and no play. ".repeat(500)), say("Fine.")]);
    const { text, messages } = await new Agent({ model }).run("go");
    expect(text).toBe("Fine.");
    expect(JSON.stringify(messages)).not.toContain("no play");
  });

  test("is not a table, a ruler, or a text that was merely cut off", async () => {
    for (const text of ["Cut off in the middle of", "| 0 | 0 |\n".repeat(400), "-".repeat(3000)])
      expect((await new Agent({ model: scripted([cut(text)]) }).run("go")).text).toBe(text);
  });

  test("is accepted if the rule is off", async () => {
    const text = sorry.repeat(100);
    const agent = new Agent({ model: scripted([cut(text)]), degenerateRetries: null });
    expect((await agent.run("go")).text).toBe(text);
  });
});

describe("repetition", () => {
  test("is found after any beginning, with its unit and its count", () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 200 }),
        fc.stringMatching(/^[a-z]{2}[a-z ]{3,20}$/),
        fc.integer({ min: 10, max: 60 }),
        (before, unit, times) => {
          const found = repetition(`${before}. ${unit.repeat(times)}x`.slice(0, -1));
          expect(found?.times).toBeGreaterThanOrEqual(times - 1);
        },
      ),
    );
  });

  test("is found in linear time: each character is read a limited number of times", () => {
    // The worst text for a search of borders: almost periodic everywhere.
    const hard = `${"a".repeat(9_999)}b`.repeat(20);
    expect(repetition(hard)).toBeUndefined();
  });
});

describe("an answer that only repeats itself", () => {
  const origin = { api: "test", provider: "test", model: "test" };

  /** Says something over and over until it is stopped, and then what was told after it. */
  function babbling(
    type: "text_delta" | "reasoning_delta",
    unit = sorry,
  ): Model & { said: number; calls: number } {
    const model = {
      id: "test/test",
      origin,
      said: 0,
      calls: 0,
      call: async (_request: ModelRequest, { signal, emit }: ModelIo): Promise<AssistantMessage> => {
        model.calls += 1;
        const content: AssistantMessage["content"] = [{ type: "text", text: "Fine." }];
        const stop = { kind: "end_turn", wire: "end_turn" } as const;
        if (model.calls > 1) return { role: "assistant", content, origin, stop };
        while (!signal.aborted && model.said < 10_000) {
          emit({ type, index: 0, text: unit });
          model.said += 1;
        }
        if (signal.aborted) throw signal.reason;
        return { role: "assistant", content: [{ type: "text", text: unit.repeat(10_000) }], origin, stop };
      },
    };
    return model;
  }

  test("is aborted while it streams, and requested again", async () => {
    for (const type of ["text_delta", "reasoning_delta"] as const) {
      const model = babbling(type);
      const { text, messages } = await new Agent({ model }).run("go");
      expect([text, model.calls]).toEqual(["Fine.", 2]);
      expect(model.said).toBeLessThan(100);
      expect(JSON.stringify(messages)).not.toContain("apologize");
    }
  });

  test("is read to its end if a user asked for it, if it is no prose, and if the rule is off", async () => {
    for (const [task, unit, options] of [
      ["Say 'I apologize for the confusion' 10,000 times", sorry, {}],
      ["go", "token ", {}],
      ["go", sorry, { degenerateRetries: null }],
    ] as const) {
      const model = babbling("text_delta", unit);
      const { text } = await new Agent({ model, ...options }).run(task);
      expect([text === unit.repeat(10_000), model.calls, model.said]).toEqual([true, 1, 10_000]);
    }
  });
});
