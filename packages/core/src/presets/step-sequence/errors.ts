// The room of the step sequence's errors: what went wrong, with the names and the words of that sequence.
//
// They are made from a run's end, or from the step of a failed call. Nothing is decided here.

import { type ErrorKind, errorFrom, RondoError } from "../../errors.ts";
import type { RunEnd } from "../../loop/records.ts";
import { textOf } from "../../message.ts";
import type { StepEvent } from "../../steps.ts";

export type StepSequenceErrorCode =
  | "maxStepsExceeded"
  | "toolNotFound"
  | "toolExecutionFailed"
  | "invalidState"
  | "outputDecodingFailed"
  | "llmError";

/** The error that a step sequence throws, or reports for a failed call. */
export class StepSequenceError extends RondoError {
  override readonly name: string = "StepSequenceError";
  readonly code: StepSequenceErrorCode;

  constructor(code: StepSequenceErrorCode, kind: ErrorKind, message: string, cause?: unknown) {
    super(kind, message, { retryable: false, ...(cause === undefined ? {} : { cause }) });
    this.code = code;
  }
}

/** Rules that end a run because its model threw, whatever it threw. */
const ofModel: ReadonlySet<string> = new Set(["retry", "default"]);

/** The error of a failed run, in the sequence's words and in the original. */
export function stepSequenceError({ error, reason, rule, evidence }: RunEnd): {
  wrapped: StepSequenceError;
  raw: RondoError;
} {
  const raw = errorFrom(error ?? { kind: "internal", message: reason, retryable: false });
  const { kind, message } = raw;
  const made = (code: StepSequenceErrorCode, words: string): ReturnType<typeof stepSequenceError> => ({
    wrapped: new StepSequenceError(code, kind, words, raw),
    raw,
  });
  if (reason === "max_steps")
    return made("maxStepsExceeded", `Agent exceeded maximum steps limit (${String(evidence.max)})`);
  if (reason === "output_invalid") {
    const fault = String(evidence.error);
    const { wrapped } = made("outputDecodingFailed", `Failed to decode output: ${fault}`);
    return { wrapped, raw: new RondoError(kind, fault) };
  }
  // A hook, a listener or a rule failed, not the model.
  if (kind === "internal" && !ofModel.has(rule))
    return made("invalidState", `Invalid agent state: ${message}`);
  return made("llmError", `LLM error: ${message}`);
}

/** The error of a failed call's step; undefined for any other step. */
export function toolError(step: StepEvent): StepSequenceError | undefined {
  if (step.type !== "tool_result" || !step.isError) return undefined;
  const { name } = step.call;
  if (step.code === "unknown_tool")
    return new StepSequenceError("toolNotFound", "invalid_request", `Tool not found: ${name}`);
  const said = textOf({ role: "user", content: step.content }).replace(/^Error: /, "");
  return new StepSequenceError("toolExecutionFailed", "internal", `Tool execution failed (${name}): ${said}`);
}
