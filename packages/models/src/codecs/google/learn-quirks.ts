// The room of what refusals, and empty answers, teach about a Gemini: about signatures in the history, how thinking is
// requested, and which parts of a request it does not know.
//
// A signature belongs to one model, one account and one day; thinking levels, penalties and the form of schemas to one
// model or server. What is refused once is refused with every later request of the conversation, so it is kept for the
// model as a quirk (`codec.ts`).

import type { AssistantMessage } from "@rondo/core";
import type { Codec, ErrorResponse, Target } from "../../codec.ts";
import { phrases } from "../../patterns.ts";
import { complaintOf } from "../../refusals/complaint.ts";
import { spoiltSignature } from "../../refusals/reasoning.ts";
import { refusedSystemRole, refusesNeighbours } from "../../refusals/roles.ts";
import { looksUpRefs } from "../spelt-refs.ts";
import { lacksSignature } from "../thought-signatures.ts";
import { type GoogleCompat, type GoogleTraits, googleTraits } from "./target.ts";

/** A level that a model lacks, in the words of AI Studio and of Vertex. */
const noLevel: RegExp = phrases(
  /thinking[ _]?level [`'"\\]*(minimal|low|medium|x?high)\b[^.]{0,20} not supported/,
  /thinking[ _]?level is (?:unsupported|not supported): [`'"\\]*(?:thinking_level_)?(minimal|low|medium|x?high)\b/,
  /\bthinking_level_(minimal|low|medium|x?high)\b[^.]{0,20} not supported/,
);
/** Neither levels nor budgets are accepted; then one of the two. */
const noThinking: RegExp =
  /thinking(?:[ _]?config)? is (?:not (?:supported|enabled|configurable)|unsupported)|unknown name [`'"\\]*thinking_?config/i;
const noLevels: RegExp =
  /thinking[ _]?level is (?:not supported|unsupported)|unknown name [`'"\\]*thinking_?level/i;
const noBudgets: RegExp =
  /thinking[ _]?budget is (?:not supported|unsupported)|unknown name [`'"\\]*thinking_?budget/i;
const neverOff: RegExp = /budget 0 is invalid|not support setting thinking_?budget to 0/i;
const noPenalty: RegExp = /\bpenalty is not (?:enabled|supported)/i;
const noJsonSchema: RegExp = /unknown name [`'"\\]*(?:parameters|response)_?json_?schema/i;
/** A gateway, or Vertex, that converts schemas to the older subset itself, and fails (F137). */
const noSuchSchema: RegExp =
  /function_?declarations\[\d+\](?:\.value)?\.parameters\b|function_?declaration\b[^{}]{0,160}\bschema\b|\bschema\.ref\b/i;
/** Rules on values, such as lengths of lists, make the grammar that constrains the model too large. */
const heavySchema: RegExp = /too many states for serving|\bschema is too (?:complex|large)\b/i;
/** Files that a tool returns go into the user's next turn, because they may not be in the functionResponse. */
const noMediaInResults: RegExp =
  /not supported in [`'"\\]*function_?response\.parts|unknown name [`'"\\]*parts[`'"\\]* at [`'"\\]*[^`'"{}]{0,60}function_?response/i;

/** A server, or a gateway, that does not take back the token of an answer to be continued; or that no longer does. */
const noToken: RegExp = /continuation[ _]?token/i;

/** F058: some servers give out ids that they do not take back, while other vendors' models need them. */
const noIds: RegExp =
  /unknown name [`'"\\]*id\b[^.{}]{0,40}\.parts[^.{}]{0,12}\.function_?(?:call|response)\b/i;
const wantsIds: RegExp = phrases(
  /\b(?:tool_use|function_?(?:call|response))\.id\b[^{}]{0,40}(?:required|missing|empty)/,
  /\bfunction_?(?:call|response)\b[^{}.]{0,40} missing (?:an |its |the )?[`'"\\]*id\b/,
);

/** The quirks that a refusal reveals; undefined if there is nothing to change. */
export function learned({ status, body }: ErrorResponse, target: Target): Target["compat"] {
  if (status !== 400) return undefined;
  const quirks = quirksIn(complaintOf(body), googleTraits(target));
  return quirks === undefined ? undefined : ({ ...target.compat, ...quirks } as Target["compat"]);
}

/**
 * An answer may end with a finish reason that says that calls lack signatures, where other servers refuse the request. A
 * Gemini whose answer is empty, without a single token, may have failed on signatures of its own.
 */
export const suspected: NonNullable<Codec["suspected"]> = (answer, target) => {
  const { provider, model } = target.origin;
  const { needsSignatures, ownSignatures } = googleTraits(target);
  if (isUnsigned(answer))
    return needsSignatures ? undefined : { compat: { ...target.compat, needsSignatures: true } };
  if (!isSilent(answer) || !ownSignatures) return undefined;
  const message = `${provider}/${model} gave an empty answer to a history with its own thought signatures, and answered without them: they are left out from now on`;
  return {
    compat: { ...target.compat, ownSignatures: false },
    warning: { code: "thinking_dropped", message },
  };
};

const isUnsigned = ({ content, stop }: AssistantMessage): boolean =>
  stop.raw?.toUpperCase() === "MISSING_THOUGHT_SIGNATURE" && content.length === 0;

const isSilent = ({ content, stop, usage }: AssistantMessage): boolean =>
  stop.kind === "end_turn" &&
  (usage?.outputTokens ?? 0) === 0 &&
  content.every((part) => (part.type === "text" || part.type === "reasoning") && part.text === "");

function quirksIn(words: string, traits: GoogleTraits): GoogleCompat | undefined {
  const { needsSignatures, ownSignatures, thinking, lacksLevels } = traits;
  if (lacksSignature.test(words) && !needsSignatures) return { needsSignatures: true };
  if (traits.callIds !== "never" && noIds.test(words)) return { callIds: "never" };
  if (traits.callIds !== "always" && wantsIds.test(words)) return { callIds: "always" };
  if (spoiltSignature.test(words) && ownSignatures) return { needsSignatures: true, ownSignatures: false };
  const level = noLevel.exec(words)?.slice(1).find(Boolean)?.toUpperCase();
  if (level !== undefined)
    return lacksLevels.includes(level) ? undefined : { lacksLevels: [...lacksLevels, level] };
  if (thinking !== "none" && noThinking.test(words)) return { thinking: "none" };
  if (thinking === "level" && noLevels.test(words)) return { thinking: "budget" };
  if (thinking === "budget" && noBudgets.test(words)) return { thinking: "level" };
  if (!traits.alwaysThinks && neverOff.test(words)) return { alwaysThinks: true };
  if (traits.resumesPauses && noToken.test(words)) return { resumesPauses: false };
  if (traits.penalties && noPenalty.test(words)) return { penalties: false };
  if (traits.systemRole === "system" && refusedSystemRole(words, "system") === "user")
    return { systemRole: "user" };
  if (!traits.alternate && refusesNeighbours.test(words)) return { alternate: true };
  const { field, tools } = traits.schemas;
  if (field === "parametersJsonSchema" && (noJsonSchema.test(words) || noSuchSchema.test(words)))
    return { schemas: "openapi" };
  if (tools === "tool" && heavySchema.test(words)) return { schemas: "strict" };
  if (!traits.spellRefs && looksUpRefs.test(words)) return { spellRefs: true };
  if (traits.mediaInResults && noMediaInResults.test(words)) return { mediaInResults: false };
  return undefined;
}
