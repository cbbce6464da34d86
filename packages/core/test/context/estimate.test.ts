// How many tokens something will take, before anybody counted.

import {
  type AssistantMessage,
  charEstimator,
  countedTokens,
  type Estimator,
  estimateRequest,
  guardWeights,
  knownWindow,
  lastCounted,
  type Message,
  pruneWeights,
  tokenizerEstimator,
  userText,
} from "@rondo/core";
import fc from "fast-check";
import { countTokens } from "gpt-tokenizer";
import { describe, expect, test } from "vitest";
import { charsBy } from "../../src/context/estimate.ts";
import { Log } from "../../src/loop/log.ts";
import { answer, anyHistory, call, history, image, result, text, turn } from "./support.ts";

const guardChars = charsBy(guardWeights);
const pruneChars = charsBy(pruneWeights);
const odd = (message: object): Message => message as Message;

const counted = (inputTokens: number, outputTokens: number, ...parts: Parameters<typeof answer>) => ({
  ...answer(...parts),
  usage: { inputTokens, outputTokens, cachedInputTokens: inputTokens - 1 },
});

describe("what the guard and pruning count", () => {
  test("C4.33 text by its length, four characters a token, and tool results twice", () => {
    expect(guardChars(userText("x".repeat(100)))).toBe(100);
    expect(guardChars(answer(text("x".repeat(100))))).toBe(100);
    expect(guardChars(result("c", "x".repeat(100)))).toBe(200);
    const estimator = charEstimator(guardWeights);
    expect(estimator.message(userText("x".repeat(100)))).toBe(25);
    expect(estimator.message(result("c", "x".repeat(100)))).toBe(50);
  });

  test("C4.33 an image and a sound count 8,000, a call its arguments as JSON, 128 if they are not JSON", () => {
    const sound = { type: "file" as const, mediaType: "audio/wav", data: "AAAA" };
    expect(guardChars({ role: "user", content: [text("abc"), image, sound] })).toBe(16_003);
    expect(guardChars(answer(call("c", "look", { at: "sea" })))).toBe('{"at":"sea"}'.length);
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const args = circular as Record<string, string>;
    expect(guardChars(answer({ ...call("c"), args } as ReturnType<typeof call>))).toBe(128);
  });

  test("C4.33 details count, an unknown role counts 256, and a result may be one string", () => {
    const details = { lines: 3 };
    const bare = result("c", "abc");
    expect(guardChars(odd({ ...bare, details }))).toBe((3 + JSON.stringify(details).length) * 2);
    expect(guardChars(odd({ role: "bashExecution", content: "x".repeat(9_999) }))).toBe(256);
    expect(guardChars(odd({ role: "tool", callId: "c", name: "look", content: "abcd" }))).toBe(8);
  });

  test("C5.50 text, thinking, arguments as JSON, an image 8,000, an unknown role 256, results once", () => {
    expect(
      pruneChars(answer(text("abc"), { type: "reasoning", text: "hmmm" }, call("c", "look", { at: "sea" }))),
    ).toBe(3 + 4 + '{"at":"sea"}'.length);
    expect(pruneChars(result("c", [text("abc"), image]))).toBe(8_003);
    expect(pruneChars(odd({ role: "custom" }))).toBe(256);
  });
});

describe("an estimate by characters", () => {
  const plain = charEstimator();

  test("counts about one token for a Chinese, Japanese or Korean character", () => {
    expect(plain.text("漢字かなハングル한국어")).toBe(11);
    expect(plain.text("four four four f")).toBe(4);
    expect(charEstimator({ cjk: 1 }).text("漢字かな")).toBe(1);
    expect(charEstimator({ text: "by_length", cjk: 4 }).text("漢字かな, abcdef")).toBe(6);
  });

  test.each([
    ["prose", "Read the file, say what it does, and stop when there is nothing more to be said about it.\n"],
    ["code", "export function twice(value: number): number {\n  return value * 2; // not three times\n}\n"],
    ["data", '{ "id": 90217, "price": 12.75, "tags": ["a", "b"], "at": "2026-11-21T18:17:29Z" }\n'],
    ["a log", "2026-11-21T18:17:29.443Z INFO [worker-3] GET /api/v1/items/8817 200 14ms 9f86d081\n"],
    ["Chinese", "请阅读文件，说明它的作用，没有更多可说的时候就停下来。"],
  ])("is about what a tokenizer counts for %s", (_, line) => {
    const many = line.repeat(50);
    expect(plain.text(many) / countTokens(many)).toBeGreaterThan(0.75);
    expect(plain.text(many) / countTokens(many)).toBeLessThan(1.67);
  });

  test("counts an image that only its provider understands as an image, encrypted content by its length, and everything else as text", () => {
    const origin = { api: "openai-responses", provider: "openai", model: "m" };
    const made = (result: string): Message => ({
      role: "assistant",
      content: [
        { type: "native", kind: "image_generation_call", opaque: { item: { type: "image", result } } },
      ],
      origin,
      stop: { kind: "end_turn", wire: "end_turn" },
    });
    const none = plain.message(made(""));
    const long = "A".repeat(2_000_000);
    for (const begins of ["iVBORw0KGgo", "/9j/", "UklGR", "R0lGOD", "data:image/png;base64,"])
      expect(plain.message(made(begins + long)) - none).toBe(2_000);
    expect(plain.message(made(long)) - none).toBe(375_000);
    expect(plain.message(made(`${"A".repeat(1_999)} `)) - none).toBeGreaterThan(1_000);
    expect(plain.message(made("A".repeat(999))) - none).toBeGreaterThan(700);
    expect(plain.message(made("iVBORw0KGgo")) - none).toBeLessThan(10);
  });

  test("counts a text file as its text, a document by its size, and stored bytes alike", () => {
    const file = (mediaType: string, bytes: number): Message => ({
      role: "user",
      content: [{ type: "file", mediaType, data: { blob: "b", bytes } }],
    });
    const base = plain.message({ role: "user", content: [] });
    expect(plain.message(file("text/csv", 40_000)) - base).toBe(10_000);
    expect(plain.message(file("application/json", 40_000)) - base).toBe(10_000);
    expect(plain.message(file("application/pdf", 4_000_000)) - base).toBe(100_000);
    expect(plain.message(file("image/png", 4_000_000)) - base).toBe(2_000);
  });

  test("counts reasoning that only its provider can read by its size", () => {
    const sealed = answer({ type: "reasoning", text: "", opaque: { encrypted: "x".repeat(4_000) } });
    expect(plain.message(sealed)).toBeGreaterThan(700);
    expect(charEstimator({ opaque: 0 }).message(sealed)).toBeLessThan(10);
  });

  test("counts a tool's complete definition, and does not look at a known list again", () => {
    let looked = 0;
    const definition = {
      get name() {
        looked += 1;
        return "look";
      },
      description: "d".repeat(400),
      inputSchema: {},
    };
    const tools = [definition];
    const tokens = plain.tools(tools);
    expect(tokens).toBeGreaterThan(80);
    expect(plain.tools(tools)).toBe(tokens);
    expect(plain.tools([...tools])).toBe(tokens);
    expect(looked).toBe(1);
  });

  test("is never negative, and is the same for equal messages", () => {
    fc.assert(
      fc.property(anyHistory, (messages) => {
        for (const message of messages) {
          expect(plain.message(message)).toBeGreaterThanOrEqual(0);
          expect(plain.message(message)).toBe(charEstimator().message(structuredClone(message)));
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe("an estimate by a tokenizer", () => {
  test("counts what the tokenizer counts, but files and encrypted reasoning by characters", () => {
    const exact = tokenizerEstimator(countTokens, { overhead: 0, toolResult: 1 });
    const words = "The quick brown fox jumps over the lazy dog.";
    expect(exact.text(words)).toBe(countTokens(words));
    expect(exact.message(userText(words))).toBe(countTokens(words));
    expect(exact.message({ role: "user", content: [text(words), image] })).toBe(countTokens(words) + 2_000);
    const definition = { name: "look", description: words, inputSchema: { type: "object" } };
    expect(exact.tools([definition])).toBe(countTokens(JSON.stringify(definition)));
  });

  test("gives a long text to the tokenizer in slices that cut no character, and only once for a message", () => {
    const seen: string[] = [];
    const estimator = tokenizerEstimator((one) => {
      seen.push(one);
      return one.length;
    });
    const long = `a${"😀".repeat(20_000)}`;
    expect(estimator.text(long)).toBe(long.length);
    expect(seen.join("")).toBe(long);
    expect(seen.every((one) => one.isWellFormed() && one.length <= 8_193)).toBe(true);
    const message = userText("once");
    estimator.message(message);
    const asked = seen.length;
    estimator.message(message);
    expect(seen).toHaveLength(asked);
  });
});

describe("the tokens of a request", () => {
  const one: Estimator = { message: () => 1, text: () => 100, tools: (tools) => tools.length * 10 };
  const tools = [{ name: "look", description: "", inputSchema: {} }];

  test("are all estimated if nothing was counted", () => {
    const messages = [userText("go"), answer(text("so"))];
    const asked = { system: "be", messages, tools };
    expect(estimateRequest(asked, one)).toEqual({ tokens: 112, counted: 0, since: 0 });
    expect(estimateRequest({ messages }, one)).toEqual({ tokens: 2, counted: 0, since: 0 });
  });

  test("are what the provider counted, including cached input, and an estimate of what came since", () => {
    const messages = [
      userText("go"),
      counted(5_000, 50, call("a")),
      result("a", "1"),
      counted(6_000, 60, call("b"), call("c")),
      result("b", "2"),
      result("c", "3"),
    ];
    for (const list of [messages, Log.of<Message>(messages)])
      expect(estimateRequest({ system: "be", messages: list, tools }, one)).toEqual({
        tokens: 6_062,
        counted: 6_060,
        since: 4,
      });
  });

  test("do not use the count of a provider that ran its own tools, because it is the sum over several rounds", () => {
    const said = (content: AssistantMessage["content"], inputTokens: number): AssistantMessage => ({
      role: "assistant",
      content,
      origin: { api: "anthropic-messages", provider: "anthropic", model: "m" },
      stop: { kind: "end_turn", wire: "end_turn" },
      usage: { inputTokens, outputTokens: 10 },
    });
    const search = { type: "native" as const, kind: "server_tool_use", opaque: { id: "srv_1" } };
    const plainly = said([{ type: "text", text: "hello" }], 2_000);
    const searched = said([search, { type: "text", text: "found" }], 404_500);
    expect(lastCounted([plainly, searched])).toEqual({ at: 0, tokens: 2_010 });
    expect(estimateRequest({ messages: [plainly, searched] }, charEstimator()).tokens).toBeLessThan(2_100);
  });

  test("do not use a count from before the history was changed, nor a count of zero", () => {
    const messages = [userText("go"), counted(9_000, 50, text("a")), userText("and"), answer(text("b"))];
    expect(estimateRequest({ messages }, one, 2)).toEqual({ tokens: 4, counted: 0, since: 0 });
    expect(lastCounted(messages, 1)).toEqual({ at: 1, tokens: 9_050 });
    expect(countedTokens({ inputTokens: 0, outputTokens: 0 })).toBeUndefined();
    expect(countedTokens({ outputTokens: 7 })).toBeUndefined();
    expect(countedTokens(undefined)).toBeUndefined();
  });

  test("cost only the new part of a growing log to compute", () => {
    let measured = 0;
    const counting: Estimator = { ...one, message: () => ++measured && 1 };
    let log = Log.of<Message>([userText("go")]);
    for (let at = 0; at < 200; at += 1) {
      log = log.push(...turn(`c${at}`, "x"));
      expect(estimateRequest({ messages: log }, counting).tokens).toBe(log.length);
    }
    expect(measured).toBe(log.length);
    expect(estimateRequest({ messages: history("x", "y") }, counting).tokens).toBe(5);
  });

  test("are compared with the window or with the input limit, as chosen", () => {
    const both = { contextWindow: 200_000, maxInputTokens: 150_000 };
    expect(knownWindow(both)).toBe(200_000);
    expect(knownWindow(both, "maxInputTokens")).toBe(150_000);
    expect(knownWindow({ maxInputTokens: 9 })).toBe(9);
    expect(knownWindow({ contextWindow: 9 }, "maxInputTokens")).toBe(9);
    expect(knownWindow({ contextWindow: 0 })).toBeUndefined();
    expect(knownWindow({})).toBeUndefined();
  });
});
