// The room of Converse's settings: what the request asks for, in the members every model shares and in the ones that
// only its family knows.

import type { Json, JsonObject, ModelRequest } from "@rondo/core";
import type { Target } from "../../codec.ts";
import { jsonOf, objectIn, textIn } from "../../json-values.ts";
import { sentOutput } from "../../schemas/codecs.ts";
import type { Warn } from "../anthropic/blocks.ts";
import { nameToWire } from "../anthropic/names.ts";
import { outputLimit, providerOptions, sampling, thinkingOf } from "../anthropic/options.ts";
import { claudeVersion, traitsOf } from "../anthropic/traits.ts";
import { cachePoint, longestBedrockName } from "./blocks.ts";

/** What `settings.providerOptions.bedrock` may hold beside `cache`: members of the body. */
const passedOn = [
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
  fields: JsonObject;
  toolChoice: JsonObject | undefined;
  /** Cache points: after which kinds of blocks automatic ones may stand. */
  mark: { system: string; tools: string | undefined } | undefined;
}

export function bedrockOptions(
  request: ModelRequest,
  target: Target,
  hasTools: boolean,
  thinkingLost: () => boolean,
  warn: Warn,
): BedrockOptions {
  const told = providerOptions(request, target, "bedrock");
  const known: ReadonlySet<string> = new Set([...passedOn, "cache"]);
  for (const name of Object.keys(told))
    if (!known.has(name))
      warn("unsupported_option", `the provider option bedrock.${name} is not known and was left out`);
  const fields: JsonObject = {};
  for (const name of passedOn) if (told[name] !== undefined) fields[name] = told[name];
  const extra: JsonObject = {};
  const inference = inferenceOf(request, target, told, extra, thinkingLost, warn);
  const additional = { ...extra, ...objectIn(told.additionalModelRequestFields) };
  unsetForReasoning(inference, objectIn(additional.reasoningConfig), warn);
  if (Object.keys(inference).length > 0) fields.inferenceConfig = inference;
  const output = outputOf(request, target, hasTools, warn);
  if (output !== undefined) fields.outputConfig = { textFormat: output, ...objectIn(told.outputConfig) };
  if (Object.keys(additional).length > 0) fields.additionalModelRequestFields = additional;
  for (const name of ["seed", "frequencyPenalty", "presencePenalty"] as const)
    if (request.settings[name] !== undefined)
      warn("unsupported_setting", `${name} is unknown to the Converse protocol and was left out`);
  if (request.settings.parallelToolCalls === false && hasTools)
    warn("unsupported_setting", "parallelToolCalls is unknown to the Converse protocol and was left out");
  const thinks = ["enabled", "adaptive"].includes(textIn(objectIn(additional.thinking)?.type) ?? "");
  return {
    fields,
    toolChoice: hasTools ? toolChoice(request, target, thinks, warn) : undefined,
    mark: marks(told.cache, target),
  };
}

function inferenceOf(
  request: ModelRequest,
  target: Target,
  told: JsonObject,
  extra: JsonObject,
  thinkingLost: () => boolean,
  warn: Warn,
): JsonObject {
  const isClaude = claudeVersion(target.origin.model) !== undefined;
  const { maxOutputTokens, stop } = request.settings;
  const traits = traitsOf(target);
  const inference: JsonObject = {};
  const limit =
    isClaude || maxOutputTokens !== undefined ? outputLimit(request, target, traits, told, warn) : undefined;
  if (limit !== undefined) inference.maxTokens = limit;
  if (isClaude) {
    const { thinking, effort } = thinkingOf(request, traits, limit ?? traits.maxTokens, thinkingLost, warn);
    if (thinking !== undefined) extra.thinking = thinking;
    if (effort !== undefined) extra.output_config = { effort };
  } else reasoningOfOthers(request, target, extra, warn);

  const thinking =
    textIn(objectIn(objectIn(told.additionalModelRequestFields)?.thinking)?.type) ??
    textIn(objectIn(extra.thinking)?.type);
  const sampled: JsonObject = {};
  sampling(request, traits, thinking === "enabled" || thinking === "adaptive", sampled, warn);
  if (sampled.temperature !== undefined) inference.temperature = sampled.temperature;
  if (sampled.top_p !== undefined) inference.topP = sampled.top_p;
  if (sampled.top_k !== undefined) {
    if (isClaude) extra.top_k = sampled.top_k;
    else if (/nova/.test(target.origin.model)) extra.inferenceConfig = { topK: sampled.top_k };
    else warn("unsupported_setting", "topK is unknown to the Converse protocol and was left out");
  }
  const stops = stop?.filter((word) => word.trim() !== "") ?? [];
  if (stops.length > 0) inference.stopSequences = stops;
  return inference;
}

/** Families other than Claude, each with a member of its own. */
function reasoningOfOthers(request: ModelRequest, target: Target, extra: JsonObject, warn: Warn): void {
  const { reasoning } = request.settings;
  if (reasoning === undefined) return;
  const { model } = target.origin;
  const level =
    typeof reasoning === "string"
      ? reasoning === "minimal"
        ? "low"
        : reasoning
      : reasoning.budgetTokens < 4096
        ? "low"
        : reasoning.budgetTokens < 16_384
          ? "medium"
          : "high";
  if (/nova-(?:2|[3-9])/.test(model))
    extra.reasoningConfig =
      level === "off" ? { type: "disabled" } : { type: "enabled", maxReasoningEffort: level };
  else if (/openai\.gpt/.test(model) && level !== "off") extra.reasoning_effort = level;
  else if (level !== "off")
    warn(
      "unsupported_setting",
      `how ${model} is told to reason is not known: the reasoning setting was left out`,
    );
}

/** A Nova that thinks as hard as it can takes no limit and no sampling. */
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

function outputOf(
  request: ModelRequest,
  target: Target,
  hasTools: boolean,
  warn: Warn,
): JsonObject | undefined {
  if (request.outputSchema === undefined) return undefined;
  const can = target.facts.output ?? (traitsOf(target).output ? "native" : "none");
  if (can === "native" || (can === "native_without_tools" && !hasTools))
    return {
      type: "json_schema",
      structure: {
        jsonSchema: {
          schema: jsonOf(sentOutput(request.outputSchema, "anthropic", { target, warn })),
          name: "output",
        },
      },
    };
  warn(
    "no_native_output",
    `${target.origin.model} cannot be held to a JSON Schema${can === "none" ? "" : " while it has tools"}: the schema was left out, and a final tool or the prompt must ask for it`,
  );
  return undefined;
}

function toolChoice(
  request: ModelRequest,
  target: Target,
  thinks: boolean,
  warn: Warn,
): JsonObject | undefined {
  const { toolChoice: choice } = request;
  if (choice === "auto") return undefined;
  if (choice === "none" || request.tools.length === 0) {
    if (choice === "none")
      warn(
        "tool_choice_none",
        "Converse cannot forbid tools that the history needs declared: calls are to be ignored",
      );
    return undefined;
  }
  if (thinks || !traitsOf(target).forcedTools) {
    warn(
      "tool_choice_downgraded",
      `a tool cannot be forced ${thinks ? "while the model reasons" : "on this model"}: the choice was left to the model`,
    );
    return undefined;
  }
  return choice === "any" ? { any: {} } : { tool: { name: nameToWire(choice.tool, longestBedrockName) } };
}

/** Automatic cache points, where the model is known to take them: others refuse the request. */
function marks(option: Json | undefined, target: Target): BedrockOptions["mark"] {
  if (option === false) return undefined;
  const version = claudeVersion(target.origin.model);
  const isNova = /nova/.test(target.origin.model);
  const can = target.compat?.cache ?? ((version?.number ?? 0) >= 307 || isNova);
  if (can === false && option === undefined) return undefined;
  const point = cachePoint(textIn(objectIn(option)?.ttl));
  return { system: point, tools: isNova ? undefined : point };
}
