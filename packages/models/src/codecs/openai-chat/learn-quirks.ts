// The room of what a refusal teaches of a server: a quirk that its row in the table does not know, or that has no row.
//
// Only what every later request would be refused for as well is a quirk, and only where another field or another value
// does what was asked for. What can but be left out is a repair (`with-repair.ts`).

import type { Json } from "@rondo/core";
import type { ErrorResponse, Target } from "../../codec.ts";
import { objectIn, parseJson, textIn } from "../../json-values.ts";
import { refusesForcing } from "../../refusals/choice.ts";
import { complaintOf } from "../../refusals/complaint.ts";
import { refusesGrammars, refusesToolSchema } from "../../refusals/schema.ts";
import { lacksSignature } from "../thought-signatures.ts";
import { chatCompat, type OpenaiChatCompat } from "./compat.ts";
import { learnedOfTemplate } from "./templates.ts";

/** Words of a refusal, each with the quirk that they show. The first counts whose words are there and whose quirk is news. */
const lessons: readonly (readonly [words: RegExp, quirk: Partial<OpenaiChatCompat>])[] = [
  // Files in a tool's message, where a text alone is taken.
  [
    /\btool\b[^{}]{0,60}(?:must be a string|should be a valid string)|ToolMessageContent\b|\btext is not set\b/i,
    { toolImages: false },
  ],
  // What stands for a text beside calls where there is none: here null is refused, there an empty text (F122, F124).
  [
    /\bcontent\b[^{}]{0,60}(?:must be a string|should be a (?:valid )?string(?! or)|is a required|field required|(?:cannot|must not) be null|got null|type: (?:null|<nil>)|none is not an allowed value)|missing field [`'"\\]*content\b|'NoneType' object is not iterable/i,
    { nullContent: false },
  ],
  [
    /text content blocks must (?:be non-empty|contain non-whitespace)|text field in the contentblock object[^{}]{0,60} is blank/i,
    { nullContent: true },
  ],
  // Gemini behind this protocol wants to know by name whose result it is.
  [/function_response\.name: name cannot be empty/i, { toolNames: true }],
  [lacksSignature, { signCalls: true }],
  // Mistral's own rules, where one of its models stands behind another name: its ids (F055), and who may speak after whom (F046).
  [/must be a-z, A-Z, 0-9, with a length of 9\b/i, { idForm: "mistral9" }],
  [/unexpected role [`'"\\]*user[`'"\\]* after role [`'"\\]*tool\b/i, { bridgeToolUser: true }],
  // Text and calls, each taken without the other.
  [/either content or tool_calls,? but not both/i, { textBesideCalls: false }],
  // Usage at the end of a stream is asked for by a field that older servers do not know: `{"loc": ["body", "stream_options"]}`.
  [
    /stream_options[^{}]{0,80}(?:not (?:supported|permitted|allowed)|only|unknown|unsupported|extra)|(?:unrecogni[sz]ed|unknown|unsupported|unexpected keyword|invalid parameter|not (?:supported|permitted|allowed)|extra_forbidden)[^{}]{0,80}stream_options/i,
    { streamUsage: false },
  ],
  // Tools that keep to their schemas, or the field that asks for them (F142).
  [
    /\bstrict\b[^{}]{0,60}(?:not (?:supported|permitted|allowed)|unsupported)|(?:unknown|unrecogni[sz]ed|unsupported|extra_forbidden|extra inputs)[^{}]{0,80}\bstrict\b/i,
    { strictTools: false },
  ],
  // The newer name of the limit, where a server knows the older one alone (F134).
  [
    /(?:unrecogni[sz]ed|unknown|unsupported|unexpected keyword|extra_forbidden)[^{}]{0,60}max_completion_tokens|max_completion_tokens[^{}]{0,60}(?:not (?:supported|permitted|allowed)|unsupported|extra inputs)/i,
    { maxTokensField: "max_tokens" },
  ],
  // Tools and thinking, each taken without the other.
  [/\btools with [`'"\\]*reasoning_effort[`'"\\]* (?:are|is) not supported/i, { reasoningWithTools: false }],
];

/** A tool turn without the reasoning that came with it (F104). */
const missingReasoning: RegExp =
  /reasoning_content\b[^{}]{0,80}(?:must be (?:passed|sent|provided)|is (?:missing|required))|(?:missing|must (?:include|contain|have|provide)) [`'"\\]*reasoning_content/i;

/** The limit's other field, where the words name it (F134). */
const fields = ["max_completion_tokens", "max_tokens"] as const;
const useInstead: RegExp = /\buse [`'"\\]*(max_completion_tokens|max_tokens)\b/i;

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
  const forces = compat.strictTools || compat.forcedChoice !== "never";
  if (forces && [400, 422, 500].includes(status) && refusesGrammars(words))
    return { ...target.compat, forcedChoice: "never", ...(compat.strictTools ? { strictTools: false } : {}) };
  if (![400, 404, 422].includes(status)) return undefined;
  if (compat.forcedChoice !== "never" && refusesForcing.test(words))
    return { ...target.compat, forcedChoice: "never" };
  if (status === 404) return undefined;
  const quirk = lessons.find(([complaint, shown]) => complaint.test(words) && isNews(shown, compat))?.[1];
  if (quirk !== undefined) return { ...target.compat, ...quirk };
  if (missingReasoning.test(words)) {
    if (compat.echoReasoning !== "reasoning_content" || compat.reasoningFill === null)
      return { ...target.compat, echoReasoning: "reasoning_content", reasoningFill: "" };
    // Some take an empty text for a missing one.
    return compat.reasoningFill === "" ? { ...target.compat, reasoningFill: " " } : undefined;
  }
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

const isNews = (quirk: Partial<OpenaiChatCompat>, known: OpenaiChatCompat): boolean =>
  Object.entries(quirk).some(([name, value]) => known[name as keyof OpenaiChatCompat] !== value);
