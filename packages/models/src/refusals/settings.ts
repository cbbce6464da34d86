// The room of refusals about a setting: a model that accepts no temperature, a server that accepts no seed (F134).
//
// Which model refuses what changes with every model, so no table keeps up. The message names the field as the protocol
// writes it.

import type { Repair } from "@rondo/core";
import { ownMember } from "@rondo/core/checks";
import { phrases } from "../patterns.ts";

const outputLimit: Repair = "settings.maxOutputTokens";

/** The fields of all protocols, and the setting for each. */
const settings: { readonly [field: string]: Repair } = {
  temperature: "settings.temperature",
  top_p: "settings.topP",
  topp: "settings.topP",
  top_k: "settings.topK",
  topk: "settings.topK",
  max_tokens: "settings.maxOutputTokens",
  max_completion_tokens: "settings.maxOutputTokens",
  max_output_tokens: "settings.maxOutputTokens",
  maxtokens: "settings.maxOutputTokens",
  stop: "settings.stop",
  stop_sequences: "settings.stop",
  stopsequences: "settings.stop",
  seed: "settings.seed",
  random_seed: "settings.seed",
  frequency_penalty: "settings.frequencyPenalty",
  frequencypenalty: "settings.frequencyPenalty",
  presence_penalty: "settings.presencePenalty",
  presencepenalty: "settings.presencePenalty",
  // Perplexity's names.
  "frequency penalty": "settings.frequencyPenalty",
  "presence penalty": "settings.presencePenalty",
  reasoning: "settings.reasoning",
  "reasoning.effort": "settings.reasoning",
  reasoning_effort: "settings.reasoning",
  reasoningeffort: "settings.reasoning",
  think: "settings.reasoning",
  reasoningconfig: "settings.reasoning",
  reasoning_config: "settings.reasoning",
  thinking: "settings.reasoning",
  "thinking.type": "settings.reasoning",
  "thinking.type.disabled": "settings.reasoning",
  enable_thinking: "settings.reasoning",
  thinking_budget: "settings.reasoning",
  "thinking budget": "settings.reasoning",
  budget: "settings.reasoning",
  "thinking.enabled.budget_tokens": "settings.reasoning",
  "thinking.budget_tokens": "settings.reasoning",
  budget_tokens: "settings.reasoning",
  "adaptive thinking": "settings.reasoning",
  effort: "settings.reasoning",
  "output_config.effort": "settings.reasoning",
  thinkingconfig: "settings.reasoning",
  parallel_tool_calls: "settings.parallelToolCalls",
  disable_parallel_tool_use: "settings.parallelToolCalls",
};

const named: string = Object.keys(settings).join("|").replaceAll(".", "\\.");
/** A field in quotes, after a colon, at the start of the message, or after a word that introduces one. */
const field: RegExp = new RegExp(
  `(?:[\`'"]|: ?|^| - |] |\\btool_choice\\.(?:\\w+\\.)?|\\b(?:parameter|argument|invalid|support(?: the)?|range of) )(${named})(?!\\w|\\.\\w)`,
  "gi",
);
const refused: RegExp = phrases(
  /unsupported/,
  /not (?:be )?(?:supported|permitted|allowed)/,
  /\bis not enabled for/,
  /does(?: not|n't) support/,
  /must be unset/,
  /deprecated/,
  /unknown (?:parameter|argument|field|name)/,
  /unrecogni[sz]ed/,
  /unexpected (?:keyword )?(?:argument|parameter|field|property)/,
  /extra_forbidden/,
  /extra inputs/,
  /may only be set/,
  /is only allowed when/,
  /cannot both/,
  /only \S{1,40} is allowed/,
  /cannot be disabled/,
);
/** A refused value: this model accepts others. */
const value: RegExp = new RegExp(
  [
    // The output limit leaves no room beside the thinking, as a gateway adds it: Anthropic's phrase, before its limit's own.
    `[\`'"]*\\bmax_(?:completion_)?tokens[\`'"]* must be greater than [\`'"]*(${named})\\b`,
    // Baseten's, without the names.
    `\\bto reserve tokens for [^{}]{1,40}\\b(reasoning) is enabled\\b`,
    `(?:^|: |, |\\bthe (?:parameter )?|[\`'"])(${named})[\`'"]*(?: parameter)?,? (?:(?:must be|can only be) (?:one of|between|at most|less than|greater than|in |a positive|strictly positive|(?:an? )?(?:float|int(?:eger)?|number)\\b|[<>]|[\\d.]+\\b)|supports up to \\d|should be (?:in|between)|参数非法)`,
    `range of (${named}) (?:should be|is)\\b`,
    `\\bparameter (${named}) be (?:greater|less) than\\b`,
    `(?:^|[\`'"])(${named})[\`'"]* : (?:(?:number|value|integer) must be|(?:maximum|minimum) number of)\\b`,
    `\\bvalue of the (${named}) parameter is restricted to`,
    `\\b(${named}) is out of range\\b`,
    `\\bhas an? (${named}) value of \\S+ but the supported range\\b`,
    `\\bthe (thinking budget) \\(?\\d+\\)? is invalid`,
    `\\b(budget) \\d+ is invalid\\b`,
    // MiniMax's phrase, with the values that it accepts.
    `\\binvalid (${named}): [^{}()]{1,40} \\(allowed: `,
    // A tool of OpenAI's own that needs more reasoning than was asked for.
    `\\btools cannot be used with (${named})\\b`,
    // Pydantic's phrases, before the field and after it: Anthropic, vLLM, Mistral.
    `(?<![\\w.])(?:body\\.)?(${named})[\`'"]*(?:: |\\), [\`'"]msg[\`'"]: [\`'"])(?:input should be|each |range: |array too)`,
    `\\binput should be [^:{}]{1,80}: (${named})(?:\\.|$)`,
    `\\binvalid value at [\`'"](?:\\w+\\.)*(${named})[\`'"]`,
    // OpenAI's and Amazon's phrases for a value that is too high, too low or too long.
    `\\binvalid [\`'"](${named})[\`'"]: (?:decimal|integer|number|array|string) (?:above|below|too)`,
    `\\bat [\`'"](?:\\w+\\.)*(${named})[\`'"] failed to satisfy constraint`,
    `\\bextraneous key \\[(${named})\\]`,
    // Phrases in plain English.
    `\\b(${named}) (?:parameter|setting|field|option) is (?:not (?:supported|allowed)|unsupported)`,
    `\\bproperty (${named}) is (?:not |un)supported`,
    `\\bonly (?:supports? )?(${named}) ?= ?`,
    `(?:^|[.:] )(${named}) is (?:fixed|not configurable)\\b`,
    `\\b(${named}) must satisfy\\b`,
    // Azure's and OpenAI's older phrase, and that of Hugging Face's library.
    `\\bis (?:greater|less) than the (?:maximum|minimum) of \\S+ - [\`'"]*(${named})`,
    `(?:^|: |[\`'"])(${named})[\`'"]* \\([^()]{1,20}\\) has to be\\b`,
    `\\bnot support custom (${named}) values?\\b`,
    `\\binvalid (${named}):? [^.]{1,40}must be\\b`,
    `\\b(adaptive thinking) is not supported\\b`,
    `\\bnot support the (effort) parameter\\b`,
  ].join("|"),
  "i",
);

/**
 * The setting that a refusal complains about, as a repair that leaves it out. The last of several: temperature and top_p
 * exclude each other.
 */
export function refusedSetting(words: string): Repair | undefined {
  const [, ...places] = value.exec(words) ?? [];
  const wrong = settings[places.find((one) => one !== undefined)?.toLowerCase() ?? ""];
  if (wrong !== undefined && wrong !== outputLimit) return wrong;
  if (!refused.test(words)) return undefined;
  // A suggested replacement is not what is refused.
  const complaint = words.replace(/\buse [^.]{0,80}instead/gi, "");
  const found = [...complaint.matchAll(field)].map(([, name = ""]) => settings[name.toLowerCase()]);
  return new Set(found).size > 2 ? undefined : found.at(-1);
}

/** The setting for a field that the refusal names as its subject. An output limit is lowered before it is left out. */
export function settingOfField(name: string): Repair | undefined {
  const folded = name.toLowerCase();
  const setting = ownMember(settings, folded);
  return setting === outputLimit ? undefined : setting;
}
