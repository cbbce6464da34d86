// The room of what is shown already: a message of a page, as the chunks that make it again.

import type { UiChunk, UiPart } from "./shapes.ts";

/** The chunks that make these parts of a message. */
export const chunksOf = (parts: readonly UiPart[]): UiChunk[] =>
  parts.flatMap((part, at) => chunksOfPart(part, `shown ${at}`));

/** @param id of a text, for its chunks: unlike any in an answer that is arriving */
function chunksOfPart(part: UiPart, id: string): UiChunk[] {
  switch (part.type) {
    case "text":
    case "reasoning":
      return [
        { type: `${part.type}-start`, id },
        { type: `${part.type}-delta`, id, delta: part.text },
        { type: `${part.type}-end`, id },
      ];
    case "step-start":
      return [{ type: "start-step" }];
    case "file":
      return [{ type: "file", mediaType: part.mediaType, url: part.url }];
    case "data-question":
      return [part];
    default:
      return [...chunksOfInput(part), ...chunksOfState(part)];
  }
}

type UiCall = Extract<UiPart, { toolCallId: string }>;

/** A page takes a whole input for a call that it is to run (`onToolCall`): one that is over has its input in a delta. */
function chunksOfInput({ type, toolCallId, input, state }: UiCall): UiChunk[] {
  const toolName = type.slice("tool-".length);
  if (state === "input-available") return [{ type: "tool-input-available", toolCallId, toolName, input }];
  return [
    { type: "tool-input-start", toolCallId, toolName },
    { type: "tool-input-delta", toolCallId, inputTextDelta: JSON.stringify(input) },
  ];
}

function chunksOfState(call: UiCall): UiChunk[] {
  const { toolCallId } = call;
  switch (call.state) {
    case "input-available":
      return [];
    case "approval-requested":
      return [{ type: "tool-approval-request", approvalId: call.approval.id, toolCallId }];
    case "output-available":
      return [{ type: "tool-output-available", toolCallId, output: call.output }];
    case "output-error":
      return [{ type: "tool-output-error", toolCallId, errorText: call.errorText }];
  }
}
