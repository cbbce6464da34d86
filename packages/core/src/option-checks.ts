// The room of an agent's options as they are given: each is looked at before anything is made of it.

import type { RunOverrides } from "./agent.ts";
import {
  able,
  above0,
  anything,
  type ChecksOf,
  callable,
  checkGiven,
  count,
  either,
  finite,
  finite0,
  flag,
  from0,
  having,
  listOf,
  membersOf,
  number,
  object,
  oneOf,
  onlyNull,
  orNull,
  text,
  whole,
} from "./checks.ts";
import type { HeadTailCap, LinesCap } from "./context/cap-facts.ts";
import type { CompactionOptions } from "./context/compact/settings.ts";
import type { ContextOptions } from "./context/options.ts";
import type { TrimOptions } from "./context/trim.ts";
import type { Hooks } from "./hooks.ts";
import type { Settings } from "./model.ts";
import type { AgentOptions } from "./options.ts";
import type { OutputReading } from "./output/structured.ts";
import type { RedactOptions } from "./redact.ts";
import { budgetAmounts } from "./rules/limits.ts";
import { repeatsOptions } from "./rules/repeats.ts";
import { retryOptions } from "./rules/retry.ts";
import { defaultTexts } from "./rules/texts.ts";
import type { LeaseOptions } from "./writer.ts";

/** @throws RondoError `invalid_request` naming the first option that cannot be used, and what is needed */
export const checkOptions = (given: AgentOptions): void => checkGiven(agentOptions, given);

const model = able("a Model, e.g. offline() of @rondo/models,", "call");
const tool = having("a tool, as tool() makes it,", {
  name: text,
  definition: object,
  check: callable,
  execute: callable,
});
const rule = either(callable, having("a rule, or a function that is a stop rule,", { name: text }));

const cap = membersOf<LinesCap & Omit<HeadTailCap, "mode">>({
  mode: anything,
  bytes: finite,
  share: finite,
  charsPerToken: finite,
  form: anything,
  hardCap: finite,
  minKeep: finite0,
  by: text,
  exempt: listOf(text),
  keep: anything,
  withFiles: anything,
  readers: orNull(membersOf({ read: text, search: text, maxLineLength: above0 })),
});

const compaction = membersOf<CompactionOptions>({
  format: oneOf("structured", "tagged"),
  auto: flag,
  at: number,
  limit: oneOf("context_window", "input_tokens"),
  withoutLimit: oneOf("skip", "throw"),
  model,
  keepTurns: number,
  keepShare: number,
  keepTask: flag,
  minGain: orNull(number),
  ledger: flag,
  form: oneOf("marked", "plain"),
  summaryPrompt: text,
  summaryDirectives: listOf(text),
  retainPrompt: orNull(text),
  retainDirectives: listOf(text),
  summaryMaxTokens: orNull(number),
  minSummaryCharacters: from0,
  resultCharacters: orNull(number),
  onFailure: oneOf("keep", "note"),
  atEnd: flag,
});

const settings = membersOf<Settings>({
  temperature: number,
  topP: number,
  topK: number,
  maxOutputTokens: number,
  stop: listOf(text),
  seed: number,
  frequencyPenalty: number,
  presencePenalty: number,
  // Servers go on finding words for effort; what one does not know is its model's to say.
  reasoning: either(text, membersOf<{ budgetTokens: number }>({ budgetTokens: number })),
  parallelToolCalls: flag,
  headers: object,
  providerOptions: object,
});

const checks: ChecksOf<AgentOptions> = {
  model,
  fallback: listOf(model),
  system: text,
  tools: listOf(tool),
  rules: listOf(rule),
  continueRule: rule,
  maxSteps: whole,
  onLimit: oneOf("land", "error", "refuse_tools", "stop"),
  landing: membersOf<NonNullable<AgentOptions["landing"]>>({
    tools: oneOf("declared", "omitted"),
    store: flag,
  }),
  budget: budgetAmounts,
  maxSubAgents: whole,
  retry: orNull(retryOptions),
  clocks: membersOf<NonNullable<AgentOptions["clocks"]>>({
    connectMs: finite0,
    firstByteMs: finite0,
    idleMs: finite0,
    totalMs: finite0,
  }),
  argumentErrors: oneOf("fail_closed", "pass_raw"),
  coerce: flag,
  unknownKeys: oneOf("allow", "strip", "reject"),
  toolErrors: oneOf("message", "masked"),
  dependencies: listOf(having("what dependency(…).as(value) gives", { id: text })),
  toolTimeoutMs: finite,
  maxConcurrentTools: count,
  maxCallsPerTurn: count,
  toolOrder: oneOf("by_effect", "sequential", "parallel"),
  onInterrupted: oneOf("tell", "ask"),
  onChanged: oneOf("continue", "refuse"),
  abortGraceMs: finite0,
  onTruncated: oneOf("fail_calls", "run_complete", "ignore_calls"),
  maxTruncations: orNull(whole),
  malformedRetries: orNull(whole),
  pauseResumes: orNull(whole),
  emptyNudges: orNull(whole),
  refusals: onlyNull,
  repairs: onlyNull,
  degenerateRetries: orNull(whole),
  repeats: orNull(repeatsOptions),
  output: anything,
  decodeRetries: whole,
  outputWay: oneOf("auto", "native", "tool", "prompted"),
  outputTools: oneOf("declared", "none"),
  outputRequest: oneOf("noted", "stored"),
  outputReading: membersOf<OutputReading>({ wholeText: flag, camelCaseKeys: flag }),
  autoExecuteTools: flag,
  throwOnError: either(callable, flag),
  context: membersOf<ContextOptions>({
    window: finite,
    cap: orNull(cap),
    trim: orNull(
      membersOf<TrimOptions>({
        budgetTokens: number,
        minTokens: number,
        maxTokens: number,
        window: text,
        to: number,
        keep: oneOf("last_answer", "none"),
      }),
    ),
    // As lenient as the settings files that it is read from.
    prune: anything,
    guard: orNull(membersOf({ results: oneOf("cut", "truncate", "truncate_and_replace") })),
    compaction: orNull(compaction),
    estimator: anything,
    tell: listOf(number),
  }),
  blobs: orNull(able("a store of texts (put, get, delete)", "put", "get", "delete")),
  settings,
  toolChoice: either(oneOf("auto", "any", "none"), membersOf({ tool: text })),
  hooks: membersOf<Hooks>({
    permission: callable,
    prepareStep: callable,
    beforeTool: callable,
    afterTool: callable,
    transformContext: callable,
    onFinish: callable,
  }),
  texts: membersOf(
    Object.fromEntries(
      Object.entries(defaultTexts).map(([name, own]) => [
        name,
        typeof own === "function" ? callable : anything,
      ]),
    ),
  ),
  logger: able("a logger (debug, info, warn, error)", "debug", "info", "warn", "error"),
  about: object,
  redact: membersOf<RedactOptions>({
    secrets: listOf(text),
    patterns: anything,
    knownForms: flag,
    names: listOf(text),
  }),
  journal: able("a journal (append, read, list)", "append", "read", "list"),
  lease: membersOf<LeaseOptions>({ owner: text, ttlMs: above0 }),
  clock: able("a clock (now, random, after)", "now", "random", "after"),
};

const agentOptions = membersOf(checks, ["model"]);

/** @throws RondoError `invalid_request` naming the first option of a single run that cannot be used */
export const checkOverrides = (given: RunOverrides & { takeOver?: boolean }): void =>
  checkGiven(overrides, given);

const overrides = membersOf<RunOverrides & { takeOver?: boolean }>({
  signal: having("an AbortSignal", { aborted: flag, addEventListener: callable }),
  session: text,
  onEvent: callable,
  forceCompaction: flag,
  takeOver: flag,
  journal: checks.journal,
  dependencies: checks.dependencies,
  tools: checks.tools,
  toolChoice: checks.toolChoice,
});
