// The room of a server's personality: how one OpenAI-compatible server differs from OpenAI, as seen from outside.
//
// A personality is data: what it refuses, how its answers look on the wire, what its errors look like. It was written from
// documents, error messages and the failure catalogue (F-numbers), and knows nothing of any client.

import type { ErrorKind, Json, JsonObject } from "@rondo/core";
import type { ChatRules } from "../rules/openai-chat.ts";
import type { Violation } from "../rules/violation.ts";

/** What it refuses beyond what OpenAI refuses. */
export interface ServerRules {
  /** OpenAI's rules, with those of single servers. */
  chat?: ChatRules;
  /** Body fields that are refused. */
  refused?: readonly string[];
  /** The only body fields there are. */
  fields?: readonly string[];
  /** The only roles there are. Default: all but `developer`. */
  roles?: readonly string[];
  /** A system message stands first or nowhere (F128). */
  systemFirst?: boolean;
  /** `content` may not be null (F124). */
  noNullContent?: boolean;
  /** With calls in an assistant message this field must be there, and with `filled` it may not be empty (F104). */
  echo?: { field: string; filled?: boolean; message: string };
  /** The last message may not be the assistant's (F127). */
  lastNotAssistant?: string;
  /** The history needs a user message (F129). */
  needsUser?: boolean;
  /** A call may not be forced, or not while thinking is on; on is what it is where nothing is said (F135). */
  noForcedCall?: "ever" | "thinking";
  /** It takes no tools (F145). */
  noTools?: string;
  /** `response_format` and `tools` exclude each other (F144). */
  noSchemaWithTools?: boolean;
  /** `response_format` of type `json_schema` is unknown (F142). */
  noJsonSchema?: boolean;
  /** Calls in the history need tools in the request (F131). */
  toolsWithHistory?: boolean;
  /** The only words of `reasoning_effort`. */
  efforts?: readonly string[];
  /** Headers without which nothing is answered. */
  headers?: readonly string[];
  /** Control tokens in texts of users and tools become turns of their own; here they are told as violations (F237). */
  obeysTokens?: boolean;
}

/** How its answers look on the wire. */
export interface ServerStyle {
  /** How calls are numbered. Default: `numbered`. */
  index?: "numbered" | "none" | "all_zero" | "from_one";
  /** Their ids. Default: `own`. */
  ids?: "own" | "none" | "empty" | "same" | "mistral9";
  /** In how many pieces a call comes. Default: `fragments`. */
  calls?: "fragments" | "whole" | "repeating" | "emptying" | "interleaved" | "arguments_first";
  /** Calls have no `type`. */
  noType?: boolean;
  /** Arguments are an object, no text (F087). */
  objectArgs?: boolean;
  /** Glued to every name (F064). */
  nameTail?: string;
  /** Where reasoning stands. Default: `reasoning_content`. */
  reasoning?:
    | "reasoning_content"
    | "reasoning"
    | "reasoning_details"
    | "reasoning_text"
    | "think_tags"
    | "parts"
    | "harmony"
    | "none";
  /** The words that end an answer. Default: `stop` and `tool_calls`; null: it says none (F011). */
  finish?: { text: string | null; calls: string | null };
  /** The finish word stands in the chunk with the last delta. */
  finishInPlace?: boolean;
  /** Where usage stands. `asked`: in a last chunk, if it was asked for. Default: `asked`. */
  usage?: "asked" | "with_finish" | "in_choice" | "x_groq" | "every_chunk" | "none";
  /** Comment lines before the first chunk. */
  comments?: readonly string[];
  /** Frames before the first chunk. */
  head?: readonly Json[];
  /** Every chunk repeats the whole message so far beside the delta. */
  snapshots?: boolean;
  /** The whole reasoning comes again as one last delta (F085). */
  repeatsReasoning?: boolean;
  /** Text and calls come in different choices. */
  splitChoices?: boolean;
  /** Members of the last chunk. */
  tail?: JsonObject;
  /** No `[DONE]` at the end (F158). */
  noDone?: boolean;
}

/** A response that is no answer. */
export interface ServerError {
  status: number;
  body: string;
  /** The body is a stream with an error in it. */
  stream?: boolean;
  /** What it means. */
  kind: ErrorKind;
  /** Words of it that a person should see. */
  says: string;
}

export interface ServerPersonality {
  rules: ServerRules;
  style: ServerStyle;
  /** How it refuses a request that breaks its rules. */
  refuse(violation: Violation): { status: number; body: string };
  errors: readonly ServerError[];
}
