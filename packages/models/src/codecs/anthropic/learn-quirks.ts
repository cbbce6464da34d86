// The room of what a refusal teaches of a server that speaks Anthropic's protocol.
//
// DeepSeek, Kimi and MiMo want the thinking of a tool turn back, without a signature (F104); Anthropic itself refuses it so
// (F101). One schema that is not taken fails every request (F136). Some refuse a paused answer that they paused themselves (F016). Nobody's name tells which of them stands behind a
// gateway.

import type { Json } from "@rondo/core";
import type { ErrorResponse, Target } from "../../codec.ts";
import { listIn } from "../../json-values.ts";
import { complaintOf } from "../../refusals/complaint.ts";
import { refusesNeighbours } from "../../refusals/roles.ts";

const missingThinking: RegExp =
  /thinking\b[^{}]{0,60}must be (?:passed|sent|provided)|missing [`'"\\]*thinking[`'"\\]* block|reasoning_content[`'"\\]* is missing/i;

/** A tool that the server began to run, and whose result only going on would bring. */
const openServerTool: RegExp = /tool use with id [^{}]{1,120} was found without a corresponding/i;
/** A paused answer without such a tool is taken for the beginning of one that is to be gone on with, which not every model does (F127). */
const noPrefill: RegExp = /does not support assistant message prefill|must end with a user message/i;
/** A container that is gone; of one that is some days old the server says no more than that it failed. */
const lostContainer: RegExp =
  /\bcontainer\b[^{}]{0,160}(?:expired|not found|no longer|does not exist|unavailable)|container_expired/i;
const failed: RegExp = /internal server error/i;
/** A block of its own that a server does not take back: it belongs to a feature that is not asked for any more. */
const refusedBlock: RegExp =
  /\bmessages\.\d+\.content\.\d+[^{}]{0,40}: input tag [`'"\\]*([\w-]+)[`'"\\]* found using\b/i;
/** What is not ours to leave out of an answer. */
const ownBlocks: ReadonlySet<string> = new Set([
  "text",
  "image",
  "document",
  "tool_use",
  "tool_result",
  "thinking",
  "redacted_thinking",
]);
/** Thinking is bound to what stood before it, which has changed since: the server can leave it out itself, and no more than that. */
const boundThinking: RegExp = /bound to a different conversation[^{}]{0,200}block_binding/i;
const forcedTool: RegExp =
  /tool_choice\b[^{}]{0,80}not supported|thinking may not be enabled when tool_choice forces/i;
/** A schema that is none by its checks: a pattern, a word of another draft. Which tool has it changes with the list of them. */
const refusedSchema: RegExp =
  /\binput_?schema\b[^{}]{0,80}(?:json )?schema is (?:invalid|not valid)|must match json schema draft|\binputSchema\.json\b[^{}]{0,40}(?:is invalid|not supported)/i;

/** Each way to be asked to think, refused by a model whose name tells of the other, or of none. */
const noBudget: RegExp = /thinking\.type\.enabled[`'"\\]* is not supported/i;
const noAdaptive: RegExp = /\bthinking: input tag [`'"\\]*adaptive\b/i;
/**
 * A server that speaks the protocol and keeps no prefix, or a gateway that sets as many marks of its own as there may be. What
 * stands inside a mark, a time or a scope, is the caller's.
 */
const noCache: RegExp =
  /\bmaximum of \d+ blocks with cache_control\b|\bcache_control[`'"\\]*: extra inputs are not permitted|(?:unknown|unsupported|unrecogni[sz]ed|unexpected) (?:field|parameter|property|key|argument)[^{}]{0,20}\bcache_control\b|\bcache_control[`'"\\]* (?:is|are) (?:not (?:supported|permitted|allowed)|unsupported)/i;

type Compat = Target["compat"];

/** The quirks that a refusal tells of, or undefined: then there is nothing to send otherwise. */
export function learned({ status, body }: ErrorResponse, { compat }: Target): Compat {
  const words = complaintOf(body);
  const refuses = status === 400 || status === 422;
  if (status === 500 ? failed.test(words) : (refuses || status === 404) && lostContainer.test(words))
    return unless(compat, "containers", "turn");
  // A local server's template, which finds that out as it goes.
  if ((refuses || status === 500) && refusesNeighbours.test(words)) return unless(compat, "alternate", true);
  if (!refuses) return undefined;
  const block = refusedBlock.exec(words)?.[1];
  if (block !== undefined && !ownBlocks.has(block)) return withoutBlocks(block, compat);
  if (refusedSchema.test(words)) return unless(compat, "plainSchemas", true);
  if (boundThinking.test(words)) return unless(compat, "unbindsThinking", true);
  if (forcedTool.test(words)) return unless(compat, "forcedTools", false);
  if (noBudget.test(words)) return unless(compat, "thinking", "adaptive");
  if (noAdaptive.test(words)) return unless(compat, "thinking", "budget");
  if (noCache.test(words)) return unless(compat, "cache", "never");
  if ((openServerTool.test(words) || noPrefill.test(words)) && compat?.resumesPauses !== false)
    return { ...compat, resumesPauses: false };
  if (!missingThinking.test(words)) return undefined;
  if (compat?.unsignedThinking === true && compat.thinkingFill !== undefined) return undefined;
  // A turn that another model thought out has none to send back: the least that counts as one.
  return { ...compat, unsignedThinking: true, thinkingFill: " " };
}

/** The quirk, where it is not known. */
export function unless(compat: Compat, quirk: string, value: Json): Compat {
  return compat?.[quirk] === value ? undefined : { ...compat, [quirk]: value };
}

function withoutBlocks(type: string, compat: Compat): Compat {
  const known = listIn(compat?.refusedBlocks);
  return known.includes(type) ? undefined : { ...compat, refusedBlocks: [...known, type] };
}
