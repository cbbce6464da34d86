// The room of the steerable preset: a loop that somebody can talk to while it works.
//
// A preset sets options and nothing else. Calls run one after the other and a word from outside skips the rest of
// them; more work may follow what was to be the end; whatever goes wrong with a call is told to the model; whatever
// goes wrong with the model ends the run, at once and with its message. Nothing is retried and nothing is nudged.

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
import { textOf } from "../message.ts";
import { type AgentOptions, agentChecks } from "../options/agent-options.ts";
import { type LoopDetection, loopDetection } from "../rules/repeats/loop-detection.ts";
import type { Rule } from "../rules/rule.ts";
import type { Texts } from "../rules/texts.ts";
import { besides } from "./common-options.ts";
import { soleRule } from "./sole-rule.ts";
import { type SteerablePrompt, steerablePrompt } from "./steerable/prompt.ts";
import { steerableStop } from "./steerable/stops.ts";

/** Options that mean here what they mean of an Agent. */
type Passed = Pick<
  AgentOptions,
  "model" | "tools" | "system" | "settings" | "hooks" | "logger" | "journal" | "clock"
>;

export interface SteerableOptions extends Passed {
  /** Lines to compose the system prompt of, after `system`. Default: none. */
  prompt?: SteerablePrompt;
  /** Watch for calls that repeat without getting anywhere; `true` is with its defaults. Default: off. */
  loopDetection?: boolean | LoopDetection;
  /** Old results, left out of requests whose cache has gone cold. Default: off. */
  prune?: PruneOptions | null;
  /**
   * The last look before a request goes out: results too large by themselves are shortened, for that request only, and
   * one that does not fit even so ends the run. `truncate_and_replace` also clears the oldest. Needs a known window.
   * `null`: off. Default: `{ results: "truncate" }`.
   */
  guard?: GuardOptions | null;
  /** Other stages of the agent's own option; they win. Default: off. */
  context?: AgentOptions["context"];
  /** There is no step limit, only this ceiling, where a run that went astray lands. Default: 10,000. */
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
    // Looks at its options itself.
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
 * The options of a steerable agent. Spread them to set what is not named here.
 * @throws RondoError `invalid_request` naming the first option that cannot be used
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

/** What the model reads of calls that did not come to a result of their own. */
const steerableTexts: Partial<Texts> = {
  unknownTool: (name) => `Tool ${name} not found`,
  invalidArgs: (name, error) => `Validation failed for tool "${name}": ${error}`,
  badJson: (name, error) => `Validation failed for tool "${name}": ${error}`,
  threw: (_name, message) => message,
};

/** Goes on exactly when the answer holds calls. An error or an abort is the end, whatever else there is. */
function steerableContinue(): Rule {
  return {
    name: "steerable",
    version: 2,
    judge(_memory, state) {
      const { turn } = withRun(state).run;
      // A failed call has no content to read: the loop ends the run with its error.
      if (turn === undefined) return undefined;
      const { stop, content } = turn.message;
      const word = steerableStop(stop);
      const text = textOf(turn.message);
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
      // An answer with nothing in it ends the run as any other, but no provider would take it again.
      const blank =
        text.trim() === "" && content.every(({ type }) => type === "text" || type === "reasoning");
      // What was cut off is no completed answer; but if somebody waits to speak, it is not the end either.
      const truncated = word === "length" && state.inbox.length === 0;
      return {
        follows: truncated ? { do: "stop", reason: "truncated" } : { do: "finish" },
        store: !blank,
        evidence,
      };
    },
  };
}
