// The room of outgoing call options: our request as a call of an AI SDK model.
//
// What the specification does not have becomes a warning that says where it can be set instead.

import type { JsonObject, ModelRequest, Settings, ToolDefinition } from "@rondo/core";
import { aiSdkOutput, anthropicTool, sentTool } from "../schemas/codecs.ts";
import type { ByProvider, CallOptions, SpecTool } from "./spec.ts";
import { type PromptTarget, writePrompt } from "./write-prompt.ts";

/** Provider tools besides ours, e.g. `anthropic.tools.webSearch_20250305()`. */
export interface ProviderTool {
  id: string;
  name: string;
  args: Record<string, unknown>;
}

export function writeOptions(
  request: ModelRequest,
  target: PromptTarget,
  signal: AbortSignal,
  providerTools: readonly ProviderTool[],
  known: KnownTools,
): CallOptions {
  const { settings, toolChoice, outputSchema } = request;
  const tools = toolsOf(request, target, providerTools, known);
  const { maxOutputTokens, temperature, topP, topK, seed, stop, headers } = settings;
  const output = outputSchema === undefined ? undefined : aiSdkOutput(outputSchema);
  const given = settings.providerOptions as ByProvider | undefined;
  return {
    prompt: writePrompt(request.system, request.messages, target),
    abortSignal: signal,
    ...defined({
      maxOutputTokens,
      temperature,
      topP,
      topK,
      seed,
      frequencyPenalty: settings.frequencyPenalty,
      presencePenalty: settings.presencePenalty,
      headers,
      providerOptions: output?.strict === false ? unstrict(given, target) : given,
      stopSequences: stop,
    }),
    ...(tools.length === 0
      ? {}
      : {
          tools,
          toolChoice:
            typeof toolChoice === "object"
              ? { type: "tool", toolName: toolChoice.tool }
              : { type: toolChoice === "any" ? "required" : toolChoice },
        }),
    ...(output === undefined ? {} : { responseFormat: { type: "json", schema: output.schema } }),
    ...reasoning(settings, target),
  };
}

/** Switches strict mode off for this request, unless the caller set it. */
function unstrict(given: ByProvider | undefined, { origin }: PromptTarget): ByProvider {
  const name = houseOf(origin.provider, origin.model);
  return { ...given, [name]: { strictJsonSchema: false, ...given?.[name] } };
}

/** The name under which a provider reads its options: the AI SDK's gateway passes on those of the provider behind it. */
function houseOf(provider: string, model: string): string {
  const house = provider === "gateway" ? model.split("/")[0] : provider.split(".")[0];
  return house?.trim() || provider;
}

/** Tools as they are sent: one bad schema fails every request, whichever package sends it. */
export type KnownTools = WeakMap<ToolDefinition, SpecTool>;

function functionTool(tool: ToolDefinition, { origin, warn }: PromptTarget, known: KnownTools): SpecTool {
  const found = known.get(tool);
  if (found !== undefined) return found;
  const room = { target: { origin, facts: {} }, warn };
  const isClaude = /anthropic|bedrock|claude/.test(`${origin.provider} ${origin.model}`);
  const { description, schema } = isClaude ? anthropicTool(tool, false, room) : sentTool(tool, "tool", room);
  const made: SpecTool = { type: "function", name: tool.name, description, inputSchema: schema };
  known.set(tool, made);
  return made;
}

function toolsOf(
  { tools }: ModelRequest,
  target: PromptTarget,
  providerTools: readonly ProviderTool[],
  known: KnownTools,
): SpecTool[] {
  return [
    ...tools.map((tool) => functionTool(tool, target, known)),
    ...providerTools.map(
      ({ id, name, args }): SpecTool => ({
        type: target.version === 2 ? "provider-defined" : "provider",
        id,
        name,
        args,
      }),
    ),
  ];
}

function reasoning(
  { reasoning: asked, parallelToolCalls }: Settings,
  { version, warn }: PromptTarget,
): JsonObject {
  if (parallelToolCalls === false)
    warn("unsupported_setting", "the AI SDK has no parallelToolCalls: set it in providerOptions");
  if (asked === undefined) return {};
  if (typeof asked === "object" || version < 4) {
    warn(
      "unsupported_setting",
      `version ${version} of the AI SDK's specification cannot express reasoning ${JSON.stringify(asked)}: set it in providerOptions`,
    );
    return {};
  }
  return { reasoning: asked === "off" ? "none" : asked };
}

function defined<T extends object>(all: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
