// The room of an agent's options: what may be said of one, and of a single run; each is looked at before anything is made of it.

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
import { type OnTruncated, truncatedWords } from "../rules/answers.ts";
import { type Budget, budgetAmounts, limitWords, type OnLimit, stepsUnder } from "../rules/limits.ts";
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
  /** The model that is asked, e.g. `anthropic("claude-sonnet-5")` of `@rondo/models`. */
  model: Model;
  /** Models to fall back to, in order, when the one before fails for good. Default: none. */
  fallback?: readonly Model[];
  /** More models that `hooks.prepareStep` may choose for a step; they are no fall-backs. Default: none. */
  models?: readonly Model[];
  /** The system prompt. Default: none. */
  system?: string;
  /** What the model may call, each under a name of its own. Default: none. */
  tools?: readonly Tool[];
  /**
   * Functions that wrap each model and each tool: `model`, `fallback`, `models`, `compaction.model` and `tools`, and what a fork or
   * a single run puts in their place. Presets set it: yours beside a preset replaces the preset's.
   * Default: none.
   */
  adapt?: Adapt;
  /** Rules of the run: stop rules, limits, your own. A plain function is a stop rule. They come before the built-in ones. */
  rules?: readonly (Rule | StopRule)[];
  /** The rule that decides whether an answer is final. Default: `byContent()`. */
  continueRule?: Rule;
  /** Model answers that a run may have. Default: 100. A `maxSteps` among the rules wins. */
  maxSteps?: number;
  /** What happens at the step limit, unless a `maxSteps` among the rules says so itself. Default: `land`. */
  onLimit?: OnLimit;
  /** The last turn of a landing. `tools`: whether they stay declared (they cannot be used either way); `store`: whether its answer enters the history. Default: `declared`, true. */
  landing?: { tools?: "declared" | "omitted"; store?: boolean };
  /** Limits on tokens, money, time and model calls, for the run and all its sub-agents together. Default: none. */
  budget?: Budget;
  /** How many sub-agents a run may start, including those that its sub-agents start. Default: 64. */
  maxSubAgents?: number;
  /** How a failed model call is retried. Default: 4 attempts, 500 ms doubled up to 30 s, or the provider's own wait up to 60 s. `null`: never; a `fallback` is asked at once. */
  retry?: Retry | null;
  /** Time-outs of a model call in milliseconds. Default: `connectMs` 10,000, `firstByteMs` 120,000, `idleMs` 60,000, `totalMs` 600,000. */
  clocks?: Partial<RunOptions["clocks"]>;
  /** What happens to a call whose arguments are not a JSON object. `fail_closed`: it does not run. `pass_raw`: the tool's `executeRaw` gets the text, except from an answer that was cut off. Default: `fail_closed`. */
  argumentErrors?: "fail_closed" | "pass_raw";
  /** Convert arguments that do not fit the schema, if that loses nothing. A tool's own option wins. Default: true. */
  coerce?: boolean;
  /** What happens to keys of arguments that the schema does not name. A tool's own option wins. Default: `allow`. */
  unknownKeys?: UnknownKeys;
  /** `masked`: where a tool throws, the model reads a fixed text, and only a `warning` event and the logger hear why. Default: `message`. */
  toolErrors?: "message" | "masked";
  /** Values for the dependencies of tools and hooks: `dependency(…).as(value)`. Default: each key makes its own. */
  dependencies?: readonly Provided[];
  /** The time-out of tools that set none of their own, in milliseconds. Default: 120,000. */
  toolTimeoutMs?: number;
  /** How many calls may run at the same time. Default: 8. */
  maxConcurrentTools?: number;
  /** How many calls of one answer are run; the rest are answered as skipped. Default: 32. */
  maxCallsPerTurn?: number;
  /** In which order calls of an answer run. `by_effect`: together unless what they do or touch conflicts. `sequential`: one after another. Default: `by_effect`. */
  toolOrder?: RunOptions["toolOrder"];
  /**
   * When a steering message is delivered while calls run one after another (`toolOrder: "sequential"`). `between_calls`:
   * after the first call at the earliest; calls that have not started are then skipped, also one that waits for an approval, but
   * none that somebody approved. `after_calls`: when all have run. Default: `between_calls`.
   */
  steering?: "between_calls" | "after_calls";
  /**
   * What happens to a `write` that a crash cut off, if its tool cannot find out (`reconcile`). `tell`: the model is told
   * that its outcome is unknown. `ask`: the run parks; `approve` runs the call again, `deny` tells the model. Default: `tell`.
   */
  onInterrupted?: "tell" | "ask";
  /**
   * What happens when a session is opened whose open run began under other rules, tools, models, hooks or options. `continue`: what
   * the model was told stays, code is today's, and a warning says what changed. `refuse`: `open` throws. Default: `continue`.
   */
  onChanged?: "continue" | "refuse";
  /** How long what is in flight may take to settle after an abort, in milliseconds; ending sub-agents may take at least 1,000. Default: 2,000. */
  abortGraceMs?: number;
  /** What happens to calls of an answer that was cut off at the output limit. Default: `fail_calls`. */
  onTruncated?: OnTruncated;
  /** How many answers whose calls were cut off a run may have. Default: 2. `null`: the continue rule decides. */
  maxTruncations?: number | null;
  /** How often an answer with unreadable calls is asked for again. Default: 2. `null`: the continue rule decides. */
  malformedRetries?: number | null;
  /** How often in a row a paused answer is continued. Default: 5. `null`: the continue rule decides. */
  pauseResumes?: number | null;
  /** How often an empty answer is asked for again. Default: 1. `null`: the continue rule decides. */
  emptyNudges?: number | null;
  /** Default: a refused answer ends the run. `null`: it is an answer like any other, its words are a text, and the continue rule decides. */
  refusals?: null;
  /** Default: if a request is refused for something that can be left out, that is left out for the rest of the run, and an output limit that does not fit is lowered. `null`: such a request fails. */
  repairs?: null;
  /** How often an answer that repeats itself until it is cut off, or repeats one sentence over and over, is asked for again. Default: 1. `null`: it is an answer like any other. */
  degenerateRetries?: number | null;
  /** What happens when calls repeat and bring nothing new. Default: a note at 3, the tool hidden at 4, landing at 5. `null`: off. */
  repeats?: Repeats | null;
  /** Schema of the typed output: a Standard Schema or a JSON Schema. */
  output?: SchemaLike & OutputOf<Output>;
  /** How often an output that does not fit is asked for again; `afterTools`: never where a run has no tools. Default: 2, which makes 3 attempts. */
  decodeRetries?: number | { afterTools: number };
  /** How the model is made to follow the schema. Default: `auto`: natively if it can, else by a tool made for this, else in words. */
  outputWay?: OutputWay;
  /** Whether tools stay declared, not callable, when the output is asked for: that keeps the provider's cache. Default: `declared`. */
  outputTools?: "declared" | "none";
  /** Whether the words that ask for the output are only in that request (`noted`), or stay in the history (`stored`). Default: `noted`. */
  outputRequest?: "noted" | "stored";
  /** How the output is read from the text. Default: any value in it that fits, its keys as written. */
  outputReading?: OutputReading;
  /** `false`: calls are not run but returned as `pending`. Default: true. */
  autoExecuteTools?: boolean;
  /** Reject when a run ends with an error; a function makes the thrown error from the end. Default: false. */
  throwOnError?: boolean | ((end: RunEnd) => Error);
  /** What keeps a run inside its window, stage by stage; each may be `null`. Default: all but `prune` and `tell` are on. */
  context?: ContextOptions;
  /** Where the whole texts of cut results are kept. Default: beside the journal, else in memory. `null`: they are not kept. */
  blobs?: BlobStore | null;
  /** Temperature, output limit, reasoning, …: of every request of the run. Default: the provider's own. */
  settings?: Settings;
  /** Default: `auto`. */
  toolChoice?: ToolChoice;
  /** Functions of yours that may change the course of a run. Default: none. */
  hooks?: Hooks;
  /** The loop's own texts for the model, each replaceable. One that throws, or does not return a text, ends its run, and the error names it. */
  texts?: Partial<Texts>;
  /** Default: silent. */
  logger?: Logger;
  /** Your own data about the program or its user, kept with the record that starts a run or takes one over. The loop never looks at it. */
  about?: JsonObject;
  /** Takes secrets out of whatever enters a run, before the model or the journal gets it. Default: off. */
  redact?: RedactOptions;
  /** Where sessions are kept unless `open` says otherwise. Default: memory, for the life of the object. */
  journal?: Journal;
  /** How a session is held while it is driven, if the journal has leases. Default: as `an agent`; another may take it after 15 s without renewal. */
  lease?: LeaseOptions;
  /** The source of time and random numbers. Default: the host's. */
  clock?: Clock;
}

/** Only carries the type of the output. A conditional type here would give a plain JSON Schema's own type as the output's. */
type OutputOf<Output> = {
  readonly "~standard"?: { readonly types?: { readonly output: Output } | undefined };
  /** As TypeBox before 1.0 says it. */
  readonly static?: Output;
};

export interface RunOverrides {
  /** Aborts the run: `run` then rejects, the stream ends. */
  signal?: AbortSignal;
  /** The session to run in. Default: a new one. */
  session?: string;
  /** Where to keep it. Default: the agent's. */
  journal?: Journal;
  /** Hears every live event. */
  onEvent?: (event: RondoEvent) => void;
  /** What is given for keys of tools, before what the agent gives. */
  dependencies?: readonly Provided[];
  /** In place of the agent's. */
  tools?: readonly Tool[];
  /** In place of the agent's. */
  toolChoice?: ToolChoice;
  /** Compact the session now, whatever its size, instead of running a task: the input is not looked at. Needs a compaction stage. */
  forceCompaction?: boolean;
}

/** @throws RondoError `invalid_request` naming the first option that cannot be used, and what is needed */
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

/** What each option of an agent must be; presets look at theirs by the same. */
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
  onLimit: limitWords,
  landing: membersOf<NonNullable<AgentOptions["landing"]>>({
    tools: oneOf("declared", "omitted"),
    store: flag,
  }),
  budget: budgetAmounts,
  maxSubAgents: whole,
  retry: orNull(retryOptions),
  // None is needed for connecting; of the others 0 would be the end of every call.
  clocks: membersOf<NonNullable<AgentOptions["clocks"]>>({
    connectMs: finite0,
    firstByteMs: finite,
    idleMs: finite,
    totalMs: finite,
  }),
  argumentErrors: oneOf("fail_closed", "pass_raw"),
  coerce: flag,
  unknownKeys: oneOf("allow", "strip", "reject"),
  toolErrors: oneOf("message", "masked"),
  dependencies: listOf(provided),
  toolTimeoutMs: finite,
  maxConcurrentTools: count,
  maxCallsPerTurn: count,
  toolOrder: oneOf("by_effect", "sequential", "parallel"),
  steering: oneOf("between_calls", "after_calls"),
  onInterrupted: oneOf("tell", "ask"),
  onChanged: oneOf("continue", "refuse"),
  abortGraceMs: finite0,
  onTruncated: truncatedWords,
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

/** @throws RondoError `invalid_request` naming the first option of a single run that cannot be used */
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
