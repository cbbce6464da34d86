// The room of the steerable preset: a loop that one can talk to while it works.
//
// A preset only sets options. Calls run one after another, and a message from outside skips the remaining ones. More work
// may follow what was to be the end. The model is told of every failure of a call. A failure of the model ends the run at
// once, with its message. There are no retries and no nudges.

import {
  anything,
  checkGiven,
  count,
  either,
  flag,
  listOf,
  membersOf,
  object,
  oneOf,
  orNull,
  text,
} from "../checks.ts";
import type { GuardOptions } from "../context/guard.ts";
import { noContext } from "../context/options.ts";
import type { PruneOptions } from "../context/prune/settings.ts";
import type { ErrorData } from "../errors.ts";
import { withRun } from "../loop/state.ts";
import { answerTextOf } from "../message.ts";
import { type AgentOptions, agentChecks } from "../options/agent-options.ts";
import { type LoopDetection, loopDetection } from "../rules/repeats/loop-detection.ts";
import type { Rule } from "../rules/rule.ts";
import type { Texts } from "../rules/texts.ts";
import { besides } from "./common-options.ts";
import { soleRule } from "./sole-rule.ts";
import { type SteerablePrompt, steerablePrompt } from "./steerable/prompt.ts";
import { steerableStop } from "./steerable/stops.ts";

/** Options with the same meaning as those of an Agent. */
type Passed = Pick<
  AgentOptions,
  "model" | "tools" | "system" | "settings" | "hooks" | "logger" | "journal" | "clock"
>;

export interface SteerableOptions extends Passed {
  /** Lines for the system prompt, after `system`. Default: none. */
  prompt?: SteerablePrompt;
  /** Detects calls that repeat without progress; `true` uses the defaults. Default: off. */
  loopDetection?: boolean | LoopDetection;
  /** Leaves old results out of requests whose cache has gone cold. Default: off. */
  prune?: PruneOptions | null;
  /**
   * The last check before a request is sent. Results that are too large by themselves are shortened, for that request
   * only; if the request still does not fit, the run ends. `truncate_and_replace` also clears the oldest results. Needs a
   * known window. `null`: off. Default: `{ results: "truncate" }`.
   */
  guard?: GuardOptions | null;
  /** Other stages of the agent's own `context` option; they override those above. Default: off. */
  context?: AgentOptions["context"];
  /** There is no step limit, only this ceiling, at which a run that has gone astray lands. Default: 10,000. */
  ceiling?: number;
}

const optionChecks = membersOf<SteerableOptions>(
  {
    model: agentChecks.model,
    tools: agentChecks.tools,
    system: agentChecks.system,
    settings: agentChecks.settings,
    hooks: agentChecks.hooks,
    logger: agentChecks.logger,
    journal: agentChecks.journal,
    clock: agentChecks.clock,
    prompt: membersOf<SteerablePrompt>({
      instruction: text,
      narration: flag,
      skills: listOf(membersOf({ name: text, description: text, location: text }, [], "let_pass")),
      memory: flag,
      silence: either(text, flag),
    }),
    // It checks its options itself.
    loopDetection: either(object, flag),
    prune: anything,
    guard: orNull(membersOf<GuardOptions>({ results: oneOf("truncate", "truncate_and_replace") })),
    context: agentChecks.context,
    ceiling: count,
  },
  ["model"],
  besides("steerable"),
);

/**
 * The options of a steerable agent. Spread them into your own to set what is not named here.
 * @throws RondoError `invalid_request` naming the first invalid option
 */
export function steerable(options: SteerableOptions): AgentOptions {
  checkGiven(optionChecks, options);
  const { prompt, loopDetection: watch = false, ceiling = 10_000, system = "", ...others } = options;
  const { prune = null, guard = {}, context, ...passed } = others;
  const words = [system, prompt === undefined ? "" : steerablePrompt(prompt)].filter((text) => text !== "");
  return {
    ...passed,
    ...(words.length === 0 ? {} : { system: words.join("\n\n") }),
    ...(watch === false ? {} : { rules: [loopDetection(watch === true ? {} : watch) as Rule] }),
    continueRule: steerableContinue(),
    maxSteps: ceiling,
    toolOrder: "sequential",
    maxCallsPerTurn: 1_000,
    ...soleRule,
    onTruncated: "run_complete",
    retry: null,
    repairs: null,
    context: {
      ...noContext,
      prune,
      guard: guard === null ? null : { results: guard.results ?? "truncate", counts: "messages" },
      ...context,
    },
    texts: steerableTexts,
  };
}

/** What the model reads of calls without a result of their own. */
const steerableTexts: Partial<Texts> = {
  unknownTool: (name) => `Tool ${name} not found`,
  invalidArgs: (name, error) => `Validation failed for tool "${name}": ${error}`,
  badJson: (name, error) => `Validation failed for tool "${name}": ${error}`,
  threw: (_name, message) => message,
};

/** Continues exactly if the answer has calls. An error or an abort ends the run, whatever else the answer has. */
function steerableContinue(): Rule {
  return {
    name: "steerable",
    version: 2,
    judge(_memory, state) {
      const { turn } = withRun(state).run;
      // A failed model call has no content: the loop ends the run with its error.
      if (turn === undefined) return undefined;
      const { stop, content } = turn.message;
      const word = steerableStop(stop);
      const text = answerTextOf(turn.message);
      const calls = turn.calls.length;
      const evidence = { calls, stop: word, ...(stop.raw === undefined ? {} : { raw: stop.raw }) };
      if (word === "aborted") {
        const message = stop.detail ?? "the answer was broken off";
        const error: ErrorData = { kind: "stream_error", message, retryable: false };
        return {
          follows: { do: "stop", reason: "aborted", text, error },
          store: false,
          evidence: { ...evidence, reason: message },
        };
      }
      if (word === "error") {
        const message = stop.detail ?? `the answer ended with an error (${stop.raw ?? stop.wire})`;
        const kind: ErrorData["kind"] =
          stop.wire === "malformed_call" ? "malformed_tool_call" : "stream_error";
        const error: ErrorData = { kind, message, retryable: false };
        return { follows: { do: "stop", reason: "error", text, error }, store: false, evidence };
      }
      if (calls > 0) return { follows: { do: "act" }, evidence };
      // An empty answer ends the run like any other, but it must not be sent again: no provider would take it.
      const blank =
        text.trim() === "" && content.every(({ type }) => type === "text" || type === "reasoning");
      // A truncated answer does not complete the run; but if a message is queued, it does not end it either.
      const truncated = word === "length" && state.inbox.length === 0;
      return {
        follows: truncated ? { do: "stop", reason: "truncated" } : { do: "finish" },
        store: !blank,
        evidence,
      };
    },
  };
}
