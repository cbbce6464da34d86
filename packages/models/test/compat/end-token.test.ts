// A token that ends a turn, left at the end of an answer: it is no word of it, neither told nor kept (F236).

import { Agent, type AssistantMessage, type Model, type ModelEvent, type ModelRequest } from "@rondo/core";
import { say } from "@rondo/testkit";
import type { RondoWire } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { anthropic, openai, openaiCompatible } from "../../src/index.ts";
import { withoutEndToken } from "../../src/prompted/end-token.ts";
import { modes, serve } from "../end-to-end/stack.ts";
import { ask, hear, speaking } from "../prompted/model.ts";

const heard = (text: string, chunk: number, request: ModelRequest = ask) =>
  hear(withoutEndToken(speaking(text, { chunk })), request);

describe("a token that ends a turn, at the end of an answer", () => {
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
  ])("is no word of it, and is not told: %j", async (token, text) => {
    for (const chunk of [1, 3, 5, 1000]) {
      const { answer, shown } = await heard(`Hello!${token}`, chunk);
      expect([answer.content, shown]).toEqual([[{ type: "text", text }], text]);
    }
  });

  it("leaves nothing of an answer that is nothing else", async () => {
    const { answer, shown } = await heard("<|im_end|>", 4);
    expect([answer.content, shown]).toEqual([[], ""]);
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
      const { answer, shown } = await heard(text, chunk);
      expect([answer.content, shown]).toEqual([[{ type: "text", text }], text]);
    }
  });

  it("stays where somebody in the conversation wrote of it", async () => {
    const system = "End each line with </s>.";
    const { answer, shown } = await heard("Hello!</s>", 3, { ...ask, system });
    expect([answer.content, shown]).toEqual([[{ type: "text", text: "Hello!</s>" }], "Hello!</s>"]);
  });

  it("is told before what comes behind it, and in an answer that breaks off", async () => {
    const events: ModelEvent[] = [
      { type: "text_delta", index: 0, text: "Hello!<|im_end|>" },
      { type: "reasoning_delta", index: 1, text: "Hm." },
      { type: "text_delta", index: 2, text: "<|im_end|>" },
    ];
    const { told, call } = telling(events, undefined);
    await expect(call).rejects.toThrow("broke");
    expect(told).toEqual(["Hello!", "<|im_end|>", "Hm.", "<|im_end|>"]);
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
});

const calling: AssistantMessage["content"][number] = {
  type: "tool_call",
  id: "1",
  name: "f",
  args: {},
  rawArgs: "{}",
};

/** An answer that tells events, and what of them is told. */
function telling(
  events: readonly ModelEvent[],
  content: AssistantMessage["content"] | undefined,
  request: ModelRequest = ask,
): { told: string[]; call: Promise<AssistantMessage> } {
  const told: string[] = [];
  const model: Model = {
    ...speaking(""),
    async call(_, io) {
      for (const event of events) io.emit(event);
      if (content === undefined) throw new Error("broke");
      return { role: "assistant", content, stop: { kind: "tool_use", wire: "tool_use" } } as AssistantMessage;
    },
  };
  const emit = (event: ModelEvent): void => {
    if ("text" in event) told.push(event.text);
    else if (event.type !== "progress") told.push(event.type);
  };
  return { told, call: withoutEndToken(model).call(request, { signal: new AbortController().signal, emit }) };
}

describe("what opens or closes calls, left beside those that it stood around", () => {
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
  const pieces = (text: string, size: number): string[] =>
    Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));
  const inText = (index: number, text: string, size: number): ModelEvent[] =>
    pieces(text, size).map((piece) => ({ type: "text_delta", index, text: piece }));
  const args: ModelEvent = { type: "tool_args_delta", index: 1, id: "1", name: "f", delta: "{}" };

  it.each(marks)("is no word of the answer before a call: %j", async (mark) => {
    for (const size of [1, 4, 100]) {
      const events = [...inText(0, `I look.\n${mark}`, size), args];
      const { told, call } = telling(events, [{ type: "text", text: `I look.\n${mark}` }, calling]);
      expect((await call).content).toEqual([{ type: "text", text: "I look.\n" }, calling]);
      expect(told.join("")).toBe("I look.\ntool_args_delta");
      const alone = telling([...inText(0, mark, size), args], [{ type: "text", text: mark }, calling]);
      expect((await alone.call).content).toEqual([calling]);
      expect(alone.told).toEqual(["tool_args_delta"]);
    }
  });

  it.each(["\n</tool_call>", ">\n</tool_call>", "</parameter>\n</function>\n</tool_call>"])(
    "nor behind it, be it in a text of its own or in the one before: %j",
    async (mark) => {
      for (const size of [1, 4, 100]) {
        const behind = [args, ...inText(2, mark, size)];
        const own = telling(behind, [calling, { type: "text", text: mark }]);
        expect((await own.call).content).toEqual([calling]);
        expect(own.told.join("").trim()).toBe("tool_args_delta");
        const before = [...inText(0, "I look.", size), args, ...inText(0, mark, size)];
        const one = telling(before, [{ type: "text", text: `I look.${mark}` }, calling]);
        expect((await one.call).content).toMatchObject([
          { text: expect.stringMatching(/^I look\.\n?$/) },
          {},
        ]);
        expect(one.told.join("")).toMatch(/^I look\.tool_args_delta\n?$/);
      }
    },
  );

  it("stays where there is no call, where it is spoken of, and where the text goes on", async () => {
    const text = "I look.\n<tool_call>";
    const { answer, shown } = await heard(text, 3);
    expect([answer.content, shown]).toEqual([[{ type: "text", text }], text]);
    const spoken = { ...ask, system: "Begin with <tool_call>." };
    const said = telling([...inText(0, text, 3), args], [{ type: "text", text }, calling], spoken);
    expect((await said.call).content).toEqual([{ type: "text", text }, calling]);
    expect(said.told.join("")).toBe(`${text}tool_args_delta`);
    const quoted = "I look for `</tool_call>";
    const about = telling([...inText(0, quoted, 3), args], [{ type: "text", text: quoted }, calling]);
    expect((await about.call).content).toEqual([{ type: "text", text: quoted }, calling]);
    expect(about.told.join("")).toBe(`${quoted}tool_args_delta`);
    const whole = 'I look.\n<tool_call>\n{"name":"f"}\n</tool_call>';
    const block = telling([...inText(0, whole, 3), args], [{ type: "text", text: whole }, calling]);
    expect((await block.call).content).toEqual([{ type: "text", text: whole }, calling]);
    expect(block.told.join("")).toBe(`${whole}tool_args_delta`);
    const xml = "I write this.\n<parameter>1</parameter>";
    const element = telling([...inText(0, xml, 3), args], [{ type: "text", text: xml }, calling]);
    expect((await element.call).content).toEqual([{ type: "text", text: xml }, calling]);
    const more = [...inText(0, text, 3), args, ...inText(0, " is a tag.", 4)];
    const going = telling(more, [{ type: "text", text: `${text} is a tag.` }, calling]);
    expect((await going.call).content).toEqual([{ type: "text", text: `${text} is a tag.` }, calling]);
    expect(going.told.join("")).toBe("I look.\ntool_args_delta<tool_call> is a tag.");
  });
});
