// The room of finish reasons: what each means in the two OpenAI protocols, and in the servers that speak them.
//
// A word that is not here is `unknown`, unless it says itself that it is an error, a limit or a filter. What the run does next
// is decided elsewhere, from the content together with the finish reason.

import type { StopKind } from "@rondo/core";

/** `finish_reason` of Chat Completions and compatible servers. */
export const openaiChatStops: { readonly [word: string]: StopKind } = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  function_call: "tool_use",
  content_filter: "content_filter",
  // Words of other servers (F012, F013).
  eos: "end_turn",
  end: "end_turn",
  end_turn: "end_turn",
  eos_token: "end_turn",
  complete: "end_turn",
  completed: "end_turn",
  stop_sequence: "stop_sequence",
  tool_use: "tool_use",
  tool_call: "tool_use",
  max_tokens: "max_tokens",
  model_length: "max_tokens",
  truncated: "max_tokens",
  // A status of Responses, from gateways that translate it.
  incomplete: "max_tokens",
  // The engine stopped text that repeated itself: cut off, as at the limit.
  repetition: "max_tokens",
  sensitive: "content_filter",
  refusal: "refusal",
  model_context_window_exceeded: "context_overflow",
  network_error: "error",
  error: "error",
  error_finish: "error",
  abort: "error",
  aborted: "error",
  cancelled: "error",
  timeout: "error",
  insufficient_system_resource: "error",
  // Vendors' own words, passed through by routers.
  max_output_tokens: "max_tokens",
  safety: "content_filter",
  recitation: "content_filter",
  blocklist: "content_filter",
  prohibited_content: "content_filter",
  spii: "content_filter",
  language: "content_filter",
  model_armor: "content_filter",
  jailbreak: "content_filter",
  image_safety: "content_filter",
  image_prohibited_content: "content_filter",
  image_recitation: "content_filter",
  escalation: "content_filter",
  pup_limited_disabled: "content_filter",
  content_filtered: "content_filter",
  error_toxic: "content_filter",
  guardrail_intervened: "content_filter",
};

/** `status` of a response, or the reason of its `incomplete_details`. */
export const openaiResponsesStops: { readonly [word: string]: StopKind } = {
  completed: "end_turn",
  max_output_tokens: "max_tokens",
  max_tokens: "max_tokens",
  content_filter: "content_filter",
  // Incomplete without a reason: as a truncated answer none of its calls runs.
  incomplete: "max_tokens",
  failed: "error",
  cancelled: "error",
};

/**
 * What a finish reason means, however it is spelled: routers send `MAX_TOKENS`, `maxTokens` and `content-filter`, and Google's
 * own `content_filter: PROHIBITED_CONTENT`. Own members only: a word like `constructor` is unknown.
 */
export function stopOf(stops: { readonly [word: string]: StopKind }, word: string): StopKind {
  const folded = word
    .replace(/(?<=[a-z])(?=[A-Z])/g, "_")
    .toLowerCase()
    .replaceAll("-", "_")
    .replace(/:.*/s, "");
  for (const one of [word, folded]) if (Object.hasOwn(stops, one)) return stops[one] ?? "unknown";
  return telling.find(([words]) => words.test(folded))?.[1] ?? "unknown";
}

/**
 * The meaning of an unlisted stop word, from the words in it. If it were taken for unknown, what came before would be a
 * complete answer, and its calls would run.
 */
const telling: readonly (readonly [words: RegExp, kind: StopKind])[] = [
  // `upstream_error`, `generation_failed`, `rate_limited`: no answer at all.
  [
    /(?:^|_)(?:error|exception|failed|failure|overloaded|unavailable|interrupted|disconnected|cancel(?:l?ed)?|timed_out|rate_limit(?:ed)?)(?:_|$)/,
    "error",
  ],
  [/(?:^|_)context_(?:length|window)(?:_|$)/, "context_overflow"],
  // `token_limit`, `max_length`, `maximum_tokens`, `time_limit`: cut off.
  [
    /(?:^|_)max(?:imum)?_(?:\w+_)?(?:tokens?|length|output)(?:_|$)|(?:^|_)(?:tokens?|length|output|time)_limit(?:_|$)|(?:^|_)(?:repetitions?|truncat(?:ed|ion))(?:_|$)/,
    "max_tokens",
  ],
  // `content_blocked`, `output_moderation`, `policy_violation`, `safety_check`.
  [
    /(?:^|_)(?:safety|risk_control|filter(?:ed)?|blocked|moderat(?:ed|ion)|guardrails?|policy_violation)(?:_|$)/,
    "content_filter",
  ],
];
