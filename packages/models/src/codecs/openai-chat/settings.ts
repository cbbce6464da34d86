// The room of everything in a Chat Completions request except its messages: sampling, effort, tools, output schema.

import type { Json, JsonObject, ModelRequest, ToolDefinition } from "@rondo/core";
import type { Target } from "../../codec.ts";
import { jsonOf } from "../../json-values.ts";
import { neutralisedTools } from "../../prompted/control-tokens.ts";
import { plainMode, sentTool, strictOutput, strictTool } from "../../schemas/codecs.ts";
import { toolModeOf } from "../../schemas/tools.ts";
import { FrontTools } from "../in-place.ts";
import { levels } from "../levels.ts";
import type { NameTable } from "../openai/names.ts";
import {
  type Body,
  effortOf,
  heldSchema,
  leastOf,
  leaveOut,
  providerOptions,
  schemaRoom,
  unsupported,
} from "../openai/settings.ts";
import { choiceMembers, ownTools, shortDescription, ToolTexts } from "../openai/tools.ts";
import type { Warning } from "../warn.ts";
import type { OpenaiChatCompat } from "./compat.ts";

/** Fields of `providerOptions` that Chat Completions takes as they are. `tools` are appended to the request's own. */
export interface OpenaiChatOptions {
  store?: boolean;
  metadata?: Record<string, string>;
  user?: string;
  safety_identifier?: string;
  prompt_cache_key?: string;
  prompt_cache_retention?: string;
  /** From GPT 5.6 on, e.g. `{ mode: "explicit", ttl: "30m" }`. */
  prompt_cache_options?: JsonObject;
  moderation?: JsonObject;
  service_tier?: string;
  logit_bias?: Record<string, number>;
  logprobs?: boolean;
  top_logprobs?: number;
  verbosity?: "low" | "medium" | "high";
  reasoning_effort?: string;
  modalities?: string[];
  audio?: JsonObject;
  prediction?: JsonObject;
  web_search_options?: JsonObject;
  tools?: JsonObject[];
}

const knownOptions: readonly (keyof OpenaiChatOptions)[] = [
  "store",
  "metadata",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
  "prompt_cache_options",
  "moderation",
  "service_tier",
  "logit_bias",
  "logprobs",
  "top_logprobs",
  "verbosity",
  "reasoning_effort",
  "modalities",
  "audio",
  "prediction",
  "web_search_options",
  "tools",
];

/** The body's members before `messages`, in a fixed order; without the tools, which are cached as text. */
export function chatBody(
  request: ModelRequest,
  target: Target,
  compat: OpenaiChatCompat,
  warnings: Warning[],
): Body {
  const { settings } = request;
  const { tools: _, ...options } = providerOptions(request, target, knownOptions, compat.options, warnings);
  if (settings.topK !== undefined && !compat.topK) unsupported("topK", target, warnings);
  const body: Body = {
    model: target.origin.model,
    ...(target.stream === false
      ? {}
      : { stream: true, ...(compat.streamUsage ? { stream_options: { include_usage: true } } : {}) }),
    [compat.maxTokensField]: settings.maxOutputTokens ?? (compat.defaultMaxTokens || undefined),
    temperature: settings.temperature,
    top_p: settings.topP,
    ...(compat.topK ? { top_k: settings.topK } : {}),
    frequency_penalty: settings.frequencyPenalty,
    presence_penalty: settings.presencePenalty,
    [compat.seedField]: settings.seed,
    stop: settings.stop === undefined || settings.stop.length === 0 ? undefined : settings.stop,
    ...reasoningParam(request, target, compat, warnings),
    ...outputParam(request, target, compat, warnings),
    ...compat.always,
    ...options,
  };
  leaveOut(compat.omit, body, target, warnings);
  return body;
}

function reasoningParam(
  request: ModelRequest,
  target: Target,
  compat: OpenaiChatCompat,
  warnings: Warning[],
): Body {
  const asked = askedReasoning(request, target, compat, warnings);
  if (asked === undefined) return {};
  const budget = typeof asked === "object" ? asked.budgetTokens : undefined;
  switch (compat.reasoningParam) {
    case "reasoning_effort":
      return { reasoning_effort: known(effortOf(asked, target, warnings), target, compat, warnings) };
    case "reasoning":
      if (budget !== undefined) return { reasoning: { max_tokens: budget } };
      return {
        reasoning:
          asked === "off" ? { enabled: false } : { effort: effortOf(asked, target, warnings) ?? null },
      };
    case "reasoning_enabled":
      return { reasoning: { enabled: asked !== "off" }, ...effortBeside(asked, target, compat, warnings) };
    case "thinking":
      return {
        thinking: { type: asked === "off" ? "disabled" : "enabled" },
        ...effortBeside(asked, target, compat, warnings),
      };
    case "thinking_adaptive":
      return { thinking: { type: asked === "off" ? "disabled" : "adaptive" } };
    case "enable_thinking":
      return {
        enable_thinking: asked !== "off",
        ...(budget === undefined ? {} : { thinking_budget: budget }),
      };
    case "chat_template_kwargs":
      return { chat_template_kwargs: { enable_thinking: asked !== "off" } };
    case "none":
      unsupported("reasoning", target, warnings);
      return {};
  }
}

/** The effort beside a switch that is on, if the server has both. */
function effortBeside(
  asked: NonNullable<ModelRequest["settings"]["reasoning"]>,
  target: Target,
  compat: OpenaiChatCompat,
  warnings: Warning[],
): Body {
  if (asked === "off" || compat.efforts.length === 0) return {};
  return { reasoning_effort: known(effortOf(asked, target, warnings), target, compat, warnings) };
}

/** The requested effort, or the one that this request must have instead. */
function askedReasoning(
  request: ModelRequest,
  target: Target,
  compat: OpenaiChatCompat,
  warnings: Warning[],
): ModelRequest["settings"]["reasoning"] {
  const { reasoning } = request.settings;
  if (!compat.reasoningWithTools && request.tools.length > 0) {
    if (reasoning !== undefined && reasoning !== "off")
      unsupported("reasoning beside tools", target, warnings);
    return "off";
  }
  return reasoning ?? (isForced(request) && compat.forcedChoice === "without_reasoning" ? "off" : undefined);
}

const efforts: readonly string[] = ["none", ...levels];

/** The nearest level of effort that this server knows. Thinking that cannot be switched off gets the least, with a warning. */
function known(
  effort: string | undefined,
  target: Target,
  compat: OpenaiChatCompat,
  warnings: Warning[],
): string | undefined {
  const { efforts: has } = compat;
  if (effort === undefined || has.length === 0 || has.includes(effort)) return effort;
  const [least = effort] = has;
  if (effort === "none") return leastOf(least, target, warnings);
  const far = (word: string): number => {
    const at = efforts.indexOf(word);
    return at === -1 ? 0.5 : Math.abs(at - efforts.indexOf(effort)) + (word === "none" ? efforts.length : 0);
  };
  return [...has].sort((a, b) => far(a) - far(b))[0];
}

/** Whether the request forces a call. */
function isForced(request: ModelRequest): boolean {
  return request.tools.length > 0 && request.toolChoice !== "auto" && request.toolChoice !== "none";
}

function outputParam(
  request: ModelRequest,
  target: Target,
  compat: OpenaiChatCompat,
  warnings: Warning[],
): Body {
  const can =
    compat.structuredOutput === "none"
      ? "none"
      : compat.structuredWithTools
        ? "native"
        : "native_without_tools";
  const schema = heldSchema(request, target, can, warnings);
  if (schema === undefined) return {};
  if (compat.structuredOutput === "json_object") return { response_format: { type: "json_object" } };
  const form = strictOutput(schema, schemaRoom(target, warnings));
  return { response_format: { type: "json_schema", json_schema: { name: "response", ...form } } };
}

/** The tools of a request and the tool choice, as text. */
export class ChatTools {
  readonly #target: Target;
  readonly #compat: OpenaiChatCompat;
  readonly #names: NameTable;
  readonly #texts: ToolTexts;
  readonly #front = new FrontTools();

  constructor(target: Target, compat: OpenaiChatCompat, names: NameTable) {
    this.#target = target;
    this.#compat = compat;
    this.#names = names;
    this.#texts = new ToolTexts(target, compat, (tool, warnings) => this.#tool(tool, warnings));
  }

  /** A system message that tells of tools. */
  told(tools: readonly ToolDefinition[], warnings: Warning[]): string {
    const safe = this.#compat.breakTokens ? neutralisedTools(tools) : tools;
    return `{"role":"system","tools":[${this.#texts.told(safe, warnings)}]}`;
  }

  /**
   * `,"tools":[…]` with the tool choice, or nothing: an empty list is refused (F132).
   * @param told names of the tools that the messages tell of
   */
  encode(request: ModelRequest, warnings: Warning[], results: boolean, told: ReadonlySet<string>): string {
    const { settings } = request;
    const target = this.#target;
    const compat = this.#compat;
    const front = this.#front.of(request.tools, told);
    const tools = compat.breakTokens ? neutralisedTools(front) : front;
    const own = ownTools(request, target);
    if (tools.length + own.length === 0)
      return results && compat.toolsWithHistory ? `,"tools":[${placeholder}]` : "";
    const items = this.#texts.items(tools, own, warnings);
    const choice = this.#choice(request, warnings);
    return `,"tools":[${items}]${choiceMembers(choice, settings, compat, target, warnings)}`;
  }

  #tool(tool: ToolDefinition, warnings: Warning[]): JsonObject {
    const { provider, model } = this.#target.origin;
    const as = this.#compat.strictTools ? strictTool : sentTool;
    const room = schemaRoom(this.#target, warnings);
    const { description, schema, strict } = as(
      tool,
      plainMode(this.#target.compat) ??
        toolModeOf(provider, model) ??
        (this.#compat.strictTools ? "openai" : "tool"),
      room,
    );
    return {
      type: "function",
      function: {
        name: this.#names.wire(tool.name),
        description: shortDescription(tool.name, description, this.#compat.longestDescription, warnings),
        parameters: schema,
        ...(strict ? { strict } : {}),
      },
    };
  }

  #choice(request: ModelRequest, warnings: Warning[]): Json | undefined {
    const { toolChoice: choice, settings } = request;
    const { omit, forcedChoice, noneChoice, toolChoiceAny } = this.#compat;
    if (choice === "auto") return undefined;
    if (omit.includes("tool_choice")) {
      unsupported("tool choice", this.#target, warnings, "unsupported_tool_choice");
      return undefined;
    }
    if (choice === "none") {
      if (noneChoice) return "none";
      unsupported("tool choice that forbids calls", this.#target, warnings, "unsupported_tool_choice");
      return undefined;
    }
    const thinks = settings.reasoning !== undefined && settings.reasoning !== "off";
    const isBesideThinking = forcedChoice === "without_reasoning" && thinks;
    if (forcedChoice === "never" || isBesideThinking) {
      const what = `tool choice that forces a call${isBesideThinking ? " beside reasoning" : ""}`;
      unsupported(what, this.#target, warnings, "unsupported_tool_choice");
      return undefined;
    }
    if (choice === "any") return toolChoiceAny;
    return { type: "function", function: { name: this.#names.wire(choice.tool) } };
  }
}

/** Declared if the history has calls but the request no tools: some servers refuse that (F131). */
const placeholder: string = jsonOf({
  type: "function",
  function: {
    name: "no_tool",
    description: "There is no tool to call now.",
    parameters: { type: "object", properties: {} },
  },
});
