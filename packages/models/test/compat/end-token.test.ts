// A token that ends a turn, left at the end of an answer: it is no word of it, neither told nor kept (F236).

import { Agent, type Model, type ModelRequest } from "@rondo/core";
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
    const told: string[] = [];
    const model: Model = {
      ...speaking(""),
      async call(_, io) {
        io.emit({ type: "text_delta", index: 0, text: "Hello!<|im_end|>" });
        io.emit({ type: "tool_args_delta", index: 1, id: "1", name: "f", delta: "{}" });
        io.emit({ type: "text_delta", index: 2, text: "<|im_end|>" });
        throw new Error("broke");
      },
    };
    const emit = (event: { type: string; text?: string }): void => {
      told.push(event.text ?? event.type);
    };
    const signal = new AbortController().signal;
    await expect(withoutEndToken(model).call(ask, { signal, emit })).rejects.toThrow("broke");
    expect(told.filter((one) => one !== "progress").join(" ")).toBe(
      "Hello! <|im_end|> tool_args_delta <|im_end|>",
    );
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
