// A result cut to its share of the model's window: head and tail, notices and excerpts, single results and whole histories.

import {
  Agent,
  type AgentOptions,
  blobRef,
  type ContentPart,
  capMessage,
  capMessages,
  capText,
  excerptOf,
  type HeadTailCap,
  headTailNumbers,
  isOversized,
  type Message,
  maxResultChars,
  noticeSuffix,
  shrinkHistory,
  type ToolMessage,
  textOf,
  userText,
} from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { echo } from "../support.ts";

const image: ContentPart = { type: "file", mediaType: "image/png", data: "AAAA" };
const parts = (...texts: string[]): ContentPart[] => texts.map((text) => ({ type: "text", text }));
const toolMessage = (content: ContentPart[], isError = false, id = "call_1"): ToolMessage => ({
  role: "tool",
  callId: id,
  name: "shell",
  content,
  isError,
});
const lengthOf = (message: Message): number => textOf(message).length;
const marker = "\n\n⚠️ [... middle content omitted — showing head and tail ...]\n\n";
const old = headTailNumbers({ form: "notice" });
const now = headTailNumbers();

/** The result the model read of a tool that says that, on a model with that window. */
async function resultOf(
  content: unknown,
  cap: Partial<HeadTailCap>,
  window?: number,
  options: Partial<AgentOptions> = {},
): Promise<ToolMessage> {
  const model = scripted(
    [call("shell"), say("done")],
    window === undefined ? {} : { facts: { contextWindow: window } },
  );
  const tools = [echo("shell", { execute: () => content })];
  const context = { cap: { mode: "head_tail" as const, ...cap } };
  const { messages } = await new Agent({ model, tools, context, ...options }).run("go");
  return messages[2] as ToolMessage;
}

describe("the share of a window", () => {
  test("C3.25 is 0.3, at 4 characters a token, with 2,000 kept at least, and at most 16,000 or in the older form 400,000", () => {
    expect(now).toEqual({
      form: "excerpt",
      share: 0.3,
      charsPerToken: 4,
      minKeep: 2_000,
      hardCap: 16_000,
      by: "Rondo",
    });
    expect(old).toMatchObject({
      form: "notice",
      share: 0.3,
      charsPerToken: 4,
      minKeep: 2_000,
      hardCap: 400_000,
    });
    expect(headTailNumbers({ hardCap: 5_000 }).hardCap).toBe(5_000);
  });

  test("C3.26 is min(floor(tokens × 0.3) × 4, cap)", () => {
    expect(maxResultChars(128_000, old)).toBe(153_600);
    expect(maxResultChars(2_000_000, old)).toBe(400_000);
    expect(maxResultChars(128_000, now)).toBe(16_000);
    expect(maxResultChars(1_001, now)).toBe(1_200);
    expect(maxResultChars(undefined, now)).toBe(16_000);
  });

  test("C3.26 uses the window of the model in use, or of the option; if it is unknown, the hard cap", async () => {
    const text = "x".repeat(500_000);
    const cap = { form: "notice" as const };
    const none = { blobs: null };
    expect(lengthOf(await resultOf(text, cap, 128_000, none))).toBe(153_600);
    expect(lengthOf(await resultOf(text, cap, undefined, none))).toBe(400_000);
    expect(lengthOf(await resultOf(text, {}, 128_000))).toBeLessThanOrEqual(16_000);
    const context = { window: 10_000, cap: { mode: "head_tail" as const, ...cap } };
    expect(lengthOf(await resultOf(text, cap, 128_000, { context, blobs: null }))).toBe(12_000);
  });
});

describe("one text", () => {
  const lines = (count: number): string =>
    Array.from({ length: count }, (_, at) => `line ${String(at).padStart(4, "0")}`).join("\n");

  test("C3.27 that fits is unchanged; otherwise its head is kept, at least the minimum, up to a line end after 80 % of it", () => {
    const text = "x".repeat(10_000);
    expect(capText(text, 10_000, { suffix: "[cut]" })).toBe(text);
    expect(capText(text, 5_000, { suffix: "[cut]" })).toBe(`${"x".repeat(4_995)}[cut]`);
    expect(capText(text, 100, { suffix: "[cut]" })).toBe(`${"x".repeat(2_000)}[cut]`);
    expect(capText(text, 100, { suffix: "[cut]", minKeep: 300 })).toBe(`${"x".repeat(300)}[cut]`);
    const late = `${"x".repeat(900)}\n${"y".repeat(9_000)}`;
    expect(capText(late, 1_005, { suffix: "[cut]", minKeep: 10 })).toBe(`${"x".repeat(900)}[cut]`);
    const near = `${"x".repeat(801)}\n${"y".repeat(9_000)}`;
    expect(capText(near, 1_005, { suffix: "[cut]", minKeep: 10 })).toBe(`${"x".repeat(801)}[cut]`);
    const early = `${"x".repeat(800)}\n${"y".repeat(9_000)}`;
    expect(capText(early, 1_005, { suffix: "[cut]", minKeep: 10 })).toBe(`${early.slice(0, 1_000)}[cut]`);
  });

  test("C3.27 whose last 2,000 characters say how things went keeps head and tail, with a marker in between", () => {
    const words = [
      ..."Error|EXCEPTION|failed|fatal|Traceback|panic|stack trace|errno|exit code".split("|"),
      ..."TypeError|3 errors|RuntimeException|subpanics".split("|"),
      ..."total|Summary|result|complete|finished|done".split("|"),
    ];
    for (const word of words) {
      const text = `${"x".repeat(20_000)} ${word} ${"y".repeat(500)}`;
      const budget = 10_000;
      const head = budget - 3_000 - marker.length;
      expect(capText(text, 10_005, { suffix: "[cut]" }), word).toBe(
        `${text.slice(0, head)}${marker}${text.slice(-3_000)}[cut]`,
      );
    }
    const at = (fromEnd: number): string =>
      `${"x".repeat(20_000)} done ${"y".repeat(fromEnd - "done ".length)}`;
    expect(capText(at(2_000), 10_005, { suffix: "[cut]" })).toContain(marker);
    expect(capText(at(2_001), 10_005, { suffix: "[cut]" })).not.toContain(marker);
    const json = `{"a": "${"x".repeat(20_000)}"}\n `;
    expect(capText(json, 10_005, { suffix: "[cut]" })).toContain(marker);
    for (const plain of [`${"x".repeat(20_000)} results undone`, `error ${"x".repeat(20_000)}`])
      expect(capText(plain, 10_005, { suffix: "[cut]" })).toBe(`${plain.slice(0, 10_000)}[cut]`);
  });

  test("C3.27 has a tail of 30 %, at most 4,000; for that it needs twice the minimum in all, and more than the minimum for the head", () => {
    const text = `${"x".repeat(100_000)} done`;
    const wide = capText(text, 50_005, { suffix: "[cut]" });
    expect(wide).toBe(`${text.slice(0, 50_000 - 4_000 - marker.length)}${marker}${text.slice(-4_000)}[cut]`);
    expect(capText(text, 4_005, { suffix: "[cut]" })).not.toContain(marker);
    expect(capText(text, 4_006, { suffix: "[cut]" })).toContain(marker);
    // 1,001 is more than twice 500, and 1,001 - 300 - the marker is more than 500; 201 - 60 - the marker is less than 100.
    expect(capText(text, 1_006, { suffix: "[cut]", minKeep: 500 })).toContain(marker);
    expect(capText(text, 206, { suffix: "[cut]", minKeep: 100 })).not.toContain(marker);
  });

  test("C3.27 is cut at line ends if there are any near", () => {
    const text = `${lines(2_000)}\ndone`;
    const cut = capText(text, 5_005, { suffix: "[cut]", minKeep: 100 });
    const [head = "", tail = ""] = cut.slice(0, -5).split(marker);
    expect(text.startsWith(`${head}\n`)).toBe(true);
    expect(text.endsWith(`\n${tail}`)).toBe(true);
    expect(head.length).toBeGreaterThan((5_000 - 1_500 - marker.length) * 0.8);
    expect(tail.length).toBeGreaterThan(1_500 * 0.8);
    // The head has so many characters, and the tail 1,500: a fifth of it is 300.
    const room = 5_000 - 1_500 - marker.length;
    const split = (headLine: number, tailLine: number): string[] => {
      const start = `${"h".repeat(headLine)}\n${"x".repeat(20_000)}`;
      const whole = `${start}${"t".repeat(tailLine)}\n${"u".repeat(1_500 - tailLine - 6)} done`;
      return capText(whole, 5_005, { suffix: "[cut]", minKeep: 100 }).slice(0, -5).split(marker);
    };
    const first = Math.floor(room * 0.8);
    expect(split(first + 1, 299).map((part) => part.length)).toEqual([first + 1, 1_200]);
    expect(split(first, 300).map((part) => part.length)).toEqual([room, 1_500]);
    const long = `${"x".repeat(20_000)} done`;
    expect(capText(long, 5_005, { suffix: "[cut]", minKeep: 100 }).length).toBe(5_005);
  });

  test("C3.28 has the note of the older form after it, word for word", async () => {
    const suffix =
      "\n\n⚠️ [Content truncated — original was too large for the model's context window. The content above is a partial view. If you need more, request specific sections or use offset/limit parameters to read smaller chunks.]";
    expect(noticeSuffix).toBe(suffix);
    const message = await resultOf("x".repeat(20_000), { form: "notice" }, 10_000, { blobs: null });
    expect(textOf(message)).toBe(`${"x".repeat(12_000 - suffix.length)}${suffix}`);
  });

  test("C3.28 has the number of removed characters after it in the newer form, and never exceeds the limit, whatever must be dropped", () => {
    expect(capText("x".repeat(10_000), 5_000)).toBe(
      `${"x".repeat(4_964)}[... 5036 more characters truncated]`,
    );
    for (const max of [4_999, 3_000, 100, 40, 38]) {
      const cut = capText("x".repeat(10_000), max);
      const kept = cut.indexOf("[");
      expect(cut.length).toBeLessThanOrEqual(max);
      expect(cut.slice(kept)).toBe(`[... ${10_000 - kept} more characters truncated]`);
    }
    expect(capText("x".repeat(10_000), 10)).toHaveLength(10);
  });

  test("whatever it is, is never longer than allowed, is never cut inside a character, and keeps its beginning and end", () => {
    const any = fc.string({
      unit: fc.constantFrom("😀", "ä", "a", "\n", "\r\n", " done", "}"),
      maxLength: 600,
    });
    fc.assert(
      fc.property(any, fc.integer({ min: 0, max: 400 }), fc.nat({ max: 100 }), (text, max, minKeep) => {
        const cut = capText(text, max, { minKeep });
        const noticed = capText(text, max, { minKeep, suffix: "[cut]" });
        if (text.length <= max) {
          expect(cut).toBe(text);
          return;
        }
        expect(cut.length).toBeLessThanOrEqual(max);
        expect(cut.isWellFormed()).toBe(true);
        expect(noticed.length).toBeLessThanOrEqual(Math.max(max, minKeep + 5));
        expect(noticed.isWellFormed()).toBe(true);
        expect(noticed.endsWith("[cut]")).toBe(true);
        const [head = "", tail = ""] = noticed.slice(0, -5).split(marker);
        expect(text.startsWith(head)).toBe(true);
        expect(text.endsWith(tail)).toBe(true);
        for (const [end, next] of [
          [head.at(-1), text[head.length]],
          [text[text.length - tail.length - 1], tail[0]],
        ])
          expect(end === "\r" && next === "\n").toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});

describe("one result", () => {
  test("C3.29 in the older form divides its budget among its texts by length, each at least the minimum and its suffix, and keeps images", () => {
    const cap = { form: "notice" as const };
    const content = [
      image,
      ...parts("a".repeat(30_000)),
      image,
      ...parts("b".repeat(10_000), "c".repeat(100)),
    ];
    const cut = capMessage(toolMessage(content), 20_000, cap);
    const least = 2_000 + noticeSuffix.length;
    const kept = (length: number, letter: string): ContentPart => ({
      type: "text",
      text: letter.repeat(length - noticeSuffix.length) + noticeSuffix,
    });
    expect(cut.content).toEqual([
      image,
      kept(Math.floor((20_000 * 30_000) / 40_100), "a"),
      image,
      kept(Math.floor((20_000 * 10_000) / 40_100), "b"),
      content[4],
    ]);
    const tight = capMessage(toolMessage(parts("a".repeat(30_000), "b".repeat(30_000))), 100, cap);
    expect(tight.content.map((part) => part.type === "text" && part.text.length)).toEqual([least, least]);
  });

  test("C3.29 in the newer form becomes one excerpt under a header, followed by what is not text", () => {
    const text = `${"a".repeat(20_000)}😀\n${"b".repeat(20_000)}`;
    const message = toolMessage([image, ...parts(text, "end")], true);
    const about = {
      by: "OpenClaw",
      status: "failed",
      exitCode: 2,
      exitSignal: "SIGTERM",
      ref: "/tmp/full.txt",
    };
    const [part, ...rest] = capMessage(message, 3_000, {}, about).content;
    expect(rest).toEqual([image]);
    const excerpt = part?.type === "text" ? part.text : "";
    expect(excerpt.length).toBeLessThanOrEqual(3_000);
    const joined = `${text}\n\nend`;
    expect(excerpt.split("\n").slice(0, 10)).toEqual([
      "⚠️ OpenClaw truncated an oversized tool result before adding it to live session context.",
      "Tool: shell",
      "Tool call: call_1",
      "Status: failed",
      "Exit code: 2",
      "Exit signal: SIGTERM",
      "Tool result marked error: true",
      `Original size: ${joined.length} chars, ${Buffer.byteLength(joined)} UTF-8 bytes`,
      "Live transcript budget: 3000 chars",
      "Full output reference: /tmp/full.txt",
    ]);
    const shown =
      /--- first excerpt ---\n(a+)\n\n--- middle omitted: (\d+) chars ---\n\n--- last excerpt ---\n(b+\n\nend)\[\.\.\. \d+ more characters truncated\]$/.exec(
        excerpt,
      );
    const [, first = "", omitted, last = ""] = shown ?? [];
    expect(first.length + last.length + Number(omitted)).toBe(joined.length);
    expect(last.length / (first.length + last.length)).toBeCloseTo(0.4, 2);
    const wide = excerptOf("x".repeat(50_000), 20_000);
    expect(/--- last excerpt ---\n(x+)/.exec(wide)?.[1]).toHaveLength(4_000);
  });

  test("C3.29 leaves out unknown facts, and is only the header if there is no room", () => {
    const text = "x".repeat(5_000);
    const bare = excerptOf(text, 2_000, { tool: "shell" });
    for (const label of [
      "Tool call:",
      "Status:",
      "Exit code:",
      "Exit signal:",
      "marked error",
      "Full output",
    ])
      expect(bare).not.toContain(label);
    const header = excerptOf(text, 300, { tool: "shell" });
    expect(header).toMatch(/^⚠️ Rondo truncated an oversized tool result/);
    expect(header.length).toBeLessThanOrEqual(300);
    expect(header).not.toContain("--- first");
  });

  test("C3.29 is the same object when it is not oversized", () => {
    const message = toolMessage([...parts("a".repeat(500), "b".repeat(500)), image]);
    for (const form of ["notice", "excerpt"] as const) {
      expect(capMessage(message, 1_000, { form })).toBe(message);
      expect(capMessage(message, 999, { form, minKeep: 10 })).not.toBe(message);
    }
  });

  test("whatever its parts are, is never longer than allowed, is never cut inside a character, and keeps its files", () => {
    const text = fc.string({
      unit: fc.constantFrom("😀", "ä", "a", "\n", "\r\n", " done"),
      maxLength: 2_000,
    });
    const content = fc.array(
      fc.oneof(
        text.map((words) => parts(words)[0] as ContentPart),
        fc.constant(image),
      ),
      {
        maxLength: 4,
      },
    );
    fc.assert(
      fc.property(content, fc.integer({ min: 1, max: 1_500 }), (given, max) => {
        const message = toolMessage(given);
        for (const form of ["excerpt", "notice"] as const) {
          const cut = capMessage(message, max, { form, minKeep: 100 });
          if (lengthOf(message) <= max) {
            expect(cut).toBe(message);
            continue;
          }
          const count = given.filter((part) => part.type === "text").length;
          expect(lengthOf(cut)).toBeLessThanOrEqual(
            form === "excerpt" ? max : max + count * (100 + noticeSuffix.length),
          );
          expect(textOf(cut).isWellFormed()).toBe(true);
          expect(cut.content.filter((part) => part === image)).toEqual(
            given.filter((part) => part === image),
          );
        }
      }),
    );
  });

  test("C3.29 in a run names its call and the ref of the full text, in either form", async () => {
    const text = "x".repeat(50_000);
    const excerpt = await resultOf(text, {});
    expect(textOf(excerpt)).toContain(
      `Tool: shell\nTool call: ${excerpt.callId}\nOriginal size: 50000 chars`,
    );
    expect(textOf(excerpt)).toContain(`Full output reference: ${blobRef(text)}`);
    expect(lengthOf(excerpt)).toBeLessThanOrEqual(16_000);
    const notice = await resultOf(text, { form: "notice", hardCap: 10_000 });
    expect(textOf(notice).endsWith(`chunks.]\n[full output: ref=${blobRef(text)}]`)).toBe(true);
    expect(lengthOf(notice)).toBe(10_000);
  });
});

describe("a whole history", () => {
  const large = (id: string, letter = "x"): ToolMessage =>
    toolMessage(parts(letter.repeat(50_000)), false, id);
  const small = toolMessage(parts("fine"));

  test("C3.30 only results are cut: all other messages, and results that fit, keep their identity, and the cuts are counted", () => {
    const messages: Message[] = [userText("u".repeat(90_000)), large("1"), small, large("2")];
    const { messages: capped, count } = capMessages(messages, 128_000);
    expect(count).toBe(2);
    expect(capped[0]).toBe(messages[0]);
    expect(capped[2]).toBe(small);
    for (const at of [1, 3]) {
      expect(capped[at]).not.toBe(messages[at]);
      expect(lengthOf(capped[at] as Message)).toBeLessThanOrEqual(16_000);
    }
    expect(capMessages(messages, 128_000, { form: "notice" }).count).toBe(0);
    expect(capMessages(messages, 128_000, { maxChars: 60_000 }).count).toBe(0);
  });

  test("C3.30 if it cannot be shrunk, the reason is returned, and nothing is thrown", () => {
    expect(shrinkHistory([], 128_000)).toEqual({ messages: [], count: 0, reason: "empty session" });
    expect(shrinkHistory([userText("hi"), small], 128_000)).toEqual({
      messages: [userText("hi"), small],
      count: 0,
      reason: "no oversized or aggregate tool results",
    });
    expect(shrinkHistory([small], 128_000, { form: "notice" }).reason).toBe("no oversized tool results");
    const broken = [{ ...small, content: null }] as unknown as Message[];
    const failed = shrinkHistory(broken, 128_000);
    expect(failed).toMatchObject({
      messages: broken,
      count: 0,
      reason: expect.stringMatching(/null|iterable/),
    });
  });

  test("C3.30 all results together may have what one may have: the newest are shortened first, down to the note alone", () => {
    const messages = [1, 2, 3, 4].map((at) =>
      toolMessage(parts(String(at).repeat(6_000)), false, `call_${at}`),
    );
    const { messages: shrunk, count, reason } = shrinkHistory(messages, 128_000);
    expect(reason).toBeUndefined();
    expect(count).toBe(2);
    expect(shrunk[0]).toBe(messages[0]);
    expect(shrunk[1]).toBe(messages[1]);
    const lengths = shrunk.map(lengthOf);
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(16_000);
    expect(lengths[3]).toBeLessThan(100);
    // One alone is only held to its own limit.
    const [alone] = shrinkHistory([large("1")], 128_000).messages;
    expect(lengthOf(alone as Message)).toBeGreaterThan(15_000);
    expect(shrinkHistory(messages, 128_000, { form: "notice" }).reason).toBe("no oversized tool results");
  });

  test("C3.30 a session continues from a shrunk history", async () => {
    const model = scripted([call("shell"), say("done"), say("shorter")]);
    const tools = [echo("shell", { execute: () => "x".repeat(45_000) })];
    const agent = new Agent({ model, tools, context: { cap: null } });
    const session = await agent.open("s");
    await session.send("go");
    const { messages, count } = shrinkHistory(session.messages, 2_000);
    expect(count).toBe(1);
    await session.send([...messages, userText("go on")]);
    const sent = model.requests.at(-1)?.messages[2] as Message;
    expect(sent).toEqual(messages[2]);
    expect(lengthOf(sent)).toBeLessThanOrEqual(2_400);
  });

  test("C3.31 only a result can be oversized, by the sum of its texts alone", () => {
    expect(isOversized(userText("x".repeat(1_000_000)), 128_000)).toBe(false);
    expect(
      isOversized(toolMessage([...parts("x".repeat(8_000), "x".repeat(8_000)), image, image]), 128_000),
    ).toBe(false);
    expect(isOversized(toolMessage(parts("x".repeat(8_000), "x".repeat(8_001))), 128_000)).toBe(true);
    expect(isOversized(toolMessage(parts("x".repeat(153_600))), 128_000, { form: "notice" })).toBe(false);
    expect(isOversized(toolMessage(parts("x".repeat(153_601))), 128_000, { form: "notice" })).toBe(true);
    expect(isOversized(toolMessage([image]), 1)).toBe(false);
  });
});
