// The room of incoming call options: a call of the AI SDK as a request of ours.

import type { JsonObject, ModelRequest, Settings, ToolChoice, ToolDefinition } from "@rondo/core";
import { readPrompt } from "./read-prompt.ts";
import type { CallOptions, Warning } from "./spec.ts";

/** Returns the same object for an unchanged tool in every call, because encoders compare by identity. */
export class ToolMemory {
  readonly #known = new Map<string, { text: string; tool: ToolDefinition }>();

  of(tool: { name: string; description?: string; inputSchema: JsonObject }): ToolDefinition {
    const { name, description = "", inputSchema } = tool;
    const text = JSON.stringify([description, inputSchema]);
    const known = this.#known.get(name);
    if (known?.text === text) return known.tool;
    const made = { name, description, inputSchema };
    this.#known.set(name, { text, tool: made });
    return made;
  }
}

export function readOptions(
  options: CallOptions,
  memory: ToolMemory,
): { request: ModelRequest; warnings: Warning[] } {
  const warnings: Warning[] = [];
  const tools: ToolDefinition[] = [];
  for (const tool of options.tools ?? [])
    if (tool.type === "function") tools.push(memory.of(tool));
    else
      warnings.push({
        type: "unsupported",
        feature: `provider tool ${tool.id}`,
        details: "give it to Rondo's model in providerOptions",
      });
  const { responseFormat: format } = options;
  const schema = format?.type === "json" ? format.schema : undefined;
  if (format?.type === "json" && schema === undefined)
    warnings.push({ type: "unsupported", feature: "responseFormat json without a schema" });
  const request: ModelRequest = {
    ...readPrompt(options.prompt),
    tools,
    toolChoice: toolChoice(options.toolChoice),
    settings: settingsOf(options),
    ...(schema === undefined ? {} : { outputSchema: schema }),
  };
  return { request, warnings };
}

function toolChoice(choice: CallOptions["toolChoice"]): ToolChoice {
  if (choice === undefined) return "auto";
  if (choice.type === "tool") return { tool: choice.toolName };
  return choice.type === "required" ? "any" : choice.type;
}

const efforts: { readonly [word: string]: Settings["reasoning"] } = {
  none: "off",
  minimal: "minimal",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "max",
};

function settingsOf(options: CallOptions): Settings {
  const { reasoning, headers, providerOptions, stopSequences } = options;
  const settings: Settings = {};
  for (const name of [
    "temperature",
    "topP",
    "topK",
    "maxOutputTokens",
    "seed",
    "frequencyPenalty",
    "presencePenalty",
  ] as const) {
    const value = options[name];
    if (value !== undefined) settings[name] = value;
  }
  if (stopSequences !== undefined) settings.stop = stopSequences;
  const effort = reasoning === undefined ? undefined : efforts[reasoning];
  if (effort !== undefined) settings.reasoning = effort;
  const sent = Object.entries(headers ?? {}).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  if (sent.length > 0) settings.headers = Object.fromEntries(sent);
  if (providerOptions !== undefined && Object.keys(providerOptions).length > 0)
    settings.providerOptions = providerOptions;
  return settings;
}
