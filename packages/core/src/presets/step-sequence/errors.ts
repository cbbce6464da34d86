// The room of the step sequence's errors: what went wrong, under the names and in the words that sequence uses.
//
// Made from the end of a run, or from the step of a call that failed: nothing here decides anything.

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

/** What a step sequence throws, or says of a call that failed. */
export class StepSequenceError extends RondoError {
  override readonly name: string = "StepSequenceError";
  readonly code: StepSequenceErrorCode;

  constructor(code: StepSequenceErrorCode, kind: ErrorKind, message: string, cause?: unknown) {
    super(kind, message, { retryable: false, ...(cause === undefined ? {} : { cause }) });
    this.code = code;
  }
}

/** The rules that end a run over what its model threw, which may be anything. */
const ofModel: ReadonlySet<string> = new Set(["retry", "default"]);

/** The error of a run that failed: in the sequence's words, and as it was. */
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
  // A hook, a listener or a rule that failed: the model had no part in it.
  if (kind === "internal" && !ofModel.has(rule))
    return made("invalidState", `Invalid agent state: ${message}`);
  return made("llmError", `LLM error: ${message}`);
}

/** What a step says of a call that failed; undefined for any other step. */
export function toolError(step: StepEvent): StepSequenceError | undefined {
  if (step.type !== "tool_result" || !step.isError) return undefined;
  const { name } = step.call;
  if (step.code === "unknown_tool")
    return new StepSequenceError("toolNotFound", "invalid_request", `Tool not found: ${name}`);
  const said = textOf({ role: "user", content: step.content }).replace(/^Error: /, "");
  return new StepSequenceError("toolExecutionFailed", "internal", `Tool execution failed (${name}): ${said}`);
}
