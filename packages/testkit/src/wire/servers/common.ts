// The room of what vendors' servers have in common: roles, fields that only some know, an error as they say it.

import type { Json } from "@rondo/core";
import type { ServerError } from "./personality.ts";

/** Every role there is. */
export const all: readonly string[] = ["system", "developer", "user", "assistant", "tool"];
export const reasoningFields: readonly string[] = [
  "reasoning_content",
  "reasoning",
  "reasoning_details",
  "thinking_blocks",
];
/** Copilot's own. */
export const copilotFields: readonly string[] = ["reasoning_text", "reasoning_opaque"];

/** An error in OpenAI's shape. */
export function said(
  status: number,
  kind: ServerError["kind"],
  message: string,
  more: { type?: string; code?: string | number } = {},
): ServerError {
  const { type = "invalid_request_error", code = null } = more as { type?: string; code?: Json };
  return {
    status,
    kind,
    says: message.slice(0, 30),
    body: JSON.stringify({ error: { message, type, param: null, code } }),
  };
}
