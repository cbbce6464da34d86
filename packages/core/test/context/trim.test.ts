// All results together keep to a budget; what gives way, gives way for good.

import {
  Agent,
  isPaired,
  type Message,
  refIn,
  type TrimOptions,
  textOf,
  trim,
  trimBudget,
  trimSettings,
  userText,
} from "@rondo/core";
import { call as callTurn, say, scripted } from "@rondo/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Log } from "../../src/loop/log.ts";
import { echo } from "../support.ts";
import { answer, anyHistory, call, history, image, result, said, text, turn } from "./support.ts";

/** As the managed context preset trims: down to the budget and no further, and nothing is spared. */
const strict = (budgetTokens: number): TrimOptions => ({ budgetTokens, to: 1, keep: "none" });
const trimmed = (messages: readonly Message[], options: TrimOptions, facts = {}): string[] =>
  [...trim(messages, trimSettings(options), facts).messages]
    .filter((message) => message.role === "tool")
    .map((message) => said(message));

const tokens = (count: number): string => "abcd".repeat(count);

describe("trimming with a managed context's settings", () => {
  test("D9.47 the oldest results are replaced until all of them together are within the budget", () => {
    const messages = history(tokens(400), tokens(300), tokens(200));
    expect(trimmed(messages, strict(900))).toEqual([tokens(400), tokens(300), tokens(200)]);
    expect(trimmed(messages, strict(899))).toEqual(["[tool output trimmed]", tokens(300), tokens(200)]);
    expect(trimmed(messages, strict(506))).toEqual(["[tool output trimmed]", tokens(300), tokens(200)]);
    expect(trimmed(messages, strict(505))).toEqual([
      "[tool output trimmed]",
      "[tool output trimmed]",
      tokens(200),
    ]);
    expect(trimmed(messages, strict(0))).toEqual(Array(3).fill("[tool output trimmed]"));
  });

  test("D9.47 each started four bytes are a token, of tool messages only", () => {
    const spoken = [userText(tokens(9_000)), answer(text(tokens(9_000)))];
    const euros = history("€€€"); // nine bytes: three tokens
    expect(trimmed([...spoken, ...euros], strict(3))).toEqual(["€€€"]);
    expect(trimmed([...spoken, ...euros], strict(2))).toEqual(["[tool output trimmed]"]);
  });

  test("D9.47 a stored result leaves its ref, and a placeholder stays the same if it is trimmed again", () => {
    const messages = history(
      `${tokens(50)}\n\n[tool output truncated; ref=r-1]`,
      "[tool output trimmed; ref=r-2]",
      "[tool output trimmed]",
      `${tokens(50)}\n\n[tool output truncated]`,
      tokens(10),
    );
    const settings = trimSettings(strict(40));
    const { messages: after, edits } = trim(messages, settings, {});
    expect([...after].filter((one) => one.role === "tool").map(said)).toEqual([
      "[tool output trimmed; ref=r-1]",
      "[tool output trimmed; ref=r-2]",
      "[tool output trimmed]",
      "[tool output trimmed]",
      tokens(10),
    ]);
    expect(edits.map(({ at }) => at)).toEqual([2, 8]);
    expect(trim(after, settings, {}).messages).toBe(after);
  });

  test("D9.47 a result with a ref on its message keeps that ref", () => {
    const { messages } = trim(
      history(tokens(50)),
      trimSettings(strict(1)),
      {},
      (one) => `kept-${one.callId}`,
    );
    expect(said([...messages][2])).toBe("[tool output trimmed; ref=kept-c0]");
  });

  test("D9.47 the budget is a quarter of the window, at least 20,000 and at most 60,000 or 100,000", () => {
    const [first, head] = [trimSettings({ maxTokens: 60_000 }), trimSettings()];
    for (const settings of [first, head]) {
      expect(trimBudget(settings, { contextWindow: 8_000 })).toBe(20_000);
      expect(trimBudget(settings, { contextWindow: 200_003 })).toBe(50_000);
    }
    expect(trimBudget(first, { contextWindow: 1_000_000 })).toBe(60_000);
    expect(trimBudget(head, { contextWindow: 1_000_000 })).toBe(100_000);
    expect(trimBudget(first, {})).toBe(60_000);
    expect(trimBudget(head, {})).toBe(100_000);
    expect(trimBudget(trimSettings({ budgetTokens: 7 }), { contextWindow: 200_000 })).toBe(7);
  });

  test("D9.47 the window is the context window first, or the input limit first", () => {
    const facts = { contextWindow: 200_000, maxInputTokens: 120_000 };
    expect(trimBudget(trimSettings(), facts)).toBe(50_000);
    expect(trimBudget(trimSettings({ window: "maxInputTokens" }), facts)).toBe(30_000);
    expect(trimBudget(trimSettings({ window: "maxInputTokens" }), { contextWindow: 200_000 })).toBe(50_000);
  });

  test("D9.47 it comes before each model call, and a trimmed result stays trimmed", async () => {
    const settings = trimSettings(strict(250));
    let kept: Message[] = [];
    let seen = 0;
    const look = echo("look", { execute: () => tokens(100) });
    const model = scripted([callTurn("look"), callTurn("look"), callTurn("look"), say("done")]);
    const transformContext = (messages: readonly Message[]): Message[] => {
      // The history is replaced: what comes next is put behind what was trimmed.
      kept = [...trim([...kept, ...messages.slice(seen)], settings, {}).messages];
      seen = messages.length;
      return kept;
    };
    await new Agent({ model, tools: [look], repeats: null, hooks: { transformContext } }).run("go");
    const results = model.requests.map(({ messages }) =>
      messages
        .filter((one) => one.role === "tool")
        .map((one) => (textOf(one) === tokens(100) ? "whole" : textOf(one))),
    );
    expect(results).toEqual([[], ["whole"], ["whole", "whole"], ["[tool output trimmed]", "whole", "whole"]]);
    expect(isPaired(model.lastRequest.messages)).toBe(true);
  });
});

describe("trimming by default", () => {
  test("goes well below the budget at once, so that the front of the requests stays the same for long", () => {
    let messages: Message[] = [userText("go")];
    let trimmings = 0;
    const settings = trimSettings({ budgetTokens: 1_000 });
    for (let at = 0; at < 60; at += 1) {
      const before = [...messages, ...turn(`c${at}`, tokens(100))];
      const staged = trim(before, settings, {});
      if (staged.edits.length > 0) {
        trimmings += 1;
        expect(staged.note).toMatchObject({ stage: "trim", before: expect.any(Number) });
        expect(staged.note?.after).toBeLessThanOrEqual(500);
      }
      messages = [...staged.messages];
    }
    expect(trimmings).toBeGreaterThan(5);
    expect(trimmings).toBeLessThan(15);
  });

  test("never trims the results of an exempt tool, and does not count them", () => {
    const messages = [
      ...turn("c0", tokens(900), "load_skill"),
      ...turn("c1", tokens(300)),
      ...turn("c2", tokens(300)),
      ...turn("c3", tokens(10)),
    ];
    const exempt = ["load_skill"];
    expect(trimmed(messages, { budgetTokens: 610, exempt })).toEqual([
      tokens(900),
      tokens(300),
      tokens(300),
      tokens(10),
    ]);
    const { messages: after, note } = trim(messages, trimSettings({ budgetTokens: 609, to: 1, exempt }), {});
    expect([...after].filter(({ role }) => role === "tool").map(said)).toEqual([
      tokens(900),
      "[tool output trimmed]",
      tokens(300),
      tokens(10),
    ]);
    expect(note).toMatchObject({ before: 610, after: 316 });
  });

  test("keeps the results of the last answer, and those that would not get shorter", () => {
    const messages = [
      ...history("ok", tokens(500)),
      answer(call("x"), call("y")),
      result("x", tokens(900)),
      result("y", tokens(900)),
    ];
    expect(trimmed(messages, { budgetTokens: 100 })).toEqual([
      "ok",
      "[tool output trimmed]",
      tokens(900),
      tokens(900),
    ]);
    const { note } = trim(messages, trimSettings({ budgetTokens: 100 }), {});
    expect(note?.note).toBe("1 old result trimmed: all results are now 1,807 tokens, the budget is 100");
  });

  test("replaces files with their results, and counts them", () => {
    const messages = [...history([text("a picture"), image]), ...turn("z", "small")];
    expect(trimmed(messages, { budgetTokens: 2_010 })).toEqual(["a picture|<file>", "small"]);
    expect(trimmed(messages, { budgetTokens: 2_000 })).toEqual(["[tool output trimmed]", "small"]);
  });

  test("makes each placeholder once", () => {
    const messages = history(tokens(500), tokens(500), tokens(10));
    const settings = trimSettings({ budgetTokens: 100 });
    const [one, other] = [trim(messages, settings, {}), trim(messages, settings, {})];
    expect(one.edits.map(({ message }) => message)).toEqual(other.edits.map(({ message }) => message));
    for (const [at, { message }] of one.edits.entries()) expect(message).toBe(other.edits[at]?.message);
  });

  test("costs only the new messages while the results are within the budget", () => {
    let asked = 0;
    const settings = trimSettings();
    let log = Log.of<Message>([userText("go")]);
    for (let at = 0; at < 300; at += 1) {
      const messages = turn(`c${at}`, "x").map(
        (message) =>
          new Proxy(message, {
            get: (target, key, self) => {
              asked += 1;
              return Reflect.get(target, key, self) as unknown;
            },
          }),
      );
      log = log.push(...messages);
      expect(trim(log, settings, {}).messages).toBe(log);
    }
    expect(asked).toBeLessThan(300 * 10);
  });

  test("keeps to its budget if possible, keeps pairs, and does not change its input", () => {
    const options = fc.record({
      budgetTokens: fc.integer({ min: 0, max: 3_000 }),
      to: fc.double({ min: 0, max: 1, noNaN: true }),
      keep: fc.constantFrom("none" as const, "last_answer" as const),
    });
    fc.assert(
      fc.property(anyHistory, options, (messages, given) => {
        const before = structuredClone(messages);
        const { messages: after, edits, note } = trim(messages, trimSettings(given), {});
        expect(messages).toEqual(before);
        expect(isPaired(after)).toBe(true);
        expect(after.length).toBe(messages.length);
        expect(after === messages).toBe(edits.length === 0);
        expect(note === undefined).toBe(edits.length === 0);
        const last = messages.findLastIndex((message) => message.role === "assistant");
        for (const [at, message] of [...after].entries()) {
          if (message === messages[at]) continue;
          expect(message.role).toBe("tool");
          if (given.keep === "last_answer") expect(at).toBeLessThan(last);
        }
        const results = [...after].filter((message) => message.role === "tool");
        const rest = results.filter((message) => said(message) !== "[tool output trimmed]");
        if (given.keep === "none" && edits.length > 0 && rest.length > 0)
          expect(note?.after).toBeLessThanOrEqual(given.budgetTokens * given.to);
      }),
      { numRuns: 100 },
    );
  });
});

describe("a ref", () => {
  test.each([
    ["whole lines\n\n[tool output truncated; ref=a_B-9.z:1]", "a_B-9.z:1"],
    ["[tool output trimmed; ref=x]", "x"],
    ["[tool output truncated: the first 12 of 50000 bytes; ref=x]\n", "x"],
    ["a partial view\n[full output: ref=x]", "x"],
    ["[tool output truncated]", undefined],
    ["[tool output truncated; ref=x] and then more", undefined],
    ["[tool output truncated; ref=x]\n\n[tool output truncated]", undefined],
    ["[tool output truncated; ref=../../etc/passwd]", undefined],
    ["ref=x]", undefined],
    ["", undefined],
  ])("is read from the note at the very end: %j", (words, ref) => {
    expect(refIn(result("c", words))).toBe(ref);
  });

  test("is the message's own if it has one, and stays with whatever replaces the result", () => {
    const stored = { ...result("c0", `${tokens(900)}[tool output truncated; ref=text]`), ref: "own" };
    expect(refIn(stored)).toBe("own");
    const messages = [...history("x").slice(0, 2), stored];
    const after = [...trim(messages, trimSettings(strict(10)), {}).messages][2] as typeof stored;
    expect(after).toMatchObject({ ref: "own", content: [text("[tool output trimmed; ref=own]")] });
  });

  test("is read quickly from any text", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 400 }), (words) => {
        expect(refIn(result("c", `${words}[tool output truncated; ref=id]`))).toBe("id");
      }),
    );
    expect(refIn(result("c", "[tool output truncated".repeat(100_000)))).toBeUndefined();
  });
});
