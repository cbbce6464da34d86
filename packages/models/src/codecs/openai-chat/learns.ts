// The room of what a refusal teaches of a server: a quirk that its row in the table does not know, or that has no row.
//
// Only what every later request would be refused for as well is a quirk, and only where another field or another value
// does what was asked for. What can but be left out is a repair (`with-repair.ts`).

import type { Json } from "@rondo/core";
import type { ErrorResponse, Target } from "../../codec.ts";
import { objectIn, parseJson, textIn } from "../../json-values.ts";
import { complaintOf } from "../../refusals/complaint.ts";
import { refusesToolSchema } from "../../refusals/schema.ts";
import { lacksSignature } from "../thought-signatures.ts";
import { chatCompat } from "./compat.ts";
import { learnedOfTemplate } from "./templates.ts";

/** F104: a tool turn without the reasoning that came with it. */
const missingReasoning: RegExp =
  /reasoning_content\b[^{}]{0,80}(?:must be (?:passed|sent|provided)|is (?:missing|required))|missing [`'"\\]*reasoning_content/i;

/** F134: the limit's other field, where the words name it. */
const fields = ["max_completion_tokens", "max_tokens"] as const;
const useInstead: RegExp = /\buse [`'"\\]*(max_completion_tokens|max_tokens)\b/i;

/** Numbers of a stream are asked for by a field that older servers do not know, or know too well: `{"loc": ["body", "stream_options"]}`. */
const noUsage: RegExp =
  /stream_options[^{}]{0,80}(?:not (?:supported|permitted|allowed)|only|unknown|extra)|(?:unrecogni[sz]ed|unknown|unsupported|not (?:supported|permitted|allowed)|extra_forbidden)[^{}]{0,80}stream_options/i;

/** A choice that forces a call, refused: mostly by a model that thinks (F135); of OpenRouter's by none that it could ask, with a 404. */
const noForcing: RegExp =
  /(?:no endpoints found that support|not support(?:ed)?|unsupported|incompatible|invalid|\bonly a)[^{}]{0,80}\btool[_ ]choice\b|\btool[_ ]choice\b[^{}]{0,80}(?:not (?:yet )?support|unsupported|incompatible|must (?:either )?be (?:a named tool|[`'"\\]*auto)|only[^{}]{0,20}auto)/i;

/** Tools and thinking, each taken without the other. */
const noThinkingWithTools: RegExp = /\btools with [`'"\\]*reasoning_effort[`'"\\]* (?:are|is) not supported/i;

/** What stands for a text beside calls where there is none: an empty one is refused here, null there (F122, F124). */
const noEmptyContent: RegExp =
  /text content blocks must (?:be non-empty|contain non-whitespace)|text field in the contentblock object[^{}]{0,60} is blank/i;
const noNullContent: RegExp =
  /\bcontent\b[^{}]{0,60}(?:must be a string|should be a valid string|is a required|(?:cannot|must not) be null|expected a string,? (?:but )?got null|invalid type: null|none is not an allowed value)|missing field [`'"\\]*content\b|'NoneType' object is not iterable/i;

/** Gemini behind this protocol wants to know whose result it is by name. */
const noToolName: RegExp = /function_response\.name: name cannot be empty/i;

/** Files in a tool's message, where a text alone is taken. */
const noToolFiles: RegExp =
  /\btool\b[^{}]{0,60}(?:must be a string|should be a valid string)|ToolMessageContent\b|\btext is not set\b/i;

/** Text and calls, each taken without the other. */
const noTextBesideCalls: RegExp = /either content or tool_calls,? but not both/i;

/** Mistral's own rules, where one of its models stands behind another name: its ids (F055), and who speaks behind whom (F046). */
const mistralIds: RegExp = /must be a-z, A-Z, 0-9, with a length of 9\b/i;
const noUserAfterTool: RegExp = /unexpected role [`'"\\]*user[`'"\\]* after role [`'"\\]*tool\b/i;
const noAssistantLast: RegExp = /expected last role user or tool\b/i;

/** Settings that a model does not know at all, under the name the refusal gives them. */
const plain: ReadonlySet<string> = new Set([
  "temperature",
  "top_p",
  "stop",
  "seed",
  "frequency_penalty",
  "presence_penalty",
  "parallel_tool_calls",
]);

/** The quirks that a refusal tells of, or undefined: then there is nothing to send otherwise. */
export function learned(
  { status, body }: ErrorResponse,
  target: Target,
): NonNullable<Target["compat"]> | undefined {
  const compat = chatCompat(target);
  const words = complaintOf(body);
  if (status === 400 || status === 422 || status === 500) {
    const quirks = learnedOfTemplate(words, compat);
    if (quirks !== undefined) return { ...target.compat, ...quirks };
  }
  // A local server finds out as it goes, and says so with a 500.
  if (!compat.plainSchemas && [400, 422, 500].includes(status) && refusesToolSchema(words))
    return { ...target.compat, plainSchemas: true, ...(compat.strictTools ? { strictTools: false } : {}) };
  if (![400, 404, 422].includes(status)) return undefined;
  if (compat.forcedChoice !== "never" && noForcing.test(words))
    return { ...target.compat, forcedChoice: "never" };
  if (status === 404) return undefined;
  if (compat.toolImages && noToolFiles.test(words)) return { ...target.compat, toolImages: false };
  if ((compat.nullContent ? noNullContent : noEmptyContent).test(words))
    return { ...target.compat, nullContent: !compat.nullContent };
  if (!compat.toolNames && noToolName.test(words)) return { ...target.compat, toolNames: true };
  if (!compat.signCalls && lacksSignature.test(words)) return { ...target.compat, signCalls: true };
  if (compat.idForm !== "mistral9" && mistralIds.test(words)) return { ...target.compat, idForm: "mistral9" };
  if (!compat.bridgeToolUser && noUserAfterTool.test(words))
    return { ...target.compat, bridgeToolUser: true };
  if (!compat.noAssistantLast && noAssistantLast.test(words))
    return { ...target.compat, noAssistantLast: true };
  if (compat.textBesideCalls && noTextBesideCalls.test(words))
    return { ...target.compat, textBesideCalls: false };
  if (missingReasoning.test(words)) {
    if (compat.echoReasoning !== "reasoning_content" || compat.reasoningFill === null)
      return { ...target.compat, echoReasoning: "reasoning_content", reasoningFill: "" };
    // Some take an empty text for a missing one.
    return compat.reasoningFill === "" ? { ...target.compat, reasoningFill: " " } : undefined;
  }
  if (compat.streamUsage && noUsage.test(words)) return { ...target.compat, streamUsage: false };
  if (compat.reasoningWithTools && noThinkingWithTools.test(words))
    return { ...target.compat, reasoningWithTools: false };
  const [, other] = useInstead.exec(words) ?? [];
  const field = fields.find((one) => one === other?.toLowerCase());
  if (field !== undefined)
    return field === compat.maxTokensField ? undefined : { ...target.compat, maxTokensField: field };
  const error = objectIn(objectIn(parseJson(body))?.error);
  const param = textIn(error?.param);
  if (textIn(error?.code) !== "unsupported_parameter" || param === undefined) return undefined;
  if (!plain.has(param) || compat.omit.includes(param)) return undefined;
  const omit: Json = [...compat.omit, param];
  return { ...target.compat, omit };
}
