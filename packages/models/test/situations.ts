// What happens in a stream, in the words of each protocol. No tests in here.

import type { Json, JsonObject } from "@rondo/core";
import type { Codec, Frame } from "../src/codec.ts";
import { anthropicMessages } from "../src/codecs/anthropic-messages.ts";
import { bedrockConverse } from "../src/codecs/bedrock-converse.ts";
import { googleGenerativeAi } from "../src/codecs/google-generative-ai.ts";
import { ollamaChat } from "../src/codecs/ollama-chat.ts";
import { openaiChat } from "../src/codecs/openai-chat.ts";
import { openaiResponses } from "../src/codecs/openai-responses.ts";

export type Name = "anthropic" | "chat" | "responses" | "google" | "bedrock" | "ollama";
type StopWord = "end" | "tool" | "max" | "filter" | "overflow" | "odd";
/** A call as a provider tells it; `open`: its block is not closed. */
export interface Told {
  id?: string;
  name?: string;
  args: string;
  open?: boolean;
}
/** What happens in a stream, whatever the protocol. `line`: a frame as it is. */
export type Step =
  | { text: string }
  | { thought: string }
  | { call: Told }
  | { stop: StopWord }
  | { usage: [input: number, output: number] }
  | { error: string }
  | { line: string }
  | "news"
  | "hologram"
  | "end";

export interface Protocol {
  codec: Codec;
  model: string;
  words: { readonly [word in StopWord]: string };
  /** The frames of a step; `at`: how many blocks came before it. */
  frames(step: Step, at: number): (Omit<Frame, "data"> & { data: JsonObject | string })[];
}

const frame = (event: string | undefined, data: JsonObject | string) => ({ event, data });
const typed = (...events: JsonObject[]) => events.map((event) => frame(String(event.type), event));
const plain = (data: JsonObject | string) => [frame(undefined, data)];
const parsed = (text: string): Json => {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
};
const overflow = "model_context_window_exceeded";

const anthropicBlock = (at: number, block: JsonObject, deltas: JsonObject[], open = false) =>
  typed(
    { type: "content_block_start", index: at, content_block: block },
    ...deltas.map((delta): JsonObject => ({ type: "content_block_delta", index: at, delta })),
    ...(open ? [] : [{ type: "content_block_stop", index: at }]),
  );

const anthropic: Protocol = {
  codec: anthropicMessages,
  model: "claude-sonnet-5",
  words: { end: "end_turn", tool: "tool_use", max: "max_tokens", filter: "sensitive", overflow, odd: "odd" },
  frames(step, at) {
    if (step === "news") return typed({ type: "weather_report", sunny: true });
    if (step === "hologram") return anthropicBlock(at, { type: "hologram", x: 1 }, []);
    if (step === "end") return typed({ type: "message_stop" });
    if ("text" in step)
      return anthropicBlock(at, { type: "text", text: "" }, [{ type: "text_delta", text: step.text }]);
    if ("thought" in step)
      return anthropicBlock(at, { type: "thinking", thinking: "" }, [
        { type: "thinking_delta", thinking: step.thought },
      ]);
    if ("call" in step) {
      const { args, open = false, ...told } = step.call;
      const block = { type: "tool_use", input: {}, ...told };
      return anthropicBlock(at, block, [{ type: "input_json_delta", partial_json: args }], open);
    }
    if ("stop" in step)
      return typed({ type: "message_delta", delta: { stop_reason: this.words[step.stop] }, usage: {} });
    if ("usage" in step) {
      const [input_tokens, output_tokens] = step.usage;
      return typed({ type: "message_delta", delta: {}, usage: { input_tokens, output_tokens } });
    }
    if ("error" in step)
      return typed({ type: "error", error: { type: "overloaded_error", message: step.error } });
    return plain(step.line);
  },
};

const chunk = (delta: JsonObject, more: JsonObject = {}) =>
  plain({ id: "c", choices: [{ index: 0, delta, finish_reason: null, ...more }] });

const chat: Protocol = {
  codec: openaiChat,
  model: "m",
  words: { end: "stop", tool: "tool_calls", max: "length", filter: "content_filter", overflow, odd: "odd" },
  frames(step, at) {
    if (step === "news") return plain({ sunny: true });
    if (step === "hologram") return chunk({ content: [{ type: "hologram", x: 1 }] });
    if (step === "end") return plain("[DONE]");
    if ("text" in step) return chunk({ content: step.text });
    if ("thought" in step) return chunk({ reasoning_content: step.thought });
    if ("call" in step) {
      const { id, name, args } = step.call;
      return [
        ...chunk({ tool_calls: [{ index: at, id: id ?? null, function: { name: name ?? null } }] }),
        ...chunk({ tool_calls: [{ index: at, function: { arguments: args } }] }),
      ];
    }
    if ("stop" in step) return chunk({}, { finish_reason: this.words[step.stop] });
    if ("usage" in step) {
      const [prompt_tokens, completion_tokens] = step.usage;
      return plain({ choices: [], usage: { prompt_tokens, completion_tokens } });
    }
    if ("error" in step) return plain({ error: { code: "overloaded", message: step.error } });
    return plain(step.line);
  },
};

const item = (at: number, given: JsonObject, events: JsonObject[], open = false) =>
  typed(
    { type: "response.output_item.added", output_index: at, item: { ...given, status: "in_progress" } },
    ...events.map((event): JsonObject => ({ output_index: at, item_id: given.id ?? null, ...event })),
    ...(open ? [] : [{ type: "response.output_item.done", output_index: at, item: given }]),
  );

const responses: Protocol = {
  codec: openaiResponses,
  model: "m",
  words: {
    end: "completed",
    tool: "completed",
    max: "max_output_tokens",
    filter: "content_filter",
    overflow,
    odd: "odd",
  },
  frames(step, at) {
    if (step === "news") return typed({ type: "response.weather_report", sunny: true });
    if (step === "hologram") return item(at, { type: "hologram", id: "h", x: 1 }, []);
    if (step === "end" || (typeof step === "object" && "usage" in step)) return [];
    if ("text" in step) {
      const given = { type: "message", id: `msg_${at}`, role: "assistant", content: [] };
      return item(at, given, [{ type: "response.output_text.delta", content_index: 0, delta: step.text }]);
    }
    if ("thought" in step)
      return item(at, { type: "reasoning", id: `rs_${at}`, summary: [] }, [
        { type: "response.reasoning_summary_text.delta", summary_index: 0, delta: step.thought },
      ]);
    if ("call" in step) {
      const { id, name, args, open = false } = step.call;
      const given = { type: "function_call", id: `fc_${at}`, call_id: id ?? null, name: name ?? null };
      const told = [{ type: "response.function_call_arguments.delta", delta: args }];
      return item(at, { ...given, arguments: args }, told, open).map(({ event, data }) => {
        const isStart = typeof data === "object" && data.type === "response.output_item.added";
        return frame(event, isStart ? { ...data, item: { ...given, arguments: "" } } : data);
      });
    }
    if ("stop" in step) {
      const word = this.words[step.stop];
      const status = word === "completed" ? word : "incomplete";
      const incomplete_details = word === "completed" ? null : { reason: word };
      return typed({ type: `response.${status}`, response: { status, incomplete_details, output: [] } });
    }
    if ("error" in step) return typed({ type: "error", code: "overloaded", message: step.error });
    return plain(step.line);
  },
};

const candidate = (parts: JsonObject[], more: JsonObject = {}) =>
  plain({ candidates: [{ index: 0, content: { role: "model", parts }, ...more }] });

const google: Protocol = {
  codec: googleGenerativeAi,
  model: "gemini-3-pro",
  words: { end: "STOP", tool: "STOP", max: "MAX_TOKENS", filter: "SAFETY", overflow, odd: "ODD" },
  frames(step) {
    if (step === "news") return plain({ weatherReport: true });
    if (step === "hologram") return candidate([{ hologram: { x: 1 } }]);
    if (step === "end") return [];
    if ("text" in step) return candidate([{ text: step.text }]);
    if ("thought" in step) return candidate([{ text: step.thought, thought: true }]);
    if ("call" in step) {
      const { args, open, ...told } = step.call;
      const pieces = { partialArgs: [{ jsonPath: "$.a", numberValue: 1 }], willContinue: true };
      return candidate([{ functionCall: { ...told, ...(open ? pieces : { args: parsed(args) }) } }]);
    }
    if ("stop" in step) return candidate([], { finishReason: this.words[step.stop] });
    if ("usage" in step) {
      const [promptTokenCount, candidatesTokenCount] = step.usage;
      return plain({ usageMetadata: { promptTokenCount, candidatesTokenCount } });
    }
    if ("error" in step) return plain({ error: { code: 503, status: "UNAVAILABLE", message: step.error } });
    return plain(step.line);
  },
};

const block = (at: number, delta: JsonObject, open = false) => [
  frame("contentBlockDelta", { contentBlockIndex: at, delta }),
  ...(open ? [] : [frame("contentBlockStop", { contentBlockIndex: at })]),
];
const start = (at: number, told: JsonObject) =>
  frame("contentBlockStart", { contentBlockIndex: at, start: told });

const bedrock: Protocol = {
  codec: bedrockConverse,
  model: "anthropic.claude-sonnet-5-v1:0",
  words: {
    end: "end_turn",
    tool: "tool_use",
    max: "max_tokens",
    filter: "content_filtered",
    overflow,
    odd: "odd",
  },
  frames(step, at) {
    if (step === "news") return [frame("weatherReport", { sunny: true })];
    if (step === "hologram")
      return [start(at, { hologram: { x: 1 } }), frame("contentBlockStop", { contentBlockIndex: at })];
    if (step === "end") return [frame("metadata", { usage: {} })];
    if ("text" in step) return block(at, { text: step.text });
    if ("thought" in step) return block(at, { reasoningContent: { text: step.thought } });
    if ("call" in step) {
      const { id, name, args, open } = step.call;
      const told = { toolUseId: id ?? null, name: name ?? null };
      return [start(at, { toolUse: told }), ...block(at, { toolUse: { input: args } }, open)];
    }
    if ("stop" in step) return [frame("messageStop", { stopReason: this.words[step.stop] })];
    if ("usage" in step) {
      const [inputTokens, outputTokens] = step.usage;
      return [frame("metadata", { usage: { inputTokens, outputTokens } })];
    }
    if ("error" in step)
      return [{ ...frame("modelNotReadyException", { message: step.error }), exception: true }];
    return [frame("contentBlockDelta", step.line)];
  },
};

const line = (message: JsonObject, more: JsonObject = {}) =>
  plain({ model: "m", message: { role: "assistant", content: "", ...message }, done: false, ...more });

const ollama: Protocol = {
  codec: ollamaChat,
  model: "m",
  words: { end: "stop", tool: "stop", max: "length", filter: "content_filter", overflow, odd: "odd" },
  frames(step) {
    if (step === "news") return plain({ weather: true });
    if (step === "hologram") return line({ hologram: { x: 1 } });
    if (step === "end") return [];
    if ("text" in step) return line({ content: step.text });
    if ("thought" in step) return line({ thinking: step.thought });
    if ("call" in step) {
      const { id, name, args } = step.call;
      const told = { function: { name: name ?? null, arguments: parsed(args) } };
      return line({ tool_calls: [{ ...(id === undefined ? {} : { id }), ...told }] });
    }
    if ("stop" in step) return line({}, { done: true, done_reason: this.words[step.stop] });
    if ("usage" in step) {
      const [prompt_eval_count, eval_count] = step.usage;
      return line({}, { prompt_eval_count, eval_count });
    }
    if ("error" in step) return plain({ error: step.error });
    return plain(step.line);
  },
};

export const protocols: { readonly [name in Name]: Protocol } = {
  anthropic,
  chat,
  responses,
  google,
  bedrock,
  ollama,
};
export const names: readonly Name[] = Object.keys(protocols) as Name[];
