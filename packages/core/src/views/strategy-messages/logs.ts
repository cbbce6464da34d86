// The room of the strategy's logs: the data of a finished log.
//
// There are two forms. `full` has everything; `summary` has only sizes and names, for data that must not leave. If asked
// for, the summary comes with the full form, in which every text is replaced by its size and everything under the name of a
// secret is removed.

import type { Json, JsonObject } from "../../message.ts";
import { charsOf } from "../../text/size.ts";

/** One finished call. */
export interface CallOutcome {
  id: string;
  name: string;
  /** Absent if they could not be read. */
  args?: JsonObject;
  response: string;
  /** What went wrong, unless the tool simply returned. */
  error?: string;
}

/** An answer. */
export interface Thought {
  response: string;
  calls: readonly { name: string; args: JsonObject }[];
}

export interface LogForm {
  /** Default: `full`. */
  logData?: "full" | "summary";
  /** What is added to a summary. Default: `none`. */
  debugOutput?: "none" | "sizes" | "previews";
}

/** The data of a finished `<model> Thought`. */
export function thoughtData(thought: Thought, form: LogForm): JsonObject {
  const { response, calls } = thought;
  const full = {
    output: response,
    tool_name: calls.map((call) => call.name).join(";"),
    tool_input: calls.map(({ name, args }) => ({ name, args })),
  };
  return inForm(full, form, {
    output_summary: { response_chars: charsOf(response), tool_call_count: calls.length },
    tool_name: calls.map((call) => call.name),
    tool_input_summary: calls.map(({ name, args }) => ({
      name,
      arg_count: Object.keys(args).length,
      arg_keys: Object.keys(args).sort(),
    })),
  });
}

/** The data of a finished `CALL <name>`. */
export function callData(outcome: CallOutcome, form: LogForm): JsonObject {
  const { id, name, response } = outcome;
  return inForm({ output: callOutput(outcome) }, form, {
    output_summary: {
      tool_call_id: id,
      tool_call_name: name,
      response_chars: charsOf(response),
      is_error: isError(outcome),
    },
  });
}

/** The data of a finished `ROUND n`. */
export function roundData(response: string, outcomes: readonly CallOutcome[], form: LogForm): JsonObject {
  const full = { output: { llm_response: response, tool_responses: outcomes.map(callOutput) } };
  return inForm(full, form, {
    output_summary: {
      llm_response_chars: charsOf(response),
      tool_response_count: outcomes.length,
      tool_error_count: outcomes.filter(isError).length,
    },
    tool_responses_summary: outcomes.map((outcome) => ({
      tool_call_name: outcome.name,
      response_chars: charsOf(outcome.response),
      is_error: isError(outcome),
    })),
  });
}

function callOutput({ id, name, args, response, error }: CallOutcome): JsonObject {
  return {
    tool_call_id: id,
    tool_call_name: name,
    ...(args === undefined ? {} : { tool_call_input: args }),
    tool_response: response,
    ...(error === undefined ? {} : { meta: { error } }),
  };
}

function isError({ response, error }: CallOutcome): boolean {
  return (
    error !== undefined || response.startsWith("tool invoke error") || response.includes("validation error")
  );
}

function inForm(full: JsonObject, form: LogForm, summary: JsonObject): JsonObject {
  if (form.logData !== "summary") return full;
  const { debugOutput = "none" } = form;
  if (debugOutput === "none") return summary;
  return { ...summary, debug_output: sized(full, debugOutput === "previews") };
}

const secrets = /token|secret|authorization|password|api_key|apikey|access_key|private_key|credential/i;

const previewCharacters = 160;

/** The value with each text replaced by its size, and without what is under the name of a secret. */
function sized(value: Json, previews: boolean): Json {
  if (typeof value === "string") {
    const preview = previews ? { preview: [...value].slice(0, previewCharacters).join("") } : {};
    return { chars: charsOf(value), ...preview };
  }
  if (Array.isArray(value)) return value.map((item) => sized(item, previews));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      secrets.test(key) ? "***REDACTED***" : sized(item, previews),
    ]),
  );
}
