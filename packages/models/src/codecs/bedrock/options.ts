// The room of Converse's settings: a request's settings as the members that every model shares, and those that only its
// family knows.

import type { Json, JsonObject } from "@rondo/core";
import type { Target } from "../../codec.ts";
import { jsonOf, objectIn, textIn, textsIn } from "../../json-values.ts";
import {
  type Asked,
  leaveUnknown,
  mayForce,
  outputSchema,
  passedOn,
  sampling,
  stopTexts,
} from "../anthropic/settings.ts";
import { bindingBeta, effortOf, outputLimit, thinkingOf, thinks, unbound } from "../anthropic/thinking.ts";
import { claudeVersion } from "../anthropic/traits.ts";
import { fromLow, upToHigh } from "../levels.ts";
import type { Warn } from "../warn.ts";
import { bedrockName, cachePoint, isNova } from "./blocks.ts";

/** Members of the body that `settings.providerOptions.bedrock` may set, besides `cache`. */
const members = [
  "guardrailConfig",
  "additionalModelRequestFields",
  "additionalModelResponseFieldPaths",
  "requestMetadata",
  "performanceConfig",
  "serviceTier",
  "promptVariables",
  "outputConfig",
] as const;

export interface BedrockOptions {
  /** Members of the body, in order, without tools, system and messages. */
  fields: JsonObject;
  toolChoice: JsonObject | undefined;
  /** The automatic cache point; undefined if there should be none. */
  mark: string | undefined;
  /** Whether a cache point may follow tools. */
  marksTools: boolean;
}

export function bedrockOptions(asked: Asked): BedrockOptions {
  const { request, target, told, hasTools, warn } = asked;
  const fields = passedOn(asked, "bedrock", members, ["cache"]);
  const { inference, additional } = settingsOf(asked);
  unsetForReasoning(inference, objectIn(additional.reasoningConfig), warn);
  if (Object.keys(inference).length > 0) fields.inferenceConfig = inference;
  const schema = outputSchema(asked);
  if (schema !== undefined)
    fields.outputConfig = { textFormat: held(schema), ...objectIn(told.outputConfig) };
  if (Object.keys(additional).length > 0) fields.additionalModelRequestFields = additional;
  leaveUnknown(asked, "Converse");
  if (request.settings.parallelToolCalls === false && hasTools)
    warn("unsupported_setting", "parallelToolCalls is unknown to the Converse protocol and was left out");
  return {
    fields,
    toolChoice: hasTools ? toolChoice(asked, thinks(additional.thinking)) : undefined,
    mark: cacheMark(told.cache, target),
    marksTools: !isNova(target),
  };
}

/** A name chosen by its owner: usually a Claude is behind it, and any other model refuses once. */
const isHidden = ({ origin }: Target): boolean =>
  claudeVersion(origin.model) === undefined &&
  /:(?:application-inference-profile|provisioned-model|default-prompt-router|prompt-router)\//.test(
    origin.model,
  );

/** The settings as members that every model shares, and those that only its family knows; the caller's own come last. */
function settingsOf(asked: Asked): { inference: JsonObject; additional: JsonObject } {
  const { request, target, told, warn } = asked;
  const own = objectIn(told.additionalModelRequestFields);
  const isClaude = claudeVersion(target.origin.model) !== undefined;
  const inference: JsonObject = {};
  const extra: JsonObject = {};
  if (isClaude || isHidden(target)) {
    const limit = outputLimit(asked, own?.thinking);
    const { thinking, effort } = thinkingOf(asked, limit);
    if (thinking !== undefined) extra.thinking = thinking;
    if (effort !== undefined) extra.output_config = { effort };
    // If the name hides the model, its own default limit applies, but a thinking budget needs an explicit limit above it.
    if (isClaude || request.settings.maxOutputTokens !== undefined || thinks(thinking))
      inference.maxTokens = limit;
  } else {
    if (request.settings.maxOutputTokens !== undefined) inference.maxTokens = outputLimit(asked, undefined);
    reasoningOfOthers(asked, extra);
  }
  const sampled: JsonObject = {};
  sampling(asked, thinks(own?.thinking === undefined ? extra.thinking : own.thinking), sampled);
  if (sampled.temperature !== undefined) inference.temperature = sampled.temperature;
  if (sampled.top_p !== undefined) inference.topP = sampled.top_p;
  if (sampled.top_k !== undefined) {
    if (isClaude) extra.top_k = sampled.top_k;
    else if (isNova(target)) extra.inferenceConfig = { topK: sampled.top_k };
    else warn("unsupported_setting", "topK is unknown to the Converse protocol and was left out");
  }
  const stops = stopTexts(asked);
  if (stops !== undefined) inference.stopSequences = stops;
  const additional: JsonObject = { ...extra, ...own };
  const free =
    target.compat?.unbindsThinking === true ? unbound(additional.thinking, "mismatch_behavior") : undefined;
  if (free !== undefined) {
    additional.thinking = free;
    additional.anthropic_beta = [...new Set([...textsIn(additional.anthropic_beta), bindingBeta])];
  }
  return { inference, additional };
}

/** Reasoning of families other than Claude, each with a member of its own. */
function reasoningOfOthers({ request, target, warn }: Asked, extra: JsonObject): void {
  const { reasoning } = request.settings;
  if (reasoning === undefined) return;
  const { model } = target.origin;
  const level =
    reasoning === "off"
      ? reasoning
      : typeof reasoning === "string"
        ? fromLow(upToHigh(reasoning, warn))
        : effortOf(reasoning.budgetTokens);
  if (/nova-(?:2|[3-9])/.test(model))
    extra.reasoningConfig =
      level === "off" ? { type: "disabled" } : { type: "enabled", maxReasoningEffort: level };
  else if (/openai\.gpt/.test(model) && level !== "off") extra.reasoning_effort = level;
  else if (/openai\.gpt-oss/.test(model)) {
    warn("adjusted_setting", `${model} always reasons: effort "low" was asked for in place of none`);
    extra.reasoning_effort = "low";
  } else if (level !== "off")
    warn(
      "unsupported_setting",
      `how ${model} is told to reason is not known: the reasoning setting was left out`,
    );
}

/** A Nova with maximum reasoning accepts neither an output limit nor sampling. */
function unsetForReasoning(inference: JsonObject, config: JsonObject | undefined, warn: Warn): void {
  if (config?.type !== "enabled" || config.maxReasoningEffort !== "high") return;
  for (const name of ["maxTokens", "temperature", "topP"]) {
    if (inference[name] === undefined) continue;
    delete inference[name];
    warn(
      "unsupported_setting",
      `${name} was left out: this model takes none at its highest reasoning effort`,
    );
  }
}

/** The member that constrains the output to a schema. */
const held = (schema: JsonObject): JsonObject => ({
  type: "json_schema",
  structure: { jsonSchema: { schema: jsonOf(schema), name: "output" } },
});

function toolChoice(asked: Asked, isThinking: boolean): JsonObject | undefined {
  const { toolChoice: choice, tools } = asked.request;
  if (choice === "none")
    asked.warn(
      "unsupported_tool_choice",
      "Converse cannot forbid tools that the history needs declared: calls are to be ignored",
    );
  if (choice === "auto" || choice === "none" || tools.length === 0 || !mayForce(asked, isThinking))
    return undefined;
  return choice === "any" ? { any: {} } : { tool: { name: bedrockName(choice.tool, asked.target) } };
}

/** An automatic cache point, if the model is known to accept them: others refuse the request. */
function cacheMark(option: Json | undefined, target: Target): string | undefined {
  if (option === false) return undefined;
  const version = claudeVersion(target.origin.model)?.number ?? 0;
  const can = target.compat?.cache ?? (version >= 307 || isNova(target) || isHidden(target));
  return can === false && option === undefined ? undefined : cachePoint(textIn(objectIn(option)?.ttl));
}
