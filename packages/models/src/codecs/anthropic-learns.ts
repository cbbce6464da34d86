// The room of what a refusal teaches of a server that speaks Anthropic's protocol.
//
// DeepSeek, Kimi and MiMo want the thinking of a tool turn back, without a signature (F104); Anthropic itself refuses it so
// (F101). Some refuse a paused answer that they paused themselves (F016). Nobody's name tells which of them stands behind a
// gateway.

import type { ErrorResponse, Target } from "../codec.ts";
import { complaintOf } from "../complaint.ts";

const missingThinking: RegExp =
  /thinking\b[^{}]{0,60}must be (?:passed|sent|provided)|missing [`'"\\]*thinking[`'"\\]* block|reasoning_content[`'"\\]* is missing/i;

/** A tool that the server began to run, and whose result only going on would bring. */
const openServerTool: RegExp = /tool use with id [^{}]{1,120} was found without a corresponding/i;

/** The quirks that a refusal tells of, or undefined: then there is nothing to send otherwise. */
export function learned({ status, body }: ErrorResponse, { compat }: Target): Target["compat"] {
  if (status !== 400 && status !== 422) return undefined;
  const words = complaintOf(body);
  if (openServerTool.test(words) && compat?.resumesPauses !== false)
    return { ...compat, resumesPauses: false };
  if (!missingThinking.test(words)) return undefined;
  if (compat?.unsignedThinking === true && compat.thinkingFill !== undefined) return undefined;
  // A turn that another model thought out has none to send back: the least that counts as one.
  return { ...compat, unsignedThinking: true, thinkingFill: " " };
}
