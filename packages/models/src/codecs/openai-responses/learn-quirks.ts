// The room of learning quirks from refusals by servers that speak the Responses protocol: what every later request would
// be refused for as well.

import type { ErrorResponse, Target } from "../../codec.ts";
import { phrases } from "../../patterns.ts";
import { refusesForcing, refusesNone } from "../../refusals/choice.ts";
import { complaintOf } from "../../refusals/complaint.ts";
import {
  refusedSystemRole,
  refusesAnswerLast,
  refusesLaterSystem,
  refusesNeighbours,
  refusesUserAfterResults,
} from "../../refusals/roles.ts";
import { plainerSchemas, refusesGrammars, refusesStrict } from "../../refusals/schema.ts";
import { tellsInPlace } from "../in-place.ts";
import { lacksLevels } from "../levels.ts";
import { longestDescriptionIn } from "../openai/tools.ts";
import { looksUpRefs } from "../spelt-refs.ts";
import { type OpenaiResponsesCompat, responsesCompat } from "./settings.ts";

/** Models without reasoning have no encrypted reasoning to return, and refuse to be asked for it (F134). */
const noEncrypted: RegExp = phrases(
  /encrypted[ _]content[`'"\\]*[^{}]{0,20} (?:is )?not supported/,
  /reasoning\.encrypted_content[^{}]{0,60}(?:not (?:supported|allowed|permitted)|unsupported|unknown)/,
  /(?:unsupported|invalid|unknown)[^{}]{0,60}reasoning\.encrypted_content/,
);

/** DeepSeek returns its reasoning in plain text and requires it back that way (F104). */
const missingReasoning: RegExp =
  /reasoning_(?:text|content)\b[^{}]{0,80}(?:must be (?:passed|sent|provided)|is (?:missing|required))/i;

/** Members of an output item besides its content that strict servers do not take back. */
const unknownMember: RegExp =
  /\b(?:unknown|unsupported) parameter: [`'"\\]*input\[\d+\]\.(status|phase|namespace)\b/i;

/** Volcengine takes no item of the history that does not say whether it is completed. */
const missingStatus: RegExp = phrases(
  /\bmissing\b[^{}]{0,30}\binput(?:\[\d+\])?\.status\b/,
  /\binput(?:\[\d+\])?\.status\b[^{}]{0,30}\b(?:is (?:missing|required)|field required)\b/,
);

/** OpenAI sends readable reasoning of some models beside the encrypted, and takes back only the latter. */
const refusedReadable: RegExp = phrases(
  /\binput\[\d+\]\.content[`'"\\]*: array too long\. expected an array with maximum length 0\b/,
  /\b(?:unknown|unsupported) parameter: [`'"\\]*input\[\d+\]\.content(?![\w.[])/,
);

/**
 * A server that does not take back what it sent itself: the item of a tool that it ran, with an action, a form or an id that
 * it refuses in a request. OpenAI, DeepSeek and gateways, each about another member.
 */
const refusedNative: RegExp = phrases(
  /\binput\[\d+\]\.action\b/,
  /\bmissing field [`'"\\]*queries\b/,
  /\bmissing required parameter: [`'"\\]*input\[\d+\]\.id\b/,
  /\binput\[\d+\]\.id\b[^{}]{0,200}\bexpected an id that begins with\b/,
  /\b(?:invalid value|unknown variant):? [`'"\\]*(?:(?:web_search|file_search|code_interpreter|computer|image_generation|mcp|tool_search|local_shell|shell)_call(?:_output)?|tool_search_output|mcp_list_tools)\b/,
);

/** A container that OpenAI's tools ran in, and that no longer exists. */
const noContainer: RegExp = phrases(
  /\bexpected container_id:? [`'"\\]*(cntr_\w+)/,
  /\bcontainer\b[^{}]{0,30}\b(cntr_\w+)[^{}]{0,30}\b(?:not found|(?:has |is )?expired)\b/,
);

/** How many lost containers are remembered. */
const mostLost = 100;

/** Fields that are sent by default, but that a server may not know. */
const unknownField: RegExp = phrases(
  /(?:unknown|unsupported|unrecogni[sz]ed|extra_forbidden)[^{}]{0,40}[`'"](store|include)[`'"]/,
  /\bnot supported: (store|include)\b/,
  /(?:^|[`'" ])(store|include)[`'"]*(?:: extra inputs| (?:is )?not (?:supported|permitted|allowed))/,
);

/** OpenAI sums up reasoning for verified organizations only; a model or another server may not do so at all. */
const noSummaries: RegExp = phrases(
  /\bverified to generate reasoning summaries\b/,
  /\breasoning\.summary\b[^{}]{0,60}(?:not (?:supported|permitted|allowed)|unsupported|unknown)/,
  /(?:unknown|unsupported|unrecogni[sz]ed)[^{}]{0,40}\breasoning\.summary\b/,
);

/** A server that does not know the member of tools either, which is sent with every tool, because absent it means true. */
const unknownStrict: RegExp = phrases(
  /(?:unknown|unrecogni[sz]ed|unsupported (?:parameter|field|argument)|extra_forbidden|extra inputs)[^{}]{0,80}\bstrict\b/,
  /\bstrict[`'"\\]*: extra inputs/,
);

/** The field for the prompt, which xAI and others do not have. */
const noInstructions: RegExp = phrases(
  /(?:unknown|unsupported|unrecogni[sz]ed|not supported|extra_forbidden)[^{}]{0,40}[`'" ]instructions\b/,
  /(?:^|[`'" ])instructions[`'"\\]*(?: parameter| field)?(?:: extra inputs| (?:is|are) (?:not (?:supported|permitted|allowed)|unsupported))/,
);

/** A result with files is a list; this server takes only text. */
const textResults: RegExp = phrases(
  /\b(?:input\b[^{}]{0,40}|FunctionCallOutput[`'"\\]*)[.,\s]+[`'"\\]*output\b[^{}]{0,60}(?:expected a string|must be a string|should be a valid string)/,
  /\boutput of tool call should be [`'"\\]*input text\b/,
);

/** The quirks that a refusal reveals; undefined if there is nothing to change. */
export function learned({ status, body }: ErrorResponse, target: Target): Target["compat"] {
  if (![400, 404, 422, 500].includes(status)) return undefined;
  const compat = responsesCompat(target);
  const words = complaintOf(body);
  const container = noContainer.exec(words)?.slice(1).find(Boolean);
  if (container !== undefined && !compat.lostContainers.includes(container))
    return { ...target.compat, lostContainers: [...compat.lostContainers, container].slice(-mostLost) };
  if (status === 404) return undefined;
  const local = learnedOfTemplate(words, compat);
  if (local !== undefined) return { ...target.compat, ...local };
  if (status === 500) return undefined;
  if (compat.encryptedReasoning && noEncrypted.test(words))
    return { ...target.compat, encryptedReasoning: false };
  if (!compat.plainReasoning && missingReasoning.test(words))
    return { ...target.compat, plainReasoning: true };
  const forced = compat.forcedChoice && refusesForcing.test(words);
  const none = compat.noneChoice && refusesNone.test(words);
  if (forced || none)
    return { ...target.compat, ...(forced && { forcedChoice: false }), ...(none && { noneChoice: false }) };
  if (compat.toolFiles && textResults.test(words)) return { ...target.compat, toolFiles: false };
  if (unknownStrict.test(words) && !compat.omit.includes("strict"))
    return { ...target.compat, strictTools: false, omit: [...compat.omit, "strict"] };
  if (compat.strictTools && refusesStrict.test(words)) return { ...target.compat, strictTools: false };
  if (tellsInPlace(target) && words.includes("additional_tools"))
    return { ...target.compat, offersInPlace: false };
  const lacking = lacksLevels(words, target);
  if (lacking !== undefined) return lacking;
  const field = unknownField.exec(words)?.slice(1).find(Boolean)?.toLowerCase();
  if (field !== undefined && !compat.omit.includes(field))
    return { ...target.compat, omit: [...compat.omit, field] };
  if (noSummaries.test(words) && !compat.omit.includes("reasoning.summary"))
    return { ...target.compat, omit: [...compat.omit, "reasoning.summary"] };
  const longest = longestDescriptionIn(words);
  if (longest !== undefined && longest !== compat.longestDescription)
    return { ...target.compat, longestDescription: longest };
  if (compat.readableReasoning && refusedReadable.test(words))
    return { ...target.compat, readableReasoning: false };
  const member = unknownMember.exec(words)?.[1]?.toLowerCase();
  if (member !== undefined && !compat.omitInItems.includes(member))
    return { ...target.compat, omitInItems: [...compat.omitInItems, member] };
  if (!compat.itemStatus && missingStatus.test(words)) return { ...target.compat, itemStatus: true };
  if (compat.nativeItems && refusedNative.test(words)) return { ...target.compat, nativeItems: false };
  return compat.instructions && noInstructions.test(words)
    ? { ...target.compat, instructions: false }
    : undefined;
}

/** Quirks of a local server's template and its grammars. It notices them only while it runs, and reports some with a 500 (F128, F137). */
function learnedOfTemplate(
  words: string,
  compat: OpenaiResponsesCompat,
): NonNullable<Target["compat"]> | undefined {
  const plainSchemas = plainerSchemas(words, compat.plainSchemas);
  if (plainSchemas !== undefined) return { plainSchemas, strictTools: false };
  if ((compat.strictTools || compat.forcedChoice) && refusesGrammars(words))
    return { strictTools: false, forcedChoice: false };
  const systemRole = refusedSystemRole(words, compat.systemRole);
  if (systemRole === "user") return { systemRole, systemFirstOnly: true, alternate: true };
  if (systemRole !== undefined) return { systemRole };
  if (!compat.noAssistantLast && refusesAnswerLast.test(words)) return { noAssistantLast: true };
  if (!compat.bridgeToolUser && refusesUserAfterResults.test(words)) return { bridgeToolUser: true };
  if (!compat.spellRefs && looksUpRefs.test(words)) return { spellRefs: true };
  if (!compat.alternate && refusesNeighbours.test(words)) return { alternate: true, systemFirstOnly: true };
  return !compat.systemFirstOnly && refusesLaterSystem.test(words) ? { systemFirstOnly: true } : undefined;
}
