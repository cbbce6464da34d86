// The room of words: every text the loop itself says to a model.
//
// Facts, stated neutrally: never an instruction that could end a turn early or send a model astray. Presets replace
// single entries.

import type { Effect } from "../tool/effect.ts";

export interface Texts {
  /** `argsError`: what else is wrong with the call, when its arguments could not be read either. */
  unknownTool(name: string, known: readonly string[], argsError?: string): string;
  invalidArgs(name: string, error: string): string;
  badJson(name: string, error: string, raw: string): string;
  /** What the model reads of something a tool threw. `message` is what was thrown, in words. */
  threw(name: string, message: string): string;
  /** In its place where `toolErrors` is `masked`. */
  masked(name: string): string;
  truncatedCall(name: string): string;
  tooManyCalls(name: string, max: number): string;
  denied(reason: string | undefined): string;
  /** The permission hook itself failed: nobody said no, and the call does not run. */
  permissionFailed(error: string): string;
  skippedForMessage(name: string): string;
  /** `approved`: somebody had said yes to the call; why the run ends before it all the same, e.g. `deadline`. */
  skippedForEnd(name: string, approved?: string): string;
  notExecuted(name: string): string;
  /** `effect`: what the tool does to the world; of one that only reads no effect is in doubt. */
  aborted(name: string, effect?: Effect): string;
  timeout(name: string, ms: number, effect?: Effect): string;
  outcomeUnknown(name: string): string;
  limitRefusal(name: string, reason: string): string;
  /** What is said behind the answer of a sub-agent that landed at a limit. */
  childLanded(reason: string): string;
  /** A sub-agent came to no answer. `said`: what it had said so far, if anything. */
  childFailed(name: string, reason: string, error: string | undefined, said: string): string;
  landing(reason: string): string;
  /** The text of a run that landed; not asked for a typed output, whose text is the value. `said`: the answer of its last turn, absent when that failed. Nothing: what was said last, or the failure. */
  landed(reason: string, said: string | undefined): string | undefined;
  emptyAnswer(): string;
  degenerateAnswer(): string;
  malformedCall(detail: string | undefined): string;
  finalOutput(error: string | undefined): string;
  /** The text of a run that was for a compaction alone. */
  compacted(): string;
  /** Tells the schema of the typed output, as JSON, to a model that cannot be held to it otherwise. */
  outputSchema(schema: string): string;
}

/** What others wrote, no longer than it helps. Half a character, theirs or of the cut, would make a whole request invalid. */
const clip = (text: string, limit: number): string =>
  text.length <= limit
    ? text.toWellFormed()
    : `${text.slice(0, limit).toWellFormed()}… (${text.length} characters in all)`;

/** What is said of a call that was given up. */
const doubt = (effect?: Effect): string => (effect === "read" ? "" : "; whether it had an effect is unknown");

export const defaultTexts: Texts = {
  unknownTool: (name, known) =>
    `Error: unknown tool ${JSON.stringify(clip(name, 100))}. Available tools: ${known.length === 0 ? "none" : known.join(", ")}.`,
  invalidArgs: (name, error) => `Error: the arguments of ${name} do not fit its schema: ${clip(error, 2000)}`,
  badJson: (name, error, raw) =>
    `Error: ${name} was not executed: ${clip(error, 500)}. The arguments as received: ${clip(raw, 2000)}`,
  threw: (_name, message) => (message.startsWith("Error:") ? message : `Error: ${message}`),
  masked: (name) => `Error: ${name} failed.`,
  truncatedCall: (name) =>
    `Error: ${name} was not executed: the message was cut off at the output limit, so its calls may be incomplete. Shorter calls, or the work in smaller pieces, would fit.`,
  tooManyCalls: (name, max) =>
    `Error: ${name} was skipped: too many calls in one message (at most ${max} are run).`,
  denied: (reason) =>
    `Permission denied${reason === undefined || reason === "" ? "." : `: ${reason}`}`.toWellFormed(),
  permissionFailed: (error) => `Permission check failed: ${error}`,
  skippedForMessage: (name) => `${name} was skipped: a new message from the user came first.`,
  skippedForEnd: (name, approved) =>
    approved === undefined
      ? `${name} was skipped: the run ended before it.`
      : `${name} was approved, and did not run: the run was over before that (${approved}).`,
  notExecuted: (name) => `${name} was not executed.`,
  aborted: (name, effect) => `${name} was aborted before it finished${doubt(effect)}.`,
  timeout: (name, ms, effect) => `Error: ${name} timed out after ${ms} ms${doubt(effect)}.`,
  outcomeUnknown: (name) =>
    `${name} was interrupted: its outcome is unknown. It may or may not have had its effect; verify before repeating it.`,
  childLanded: (reason) => `[The agent stopped at a limit (${reason}): this is as far as it came.]`,
  childFailed: (name, reason, error, said) =>
    `Error: ${name} did not finish (${reason})${error === undefined ? "." : `: ${clip(error, 2000)}`}` +
    `${said.trim() === "" ? "" : `\nIts last words: ${clip(said, 4000)}`}`,
  limitRefusal: (name, reason) => `${name} was not executed: the run has reached its limit (${reason}).`,
  landing: (reason) =>
    `The run has reached a limit (${reason}) and no more tools can be used. Give the best answer you can from what is known so far, and say plainly what is left undone.`,
  landed: () => undefined,
  emptyAnswer: () => "The last answer was empty. Continue with the task, or give the final answer as text.",
  // What it said is not told again: it would go on with it.
  degenerateAnswer: () =>
    "The last answer repeated itself over and over, and is not kept. Continue with the task, or give the final answer as text.",
  malformedCall: (detail) =>
    `The last tool call could not be read${detail === undefined ? "" : ` (${clip(detail, 300)})`}. Write tool calls as the tool schemas say.`,
  finalOutput: (error) =>
    error === undefined
      ? "Please provide your final response in the required JSON format."
      : `The last response does not fit the required JSON format: ${clip(error, 1000)}. Please provide your final response in the required JSON format.`,
  compacted: () => "Compaction run completed.",
  outputSchema: (schema) =>
    `The required JSON format is one JSON value and nothing else, which satisfies this JSON Schema:\n${schema}`,
};
