// The room of think, act, observe: the plain loop of a coding assistant, as small as a loop can be.
//
// A preset only sets options. The stop reason decides. There are ten steps, then an error. Tools run one after another,
// nothing is retried, and every failure of a tool becomes a text for the model. The view `trace` shows the run, and takes
// the same options.

import { anything, checkGiven, membersOf, oneOf, orNull, text } from "../checks.ts";
import { noContext } from "../context/options.ts";
import { invalidRequest, messageOf } from "../errors.ts";
import type { Hooks } from "../hooks.ts";
import { isObject } from "../json/object.ts";
import type { Logger } from "../logger.ts";
import type { JsonObject } from "../message.ts";
import type { Model, Settings } from "../model.ts";
import { type AgentOptions, agentChecks } from "../options/agent-options.ts";
import { maxSteps } from "../rules/limits.ts";
import type { Texts } from "../rules/texts.ts";
import { saysMoreElsewhere } from "../schema/unknown-keys.ts";
import { toolWith } from "../tool/derive.ts";
import { toolResult } from "../tool/tool-result.ts";
import type { ArgsCheck, Tool, ToolContext } from "../tool.ts";
import { besides } from "./common-options.ts";
import { soleRule } from "./sole-rule.ts";
import { byStopReason } from "./think-act-observe/stop.ts";

export interface ThinkActObserveOptions {
  model: Model;
  /** Of two tools with the same name the later one is used, in the place of the first; the logger gets a warning. */
  tools?: readonly Tool[];
  /** Default: the prompt of a helpful coding assistant. `null`: none. */
  system?: string | null;
  /** The most model answers, each with its tools run. Default: 10, also for 0 and `null`. */
  maxIterations?: number | null;
  /** The error's text at the limit: `Max iterations (N) reached`, or the same with `without completion`. Default: `reached`. */
  limitText?: "reached" | "reached_without_completion";
  settings?: Settings;
  hooks?: Hooks;
  logger?: Logger;
}

const defaultSystem =
  "You are a helpful coding assistant. Use tools when needed to accomplish the user's request.";

// The preset's view, `trace`, is given the same object, so the options of the view are accepted by name.
type ViewOptions = { to: unknown; colors: unknown; env: unknown };

const optionChecks = membersOf<ThinkActObserveOptions & ViewOptions>(
  {
    to: anything,
    colors: anything,
    env: anything,
    model: agentChecks.model,
    tools: agentChecks.tools,
    system: orNull(text),
    // Has an error of its own, below.
    maxIterations: anything,
    limitText: oneOf("reached", "reached_without_completion"),
    settings: agentChecks.settings,
    hooks: agentChecks.hooks,
    logger: agentChecks.logger,
  },
  ["model"],
  besides("thinkActObserve"),
);

/**
 * How many model answers a run may have.
 * @throws RondoError `invalid_request` if it is not a whole number, or below 0
 */
export function iterationsOf(maxIterations: number | null | undefined): number {
  const max = maxIterations || 10;
  if (!Number.isInteger(max) || max < 1)
    throw invalidRequest(
      `option maxIterations: a whole number of at least 1 is needed, or 0 or null for 10, not ${String(maxIterations)}`,
    );
  return max;
}

/**
 * The options of a think-act-observe agent. Spread them into your own to add a journal or a clock.
 * @throws RondoError `invalid_request` naming the first invalid option
 */
export function thinkActObserve(options: ThinkActObserveOptions): AgentOptions {
  checkGiven(optionChecks, options);
  const { model, tools = [], system = defaultSystem, limitText = "reached", logger } = options;
  const max = iterationsOf(options.maxIterations);
  const reached = `Max iterations (${max}) reached${limitText === "reached" ? "" : " without completion"}`;
  return {
    model,
    ...(system === null ? {} : { system }),
    tools: registered(tools, logger),
    adapt: { tool: plainTool },
    continueRule: byStopReason(),
    // The error at the limit has this system's words.
    rules: [maxSteps(max, { onLimit: "error", message: reached })],
    texts,
    toolOrder: "sequential",
    maxCallsPerTurn: Number.MAX_SAFE_INTEGER,
    ...soleRule,
    refusals: null,
    retry: null,
    repairs: null,
    context: noContext,
    throwOnError: true,
    ...(options.settings === undefined ? {} : { settings: options.settings }),
    ...(options.hooks === undefined ? {} : { hooks: options.hooks }),
    ...(logger === undefined ? {} : { logger }),
  };
}

const invalidArguments = (name: string, error: string): string =>
  `Error: Invalid arguments for ${name}: ${error}`;

/** What the model reads of calls without a result of their own. */
const texts: Partial<Texts> = {
  unknownTool: (name) => `Error: Unknown tool: ${name}`,
  invalidArgs: invalidArguments,
  badJson: invalidArguments,
  threw: (name, message) => `Error executing ${name}: ${message}`,
};

/** The tools, in the order in which each name was first registered. */
function registered(tools: readonly Tool[], logger: Logger | undefined): Tool[] {
  const byName = new Map<string, Tool>();
  for (const one of tools) {
    if (byName.has(one.name))
      logger?.warn(`[REGISTRY] Warning: Overwriting existing tool: ${one.name}`, { tool: one.name });
    byName.set(one.name, one);
  }
  return [...byName.values()];
}

/**
 * The tool, with arguments treated like those of a plain function: an unknown one is an error, and so is everything the
 * tool calls a TypeError.
 */
function plainTool(tool: Tool): Tool {
  const known = parametersOf(tool.definition.inputSchema);
  return toolWith(tool, {
    check(args): ArgsCheck | Promise<ArgsCheck> {
      const strange = known && Object.keys(args).find((key) => !known.has(key));
      if (strange === undefined) return tool.check(args);
      return { ok: false, error: `unexpected argument ${JSON.stringify(strange)}` };
    },
    async execute(args: never, context: ToolContext) {
      try {
        return await tool.execute(args, context);
      } catch (thrown) {
        if (!(thrown instanceof TypeError) || context.signal.aborted) throw thrown;
        return toolResult(invalidArguments(tool.name, messageOf(thrown)), { isError: true });
      }
    },
  });
}

/** The names of a tool's arguments; undefined if its schema allows others. */
function parametersOf(schema: JsonObject): ReadonlySet<string> | undefined {
  const { properties, additionalProperties, unevaluatedProperties } = schema;
  const rest = additionalProperties ?? unevaluatedProperties;
  if (!isObject(properties) || rest !== undefined || saysMoreElsewhere(schema)) return undefined;
  return new Set(Object.keys(properties));
}
