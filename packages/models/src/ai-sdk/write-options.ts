// The room of a call's options on their way out: our request as a call of an AI SDK model.
//
// What the specification has no word for becomes a warning that names where it can be said instead.

import type { JsonObject, ModelRequest, Settings } from "@rondo/core";
import type { ByProvider, CallOptions, SpecTool } from "./spec.ts";
import { type PromptTarget, writePrompt } from "./write-prompt.ts";

/** Provider tools beside ours, e.g. `anthropic.tools.webSearch_20250305()`. */
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
): CallOptions {
  const { settings, toolChoice, outputSchema } = request;
  const tools = toolsOf(request, target, providerTools);
  const { maxOutputTokens, temperature, topP, topK, seed, stop, headers, providerOptions } = settings;
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
      providerOptions: providerOptions as ByProvider | undefined,
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
    ...(outputSchema === undefined ? {} : { responseFormat: { type: "json", schema: outputSchema } }),
    ...reasoning(settings, target),
  };
}

function toolsOf(
  { tools }: ModelRequest,
  { version }: PromptTarget,
  providerTools: readonly ProviderTool[],
): SpecTool[] {
  return [
    ...tools.map(
      ({ name, description, inputSchema }): SpecTool => ({
        type: "function",
        name,
        description,
        inputSchema,
      }),
    ),
    ...providerTools.map(
      ({ id, name, args }): SpecTool => ({
        type: version === 2 ? "provider-defined" : "provider",
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
    warn("unsupported_setting", "the AI SDK has no word for parallelToolCalls: say it in providerOptions");
  if (asked === undefined) return {};
  if (typeof asked === "object" || version < 4) {
    warn(
      "unsupported_setting",
      `reasoning ${JSON.stringify(asked)} has no word in version ${version} of the AI SDK's specification: say it in providerOptions`,
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
