// The room of an agent's options: the options of an agent and of a single run, and the check of each.

import { agentWords, hookWords, overrideWords } from "../checks/other-words.ts";
import {
  abortSignal,
  journal,
  model,
  provided,
  schema,
  system,
  toolChoice,
  tools,
} from "../checks/ready-made.ts";
import { settings } from "../checks/settings.ts";
import {
  able,
  anything,
  type Check,
  type ChecksOf,
  callable,
  checkGiven,
  count,
  data,
  either,
  finite,
  finite0,
  flag,
  having,
  listOf,
  membersOf,
  name,
  needed,
  oneOf,
  onlyNull,
  orNull,
  text,
  whole,
} from "../checks.ts";
import type { Clock } from "../clock.ts";
import { type ContextOptions, contextOptions } from "../context/options.ts";
import type { RondoEvent } from "../events.ts";
import type { Hooks } from "../hooks.ts";
import type { BlobStore } from "../journal/blobs.ts";
import type { LeaseOptions } from "../journal/writer.ts";
import type { Journal } from "../journal.ts";
import type { Logger } from "../logger.ts";
import type { RunEnd } from "../loop/records.ts";
import type { OutputWay, RunOptions } from "../loop/run-options.ts";
import type { JsonObject } from "../message.ts";
import type { Model, Settings, ToolChoice } from "../model.ts";
import type { OutputReading } from "../output/structured.ts";
import { type RedactOptions, redactOptions } from "../redact.ts";
import { type OnTruncated, onTruncatedCheck } from "../rules/answers.ts";
import { type Budget, budgetAmounts, type OnLimit, onLimitCheck, stepsUnder } from "../rules/limits.ts";
import { type Repeats, repeatsOptions } from "../rules/repeats.ts";
import { type Retry, retryOptions } from "../rules/retry.ts";
import { type Rule, ruleCheck } from "../rules/rule.ts";
import { type StopRule, stopRuleCheck } from "../rules/stop-when.ts";
import { defaultTexts, type Texts } from "../rules/texts.ts";
import type { UnknownKeys } from "../schema/unknown-keys.ts";
import type { SchemaLike } from "../schema.ts";
import type { Provided } from "../tool/dependency.ts";
import type { Tool } from "../tool.ts";
import { type Adapt, adaptOption } from "./wrappers.ts";

export interface AgentOptions<Output = unknown> {
  /** The model, e.g. `anthropic("claude-sonnet-5")` of `@rondo/models`. */
  model: Model;
  /** Models to fall back to, in order, if the previous one fails for good. Default: none. */
  fallback?: readonly Model[];
  /** More models that `hooks.prepareStep` may choose for a step; they are not fallbacks. Default: none. */
  models?: readonly Model[];
  /** The system prompt. Default: none. */
  system?: string;
  /** The tools that the model may call, each with a unique name. Default: none. */
  tools?: readonly Tool[];
  /**
   * Functions that wrap each model and each tool: `model`, `fallback`, `models`, `compaction.model` and `tools`, and those that a
   * fork or a single run replaces them with. Presets set this option: if you set it as well, yours replaces the preset's.
   * Default: none.
   */
  adapt?: Adapt;
  /** Limits, stop rules and rules of your own; a plain function is a stop rule. Default: only the built-in rules, each set by an option below. */
  rules?: readonly (Rule | StopRule)[];
  /** The rule that decides whether an answer is final. Default: `byContent()`. */
  continueRule?: Rule;
  /** How many model answers a run may have. Default: 100. A `maxSteps` among the rules overrides it. */
  maxSteps?: number;
  /** What happens at the step limit, unless a `maxSteps` among the rules has its own `onLimit`. `land`: one more turn without tools. `stop`: the run ends with the text so far. `error`: it ends with an error. `refuse_tools`: the last answer's calls do not run. Default: `land`. */
  onLimit?: OnLimit;
  /** The last turn of a landing. `tools`: whether tools stay declared (they cannot be called either way); `store`: whether its answer enters the history; `timeoutMs`: how many milliseconds its answer may take once the run's time is up, if that is limited. Default: `declared`, true, 60,000. */
  landing?: { tools?: "declared" | "omitted"; store?: boolean; timeoutMs?: number };
  /** Limits on tokens, money, time and model calls, for the run and all its sub-agents together. Default: none. */
  budget?: Budget;
  /** How many sub-agents a run may start, including those started by its sub-agents. Default: 64. */
  maxSubAgents?: number;
  /** How a failed model call is retried. Default: 4 attempts, waiting 500 ms, doubled up to 30 s, or as long as the provider asks, up to 60 s. `null`: no retries; a `fallback` is asked at once. */
  retry?: Retry | null;
  /** Timeouts of a model call in milliseconds. Default: `connectMs` 10,000, `firstByteMs` 120,000, `idleMs` (silence in the stream) 60,000, `totalMs` 600,000, and at least 480,000 more than the two before it, and than a model's own `firstByteMs`. */
  clocks?: Partial<RunOptions["clocks"]>;
  /** What happens to a call whose arguments are not a JSON object. `fail_closed`: it does not run. `pass_raw`: the tool's `executeRaw` gets them as text, unless the answer was cut off. Default: `fail_closed`. */
  argumentErrors?: "fail_closed" | "pass_raw";
  /** What happens to a call that the tool choice of its request did not allow. `refuse`: it does not run, and the model reads why. `run`: it runs. Default: `refuse`. */
  disallowedCalls?: "refuse" | "run";
  /** Whether arguments that do not fit the schema are converted, if that loses nothing (`"3"` to 3). A tool's own option overrides it. Default: true. */
  coerce?: boolean;
  /** What happens to argument keys that the schema does not name: `allow`, `strip`, or `reject` the call. A tool's own option overrides it. Default: `allow`. */
  unknownKeys?: UnknownKeys;
  /** What the model reads if a tool throws. `message`: the error's message. `masked`: a fixed text; only a `warning` event and the logger get the reason. Default: `message`. */
  toolErrors?: "message" | "masked";
  /** Values for the dependencies of tools and hooks: `dependency(…).as(value)`. Default: each key creates its own. */
  dependencies?: readonly Provided[];
  /** The timeout of tools without their own `timeoutMs`, in milliseconds. Default: 120,000. */
  toolTimeoutMs?: number;
  /** How many calls may run at the same time. Default: 8. */
  maxConcurrentTools?: number;
  /** How many calls of one answer are run; the rest are answered as skipped. Default: 32. */
  maxCallsPerTurn?: number;
  /** How the calls of an answer run. `by_effect`: in parallel, unless their effects or keys conflict. `sequential`: one after another. Default: `by_effect`. */
  toolOrder?: RunOptions["toolOrder"];
  /**
   * When a steering message is delivered while calls run one after another (`toolOrder: "sequential"`). `between_calls`:
   * after the first call at the earliest; calls that have not started are then skipped, also one that waits for an approval, but
   * not one that was approved. `after_calls`: when all have run. Default: `between_calls`.
   */
  steering?: "between_calls" | "after_calls";
  /** Whether the follow-ups that are queued when the run would end are delivered `together`, or `one_by_one`: the next once the one before is answered. Default: `together`. */
  followUps?: "together" | "one_by_one";
  /**
   * What happens to a `write` that a crash interrupted, if its tool cannot find out the outcome (`reconcile`). `tell`: the model
   * reads that the outcome is unknown. `ask`: the run parks; `approve` runs the call again, `deny` tells the model. Default: `tell`.
   */
  onInterrupted?: "tell" | "ask";
  /**
   * What happens if a session is opened whose open run began under other rules, tools, models, hooks or options. `continue`: what
   * the model was told stays, the current code is used, and a warning says what changed. `refuse`: `open` rejects. Default: `continue`.
   */
  onChanged?: "continue" | "refuse";
  /** How long work in flight may take to settle after an abort, in milliseconds; ending sub-agents may always take 1,000. Default: 2,000. */
  abortGraceMs?: number;
  /** What happens to calls of an answer that was cut off at the output limit. Default: `fail_calls`. */
  onTruncated?: OnTruncated;
  /** How many answers with cut-off calls a run may have before it lands. Default: 2. `null`: the continue rule decides. */
  maxTruncations?: number | null;
  /** How often in a row the model is asked again after calls that cannot be parsed. Default: 2. `null`: the continue rule decides. */
  malformedRetries?: number | null;
  /** How often in a row a paused answer is continued. Default: 5. `null`: the continue rule decides. */
  pauseResumes?: number | null;
  /** How often per run the model is asked again after an empty answer. Default: 1. `null`: the continue rule decides. */
  emptyNudges?: number | null;
  /** Default: a refusal ends the run. `null`: a refusal is an answer like any other, with its words as text, and the continue rule decides. */
  refusals?: null;
  /** Default: if a provider refuses a request because of something that can be left out, that is left out for the rest of the run, and an output limit that does not fit is lowered. `null`: such a request fails. */
  repairs?: null;
  /** How often per run the model is asked again after an answer that repeats itself until it is cut off, or repeats one sentence over and over. Default: 1. `null`: it is an answer like any other. */
  degenerateRetries?: number | null;
  /** What happens if calls are repeated and bring nothing new. Default: a note at 3 repeats, the tool hidden at 4, landing at 5. `null`: off. */
  repeats?: Repeats | null;
  /** Schema of the typed output: a Standard Schema or a JSON Schema. Default: none, the result is text. */
  output?: SchemaLike & OutputOf<Output>;
  /** How often an output that does not fit is asked for again; `{ afterTools }`: only in a run with tools. Default: 2, which makes 3 attempts. */
  decodeRetries?: number | { afterTools: number };
  /** How the model is held to the schema. `native`: by the provider. `tool`: the answer is a call of a tool made for this. `prompted`: the schema is part of the prompt. `auto`: the first of these that the model supports. Default: `auto`. */
  outputWay?: OutputWay;
  /** Whether tools stay declared, though not callable, in the request for the output, which keeps the provider's cache. Default: `declared`. */
  outputTools?: "declared" | "none";
  /** Whether the message that asks for the output is only in that request (`noted`), or stays in the history (`stored`). Default: `noted`. */
  outputRequest?: "noted" | "stored";
  /** How the output is read from the text. Default: any value in it that fits, its keys as written. */
  outputReading?: OutputReading;
  /** `false`: calls do not run; the run ends as `requires_action`, with the calls as `pending`. Default: true. */
  autoExecuteTools?: boolean;
  /** Whether `run` rejects if the run ends with an error; a function makes the error to throw from the end. Default: false. */
  throwOnError?: boolean | ((end: RunEnd) => Error);
  /** What keeps a run inside the model's context window, stage by stage; `null` turns a stage off. Default: all stages except `prune` and `tell` are on. */
  context?: ContextOptions;
  /** The store for the full texts of cut results. Default: the journal's own, else memory. `null`: they are not kept. */
  blobs?: BlobStore | null;
  /** Temperature, output limit, reasoning, …, for every request of a run. Default: the provider's. */
  settings?: Settings;
  /** Default: `auto`. */
  toolChoice?: ToolChoice;
  /** Callbacks that may change the course of a run. Default: none. */
  hooks?: Hooks;
  /** Functions that replace the loop's own texts to the model. If one throws, or does not return a string, the run ends with an error that names it. Default: the built-in texts. */
  texts?: Partial<Texts>;
  /** Default: silent. */
  logger?: Logger;
  /** Your own data about the program or its user (plain JSON), stored with the record that starts a run or takes one over. The loop never reads it. Default: none. */
  about?: JsonObject;
  /** Removes secrets from everything that enters a run, before the model or the journal gets it. Default: off. */
  redact?: RedactOptions;
  /** Where sessions are stored, unless `open` gives another journal. Default: memory, for the life of the agent object. */
  journal?: Journal;
  /** How a session is held while it is driven, if the journal has leases: `owner` names the holder in errors, `ttlMs` is how long the lease lasts without renewal. Default: `an agent`, 15,000. */
  lease?: LeaseOptions;
  /** The source of time and random numbers. Default: the host's. */
  clock?: Clock;
}

/** Only carries the type of the output. With a conditional type here, a plain JSON Schema would give its own type. */
type OutputOf<Output> = {
  readonly "~standard"?: { readonly types?: { readonly output: Output } | undefined };
  /** The form of TypeBox before 1.0. */
  readonly static?: Output;
};

export interface RunOverrides {
  /** Aborts the run when it fires: `run` and the stream's `result` then reject. */
  signal?: AbortSignal;
  /** The session to run in. Default: a new one. */
  session?: string;
  /** The journal. Default: the agent's. */
  journal?: Journal;
  /** Called with every live event. */
  onEvent?: (event: RondoEvent) => void;
  /** Values for dependencies; they override the agent's. */
  dependencies?: readonly Provided[];
  /** Replaces the agent's. */
  tools?: readonly Tool[];
  /** Replaces the agent's. */
  toolChoice?: ToolChoice;
  /** Compact the session now, whatever its size, instead of running a task: the input is ignored. Needs the compaction stage. */
  forceCompaction?: boolean;
}

/** @throws RondoError `invalid_request` naming the first invalid option, and what is needed */
export const checkOptions = (given: AgentOptions): void => {
  checkGiven(agentOptions, given);
  checkGiven(membersOf({ maxSteps: stepsUnder(given.onLimit) }, [], "let_pass"), given);
};

const rule: Check = (value) => (typeof value === "function" ? stopRuleCheck(value) : ruleCheck(value));

const continueFace = having(
  "a rule that judges answers, as byContent() or continueBy(name, policy) gives it,",
  { name: text, judge: callable },
);

const hooksCheck = membersOf<Hooks>(
  {
    permission: callable,
    prepareStep: callable,
    beforeTool: callable,
    afterTool: callable,
    transformContext: callable,
    onFinish: callable,
  },
  [],
  hookWords,
);

/** The check of each option; presets use the same for theirs. */
export const agentChecks: ChecksOf<AgentOptions> = {
  model,
  fallback: listOf(model),
  models: listOf(model),
  system,
  tools,
  adapt: adaptOption,
  rules: listOf(rule),
  continueRule: (value) => continueFace(value) ?? ruleCheck(value),
  maxSteps: stepsUnder("stop"),
  onLimit: onLimitCheck,
  landing: membersOf<NonNullable<AgentOptions["landing"]>>({
    tools: oneOf("declared", "omitted"),
    store: flag,
    timeoutMs: finite,
  }),
  budget: budgetAmounts,
  maxSubAgents: whole,
  retry: orNull(retryOptions),
  // 0 means no timeout for connecting; for the others it would end every call.
  clocks: membersOf<NonNullable<AgentOptions["clocks"]>>({
    connectMs: finite0,
    firstByteMs: finite,
    idleMs: finite,
    totalMs: finite,
  }),
  argumentErrors: oneOf("fail_closed", "pass_raw"),
  disallowedCalls: oneOf("refuse", "run"),
  coerce: flag,
  unknownKeys: oneOf("allow", "strip", "reject"),
  toolErrors: oneOf("message", "masked"),
  dependencies: listOf(provided),
  toolTimeoutMs: finite,
  maxConcurrentTools: count,
  maxCallsPerTurn: count,
  toolOrder: oneOf("by_effect", "sequential", "parallel"),
  steering: oneOf("between_calls", "after_calls"),
  followUps: oneOf("together", "one_by_one"),
  onInterrupted: oneOf("tell", "ask"),
  onChanged: oneOf("continue", "refuse"),
  abortGraceMs: finite0,
  onTruncated: onTruncatedCheck,
  maxTruncations: orNull(whole),
  malformedRetries: orNull(whole),
  pauseResumes: orNull(whole),
  emptyNudges: orNull(whole),
  refusals: onlyNull,
  repairs: onlyNull,
  degenerateRetries: orNull(whole),
  repeats: orNull(repeatsOptions),
  output: schema("a schema (a Standard Schema, or a JSON Schema)"),
  decodeRetries: either(whole, membersOf<{ afterTools: number }>({ afterTools: whole }, ["afterTools"])),
  outputWay: oneOf("auto", "native", "tool", "prompted"),
  outputTools: oneOf("declared", "none"),
  outputRequest: oneOf("noted", "stored"),
  outputReading: membersOf<OutputReading>({ wholeText: flag, camelCaseKeys: flag }),
  autoExecuteTools: flag,
  throwOnError: either(callable, flag),
  context: contextOptions,
  blobs: orNull(able("a store of texts (put, get, delete)", "put", "get", "delete")),
  settings,
  toolChoice,
  hooks: (value) =>
    Array.isArray(value)
      ? { at: "", says: "one set of hooks is needed, not a list: composeHooks(a, b) makes one of several" }
      : hooksCheck(value),
  texts: membersOf(
    Object.fromEntries(
      Object.entries(defaultTexts).map(([name, own]) => [
        name,
        typeof own === "function" ? callable : anything,
      ]),
    ),
  ),
  logger: able("a logger (debug, info, warn, error)", "debug", "info", "warn", "error"),
  about: data,
  redact: redactOptions,
  journal,
  lease: membersOf<LeaseOptions>({
    owner: name,
    ttlMs: needed(
      "a number from 100 to 2^31 - 1",
      (value) => Number.isFinite(value) && (value as number) >= 100 && (value as number) < 2 ** 31,
    ),
  }),
  clock: able("a clock (now, random, after)", "now", "random", "after"),
};

const agentOptions = membersOf(agentChecks, ["model"], agentWords);

/** @throws RondoError `invalid_request` naming the first invalid option of a single run */
export const checkOverrides = (given: RunOverrides & { takeOver?: boolean }): void =>
  checkGiven(overrides, given);

const overrides = membersOf<RunOverrides & { takeOver?: boolean }>(
  {
    signal: abortSignal,
    session: text,
    onEvent: callable,
    forceCompaction: flag,
    takeOver: flag,
    journal: agentChecks.journal,
    dependencies: agentChecks.dependencies,
    tools: agentChecks.tools,
    toolChoice: agentChecks.toolChoice,
  },
  [],
  overrideWords(() => agentChecks),
);
