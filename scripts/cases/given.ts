// The room of circumstances: maps the options of a case's initial state to Rondo's. Messages and history: given-messages.ts.
//
// Every option name is mapped here, or refused. Nothing here looks at what a case expects.

import type { AgentOptions, JsonObject, ModelFacts, Settings } from "@rondo/core";
import { demandKnown, type Given, Unsupported } from "./format.ts";
import { words } from "./given-messages.ts";
import { abortedNames, usualOption } from "./option-names.ts";

/** The result of mapping: some options are the agent's, some the model's. */
export interface MappedOptions {
  agent: Partial<AgentOptions>;
  facts: ModelFacts;
  /** Quirks of the server. */
  compat: JsonObject;
  /** Tools are sent as text in the prompt. */
  prompted: boolean;
  /** Answers come whole, not as streams. */
  whole?: boolean;
  /** How deep sub-agents may be nested. */
  maxDepth?: number;
  /** The user's signal was aborted before the run. */
  aborted?: boolean;
}

type Mapper = (value: never, to: MappedOptions) => void;

type Level = Extract<Settings["reasoning"], string>;

/** Booleans, and synonyms of efforts. */
const levels: { readonly [word: string]: Level | undefined } = {
  true: "medium",
  enabled: "medium",
  adaptive: "medium",
  auto: "medium",
  false: "off",
  disabled: "off",
  none: "off",
  xhigh: "high",
  max: "high",
};

/** How much to think: a boolean, an effort, a number of tokens, or a provider's own object. */
function think(
  value: boolean | string | number | { budget_tokens?: number; effort?: string; type?: string },
  { agent }: MappedOptions,
): void {
  if (typeof value === "number") thinkAs({ budgetTokens: value });
  else if (typeof value !== "object") thinkAs(levels[String(value)] ?? (value as Level));
  else {
    demandKnown("given.options.thinking", value, "type budget_tokens effort note");
    const { type, budget_tokens: budget, effort } = value;
    if (type === "disabled") thinkAs("off");
    else if (effort !== undefined) thinkAs(levels[effort] ?? (effort as Level));
    else thinkAs(type === "adaptive" && budget === undefined ? "medium" : { budgetTokens: budget ?? 1024 });
  }

  function thinkAs(reasoning: NonNullable<Settings["reasoning"]>): void {
    agent.settings = { ...agent.settings, reasoning };
  }
}

/** Also covers the silence before the first token, unless the case has a separate timeout for it. */
function silence(value: number, { agent }: MappedOptions): void {
  agent.clocks = { firstByteMs: value, ...agent.clocks, idleMs: value };
}

function strictTools(value: boolean, to: MappedOptions): void {
  // The schema of a tool that must be strict may be adapted to strict mode.
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
  top_p: (value: number, { agent }) => {
    agent.settings = { ...agent.settings, topP: value };
  },
  top_k: (value: number, { agent }) => {
    agent.settings = { ...agent.settings, topK: value };
  },
  presence_penalty: (value: number, { agent }) => {
    agent.settings = { ...agent.settings, presencePenalty: value };
  },
  frequency_penalty: (value: number, { agent }) => {
    agent.settings = { ...agent.settings, frequencyPenalty: value };
  },
  seed: (value: number, { agent }) => {
    agent.settings = { ...agent.settings, seed: value };
  },
  stop: (value: string | string[], { agent }) => {
    agent.settings = { ...agent.settings, stop: [value].flat() };
  },
  headers: (value: Record<string, string>, { agent }) => {
    agent.settings = { ...agent.settings, headers: value };
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
    // Any other word is a tool's name.
    const choice = name === undefined ? (words[word] ?? { tool: word }) : { tool: name };
    if (word === "" && name === undefined)
      throw new Unsupported(`given.options.tool_choice ${JSON.stringify(value)}`);
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
  // Rondo has one timeout for silence, which bytes without content do not reset: a separate byte timeout is not needed.
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
  // In these cases a step is a model call: there is no further one for a final answer.
  max_steps: (value: number, { agent }) => {
    agent.maxSteps = value;
    agent.onLimit = "stop";
  },
  base_delay_ms: (value: number, { agent }) => {
    agent.retry = { ...agent.retry, baseMs: value };
  },
  max_delay_ms: (value: number, { agent }) => {
    agent.retry = { ...agent.retry, capMs: value };
  },
  max_truncations: (value: number, { agent }) => {
    agent.maxTruncations = value;
  },
  malformed_retries: (value: number, { agent }) => {
    agent.malformedRetries = value;
  },
  decode_retries: (value: number, { agent }) => {
    agent.decodeRetries = value;
  },
  tool_order: (value: "sequential" | "parallel", { agent }) => {
    agent.toolOrder = value;
  },
  // False: no compaction.
  compaction: (value: boolean | { at?: number } | null, { agent }) => {
    const off = value === false || value === null;
    if (value !== true)
      agent.context = { ...agent.context, compaction: off ? null : { at: value.at ?? 0.8 } };
  },
  coerce: (value: boolean, { agent }) => {
    agent.coerce = value;
  },
  on_truncated: (value: NonNullable<AgentOptions["onTruncated"]>, { agent }) => {
    agent.onTruncated = value;
  },
  max_tools: (value: number, to) => {
    to.compat = { ...to.compat, maxTools: value };
  },
  disable_parallel_tool_use: (value: boolean, { agent }) => {
    agent.settings = { ...agent.settings, parallelToolCalls: !value };
  },
  stream: (value: boolean, to) => {
    to.whole = !value;
  },
  // What a model can do, where the catalogue does not know it.
  supports_images: (value: boolean, to) => {
    to.facts = { ...to.facts, accepts: value ? ["image/*"] : [] };
  },
  supports_tools: (value: boolean, to) => {
    to.facts = { ...to.facts, tools: value };
  },
  compaction_threshold: (value: number, { agent }) => {
    agent.context = { ...agent.context, compaction: { at: value } };
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
  // The limit of the whole result, including the note that it was cut.
  max_tool_result_chars: (value: number, { agent }) => {
    agent.context = { ...agent.context, cap: { bytes: Math.max(1, value - 100) } };
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
  // A limit in dollars needs a price; a case that names none means any.
  max_cost_usd: (value: number, to) => {
    to.agent.budget = { ...to.agent.budget, usd: value };
    to.facts = { price: { input: 3, output: 15 }, ...to.facts };
  },
  // US dollars for a million tokens.
  price: (value: { input: number; output: number }, to) => {
    demandKnown("given.options.price", value, "input output cachedInput cacheWrite cacheWrite1h longPrompts");
    to.facts = { ...to.facts, price: value };
  },
  exempt_tools: (value: string[], { agent }) => {
    agent.repeats = { ...agent.repeats, exempt: value };
  },
  max_nudges: (value: number, { agent }) => {
    agent.emptyNudges = value;
  },
  // The first agent is counted too.
  max_agents: (value: number, { agent }) => {
    agent.maxSubAgents = value - 1;
  },
  max_sub_agents: (value: number, { agent }) => {
    agent.maxSubAgents = value;
  },
  max_retries: (value: number, { agent }) => {
    agent.retry = { ...agent.retry, attempts: value + 1 };
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
    if (!/^(?:(?:json[-_ ]?in[-_ ]?)?text|json|prompted)$/.test(value))
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
  // Who approves, or that nobody can: then calls that would ask are answered at once.
  approver: (value: null | boolean | string, { agent }) => {
    const words = { none: null, nobody: null, absent: null, headless: null, false: null };
    const said = String(value);
    const who = said in words ? null : value;
    const allows = who !== null && /^(?:true|allows?|approves?|auto(?:_allow)?|always)$/.test(said);
    if (who !== null && !allows && !/^(?:den(?:y|ies)|rejects?)$/.test(said))
      throw new Unsupported(`given.options.approver ${JSON.stringify(value)}`);
    const reason =
      who === null
        ? "it needs an approval, and there is nobody to approve it"
        : "the approval it needs was denied";
    agent.hooks = {
      ...agent.hooks,
      permission: (call) => {
        if (agent.tools?.find((tool) => tool.name === call.name)?.permission !== "ask") return undefined;
        return allows ? { answer: "allow" } : { answer: "deny", reason };
      },
    };
  },
};

/** Automatic cache markers, for the protocols that have them. */
const caching = (cache: boolean): Record<string, JsonObject> => ({
  anthropic: { cache },
  bedrock: { cache },
});

/** One call is no repeat yet: with a low limit there is a note after the second and nothing is hidden. */
function ladder(landAt: number): NonNullable<AgentOptions["repeats"]> {
  const nudgeAt = Math.min(landAt, Math.max(2, landAt - 2));
  return { nudgeAt, hideAt: landAt - 1 > nudgeAt ? landAt - 1 : landAt, landAt };
}

/** @throws Unsupported naming an option without a counterpart */
export function mappedOptions(given: Given): MappedOptions {
  // Cases compare whole messages: cache markers are set only when a case asks for them.
  const mapped: MappedOptions = {
    agent: { settings: { providerOptions: caching(false) } },
    facts: {},
    compat: {},
    prompted: false,
  };
  if (given.tools?.some((tool) => tool.strict === true) === true) strictTools(true, mapped);
  for (const [name, value] of Object.entries(given.options ?? {})) {
    if (abortedNames.test(name)) {
      mapped.aborted = value === true || /abort(?:ed)?(?!":false)/i.test(JSON.stringify(value));
      continue;
    }
    const usual = usualOption(name);
    const mapper = Object.hasOwn(mappers, usual) ? mappers[usual] : undefined;
    if (mapper === undefined) throw new Unsupported(`given.options.${name}: Rondo has no such option yet`);
    mapper(value as never, mapped);
  }
  if (given.system !== undefined) mapped.agent.system = given.system;
  if (given.pinned_tokens !== undefined) mapped.agent.system = words(given.pinned_tokens);
  if (given.output_schema !== undefined) mapped.agent.output = given.output_schema as never;
  return mapped;
}
