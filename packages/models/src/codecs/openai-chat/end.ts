// The room of how a Chat Completions answer ends: what its finish reason means, and whether it can be believed.

import { type AssistantMessage, cutRaw, RondoError, type StopKind } from "@rondo/core";
import { type AnswerEnd, answerLimit, cutAtLimit } from "../../answer/ends.ts";
import type { Answer } from "../../answer.ts";
import type { Target } from "../../codec.ts";
import { numberIn } from "../../json-values.ts";
import { isMalformed } from "../foreign-stops.ts";
import { speaker } from "../openai/errors.ts";
import { openaiChatStops, stopOf } from "../openai/stops.ts";

/** The finish reason, and the upstream's own behind a router. */
export interface ChatEnd {
  word: string | undefined;
  native: string | undefined;
}

/**
 * What the finish reason means; without one, the stream simply ended. Some routers call every end a good one (F006), even
 * that of an upstream whose connection broke, and some call what a filter withheld an error (F015), which it would be in
 * vain to try again: then the upstream's own finish reason overrides it.
 */
export function wireOf({ word, native }: ChatEnd): StopKind {
  const own = word === undefined ? "end_turn" : stopOf(openaiChatStops, word);
  if (native === undefined || !vague.has(own)) return own;
  const behind = stopOf(openaiChatStops, native);
  return grave.has(behind) ? behind : own;
}

/** Ends of a router's that may hide another one of its upstream's. */
const vague: ReadonlySet<StopKind> = new Set(["end_turn", "tool_use", "error", "unknown"]);

/**
 * Whether a finish reason may not be replaced by a later one: some proxies end every stream, even a truncated one, with a
 * word of their own.
 */
export const isGrave = (word: string | undefined): boolean =>
  word !== undefined && grave.has(stopOf(openaiChatStops, word));

/** Whether a finish reason says that the output limit was reached. */
export const isCut = (word: string | undefined): boolean =>
  word !== undefined && stopOf(openaiChatStops, word) === "max_tokens";

const grave: ReadonlySet<StopKind> = new Set([
  "max_tokens",
  "context_overflow",
  "content_filter",
  "refusal",
  "error",
]);

/** Whether an end means that there is no answer. @param isEmpty nothing came before it */
export function isBroken({ word, native }: ChatEnd, wire: StopKind, isEmpty: boolean): boolean {
  // What stands before a call that the upstream could not read may be a part of it.
  return wire === "error" || isMalformed(word) || isMalformed(native) || (isEmpty && word === undefined);
}

/** The error of such an end. */
export function failureOf({ word, native }: ChatEnd, target: Target): RondoError {
  const who = speaker(target);
  if (word === undefined)
    return new RondoError("empty_response", `${who} ended its answer without saying anything`);
  return new RondoError(
    isMalformed(native) || isMalformed(word) ? "malformed_tool_call" : "server_error",
    `${who} broke its answer off with "${word}"${native === undefined ? "" : ` (${native})`}`,
    {
      retryable: true,
      raw: cutRaw({ finish_reason: word, ...(native === undefined ? {} : { native_finish_reason: native }) }),
    },
  );
}

function endOf({ word, native }: ChatEnd, wire: StopKind): AnswerEnd {
  const isTold = native !== undefined && (wire === "unknown" || wire !== wireOf({ word, native: undefined }));
  const detail = isTold
    ? `native finish reason: ${native}`
    : word === undefined
      ? "finish_missing"
      : undefined;
  return {
    wire,
    ...(word === undefined ? {} : { raw: word }),
    ...(detail === undefined ? {} : { detail }),
  };
}

/**
 * Whether an answer with whole calls was nevertheless truncated (F006), judging by its length. Some servers do not count
 * reasoning towards the limit: an answer above the limit must then also reach it without its reasoning.
 */
function wasCut({ content, stop, usage }: AssistantMessage, target: Target): boolean {
  const limit = answerLimit(target);
  const written = numberIn(usage?.outputTokens);
  if (limit === undefined || written === undefined || written < limit) return false;
  if (stop.wire === "max_tokens") return false;
  const said = written - (numberIn(usage?.reasoningTokens) ?? 0);
  const calls = content.some((part) => part.type === "tool_call");
  return calls && (written === limit || said >= limit);
}

/** The whole answer with this end, or with that of a truncated one. */
export function finished(answer: Answer, end: ChatEnd, wire: StopKind, target: Target): AssistantMessage {
  const last = endOf(end, wire);
  const message = answer.finish(last, answerLimit(target));
  return wasCut(message, target) ? answer.finish({ ...last, ...cutAtLimit }) : message;
}
