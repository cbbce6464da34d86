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

describe("the texts", () => {
  test("name the tool, what is wrong with its call, and what is available", () => {
    expect(unknownTool("look", ["read", "write"])).toBe(
      'Error: unknown tool "look". Available tools: read, write.',
    );
    expect(unknownTool("look", [])).toMatch(/Available tools: none\.$/);
    expect(invalidArgs("look", "at is missing")).toMatch(/look .*: at is missing$/);
    expect(badJson("look", "no end", '{"a')).toMatch(/look .*: no end\. .*: \{"a$/);
  });

  test("name only the nearest of many tools, since the request declares them all", () => {
    const many = Array.from({ length: 31 }, (_, at) => `page_${at}`);
    expect(unknownTool("look", many.slice(1))).toBe(
      `Error: unknown tool "look". Available tools: ${many.slice(1).join(", ")}.`,
    );
    const near = unknownTool("pagee_7", ["get_weather", ...many]);
    expect(near).toMatch(
      /^Error: unknown tool "pagee_7"\. The nearest of the 32 available tools: page_7(, page_\d+){1,9}\.$/,
    );
    for (const called of ["create_issue", "functions.github_create_issue", "GitHub-createIssue"])
      expect(unknownTool(called, [...many, "github_create_issue"])).toBe(
        `Error: unknown tool "${called}". The nearest of the 32 available tools: github_create_issue.`,
      );
    expect(unknownTool("look", many)).toBe(
      'Error: unknown tool "look". It is none of the 31 available tools.',
    );
  });

  test("cut what is too long, and say how long it was", () => {
    const cut = (limit: number): string => `${"x".repeat(limit)}… (5000 characters in all)`;
    expect(unknownTool(long, [])).toContain(`"${cut(100)}"`);
    expect(invalidArgs("look", long)).toMatch(new RegExp(`[^x]${cut(2_000).replace(/[()]/g, "\\$&")}$`));
    expect(badJson("look", long, long)).toContain(`: ${cut(500)}. `);
    expect(badJson("look", "no", long)).toContain(`: ${cut(2_000)}`);
    expect(childFailed("look", "error", long, long)).toContain(`: ${cut(2_000)}\n`);
    expect(childFailed("look", "error", long, long)).toContain(`: ${cut(4_000)}`);
    expect(malformedCall(long)).toContain(`(${cut(300)})`);
    expect(finalOutput(long)).toContain(`: ${cut(1_000)}`);
    expect(unknownTool(`x${"🙂".repeat(60)}`, [])).toContain(
      `"x${"🙂".repeat(49)}… (121 characters in all)"`,
    );
    expect(unknownTool("x".repeat(100), [])).toContain(`"${"x".repeat(100)}"`);
  });

  test("show a thrown value as an error, once", () => {
    expect(threw("look", "it broke")).toBe("Error: it broke");
    expect(threw("look", "Error: it broke")).toBe("Error: it broke");
    expect(threw("look", "what Error: it broke")).toBe("Error: what Error: it broke");
  });

  test("include a reason if there is one", () => {
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

  test("say of a call that the end of the run prevented whether it was approved, and why", () => {
    const { skippedForEnd } = defaultTexts;
    expect(skippedForEnd("look")).toBe("look was skipped: the run ended before it.");
    expect(skippedForEnd("look", "deadline")).toMatch(
      /^look was approved, and did not run: .*\(deadline\)\.$/,
    );
  });

  test("say what became of a sub-agent, and its last text", () => {
    expect(childFailed("look", "error", undefined, " \n")).toBe("Error: look did not finish (error).");
    expect(childFailed("look", "error", "it broke", "I saw")).toBe(
      "Error: look did not finish (error): it broke\nIts last words: I saw",
    );
  });
});

describe("the digest of the texts", () => {
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
    emptyAnswer: 1,
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

  test("is the same for equal texts, and differs if a single one differs", () => {
    const same = textsDigest(defaultTexts);
    expect(textsDigest({ ...defaultTexts })).toBe(same);
    const digests = names.map((name) => textsDigest({ ...defaultTexts, [name]: () => "other" }));
    expect(new Set([same, ...digests]).size).toBe(names.length + 1);
  });

  test("depends on everything that texts are given", () => {
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

  test("separates texts that would otherwise run together", () => {
    const [first, second] = names as [string, string];
    const mark = `${second}: `;
    const one = all((name) => (name === first ? "" : name === second ? `a${mark}b` : "x"));
    const other = all((name) => (name === first ? `${mark}a` : name === second ? "b" : "x"));
    expect(textsDigest(one)).not.toBe(textsDigest(other));
  });

  test("works with texts that fail on the sample, and distinguishes them from others", () => {
    const failing = all((name) => {
      if (name === "masked") throw new Error("not so");
      return "x";
    });
    expect(textsDigest(failing)).not.toBe(textsDigest(all(() => "x")));
    expect(textsDigest(failing)).toBe(textsDigest(failing));
  });

  // Words that are new change it: it is written here anew then.
  test("is the same in every release, because journals contain it", () => {
    const said = all((name, args) => {
      if (name === "masked") throw new Error("not so");
      return args.join();
    });
    expect(textsDigest(said)).toBe("888680028612344");
  });
});

describe("the remaining window", () => {
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

  test("is reported at each share of the window, once", () => {
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

  test("is not reported if the window is unknown", () => {
    const { options: _options, ...bare } = holding(900);
    expect(rule.decide?.({ at: 0 }, bare)).toBeUndefined();
  });

  test("is reported again after the history was made smaller", () => {
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

  test("is reported at shares between 0 and 1", () => {
    for (const share of [0, 1, -0.5, 1.5, Number.NaN])
      expect(() => new Agent({ model: scripted([]), context: { tell: [0.5, share] } })).toThrow(
        `option context.tell[1]: a number between 0 and 1 is needed, not ${share}`,
      );
  });
});
