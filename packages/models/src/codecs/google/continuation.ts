// The room of answers that are longer than one request may make them: Google ends such an answer with a token, and continues
// it if the same request comes again with that token.
//
// The token is kept as a part of its answer, so that it is found wherever the history is read. What the answer says so far
// is not sent back: the server knows it. Once somebody else has spoken, it is a message like any other.

import { type AssistantMessage, callsOf, isSameOrigin, type MessageList } from "@rondo/core";
import type { Target } from "../../codec.ts";
import { textIn } from "../../json-values.ts";

const kind = "continuation";

/** An answer that the server can continue. One with calls is only cut off: it is unknown whether the last of them is whole. */
export function paused(message: AssistantMessage, token: string): AssistantMessage {
  if (message.stop.raw?.toUpperCase() !== "CONTINUATION" || token === "" || callsOf(message).length > 0)
    return message;
  return {
    ...message,
    content: [...message.content, { type: "native", kind, opaque: { continuationToken: token } }],
    stop: { ...message.stop, kind: "pause", wire: "pause" },
  };
}

/** How many of the messages a request has, and the token with which the server continues what it said behind them. */
export function continued(
  messages: MessageList,
  target: Target,
): { length: number; token: string | undefined } {
  let { length } = messages;
  let token: string | undefined;
  for (let last = messages.at(length - 1); length > 0; last = messages.at(--length - 1)) {
    const found = last?.role === "assistant" ? tokenOf(last, target) : undefined;
    if (found === undefined) break;
    token ??= found;
  }
  return { length, token };
}

function tokenOf({ origin, stop, content }: AssistantMessage, target: Target): string | undefined {
  if (stop.kind !== "pause" || !isSameOrigin(origin, target.origin)) return undefined;
  const part = content.find((one) => one.type === "native" && one.kind === kind);
  return part?.type === "native" ? textIn(part.opaque.continuationToken) : undefined;
}
