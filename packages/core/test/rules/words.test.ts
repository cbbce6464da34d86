// What the loop says to a model: the words, their digest, and how much room is left.

import { Agent, defaultTexts, emptyState, type State, type Texts, userText } from "@rondo/core";
import { scripted } from "@rondo/testkit";
import { beforeEach, describe, expect, test } from "vitest";
import { Log } from "../../src/loop/log.ts";
import { textsDigest } from "../../src/rules/texts-digest.ts";
import { windowNotice } from "../../src/rules/window-notice.ts";
import { recordOf, rules, stateOf } from "../loop/support.ts";
import { afterOne } from "./support.ts";

const long = "x".repeat(5_000);
const { unknownTool, invalidArgs, badJson, threw, denied, childFailed, landed, malformedCall, finalOutput } =
  defaultTexts;

describe("the words", () => {
  test("name the tool, what is wrong with its call, and what there is in its place", () => {
    expect(unknownTool("look", ["read", "write"])).toBe(
      'Error: unknown tool "look". Available tools: read, write.',
    );
    expect(unknownTool("look", [])).toMatch(/Available tools: none\.$/);
    expect(invalidArgs("look", "at is missing")).toMatch(/look .*: at is missing$/);
    expect(badJson("look", "no end", '{"a')).toMatch(/look .*: no end\. .*: \{"a$/);
  });

  test("cut what is too long to be read, and say how long it was", () => {
    const cut = (limit: number): string => `${"x".repeat(limit)}… (5000 characters in all)`;
    expect(unknownTool(long, [])).toContain(`"${cut(100)}"`);
    expect(invalidArgs("look", long)).toMatch(new RegExp(`[^x]${cut(2_000).replace(/[()]/g, "\\$&")}$`));
    expect(badJson("look", long, long)).toContain(`: ${cut(500)}. `);
    expect(badJson("look", "no", long)).toContain(`: ${cut(2_000)}`);
    expect(childFailed("look", "error", long, long)).toContain(`: ${cut(2_000)}\n`);
    expect(childFailed("look", "error", long, long)).toContain(`: ${cut(4_000)}`);
    expect(malformedCall(long)).toContain(`(${cut(300)})`);
    expect(finalOutput(long)).toContain(`: ${cut(1_000)}`);
    expect(unknownTool("x".repeat(100), [])).toContain(`"${"x".repeat(100)}"`);
  });

  test("tell what was thrown as an error, once", () => {
    expect(threw("look", "it broke")).toBe("Error: it broke");
    expect(threw("look", "Error: it broke")).toBe("Error: it broke");
    expect(threw("look", "what Error: it broke")).toBe("Error: what Error: it broke");
  });

  test("tell a reason where there is one", () => {
    expect(denied(undefined)).toBe("Permission denied.");
    expect(denied("")).toBe("Permission denied.");
    expect(denied("not today")).toBe("Permission denied: not today");
    expect(malformedCall(undefined)).toMatch(/^The last tool call could not be read\. /);
    expect(malformedCall("no bracket")).toMatch(/could not be read \(no bracket\)\. /);
    expect(finalOutput(undefined)).toMatch(/^Please provide/);
    expect(finalOutput("no name")).toMatch(/does not fit .*: no name\. Please provide/);
    expect(landed("max_steps", "so")).toBeUndefined();
  });

  test.each([
    ["masked", "look"],
    ["notAllowed", "look", "save"],
    ["truncatedCall", "look"],
    ["tooManyCalls", "look", 7],
    ["permissionFailed", "no hook"],
    ["skippedForMessage", "look"],
    ["skippedForEnd", "look"],
    ["notExecuted", "look"],
    ["aborted", "look"],
    ["timeout", "look", 7],
    ["outcomeUnknown", "look"],
    ["limitRefusal", "look", "max_steps"],
    ["childLanded", "max_steps"],
    ["landing", "max_steps"],
    ["outputSchema", '{"a":1}'],
    ["emptyAnswer"],
    ["degenerateAnswer"],
    ["compacted"],
  ] as const)("of %s say what they are told", (name, ...told) => {
    const said = (defaultTexts[name] as (...args: unknown[]) => string)(...told);
    expect(said).toMatch(/[a-z]{3}/);
    for (const one of told) expect(said).toContain(String(one));
  });

  test("say of a call that the end of the run came before whether somebody had said yes to it, and what came", () => {
    const { skippedForEnd } = defaultTexts;
    expect(skippedForEnd("look")).toBe("look was skipped: the run ended before it.");
    expect(skippedForEnd("look", "deadline")).toMatch(
      /^look was approved, and did not run: .*\(deadline\)\.$/,
    );
  });

  test("tell what became of a sub-agent, and what it said last", () => {
    expect(childFailed("look", "error", undefined, " \n")).toBe("Error: look did not finish (error).");
    expect(childFailed("look", "error", "it broke", "I saw")).toBe(
      "Error: look did not finish (error): it broke\nIts last words: I saw",
    );
  });
});

describe("the digest of the words", () => {
  /** How many things each is told. */
  const arities: { [name in keyof Texts]: number } = {
    unknownTool: 3,
    invalidArgs: 2,
    badJson: 3,
    threw: 2,
    masked: 1,
    notAllowed: 2,
    truncatedCall: 1,
    tooManyCalls: 2,
    denied: 1,
    permissionFailed: 1,
    skippedForMessage: 1,
    skippedForEnd: 1,
    notExecuted: 1,
    aborted: 1,
    timeout: 2,
    outcomeUnknown: 1,
    limitRefusal: 2,
    landing: 1,
    landed: 2,
    emptyAnswer: 0,
    degenerateAnswer: 0,
    malformedCall: 1,
    finalOutput: 1,
    compacted: 0,
    childLanded: 1,
    childFailed: 4,
    outputSchema: 1,
  };
  const names = Object.keys(arities) as (keyof Texts)[];
  const all = (say: (name: string, args: unknown[]) => unknown): Texts =>
    Object.fromEntries(names.map((name) => [name, (...args: unknown[]) => say(name, args)])) as never;

  test("is the same for the same words, and another where a single one differs", () => {
    const same = textsDigest(defaultTexts);
    expect(textsDigest({ ...defaultTexts })).toBe(same);
    const digests = names.map((name) => textsDigest({ ...defaultTexts, [name]: () => "other" }));
    expect(new Set([same, ...digests]).size).toBe(names.length + 1);
  });

  test("sees everything that words are told", () => {
    for (const name of names)
      for (let at = 0; at < arities[name]; at += 1) {
        const deaf = textsDigest({ ...defaultTexts, [name]: () => "" });
        const telling = (...args: unknown[]): string => String(args[at] ?? "");
        expect([name, at, textsDigest({ ...defaultTexts, [name]: telling as never })]).not.toStrictEqual([
          name,
          at,
          deaf,
        ]);
      }
  });

  test("keeps words apart that would run into one another", () => {
    const [first, second] = names as [string, string];
    const mark = `${second}: `;
    const one = all((name) => (name === first ? "" : name === second ? `a${mark}b` : "x"));
    const other = all((name) => (name === first ? `${mark}a` : name === second ? "b" : "x"));
    expect(textsDigest(one)).not.toBe(textsDigest(other));
  });

  test("bears words that fail at a sample, and tells them from others", () => {
    const failing = all((name) => {
      if (name === "masked") throw new Error("not so");
      return "x";
    });
    expect(textsDigest(failing)).not.toBe(textsDigest(all(() => "x")));
    expect(textsDigest(failing)).toBe(textsDigest(failing));
  });

  // Words that are new change it: it is written here anew then.
  test("is the same from one release to the next: journals hold it", () => {
    const said = all((name, args) => {
      if (name === "masked") throw new Error("not so");
      return args.join();
    });
    expect(textsDigest(said)).toBe("853039130345447");
  });
});

describe("the room that is left", () => {
  const shares = [0.8, 0.5];
  let rule = windowNotice(shares, rules.estimator);
  beforeEach(() => {
    rule = windowNotice(shares, rules.estimator);
  });
  type Told = { at: number };
  const holding = (tokens: number, contextWindow: number | undefined = 1_000): State =>
    stateOf(
      {},
      { history: Log.of([userText("task")]), counted: { tokens, length: 1 } },
      {
        models: [
          { id: "m", origin: {} as never, facts: contextWindow === undefined ? {} : { contextWindow } },
        ],
      },
    );
  const told = (at: number, tokens: number): unknown => rule.decide?.({ at }, holding(tokens));
  const says = (at: number, tokens: number): object => ({
    do: "nudge",
    text: expect.stringContaining(`About ${1_000 - tokens} of 1000 tokens`),
    evidence: { at, tokens, window: 1_000 },
  });

  test("is told at each share of the window, once", () => {
    expect(rule).toMatchObject({ name: "room", version: 1 });
    expect(rule.init?.(emptyState)).toStrictEqual({ at: 0 });
    expect(told(0, 499)).toBeUndefined();
    expect(told(0, 500)).toStrictEqual(says(0.5, 500));
    expect(told(0.5, 799)).toBeUndefined();
    expect(told(0.5, 800)).toStrictEqual(says(0.8, 800));
    expect(told(0, 900)).toStrictEqual(says(0.8, 900));
    expect(told(0.8, 900)).toBeUndefined();
    expect(told(0.8, 600)).toBeUndefined();
    expect(told(0, 1_001)).toMatchObject({ text: expect.stringContaining("About 0 of 1000") });
  });

  test("is not told where nobody knows how large the window is", () => {
    const { options: _options, ...bare } = holding(900);
    expect(rule.decide?.({ at: 0 }, bare)).toBeUndefined();
  });

  test("is told again after the history was made smaller", () => {
    const after = (memory: Told, fact: object): Told => afterOne(rule, memory, recordOf(fact), emptyState);
    const note = (by: string, type: string = "noted"): object => ({
      type,
      rule: by,
      text: "",
      evidence: { at: 0.5 },
    });
    const low = { at: 0.8 };
    const none = { at: 0 };
    expect(after(none, note("room"))).toStrictEqual({ at: 0.5 });
    expect(after(none, note("repeats"))).toBe(none);
    expect(after(none, note("room", "mode"))).toBe(none);
    for (const type of ["compacted", "trimmed"]) {
      expect(after(low, { type, stage: "trim" })).toStrictEqual({ at: 0 });
      expect(after(none, { type, stage: "trim" })).toBe(none);
    }
    expect(after(low, { type: "delivered", lane: "steer", ids: [] })).toBe(low);
  });

  test("is told at shares between 0 and 1", () => {
    for (const share of [0, 1, -0.5, 1.5, Number.NaN])
      expect(() => new Agent({ model: scripted([]), context: { tell: [0.5, share] } })).toThrow(
        `option context.tell[1]: a number between 0 and 1 is needed, not ${share}`,
      );
  });
});
