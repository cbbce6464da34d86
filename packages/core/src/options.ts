// The room of options: what a user may say about an agent, and what it comes to.
//
// Every option has one default, and it stands here. Options become two things: facts that are journaled with the run,
// and rules. A wrong option is a programming error and is thrown at once, naming the option.

import type { BlobStore } from "./blobs.ts";
import { wrong } from "./checks.ts";
import type { Clock } from "./clock.ts";
import { readerNames } from "./context/cap-facts.ts";
import { charEstimator } from "./context/estimate.ts";
import { type ContextOptions, contextFacts } from "./context/options.ts";
import { readerTools } from "./context/reader-tools.ts";
import type { Provided } from "./dependency.ts";
import { messageOf, RondoError } from "./errors.ts";
import type { Hooks } from "./hooks.ts";
import type { Journal } from "./journal.ts";
import type { Logger } from "./logger.ts";
import type { Fact, ModelRef, OutputWay, RunEnd, RunOptions, ToolFacts } from "./loop/records.ts";
import type { JsonObject } from "./message.ts";
import type { Model, Settings, ToolChoice } from "./model.ts";
import { checkOptions } from "./option-checks.ts";
import { checkOutput, type OutputReading } from "./output/structured.ts";
import { outputToolName } from "./output/ways.ts";
import { type RedactOptions, redaction } from "./redact.ts";
import {
  emptyAnswers,
  malformedCalls,
  type OnTruncated,
  pauses,
  refusals,
  truncations,
} from "./rules/answers.ts";
import { degenerateAnswers } from "./rules/degenerate.ts";
import { type Budget, budget, maxSteps, type OnLimit } from "./rules/limits.ts";
import { overflow } from "./rules/overflow.ts";
import { repairs } from "./rules/repairs.ts";
import { type Repeats, repeats } from "./rules/repeats.ts";
import { type Retry, retry } from "./rules/retry.ts";
import { tellRoom } from "./rules/room.ts";
import { type Rule, type Rules, type StopRule, stopWhen } from "./rules/rule.ts";
import { byContent } from "./rules/stop/by-content.ts";
import { defaultTexts, type Texts } from "./rules/texts.ts";
import { textsDigest } from "./rules/texts-digest.ts";
import { tree } from "./rules/tree.ts";
import { compileSchema, type SchemaLike } from "./schema.ts";
import { fitTool, type Tool, toolResult } from "./tool.ts";
import type { UnknownKeys } from "./unknown-keys.ts";
import type { LeaseOptions } from "./writer.ts";

export interface AgentOptions<Output = unknown> {
  model: Model;
  /** Models to fall back to, in order, when the one before fails for good. Default: none. */
  fallback?: readonly Model[];
  system?: string;
  tools?: readonly Tool[];
  /** Rules of the run: stop rules, limits, your own. A plain function is a stop rule. They come before the built-in ones. */
  rules?: readonly (Rule | StopRule)[];
  /** Whether an answer is final. Default: `byContent()`. */
  continueRule?: Rule;
  /** Default: 100. A `maxSteps` among the rules wins. */
  maxSteps?: number;
  /** Default: `land`. */
  onLimit?: OnLimit;
  /** The last turn of a landing. `tools`: whether they stay declared (they cannot be used either way); `store`: whether its answer enters the history. Default: `declared`, true. */
  landing?: { tools?: "declared" | "omitted"; store?: boolean };
  /** Holds for the run and all its sub-agents together. Default: none. */
  budget?: Budget;
  /** How many sub-agents a run may start, those that they start among them. Default: 64. */
  maxSubAgents?: number;
  /** Default: 4 attempts, 500 ms doubled up to 30 s, a provider's wish up to 60 s. `null`: never. */
  retry?: Retry | null;
  /** Default: connect 10 s, first byte 120 s, idle 60 s, total 10 min. In milliseconds. */
  clocks?: Partial<RunOptions["clocks"]>;
  /** What becomes of a call whose arguments are no JSON object. `pass_raw`: the tool gets the text as it is written (`executeRaw`); never that of an answer that was cut off. Default: `fail_closed`. */
  argumentErrors?: "fail_closed" | "pass_raw";
  /** Mend arguments losslessly where the schema asks for another type. A tool's own word wins. Default: true. */
  coerce?: boolean;
  /** Keys of arguments that the schema does not name. A tool's own word wins. Default: `allow`. */
  unknownKeys?: UnknownKeys;
  /** `masked`: where a tool throws, the model reads a fixed text, and only a `warning` event and the logger hear why. Default: `message`. */
  toolErrors?: "message" | "masked";
  /** What is given for keys of tools: `dependency(…).as(value)`. Default: each key makes its own. */
  dependencies?: readonly Provided[];
  /** For tools that name no time of their own. Default: 120,000 ms. */
  toolTimeoutMs?: number;
  /** Default: 8. */
  maxConcurrentTools?: number;
  /** Calls of one answer that are run; the rest is answered as skipped. Default: 32. */
  maxCallsPerTurn?: number;
  /** Default: `by_effect`: together unless what they do or touch conflicts. */
  toolOrder?: RunOptions["toolOrder"];
  /**
   * What becomes of a `write` that a crash cut off, where its tool cannot find out (`reconcile`). `tell`: the model is told
   * that its outcome is unknown. `ask`: the run parks; `approve` runs the call again, `deny` tells the model. Default: `tell`.
   */
  onInterrupted?: "tell" | "ask";
  /**
   * When a session is opened whose run was left under other rules, tools, models, hooks or options. `continue`: what the
   * model was told stays, what is code is today's, and a warning says what changed. `refuse`: `open` throws. Default: `continue`.
   */
  onChanged?: "continue" | "refuse";
  /** How long what is in flight may take to settle after an abort. Default: 2,000 ms. */
  abortGraceMs?: number;
  /** Default: `fail_calls`, at most 2 such answers. `maxTruncations: null`: the continue rule decides. */
  onTruncated?: OnTruncated;
  maxTruncations?: number | null;
  /** Default: 2. `null`: the continue rule decides. */
  malformedRetries?: number | null;
  /** Default: 5. `null`: the continue rule decides. */
  pauseResumes?: number | null;
  /** Default: 1. `null`: the continue rule decides. */
  emptyNudges?: number | null;
  /** `null`: a refused answer is one like any other, and the continue rule decides. Default: it ends the run. */
  refusals?: null;
  /** `null`: a request that is refused for something in it fails. Default: what can be left out is, once a run. */
  repairs?: null;
  /** How often an answer that repeats itself until it is cut off is asked for again. Default: 1. `null`: it is an answer like any other. */
  degenerateRetries?: number | null;
  /** Default: nudge at 3, hide the tool at 4, land at 5. `null`: off. */
  repeats?: Repeats | null;
  /** Schema of the typed output: a Standard Schema or a JSON Schema. */
  output?: SchemaLike & OutputOf<Output>;
  /** Default: 2, which makes 3 attempts. */
  decodeRetries?: number;
  /** How a model is held to the schema. Default: `auto`: natively where it can be, else by a tool made for it, else in words. */
  outputWay?: OutputWay;
  /** Whether tools stay declared, not callable, when the output is asked for: what was cached then stays so. Default: `declared`. */
  outputTools?: "declared" | "none";
  /** Whether the words that ask for the output are shown once, or stand in the history from then on. Default: `noted`. */
  outputRequest?: "noted" | "stored";
  /** How an output is read out of the text. Default: any value in it that fits, its keys as written. */
  outputReading?: OutputReading;
  /** `false`: calls are not run but returned as `pending`. Default: true. */
  autoExecuteTools?: boolean;
  /** Reject when a run ends with an error; a function makes what is thrown of the end. Default: false. */
  throwOnError?: boolean | ((end: RunEnd) => Error);
  /** What keeps a run inside its window, stage by stage; each may be `null`. Default: all but pruning are on. */
  context?: ContextOptions;
  /** Where the whole texts of cut results are kept. Default: beside the journal, else in memory. `null`: nowhere. */
  blobs?: BlobStore | null;
  settings?: Settings;
  /** Default: `auto`. */
  toolChoice?: ToolChoice;
  hooks?: Hooks;
  /** What the loop says to the model, entry by entry. */
  texts?: Partial<Texts>;
  /** Default: silent. */
  logger?: Logger;
  /** Kept with the record that starts a run, or takes one over: how, and by whom. The loop never looks at it. */
  about?: JsonObject;
  /** Take secrets out of whatever enters a run, before the model or the journal has it. Default: nothing is. */
  redact?: RedactOptions;
  /** Where sessions are kept unless `open` says otherwise. Default: memory, for the life of the object. */
  journal?: Journal;
  /** How a session is held while it is driven, where the journal has leases. Default: by `an agent`, for 15 s of silence. */
  lease?: LeaseOptions;
  /** Where time and chance come from. Default: the host's. */
  clock?: Clock;
}

/** Only carries the type of the output. */
type OutputOf<Output> = unknown extends Output
  ? unknown
  : { readonly "~standard"?: { readonly types?: { readonly output: Output } | undefined } };

/** Options, resolved. */
export interface Resolved {
  options: RunOptions;
  rules: Rules;
  tools: ReadonlyMap<string, Tool>;
  models: readonly Model[];
  /** Sums up what is compacted, when it is not the model in use. */
  compactor: Model | undefined;
  hooks: Hooks;
  dependencies: readonly Provided[];
  maskToolErrors: boolean;
  refusesChanges: boolean;
  /** Checks a text against the output schema. */
  checkOutput(text: string): Promise<Fact & { type: "output_checked" }>;
  redact: ((fact: Fact) => Fact) | undefined;
}

const hookNames = [
  "permission",
  "prepareStep",
  "beforeTool",
  "afterTool",
  "transformContext",
  "onFinish",
] as const;

/**
 * Options as facts and rules.
 * @throws RondoError `invalid_request` naming the option that cannot be used
 */
export function resolve(given: AgentOptions): Resolved {
  checkOptions(given);
  const toolTimeoutMs = given.toolTimeoutMs ?? 120_000;
  const models = [given.model, ...(given.fallback ?? [])];
  const compactor = given.context?.compaction?.model;
  const rules = rulesOf(given);
  const tools = toolMap(given, rules.texts);
  addReaders(tools, given);
  const output = given.output === undefined ? undefined : compileSchema(given.output, "output", true, "any");
  if (output !== undefined && tools.has(outputToolName))
    throw wrong("tools", `with a typed output the name ${outputToolName} is taken: rename the tool`);
  const { hooks = {} } = given;
  const options: RunOptions = {
    ...(given.system === undefined ? {} : { system: given.system }),
    tools: [...tools.values()].map((one) => toolFacts(one, toolTimeoutMs)),
    models: models.map(modelRef),
    settings: given.settings ?? {},
    toolChoice: given.toolChoice ?? "auto",
    hooks: hookNames.filter((name) => hooks[name] !== undefined),
    rules: rules.list.map(({ name, version }) => ({ name, version })),
    texts: given.texts === undefined ? ownTexts() : textsDigest(rules.texts),
    toolOrder: given.toolOrder ?? "by_effect",
    maxConcurrentTools: given.maxConcurrentTools ?? 8,
    maxCallsPerTurn: given.maxCallsPerTurn ?? 32,
    autoExecuteTools: given.autoExecuteTools ?? true,
    ...(given.onInterrupted === "ask" ? { onInterrupted: "ask" as const } : {}),
    abortGraceMs: given.abortGraceMs ?? 2_000,
    clocks: { connectMs: 10_000, firstByteMs: 120_000, idleMs: 60_000, totalMs: 600_000, ...given.clocks },
    ...(given.landing === undefined
      ? {}
      : {
          landing: { omitTools: given.landing.tools === "omitted", keepOut: given.landing.store === false },
        }),
    context: contextFacts(given.context),
    ...(compactor === undefined ? {} : { compactor: modelRef(compactor) }),
    ...(output === undefined
      ? {}
      : {
          output: {
            schema: output.json,
            decodeRetries: given.decodeRetries ?? 2,
            ...(given.outputWay === undefined ? {} : { way: given.outputWay }),
            ...(given.outputTools === undefined ? {} : { tools: given.outputTools }),
            ...(given.outputRequest === undefined ? {} : { request: given.outputRequest }),
          },
        }),
  };
  for (const rule of rules.list) {
    const complaint = rule.verify?.(options);
    if (complaint !== undefined) throw new RondoError("invalid_request", complaint);
  }
  const { dependencies = [] } = given;
  const redact = given.redact === undefined ? undefined : redaction(given.redact);
  checkSettings(options, redact);
  const reading = given.outputReading ?? {};
  return {
    options,
    rules,
    tools,
    models,
    compactor,
    hooks,
    dependencies,
    maskToolErrors: given.toolErrors === "masked",
    refusesChanges: given.onChanged === "refuse",
    redact,
    checkOutput: (text) => checkOutput(text, output, reading),
  };
}

let own: string | undefined;

/** The digest of our own texts, which never change while we live. */
function ownTexts(): string {
  own ??= textsDigest(defaultTexts);
  return own;
}

/** Settings are kept with the run and are sent as they were kept: a key among them would be sent redacted. */
function checkSettings({ settings }: RunOptions, redact: Resolved["redact"]): void {
  const fact = { type: "opened" as const, by: "", about: { settings } as unknown as JsonObject };
  if (redact !== undefined && redact(fact) !== fact)
    throw wrong(
      "settings",
      "it holds a secret, which would be kept with every run; give it to the model instead",
    );
}

function toolMap(given: AgentOptions, texts: Texts): Map<string, Tool> {
  const passesRaw = given.argumentErrors === "pass_raw";
  const defaults = { coerce: given.coerce ?? true, unknownKeys: given.unknownKeys ?? "allow" };
  const map = new Map<string, Tool>();
  for (const one of given.tools ?? []) {
    if (map.has(one.name)) throw wrong("tools", `two tools are named ${JSON.stringify(one.name)}`);
    map.set(one.name, fitTool(one, defaults, passesRaw ? rawWay(one, texts) : undefined));
  }
  return map;
}

/** A tool that cannot take unreadable arguments says what is wrong with them, as a result of its own. */
function rawWay(tool: Tool, texts: Texts): NonNullable<Tool["executeRaw"]> {
  if (tool.executeRaw !== undefined) return (raw, context) => tool.executeRaw?.(raw, context);
  return (raw) => toolResult(texts.badJson(tool.name, argumentsProblem(raw), raw), { isError: true });
}

function argumentsProblem(raw: string): string {
  try {
    JSON.parse(raw);
    return "the arguments must be a JSON object";
  } catch (thrown) {
    return messageOf(thrown);
  }
}

/** Where there are tools there may be results to cut, and then something must be able to read them. A tool of the user's own wins over ours. */
function addReaders(tools: Map<string, Tool>, { context, blobs }: AgentOptions): void {
  const { cap } = context ?? {};
  if (tools.size === 0 || cap === null || cap?.readers === null || blobs === null) return;
  const readers = cap?.readers === undefined ? ownReaders() : readerTools(readerNames(cap));
  for (const one of readers) if (!tools.has(one.name)) tools.set(one.name, one);
}

let madeReaders: readonly Tool[] | undefined;

/** The reader tools under their own names. They hold nothing, so one pair serves every agent. */
function ownReaders(): readonly Tool[] {
  madeReaders ??= readerTools(readerNames({}));
  return madeReaders;
}

function toolFacts(tool: Tool, toolTimeoutMs: number): ToolFacts {
  const { definition, effect, permission, when, version, agent, timeoutMs = toolTimeoutMs } = tool;
  return {
    definition,
    effect,
    permission,
    timeoutMs,
    ...(when === undefined ? {} : { when }),
    ...(tool.reconcile === undefined ? {} : { reconciles: true }),
    ...(version === undefined ? {} : { version }),
    ...(agent === undefined ? {} : { agent }),
  };
}

function modelRef(model: Model): ModelRef {
  return { id: model.id, origin: model.origin, facts: model.facts ?? {} };
}

function truncationsOf(max: number | undefined, onTruncated: OnTruncated | undefined): Rule {
  return truncations({
    ...(max === undefined ? {} : { max }),
    ...(onTruncated === undefined ? {} : { onTruncated }),
  }) as Rule;
}

/** The rules in the order they are asked: failures and odd answers first, then yours, then limits, then the content. */
function rulesOf(given: AgentOptions): Rules {
  const own = (given.rules ?? []).map((rule) => (typeof rule === "function" ? stopWhen(rule) : rule));
  const limited = own.some((rule) => rule.name === "max_steps");
  const onLimit = given.onLimit === undefined ? {} : { onLimit: given.onLimit };
  const { tell = [], estimator = charEstimator() } = given.context ?? {};
  const list: Rule[] = [
    ...(given.repairs === null ? [] : [repairs()]),
    overflow(),
    ...(given.retry === null ? [] : [retry(given.retry)]),
    ...(given.refusals === null ? [] : [refusals()]),
    ...(given.pauseResumes === null ? [] : [pauses(given.pauseResumes) as Rule]),
    ...(given.degenerateRetries === null ? [] : [degenerateAnswers(given.degenerateRetries) as Rule]),
    ...(given.maxTruncations === null ? [] : [truncationsOf(given.maxTruncations, given.onTruncated)]),
    ...(given.malformedRetries === null ? [] : [malformedCalls(given.malformedRetries) as Rule]),
    ...(given.emptyNudges === null ? [] : [emptyAnswers(given.emptyNudges) as Rule]),
    ...own,
    ...(tell.length === 0 ? [] : [tellRoom(tell, estimator) as Rule]),
    ...(given.budget === undefined ? [] : [budget(given.budget)]),
    tree(given.maxSubAgents ?? 64) as Rule,
    ...(limited ? [] : [maxSteps(given.maxSteps ?? 100, onLimit)]),
    ...(given.repeats === null ? [] : [repeats(given.repeats) as Rule]),
    given.continueRule ?? byContent(),
  ];
  const names = new Set<string>();
  for (const { name } of list) {
    if (names.has(name)) throw wrong("rules", `two rules are named ${JSON.stringify(name)}`);
    names.add(name);
  }
  return { list, texts: { ...defaultTexts, ...given.texts }, estimator };
}
