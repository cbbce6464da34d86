// The room of how a server that speaks Chat Completions may differ from OpenAI's own.
//
// The codec knows quirks, never providers: which provider has which quirk is a table of its own. Every field has the
// default of OpenAI's own API.

import type { Json } from "@rondo/core";
import type { Target } from "../codec.ts";

/** The quirks this codec reads from `Target.compat`. */
export interface OpenaiChatCompat {
  /** Which field carries the output limit. Default: `max_completion_tokens`. */
  maxTokensField: "max_completion_tokens" | "max_tokens";
  /** How the system prompt goes out; `user` folds it into the first user message. Default: `system`. */
  systemRole: "system" | "developer" | "user";
  /** System messages after the first become user messages. Default: false. */
  systemFirstOnly: boolean;
  /** The field reasoning is sent back in, to the model it came from. Default: `none`. */
  echoReasoning: "none" | "reasoning_content" | "reasoning" | "reasoning_details";
  /** On which messages it is sent back. Default: `tool_calls`; `reasoning_details` always go on all. */
  echoReasoningOn: "tool_calls" | "all";
  /** What stands in the field on a tool turn that has no reasoning of this model. Default: nothing is sent. */
  reasoningFill: string | undefined;
  /** What call ids must look like. Default: at most 40 characters. */
  idForm: "openai" | "mistral9";
  /** Whether `content` may be null beside calls; otherwise it is the empty text. Default: true. */
  nullContent: boolean;
  /** Ask for strict tools where the schema allows it. Default: false. */
  strictTools: boolean;
  /**
   * Bend schemas to strict mode where only rules on values are lost: members that were optional may then be null, and
   * null is read as absent. Default: false.
   */
  adaptStrict: boolean;
  /** Rules that a schema loses on the way go in words into the tool's description. Default: false. */
  describeLostRules: boolean;
  /** How an output schema is asked for. Default: `json_schema`. */
  structuredOutput: "json_schema" | "json_object" | "none";
  /**
   * How effort is asked for: OpenAI's `reasoning_effort`, OpenRouter's `reasoning` object, `thinking: {type}`,
   * or `enable_thinking`. Default: `reasoning_effort`.
   */
  reasoningParam: "reasoning_effort" | "reasoning" | "thinking" | "enable_thinking" | "none";
  /** Asks for usage at the end of a stream. Default: true. */
  streamUsage: boolean;
  /** The word that forces some call. Default: `required`. */
  toolChoiceAny: "required" | "any" | "auto";
  /** The field of the seed. Default: `seed`. */
  seedField: "seed" | "random_seed";
  /** Takes `top_k`. Default: false. */
  topK: boolean;
  /** The last message may not be the assistant's (F127). Default: false. */
  noAssistantLast: boolean;
  /** A user message may not follow a tool message: an assistant's word is put between (F046). Default: false. */
  bridgeToolUser: boolean;
  /** Roles must alternate: neighbours are merged (F128). Default: false. */
  alternate: boolean;
  /** Images may stand in tool messages. Default: false. */
  toolImages: boolean;
  /** The most tools a request may have; 0 is any number. Default: 128 (F061). */
  maxTools: number;
  /** Body fields this server refuses. Default: none. */
  omit: readonly string[];
  /** Further body fields that `providerOptions` may set. Default: none. */
  options: readonly string[];
}

export function chatCompat(target: Target): OpenaiChatCompat {
  const given = target.compat ?? {};
  return {
    maxTokensField: oneOf(given.maxTokensField, ["max_completion_tokens", "max_tokens"]),
    systemRole: oneOf(given.systemRole, ["system", "developer", "user"]),
    systemFirstOnly: given.systemFirstOnly === true,
    echoReasoning: oneOf(given.echoReasoning, [
      "none",
      "reasoning_content",
      "reasoning",
      "reasoning_details",
    ]),
    echoReasoningOn: oneOf(given.echoReasoningOn, ["tool_calls", "all"]),
    reasoningFill: typeof given.reasoningFill === "string" ? given.reasoningFill : undefined,
    idForm: oneOf(given.idForm, ["openai", "mistral9"]),
    nullContent: given.nullContent !== false,
    strictTools: given.strictTools === true,
    adaptStrict: given.adaptStrict === true,
    describeLostRules: given.describeLostRules === true,
    structuredOutput: oneOf(given.structuredOutput, ["json_schema", "json_object", "none"]),
    reasoningParam: oneOf(given.reasoningParam, [
      "reasoning_effort",
      "reasoning",
      "thinking",
      "enable_thinking",
      "none",
    ]),
    streamUsage: given.streamUsage !== false,
    toolChoiceAny: oneOf(given.toolChoiceAny, ["required", "any", "auto"]),
    seedField: oneOf(given.seedField, ["seed", "random_seed"]),
    topK: given.topK === true,
    noAssistantLast: given.noAssistantLast === true,
    bridgeToolUser: given.bridgeToolUser === true,
    alternate: given.alternate === true,
    toolImages: given.toolImages === true,
    maxTools: typeof given.maxTools === "number" ? given.maxTools : 128,
    omit: words(given.omit),
    options: words(given.options),
  };
}

/** A quirk's word, where it is one of those known; the first is the default. */
export function oneOf<const W extends string>(given: Json | undefined, known: readonly [W, ...W[]]): W {
  return known.find((word) => word === given) ?? known[0];
}

export function words(given: Json | undefined): string[] {
  return Array.isArray(given) ? given.filter((word): word is string => typeof word === "string") : [];
}
