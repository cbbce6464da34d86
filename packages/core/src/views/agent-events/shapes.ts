// The room of the agent events' shapes: the exact names of the managed-context view's events, in this order.
//
// Members are snake_case because they leave the process: clients read them as they are. An optional member is left out if it
// has no value.

import type { ContentPart, Json } from "../../message.ts";

/** One event of an agent. `timestamp`s are milliseconds since 1970. */
export type AgentEvent =
  /** A text of an answer that is not the last one. */
  | { type: "text"; content: string; timestamp: number }
  | { type: "reasoning"; content: string; timestamp: number }
  /** `step_number` counts the calls of one answer, from 1. */
  | { type: "step_start"; step_id: string; title: string; step_number: number }
  /** `args` is `{ _raw }` if the model wrote no JSON; `raw_args` is always the text that the model wrote. */
  | {
      type: "tool_call";
      tool: string;
      args: Json;
      raw_args: string;
      tool_call_id: string;
      display_name?: string;
    }
  /** `result` is what the model reads, as one text. */
  | {
      type: "tool_result";
      tool: string;
      result: string;
      tool_call_id: string;
      is_error?: true;
      screenshot_base64?: string;
    }
  /** `duration_ms` is a whole number, 0 for a call that got its result without running. */
  | { type: "step_complete"; step_id: string; status: "completed" | "error"; duration_ms: number }
  | { type: "compaction_start"; timestamp: number }
  | { type: "compaction_complete"; timestamp: number; compacted: boolean }
  /** The loop asked for more, in the user's place. */
  | { type: "hidden_user_message"; content: string }
  /** The model call failed and is repeated after `delay_ms`. */
  | {
      type: "llm.retry";
      provider: string;
      failure_kind: string;
      next_attempt: number;
      max_attempts: number;
      delay_ms: number;
      delay_source: "provider" | "backoff";
      status?: number;
    }
  /** The run's text. It is the last event; there is none if the run was aborted or failed. */
  | { type: "final"; content: string };

/** Parts as one text, without a separator: `[image]`, `[document]`, and `[other:…]` for other files. */
export function displayText(parts: readonly ContentPart[]): string {
  return parts.map(shown).join("");
}

function shown(part: ContentPart): string {
  if (part.type === "text") return part.text;
  if (part.mediaType.startsWith("image/")) return "[image]";
  return /^(application|text)\//.test(part.mediaType) ? "[document]" : `[other:${part.mediaType}]`;
}

/** The first image of a result, as base64. */
export function screenshotOf(parts: readonly ContentPart[]): string | undefined {
  for (const part of parts) {
    if (part.type !== "file" || !part.mediaType.startsWith("image/")) continue;
    if (typeof part.data === "string") return part.data;
    const inUrl = /^data:[^,]*;base64,(.*)$/s.exec(part.url ?? "")?.[1];
    if (inUrl !== undefined) return inUrl;
  }
  return undefined;
}
