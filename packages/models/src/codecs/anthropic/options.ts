// The room of Anthropic's settings: a request's settings as members of the body.

import type { Json, JsonObject } from "@rondo/core";
import { jsonOf, listIn, objectIn } from "../../json-values.ts";
import { longestName } from "./blocks.ts";
import type { Carried } from "./carried-over.ts";
import { nameToWire } from "./names.ts";
import {
  type Asked,
  leaveUnknown,
  mayForce,
  outputSchema,
  passedOn,
  sampling,
  stopTexts,
} from "./settings.ts";
import { bindingBeta, outputLimit, thinkingOf, thinks, unbound } from "./thinking.ts";

/** Members of the body that `settings.providerOptions.anthropic` may set. */
const members = [
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
  "fallback_credit_token",
  "safeguards",
  "billing_policy",
  "user_profile_id",
  "workspace_id",
] as const;
/** Its other options. */
const read = ["cache", "tools", "toolOptions", "betas"] as const;

export interface Options {
  /** Members of the body, in order, without model, output limit, system, tools and messages. */
  fields: JsonObject;
  maxTokens: number;
  toolChoice: JsonObject | undefined;
  /** The mark of automatic caching, as JSON text; undefined if it is off. */
  mark: string | undefined;
  /** Extra members of our tools, by tool name. */
  toolOptions: JsonObject;
  betas: string[];
}

/** The settings of a request. @param binding the host's name for what happens to thinking that no longer fits */
export function optionsOf(asked: Asked, { container, serverTools }: Carried, binding: string): Options {
  const { told, target } = asked;
  const fields = passedOn(asked, "anthropic", members, read);
  const maxTokens = outputLimit(asked, told.thinking);
  const { thinking, effort } = thinkingOf(asked, maxTokens);
  if (fields.thinking === undefined && thinking !== undefined) fields.thinking = thinking;
  const output = outputConfig(asked, effort);
  if (Object.keys(output).length > 0) fields.output_config = output;
  const betas = listIn(told.betas).filter((beta) => typeof beta === "string");
  const free = target.compat?.unbindsThinking === true ? unbound(fields.thinking, binding) : undefined;
  if (free !== undefined) {
    fields.thinking = free;
    if (!betas.includes(bindingBeta)) betas.push(bindingBeta);
  }
  const isThinking = thinks(fields.thinking);
  sampling(asked, isThinking, fields);
  const stops = stopTexts(asked);
  if (stops !== undefined) fields.stop_sequences = stops;
  leaveUnknown(asked, "Anthropic");
  if (container !== undefined) fields.container = container;
  return {
    fields,
    maxTokens,
    toolChoice: asked.hasTools ? toolChoice(asked, serverTools.length > 0, isThinking) : undefined,
    mark: cacheMark(told.cache, asked),
    toolOptions: objectIn(told.toolOptions) ?? {},
    betas,
  };
}

function outputConfig(asked: Asked, effort: string | undefined): JsonObject {
  const schema = outputSchema(asked);
  return {
    ...(effort === undefined ? {} : { effort }),
    ...(schema === undefined ? {} : { format: { type: "json_schema", schema } }),
    ...objectIn(asked.told.output_config),
  };
}

/** The automatic cache mark by the `cache` option: `false`, `true`, or `{ ttl: "1h" }`. */
function cacheMark(option: Json | undefined, { target, warn }: Asked): string | undefined {
  const can = target.compat?.cache;
  if (option === false || (option === undefined && (can === false || can === "never"))) return undefined;
  if (can === "never") {
    warn("cache_marks_dropped", "cache marks were left out: this server refused them");
    return undefined;
  }
  const ttl = objectIn(option)?.ttl;
  return jsonOf({ type: "ephemeral", ...(typeof ttl === "string" ? { ttl } : {}) });
}

/** @param runsTools whether the request has tools that the provider runs */
function toolChoice(asked: Asked, runsTools: boolean, isThinking: boolean): JsonObject | undefined {
  const { toolChoice: choice, tools, settings } = asked.request;
  const single = settings.parallelToolCalls === false ? { disable_parallel_tool_use: true } : undefined;
  // Without a tool that can run there is nothing to choose: tools from the history are only declared.
  if (choice === "none" || (tools.length === 0 && !runsTools)) {
    if (asked.target.compat?.noneChoice !== false) return { type: "none" };
    asked.warn("unsupported_tool_choice", "this server cannot forbid calls: they are to be ignored");
    return undefined;
  }
  if (choice === "auto") return single === undefined ? undefined : { type: "auto", ...single };
  if (!mayForce(asked, isThinking)) return { type: "auto", ...single };
  return choice === "any"
    ? { type: "any", ...single }
    : { type: "tool", name: nameToWire(choice.tool, longestName), ...single };
}
