// The room of how a server that speaks Chat Completions may differ from OpenAI's own.
//
// The codec knows quirks, never providers: which provider has which quirk is in a table of its own (`compat/`). Every
// default is the behaviour of OpenAI's own API. The comments here are the columns of docs/guide/compatible-servers.md, word
// for word: what the quirk is, its default, and the failure that it prevents.

import type { Json, JsonObject } from "@rondo/core";
import type { Target } from "../../codec.ts";
import { countIn, objectIn, textsIn } from "../../json-values.ts";
import type { ThinkTags } from "../leaks/think.ts";
import type { Quirks } from "../shared-compat.ts";

/** The quirks this codec reads from `Target.compat`. */
export interface OpenaiChatCompat {
  /** Which field carries the output limit. Default: `max_completion_tokens` (F134). */
  maxTokensField: "max_completion_tokens" | "max_tokens";
  /** The output limit where none is asked for, if the server requires one; 0 means none. Default: 0 (F134). */
  defaultMaxTokens: number;
  /** The role in which the system prompt is sent; `user` puts it into the first user message. Default: `system` (F128). */
  systemRole: "system" | "developer" | "user";
  /** System messages after the first become user messages. Default: false (F128). */
  systemFirstOnly: boolean;
  /**
   * The field in which reasoning is sent back to the model that wrote it; `think_tags` is a `<think>` block at the start of
   * the content, `thinking_parts` a part of the content, `reasoning_text` is sent only together with its
   * `reasoning_opaque`. A wrong field is refused as unknown. Default: `none` (F104, F105, F108).
   */
  echoReasoning:
    | "none"
    | "reasoning_content"
    | "reasoning"
    | "reasoning_details"
    | "reasoning_text"
    | "think_tags"
    | "thinking_parts";
  /** With which messages reasoning is sent back. Default: `tool_calls`; signed or encrypted reasoning is always sent with all (F104). */
  echoReasoningOn: "tool_calls" | "all";
  /**
   * What the field contains with messages that must have reasoning and have none of this model's. Default: nothing is sent
   * (F104).
   */
  reasoningFill: string | null;
  /**
   * The form of call ids; `functions` counts the calls of the conversation and includes the tool's name, as Kimi was
   * trained on. Default: `openai`, which is at most 40 characters (F055).
   */
  idForm: "openai" | "mistral9" | "functions";
  /** Call ids that contain a thought signature, as LiteLLM makes them, are sent back whole. Default: false (F106). */
  signedIds: boolean;
  /**
   * For Gemini behind this protocol: calls without a thought signature of its own get the one that Google accepts for calls
   * by other models. Default: false (F106).
   */
  signCalls: boolean;
  /** Whether a message may have text beside calls; otherwise the text is left out, with a warning. Default: true (F124). */
  textBesideCalls: boolean;
  /**
   * A message may have only one call: several calls of an answer are sent one after the other, each with its result.
   * Default: false (F128).
   */
  singleCalls: boolean;
  /** Arguments of calls are sent as an object, not as JSON text. Default: false (F087, F128). */
  objectArguments: boolean;
  /** Results contain the name of their tool. Default: false (F120). */
  toolNames: boolean;
  /** A `$ref` in a result is spelt `dollar_ref`, because Gemini reads it as the name of a file. Default: false (F120). */
  spellRefs: boolean;
  /** Whether `content` may be null beside calls; otherwise it is an empty string. Default: true (F123, F124). */
  nullContent: boolean;
  /** Request strict tools if the schema allows it. Default: false (F140, F142). */
  strictTools: boolean;
  /**
   * Adapt schemas to strict mode if only rules on values are lost: optional members may then be null, and null is read as
   * absent. Default: false (F098, F140).
   */
  adaptStrict: boolean;
  /**
   * Tool schemas are sent with shapes and enums only, without rules on values (`typed`: with exactly one type in every place);
   * arguments are validated against the original all the same. Default: false (F137).
   */
  plainSchemas: boolean | "typed";
  /** Rules that are left out of a schema are described in the tool's description. Default: false (F137). */
  describeLostRules: boolean;
  /** How an output schema is sent. Default: `json_schema` (F142). */
  structuredOutput: "json_schema" | "json_object" | "none";
  /** Whether a request may have both an output schema and tools; otherwise the schema is left out. Default: true (F144). */
  structuredWithTools: boolean;
  /**
   * How effort is requested: OpenAI's `reasoning_effort`, OpenRouter's `reasoning` object, Together's `reasoning: {enabled}`
   * (`reasoning_enabled`), `thinking: {type}` (`enabled`, or `adaptive` with `thinking_adaptive`), `enable_thinking`, or that
   * inside `chat_template_kwargs`. Where a server both switches thinking by `reasoning_enabled` or `thinking` and has
   * `efforts`, `reasoning_effort` is sent beside it. Default: `reasoning_effort`.
   */
  reasoningParam:
    | "reasoning_effort"
    | "reasoning"
    | "reasoning_enabled"
    | "thinking"
    | "thinking_adaptive"
    | "enable_thinking"
    | "chat_template_kwargs"
    | "none";
  /**
   * Whether a model may think if it has tools; otherwise thinking is switched off in such a request, with a warning.
   * Default: true (F134).
   */
  reasoningWithTools: boolean;
  /** The levels of effort that the server knows, weakest first; the nearest one is sent. Default: empty, which means all of them. */
  efforts: string[];
  /** Whether `stream_options` may be sent, to get usage at the end of a stream. Default: true (F130). */
  streamUsage: boolean;
  /** The value that forces some call. Default: `required`. */
  toolChoiceAny: "required" | "any";
  /**
   * Whether a call may be forced: always, never, or only while the model does not think. With `without_reasoning`, thinking
   * is switched off for that one request; if thinking was requested, the choice is left to the model instead, with a
   * warning. Default: `always` (F135).
   */
  forcedChoice: "always" | "without_reasoning" | "never";
  /**
   * Whether calls can be forbidden while tools are declared. Otherwise the choice is left to the model, with a warning, and
   * what it calls is ignored. Default: true.
   */
  noneChoice: boolean;
  /** Where the server takes the name of a session, to keep its requests together for its cache: a field, or a header (its name has a hyphen). Default: nowhere. */
  affinity: string | null;
  /** The field for the seed. Default: `seed`. */
  seedField: "seed" | "random_seed";
  /** Whether `top_k` is accepted. Default: false (F134). */
  topK: boolean;
  /** The last message may not be the assistant's: a short user message is added. Default: false (F127). */
  noAssistantLast: boolean;
  /** A request needs a user message: one is added if the history has none. Default: false (F129). */
  needsUser: boolean;
  /** A user message may not follow a tool message: an assistant message is put between them. Default: false (F046). */
  bridgeToolUser: boolean;
  /** Roles must alternate: neighbours of the same role are merged. Default: false (F128). */
  alternate: boolean;
  /** Images may be in tool messages; otherwise they follow all results in a user message. Default: false (F117). */
  toolImages: boolean;
  /** The formats in which sound is accepted, by the names that the protocol has for them. Default: `wav` and `mp3` (F117). */
  audioFormats: string[];
  /** Sound is sent as a data URL; otherwise as base64 alone, which Alibaba takes for the address of a file. Default: false (F117). */
  audioUrls: boolean;
  /**
   * Answers whose sound the server has lost, by its ids: OpenAI keeps what it said for an hour. Their text is sent. Default:
   * none (F117).
   */
  lostAudio: string[];
  /** Sound that expired before this time, in seconds since 1970, is lost as well. Default: 0. */
  audioExpiredAt: number;
  /**
   * How a video is sent: as `video_url`, as OpenRouter, vLLM and others take one, or as `file`; otherwise a note stands in its
   * place. Default: `none` (F117).
   */
  videos: "none" | "video_url" | "file";
  /** The most tools that a request may have; 0 means any number. Default: 128 (F061). */
  maxTools: number;
  /** The most characters that a tool's description may have, which is cut there; 0 means any number. Default: 0 (F137). */
  longestDescription: number;
  /** A history with calls needs tools in the request: if there are none, one that does nothing is declared. Default: false (F131). */
  toolsWithHistory: boolean;
  /**
   * How thinking in the content is read: `leading` takes `<think>…</think>` blocks at the start of the answer as reasoning,
   * `starts_inside` is for chat templates that already opened the block, `nova` for Nova's `<thinking>`. Default: `none`;
   * it also applies to texts in Responses, Messages and Converse (F113).
   */
  thinkTags: "none" | ThinkTags;
  /**
   * Tokens that end a turn (`<|im_end|>`), and call tokens beside calls, may be left at the ends of texts: they are
   * removed, unless they occur in what others wrote in the conversation. Default: true of every server here, false at a
   * vendor's own address; it also applies to the texts of all other protocols (F236).
   */
  endTokens: boolean;
  /** Channels of gpt-oss that leak into the content are parsed: `analysis` is reasoning, a finished call is a call. Default: false (F236). */
  harmony: boolean;
  /**
   * Control tokens (`<|im_start|>`) in texts, calls, text files and tool descriptions are broken up, because chat templates
   * would obey them; the system prompt is left as it is. Default: false (F237).
   */
  breakTokens: boolean;
  /**
   * The server may cut a prompt that does not fit without reporting it: if it reports far fewer input tokens than the
   * request's texts must have, a `context_truncated` warning is given. Default: false (F184).
   */
  cutsPrompts: boolean;
  /**
   * A refusal without a word is about the request, every time; otherwise it may be a gateway's own failure, and the request is
   * sent again. Default: false; it also applies to all other protocols (F181).
   */
  emptyRefusals: boolean;
  /** Content and calls of one answer may come in different choices. Default: false. */
  splitChoices: boolean;
  /**
   * Sends `X-Initiator`, which says whether a user or the agent makes the request, and `Copilot-Vision-Request` if there
   * are images. Default: false.
   */
  initiatorHeader: boolean;
  /** Body fields that this server refuses: they are left out with a warning. Default: none (F130, F134). */
  omit: string[];
  /** Body fields that are always sent. Default: none. */
  always: JsonObject;
  /** Further body fields that `providerOptions` may set. Default: none (F130). */
  options: string[];
}

/** Some of these quirks. Null is the default, whatever is known of the server. */
export type ChatQuirks = Quirks<OpenaiChatCompat>;

type Worded = {
  [quirk in keyof OpenaiChatCompat]: OpenaiChatCompat[quirk] extends string ? quirk : never;
}[keyof OpenaiChatCompat];

/** The words of the quirks that have some; the first is the default. */
export const quirkWords: {
  readonly [quirk in Worded]: readonly [OpenaiChatCompat[quirk], ...OpenaiChatCompat[quirk][]];
} = {
  maxTokensField: ["max_completion_tokens", "max_tokens"],
  systemRole: ["system", "developer", "user"],
  echoReasoning: [
    "none",
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    "reasoning_text",
    "think_tags",
    "thinking_parts",
  ],
  echoReasoningOn: ["tool_calls", "all"],
  idForm: ["openai", "mistral9", "functions"],
  structuredOutput: ["json_schema", "json_object", "none"],
  reasoningParam: [
    "reasoning_effort",
    "reasoning",
    "reasoning_enabled",
    "thinking",
    "thinking_adaptive",
    "enable_thinking",
    "chat_template_kwargs",
    "none",
  ],
  toolChoiceAny: ["required", "any"],
  forcedChoice: ["always", "without_reasoning", "never"],
  seedField: ["seed", "random_seed"],
  videos: ["none", "video_url", "file"],
  thinkTags: ["none", "leading", "starts_inside", "nova"],
};

const asked = new WeakMap<NonNullable<Target["compat"]>, OpenaiChatCompat>();
const nothing: NonNullable<Target["compat"]> = {};

/** All quirks of a target, with their defaults. Computed once per model: every answer needs them. */
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
    maxTokensField: oneOf(given.maxTokensField, quirkWords.maxTokensField),
    defaultMaxTokens: countIn(given.defaultMaxTokens) ?? 0,
    systemRole: oneOf(given.systemRole, quirkWords.systemRole),
    systemFirstOnly: given.systemFirstOnly === true,
    echoReasoning: oneOf(given.echoReasoning, quirkWords.echoReasoning),
    echoReasoningOn: oneOf(given.echoReasoningOn, quirkWords.echoReasoningOn),
    reasoningFill: typeof given.reasoningFill === "string" ? given.reasoningFill : null,
    idForm: oneOf(given.idForm, quirkWords.idForm),
    signedIds: given.signedIds === true,
    signCalls: given.signCalls === true,
    textBesideCalls: given.textBesideCalls !== false,
    singleCalls: given.singleCalls === true,
    objectArguments: given.objectArguments === true,
    toolNames: given.toolNames === true,
    spellRefs: given.spellRefs === true,
    nullContent: given.nullContent !== false,
    strictTools: given.strictTools === true,
    plainSchemas: given.plainSchemas === "typed" ? "typed" : given.plainSchemas === true,
    adaptStrict: given.adaptStrict === true,
    describeLostRules: given.describeLostRules === true,
    structuredOutput: oneOf(given.structuredOutput, quirkWords.structuredOutput),
    structuredWithTools: given.structuredWithTools !== false,
    reasoningParam: oneOf(given.reasoningParam, quirkWords.reasoningParam),
    reasoningWithTools: given.reasoningWithTools !== false,
    efforts: textsIn(given.efforts),
    streamUsage: given.streamUsage !== false,
    toolChoiceAny: oneOf(given.toolChoiceAny, quirkWords.toolChoiceAny),
    forcedChoice: oneOf(given.forcedChoice, quirkWords.forcedChoice),
    noneChoice: given.noneChoice !== false,
    seedField: oneOf(given.seedField, quirkWords.seedField),
    topK: given.topK === true,
    noAssistantLast: given.noAssistantLast === true,
    needsUser: given.needsUser === true,
    bridgeToolUser: given.bridgeToolUser === true,
    alternate: given.alternate === true,
    toolImages: given.toolImages === true,
    audioFormats: textsIn(given.audioFormats ?? ["wav", "mp3"]),
    audioUrls: given.audioUrls === true,
    lostAudio: textsIn(given.lostAudio),
    audioExpiredAt: typeof given.audioExpiredAt === "number" ? given.audioExpiredAt : 0,
    videos: oneOf(given.videos, quirkWords.videos),
    maxTools: typeof given.maxTools === "number" ? given.maxTools : 128,
    longestDescription: countIn(given.longestDescription) ?? 0,
    toolsWithHistory: given.toolsWithHistory === true,
    thinkTags: oneOf(given.thinkTags, quirkWords.thinkTags),
    endTokens: given.endTokens === true,
    harmony: given.harmony === true,
    breakTokens: given.breakTokens === true,
    cutsPrompts: given.cutsPrompts === true,
    emptyRefusals: given.emptyRefusals === true,
    splitChoices: given.splitChoices === true,
    affinity: typeof given.affinity === "string" ? given.affinity : null,
    initiatorHeader: given.initiatorHeader === true,
    omit: textsIn(given.omit),
    always: objectIn(given.always) ?? {},
    options: textsIn(given.options),
  };
}

/** The value of a quirk, if it is one of the known ones; otherwise the first, which is the default. */
export function oneOf<const W extends string>(given: Json | undefined, known: readonly [W, ...W[]]): W {
  return known.find((word) => word === given) ?? known[0];
}
