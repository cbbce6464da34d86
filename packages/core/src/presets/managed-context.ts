// The room of the managed context: a long-running agent that keeps its history inside the model's window and reports in
// small events.
//
// A preset only sets options. Only the content of an answer decides whether the run continues; tools run one after another.
// At the limit the model is asked once more, without tools and outside the history, for a text to the user. The view
// `agentEvents` makes what the user sees of it.

import {
  anything,
  callable,
  checkGiven,
  count,
  flag,
  listOf,
  membersOf,
  object,
  rising,
  text,
} from "../checks.ts";
import type { CallView } from "../events.ts";
import { jsonIn } from "../json/in-text.ts";
import { hasText, type JsonObject } from "../message.ts";
import type { Model, Settings, ToolChoice } from "../model.ts";
import { type AgentOptions, agentChecks } from "../options/agent-options.ts";
import type { Judgement, Rule } from "../rules/rule.ts";
import type { Texts } from "../rules/texts.ts";
import type { Provided } from "../tool/dependency.ts";
import type { Tool } from "../tool.ts";
import { besides } from "./common-options.ts";
import { namedFailures } from "./managed-context/failures.ts";
import { hostedSettings, withoutHosted } from "./managed-context/hosted.ts";
import { emptyAsWritten } from "./managed-context/raw.ts";
import { managedTool } from "./managed-context/results.ts";
import { type ManagedRetry, managedRetry, retryChecks, retryWay } from "./managed-context/retry.ts";
import {
  type ManagedCompaction,
  managedStages,
  stageChecks,
  type ToolOutputCache,
} from "./managed-context/stages.ts";
import { soleRule } from "./sole-rule.ts";

/** Whether a call may run. `stopTurn` also ends the run. */
export type ToolDecision = { decision: "allow" } | { decision: "deny"; reason?: string; stopTurn?: boolean };

export interface ManagedContextOptions extends ManagedRetry {
  model: Model;
  tools?: readonly Tool[];
  /** Stored once, however many runs there are. Default: none. */
  systemPrompt?: string;
  /** The most model answers whose tools are run. After them comes one more answer, without tools. Default: 200. */
  maxIterations?: number;
  /** Default: the model decides. */
  toolChoice?: ToolChoice;
  /** Tools that the provider itself runs, in its own format, e.g. `{ type: "web_search" }`. Default: none. */
  hostedTools?: readonly JsonObject[];
  /** Asked before each call. If it throws, the call is denied. Default: the tools' own `permission`. */
  canExecuteTool?: (call: CallView) => ToolDecision | Promise<ToolDecision>;
  /** If true, only a tool can end the run (`DoneSignal`, `TaskComplete`), and an answer without calls continues it. Default: false. */
  requireDoneTool?: boolean;
  /** Called once a run, when the model wants to stop. Returns what is left to do, or nothing. The model gets that as a user message. */
  getIncompleteWorkPrompt?: () => string | null | undefined | Promise<string | null | undefined>;
  /** Values for dependencies of tools, in place of those that the keys create. */
  dependencyOverrides?: readonly Provided[];
  /** Whether `usageSummary` sums up. The last usage is kept in any case. Default: true. */
  enableUsageTracking?: boolean;
  /** Summarises the history when the window fills, also at the end of a run. `null`: off. Default: at 80 % of the window. */
  compaction?: ManagedCompaction | null;
  /** Cuts results when they arrive and trims them to a budget; their full texts are kept. `null`: off. Default: on. */
  toolOutputCache?: ToolOutputCache | null;
  /** The agent's own `context` option. Its stages override the two above. Default: none. */
  context?: AgentOptions["context"];
  settings?: Settings;
  hooks?: Omit<NonNullable<AgentOptions["hooks"]>, "permission" | "onFinish">;
  logger?: AgentOptions["logger"];
}

const summaryPrompt =
  "You are generating the final response for the user after the agent reached max iterations. Summarize what was completed, what is pending, and any blockers. Be concise, user-facing, and do not mention internal agent mechanics. If there is a clear next step, suggest it as a short list.";

const turnStopped = "Permission request was denied. Turn stopped. Please send your next input to continue.";

const invalidArgs = (name: string): string => `Error: Tool input validation failed for ${name}`;

const texts: Partial<Texts> = {
  unknownTool: (name) => `Error: Unknown tool '${name}'`,
  // A request can only carry arguments that are a JSON object. So the text that the model wrote is put here: otherwise the
  // model would never see it again.
  badJson: (name, error, raw) =>
    `${jsonIn(raw) === undefined ? `Error: Invalid tool arguments JSON for ${name}` : invalidArgs(name)}: ${error}. As received: ${raw.slice(0, 2000)}`,
  invalidArgs: (name, error) => `${invalidArgs(name)}: ${error}`,
  threw: (_name, message) => `Error: ${message}`,
  denied: (reason) => `Permission denied${reason === undefined || reason === "" ? "" : `: ${reason}`}`,
  permissionFailed: (error) => `Permission check failed: ${error}`,
  landing: () => summaryPrompt,
  landed: (_reason, said) =>
    `[Max Iterations Reached]\n\n${said === undefined ? "Summary unavailable due to an internal error." : said.trim()}`,
};

// The preset's view, `agentEvents`, is given the same object, so the options of the view are accepted by name.
type ViewOptions = { displayName: unknown; clock: unknown };

const ownChecks = membersOf<ManagedContextOptions & ViewOptions>(
  {
    displayName: anything,
    clock: anything,
    model: agentChecks.model,
    tools: agentChecks.tools,
    systemPrompt: text,
    maxIterations: count,
    toolChoice: agentChecks.toolChoice,
    hostedTools: listOf(object),
    canExecuteTool: callable,
    requireDoneTool: flag,
    getIncompleteWorkPrompt: callable,
    dependencyOverrides: agentChecks.dependencies,
    enableUsageTracking: flag,
    ...stageChecks,
    context: agentChecks.context,
    settings: agentChecks.settings,
    hooks: agentChecks.hooks,
    logger: agentChecks.logger,
    ...retryChecks,
  },
  ["model"],
  besides("managedContext"),
);
const optionChecks = rising(ownChecks, { llmRetryBaseDelayMs: 1_000, llmRetryMaxDelayMs: 60_000 });

/**
 * The options of a managed-context agent. Spread them into your own to add a journal or a clock.
 * @throws RondoError `invalid_request` naming the first invalid option
 */
export function managedContext(options: ManagedContextOptions): AgentOptions {
  checkGiven(optionChecks, options);
  const { model, maxIterations = 200, canExecuteTool, getIncompleteWorkPrompt, hooks } = options;
  const way = retryWay(options);
  const settings = hostedSettings(model, options.settings, options.hostedTools);
  const retries = managedRetry(options);
  return {
    model,
    tools: options.tools ?? [],
    adapt: {
      model(one) {
        const written = emptyAsWritten(one);
        const asked = (options.hostedTools ?? []).length === 0 ? written : withoutHosted(written);
        return way === undefined ? asked : namedFailures(asked, way);
      },
      tool: managedTool,
    },
    rules: [
      ...(retries === undefined ? [] : [retries as Rule]),
      ...(options.requireDoneTool === true ? [requireDone()] : []),
    ],
    texts,
    maxSteps: maxIterations,
    onLimit: "land",
    landing: { tools: "omitted", store: false },
    argumentErrors: "pass_raw",
    toolOrder: "sequential",
    maxCallsPerTurn: Number.MAX_SAFE_INTEGER,
    // The content decides, whatever the provider's stop word is.
    ...soleRule,
    onTruncated: "run_complete",
    retry: null,
    ...(retries === undefined ? { repairs: null } : {}),
    throwOnError: true,
    hooks: {
      ...hooks,
      ...(canExecuteTool === undefined
        ? {}
        : { permission: async (call: CallView) => permissionOf(await canExecuteTool(call)) }),
      ...(getIncompleteWorkPrompt === undefined
        ? {}
        : { onFinish: async () => (await getIncompleteWorkPrompt()) ?? undefined }),
    },
    ...(options.systemPrompt === undefined ? {} : { system: options.systemPrompt }),
    ...(options.toolChoice === undefined ? {} : { toolChoice: options.toolChoice }),
    ...(options.dependencyOverrides === undefined ? {} : { dependencies: options.dependencyOverrides }),
    context: { ...managedStages(options.compaction, options.toolOutputCache), ...options.context },
    ...(options.toolOutputCache?.store === undefined ? {} : { blobs: options.toolOutputCache.store }),
    ...(settings === undefined ? {} : { settings }),
    ...(options.logger === undefined ? {} : { logger: options.logger }),
  };
}

function permissionOf(said: ToolDecision): {
  answer: "allow" | "deny" | "stop";
  reason?: string;
  text?: string;
} {
  if (said.decision === "allow") return { answer: "allow" };
  const reason = said.reason === undefined ? {} : { reason: said.reason };
  return said.stopTurn === true
    ? { answer: "stop", ...reason, text: turnStopped }
    : { answer: "deny", ...reason };
}

/** An answer without calls is a part of the work, not its end. */
function requireDone(): Rule {
  return {
    name: "require_done_tool",
    version: 1,
    judge(_memory, state): Judgement | undefined {
      const turn = state.run?.turn;
      if (turn === undefined || turn.calls.length > 0) return undefined;
      // An empty answer is not stored: providers refuse empty messages.
      return {
        follows: { do: "ask_again" },
        store: hasText(turn.message),
        evidence: { calls: 0 },
      };
    },
  };
}
