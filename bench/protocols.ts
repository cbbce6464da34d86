// The room of the protocols: for each, what a server sends, what the shortest client reads, and our model for it.

import type { Model } from "@rondo/core";
import { anthropic, google, type HttpClient, openai, openaiCompatible } from "@rondo/models";

export interface Protocol {
  path: string;
  /** The separator between events: Google's servers end lines with CRLF. */
  blank: string;
  /** What is sent before the first delta, with each delta, and after the last. */
  begin: string;
  delta(text: string, number: number): string;
  finish: string;
  /** The text in one event's JSON, without any checks. */
  textIn(event: never): string | undefined;
  /** A request's body by hand. */
  body(messages: readonly { role: string; content: string }[]): string;
  model(options: { baseURL: string; http?: HttpClient; headers: Record<string, string> }): Model;
}

const event = (data: { type?: string; [member: string]: unknown }, named: boolean = true): string =>
  `${named ? `event: ${data.type}\n` : ""}data: ${JSON.stringify(data)}\n\n`;

const chunk = (delta: object, finish: string | null): string =>
  event(
    {
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1760000000,
      model: "m",
      choices: [{ index: 0, delta, finish_reason: finish }],
    },
    false,
  );

const openaiChat: Protocol = {
  path: "/v1/chat/completions",
  blank: "\n\n",
  begin: "",
  delta: (content) => chunk({ content }, null),
  finish: `${chunk({}, "stop")}data: [DONE]\n\n`,
  textIn: (event: { choices: { delta: { content?: string } }[] }) => event.choices[0]?.delta.content,
  body: (messages) => JSON.stringify({ model: "m", stream: true, messages }),
  model: ({ baseURL, ...rest }) => openaiCompatible({ model: "m", baseURL: `${baseURL}/v1`, ...rest }),
};

const anthropicMessages: Protocol = {
  path: "/v1/messages",
  blank: "\n\n",
  begin:
    event({
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        usage: { input_tokens: 9, output_tokens: 1 },
      },
    }) + event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
  delta: (text) => event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
  finish:
    event({ type: "content_block_stop", index: 0 }) +
    event({
      type: "message_delta",
      delta: { stop_reason: "end_turn" },
      usage: { output_tokens: 9 },
    }) +
    event({ type: "message_stop" }),
  textIn: (event: { type: string; delta?: { text?: string } }) =>
    event.type === "content_block_delta" ? event.delta?.text : undefined,
  body: (messages) => JSON.stringify({ model: "m", max_tokens: 4096, stream: true, messages }),
  model: (rest) => anthropic("m", { apiKey: "bench", ...rest }),
};

const responseItem = (status: string, text: string): object => ({
  id: "msg_1",
  type: "message",
  status,
  role: "assistant",
  content: text === "" ? [] : [{ type: "output_text", text, annotations: [] }],
});

const openaiResponses: Protocol = {
  path: "/v1/responses",
  blank: "\n\n",
  begin:
    event({
      type: "response.created",
      response: { id: "resp_1", status: "in_progress", output: [] },
    }) +
    event({
      type: "response.output_item.added",
      output_index: 0,
      item: responseItem("in_progress", ""),
    }),
  delta: (delta, number) =>
    event({
      type: "response.output_text.delta",
      sequence_number: number,
      item_id: "msg_1",
      output_index: 0,
      content_index: 0,
      delta,
      logprobs: [],
    }),
  // The last events omit the full text, which is allowed, so that nobody parses it a second time.
  finish: event({
    type: "response.completed",
    response: { id: "resp_1", status: "completed", output: [], usage: { input_tokens: 9, output_tokens: 9 } },
  }),
  textIn: (event: { type: string; delta?: string }) =>
    event.type === "response.output_text.delta" ? event.delta : undefined,
  body: (messages) => JSON.stringify({ model: "m", stream: true, store: false, input: messages }),
  model: ({ baseURL, ...rest }) => openai("m", { apiKey: "bench", baseURL: `${baseURL}/v1`, ...rest }),
};

const candidates = (text: string, finishReason?: string): string =>
  `data: ${JSON.stringify({
    candidates: [
      { content: { parts: [{ text }], role: "model" }, ...(finishReason && { finishReason }), index: 0 },
    ],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 9, totalTokenCount: 18 },
    modelVersion: "m",
    responseId: "r1",
  })}\r\n\r\n`;

const googleGenerativeAi: Protocol = {
  path: "/v1beta/models/m:streamGenerateContent?alt=sse",
  blank: "\r\n\r\n",
  begin: "",
  delta: (text) => candidates(text),
  finish: candidates("", "STOP"),
  textIn: (event: { candidates: { content: { parts: { text?: string }[] } }[] }) =>
    event.candidates[0]?.content.parts[0]?.text,
  body: (messages) =>
    JSON.stringify({
      contents: messages.map(({ role, content }) => ({
        role: role === "user" ? "user" : "model",
        parts: [{ text: content }],
      })),
    }),
  model: ({ baseURL, ...rest }) => google("m", { apiKey: "bench", baseURL: `${baseURL}/v1beta`, ...rest }),
};

export const protocols: Readonly<Record<string, Protocol>> = {
  "openai-chat": openaiChat,
  "anthropic-messages": anthropicMessages,
  "openai-responses": openaiResponses,
  "google-generative-ai": googleGenerativeAi,
};
