// The room of what a refusal teaches of a model behind Converse.
//
// Names do not tell everything there: an inference profile is called as its owner likes, and each family takes other
// members of what all of them share.

import type { ErrorResponse, Target } from "../../codec.ts";
import { complaintOf } from "../../refusals/complaint.ts";
import { learned as learnedOfClaude, unless } from "../anthropic/learn-quirks.ts";

/** A choice that this model does not take, in Amazon's words or in the model's own. */
const forcedTool: RegExp = /support the toolConfig\.toolChoice\b/i;
const noCache: RegExp =
  /did not allow prompt caching|access to explicit prompt caching|support the cachePoint\b|extraneous key \[cachePoint\]|nothing available to cache/i;
/** Models that take no text, or file, beside calls, and none beside results. Claude takes both. */
const callsAlone: RegExp =
  /conversation blocks and tool (?:use|result) blocks cannot be provided in the same turn/i;

/** The quirks that a refusal tells of, or undefined: then there is nothing to send otherwise. */
export function learnedOfConverse(response: ErrorResponse, target: Target): Target["compat"] {
  const { compat } = target;
  const words = complaintOf(response.body);
  if ([400, 403].includes(response.status) && noCache.test(words)) return unless(compat, "cache", false);
  if (response.status === 400 && forcedTool.test(words)) return unless(compat, "forcedTools", false);
  if (response.status === 400 && callsAlone.test(words)) return unless(compat, "callsAlone", true);
  return response.status === 400 ? learnedOfClaude(response, target) : undefined;
}
