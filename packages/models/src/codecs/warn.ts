// The room of warnings: what a request asked for and its provider lacks, told while the request is made.
//
// The same loss has the same code over every protocol; the words beside it name the protocol's own members.

import type { WireRequest } from "../codec.ts";

/** What is told of a request. A `warning` event has it as its `code`. */
export type WarningCode =
  /** A setting the model has no word for, or not in this request: left out. */
  | "unsupported_setting"
  /** A setting that was sent otherwise than asked: cut to a limit, the nearest level. */
  | "adjusted_setting"
  /** A member of `providerOptions` that is no provider that is known, or one of a provider's that is no option of its protocol: left out. */
  | "unsupported_option"
  /** Calls cannot be forced or forbidden here: the choice was left to the model, or to what was asked beside it. */
  | "unsupported_tool_choice"
  /** The model cannot be held to the output schema: not sent. What comes is checked against it all the same. */
  | "unsupported_output_schema"
  /** A schema was sent without rules that the provider does not take. */
  | "schema_rules_removed"
  /** Members of a tool whose names the provider does not take: told in the tool's description. */
  | "schema_members_undeclared"
  /** A file the model does not take: a note stands in its place. */
  | "unsupported_file"
  /** A file whose bytes are still in the blob store: a note stands in its place. */
  | "file_not_loaded"
  /** Text of the history that the provider does not take where it stands: left out. */
  | "text_dropped"
  /** Cache marks beyond what the provider takes: left out. */
  | "cache_marks_dropped"
  /** A call of the history without a result: an error stands in for it. */
  | "missing_result"
  /** A result whose call does not stand before it: left out. */
  | "orphan_result"
  /** A second result of one call: left out. */
  | "second_result"
  /** The call or the result of a tool that the provider ran, without the other: left out. */
  | "server_tool_unpaired";

/** Tells what was left out or sent otherwise: a code, and words for people. */
export type Warn = (code: WarningCode, message: string) => void;

export type Warning = WireRequest["warnings"][number] & { code: WarningCode };

/** What a request is warned of, by what is told: pieces tell theirs at every request, and several may tell the same. */
export type Told = Map<string, Warning>;

/** Tells each thing once. */
export const warnOnce =
  (told: Told): Warn =>
  (code, message) =>
    void told.set(`${code} ${message}`, { code, message });
