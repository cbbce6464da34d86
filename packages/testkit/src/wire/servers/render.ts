// The room of a compatible server's form: an answer as the frames of that server's stream, quirks and all.

import type { Json, JsonObject } from "@rondo/core";
import type { ServerAnswer, ServerPersonality, ServerStyle } from "./personality.ts";

/** The body of a streamed answer, as text. */
export function renderServerAnswer({ style }: ServerPersonality, answer: ServerAnswer): string {
  return new Stream(style, answer).whole();
}

/** Pieces of about equal size, at least two where there is anything to cut. */
function pieces(text: string): string[] {
  const size = Math.max(1, Math.ceil(text.length / 3));
  const cut: string[] = [];
  for (let at = 0; at < text.length; at += size) cut.push(text.slice(at, at + size));
  return cut;
}

class Stream {
  readonly #style: ServerStyle;
  readonly #answer: ServerAnswer;
  readonly #lines: string[] = [];
  readonly #sofar: JsonObject = { role: "assistant", content: "" };

  constructor(style: ServerStyle, answer: ServerAnswer) {
    this.#style = style;
    this.#answer = answer;
  }

  whole(): string {
    const { comments = [], head = [], noDone, repeatsReasoning } = this.#style;
    const { reasoning, text, calls = [] } = this.#answer;
    for (const comment of comments) this.#lines.push(`: ${comment}\n\n`);
    for (const frame of head) this.#frame(frame);
    const deltas: { delta: JsonObject; choice?: number }[] = [{ delta: { role: "assistant", content: "" } }];
    if (reasoning !== undefined) {
      deltas.push(...this.#reasoning(reasoning).map((delta) => ({ delta })));
      if (repeatsReasoning === true) deltas.push({ delta: { reasoning_content: reasoning } });
    }
    if (text !== undefined) deltas.push(...this.#text(text, reasoning).map((delta) => ({ delta })));
    const spread = this.#style.splitChoices === true && text !== undefined ? 1 : 0;
    if (calls.length > 0) deltas.push(...this.#calls(calls).map((delta) => ({ delta, choice: spread })));
    const { finish = { text: "stop", calls: "tool_calls" }, finishInPlace } = this.#style;
    const word = calls.length > 0 ? finish.calls : finish.text;
    for (const [at, { delta, choice = 0 }] of deltas.entries()) {
      const last = at === deltas.length - 1 && finishInPlace === true;
      this.#chunk(delta, last ? word : null, last, choice);
    }
    if (finishInPlace !== true) this.#chunk({}, word, true, calls.length > 0 ? spread : 0);
    if (this.#usagePlace() === "asked" && this.#answer.tellsUsage)
      this.#frame({ ...this.#envelope(), choices: [], usage: this.#usage() });
    if (noDone !== true) this.#lines.push("data: [DONE]\n\n");
    return this.#lines.join("");
  }

  #usagePlace(): NonNullable<ServerStyle["usage"]> {
    return this.#style.usage ?? "asked";
  }

  #frame(data: Json): void {
    this.#lines.push(`data: ${JSON.stringify(data)}\n\n`);
  }

  #envelope(): JsonObject {
    const { number, model } = this.#answer;
    return { id: `gen-${number}`, object: "chat.completion.chunk", created: 1_700_000_000 + number, model };
  }

  #usage(): JsonObject {
    const { input, output } = this.#answer.usage;
    return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  }

  #chunk(delta: JsonObject, word: string | null, last: boolean, index: number): void {
    const place = this.#usagePlace();
    const choice: JsonObject = {
      // Servers that spread an answer over choices number all of them 0.
      index: 0,
      delta,
      finish_reason: word,
      ...(last && place === "in_choice" ? { usage: this.#usage() } : {}),
    };
    if (this.#style.snapshots === true) {
      if (typeof delta.content === "string")
        this.#sofar.content = String(this.#sofar.content) + delta.content;
      choice.message = { ...this.#sofar };
    }
    this.#frame({
      ...this.#envelope(),
      choices: index === 0 ? [choice] : [{ index: 0, delta: {}, finish_reason: null }, choice],
      ...((last && place === "with_finish") || place === "every_chunk" ? { usage: this.#usage() } : {}),
      ...(last && place === "x_groq" ? { x_groq: { id: "req_1", usage: this.#usage() } } : {}),
      ...(last ? this.#style.tail : {}),
    });
  }

  #reasoning(reasoning: string): JsonObject[] {
    switch (this.#style.reasoning ?? "reasoning_content") {
      case "reasoning_content":
        return pieces(reasoning).map((reasoning_content) => ({ content: null, reasoning_content }));
      case "reasoning":
        return pieces(reasoning).map((piece) => ({ reasoning: piece }));
      case "reasoning_details": {
        const format = "anthropic-claude-v1";
        const entry = { type: "reasoning.text", format, index: 0 };
        return [
          ...pieces(reasoning).map((text) => ({
            content: "",
            reasoning: text,
            reasoning_details: [{ ...entry, text }],
          })),
          { content: "", reasoning_details: [{ ...entry, signature: "SIG" }] },
        ];
      }
      case "parts":
        return pieces(reasoning).map((text) => ({
          content: [{ type: "thinking", thinking: [{ type: "text", text }] }],
        }));
      // Both are in the text.
      case "think_tags":
      case "harmony":
        if (this.#answer.text !== undefined) return [];
        return this.#text("", reasoning);
      case "none":
        return [];
    }
  }

  #text(text: string, reasoning: string | undefined): JsonObject[] {
    const where = this.#style.reasoning;
    let whole = text;
    if (where === "think_tags" && reasoning !== undefined)
      whole = `<think>\n${reasoning}\n</think>\n\n${text}`;
    else if (where === "harmony")
      whole = `${reasoning === undefined ? "" : `<|channel|>analysis<|message|>${reasoning}<|end|><|start|>assistant`}${text === "" ? "" : `<|channel|>final<|message|>${text}<|return|>`}`;
    // In pieces of five characters every tag is cut somewhere.
    const cut =
      where === "think_tags" || where === "harmony" ? (whole.match(/[\s\S]{1,5}/g) ?? []) : pieces(whole);
    return cut.map((content) => ({ content }));
  }

  #calls(calls: readonly { name: string; args: JsonObject }[]): JsonObject[] {
    const { calls: form = "fragments", nameTail = "", objectArgs } = this.#style;
    const parts = calls.map(({ name, args }, at) => {
      const text = JSON.stringify(args);
      return { head: this.#head(at), name: name + nameTail, text, cut: pieces(text), args };
    });
    const delta = (head: JsonObject, fn: JsonObject): JsonObject => ({
      content: null,
      tool_calls: [{ ...head, function: fn }],
    });
    const bare = ({ index }: JsonObject): JsonObject => (index === undefined ? {} : { index });
    switch (form) {
      case "whole":
        return parts.map(({ head, name, text, args }) =>
          delta(head, { name, arguments: objectArgs === true ? args : text }),
        );
      case "repeating":
        return parts.flatMap(({ head, name, cut }) =>
          cut.map((piece) => delta(head, { name, arguments: piece })),
        );
      case "emptying":
        return parts.flatMap(({ head, name, cut }) =>
          cut.map((piece, at) =>
            at === 0
              ? delta(head, { name, arguments: piece })
              : delta({ ...head, id: "" }, { name: "", arguments: piece }),
          ),
        );
      case "interleaved": {
        const most = Math.max(...parts.map(({ cut }) => cut.length));
        return [
          ...parts.map(({ head, name }) => delta(head, { name, arguments: "" })),
          ...Array.from({ length: most }, (_, at) =>
            parts.flatMap(({ head, cut }) =>
              cut[at] === undefined ? [] : [delta(bare(head), { arguments: cut[at] })],
            ),
          ).flat(),
        ];
      }
      case "arguments_first":
        return parts.flatMap(({ head, name, text }) => [
          delta(bare(head), { arguments: text }),
          delta(head, { name }),
        ]);
      case "fragments":
        return parts.flatMap(({ head, name, cut }) => [
          delta(head, { name, arguments: "" }),
          ...cut.map((piece) => delta(bare(head), { arguments: piece })),
        ]);
    }
  }

  #head(at: number): JsonObject {
    const { index = "numbered", ids = "own", noType } = this.#style;
    const { number } = this.#answer;
    const id = {
      own: `call_${number}_${at}`,
      none: undefined,
      empty: "",
      same: "call_0",
      mistral9: `Mi${number}x${at}`.padEnd(9, "0"),
    }[ids];
    const place = { numbered: at, none: undefined, all_zero: 0, from_one: at + 1 }[index];
    return {
      ...(place === undefined ? {} : { index: place }),
      ...(id === undefined ? {} : { id }),
      ...(noType === true ? {} : { type: "function" }),
    };
  }
}
