// The room of how a server that speaks Chat Completions may differ from OpenAI's own.
//
// The codec knows quirks, never providers: which provider has which quirk is a table of its own (`compat/`). Every field
// has the default of OpenAI's own API. The comments here are the columns of docs/guide/compatible-servers.md, word for word:
// what the quirk is, its default, and the failure it answers.

import type { Json, JsonObject } from "@rondo/core";
import type { Target } from "../../codec.ts";
import { objectIn } from "../../json-values.ts";
import type { ThinkTags } from "./think.ts";

/** The quirks this codec reads from `Target.compat`. */
export interface OpenaiChatCompat {
  /** Which field carries the output limit. Default: `max_completion_tokens` (F134). */
  maxTokensField: "max_completion_tokens" | "max_tokens";
  /** How the system prompt goes out; `user` folds it into the first user message. Default: `system` (F128). */
  systemRole: "system" | "developer" | "user";
  /** System messages after the first become user messages. Default: false (F128). */
  systemFirstOnly: boolean;
  /**
   * The place reasoning is sent back in, to the model it came from; `think_tags` is a `<think>` block that opens the
   * content, `reasoning_text` goes with the `reasoning_opaque` it came with or not at all. The wrong field is refused as
   * unknown. Default: `none` (F104, F105, F108).
   */
  echoReasoning:
    | "none"
    | "reasoning_content"
    | "reasoning"
    | "reasoning_details"
    | "reasoning_text"
    | "think_tags";
  /** On which messages it is sent back. Default: `tool_calls`; what is signed or encrypted always goes on all (F104). */
  echoReasoningOn: "tool_calls" | "all";
  /** What stands in the field on a tool turn that has no reasoning of this model. Default: nothing is sent (F104). */
  reasoningFill: string | null;
  /**
   * What call ids must look like; `functions` counts them through the conversation, with the tool's name, as Kimi was taught to
   * read them. Default: `openai`, which is at most 40 characters (F055).
   */
  idForm: "openai" | "mistral9" | "functions";
  /** Call ids that hold a thought signature, as LiteLLM makes them, go back whole. Default: false (F106). */
  signedIds: boolean;
  /**
   * Gemini behind this protocol: calls without a thought signature of its own get the one that Google takes for calls
   * from elsewhere. Default: false (F106).
   */
  signCalls: boolean;
  /** Whether a message may hold text beside calls; otherwise the text is left out, with a warning. Default: true (F124). */
  textBesideCalls: boolean;
  /** A message may hold one call: those of one answer go out one after the other, each with its result. Default: false (F128). */
  singleCalls: boolean;
  /** Arguments of calls go out as an object in place of its text. Default: false (F087, F128). */
  objectArguments: boolean;
  /** Results say the name of their tool. Default: false (F120). */
  toolNames: boolean;
  /** Whether `content` may be null beside calls; otherwise it is the empty text. Default: true (F123, F124). */
  nullContent: boolean;
  /** Ask for strict tools where the schema allows it. Default: false (F140, F142). */
  strictTools: boolean;
  /**
   * Bend schemas to strict mode where only rules on values are lost: members that were optional may then be null, and
   * null is read as absent. Default: false (F098, F140).
   */
  adaptStrict: boolean;
  /** Schemas of tools say shapes and enums alone, no rules on values: what comes is checked against them all the same. Default: false (F137). */
  plainSchemas: boolean;
  /** Rules that a schema loses on the way go in words into the tool's description. Default: false (F137). */
  describeLostRules: boolean;
  /** How an output schema is asked for. Default: `json_schema` (F142). */
  structuredOutput: "json_schema" | "json_object" | "none";
  /** Whether an output schema and tools may stand in one request; otherwise the schema is left out. Default: true (F144). */
  structuredWithTools: boolean;
  /**
   * How effort is asked for: OpenAI's `reasoning_effort`, OpenRouter's `reasoning` object, `thinking: {type}`
   * (`enabled`, or `adaptive` with `thinking_adaptive`), `enable_thinking`, or that inside `chat_template_kwargs`. Default: `reasoning_effort`.
   */
  reasoningParam:
    | "reasoning_effort"
    | "reasoning"
    | "thinking"
    | "thinking_adaptive"
    | "enable_thinking"
    | "chat_template_kwargs"
    | "none";
  /** Whether a model may think where it has tools; otherwise thinking is switched off in such a request, with a warning. Default: true (F134). */
  reasoningWithTools: boolean;
  /** The words of effort the server knows, weakest first; the nearest is asked for. Default: empty, which is all of them. */
  efforts: string[];
  /** Whether `stream_options` may be sent, to get usage at the end of a stream. Default: true (F130). */
  streamUsage: boolean;
  /** The word that forces some call. Default: `required`. */
  toolChoiceAny: "required" | "any";
  /**
   * Whether a call may be forced: always, never, or only while the model does not think. With `without_reasoning`
   * thinking is switched off for that one request, unless it was asked for: then the choice is left to the model, with
   * a warning. Default: `always` (F135).
   */
  forcedChoice: "always" | "without_reasoning" | "never";
  /** The field of the seed. Default: `seed`. */
  seedField: "seed" | "random_seed";
  /** Takes `top_k`. Default: false (F134). */
  topK: boolean;
  /** The last message may not be the assistant's: a short user message follows. Default: false (F127). */
  noAssistantLast: boolean;
  /** A request needs a user message: one is made where the history has none. Default: false (F129). */
  needsUser: boolean;
  /** A user message may not follow a tool message: an assistant's word is put between. Default: false (F046). */
  bridgeToolUser: boolean;
  /** Roles must alternate: neighbours are merged. Default: false (F128). */
  alternate: boolean;
  /** Images may stand in tool messages; otherwise they follow all results in a user message. Default: false (F117). */
  toolImages: boolean;
  /** The most tools a request may have; 0 is any number. Default: 128 (F061). */
  maxTools: number;
  /** Calls in the history need tools in the request: one that does nothing is declared where none is. Default: false (F131). */
  toolsWithHistory: boolean;
  /**
   * Thinking that stands in the content as `<think>…</think>`: `leading` takes the blocks that open the answer for
   * reasoning, `starts_inside` is for templates that opened it before the answer began, `nova` for Nova's `<thinking>`.
   * Default: `none`; the texts of Responses, Messages and Converse are read by the same word (F113).
   */
  thinkTags: "none" | ThinkTags;
  /**
   * Tokens that end a turn (`<|im_end|>`), and marks of calls beside calls, may be left at the ends of texts: they are no words
   * of the answer, unless somebody in the conversation wrote of them. Default: true of every server here, false at a vendor's
   * own address; the texts of all protocols are read by the same word (F236).
   */
  endTokens: boolean;
  /** Channels of gpt-oss that leak into the content are read: `analysis` is reasoning, a finished call is a call. Default: false (F236). */
  harmony: boolean;
  /** Control tokens (`<|im_start|>`) in texts, calls, text files and what tools say of themselves are broken up, as templates would obey them; the system prompt stays. Default: false (F237). */
  breakTokens: boolean;
  /**
   * A prompt that does not fit is cut without a word: a count of tokens far below what the request's texts come to gives a
   * `context_truncated` warning. Default: false (F184).
   */
  cutsPrompts: boolean;
  /** Content and calls of one answer may come in different choices. Default: false. */
  splitChoices: boolean;
  /** Says in `X-Initiator` whether a person or the agent asks, and in `Copilot-Vision-Request` that there are images. Default: false. */
  initiatorHeader: boolean;
  /** Body fields this server refuses: they are left out with a warning. Default: none (F130, F134). */
  omit: string[];
  /** Body fields that are always sent. Default: none. */
  always: JsonObject;
  /** Further body fields that `providerOptions` may set. Default: none (F130). */
  options: string[];
}

const asked = new WeakMap<NonNullable<Target["compat"]>, OpenaiChatCompat>();
const nothing: NonNullable<Target["compat"]> = {};

/** What a target's quirks come to. Worked out once for a model: every answer asks again. */
export function chatCompat({ compat: given = nothing }: Target): OpenaiChatCompat {
  let known = asked.get(given);
  if (known === undefined) {
    known = compatFrom(given);
    asked.set(given, known);
  }
  return known;
}

function compatFrom(given: NonNullable<Target["compat"]>): OpenaiChatCompat {
  return {
    maxTokensField: oneOf(given.maxTokensField, ["max_completion_tokens", "max_tokens"]),
    systemRole: oneOf(given.systemRole, ["system", "developer", "user"]),
    systemFirstOnly: given.systemFirstOnly === true,
    echoReasoning: oneOf(given.echoReasoning, [
      "none",
      "reasoning_content",
      "reasoning",
      "reasoning_details",
      "reasoning_text",
      "think_tags",
    ]),
    echoReasoningOn: oneOf(given.echoReasoningOn, ["tool_calls", "all"]),
    reasoningFill: typeof given.reasoningFill === "string" ? given.reasoningFill : null,
    idForm: oneOf(given.idForm, ["openai", "mistral9", "functions"]),
    signedIds: given.signedIds === true,
    signCalls: given.signCalls === true,
    textBesideCalls: given.textBesideCalls !== false,
    singleCalls: given.singleCalls === true,
    objectArguments: given.objectArguments === true,
    toolNames: given.toolNames === true,
    nullContent: given.nullContent !== false,
    strictTools: given.strictTools === true,
    plainSchemas: given.plainSchemas === true,
    adaptStrict: given.adaptStrict === true,
    describeLostRules: given.describeLostRules === true,
    structuredOutput: oneOf(given.structuredOutput, ["json_schema", "json_object", "none"]),
    structuredWithTools: given.structuredWithTools !== false,
    reasoningParam: oneOf(given.reasoningParam, [
      "reasoning_effort",
      "reasoning",
      "thinking",
      "thinking_adaptive",
      "enable_thinking",
      "chat_template_kwargs",
      "none",
    ]),
    reasoningWithTools: given.reasoningWithTools !== false,
    efforts: words(given.efforts),
    streamUsage: given.streamUsage !== false,
    toolChoiceAny: oneOf(given.toolChoiceAny, ["required", "any"]),
    forcedChoice: oneOf(given.forcedChoice, ["always", "without_reasoning", "never"]),
    seedField: oneOf(given.seedField, ["seed", "random_seed"]),
    topK: given.topK === true,
    noAssistantLast: given.noAssistantLast === true,
    needsUser: given.needsUser === true,
    bridgeToolUser: given.bridgeToolUser === true,
    alternate: given.alternate === true,
    toolImages: given.toolImages === true,
    maxTools: typeof given.maxTools === "number" ? given.maxTools : 128,
    toolsWithHistory: given.toolsWithHistory === true,
    thinkTags: oneOf(given.thinkTags, ["none", "leading", "starts_inside", "nova"]),
    endTokens: given.endTokens === true,
    harmony: given.harmony === true,
    breakTokens: given.breakTokens === true,
    cutsPrompts: given.cutsPrompts === true,
    splitChoices: given.splitChoices === true,
    initiatorHeader: given.initiatorHeader === true,
    omit: words(given.omit),
    always: objectIn(given.always) ?? {},
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
