// Words of somebody's own, by hand: which of them hold, and how those that do not are named.

import { defaultTexts } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { areWordsMissing, inAnyWords, textsWith } from "../../src/rules/custom-texts.ts";
import type { Texts } from "../../src/rules/texts.ts";
import { rules } from "../loop/support.ts";

/** What comes of asking for a text that is given so. */
function asked(name: keyof Texts, say: () => unknown): unknown {
  const texts = textsWith({ [name]: say }) as unknown as Record<string, () => unknown>;
  try {
    return texts[name]?.();
  } catch (thrown) {
    return thrown;
  }
}

describe("custom texts", () => {
  test("are used unchanged, and ours if there is none", () => {
    const texts = textsWith({ threw: (tool, said) => `${tool}: ${said}`, emptyAnswer: undefined as never });
    expect(texts.threw("look", "so")).toBe("look: so");
    expect(texts.emptyAnswer()).toBe(defaultTexts.emptyAnswer());
    expect(textsWith()).toStrictEqual(defaultTexts);
    expect(asked("emptyAnswer", () => "")).toBe("");
  });

  test("may be empty for the text of a run that landed, and for no other", () => {
    expect(asked("landed", () => undefined)).toBeUndefined();
    for (const [name, value, what] of [
      ["landed", null, "null"],
      ["emptyAnswer", undefined, "undefined"],
      ["emptyAnswer", 7n, "7"],
    ] as const) {
      const failed = asked(name, () => value);
      expect(failed).toMatchObject({
        kind: "internal",
        message: `the text ${name} failed: a text is needed, not ${what}`,
      });
      expect(areWordsMissing(failed)).toBe(true);
    }
  });

  test("that throw are named, with what they threw", () => {
    const cause = new Error("no words");
    const failed = asked("emptyAnswer", () => {
      throw cause;
    });
    expect(failed).toMatchObject({ message: "the text emptyAnswer failed: no words", cause });
    for (const other of [cause, undefined, null, "no words", { ...(failed as object) }])
      expect(areWordsMissing(other)).toBe(false);
  });

  test("that return a promise are invalid, and its rejection is ignored", () => {
    const heard: unknown[] = [];
    const later = { catch: (hears: () => void) => void heard.push(hears()) };
    expect(areWordsMissing(asked("emptyAnswer", () => later))).toBe(true);
    expect(heard).toStrictEqual([undefined]);
    expect(areWordsMissing(asked("emptyAnswer", () => ({ catch: "none" })))).toBe(true);
  });
});

test("are replaced by ours if one must be used and fails", () => {
  const none = (): never => {
    throw new Error("no words");
  };
  const own = { ...rules, texts: textsWith({ emptyAnswer: none, compacted: () => "done" }) };
  expect(inAnyWords(own, ({ texts }) => texts.compacted())).toBe("done");
  expect(inAnyWords(own, ({ texts }) => texts.compacted() + texts.emptyAnswer())).toBe(
    defaultTexts.compacted() + defaultTexts.emptyAnswer(),
  );
});
