// The room of Anthropic's settings: what the request asks for, as this model takes it.
//
// Models differ in what they refuse, and a refusal costs the whole request: so what a model is known to refuse is left
// out, and a warning says so. Provider options pass by whitelist.

import type { Json, JsonObject, ModelRequest } from "@rondo/core";
import type { Target } from "../../codec.ts";
import { jsonOf, numberIn, objectIn } from "../../json-values.ts";
import { sentOutput } from "../../schemas/codecs.ts";
import type { Warn } from "./blocks.ts";
import { longestName } from "./blocks.ts";
import { nameToWire } from "./names.ts";
import { type Traits, traitsOf } from "./traits.ts";

/** What `settings.providerOptions.anthropic` may hold beside `cache`, `tools`, `toolOptions` and `betas`: fields of the body. */
const passedOn = [
  "thinking",
  "output_config",
  "metadata",
  "service_tier",
  "container",
  "context_management",
  "mcp_servers",
  "inference_geo",
  "speed",
  "diagnostics",
  "fallbacks",
  "billing_policy",
  "user_profile_id",
  "workspace_id",
] as const;
const ours: ReadonlySet<string> = new Set(["cache", "tools", "toolOptions", "betas"]);

export interface Options {
  /** Fields of the body, in order, without model, system, tools and messages. */
  fields: JsonObject;
  maxTokens: number;
  toolChoice: JsonObject | undefined;
  /** The mark of automatic caching, as JSON text; undefined when it is off. */
  mark: string | undefined;
  /** Extra members of our tools, by tool name. */
  toolOptions: JsonObject;
  betas: string[];
}

/** The provider options of a request: the family's own name first, then what the provider's name says. */
export function providerOptions(request: ModelRequest, target: Target, family: string): JsonObject {
  const all = request.settings.providerOptions;
  return { ...all?.[family], ...(target.origin.provider === family ? {} : all?.[target.origin.provider]) };
}

/** The automatic cache mark that the `cache` option asks for: `false`, `true`, or `{ ttl: "1h" }`. */
export function cacheMark(option: Json | undefined, target: Target): string | undefined {
  if (option === false || (option === undefined && target.compat?.cache === false)) return undefined;
  const ttl = objectIn(option)?.ttl;
  return jsonOf({ type: "ephemeral", ...(typeof ttl === "string" ? { ttl } : {}) });
}

/** What is known of a request before its options are. */
interface Asked {
  /** The provider options. */
  told: JsonObject;
  /** Whether tools stand in it, and whether the provider runs any of them. */
  hasTools: boolean;
  runsTools: boolean;
  /** The turn in progress began without thinking, which older models then refuse to turn on. */
  isThinkingLost(): boolean;
}

/** What the request asks for. */
export function optionsOf(
  request: ModelRequest,
  target: Target,
  { told, hasTools, runsTools, isThinkingLost }: Asked,
  warn: Warn,
): Options {
  const traits = traitsOf(target);
  const known: ReadonlySet<string> = new Set(passedOn);
  for (const name of Object.keys(told))
    if (!known.has(name) && !ours.has(name))
      warn("unsupported_option", `the provider option anthropic.${name} is not known and was left out`);
  const maxTokens = outputLimit(request, target, traits, told, warn);
  const fields: JsonObject = {};
  const thinking = thinkingOf(request, traits, maxTokens, isThinkingLost, warn);
  for (const name of passedOn) if (told[name] !== undefined) fields[name] = told[name];
  if (fields.thinking === undefined && thinking.thinking !== undefined) fields.thinking = thinking.thinking;
  const output: JsonObject = {
    ...(thinking.effort === undefined ? {} : { effort: thinking.effort }),
    ...outputFormat(request, target, traits, hasTools, warn),
    ...objectIn(told.output_config),
  };
  if (Object.keys(output).length > 0) fields.output_config = output;
  const betas = Array.isArray(told.betas) ? told.betas.filter((beta) => typeof beta === "string") : [];
  if (target.compat?.unbindsThinking === true) unbind(fields, betas);
  const thinkingType = objectIn(fields.thinking)?.type;
  const thinks = thinkingType === "enabled" || thinkingType === "adaptive";
  sampling(request, traits, thinks, fields, warn);
  if (request.settings.stop !== undefined && request.settings.stop.length > 0)
    fields.stop_sequences = request.settings.stop.filter((stop) => stop.trim() !== "");
  for (const name of ["seed", "frequencyPenalty", "presencePenalty"] as const)
    if (request.settings[name] !== undefined)
      warn("unsupported_setting", `${name} is unknown to the Anthropic protocol and was left out`);
  return {
    fields,
    maxTokens,
    toolChoice: hasTools ? toolChoice(request, traits, thinks, runsTools, warn) : undefined,
    mark: cacheMark(told.cache, target),
    toolOptions: objectIn(told.toolOptions) ?? {},
    betas,
  };
}

/** Asks for the request as it is, where earlier thinking no longer fits what stands before it. The caller's own word counts first. */
function unbind(fields: JsonObject, betas: string[]): void {
  const thinking = objectIn(fields.thinking) ?? { type: "adaptive" };
  if (thinking.block_binding !== undefined || (thinking.type !== "adaptive" && thinking.type !== "enabled"))
    return;
  fields.thinking = { ...thinking, block_binding: { prefix_mismatch_behavior: "drop_block" } };
  if (!betas.includes(bindingBeta)) betas.push(bindingBeta);
}

const bindingBeta = "thinking-binding-controls-2026-08-01";

export function outputLimit(
  request: ModelRequest,
  target: Target,
  traits: Traits,
  told: JsonObject,
  warn: Warn,
): number {
  const most = target.facts.maxOutputTokens;
  const asked = request.settings.maxOutputTokens;
  if (asked === undefined) {
    const budget = budgetOf(request) ?? numberIn(objectIn(told.thinking)?.budget_tokens) ?? 0;
    // A budget stands inside the limit: leave the answer as much room as it would have had.
    const room = budget >= traits.maxTokens ? budget + traits.maxTokens : traits.maxTokens;
    return most === undefined ? room : Math.min(most, Math.max(room, 64_000));
  }
  if (most === undefined || asked <= most) return asked;
  warn("setting_clamped", `maxOutputTokens ${asked} is more than the model's ${most}: ${most} was asked for`);
  return most;
}

const budgets = { minimal: 1024, low: 4096, medium: 10_000, high: 24_000 } as const;
const efforts = { minimal: "low", low: "low", medium: "medium", high: "high" } as const;

function budgetOf(request: ModelRequest): number | undefined {
  const { reasoning } = request.settings;
  if (reasoning === undefined || reasoning === "off") return undefined;
  return typeof reasoning === "object" ? reasoning.budgetTokens : budgets[reasoning];
}

/** The thinking and effort fields of a Claude model, for either protocol that carries them. */
export function thinkingOf(
  request: ModelRequest,
  traits: Traits,
  maxTokens: number,
  thinkingLost: () => boolean,
  warn: Warn,
): { thinking?: JsonObject; effort?: string } {
  const { reasoning } = request.settings;
  const budget = budgetOf(request);
  if (reasoning === undefined) return {};
  if (reasoning === "off" || budget === undefined) return thinkingOff(traits, warn);
  if (traits.thinking === "none") {
    warn("unsupported_setting", "this model has no reasoning to set: the reasoning setting was left out");
    return {};
  }
  const display = traits.hidesThinking ? { display: "summarized" } : {};
  if (traits.thinking === "adaptive" && typeof reasoning === "object") {
    const effort = budget < 4096 ? "low" : budget < 16_384 ? "medium" : "high";
    warn(
      "setting_adapted",
      `this model takes no reasoning budget: effort ${effort} stands for ${budget} tokens`,
    );
    return { thinking: { type: "adaptive", ...display }, effort };
  }
  if (traits.thinking === "adaptive" || (traits.thinking === "both" && typeof reasoning === "string"))
    return {
      thinking: { type: "adaptive", ...display },
      effort: typeof reasoning === "string" ? efforts[reasoning] : "high",
    };
  if (thinkingLost()) {
    warn(
      "reasoning_lost",
      "reasoning is off for this request: the turn in progress began without this model's reasoning",
    );
    return {};
  }
  // A budget is at least 1024 tokens and less than the limit.
  if (maxTokens <= 1024) {
    warn(
      "unsupported_setting",
      `reasoning was left out: it needs more than 1024 output tokens, and the limit is ${maxTokens}`,
    );
    return {};
  }
  const fits = Math.max(1024, Math.min(budget, maxTokens - Math.min(1024, maxTokens - 1024)));
  return { thinking: { type: "enabled", budget_tokens: Math.min(fits, maxTokens - 1) } };
}

function thinkingOff(traits: Traits, warn: Warn): { thinking?: JsonObject; effort?: string } {
  switch (traits.off) {
    case "omit":
      return {};
    case "disabled":
      return { thinking: { type: "disabled" } };
    case "between_tools":
      return { thinking: { type: "between_tools" } };
    case "never":
      warn("setting_adapted", "this model always reasons: the lowest effort was asked for in place of none");
      return { effort: "low" };
  }
}

function outputFormat(
  request: ModelRequest,
  target: Target,
  traits: Traits,
  hasTools: boolean,
  warn: Warn,
): { format?: JsonObject } {
  if (request.outputSchema === undefined) return {};
  const can = target.facts.output ?? (traits.output ? "native" : "none");
  if (can === "native" || (can === "native_without_tools" && !hasTools))
    return {
      format: {
        type: "json_schema",
        schema: sentOutput(request.outputSchema, "anthropic", { target, warn }),
      },
    };
  warn(
    "no_native_output",
    `${target.origin.model} cannot be held to a JSON Schema${can === "none" ? "" : " while it has tools"}: the schema was left out, and a final tool or the prompt must ask for it`,
  );
  return {};
}

export function sampling(
  request: ModelRequest,
  traits: Traits,
  thinks: boolean,
  fields: JsonObject,
  warn: Warn,
): void {
  const { temperature, topP, topK } = request.settings;
  const asked = { temperature, top_p: topP, top_k: topK };
  for (const [name, value] of Object.entries(asked)) {
    if (value === undefined) continue;
    // While a model thinks, top-p may only be close to 1 and the others may not be set.
    const refused =
      traits.sampling === "none"
        ? "this model takes no sampling settings"
        : thinks && !(name === "top_p" && value >= 0.95 && value <= 1)
          ? "it cannot be set while the model reasons"
          : name === "top_p" && traits.sampling === "one" && fields.temperature !== undefined
            ? "this model takes temperature or topP, not both"
            : undefined;
    if (refused !== undefined) warn("unsupported_setting", `${name} was left out: ${refused}`);
    else if (name === "temperature" && value > 1) {
      warn("setting_clamped", `temperature ${value} is more than this protocol's 1: 1 was asked for`);
      fields.temperature = 1;
    } else fields[name] = value;
  }
}

function toolChoice(
  request: ModelRequest,
  traits: Traits,
  thinks: boolean,
  runsTools: boolean,
  warn: Warn,
): JsonObject | undefined {
  const { toolChoice: choice } = request;
  const single = request.settings.parallelToolCalls === false ? { disable_parallel_tool_use: true } : {};
  // Without any that can run there is nothing to choose from; what stands in the history is only declared.
  if (choice === "none" || (request.tools.length === 0 && !runsTools)) return { type: "none" };
  if (choice === "auto")
    return request.settings.parallelToolCalls === false ? { type: "auto", ...single } : undefined;
  if (thinks || !traits.forcedTools) {
    warn(
      "tool_choice_downgraded",
      `a tool cannot be forced ${thinks ? "while the model reasons" : "on this model"}: the choice was left to the model`,
    );
    return { type: "auto", ...single };
  }
  return choice === "any"
    ? { type: "any", ...single }
    : { type: "tool", name: nameToWire(choice.tool, longestName), ...single };
}
