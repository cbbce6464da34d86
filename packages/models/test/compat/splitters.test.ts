// Thinking and channels that stand in the content, however they are cut.

import type { AssistantMessage, JsonObject, Origin, Part } from "@rondo/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anthropicMessages } from "../../src/codecs/anthropic-messages.ts";
import { HarmonySplitter, type Say } from "../../src/codecs/leaks/harmony.ts";
import { ThinkSplitter } from "../../src/codecs/leaks/think.ts";
import { openaiChat } from "../../src/codecs/openai-chat.ts";
import { openaiResponses } from "../../src/codecs/openai-responses.ts";

const origin: Origin = { api: "openai-chat", provider: "test", model: "m" };

function decode(pieces: readonly string[], compat: JsonObject, more: JsonObject = {}): AssistantMessage {
  const decoder = openaiChat.decoder({ origin, facts: {}, compat: compat as never }, () => {});
  const push = (delta: JsonObject, finish_reason: string | null = null): void =>
    decoder.push({
      event: undefined,
      data: JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] }),
    });
  if (Object.keys(more).length > 0) push(more);
  for (const content of pieces) push({ content });
  push({}, "stop");
  return decoder.end();
}

function shape(message: AssistantMessage): string[] {
  return message.content.map((part: Part) =>
    part.type === "text" || part.type === "reasoning"
      ? `${part.type}: ${part.text}`
      : part.type === "tool_call"
        ? `call: ${part.name}(${part.rawArgs})`
        : part.type,
  );
}

/** Every way to cut a short text in three, and one character at a time. */
function cuts(text: string): string[][] {
  const all: string[][] = [[text], [...text]];
  for (let a = 1; a < text.length; a++)
    for (let b = a; b < text.length; b++) all.push([text.slice(0, a), text.slice(a, b), text.slice(b)]);
  return all;
}

/** The text without the tags of the blocks that open it. */
function untagged(text: string, inside: boolean): string {
  let said = "";
  let rest = inside ? text : text.replace(leftAlone, "\n");
  if (rest !== text) rest = rest.replace(left, "");
  for (let within = inside; ; within = false) {
    const open = /^\s*<think>/.exec(rest)?.[0];
    if (open === undefined && !within) return said + rest;
    rest = rest.slice(open?.length ?? 0);
    const close = rest.indexOf("</think>");
    if (close === -1) return said + rest;
    said += rest.slice(0, close);
    rest = rest.slice(close + "</think>".length).replace(left, "");
  }
}

/** A closing tag that was left: alone on the first line, or behind a block. */
const leftAlone = /^\s*<\/think>[ \t]*\n/;
const left = /^(?:\s*<\/think>)+/;

describe("thinking in the content", () => {
  it.each<[string, string, JsonObject, string[]]>([
    ["a block that opens the answer", "<think>a<b</think>\n\nc", {}, ["reasoning: a<b", "text: c"]],
    ["white space before it", " \n<think>a</think>b", {}, ["reasoning: a", "text: b"]],
    ["a block of nothing", "<think>\n\n</think>\n\nb", {}, ["text: b"]],
    [
      "several blocks that open the answer",
      "<think>\n\n</think>\n<think>a</think>\nb<think>c</think>",
      {},
      ["reasoning: a", "text: b<think>c</think>"],
    ],
    [
      "no block behind the first word",
      "<think>a</think>b<think>c</think>",
      {},
      ["reasoning: a", "text: b<think>c</think>"],
    ],
    ["a tag in the middle is text", "see <think>a</think>", {}, ["text: see <think>a</think>"]],
    ["what only begins like a tag", "<thin line", {}, ["text: <thin line"]],
    ["what ends like a tag", "<think>a</thin", {}, ["reasoning: a</thin"]],
    ["a block that never ends", "<think>a", {}, ["reasoning: a"]],
    ["Seed's block", "<seed:think>a</seed:think>b", {}, ["reasoning: a", "text: b"]],
    ["Hunyuan's block", "<think:opensource>a</think:opensource>b", {}, ["reasoning: a", "text: b"]],
    ["MiniMax's block", "<mm:think>a</mm:think>b", {}, ["reasoning: a", "text: b"]],
    ["Kimi-VL's block", "◁think▷a◁/think▷b", {}, ["reasoning: a", "text: b"]],
    ["Kimi K3's block", "<|open|>think<|sep|>a<|close|>think<|sep|>b", {}, ["reasoning: a", "text: b"]],
    ["Gemma's block", "<|channel>thought\na<channel|>b", {}, ["reasoning: \na", "text: b"]],
    ["Command's block", "<|START_THINKING|>a<|END_THINKING|>b", {}, ["reasoning: a", "text: b"]],
    [
      "no tags that people ask for themselves",
      "<reasoning>a</reasoning>b",
      {},
      ["text: <reasoning>a</reasoning>b"],
    ],
    ["Mistral's own tags", "[THINK]a[/THINK]b", {}, ["reasoning: a", "text: b"]],
    ["a block that is closed twice", "<think>a</think>\n</think>\nb", {}, ["reasoning: a", "text: b"]],
    ["a closing tag alone on the first line", "\n</think>\n\nb", {}, ["text: b"]],
    ["a text that begins with a closing tag", "</think> ends it", {}, ["text: </think> ends it"]],
    ["nothing but a closing tag", "</think>", {}, ["text: </think>"]],
    [
      "Command's answer in its tokens",
      "<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>b",
      {},
      ["reasoning: a", "text: b"],
    ],
    ["the header of a turn", "<|im_start|>assistant\nb", {}, ["text: b"]],
    [
      "the header of a turn, and a block",
      "<|start_header_id|>assistant<|end_header_id|>\n\n<think>a</think>b",
      {},
      ["reasoning: a", "text: b"],
    ],
    ["white space alone", " \n ", {}, ["text:  \n "]],
    ["inside from the start", "a</think>b", { thinkTags: "starts_inside" }, ["reasoning: a", "text: b"]],
    [
      "inside, and said again",
      "<think>a</think>b",
      { thinkTags: "starts_inside" },
      ["reasoning: a", "text: b"],
    ],
    ["Nova's tags", "<thinking> a </thinking>\n\nb", { thinkTags: "nova" }, ["reasoning:  a ", "text: b"]],
    [
      "Nova's tags of another model, which was asked for them",
      "<thinking>a</thinking>b",
      {},
      ["text: <thinking>a</thinking>b"],
    ],
    [
      "channels of gpt-oss, whatever the model is called",
      "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>",
      {},
      ["reasoning: a", "text: b"],
    ],
    [
      "nor those whose address has no namespace",
      '<|channel|>commentary to=f <|constrain|>json<|message|>{"a":1}<|call|>',
      {},
      ['text: <|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a":1}<|call|>'],
    ],
    [
      "of its calls nobody knows that they are calls",
      '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a":1}<|call|>',
      {},
      ['text: <|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a":1}<|call|>'],
    ],
    [
      "what only begins like a channel",
      "<|channel|> opens a channel; <|message|> what it says",
      {},
      ["text: <|channel|> opens a channel; <|message|> what it says"],
    ],
    ["nothing is looked for", "<think>a</think>b", { thinkTags: "none" }, ["text: <think>a</think>b"]],
  ])("%s", (_, content, compat, expected) => {
    for (const pieces of cuts(content))
      expect(shape(decode(pieces, { thinkTags: "leading", ...compat }))).toEqual(expected);
  });

  it.each(["</think>", "</mm:think>", "</thinking>"])(
    "drops %s before the text beside reasoning, however it is cut",
    (tag) => {
      for (const pieces of cuts(`\n${tag}\n\nb`))
        expect(shape(decode(pieces, { thinkTags: "leading" }, { reasoning_content: "r" }))).toEqual([
          "reasoning: r",
          "text: b",
        ]);
      // What a user may have asked for is text.
      for (const pieces of cuts("<thinking>a</thinking>b"))
        expect(shape(decode(pieces, { thinkTags: "leading" }, { reasoning_content: "r" }))).toEqual([
          "reasoning: r",
          "text: <thinking>a</thinking>b",
        ]);
    },
  );

  it("is not searched for if the server separates reasoning itself", () => {
    const message = decode(["a</think>b"], { thinkTags: "starts_inside" }, { reasoning_content: "r" });
    expect(shape(message)).toEqual(["reasoning: r", "text: a</think>b"]);
  });

  it("neither loses nor invents a character, however it is cut", () => {
    const texts = fc
      .array(fc.constantFrom("<think>", "</think>", "<", "think>", "</", "a", " ", "\n"), { maxLength: 12 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(texts, fc.array(fc.nat(40), { maxLength: 6 }), fc.boolean(), (text, at, inside) => {
        const run = (pieces: readonly string[]): { text: string; reasoning: string } => {
          const told = { text: "", reasoning: "" };
          const say: Say = (kind, more) => {
            told[kind] += more;
          };
          const splitter = new ThinkSplitter(say, inside ? "starts_inside" : "leading");
          for (const piece of pieces) splitter.push(piece);
          splitter.end();
          return told;
        };
        const marks = [0, ...at.filter((one) => one < text.length).sort((a, b) => a - b), text.length];
        const pieces = marks.slice(1).map((end, index) => text.slice(marks[index], end));
        const whole = run([text]);
        expect(run(pieces)).toEqual(whole);
        const solid = (given: string): string => given.replace(/\s/g, "");
        const opened = /^\s*<think>/.test(text) || leftAlone.test(text);
        if (!opened && !inside) expect(whole).toEqual({ text, reasoning: "" });
        else expect(solid(whole.reasoning + whole.text)).toBe(solid(untagged(text, inside)));
      }),
      { numRuns: 500 },
    );
  });

  it("is found in linear time, not quadratic", () => {
    let told = 0;
    const splitter = new ThinkSplitter((_, text) => {
      told += text.length;
    }, "leading");
    const piece = "</thin".repeat(4);
    splitter.push("<think>");
    for (let count = 0; count < 20_000; count++) splitter.push(piece);
    splitter.push("</think>x");
    splitter.end();
    // What is held back is told once, and never more than a tag of it is looked at again.
    expect(told).toBe(20_000 * piece.length + 1);
  });
});

describe("gpt-oss channels in the content", () => {
  const full =
    "<|channel|>analysis<|message|>Think.<|end|><|start|>assistant<|channel|>final<|message|>Done.<|return|>";
  it.each<[string, string, string[]]>([
    ["become reasoning and text", full, ["reasoning: Think.", "text: Done."]],
    [
      "become a call of the tool",
      '<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a":"<b"}<|call|>',
      ['call: f({"a":"<b"})'],
    ],
    [
      "become a call where the recipient stands first",
      "<|start|>assistant to=functions.f<|channel|>commentary<|message|>{}",
      ["call: f({})"],
    ],
    [
      "that come late are text",
      "I write <|channel|>final<|message|>x",
      ["text: I write <|channel|>final<|message|>x"],
    ],
    [
      "whose tokens a server dropped become the same",
      "analysisWe think.assistantanalysisMore.assistantfinalDone.",
      ["reasoning: We think.More.", "text: Done."],
    ],
    [
      "whose tokens a server dropped become a call",
      'analysisLook.assistantcommentaryI look.assistantcommentary to=functions.f json{"a":"b"}',
      ["reasoning: Look.", "text: I look.", 'call: f({"a":"b"})'],
    ],
    [
      "whose tokens a server dropped become a call where the recipient stands first",
      "\nanalysisLook.assistant to=functions.fcommentary json{}",
      ["reasoning: Look.", "call: f({})"],
    ],
    [
      "become the same from Bedrock's tags",
      "<reasoning>We think.</reasoning>Done.",
      ["reasoning: We think.", "text: Done."],
    ],
    ["are thought where Bedrock's tag is not shut", "<reasoning>We", ["reasoning: We"]],
    ["are none where a tag only begins like Bedrock's", "<reason>x", ["text: <reason>x"]],
    [
      "are none where a name begins with one of their words",
      "analysisResult is the assistant's",
      ["text: analysisResult is the assistant's"],
    ],
    ["are none in a sentence", "analysis of assistantfinal", ["text: analysis of assistantfinal"]],
    ["leave no token at the end", "Done.<|return|>", ["text: Done."]],
    ["keep a token that is not at the end", "Done.<|return|> ok", ["text: Done.<|return|> ok"]],
    ["keep what only looks like one", "<|chan", ["text: <|chan"]],
  ])("%s", (_, content, expected) => {
    for (const pieces of cuts(content).filter((__, at) => at % 7 < 2))
      expect(shape(decode(pieces, { harmony: true }))).toEqual(expected);
  });

  it("are emitted as they come, however long the first of them is", () => {
    let told = 0;
    const splitter = new HarmonySplitter(
      (_, text) => {
        told += text.length;
      },
      { open() {}, args() {}, close() {} },
    );
    splitter.push("analysisWe");
    for (let count = 0; count < 20_000; count++) splitter.push(" think,");
    expect(told).toBeGreaterThan(100_000);
  });

  it("are ignored if calls come as native calls", () => {
    const leaked = "<|channel|>commentary to=functions.f<|message|>{}<|call|>";
    const message = decode(
      [leaked],
      { harmony: true },
      {
        tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
      },
    );
    expect(shape(message)).toEqual(["call: f({})"]);
  });
});

describe("the same in the texts of other protocols", () => {
  const target = (model: string) => ({
    origin: { ...origin, model },
    facts: {},
    compat: { thinkTags: "leading" },
  });
  const ways: { readonly [protocol: string]: (pieces: string[], model: string) => AssistantMessage } = {
    anthropic(pieces, model) {
      const decoder = anthropicMessages.decoder(target(model), () => {});
      const push = (type: string, more: JsonObject): void =>
        decoder.push({ event: type, data: JSON.stringify({ type, ...more }) });
      push("message_start", { message: { id: "m", content: [] } });
      push("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
      for (const text of pieces)
        push("content_block_delta", { index: 0, delta: { type: "text_delta", text } });
      push("content_block_stop", { index: 0 });
      push("message_delta", { delta: { stop_reason: "end_turn" } });
      push("message_stop", {});
      return decoder.end();
    },
    responses(pieces, model) {
      const decoder = openaiResponses.decoder(target(model), () => {});
      const push = (type: string, more: JsonObject): void =>
        decoder.push({ event: type, data: JSON.stringify({ type, ...more }) });
      const text = pieces.join("");
      for (const delta of pieces) push("response.output_text.delta", { output_index: 0, delta });
      push("response.output_text.done", { output_index: 0, text });
      const output = [{ type: "message", id: "msg_1", content: [{ type: "output_text", text }] }];
      push("response.completed", { response: { status: "completed", output } });
      return decoder.end();
    },
  };
  const leaks: [text: string, model: string, parts: string[]][] = [
    ["<think>a<b</think>\n\nc</think>", "m", ["reasoning: a<b", "text: c</think>"]],
    ["<thin line", "m", ["text: <thin line"]],
    [" <think></think>b", "m", ["text: b"]],
    ["<think>a", "m", ["reasoning: a"]],
    [
      "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b",
      "gpt-oss-20b",
      ["reasoning: a", "text: b"],
    ],
    ["b<|end|>", "gpt-oss-20b", ["text: b"]],
    ["a <", "gpt-oss-20b", ["text: a <"]],
    ["a<|end", "gpt-oss-20b", ["text: a<|end"]],
    ["<thin", "m", ["text: <thin"]],
    ["<think>a</thin", "m", ["reasoning: a</thin"]],
    ["analysisWe.assistantfinalb", "gpt-oss-20b", ["reasoning: We.", "text: b"]],
    ["analysisWe.assistantfinalb", "m", ["text: analysisWe.assistantfinalb"]],
  ];

  it.each(Object.keys(ways).flatMap((protocol) => leaks.map((leak) => [protocol, ...leak] as const)))(
    "over %s, however it is cut: %s of %s",
    (protocol, text, model, parts) => {
      const many = text.length > 40 ? [[text], [...text], text.split(/(?=<)/)] : cuts(text);
      for (const pieces of many) expect(shape(ways[protocol]?.(pieces, model) as never)).toEqual(parts);
    },
  );

  it("are read once where a server begins the text again: what it called the first time is called once", () => {
    const text =
      '<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary to=functions.f<|message|>{"a":1}<|call|>';
    const decoder = openaiResponses.decoder(target("gpt-oss-20b"), () => {});
    const push = (type: string, more: JsonObject): void =>
      decoder.push({ event: type, data: JSON.stringify({ type, output_index: 0, ...more }) });
    for (let times = 0; times < 2; times++) {
      push("response.output_item.added", { item: { type: "message", id: "msg_1", content: [] } });
      push("response.output_text.delta", { delta: text });
    }
    push("response.completed", { response: { status: "completed", output: [] } });
    expect(shape(decoder.end())).toEqual(["reasoning: a", 'call: f({"a":1})']);
  });
});
