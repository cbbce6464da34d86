// The room of learning quirks from refusals by servers that speak Anthropic's protocol.
//
// DeepSeek, Kimi and MiMo require the thinking of a tool turn back, without a signature (F104); Anthropic itself refuses
// that (F101). One schema that a server does not accept fails every request (F136). Some refuse a paused answer that they
// paused themselves (F016). A model's name does not tell which server is behind a gateway.

import type { Json } from "@rondo/core";
import type { ErrorResponse, Target } from "../../codec.ts";
import { listIn } from "../../json-values.ts";
import { phrases } from "../../patterns.ts";
import { refusesNone } from "../../refusals/choice.ts";
import { complaintOf } from "../../refusals/complaint.ts";
import { refusesNeighbours, refusesUserAfterResults } from "../../refusals/roles.ts";
import { plainerSchemas } from "../../refusals/schema.ts";
import { tellsInPlace } from "../in-place.ts";
import { lacksLevels } from "../levels.ts";
import { refusedMember } from "./refused-members.ts";
import { type Traits, traitsOf } from "./traits.ts";

const missingThinking: RegExp =
  /thinking\b[^{}]{0,60}must be (?:passed|sent|provided)|missing [`'"\\]*thinking[`'"\\]* block|reasoning_content[`'"\\]* is missing/i;

/** A tool that the server began to run, and whose result can only come with a continuation. */
const openServerTool: RegExp = /tool use with id [^{}]{1,120} was found without a corresponding/i;
/** A paused answer without such a tool is taken for a prefill of the assistant's message, which not every model supports (F127). */
const noPrefill: RegExp = /does not support assistant message prefill|must end with a user message/i;
/** An expired container; about one that is some days old the server only says that it failed. */
const lostContainer: RegExp =
  /\bcontainer\b[^{}]{0,160}(?:expired|not found|no longer|does not exist|unavailable)|container_expired/i;
const failed: RegExp = /internal server error/i;
/** A block of the server's own that it does not take back: it belongs to a feature that is no longer requested. */
const refusedBlock: RegExp =
  /\bmessages\.\d+\.content\.\d+[^{}]{0,40}: input tag [`'"\\]*([\w-]+)[`'"\\]* found using\b/i;
/**
 * The result of a tool of its own that the server can no longer read: it is encrypted, and keys change. Every later request
 * would be refused for it, too.
 */
const unreadResult: RegExp =
  /\b((?:[a-z]+[ _]){0,2}[a-z]+)[ _]tool[ _]result[`'"\\]* content could not be (?:processed|decrypted|verified)\b/i;
/** A server, or a model, that takes no definition of a tool where a result offers it. */
const deferral: RegExp = /\bdefer_loading\b|\btool[_ ]reference/i;
/** Blocks of an answer that must not be left out. */
const ownBlocks: ReadonlySet<string> = new Set([
  "text",
  "image",
  "document",
  "tool_use",
  "tool_result",
  "thinking",
  "redacted_thinking",
]);
/**
 * Thinking is bound to the messages before it, which have changed since. The server can leave out that thinking itself; we
 * must not change anything else.
 */
const boundThinking: RegExp = /bound to a different conversation[^{}]{0,200}block_binding/i;
const forcedTool: RegExp =
  /tool_choice\b[^{}]{0,80}not supported|thinking may not be enabled when tool_choice forces/i;

/** Either way of asking for thinking, refused by a model whose name suggested the other way, or none. */
const noBudget: RegExp =
  /thinking\.type\.enabled[`'"\\]* is not supported|\binvalid thinking\.type: [`'"\\]*enabled\b/i;
/** A model that always thinks, although its name does not tell. */
const noOff: RegExp = /thinking\.type\.disabled[`'"\\]* is not supported/i;
const noAdaptive: RegExp =
  /\bthinking: input tag [`'"\\]*adaptive\b|\binvalid thinking\.type: [`'"\\]*adaptive\b/i;
/** A gateway that does not know the field for effort, whatever its model. The same field holds the schema, whose path is longer. */
const noEffort: RegExp = phrases(
  /\boutput_config(?:\.effort)?[`'"\\]*: extra inputs are not permitted/,
  /(?:unknown|unsupported|unrecogni[sz]ed|unexpected) (?:field|parameter|property|key|argument)[^{}]{0,20}\boutput_config\b(?!\.format)/,
);
/**
 * A server without prompt caching, or a gateway that adds as many marks of its own as are allowed. A refusal of what is
 * inside a mark (a TTL, a scope) is about the caller's.
 */
const noCache: RegExp = phrases(
  /\bmaximum of \d+ blocks with cache_control\b/,
  /\bcache_control[`'"\\]*: extra inputs are not permitted/,
  /(?:unknown|unsupported|unrecogni[sz]ed|unexpected) (?:field|parameter|property|key|argument)[^{}]{0,20}\bcache_control\b/,
  /\bcache_control[`'"\\]* (?:is|are) (?:not (?:supported|permitted|allowed)|unsupported)/,
);

/** The ways of asking for thinking that send an effort. */
const asksByEffort: ReadonlySet<Traits["thinking"]> = new Set(["both", "adaptive"]);

type Compat = Target["compat"];

/** The quirks that a refusal reveals; undefined if there is nothing to change. */
export function learned({ status, body }: ErrorResponse, target: Target): Compat {
  const { compat } = target;
  const words = complaintOf(body);
  const refuses = status === 400 || status === 422;
  if (status === 500 ? failed.test(words) : (refuses || status === 404) && lostContainer.test(words))
    return unless(compat, "containers", "turn");
  // A local server notices only while it runs that its template refuses this, and may answer 500.
  if ((refuses || status === 500) && refusesNeighbours.test(words)) return unless(compat, "alternate", true);
  // A server that translates for a model of Mistral's (F046).
  if ((refuses || status === 500) && refusesUserAfterResults.test(words))
    return unless(compat, "resultsAlone", true);
  // LiteLLM's failure to translate it is a 500.
  if ((refuses || status === 500) && refusesNone.test(words)) return unless(compat, "noneChoice", false);
  // A pattern, a keyword of another draft, or one that a local server has no grammar for. Which tool it belongs to changes
  // with the list.
  const plainSchemas = refuses || status === 500 ? plainerSchemas(words, compat?.plainSchemas) : undefined;
  if (plainSchemas !== undefined) return { ...compat, plainSchemas };
  if (!refuses) return undefined;
  if (deferral.test(words) && tellsInPlace(target)) return { ...compat, offersInPlace: false };
  const block = refusedBlock.exec(words)?.[1];
  if (block !== undefined && !ownBlocks.has(block)) return withoutBlocks(block, compat);
  const unread = unreadResult.exec(words)?.[1]?.toLowerCase().replaceAll(" ", "_");
  if (unread !== undefined) return withoutBlocks(`${unread}_tool_result`, compat);
  if (boundThinking.test(words)) return unless(compat, "unbindsThinking", true);
  if (forcedTool.test(words)) return unless(compat, "forcedTools", false);
  const lacking = lacksLevels(words, target);
  if (lacking !== undefined) return lacking;
  if (noBudget.test(words)) return unless(compat, "thinking", "adaptive");
  if (noOff.test(words)) return unless(compat, "off", "never");
  if (noAdaptive.test(words)) return unless(compat, "thinking", "budget");
  if (noEffort.test(words) && asksByEffort.has(traitsOf(target).thinking))
    return { ...compat, thinking: "budget" };
  if (noCache.test(words)) return unless(compat, "cache", "never");
  const member = refusedMember(words);
  if (member !== undefined) return withMember(member, compat);
  if ((openServerTool.test(words) || noPrefill.test(words)) && compat?.resumesPauses !== false)
    return { ...compat, resumesPauses: false };
  if (!missingThinking.test(words)) return undefined;
  if (compat?.unsignedThinking === true && compat.thinkingFill !== undefined) return undefined;
  // A turn by another model has no reasoning to send: this is the least that counts as one.
  return { ...compat, unsignedThinking: true, thinkingFill: " " };
}

/** Adds the quirk, unless it is already known. */
export function unless(compat: Compat, quirk: string, value: Json): Compat {
  return compat?.[quirk] === value ? undefined : { ...compat, [quirk]: value };
}

function withMember(member: string, compat: Compat): Compat {
  const known = listIn(compat?.refusedMembers);
  return known.includes(member) ? undefined : { ...compat, refusedMembers: [...known, member] };
}

function withoutBlocks(type: string, compat: Compat): Compat {
  const known = listIn(compat?.refusedBlocks);
  return known.includes(type) ? undefined : { ...compat, refusedBlocks: [...known, type] };
}
