// The room of warnings: what a request asked for and its provider cannot do, reported while the request is encoded.
//
// The same loss has the same code in every protocol; the message names the protocol's own members.

import type { WireRequest } from "../codec.ts";

/** What a warning is about; the `code` of a `warning` event. */
export type WarningCode =
  /** A setting that the model does not have, or not in this request: left out. */
  | "unsupported_setting"
  /** A setting that was changed: capped at a limit, or set to the nearest level. */
  | "adjusted_setting"
  /** A name in `providerOptions` that is no known provider's, or an option that the protocol does not have: left out. */
  | "unsupported_option"
  /** Calls cannot be forced or forbidden here: the choice was left to the model, or to the other settings. */
  | "unsupported_tool_choice"
  /** The model's output cannot be constrained to the schema: it was not sent. The output is validated all the same. */
  | "unsupported_output_schema"
  /** A schema was sent without rules that the provider does not accept. */
  | "schema_rules_removed"
  /** A tool has members whose names the provider does not accept: described in the tool's description instead. */
  | "schema_members_undeclared"
  /** A file that the model does not take: a note replaces it. */
  | "unsupported_file"
  /** A file whose bytes are still in the blob store: a note replaces it. */
  | "file_not_loaded"
  /** Text of the history that the provider does not take in that place: left out. */
  | "text_dropped"
  /** Cache marks beyond the number that the provider allows: left out. */
  | "cache_marks_dropped"
  /** A call in the history without a result: an error result was added. */
  | "missing_result"
  /** A result without its call before it: left out. */
  | "orphan_result"
  /** A second result of one call: left out. */
  | "second_result"
  /** The call or the result of a tool that the provider ran, without the other: left out. */
  | "server_tool_unpaired";

/** Reports what was left out or changed: a code, and a message for people. */
export type Warn = (code: WarningCode, message: string) => void;

export type Warning = WireRequest["warnings"][number] & { code: WarningCode };

/** A request's warnings by message: pieces report theirs at every request, and several may report the same. */
export type Told = Map<string, Warning>;

/** Reports each thing once. */
export const warnOnce =
  (told: Told): Warn =>
  (code, message) =>
    void told.set(`${code} ${message}`, { code, message });
