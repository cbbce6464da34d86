// The room of options resolved: how the options of an agent (`agent-options.ts`) become facts and rules.
//
// Every option has one default, and it is here. Options become two things: facts that are journaled with the run,
// and rules. A wrong option is a programming error and throws at once, naming the option.

import { wrong } from "../checks.ts";
import { readerNames } from "../context/cap/cap-options.ts";
import { charEstimator } from "../context/estimate.ts";
import { contextFacts } from "../context/options.ts";
import { readerTools } from "../context/reader-tools.ts";
import { invalidRequest, messageOf } from "../errors.ts";
import type { Hooks } from "../hooks.ts";
import type { Fact } from "../loop/records.ts";
import type { ModelRef, OutputOptions, RunOptions, ToolFacts } from "../loop/run-options.ts";
import type { JsonObject } from "../message.ts";
import type { Model } from "../model.ts";
import { checkOutput } from "../output/structured.ts";
import { outputToolName } from "../output/ways.ts";
import { holdsSecret, redaction } from "../redact.ts";
import {
  emptyAnswers,
  malformedCalls,
  type OnTruncated,
  pauses,
  refusals,
  truncations,
} from "../rules/answers.ts";
import { maxCalls } from "../rules/call-limits.ts";
import { textsWith } from "../rules/custom-texts.ts";
import { degenerateAnswers } from "../rules/degenerate.ts";
import { budget, deadline, maxSteps, meantAsDuration, underWord } from "../rules/limits.ts";
import { maxFailures } from "../rules/max-failures.ts";
import { mustCall } from "../rules/must-call.ts";
import { mustNotSay } from "../rules/must-not-say.ts";
import { overflow } from "../rules/overflow.ts";
import { repairs } from "../rules/repairs.ts";
import { skipRepeatedFailures } from "../rules/repeated-failures.ts";
import { repeats } from "../rules/repeats.ts";
import { fallback, retry } from "../rules/retry.ts";
import type { Rule, Rules } from "../rules/rule.ts";
import { byContent } from "../rules/stop/by-content.ts";
import { stopAfter } from "../rules/stop-after.ts";
import { stopWhen } from "../rules/stop-when.ts";
import { defaultTexts, type Texts } from "../rules/texts.ts";
import { textsDigest } from "../rules/texts-digest.ts";
import { tree } from "../rules/tree.ts";
import { windowNotice } from "../rules/window-notice.ts";
import { type CompiledSchema, compileSchema } from "../schema.ts";
import type { Provided } from "../tool/dependency.ts";
import { fitTool } from "../tool/derive.ts";
import { toolResult } from "../tool/tool-result.ts";
import { type Tool, toolsThere } from "../tool.ts";
import { type AgentOptions, checkOptions } from "./agent-options.ts";
import { speaking } from "./spoken-refusals.ts";
import { adaptedModel, adaptedTool } from "./wrappers.ts";

/** An agent's options, resolved. */
export interface Resolved {
  options: RunOptions;
  rules: Rules;
  tools: ReadonlyMap<string, Tool>;
  models: readonly Model[];
  /** Summarises in a compaction. Absent: the run's own model does. */
  compactor: Model | undefined;
  hooks: Hooks;
  dependencies: readonly Provided[];
  maskToolErrors: boolean;
  refusesChanges: boolean;
  /** Checks a text against the output schema, or another, read as the output is. */
  checkOutput(text: string, schema?: CompiledSchema): Promise<Fact & { type: "output_checked" }>;
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
 * Resolves an agent's options to facts and rules.
 * @throws RondoError `invalid_request` naming the invalid option
 */
export function resolve(given: AgentOptions): Resolved {
  checkOptions(given);
  const rules = rulesOf(given);
  const tools = toolMap(given, rules.texts);
  addReaders(tools, given);
  const output = given.output === undefined ? undefined : compileSchema(given.output, "output", true, "any");
  if (output !== undefined && tools.has(outputToolName))
    throw wrong("tools", `with a typed output the name ${outputToolName} is taken: rename the tool`);
  const { hooks = {}, toolChoice, dependencies = [], outputReading = {} } = given;
  if (typeof toolChoice === "object" && !tools.has(toolChoice.tool))
    throw wrong("toolChoice", `no tool is named ${JSON.stringify(toolChoice.tool)}; ${toolsThere(tools)}`);
  const models = modelsOf(given);
  const compactor = compactorOf(given);
  const options = factsOf(given, rules, tools, { models, compactor }, output?.json);
  for (const rule of rules.list) {
    const complaint = rule.verify?.(options);
    if (complaint !== undefined) throw invalidRequest(complaint);
  }
  const redact = given.redact === undefined ? undefined : redaction(given.redact);
  checkSettings(options, redact);
  return {
    options: redact === undefined ? options : asKept(options, redact),
    rules,
    tools,
    models,
    compactor,
    hooks,
    dependencies,
    maskToolErrors: given.toolErrors === "masked",
    refusesChanges: given.onChanged === "refuse",
    redact,
    checkOutput: (text, schema = output) => checkOutput(text, schema, outputReading),
  };
}

const modelsOf = ({ model, fallback = [], models = [], adapt = {}, refusals }: AgentOptions): Model[] =>
  [model, ...fallback, ...models].map((one) => {
    const taken = adaptedModel(one, adapt.model);
    return refusals === null ? speaking(taken) : taken;
  });

function compactorOf({ context, adapt = {} }: AgentOptions): Model | undefined {
  const own = context?.compaction?.model;
  return own && adaptedModel(own, adapt.model);
}

/** The options as facts of a run. @param schema of the typed output */
function factsOf(
  given: AgentOptions,
  rules: Rules,
  tools: ReadonlyMap<string, Tool>,
  { models, compactor }: { models: readonly Model[]; compactor: Model | undefined },
  schema: JsonObject | undefined,
): RunOptions {
  const { hooks = {}, landing, toolTimeoutMs = 120_000 } = given;
  return {
    ...(given.system === undefined ? {} : { system: given.system }),
    tools: [...tools.values()].map((one) => toolFacts(one, toolTimeoutMs)),
    models: models.map(modelRef),
    ...(given.models === undefined ? {} : { fallbacks: given.fallback?.length ?? 0 }),
    settings: given.settings ?? {},
    toolChoice: given.toolChoice ?? "auto",
    hooks: hookNames.filter((name) => hooks[name] !== undefined),
    rules: rules.list.map(({ name, version }) => ({ name, version })),
    texts: given.texts === undefined ? ownTexts() : textsDigest(rules.texts),
    toolOrder: given.toolOrder ?? "by_effect",
    ...(given.steering === "after_calls" ? { steering: "after_calls" } : {}),
    ...(given.followUps === "one_by_one" ? { followUps: "one_by_one" } : {}),
    maxConcurrentTools: given.maxConcurrentTools ?? 8,
    maxCallsPerTurn: given.maxCallsPerTurn ?? 32,
    autoExecuteTools: given.autoExecuteTools ?? true,
    ...(given.disallowedCalls === "run" ? { disallowedCalls: "run" } : {}),
    ...(given.onInterrupted === "ask" ? { onInterrupted: "ask" } : {}),
    abortGraceMs: given.abortGraceMs ?? 2_000,
    clocks: clocksWith(given.clocks, models),
    ...(landing === undefined
      ? {}
      : {
          landing: {
            omitTools: landing.tools === "omitted",
            keepOut: landing.store === false,
            ...(landing.timeoutMs === undefined ? {} : { timeoutMs: landing.timeoutMs }),
          },
        }),
    context: contextFacts(given.context),
    ...(compactor === undefined ? {} : { compactor: modelRef(compactor) }),
    ...(schema === undefined ? {} : { output: outputFacts(given, schema, tools.size > 0) }),
  };
}

/** Any longer wait within a call, a model's own too, leaves the rest of it the usual time: otherwise the default of the whole would prevent it. */
function clocksWith(given: AgentOptions["clocks"], models: readonly Model[]): RunOptions["clocks"] {
  const { firstByteMs = 120_000, idleMs = 60_000, connectMs = 10_000 } = given ?? {};
  const longest = Math.max(firstByteMs, idleMs, ...models.map(({ clocks }) => clocks?.firstByteMs ?? 0));
  return { connectMs, firstByteMs, idleMs, totalMs: Math.max(600_000, longest + 480_000), ...given };
}

function outputFacts(given: AgentOptions, schema: JsonObject, hasTools: boolean): OutputOptions {
  const { decodeRetries = 2 } = given;
  return {
    schema,
    decodeRetries:
      typeof decodeRetries === "number" ? decodeRetries : hasTools ? decodeRetries.afterTools : 0,
    ...(given.outputWay === undefined ? {} : { way: given.outputWay }),
    ...(given.outputTools === undefined ? {} : { tools: given.outputTools }),
    ...(given.outputRequest === undefined ? {} : { request: given.outputRequest }),
  };
}

let own: string | undefined;

/** The digest of the built-in texts, which never change within a process. */
function ownTexts(): string {
  own ??= textsDigest(defaultTexts);
  return own;
}

/** The options as they are recorded, without secrets: so comparing them with the records finds no false change. */
function asKept(options: RunOptions, redact: (fact: Fact) => Fact): RunOptions {
  const kept = redact({ type: "opened", by: "", options }) as Fact & { type: "opened" };
  return kept.options ?? options;
}

function checkSettings({ settings }: RunOptions, redact: Resolved["redact"]): void {
  if (holdsSecret(settings, redact))
    throw wrong(
      "settings",
      "it holds a secret, which would be kept with every run; give it to the model instead",
    );
}

function toolMap(given: AgentOptions, texts: Texts): Map<string, Tool> {
  const passesRaw = given.argumentErrors === "pass_raw";
  const defaults = { coerce: given.coerce ?? true, unknownKeys: given.unknownKeys ?? "allow" };
  const map = new Map<string, Tool>();
  for (const brought of given.tools ?? []) {
    const one = adaptedTool(brought, given.adapt?.tool);
    if (map.has(one.name))
      throw wrong(
        "tools",
        `two tools are named ${JSON.stringify(one.name)}: toolWith(tool, { name }) renames one, and mcpTools puts a \`server\` before its names`,
      );
    map.set(one.name, fitTool(one, defaults, passesRaw ? rawWay(one, texts) : undefined));
  }
  return map;
}

/** For a tool without `executeRaw`, invalid arguments lead to an error result that says what is wrong. */
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

/** The tools, plus those that read cut results if there may be any. A user's tool of the same name replaces ours. */
function addReaders(tools: Map<string, Tool>, { context, blobs }: AgentOptions): void {
  const { cap } = context ?? {};
  if (tools.size === 0 || cap === null || cap?.readers === null || blobs === null) return;
  const readers = cap?.readers === undefined ? ownReaders() : readerTools(readerNames(cap));
  for (const one of readers) if (!tools.has(one.name)) tools.set(one.name, one);
}

let madeReaders: readonly Tool[] | undefined;

/** The reader tools under their default names. They have no state, so one pair serves every agent. */
function ownReaders(): readonly Tool[] {
  madeReaders ??= readerTools(readerNames({}));
  return madeReaders;
}

function toolFacts(tool: Tool, toolTimeoutMs: number): ToolFacts {
  const { definition, effect, permission, when, version, agent, timeoutMs = toolTimeoutMs } = tool;
  const { shellArgs = [] } = tool;
  return {
    definition,
    effect,
    permission,
    timeoutMs,
    ...(when === undefined ? {} : { when }),
    ...(tool.reconcile === undefined ? {} : { reconciles: true }),
    ...(tool.resume === undefined ? {} : { resumes: true }),
    ...(shellArgs.length === 0 ? {} : { shellArgs: [...shellArgs] }),
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

/** Functions that make rules, such as `maxSteps` itself: given uncalled they would pass for stop rules, and fail at the first step. */
const makers: ReadonlySet<unknown> = new Set([
  maxSteps,
  budget,
  deadline,
  maxCalls,
  maxFailures,
  mustCall,
  mustNotSay,
  repeats,
  skipRepeatedFailures,
  stopAfter,
  stopWhen,
]);

/** The rules in the order they are asked: failures and unusual answers first, then the user's, then limits, then the continue rule. */
function rulesOf(given: AgentOptions): Rules {
  const own = (given.rules ?? []).map((rule, at) => {
    if (makers.has(rule))
      throw wrong(`rules[${at}]`, "a function that makes rules must be called: maxSteps(20)");
    if (typeof rule === "function") return stopWhen(rule);
    const mistaken = given.clock === undefined ? meantAsDuration(rule) : undefined;
    if (mistaken !== undefined) throw wrong(`rules[${at}]`, mistaken);
    return underWord(rule, given.onLimit);
  });
  const limited = own.some((rule) => rule.name === "max_steps");
  const onLimit = given.onLimit === undefined ? {} : { onLimit: given.onLimit };
  const { tell = [], estimator = charEstimator() } = given.context ?? {};
  const list: Rule[] = [
    // A rule that listens says what may be read, so it is asked before any that would keep an answer.
    ...own.filter(({ hear }) => hear !== undefined),
    ...(given.repairs === null ? [] : [repairs()]),
    overflow(given.repairs !== null),
    ...(given.retry === null ? [] : [retry(given.retry)]),
    ...(given.refusals === null ? [] : [refusals()]),
    ...(given.pauseResumes === null ? [] : [pauses(given.pauseResumes) as Rule]),
    ...(given.degenerateRetries === null ? [] : [degenerateAnswers(given.degenerateRetries) as Rule]),
    ...(given.maxTruncations === null ? [] : [truncationsOf(given.maxTruncations, given.onTruncated)]),
    ...(given.malformedRetries === null ? [] : [malformedCalls(given.malformedRetries) as Rule]),
    ...(given.emptyNudges === null ? [] : [emptyAnswers(given.emptyNudges) as Rule]),
    ...own.filter(({ hear }) => hear === undefined),
    // Without retries there may still be a fallback.
    ...(given.retry === null && [...(given.fallback ?? []), ...(given.models ?? [])].length > 0
      ? [fallback()]
      : []),
    ...(tell.length === 0 ? [] : [windowNotice(tell, estimator) as Rule]),
    ...(given.budget === undefined ? [] : [budget(given.budget)]),
    tree(given.maxSubAgents ?? 64) as Rule,
    ...(limited ? [] : [maxSteps(given.maxSteps ?? 100, onLimit)]),
    ...(given.repeats === null ? [] : [repeats(given.repeats) as Rule]),
    given.continueRule ?? byContent(),
  ];
  const names = new Set<string>();
  for (const { name } of list) {
    if (names.has(name)) throw wrong("rules", twice(name, own));
    names.add(name);
  }
  return { list, texts: textsWith(given.texts), estimator };
}

/** The option that sets each built-in rule, by the rule's name. */
const settingOf: { readonly [rule: string]: string } = {
  repairs: "repairs",
  retry: "retry",
  refusals: "refusals",
  pauses: "pauseResumes",
  degenerate_answers: "degenerateRetries",
  truncations: "maxTruncations",
  malformed_calls: "malformedRetries",
  empty_answers: "emptyNudges",
  repeats: "repeats",
};

function twice(name: string, own: readonly Rule[]): string {
  const said = `two rules are named ${JSON.stringify(name)}`;
  if (own.filter((rule) => rule.name === name).length !== 1) return said;
  if (name === "budget") return `${said}, yours and that of option budget: give one of them`;
  const option = Object.hasOwn(settingOf, name) ? settingOf[name] : undefined;
  const way =
    option === undefined
      ? "give yours another name"
      : `set it by option ${option}, or leave it out with ${option}: null`;
  return `${said}, yours and the built-in one: ${way}`;
}
