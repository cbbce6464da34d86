// The room of the agent strategy: an agent that reports like a plugin of a workflow, in texts and logs.
//
// A preset only sets options. The system prompt is composed of blocks. There are few rounds, and the calls of the last one
// are refused. Arguments are checked before anything runs. The model does not read what a tool throws. The view
// `strategyMessages` makes what the user sees, and takes the same options.

import {
  anything,
  callable,
  checkGiven,
  count,
  flag,
  listOf,
  membersOf,
  needed,
  number,
  object,
  oneOf,
  orNull,
  recordOf,
  text,
} from "../checks.ts";
import { noContext } from "../context/options.ts";
import { messageOf } from "../errors.ts";
import { ownMember } from "../json/object.ts";
import type { JsonObject } from "../message.ts";
import type { Model, ModelRequest, Settings } from "../model.ts";
import { type AgentOptions, agentChecks } from "../options/agent-options.ts";
import { type PromptPolicy, promptPolicy } from "../prompt/policy.ts";
import { skipRepeatedFailures } from "../rules/repeated-failures.ts";
import { defaultTexts, type Texts } from "../rules/texts.ts";
import { retold, toolWith } from "../tool/derive.ts";
import { DoneSignal, TaskComplete } from "../tool/tool-result.ts";
import type { Tool, ToolContext } from "../tool.ts";
import { checkedArguments } from "./agent-strategy/arguments.ts";
import { strategyModel } from "./agent-strategy/model.ts";
import { type LocalFiles, modelMessages, strategyResult } from "./agent-strategy/outputs.ts";
import { besides } from "./common-options.ts";
import { soleRule } from "./sole-rule.ts";

export interface AgentStrategyOptions {
  model: Model;
  tools?: readonly Tool[];
  /** The first block of the system prompt. Blank or `null`: `You are a helpful GPT-5 agent.` */
  instruction?: string | null;
  /** A text, or blocks by name (or their JSON): see `promptPolicy`. Default: none. */
  promptPolicyOverrides?: PromptPolicy["overrides"];
  /**
   * The most model answers, 1 to 30. The calls of the last one are refused; with 1 they run, and their results are the
   * answer. Default: 6.
   */
  maximumIterations?: number;
  /** What the model can do. Default: `stream_tool_call`, and `vision` unless the model's facts say that it cannot see. */
  features?: readonly ("stream_tool_call" | "vision")[];
  /** Completion parameters, including `stop`. */
  settings?: Settings;
  /** For one model or tool call, clamped to 60 to 1,800 s. Default: 1,200. */
  invocationTimeoutSeconds?: number;
  /** Parameters that a tool gets in addition to the call's arguments, which override them. They are not journaled. */
  runtimeParameters?: Readonly<Record<string, JsonObject>>;
  /**
   * `strict`: unknown keys, missing parameters, types and options are checked; `options`: only values that are not among
   * their options. Default: `strict`.
   */
  argumentChecks?: "strict" | "options";
  /** Whether a tool without a schema may be called with arguments. Takes effect only if `env` says the same. Default: false. */
  allowSchemalessToolArgs?: boolean;
  /** Where `GPT5_AGENT_ALLOW_SCHEMELESS_OVERRIDE` (1, true, yes, on) is looked up, e.g. `process.env`. Default: nowhere. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Reads local images for the user: `fileGuard()` of @rondo/tools. Default: none are read. */
  localFiles?: LocalFiles & { readonly root?: string };
  /** Counts the tokens of a request. Default: one token for 4 characters. */
  countTokens?: (request: ModelRequest) => number;
  hooks?: AgentOptions["hooks"];
  /** Gets the reason why a tool failed, which the model does not get. */
  logger?: AgentOptions["logger"];
}

// The preset's view, `strategyMessages`, is given the same object, so the options of the view are accepted by name.
type ViewOptions = {
  emitIntermediateThoughts: unknown;
  context: unknown;
  prices: unknown;
  toolProviders: unknown;
  now: unknown;
  logData: unknown;
  debugOutput: unknown;
};

const optionChecks = membersOf<AgentStrategyOptions & ViewOptions>(
  {
    emitIntermediateThoughts: anything,
    context: anything,
    prices: anything,
    toolProviders: anything,
    now: anything,
    logData: anything,
    debugOutput: anything,
    model: agentChecks.model,
    tools: agentChecks.tools,
    instruction: orNull(text),
    // A text is a policy too, whether it is JSON or not, so anything is accepted.
    promptPolicyOverrides: anything,
    maximumIterations: needed(
      "a whole number from 1 to 30",
      (value) => count(value) === undefined && (value as number) <= 30,
    ),
    features: listOf(oneOf("stream_tool_call", "vision")),
    settings: agentChecks.settings,
    invocationTimeoutSeconds: number,
    runtimeParameters: recordOf(object),
    argumentChecks: oneOf("strict", "options"),
    allowSchemalessToolArgs: flag,
    env: object,
    localFiles: callable,
    countTokens: callable,
    hooks: agentChecks.hooks,
    logger: agentChecks.logger,
  },
  ["model"],
  besides("agentStrategy"),
);

/** Whether another round follows this one. */
export function shouldContinue(iteration: number, maximum: number, hasToolCall: boolean): boolean {
  return maximum > 0 && iteration < maximum && hasToolCall;
}

/**
 * The options of an agent strategy. Spread them into your own to add a journal or a clock.
 * @throws RondoError `invalid_request` naming the first invalid option: `maximumIterations` is from 1 to 30
 */
export function agentStrategy(options: AgentStrategyOptions): AgentOptions {
  checkGiven(optionChecks, options);
  const { model, features = featuresOf(model), hooks = {}, runtimeParameters = {} } = options;
  const maximum = options.maximumIterations ?? 6;
  const timeoutMs = 1_000 * Math.min(1_800, Math.max(60, options.invocationTimeoutSeconds ?? 1_200));
  return {
    model,
    adapt: {
      model: (one) =>
        strategyModel(one, {
          streams: features.includes("stream_tool_call"),
          sees: (options.features ?? featuresOf(one)).includes("vision"),
          ...(options.countTokens === undefined ? {} : { countTokens: options.countTokens }),
        }),
      tool: (one) => strategyTool(one, options),
    },
    system: promptPolicy({
      ...(options.instruction === undefined ? {} : { instruction: options.instruction }),
      ...(options.promptPolicyOverrides === undefined ? {} : { overrides: options.promptPolicyOverrides }),
    }),
    tools: options.tools ?? [],
    maxSteps: maximum,
    onLimit: maximum === 1 ? "stop" : "refuse_tools",
    rules: [skipRepeatedFailures({ runtimeParameters })],
    texts: strategyTexts(maximum),
    toolOrder: "sequential",
    maxCallsPerTurn: Number.MAX_SAFE_INTEGER,
    retry: null,
    repairs: null,
    // A round without calls is the last one, whatever its stop reason; an answer without text is not kept.
    ...soleRule,
    emptyNudges: 0,
    // A strategy shows its model every result in full.
    throwOnError: true,
    context: noContext,
    toolTimeoutMs: timeoutMs,
    clocks: { firstByteMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs },
    hooks: {
      ...hooks,
      async transformContext(messages, at) {
        const first = (await hooks.transformContext?.(messages, at)) ?? messages;
        // Whether images are sent at all is decided for each model: a stand-in may see where the other does not.
        const shown = modelMessages(first, at.step > 1);
        return shown === messages ? undefined : [...shown];
      },
    },
    ...(options.settings === undefined ? {} : { settings: options.settings }),
    ...(options.logger === undefined ? {} : { logger: options.logger }),
  };
}

function featuresOf(model: Model): NonNullable<AgentStrategyOptions["features"]> {
  const accepts = model.facts?.accepts;
  const sees = accepts?.some((type) => type === "*/*" || type === "*" || type.startsWith("image/")) ?? true;
  return sees ? ["stream_tool_call", "vision"] : ["stream_tool_call"];
}

/** What the model reads of calls without a result of their own. */
function strategyTexts(maximum: number): Partial<Texts> {
  const badJson = (error: string): string => `tool arguments parse error: ${error}`;
  return {
    unknownTool: (name, _known, argsError) =>
      argsError === undefined ? `there is not a tool named ${name}` : badJson(argsError),
    badJson: (_name, error) => badJson(error),
    invalidArgs: (_name, error) => `tool arguments validation error: ${error}`,
    threw: () => "tool invoke error: failed to execute tool",
    limitRefusal: (name, reason) =>
      reason === `at most ${maximum} steps`
        ? `Maximum iteration limit (${maximum}) reached. Cannot call tool '${name}'. Please consider increasing the iteration limit.`
        : defaultTexts.limitRefusal(name, reason),
  };
}

/** Whether a thrown value is no failure, but says that the work is done. */
const isWord = (thrown: unknown): boolean =>
  [DoneSignal, TaskComplete].some((word) => thrown instanceof word);

function strategyTool(tool: Tool, options: AgentStrategyOptions): Tool {
  const { localFiles, logger, env, runtimeParameters = {} } = options;
  const override = env?.GPT5_AGENT_ALLOW_SCHEMELESS_OVERRIDE?.trim().toLowerCase() ?? "";
  const failed =
    (what: string) =>
    (reason: string): void =>
      logger?.error(what, { tool: tool.name, reason });
  const heard = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    try {
      return await work();
    } catch (thrown) {
      if (!isWord(thrown)) failed("a tool failed")(messageOf(thrown));
      throw thrown;
    }
  };
  return toolWith(tool, {
    check: checkedArguments(tool, {
      strict: options.argumentChecks !== "options",
      allowSchemaless:
        options.allowSchemalessToolArgs === true && ["1", "true", "yes", "on"].includes(override),
      runtime: ownMember(runtimeParameters, tool.name) ?? {},
    }),
    execute: (args: never, context: ToolContext) => heard(async () => tool.execute(args, context)),
    ...retold(tool, (returned) =>
      heard(() =>
        strategyResult(
          returned,
          localFiles,
          localFiles?.root ?? "/files",
          failed("a local file was not given to the user"),
        ),
      ),
    ),
  });
}
