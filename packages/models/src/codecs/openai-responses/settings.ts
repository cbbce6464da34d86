// The room of everything in a Responses request except its input: sampling, effort, tools, text format.
//
// Stateless by default: nothing is stored at the provider, and reasoning comes back encrypted so that it can be sent again
// in full. Items are never sent by reference (F112).

import type { Json, JsonObject, ModelRequest, Settings, ToolDefinition } from "@rondo/core";
import type { Target } from "../../codec.ts";
import { countIn, objectIn, textsIn } from "../../json-values.ts";
import { plainMode, sentTool, strictOutput, strictTool } from "../../schemas/codecs.ts";
import { FrontTools } from "../in-place.ts";
import type { NameTable } from "../openai/names.ts";
import {
  type Body,
  effortOf,
  heldSchema,
  leaveOut,
  providerOptions,
  schemaRoom,
  unsupported,
} from "../openai/settings.ts";
import { choiceMembers, ownTools, shortDescription, ToolTexts } from "../openai/tools.ts";
import { oneOf } from "../openai-chat/compat.ts";
import type { Warning } from "../warn.ts";

/** The quirks this codec reads from `Target.compat`. */
export interface OpenaiResponsesCompat {
  /** The role of system messages within the input; `user`: no template of this server has one for them. Default: `developer`. */
  systemRole: "developer" | "system" | "user";
  /** The prompt is the field `instructions`; otherwise it is the first item. Default: true, unless the role is `user`. */
  instructions: boolean;
  /** System messages in the input are sent as a user's, because only the prompt may speak as the system. Default: false (F128). */
  systemFirstOnly: boolean;
  /** Roles must alternate: neighbours of the same role are merged. Default: false (F128). */
  alternate: boolean;
  /** Results must be followed by an answer, not by a user: a short one is added. Default: false (F046). */
  bridgeToolUser: boolean;
  /** A `$ref` in a result is spelt `dollar_ref`, because Gemini reads it as the name of a file. Default: false (F120). */
  spellRefs: boolean;
  /** The input must not end with an answer: a short user message is added. Default: false (F127). */
  noAssistantLast: boolean;
  /** Whether a call may be forced. Default: true (F135). */
  forcedChoice: boolean;
  /** Whether calls can be forbidden while tools are declared; otherwise what the model calls is ignored. Default: true. */
  noneChoice: boolean;
  /** Whether results may contain images and files. Default: true. */
  toolFiles: boolean;
  /** Whether reasoning items are accepted without encrypted content, as by local servers. Default: false. */
  plainReasoning: boolean;
  /** Whether a reasoning item may contain its readable text; otherwise only what is encrypted is sent back. Default: true. */
  readableReasoning: boolean;
  /** Request encrypted reasoning if nothing is stored. Default: true. */
  encryptedReasoning: boolean;
  /** Request strict tools if the schema allows it. Default: true. */
  strictTools: boolean;
  /**
   * Tool schemas are sent with shapes and enums only, without rules on values; `typed`: with exactly one type in every place.
   * Default: false (F137).
   */
  plainSchemas: boolean | "typed";
  /**
   * Adapt schemas to strict mode if only rules on values are lost: optional members may then be null, and null is read as
   * absent. Default: false.
   */
  adaptStrict: boolean;
  /** Rules that are left out of a schema are described in the tool's description. Default: false. */
  describeLostRules: boolean;
  /** The most tools that a request may have; 0 means any number. Default: 128. */
  maxTools: number;
  /** The most characters that a tool's description may have, which is cut there; 0 means any number. Default: 0 (F137). */
  longestDescription: number;
  /** Where the server takes the name of a session, to keep its requests together for its cache: a field, or a header (its name has a hyphen). Default: nowhere. */
  affinity: string | null;
  /** Call ids that contain a thought signature, as LiteLLM makes them, are sent back whole. Default: false (F106). */
  signedIds: boolean;
  /** Members of items in the history that this server refuses, e.g. `["status"]`. Default: none. */
  omitInItems: string[];
  /** Items of the history say that they are completed, which Volcengine requires. Default: false. */
  itemStatus: boolean;
  /** Whether items of tools that the server ran itself are taken back. Default: true. */
  nativeItems: boolean;
  /**
   * Containers that no longer exist, by their ids: OpenAI deletes one that was idle for 20 minutes. What its own tools did in
   * them is left out. Default: none.
   */
  lostContainers: string[];
  /** Body fields that this server refuses, or members of one (`reasoning.summary`): they are left out with a warning; `strict` is left out of tools and formats. Default: none. */
  omit: string[];
  /** Further body fields that `providerOptions` may set. Default: none. */
  options: string[];
}

export function responsesCompat(target: Target): OpenaiResponsesCompat {
  const given = target.compat ?? {};
  return {
    systemRole: oneOf(given.systemRole, ["developer", "system", "user"]),
    instructions: given.instructions !== false && given.systemRole !== "user",
    systemFirstOnly: given.systemFirstOnly === true,
    alternate: given.alternate === true,
    bridgeToolUser: given.bridgeToolUser === true,
    spellRefs: given.spellRefs === true,
    noAssistantLast: given.noAssistantLast === true,
    forcedChoice: given.forcedChoice !== false && given.forcedChoice !== "never",
    noneChoice: given.noneChoice !== false,
    toolFiles: given.toolFiles !== false,
    plainReasoning: given.plainReasoning === true,
    readableReasoning: given.readableReasoning !== false,
    encryptedReasoning: given.encryptedReasoning !== false,
    strictTools: given.strictTools !== false,
    plainSchemas: given.plainSchemas === "typed" ? "typed" : given.plainSchemas === true,
    adaptStrict: given.adaptStrict === true,
    describeLostRules: given.describeLostRules === true,
    maxTools: typeof given.maxTools === "number" ? given.maxTools : 128,
    longestDescription: countIn(given.longestDescription) ?? 0,
    affinity: typeof given.affinity === "string" ? given.affinity : null,
    signedIds: given.signedIds === true,
    omitInItems: textsIn(given.omitInItems),
    itemStatus: given.itemStatus === true,
    nativeItems: given.nativeItems !== false,
    lostContainers: textsIn(given.lostContainers),
    omit: textsIn(given.omit),
    options: textsIn(given.options),
  };
}

/** Fields of `providerOptions` that Responses takes. `tools` and `include` are added to the request's own. */
export interface OpenaiResponsesOptions {
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
  truncation?: "auto" | "disabled";
  max_tool_calls?: number;
  top_logprobs?: number;
  include?: string[];
  /** Merged with the requested effort, e.g. `{ summary: "auto" }`. */
  reasoning?: JsonObject;
  /** Merged with the output schema, e.g. `{ verbosity: "low" }`. */
  text?: JsonObject;
  context_management?: JsonObject[];
  access_programs?: JsonObject;
  /** Options of images that the model makes. */
  image?: JsonObject;
  /** Tools that the provider runs, e.g. `{ type: "web_search" }`. */
  tools?: JsonObject[];
}

const knownOptions: readonly (keyof OpenaiResponsesOptions)[] = [
  "store",
  "metadata",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
  "prompt_cache_options",
  "moderation",
  "service_tier",
  "truncation",
  "max_tool_calls",
  "top_logprobs",
  "include",
  "reasoning",
  "text",
  "context_management",
  "access_programs",
  "image",
  "tools",
];

/** Whether the provider stores this request's items. */
export function isStored(request: ModelRequest, target: Target): boolean {
  return request.settings.providerOptions?.[target.origin.provider]?.store === true;
}

/** The body's members before `input`, in a fixed order; without the tools, which are cached as text. */
export function responsesBody(
  request: ModelRequest,
  target: Target,
  compat: OpenaiResponsesCompat,
  warnings: Warning[],
): Body {
  const { settings, system } = request;
  const {
    tools: _,
    include,
    reasoning,
    text,
    store,
    ...options
  } = providerOptions(request, target, knownOptions, compat.options, warnings);
  leaveUnknown(settings, target, warnings);
  const stored = store === true;
  const body: Body = {
    model: target.origin.model,
    ...(target.stream === false ? {} : { stream: true }),
    store: stored,
    include: included(textsIn(include), stored, compat),
    max_output_tokens: settings.maxOutputTokens,
    temperature: settings.temperature,
    top_p: settings.topP,
    reasoning: withMember(reasoning, "effort", effortOf(settings.reasoning, target, warnings)),
    text: withMember(text, "format", textFormat(request, target, warnings)),
    ...options,
    instructions: system?.trim() === "" || !compat.instructions ? undefined : system,
  };
  leaveOut(compat.omit, body, target, warnings);
  return body;
}

/** Warns about settings that the protocol does not have. */
function leaveUnknown(
  { topK, stop, seed, frequencyPenalty, presencePenalty }: Settings,
  target: Target,
  warnings: Warning[],
): void {
  const unknown = {
    topK,
    stop: stop?.length === 0 ? undefined : stop,
    seed,
    frequencyPenalty,
    presencePenalty,
  };
  for (const [name, value] of Object.entries(unknown))
    if (value !== undefined) unsupported(name, target, warnings);
}

/** The field `include`. Reasoning that the provider does not store is requested encrypted. */
function included(asked: string[], stored: boolean, compat: OpenaiResponsesCompat): string[] | undefined {
  const all = new Set(asked);
  if (!stored && compat.encryptedReasoning) all.add("reasoning.encrypted_content");
  return all.size === 0 ? undefined : [...all];
}

/** The caller's own object plus a member of ours; undefined if there is neither. */
function withMember(own: Json | undefined, name: string, value: Json | undefined): JsonObject | undefined {
  if (value !== undefined) return { ...objectIn(own), [name]: value };
  return own === undefined ? undefined : (objectIn(own) ?? {});
}

function textFormat(request: ModelRequest, target: Target, warnings: Warning[]): JsonObject | undefined {
  const schema = heldSchema(request, target, "native", warnings);
  if (schema === undefined) return undefined;
  const { strict, schema: sent } = strictOutput(schema, schemaRoom(target, warnings));
  return {
    type: "json_schema",
    name: "response",
    schema: sent,
    ...(responsesCompat(target).omit.includes("strict") ? {} : { strict }),
  };
}

/** The tools of a request and the tool choice, as text. */
export class ResponsesTools {
  readonly #target: Target;
  readonly #compat: OpenaiResponsesCompat;
  readonly #names: NameTable;
  readonly #texts: ToolTexts;
  readonly #front = new FrontTools();

  constructor(target: Target, compat: OpenaiResponsesCompat, names: NameTable) {
    this.#target = target;
    this.#compat = compat;
    this.#names = names;
    this.#texts = new ToolTexts(target, compat, (tool, warnings) => this.#tool(tool, warnings));
  }

  /** @param told names of the tools that the input tells of */
  encode(request: ModelRequest, told: ReadonlySet<string>, warnings: Warning[]): string {
    const { settings } = request;
    const tools = this.#front.of(request.tools, told);
    const target = this.#target;
    const own = ownTools(request, target);
    const custom = this.#customNames(own);
    const functions = custom.size === 0 ? tools : tools.filter((tool) => !custom.has(tool.name));
    if (functions.length + own.length === 0) return "";
    const items = this.#texts.items(functions, own, warnings);
    const choice = this.#choice(request, warnings);
    return `,"tools":[${items}]${choiceMembers(choice, settings, this.#compat, target, warnings)}`;
  }

  /** Tools as an item of the input. */
  told(tools: readonly ToolDefinition[], warnings: Warning[]): string {
    return `{"type":"additional_tools","role":"developer","tools":[${this.#texts.told(tools, warnings)}]}`;
  }

  /** The caller's custom tools: each replaces the function of that name. */
  #customNames(own: readonly Json[]): ReadonlySet<string> {
    if (own.length === 0) return none;
    const names = new Set<string>();
    for (const tool of own.map(objectIn))
      if (tool?.type === "custom" && typeof tool.name === "string") names.add(tool.name);
    for (const name of names) this.#names.custom.add(name);
    return names;
  }

  #tool(tool: ToolDefinition, warnings: Warning[]): JsonObject {
    const as = this.#compat.strictTools ? strictTool : sentTool;
    const mode = plainMode(this.#target.compat) ?? "openai";
    const { description, schema, strict } = as(tool, mode, schemaRoom(this.#target, warnings));
    return {
      type: "function",
      name: this.#names.wire(tool.name),
      description: shortDescription(tool.name, description, this.#compat.longestDescription, warnings),
      parameters: schema,
      // Absent means true, and a schema that breaks strict mode's rules would fail the request (F140).
      ...(this.#compat.omit.includes("strict") ? {} : { strict }),
    };
  }

  #choice({ toolChoice: choice }: ModelRequest, warnings: Warning[]): Json | undefined {
    if (choice === "auto") return undefined;
    if (this.#compat.omit.includes("tool_choice")) {
      unsupported("tool choice", this.#target, warnings, "unsupported_tool_choice");
      return undefined;
    }
    if (choice === "none") {
      if (this.#compat.noneChoice) return "none";
      unsupported("tool choice that forbids calls", this.#target, warnings, "unsupported_tool_choice");
      return undefined;
    }
    if (!this.#compat.forcedChoice) {
      unsupported("tool choice that forces a call", this.#target, warnings, "unsupported_tool_choice");
      return undefined;
    }
    return choice === "any" ? "required" : { type: "function", name: this.#names.wire(choice.tool) };
  }
}

const none: ReadonlySet<string> = new Set();
