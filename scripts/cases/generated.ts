// The room of generated bodies: long answers that are not worth storing.
//
// `PROTOCOL_text_repeat` and `PROTOCOL_reasoning_repeat` repeat `unit`, `count` times or up to `total_bytes`;
// `PROTOCOL_tool_args` is one call of `f` whose argument `field` fills `total_bytes`, in deltas of `delta_bytes`.

import { type Data, demandKnown, Unsupported } from "./format.ts";
import {
  anthropicEnd,
  anthropicEvent,
  anthropicStart,
  chatChunk,
  googleChunk,
  responsesEvent,
} from "./made-frames.ts";

/** How a protocol encodes an answer of one kind. */
interface Voice {
  /** @param stop its stop word; default: the normal one */
  say(pieces: readonly string[], stop: string | undefined): string;
}

type Kind = "text" | "reasoning" | "args";

export function generated(given: Data): string {
  demandKnown(
    "wire.generated",
    given,
    "kind unit count total_bytes delta_bytes field stop_reason finish_reason finish",
  );
  const { kind, stop_reason, finish, finish_reason = stop_reason ?? finish } = given;
  const read = /^(\w+?)_(text_repeat|reasoning_repeat|thinking_repeat|tool_args)$/.exec(String(kind));
  const [, protocol = "", what] = read ?? [];
  const voices = Object.hasOwn(protocols, protocol) ? protocols[protocol] : undefined;
  if (voices === undefined) throw new Unsupported(`unknown wire.generated.kind ${JSON.stringify(kind)}`);
  const said = finish_reason === undefined ? undefined : String(finish_reason);
  const stop = said !== undefined && cutWords.test(said) ? cutWord(protocol) : said;
  if (what === "tool_args") return voices.args.say(argumentsOf(given), stop);
  return (what === "text_repeat" ? voices.text : voices.reasoning).say(repeats(given), stop);
}

/** Any protocol's word for "output limit reached" is translated to that protocol's own. */
const cutWords = /^(?:length|max_(?:output_)?tokens)$/i;

function cutWord(protocol: string): string {
  if (protocol === "anthropic") return "max_tokens";
  if (protocol === "gemini" || protocol === "google") return "MAX_TOKENS";
  return protocol.endsWith("responses") ? "incomplete" : "length";
}

function repeats({ unit, count, total_bytes }: Data): string[] {
  if (typeof unit !== "string" || unit === "") throw new Unsupported("wire.generated needs a unit");
  const times = typeof count === "number" ? count : Math.ceil(Number(total_bytes) / Buffer.byteLength(unit));
  if (!Number.isInteger(times)) throw new Unsupported("wire.generated needs a count, or total_bytes");
  return Array.from({ length: times }, () => unit);
}

function argumentsOf({ total_bytes, delta_bytes = 8, field = "content" }: Data): string[] {
  const head = `{"${String(field)}":"`;
  const size = Number(total_bytes);
  const step = Number(delta_bytes);
  if (!Number.isInteger(size) || !(step > 0)) throw new Unsupported("wire.generated needs total_bytes");
  const json = `${head}${"x".repeat(Math.max(0, size - head.length - 2))}"}`;
  const pieces: string[] = [];
  for (let at = 0; at < json.length; at += step) pieces.push(json.slice(at, at + step));
  return pieces;
}

// ---- the protocols -----------------------------------------------------------------------------------------------

function anthropicBlock(block: object, delta: (piece: string) => object, plainStop: string): Voice {
  return {
    say: (pieces, stop = plainStop) =>
      [
        anthropicStart(),
        anthropicEvent("content_block_start", { index: 0, content_block: block }),
        ...pieces.map((piece) => anthropicEvent("content_block_delta", { index: 0, delta: delta(piece) })),
        anthropicEvent("content_block_stop", { index: 0 }),
        ...anthropicEnd(stop),
      ].join(""),
  };
}

function chat(first: object, delta: (piece: string) => object, plainStop: string): Voice {
  return {
    say: (pieces, stop = plainStop) =>
      [
        chatChunk({ role: "assistant", ...first }, null),
        ...pieces.map((piece) => chatChunk(delta(piece), null)),
        chatChunk({}, stop),
        "data: [DONE]\n\n",
      ].join(""),
  };
}

function responses(item: object, delta: string, whole: (text: string) => object): Voice {
  return {
    say: (pieces, stop = "completed") =>
      [
        responsesEvent("response.output_item.added", { output_index: 0, item }),
        ...pieces.map((piece) =>
          responsesEvent(delta, {
            output_index: 0,
            content_index: 0,
            summary_index: 0,
            item_id: "it_1",
            delta: piece,
          }),
        ),
        responsesEvent("response.output_item.done", {
          output_index: 0,
          item: { ...item, status: "completed", ...whole(pieces.join("")) },
        }),
        responsesEvent(`response.${stop}`, { response: { status: stop, output: [] } }),
      ].join(""),
  };
}

const google = (part: (piece: string) => object): Voice => ({
  say: (pieces, stop = "STOP") =>
    [...pieces.map((piece) => googleChunk([part(piece)])), googleChunk([], stop)].join(""),
});

const chatArgs = (piece: string): object => ({ tool_calls: [{ index: 0, function: { arguments: piece } }] });

const chatVoices: { readonly [kind in Kind]: Voice } = {
  text: chat({ content: "" }, (content) => ({ content }), "stop"),
  reasoning: chat({ content: "" }, (reasoning_content) => ({ reasoning_content }), "stop"),
  args: chat(
    { tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "f", arguments: "" } }] },
    chatArgs,
    "tool_calls",
  ),
};

const responsesVoices: { readonly [kind in Kind]: Voice } = {
  text: responses(
    { type: "message", id: "it_1", role: "assistant", content: [] },
    "response.output_text.delta",
    (text) => ({
      content: [{ type: "output_text", text, annotations: [] }],
    }),
  ),
  reasoning: responses(
    { type: "reasoning", id: "it_1", summary: [] },
    "response.reasoning_summary_text.delta",
    (text) => ({
      summary: [{ type: "summary_text", text }],
    }),
  ),
  args: responses(
    { type: "function_call", id: "it_1", call_id: "call_1", name: "f", arguments: "" },
    "response.function_call_arguments.delta",
    (args) => ({ arguments: args }),
  ),
};

const googleVoices: { readonly [kind in Kind]: Voice } = {
  text: google((text) => ({ text })),
  reasoning: google((text) => ({ text, thought: true })),
  args: {
    say: (pieces, stop = "STOP") =>
      googleChunk([{ functionCall: { name: "f", args: JSON.parse(pieces.join("")) as object } }], stop),
  },
};

const protocols: { readonly [name: string]: { readonly [kind in Kind]: Voice } } = {
  anthropic: {
    text: anthropicBlock({ type: "text", text: "" }, (text) => ({ type: "text_delta", text }), "end_turn"),
    reasoning: anthropicBlock(
      { type: "thinking", thinking: "", signature: "" },
      (thinking) => ({ type: "thinking_delta", thinking }),
      "end_turn",
    ),
    args: anthropicBlock(
      { type: "tool_use", id: "toolu_1", name: "f", input: {} },
      (partial_json) => ({ type: "input_json_delta", partial_json }),
      "tool_use",
    ),
  },
  openai: chatVoices,
  openai_chat: chatVoices,
  chat: chatVoices,
  openai_responses: responsesVoices,
  responses: responsesVoices,
  gemini: googleVoices,
  google: googleVoices,
};
