// The room of Responses' form: a reply as events of output items, and as one response.

import type { JsonObject, StopKind } from "@rondo/core";
import {
  callId,
  counts,
  frame,
  type Rendered,
  type Reply,
  type ReplyBlock,
  signature,
  stopWord,
  type WireFrame,
} from "./reply.ts";

const words: { readonly [K in StopKind]?: string } = {
  end_turn: "completed",
  tool_use: "completed",
  stop_sequence: "completed",
  refusal: "completed",
  max_tokens: "max_output_tokens",
  content_filter: "content_filter",
};

/** Statuses a response may have by itself; any other word is the reason of an incomplete one. */
const statuses: ReadonlySet<string> = new Set(["completed", "cancelled", "failed", "incomplete"]);

export function renderOpenaiResponses(reply: Reply): Rendered {
  const word = stopWord(reply, words, "openai-responses");
  const status = statuses.has(word) ? word : "incomplete";
  let sequence = 0;
  const event = (type: string, told: JsonObject): WireFrame =>
    frame(type, { type, sequence_number: sequence++, ...told });
  const base: JsonObject = {
    id: `resp_${reply.number}`,
    object: "response",
    created_at: 1_700_000_000 + reply.number,
    model: reply.model,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    store: false,
  };
  const started: JsonObject = { ...base, status: "in_progress", output: [], usage: null };
  const cut = status === "incomplete";
  const items = reply.blocks.map((block, index) =>
    item(block, index, reply, cut && index === reply.blocks.length - 1),
  );
  const head = [
    event("response.created", { response: started }),
    event("response.in_progress", { response: started }),
  ];
  const blocks = reply.blocks.map((block, index) => itemFrames(block, index, items[index] ?? {}, event));
  const whole: JsonObject = {
    ...base,
    status,
    output: items,
    usage: usage(reply),
    ...(cut ? { incomplete_details: word === "incomplete" ? null : { reason: word } } : {}),
  };
  const last = `response.${status === "incomplete" || status === "failed" ? status : "completed"}`;
  return { head, blocks, tail: [event(last, { response: whole })], whole };
}

function usage(reply: Reply): JsonObject {
  const told = counts(reply.usage);
  return {
    input_tokens: told.inputTokens,
    input_tokens_details: { cached_tokens: told.cachedInputTokens },
    output_tokens: told.outputTokens,
    output_tokens_details: { reasoning_tokens: told.reasoningTokens },
    total_tokens: told.inputTokens + told.outputTokens,
  };
}

function item(block: ReplyBlock, index: number, reply: Reply, cut: boolean): JsonObject {
  const status = cut ? "incomplete" : "completed";
  const place = `${reply.number}_${index}`;
  switch (block.type) {
    case "text":
      return message(place, status, { type: "output_text", text: block.text, annotations: [], logprobs: [] });
    case "refusal":
      return message(place, status, { type: "refusal", refusal: block.text });
    case "reasoning":
      return {
        id: `rs_${place}`,
        type: "reasoning",
        summary: block.text === "" ? [] : [{ type: "summary_text", text: block.text }],
        encrypted_content: signature(reply, index, block.opaque, "encrypted_content"),
      };
    case "call":
      return {
        id: `fc_${place}`,
        type: "function_call",
        status,
        call_id: callId(reply, index, "call_"),
        name: block.name,
        arguments: block.rawArgs,
      };
    case "native":
      return block.opaque;
  }
}

function message(place: string, status: string, part: JsonObject): JsonObject {
  return { id: `msg_${place}`, type: "message", status, role: "assistant", content: [part] };
}

type Event = (type: string, told: JsonObject) => WireFrame;

/** One block as events. They are numbered as they are made. */
function itemFrames(block: ReplyBlock, index: number, whole: JsonObject, event: Event): WireFrame[] {
  const at = { item_id: String(whole.id), output_index: index };
  const running = { ...whole, status: "in_progress" };
  const between = (shell: JsonObject, inside: () => WireFrame[]): WireFrame[] => [
    event("response.output_item.added", { output_index: index, item: shell }),
    ...inside(),
    event("response.output_item.done", { output_index: index, item: whole }),
  ];
  switch (block.type) {
    case "text":
    case "refusal":
      return between({ ...running, content: [] }, () => partFrames(block, at, event));
    case "reasoning":
      return between({ ...whole, summary: [] }, () => summaryFrames(block, at, event));
    case "call":
      return between({ ...running, arguments: "" }, () => [
        ...block.pieces.map((delta) => event("response.function_call_arguments.delta", { ...at, delta })),
        event("response.function_call_arguments.done", {
          ...at,
          name: block.name,
          arguments: block.rawArgs,
        }),
      ]);
    case "native":
      return between(running, () => []);
  }
}

/** The one part of a message. */
function partFrames(
  block: Extract<ReplyBlock, { type: "text" | "refusal" }>,
  at: JsonObject,
  event: Event,
): WireFrame[] {
  const isText = block.type === "text";
  const kind = isText ? "output_text" : "refusal";
  const member = block.type;
  const logprobs: JsonObject = isText ? { logprobs: [] } : {};
  const place = { ...at, content_index: 0 };
  const part = (text: string): JsonObject => ({
    type: kind,
    [member]: text,
    ...(isText ? { annotations: [] } : {}),
  });
  return [
    event("response.content_part.added", { ...place, part: part("") }),
    ...block.pieces.map((delta) => event(`response.${kind}.delta`, { ...place, delta, ...logprobs })),
    event(`response.${kind}.done`, { ...place, [member]: block.text, ...logprobs }),
    event("response.content_part.done", { ...place, part: part(block.text) }),
  ];
}

/** What is told of what was thought; nothing where nothing is. */
function summaryFrames(
  block: Extract<ReplyBlock, { type: "reasoning" }>,
  at: JsonObject,
  event: Event,
): WireFrame[] {
  if (block.text === "") return [];
  const place = { ...at, summary_index: 0 };
  const part = (text: string): JsonObject => ({ type: "summary_text", text });
  return [
    event("response.reasoning_summary_part.added", { ...place, part: part("") }),
    ...block.pieces.map((delta) => event("response.reasoning_summary_text.delta", { ...place, delta })),
    event("response.reasoning_summary_text.done", { ...place, text: block.text }),
    event("response.reasoning_summary_part.done", { ...place, part: part(block.text) }),
  ];
}
