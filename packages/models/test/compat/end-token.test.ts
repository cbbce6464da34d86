// A token that ends a turn, left at the end of an answer: it is no word of it, neither told nor kept (F236).

import {
  Agent,
  type AssistantMessage,
  type JsonObject,
  type Model,
  type ModelEvent,
  type ModelRequest,
  RondoError,
} from "@rondo/core";
import { say } from "@rondo/testkit";
import type { RondoWire } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { anthropic, createModel, type Frame, openai, openaiCompatible } from "../../src/index.ts";
import { anthropicMessages } from "../../src/providers/codecs.ts";
import { modes, serve } from "../end-to-end/stack.ts";
import { ask } from "../prompted/model.ts";

/** An answer of the pieces, in their order, over the wire of Anthropic's protocol; where it breaks off, without its end. */
async function* framesOf(pieces: readonly Piece[], breaks: boolean): AsyncGenerator<Frame> {
  const frame = (value: JsonObject): Frame => ({ event: String(value.type), data: JSON.stringify(value) });
  const begun = new Set<number>();
  yield frame({ type: "message_start", message: { id: "m", role: "assistant", content: [], usage: {} } });
  for (const { index, ...piece } of pieces) {
    const [kind = "", text = ""] = Object.entries(piece)[0] ?? [];
    const block =
      kind === "args" ? { type: "tool_use", id: "1", name: "f", input: {} } : { type: kind, [kind]: "" };
    if (!begun.has(index)) yield frame({ type: "content_block_start", index, content_block: block });
    begun.add(index);
    const delta =
      kind === "args"
        ? { type: "input_json_delta", partial_json: text }
        : { type: `${kind}_delta`, [kind]: text };
    yield frame({ type: "content_block_delta", index, delta });
  }
  if (breaks) throw new RondoError("network", "broke");
  for (const index of begun) yield frame({ type: "content_block_stop", index });
  const hasCalls = pieces.some((piece) => "args" in piece);
  yield frame({
    type: "message_delta",
    delta: { stop_reason: hasCalls ? "tool_use" : "end_turn" },
    usage: {},
  });
  yield frame({ type: "message_stop" });
}

type Piece = { index: number } & ({ text: string } | { thinking: string } | { args: string });

/** What of an answer is told and kept. */
async function telling(
  pieces: readonly Piece[],
  { request = ask, breaks = false }: { request?: ModelRequest; breaks?: boolean } = {},
): Promise<{ told: string[]; content: AssistantMessage["content"] | undefined }> {
  const model = createModel({
    codec: anthropicMessages,
    provider: "test",
    model: "m",
    baseURL: "http://127.0.0.1:1",
    apiKey: "k",
    compat: { endTokens: true },
    send: async () => framesOf(pieces, breaks),
  });
  const told: string[] = [];
  const emit = (event: ModelEvent): void => {
    if ("text" in event) told.push(event.text);
    else if (event.type === "tool_args_delta") told.push(event.type);
  };
  const answer = await model
    .call(request, { signal: new AbortController().signal, emit })
    .catch((error: unknown) => (error as RondoError).partial);
  return { told, content: answer?.content };
}

const cut = (text: string, size: number): string[] =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));
const inText = (index: number, text: string, size: number): Piece[] =>
  cut(text, size).map((piece) => ({ index, text: piece }));

async function heard(
  text: string,
  size: number,
  request: ModelRequest = ask,
): Promise<{ content: unknown; shown: string }> {
  const { told, content } = await telling(inText(0, text, size), { request });
  return { content, shown: told.join("") };
}

describe("an end-of-turn token at the end of an answer", () => {
  it.each([
    ["<|im_end|>", "Hello!"],
    ["<|im_end|>\n", "Hello!"],
    ["<|eot_id|><|end_of_text|>", "Hello!"],
    ["\n<end_of_turn>", "Hello!\n"],
    ["<turn|>", "Hello!"],
    ["</s>", "Hello!"],
    ["<｜end▁of▁sentence｜>", "Hello!"],
    ["[e~[", "Hello!"],
    ["[|endofturn|]", "Hello!"],
    ["<SPECIAL_12>", "Hello!"],
    ["<|close|>message<|sep|>", "Hello!"],
    ["<|close|>response<|sep|><|close|>message<|sep|>", "Hello!"],
  ])("is not part of its text, and is not emitted: %j", async (token, text) => {
    for (const chunk of [1, 3, 5, 1000]) {
      const { content, shown } = await heard(`Hello!${token}`, chunk);
      expect([content, shown]).toEqual([[{ type: "text", text }], text]);
    }
  });

  it("is removed however often a broken server repeats it", async () => {
    for (const chunk of [13, 1000]) {
      const { content } = await heard(`Hello!${"<|endoftext|>".repeat(40)}`, chunk);
      expect(content).toEqual([{ type: "text", text: "Hello!" }]);
    }
  });

  it.each(["<pad>", "<unk>", "<unused32>", "<|endoftext|>", "<｜end▁of▁sentence｜>"])(
    "or any other token leaves nothing of an answer that only repeats it: %s",
    async (token) => {
      expect((await heard(token.repeat(30), 7)).content).toEqual([]);
      expect((await heard(`${token}\n`.repeat(30), 7)).content).toEqual([]);
    },
  );

  it("is kept where a token is repeated among words", async () => {
    const text = `${"<pad>".repeat(5)} pads five places`;
    expect((await heard(text, 7)).content).toEqual([{ type: "text", text }]);
  });

  it("is removed from an answer that has nothing else, which is then empty", async () => {
    const { content, shown } = await heard("<|im_end|>", 4);
    expect([content, shown]).toEqual([[], ""]);
  });

  it.each([
    ["in its middle", "Say <|im_end|> once.\n"],
    ["behind a blank, where it is spoken of", "The token is <|endoftext|>"],
    ["behind a colon", "It is:\n<|endoftext|>"],
    ["in quotes", "It is `<|im_end|>`"],
    ["opened and not closed", 'It is "</s>'],
    ["of no turn", "Hello <b>you</b>"],
    ["that only begins", "Hello!<|im_en"],
    ["of HTML", "<p>Hi</p>"],
    ["that closes what was struck out", "It was <s>ten</s>"],
  ])("stays %s", async (_, text) => {
    for (const chunk of [1, 3, 1000]) {
      const { content, shown } = await heard(text, chunk);
      expect([content, shown]).toEqual([[{ type: "text", text }], text]);
    }
  });

  it("stays if somebody in the conversation wrote it", async () => {
    const system = "End each line with </s>.";
    const { content, shown } = await heard("Hello!</s>", 3, { ...ask, system });
    expect([content, shown]).toEqual([[{ type: "text", text: "Hello!</s>" }], "Hello!</s>"]);
  });

  it("is emitted before the text after it, and in an answer that breaks off", async () => {
    const pieces: Piece[] = [
      { index: 0, text: "Hello!<|im_end|>" },
      { index: 1, thinking: "Hm." },
      { index: 2, text: "<|im_end|>" },
    ];
    const { told, content } = await telling(pieces, { breaks: true });
    expect(told).toEqual(["Hello!", "<|im_end|>", "Hm.", "<|im_end|>"]);
    expect(content).toMatchObject([{ text: "Hello!<|im_end|>" }, { text: "Hm." }, { text: "<|im_end|>" }]);
  });

  const makers: { readonly [name: string]: (wire: RondoWire) => Model } = {
    "a compatible server": (wire) =>
      openaiCompatible({ server: "vllm", model: "m", baseURL: wire.urlFor("openai-chat"), apiKey: "k" }),
    "OpenAI's address, moved": (wire) => openai("m", { baseURL: wire.urlFor("openai"), apiKey: "k" }),
    "Anthropic's address, moved": (wire) =>
      anthropic("m", { baseURL: wire.urlFor("anthropic"), apiKey: "k" }),
  };
  it.each(Object.keys(makers).flatMap((name) => modes.map((mode) => ({ name, ...mode }))))(
    "is left out over $name, by the $chunks",
    async ({ name, ...mode }) => {
      const wire = await serve([say("Hello!<|im_end|>")], mode);
      const model = makers[name]?.(wire) as Model;
      const result = await new Agent({ model }).run("Hi");
      expect(result.text).toBe("Hello!");
    },
  );

  it("is ordinary text if the server's quirk says so", async () => {
    const wire = await serve([say("Hello!<|im_end|>")]);
    const baseURL = wire.urlFor("openai-chat");
    const model = openaiCompatible({ model: "m", baseURL, apiKey: "k", compat: { endTokens: false } });
    expect((await new Agent({ model }).run("Hi")).text).toBe("Hello!<|im_end|>");
  });
});

const calling: AssistantMessage["content"][number] = {
  type: "tool_call",
  id: "1",
  name: "f",
  args: {},
  rawArgs: "{}",
};

describe("call tokens that are left around a call", () => {
  const marks = [
    "<｜DSML｜function_calls",
    "<｜DSML｜function_calls>",
    "<｜｜DSML｜｜tool_calls>\n",
    "<tool_call>",
    "</tool_call>",
    "</function>\n</tool_call>",
    "<minimax:tool_call>",
    "<|tool_calls_section_begin|>",
    "<|tool_call",
    "<function",
    "[TOOL_CALLS]",
    "</think>\n\n",
    "<|im_end|>",
  ];
  const args: Piece = { index: 1, args: "{}" };

  it.each(marks)("are not part of the answer before a call: %j", async (mark) => {
    for (const size of [1, 4, 100]) {
      const { told, content } = await telling([...inText(0, `I look.\n${mark}`, size), args]);
      expect(content).toEqual([{ type: "text", text: "I look.\n" }, calling]);
      expect(told.join("")).toBe("I look.\ntool_args_delta");
      const alone = await telling([...inText(0, mark, size), args]);
      expect(alone).toEqual({ told: ["tool_args_delta"], content: [calling] });
    }
  });

  it.each(["\n</tool_call>", ">\n</tool_call>", "</parameter>\n</function>\n</tool_call>"])(
    "nor after it, whether in a text of their own or in the one before: %j",
    async (mark) => {
      for (const size of [1, 4, 100]) {
        const own = await telling([args, ...inText(2, mark, size)]);
        expect(own.content).toEqual([calling]);
        expect(own.told.join("").trim()).toBe("tool_args_delta");
        const one = await telling([...inText(0, "I look.", size), args, ...inText(0, mark, size)]);
        expect(one.content).toMatchObject([{ text: expect.stringMatching(/^I look\.\n?$/) }, {}]);
        expect(one.told.join("")).toMatch(/^I look\.tool_args_delta\n?$/);
      }
    },
  );

  it("stay if there is no call", async () => {
    const text = "I look.\n<tool_call>";
    expect(await heard(text, 3)).toEqual({ content: [{ type: "text", text }], shown: text });
  });

  it("stay if somebody in the conversation wrote them", async () => {
    const text = "I look.\n<tool_call>";
    const request = { ...ask, system: "Begin with <tool_call>." };
    const { told, content } = await telling([...inText(0, text, 3), args], { request });
    expect(content).toEqual([{ type: "text", text }, calling]);
    expect(told.join("")).toBe(`${text}tool_args_delta`);
  });

  it.each([
    ["in quotes", "I look for `</tool_call>"],
    ["around a call that stands there as a whole", 'I look.\n<tool_call>\n{"name":"f"}\n</tool_call>'],
    ["of an element of a text", "I write this.\n<parameter>1</parameter>"],
  ])("stay %s", async (_, text) => {
    const { told, content } = await telling([...inText(0, text, 3), args]);
    expect(content).toEqual([{ type: "text", text }, calling]);
    expect(told.join("")).toBe(`${text}tool_args_delta`);
  });

  it("stay if the text continues after the call", async () => {
    const text = "I look.\n<tool_call>";
    const { told, content } = await telling([...inText(0, text, 3), args, ...inText(0, " is a tag.", 4)]);
    expect(content).toEqual([{ type: "text", text: `${text} is a tag.` }, calling]);
    expect(told.join("")).toBe("I look.\ntool_args_delta<tool_call> is a tag.");
  });
});
