// The room of made frames: events of the protocols, for responses that no case contains.

export function anthropicEvent(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}

export function anthropicStart(): string {
  const usage = { input_tokens: 100, output_tokens: 1 };
  const message = { id: "msg_made", type: "message", role: "assistant", model: "m", content: [], usage };
  return anthropicEvent("message_start", { message: { ...message, stop_reason: null, stop_sequence: null } });
}

export function anthropicEnd(stop_reason: string): string[] {
  return [
    anthropicEvent("message_delta", {
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: 20 },
    }),
    anthropicEvent("message_stop", {}),
  ];
}

export function chatChunk(delta: object, finish_reason: string | null): string {
  const chunk = { id: "chatcmpl-made", object: "chat.completion.chunk", created: 1760000000, model: "m" };
  return `data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
}

export function responsesEvent(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}

export function googleChunk(parts: object[], finishReason?: string): string {
  const end = finishReason === undefined ? {} : { finishReason };
  return `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts }, ...end, index: 0 }] })}\r\n\r\n`;
}
