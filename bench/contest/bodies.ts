// The room of the bodies: a turn as the bytes of each protocol, split into the server's writes.

import type { Turn } from "./plan.ts";

/** Protocols of the contest. The Anthropic SDK speaks only its own. */
export type WireProtocol = "openai-chat" | "anthropic-messages";

const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };

function openaiChat({ texts, call }: Turn, number: number): string[] {
  const chunk = (delta: object, finish: string | null): string =>
    `data: ${JSON.stringify({
      id: `chatcmpl-${number}`,
      object: "chat.completion.chunk",
      created: 1760000000,
      model: "bench",
      choices: [{ index: 0, delta, finish_reason: finish }],
    })}\n\n`;
  const calling = (rest: object): string => chunk({ tool_calls: [{ index: 0, ...rest }] }, null);
  return [
    chunk({ role: "assistant", content: "" }, null),
    ...texts.map((content) => chunk({ content }, null)),
    ...(call === undefined
      ? []
      : [
          calling({ id: call.id, type: "function", function: { name: call.name, arguments: "" } }),
          ...call.args.map((piece) => calling({ function: { arguments: piece } })),
        ]),
    chunk({}, call === undefined ? "stop" : "tool_calls"),
    `data: ${JSON.stringify({
      id: `chatcmpl-${number}`,
      object: "chat.completion.chunk",
      created: 1760000000,
      model: "bench",
      choices: [],
      usage,
    })}\n\n`,
    "data: [DONE]\n\n",
  ];
}

function anthropicMessages({ texts, call }: Turn, number: number): string[] {
  const event = (data: { type: string; [member: string]: unknown }): string =>
    `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
  const block = (index: number, content_block: object, deltas: object[]): string[] => [
    event({ type: "content_block_start", index, content_block }),
    ...deltas.map((delta) => event({ type: "content_block_delta", index, delta })),
    event({ type: "content_block_stop", index }),
  ];
  return [
    event({
      type: "message_start",
      message: {
        id: `msg_${number}`,
        type: "message",
        role: "assistant",
        model: "bench",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 100, output_tokens: 1 },
      },
    }),
    ...block(
      0,
      { type: "text", text: "" },
      texts.map((text) => ({ type: "text_delta", text })),
    ),
    ...(call === undefined
      ? []
      : block(
          1,
          { type: "tool_use", id: call.id, name: call.name, input: {} },
          call.args.map((partial_json) => ({ type: "input_json_delta", partial_json })),
        )),
    event({
      type: "message_delta",
      delta: { stop_reason: call === undefined ? "end_turn" : "tool_use", stop_sequence: null },
      usage: { output_tokens: 20 },
    }),
    event({ type: "message_stop" }),
  ];
}

/** The writes of the `number`th answer. Each answer has its own id, by which some clients tell messages apart. */
export function writesOf(protocol: WireProtocol, turn: Turn, number: number, perWrite: number): Buffer[] {
  const frames = protocol === "openai-chat" ? openaiChat(turn, number) : anthropicMessages(turn, number);
  const writes: Buffer[] = [];
  for (let at = 0; at < frames.length; at += perWrite)
    writes.push(Buffer.from(frames.slice(at, at + perWrite).join("")));
  return writes;
}
