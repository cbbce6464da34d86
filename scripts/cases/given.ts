// The room of circumstances: a case's neutral starting state as Rondo's own options, tools and messages.
//
// Every name a case uses for an option is mapped here or refused. Nothing here looks at what a case expects.

import type {
  AgentOptions,
  AssistantMessage,
  ContentPart,
  JsonObject,
  Message,
  ModelFacts,
  Origin,
  Part,
  ToolMessage,
} from "@rondo/core";
import { type Data, demandKnown, type Given, repeated, Unsupported, unescaped } from "./format.ts";
import { apiOf, defaultModel, originProvider, protocolOf } from "./providers.ts";
import type { Protocol } from "./wire.ts";

/** What options come to: some are the agent's, some the model's. */
export interface MappedOptions {
  agent: Partial<AgentOptions>;
  facts: ModelFacts;
  /** Quirks of the server. */
  compat: JsonObject;
  /** Tools travel as JSON texts. */
  prompted: boolean;
  /** How deep sub-agents may stand. */
  maxDepth?: number;
}

type Mapper = (value: never, to: MappedOptions) => void;

/** How much is thought: a switch, an effort, a count of tokens, or a provider's own object. */
function think(
  value: boolean | string | number | { budget_tokens?: number; effort?: string; type?: string },
  { agent }: MappedOptions,
): void {
  if (typeof value === "object")
    demandKnown("given.options.thinking", value, "type budget_tokens effort note");
  const words = { true: "medium", enabled: "medium", adaptive: "medium", false: "off", disabled: "off" };
  const { budget_tokens: budget, effort, type } = typeof value === "object" ? value : {};
  const reasoning =
    type === "disabled"
      ? "off"
      : typeof value === "number"
        ? { budgetTokens: value }
        : typeof value === "object"
          ? ((effort as "low" | undefined) ??
            (type === "adaptive" && budget === undefined ? "medium" : { budgetTokens: budget ?? 1024 }))
          : ((words[String(value) as keyof typeof words] ?? value) as "low");
  agent.settings = { ...agent.settings, reasoning };
}

/** Silence before the first word is silence, unless the case has a clock of its own for it. */
function silence(value: number, { agent }: MappedOptions): void {
  agent.clocks = { firstByteMs: value, ...agent.clocks, idleMs: value };
}

function strictTools(value: boolean, to: MappedOptions): void {
  // A tool that is to be strict may be bent to what strict tools must be.
  to.compat = { ...to.compat, strictTools: value, adaptStrict: value };
}

const mappers: { readonly [option: string]: Mapper } = {
  max_tokens: (value: number, { agent }) => {
    agent.settings = { ...agent.settings, maxOutputTokens: value };
  },
  max_output_tokens_limit: (value: number, to) => {
    to.facts = { ...to.facts, maxOutputTokens: value };
  },
  temperature: (value: number, { agent }) => {
    agent.settings = { ...agent.settings, temperature: value };
  },
  parallel_tool_calls: (value: boolean, { agent }) => {
    agent.settings = { ...agent.settings, parallelToolCalls: value };
  },
  tool_choice: (value: string | { type?: string; name?: string; function?: { name: string } }, { agent }) => {
    const words: { [word: string]: AgentOptions["toolChoice"] } = {
      auto: "auto",
      none: "none",
      any: "any",
      required: "any",
    };
    const word = typeof value === "string" ? value : (value.type ?? "");
    const name = typeof value === "string" ? undefined : (value.name ?? value.function?.name);
    const choice = name === undefined ? words[word] : { tool: name };
    if (choice === undefined) throw new Unsupported(`given.options.tool_choice ${JSON.stringify(value)}`);
    agent.toolChoice = choice;
  },
  thinking: think,
  thinking_budget: think,
  reasoning: think,
  reasoning_effort: think,
  cache: (value: string | boolean, { agent }) => {
    agent.settings = { ...agent.settings, providerOptions: caching(value !== false) };
  },
  context_window: (value: number, to) => {
    to.facts = { ...to.facts, contextWindow: value };
  },
  connect_timeout_ms: (value: number, { agent }) => {
    agent.clocks = { ...agent.clocks, connectMs: value };
  },
  first_byte_timeout_ms: (value: number, { agent }) => {
    agent.clocks = { ...agent.clocks, firstByteMs: value };
  },
  idle_timeout_ms: silence,
  semantic_idle_timeout_ms: (value: number, to) => {
    to.agent.clocks = { ...to.agent.clocks, firstByteMs: value };
    silence(value, to);
  },
  stream_idle_timeout_ms: silence,
  // Rondo has one clock for silence, and what says nothing does not wind it: bytes alone need none of their own.
  byte_idle_timeout_ms: () => {},
  bytes_idle_timeout_ms: () => {},
  total_timeout_ms: (value: number, { agent }) => {
    agent.clocks = { ...agent.clocks, totalMs: value };
  },
  tool_timeout_ms: (value: number, { agent }) => {
    agent.toolTimeoutMs = value;
  },
  abort_grace_ms: (value: number, { agent }) => {
    agent.abortGraceMs = value;
  },
  max_attempts: (value: number, { agent }) => {
    agent.retry = { ...agent.retry, attempts: value };
  },
  max_retry_delay_ms: (value: number, { agent }) => {
    agent.retry = { ...agent.retry, longestRetryAfterMs: value };
  },
  // In these cases a step is a model call: no further one to land on.
  max_steps: (value: number, { agent }) => {
    agent.maxSteps = value;
    agent.onLimit = "stop";
  },
  max_identical_calls: (value: number, { agent }) => {
    agent.repeats = ladder(value);
  },
  max_consecutive_tool_errors: (value: number, { agent }) => {
    agent.repeats = ladder(value);
  },
  max_tool_calls_per_turn: (value: number, { agent }) => {
    agent.maxCallsPerTurn = value;
  },
  max_tool_result_chars: (value: number, { agent }) => {
    agent.context = { cap: { bytes: value } };
  },
  max_parallel: (value: number, { agent }) => {
    agent.maxConcurrentTools = value;
  },
  max_tokens_total: (value: number, { agent }) => {
    agent.budget = { ...agent.budget, tokens: value };
  },
  max_duration_ms: (value: number, { agent }) => {
    agent.budget = { ...agent.budget, ms: value };
  },
  max_nudges: (value: number, { agent }) => {
    agent.emptyNudges = value;
  },
  // The first agent is one of those that are counted.
  max_agents: (value: number, { agent }) => {
    agent.maxSubAgents = value - 1;
  },
  max_total_model_calls: (value: number, { agent }) => {
    agent.budget = { ...agent.budget, modelCalls: value };
  },
  max_depth: (value: number, to) => {
    to.maxDepth = value;
  },
  max_pause_resumes: (value: number, { agent }) => {
    agent.pauseResumes = value;
  },
  tool_protocol: (value: string, to) => {
    if (value !== "json-in-text")
      throw new Unsupported(`given.options.tool_protocol ${JSON.stringify(value)}`);
    to.prompted = true;
  },
  starts_in_think: (value: boolean, to) => {
    to.compat = { ...to.compat, thinkTags: value ? "starts_inside" : "leading" };
  },
  no_system: (value: boolean, to) => {
    if (value) to.compat = { ...to.compat, systemRole: "user", systemFirstOnly: true };
  },
  strict: strictTools,
  strict_tools: strictTools,
  neutralise_special_tokens: (value: boolean, to) => {
    to.compat = { ...to.compat, breakTokens: value };
  },
  // Nobody is there to approve: what would have to be asked is denied.
  approver: (value: null, { agent }) => {
    if (value !== null) throw new Unsupported("given.options.approver other than null");
    agent.hooks = {
      ...agent.hooks,
      permission: (call) =>
        agent.tools?.find((tool) => tool.name === call.name)?.permission === "ask"
          ? { answer: "deny", reason: "it needs an approval, and there is nobody to approve it" }
          : undefined,
    };
  },
};

/** The automatic cache marks of the protocols that have them. */
const caching = (cache: boolean): Record<string, JsonObject> => ({
  anthropic: { cache },
  bedrock: { cache },
});

function ladder(landAt: number): NonNullable<AgentOptions["repeats"]> {
  return { nudgeAt: Math.max(1, landAt - 2), hideAt: Math.max(1, landAt - 1), landAt };
}

/** @throws Unsupported naming an option that has no counterpart */
export function mappedOptions(given: Given): MappedOptions {
  // Cases compare whole messages: cache marks are set only where a case asks for them.
  const mapped: MappedOptions = {
    agent: { settings: { providerOptions: caching(false) } },
    facts: {},
    compat: {},
    prompted: false,
  };
  if (given.tools?.some((tool) => tool.strict === true) === true) strictTools(true, mapped);
  for (const [name, value] of Object.entries(given.options ?? {})) {
    const mapper = Object.hasOwn(mappers, name) ? mappers[name] : undefined;
    if (mapper === undefined) throw new Unsupported(`given.options.${name}: Rondo has no such option yet`);
    mapper(value as never, mapped);
  }
  if (given.system !== undefined) mapped.agent.system = given.system;
  if (given.pinned_tokens !== undefined) mapped.agent.system = words(given.pinned_tokens);
  if (given.output_schema !== undefined) mapped.agent.output = given.output_schema as never;
  return mapped;
}

/** About so many tokens of text. */
const words = (tokens: number): string => "word ".repeat(tokens).trim();

/**
 * What the run is started with: a task, or a history. A case of an overflow that names neither supposes a conversation
 * that could be made smaller, so that is what it gets.
 */
export function inputOf(given: Given, provider: string, overflows: boolean): string | Message[] {
  const said = given.history ?? given.prompt ?? given.estimated_prompt_tokens;
  if (overflows && said === undefined) return historyOf({ ...given, history: longConversation }, provider);
  if (given.history !== undefined) return historyOf(given, provider);
  if (given.prompt !== undefined) return given.prompt;
  return given.estimated_prompt_tokens === undefined ? "go" : words(given.estimated_prompt_tokens);
}

const longConversation: NonNullable<Given["history"]> = [
  { role: "user", text: "Read the report" },
  { role: "assistant", parts: [{ text: "It says this. ".repeat(200) }] },
  { role: "user", text: "go" },
];

const messageMembers = "role text text_escaped text_repeat parts results model provider timestamp note";

export function historyOf(given: Given, provider: string): Message[] {
  const names = new Map<string, string>();
  return (given.history ?? []).flatMap((one): Message[] => {
    demandKnown("given.history[]", one, messageMembers);
    const inner = extras(one);
    switch (one.role) {
      case "user":
        return [{ role: "user", content: contentOf(one), ...inner }];
      case "system":
        return [{ role: "system", content: contentOf(one) as { type: "text"; text: string }[], ...inner }];
      case "assistant":
        return [{ ...assistantOf(one, given, provider, names), ...inner }];
      case "tool":
        return ((one.results ?? []) as Data[]).map((result) => ({ ...resultOf(result, names), ...inner }));
      default:
        throw new Unsupported(`given.history[].role ${JSON.stringify(one.role)}`);
    }
  });
}

/** A host's own members on a message, which must never reach a provider. */
function extras(one: Data): object {
  return Object.fromEntries(
    Object.entries(one).filter(([name]) => name === "timestamp" || name.startsWith("_")),
  );
}

function textIn(one: Data): string | undefined {
  if (typeof one.text === "string") return one.text;
  if (typeof one.text_escaped === "string") return unescaped(one.text_escaped);
  if (one.text_repeat !== undefined) return repeated(one.text_repeat as { unit: string });
  return undefined;
}

function contentOf(one: Data): ContentPart[] {
  const text = textIn(one);
  if (text !== undefined) return [{ type: "text", text }];
  return ((one.parts ?? []) as Data[]).map((part) => contentPart(part));
}

export function contentPart(part: Data): ContentPart {
  demandKnown("part", part, "text text_escaped text_repeat image file cache_control");
  const text = textIn(part);
  const mark =
    part.cache_control === undefined ? {} : { opaque: { cache_control: part.cache_control as JsonObject } };
  if (text !== undefined) return { type: "text", text, ...mark };
  const file = (part.image ?? part.file) as Data | undefined;
  if (file === undefined) throw new Unsupported(`a part with ${Object.keys(part).join(", ")}`);
  demandKnown("image", file, "media_type data data_repeat url name");
  const data = file.data_repeat === undefined ? file.data : repeated(file.data_repeat as { unit: string });
  return {
    type: "file",
    mediaType: String(file.media_type ?? "image/png"),
    ...(data === undefined ? {} : { data: String(data) }),
    ...(file.url === undefined ? {} : { url: String(file.url) }),
    ...(file.name === undefined ? {} : { name: String(file.name) }),
  };
}

function assistantOf(one: Data, given: Given, own: string, names: Map<string, string>): AssistantMessage {
  const provider = String(one.provider ?? own);
  const protocol = protocolOf(provider);
  const sameModel = given.model ?? defaultModel(protocol);
  const origin: Origin = {
    api: apiOf[protocol],
    provider: originProvider(provider),
    model: String(one.model ?? (provider === own ? sameModel : defaultModel(protocol))),
  };
  const text = textIn(one);
  const content: Part[] =
    text === undefined
      ? ((one.parts ?? []) as Data[]).map((part) => assistantPart(part, names, protocol))
      : [{ type: "text", text }];
  const kind = content.some((part) => part.type === "tool_call") ? "tool_use" : "end_turn";
  return { role: "assistant", content, origin, stop: { kind, wire: kind } };
}

function assistantPart(part: Data, names: Map<string, string>, protocol: Protocol): Part {
  if (part.tool_call !== undefined) return callPart(part, names);
  if (part.reasoning_item !== undefined || part.reasoning !== undefined) return itemPart(part);
  if (part.thinking !== undefined) {
    demandKnown("part", part, "thinking signature thinking_escaped id item_id encrypted_content");
    const { signature, id = part.item_id, encrypted_content } = part;
    // What signs reasoning on the Responses API is what its item is encrypted with.
    const isItem = protocol === "openai-responses" && signature !== undefined;
    if (isItem || id !== undefined || encrypted_content !== undefined)
      return itemPart({
        reasoning: { id, encrypted_content: encrypted_content ?? signature, summary: part.thinking },
      });
    return {
      type: "reasoning",
      text: String(part.thinking),
      ...(signature === undefined ? {} : { opaque: { signature: String(signature) } }),
    };
  }
  return contentPart(part);
}

/** Reasoning as the Responses API has it: an item with an id, and what it is signed with. */
function itemPart(part: Data): Part {
  demandKnown("part", part, "reasoning_item reasoning");
  const given = (part.reasoning_item ?? part.reasoning) as Data | string;
  const said: Data = typeof given === "string" ? { summary: given } : given;
  demandKnown("reasoning_item", said, "type id summary text encrypted_content status");
  const text = typeof said.summary === "string" ? said.summary : String(said.text ?? "");
  const summary = text === "" ? [] : [{ type: "summary_text", text }];
  const { id, encrypted_content: encrypted } = said;
  const item = {
    type: "reasoning",
    ...(id === undefined ? {} : { id }),
    summary: Array.isArray(said.summary) ? said.summary : summary,
    ...(encrypted === undefined ? {} : { encrypted_content: encrypted }),
  };
  return { type: "reasoning", text, opaque: { item: item as JsonObject } };
}

function callPart(part: Data, names: Map<string, string>): Part {
  demandKnown("part", part, "tool_call signature thought_signature item_id");
  const call = part.tool_call as Data;
  demandKnown("tool_call", call, "id name arguments arguments_raw item_id");
  const id = String(call.id);
  const name = String(call.name);
  names.set(id, name);
  const signature = part.thought_signature ?? part.signature;
  const itemId = part.item_id ?? call.item_id;
  const own = {
    ...(signature === undefined ? {} : { thoughtSignature: String(signature) }),
    ...(itemId === undefined ? {} : { id: String(itemId) }),
  };
  const opaque = Object.keys(own).length === 0 ? {} : { opaque: own };
  if (call.arguments_raw === undefined) {
    const args = (call.arguments ?? {}) as JsonObject;
    return { type: "tool_call", id, name, args, rawArgs: JSON.stringify(args), ...opaque };
  }
  const rawArgs = String(call.arguments_raw);
  try {
    const args = JSON.parse(rawArgs) as unknown;
    if (typeof args === "object" && args !== null && !Array.isArray(args))
      return { type: "tool_call", id, name, args: args as JsonObject, rawArgs, ...opaque };
  } catch {
    // It is kept as what it is: arguments that cannot be read.
  }
  const argsError = "the arguments are no JSON object";
  return { type: "tool_call", id, name, args: {}, rawArgs, argsError, ...opaque };
}

function resultOf(result: Data, names: Map<string, string>): ToolMessage {
  demandKnown("results[]", result, "id text text_escaped text_repeat parts is_error name");
  const callId = String(result.id);
  return {
    role: "tool",
    callId,
    name: String(result.name ?? names.get(callId) ?? "unknown"),
    content: contentOf(result),
    isError: result.is_error === true,
  };
}
