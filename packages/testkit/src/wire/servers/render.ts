// The room of a compatible server's form: a reply as that server's stream, and as its one completion, quirks and all.

import type { JsonObject, StopKind } from "@rondo/core";
import {
  counts,
  frame,
  type Rendered,
  type Reply,
  type ReplyBlock,
  stopWord,
  type WireFrame,
} from "../reply.ts";
import { callDeltas, callsWhole } from "./calls.ts";
import type { ServerPersonality, ServerStyle } from "./personality.ts";
import { pieces } from "./pieces.ts";

const words: { readonly [K in StopKind]?: string } = {
  max_tokens: "length",
  stop_sequence: "stop",
  refusal: "stop",
  content_filter: "content_filter",
};

/** A reply as the server would tell it. */
export function renderServer({ style }: ServerPersonality, reply: Reply): Rendered {
  return new Form(style, reply).rendered();
}

type CallBlock = Extract<ReplyBlock, { type: "call" }>;

class Form {
  readonly #style: ServerStyle;
  readonly #reply: Reply;
  readonly #calls: CallBlock[];
  /** The choice that calls stand in. */
  readonly #spread: number;
  /** The word that ends it; null where the server says none. */
  readonly #word: string | null;
  #sofar = "";

  constructor(style: ServerStyle, reply: Reply) {
    this.#style = style;
    this.#reply = reply;
    this.#calls = reply.blocks.filter((block): block is CallBlock => block.type === "call");
    const texts = reply.blocks.some((block) => block.type === "text");
    this.#spread = style.splitChoices === true && texts && this.#calls.length > 0 ? 1 : 0;
    const { text, calls } = style.finish ?? { text: "stop", calls: "tool_calls" };
    const { raw, wire } = reply.stop;
    this.#word =
      raw === undefined && (wire === "end_turn" || wire === "tool_use")
        ? this.#calls.length > 0
          ? calls
          : text
        : stopWord(reply, words, "openai-chat");
  }

  rendered(): Rendered {
    const { comments = [], head = [], finishInPlace, noDone } = this.#style;
    const blocks = this.#reply.blocks.map((block, at) => this.#deltas(block, at));
    const last = blocks.findLastIndex((deltas) => deltas.length > 0);
    const inPlace = finishInPlace === true && last !== -1;
    const usage = this.#place() === "asked" && this.#reply.tellsUsage;
    return {
      head: [
        ...comments.map((data): WireFrame => ({ data, comment: true })),
        ...head.map((one) => frame(undefined, one)),
        this.#chunk({ role: "assistant", content: "" }, null, false, 0),
      ],
      blocks: blocks.map((deltas, block) => {
        const choice = this.#reply.blocks[block]?.type === "call" ? this.#spread : 0;
        return deltas.map((delta, at) => {
          const ends = inPlace && block === last && at === deltas.length - 1;
          return this.#chunk(delta, ends ? this.#word : null, ends, choice);
        });
      }),
      tail: [
        ...(inPlace ? [] : [this.#chunk({}, this.#word, true, this.#spread)]),
        ...(usage ? [frame(undefined, { ...this.#envelope(), choices: [], usage: this.#usage() })] : []),
        ...(noDone === true ? [] : [{ data: "[DONE]" }]),
      ],
      whole: this.#whole(),
    };
  }

  #place(): NonNullable<ServerStyle["usage"]> {
    return this.#style.usage ?? "asked";
  }

  #envelope(object = "chat.completion.chunk"): JsonObject {
    const { number, model } = this.#reply;
    return { id: `gen-${number}`, object, created: 1_700_000_000 + number, model };
  }

  #usage(): JsonObject {
    const { inputTokens, outputTokens } = counts(this.#reply.usage);
    return {
      prompt_tokens: inputTokens,
      completion_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
    };
  }

  #chunk(delta: JsonObject, word: string | null, last: boolean, index: number): WireFrame {
    const place = this.#place();
    const choice: JsonObject = {
      // Servers that spread an answer over choices number all of them 0.
      index: 0,
      delta,
      finish_reason: word,
      ...(last && place === "in_choice" ? { usage: this.#usage() } : {}),
    };
    if (this.#style.snapshots === true) {
      if (typeof delta.content === "string") this.#sofar += delta.content;
      choice.message = { role: "assistant", content: this.#sofar };
    }
    return frame(undefined, {
      ...this.#envelope(),
      choices: index === 0 ? [choice] : [{ index: 0, delta: {}, finish_reason: null }, choice],
      ...((last && place === "with_finish") || place === "every_chunk" ? { usage: this.#usage() } : {}),
      ...(last && place === "x_groq" ? { x_groq: { id: "req_1", usage: this.#usage() } } : {}),
      ...(last ? this.#style.tail : {}),
    });
  }

  #deltas(block: ReplyBlock, at: number): JsonObject[] {
    switch (block.type) {
      case "text":
        return this.#content(this.#wrapped(block, at), block.pieces);
      case "reasoning":
        return this.#reasoning(block, at);
      case "refusal":
        return block.pieces.map((refusal) => ({ refusal }));
      case "native":
        return [block.opaque];
      case "call":
        return callDeltas(this.#style, this.#reply, this.#calls, this.#calls.indexOf(block));
    }
  }

  /** A text as it stands in the content: in tags or channels where the server leaves them in. */
  #wrapped(block: { type: "text" | "reasoning"; text: string }, at: number): string {
    const { reasoning } = this.#style;
    if (reasoning === "harmony") {
      const start = at === 0 ? "" : "<|start|>assistant";
      return block.type === "text"
        ? `${start}<|channel|>final<|message|>${block.text}<|return|>`
        : `${start}<|channel|>analysis<|message|>${block.text}<|end|>`;
    }
    return block.type === "reasoning" ? `<think>\n${block.text}\n</think>\n\n` : block.text;
  }

  #content(text: string, cut: readonly string[]): JsonObject[] {
    const { reasoning } = this.#style;
    // In pieces of five characters every tag is cut somewhere.
    if (reasoning === "think_tags" || reasoning === "harmony")
      return (text.match(/[\s\S]{1,5}/g) ?? []).map((content) => ({ content }));
    return (cut.length > 1 ? cut : pieces(text)).map((content) => ({ content }));
  }

  #reasoning(block: Extract<ReplyBlock, { type: "reasoning" }>, at: number): JsonObject[] {
    const cut = block.pieces.length > 1 ? block.pieces : pieces(block.text);
    switch (this.#style.reasoning ?? "reasoning_content") {
      case "reasoning_content":
        return [
          ...cut.map((reasoning_content) => ({ content: null, reasoning_content })),
          ...(this.#style.repeatsReasoning === true ? [{ reasoning_content: block.text }] : []),
        ];
      case "reasoning":
        return cut.map((reasoning) => ({ reasoning }));
      case "reasoning_details": {
        const entry = { type: "reasoning.text", format: "anthropic-claude-v1", index: 0 };
        return [
          ...cut.map((text) => ({
            content: "",
            reasoning: text,
            reasoning_details: [{ ...entry, text }],
          })),
          { content: "", reasoning_details: [{ ...entry, signature: "SIG" }] },
        ];
      }
      case "parts":
        return cut.map((text) => ({
          content: [{ type: "thinking", thinking: [{ type: "text", text }] }],
        }));
      case "reasoning_text":
        return [...cut.map((reasoning_text) => ({ reasoning_text })), { reasoning_opaque: "OPAQUE" }];
      case "think_tags":
      case "harmony":
        return this.#content(this.#wrapped(block, at), []);
      case "none":
        return [];
    }
  }

  #whole(): JsonObject {
    const place = this.#place();
    const message = this.#message();
    const calls: JsonObject =
      this.#calls.length === 0 ? {} : { tool_calls: callsWhole(this.#style, this.#reply, this.#calls) };
    const end = {
      finish_reason: this.#word,
      ...(place === "in_choice" ? { usage: this.#usage() } : {}),
    };
    return {
      ...this.#envelope("chat.completion"),
      choices:
        this.#spread === 1
          ? [
              { index: 0, message, finish_reason: this.#word },
              { index: 0, message: { role: "assistant", content: null, ...calls }, ...end },
            ]
          : [{ index: 0, message: { ...message, ...calls }, ...end }],
      ...(place === "none" || place === "in_choice" ? {} : { usage: this.#usage() }),
      ...this.#style.tail,
    };
  }

  /** What is said, without the calls. */
  #message(): JsonObject {
    const { reasoning: where = "reasoning_content" } = this.#style;
    let content = "";
    let thought = "";
    let refusal = "";
    const natives: JsonObject[] = [];
    for (const [at, block] of this.#reply.blocks.entries()) {
      if (block.type === "text") content += this.#wrapped(block, at);
      else if (block.type === "refusal") refusal += block.text;
      else if (block.type === "native") natives.push(block.opaque);
      else if (block.type === "reasoning") {
        if (where === "think_tags" || where === "harmony") content += this.#wrapped(block, at);
        else thought += block.text;
      }
    }
    const own = content === "" ? null : content;
    const message: JsonObject =
      where === "parts" && thought !== ""
        ? {
            content: [
              { type: "thinking", thinking: [{ type: "text", text: thought }] },
              { type: "text", text: content },
            ],
          }
        : { content: own, ...thoughtIn(where, thought) };
    return Object.assign(
      { role: "assistant", ...message, ...(refusal === "" ? {} : { refusal }) },
      ...natives,
    );
  }
}

/** What was thought, beside what is said. */
function thoughtIn(where: NonNullable<ServerStyle["reasoning"]>, thought: string): JsonObject {
  if (thought === "" || where === "none" || where === "parts") return {};
  if (where === "reasoning_text") return { reasoning_text: thought, reasoning_opaque: "OPAQUE" };
  if (where !== "reasoning_details") return { [where]: thought };
  const entry = { type: "reasoning.text", format: "anthropic-claude-v1", index: 0 };
  return { reasoning: thought, reasoning_details: [{ ...entry, text: thought, signature: "SIG" }] };
}
