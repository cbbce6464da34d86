// The room of texts: everything the loop itself writes to a model.
//
// They state facts neutrally: never an instruction that could end a turn early or mislead a model. Presets replace single
// entries.

import { likely } from "../checks/nearest.ts";
import { headOf } from "../text/size.ts";
import type { Effect } from "../tool/effect.ts";

export interface Texts {
  /** `argsError`: why the arguments could not be parsed, if that is also wrong. */
  unknownTool(name: string, known: readonly string[], argsError?: string): string;
  invalidArgs(name: string, error: string): string;
  badJson(name: string, error: string, raw: string): string;
  /** What the model reads if a tool throws. `message` is the error's message. */
  threw(name: string, message: string): string;
  /** The same under `toolErrors: "masked"`. */
  masked(name: string): string;
  /** The tool choice of the request did not allow the call. `only`: the one tool that it allowed, if any. */
  notAllowed(name: string, only: string | undefined): string;
  truncatedCall(name: string): string;
  tooManyCalls(name: string, max: number): string;
  denied(reason: string | undefined): string;
  /** The permission hook itself failed: the call was not denied, but does not run. */
  permissionFailed(error: string): string;
  skippedForMessage(name: string): string;
  /** `approved`: set if the call had been approved: why the run ends before it all the same, e.g. `deadline`. */
  skippedForEnd(name: string, approved?: string): string;
  notExecuted(name: string): string;
  /** `effect`: the tool's; for a `read` the effect is not in doubt. */
  aborted(name: string, effect?: Effect): string;
  timeout(name: string, ms: number, effect?: Effect): string;
  outcomeUnknown(name: string): string;
  limitRefusal(name: string, reason: string): string;
  /** Appended to the answer of a sub-agent that landed at a limit. */
  childLanded(reason: string): string;
  /** A sub-agent gave no answer. `said`: its last text, if any. */
  childFailed(name: string, reason: string, error: string | undefined, said: string): string;
  landing(reason: string): string;
  /** The text of a run that landed; not used for a typed output, whose text is the value. `said`: the answer of its last turn, absent if that failed. If it returns nothing: the last text, or the failure. */
  landed(reason: string, said: string | undefined): string | undefined;
  /** `thought`: the answer held reasoning, which may even describe a call. */
  emptyAnswer(thought?: boolean): string;
  degenerateAnswer(): string;
  malformedCall(detail: string | undefined): string;
  finalOutput(error: string | undefined): string;
  /** The text of a run that only compacted. */
  compacted(): string;
  /** Asks for the typed output, with its schema as JSON, if the model cannot be held to it otherwise. */
  outputSchema(schema: string): string;
}

/** All of a few tools. Of many the nearest: the request declares them all, and the result of each such call would repeat their names. */
function availableTools(name: string, known: readonly string[]): string {
  if (known.length <= 30) return `Available tools: ${known.length === 0 ? "none" : known.join(", ")}.`;
  const near = likely(name, known, 10);
  if (near.length === 0) return `It is none of the ${known.length} available tools.`;
  return `The nearest of the ${known.length} available tools: ${near.join(", ")}.`;
}

/** Cuts a foreign text to a useful length. It must not end in half a character, which would make the whole request invalid. */
const clip = (text: string, limit: number): string =>
  text.length <= limit
    ? text.toWellFormed()
    : `${headOf(text, limit).toWellFormed()}… (${text.length} characters in all)`;

/** The text for a call that was abandoned. */
const doubt = (effect?: Effect): string => (effect === "read" ? "" : "; whether it had an effect is unknown");

export const defaultTexts: Texts = {
  unknownTool: (name, known) =>
    `Error: unknown tool ${JSON.stringify(clip(name, 100))}. ${availableTools(name, known)}`,
  invalidArgs: (name, error) => `Error: the arguments of ${name} do not fit its schema: ${clip(error, 2000)}`,
  badJson: (name, error, raw) =>
    `Error: ${name} was not executed: ${clip(error, 500)}. The arguments as received: ${clip(raw, 2000)}`,
  threw: (_name, message) => (message.startsWith("Error:") ? message : `Error: ${message}`),
  masked: (name) => `Error: ${name} failed.`,
  notAllowed: (name, only) =>
    `Error: ${name} was not executed: the request allowed ${only === undefined ? "no tool calls" : `only calls of ${only}`}.`,
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
  emptyAnswer: (thought) =>
    thought === true
      ? "The last answer held only thinking; no text or tool call was outside it. Continue with the task, or give the final answer as text."
      : "The last answer was empty. Continue with the task, or give the final answer as text.",
  // The repeated text is not quoted: the model would continue it.
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
