// The room of what refusals teach about a model behind Converse.
//
// Names do not tell everything here: the owner of an inference profile chose its name freely, and each family accepts other
// members, besides those that all share.

import type { ErrorResponse, Target } from "../../codec.ts";
import { phrases } from "../../patterns.ts";
import { complaintOf } from "../../refusals/complaint.ts";
import { refusedSystemRole } from "../../refusals/roles.ts";
import { learned as learnedOfClaude, unless } from "../anthropic/learn-quirks.ts";

/** A tool choice that this model does not accept, in Amazon's words or the model's own. */
const forcedTool: RegExp = /support the toolConfig\.toolChoice\b/i;
const noCache: RegExp = phrases(
  /did not allow prompt caching/,
  /access to explicit prompt caching/,
  /support the cachePoint\b/,
  /extraneous key \[cachePoint\]/,
  /nothing available to cache/,
);
/** Models that accept no text or file in a message with calls, or with results. Claude accepts both. */
const callsAlone: RegExp =
  /conversation blocks and tool (?:use|result) blocks cannot be provided in the same turn/i;

/** The quirks that a refusal reveals; undefined if there is nothing to change. */
export function learnedOfConverse(response: ErrorResponse, target: Target): Target["compat"] {
  const { compat } = target;
  const words = complaintOf(response.body);
  if ([400, 403].includes(response.status) && noCache.test(words)) return unless(compat, "cache", false);
  if (response.status === 400 && forcedTool.test(words)) return unless(compat, "forcedTools", false);
  if (response.status === 400 && callsAlone.test(words)) return unless(compat, "callsAlone", true);
  if (response.status === 400 && refusedSystemRole(words, "system") === "user")
    return unless(compat, "systemRole", "user");
  return response.status === 400 ? learnedOfClaude(response, target) : undefined;
}
