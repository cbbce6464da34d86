// The room of learning quirks from refusals: a quirk that is not in the server's row, or of a server without a row.
//
// Only what every later request would be refused for as well is a quirk, and only if another field or value achieves what
// was asked for. What can only be left out is a repair (`with-repair.ts`).

import type { ErrorResponse, Target } from "../../codec.ts";
import { objectIn, parseJson, textIn } from "../../json-values.ts";
import { phrases } from "../../patterns.ts";
import { refusesForcing, refusesNone } from "../../refusals/choice.ts";
import { complaintOf } from "../../refusals/complaint.ts";
import { refusesUserAfterResults } from "../../refusals/roles.ts";
import { plainerSchemas, refusesGrammars, refusesStrict } from "../../refusals/schema.ts";
import { traitsOf } from "../anthropic/traits.ts";
import { tellsInPlace } from "../in-place.ts";
import { lacksLevels } from "../levels.ts";
import { longestDescriptionIn } from "../openai/tools.ts";
import { looksUpRefs } from "../spelt-refs.ts";
import { lacksSignature } from "../thought-signatures.ts";
import { chatCompat, type OpenaiChatCompat } from "./compat.ts";
import { learnedOfTemplate } from "./templates.ts";

/** Tools and thinking are accepted, but not together: some models take the effort `none` beside tools, others none at all. */
const effortBesideTools: RegExp = /\btools with [`'"\\]*reasoning_effort[`'"\\]* (?:are|is) not supported/i;

/** Phrases of refusals, and the quirk that each shows. The first that matches and whose quirk is new counts. */
const lessons: readonly (readonly [words: RegExp, quirk: Partial<OpenaiChatCompat>])[] = [
  // Files in a tool message, where only text is accepted.
  [
    /\btool\b[^{}]{0,60}(?:must be a string|should be a valid string)|ToolMessageContent\b|\btext is not set\b/i,
    { toolImages: false },
  ],
  // The content beside calls if there is no text: some servers refuse null, others the empty string (F122, F124).
  [
    phrases(
      /\bcontent\b[^{}]{0,60}(?:must be a string|should be a (?:valid )?string(?! or)|is a required|field required|(?:cannot|must not) be null|got null|type: (?:null|<nil>)|none is not an allowed value)/,
      /\bcontent\b[^{}]{0,60}received null/,
      /\bvalid string\b[^{}]{0,60}\bcontent\b[^{}]{0,40}\b(?:none|null)\b/,
      /missing (?:field )?[`'"\\]*(?:messages\.)?content\b/,
      /\bmust have at least one content element\b/,
      /\bassistant message content field is not provided\b/,
    ),
    { nullContent: false },
  ],
  [
    phrases(
      /text content blocks must (?:be non-empty|contain non-whitespace)/,
      /text field in the contentblock object[^{}]{0,60} is blank/,
      /\bcontent[`'"\\]*: string too short/,
      /\bcontent (?:cannot|must not|can't) be (?:empty|blank)/,
      /\b(?:content is|[`'"\\]*assistant[`'"\\]* must not be) empty\b/,
    ),
    { nullContent: true },
  ],
  // Gemini behind this protocol requires the tool's name with a result.
  [/function_response\.name: name cannot be empty/i, { toolNames: true }],
  [lacksSignature, { signCalls: true }],
  [looksUpRefs, { spellRefs: true }],
  // Mistral's own rules, for one of its models under another name: its ids (F055), and the order of roles (F046).
  [/must be a-z, A-Z, 0-9, with a length of 9\b/i, { idForm: "mistral9" }],
  [refusesUserAfterResults, { bridgeToolUser: true }],
  // Bedrock's, for Llama and Mistral behind a gateway that puts both into one turn.
  [
    /conversation blocks and tool result blocks cannot be provided in the same turn/i,
    { bridgeToolUser: true },
  ],
  // Text and calls are accepted, but not together.
  [
    phrases(
      /either content or tool_calls,? but not both/,
      /conversation blocks and tool use blocks cannot be provided in the same turn/,
      /\btext content is not allowed when tool_calls are provided\b/,
    ),
    { textBesideCalls: false },
  ],
  // Older servers do not know the field that requests usage at the end of a stream: `{"loc": ["body", "stream_options"]}`.
  [
    phrases(
      /stream_options[^{}]{0,80}(?:not (?:supported|permitted|allowed)|only|unknown|unsupported|extra)/,
      /(?:unrecogni[sz]ed|unknown|unsupported|unexpected keyword|invalid parameter|not (?:supported|permitted|allowed)|extra_forbidden)[^{}]{0,80}stream_options/,
      /extraneous key \[include_usage\]/,
    ),
    { streamUsage: false },
  ],
  [refusesStrict, { strictTools: false }],
  // The server only knows the older name of the output limit (F134).
  [
    phrases(
      /(?:unrecogni[sz]ed|unknown|unsupported|unexpected keyword|extra_forbidden)[^{}]{0,60}max_completion_tokens/,
      /max_completion_tokens[^{}]{0,60}(?:not (?:supported|permitted|allowed)|unsupported|extra inputs)/,
    ),
    { maxTokensField: "max_tokens" },
  ],
  [effortBesideTools, { reasoningWithTools: false }],
];

/** A tool turn was sent without its reasoning (F104). */
const missingReasoning: RegExp = phrases(
  /reasoning_content\b[^{}]{0,80}(?:must be (?:passed|sent|provided)|is (?:missing|required))/,
  /(?:missing|must (?:include|contain|have|provide)) [`'"\\]*reasoning_content/,
);

/** How many lost sounds are remembered by their ids; older ones have expired anyway. */
const mostLost = 100;

/** The sound of an answer is no longer there. */
const noSound: RegExp = /\bassistant audio (audio_\w+) not found\b/i;

/** The other field for the output limit, if the message names it (F134). */
const fields = ["max_completion_tokens", "max_tokens"] as const;
const useInstead: RegExp = /\buse [`'"\\]*(max_completion_tokens|max_tokens)\b/i;

/** An output limit has to be given, as to Anthropic's own server: Claude behind Azure and behind gateways. */
const requiresLimit: RegExp = phrases(
  /\b(max_completion_tokens|max_tokens)\b[^{}.]{0,20}\b(?:field required|is (?:a )?required|is missing)\b/,
  /\bmissing (?:required )?(?:parameter|field|argument|property):? [`'"\\]*(max_completion_tokens|max_tokens)\b/,
  // Bedrock's.
  /\brequired key \[(max_tokens)\] not found\b/,
);

/** Settings that a model does not accept at all, under the name in the refusal. */
const plain: ReadonlySet<string> = new Set([
  "temperature",
  "top_p",
  "stop",
  "seed",
  "frequency_penalty",
  "presence_penalty",
  "parallel_tool_calls",
]);

/** A system message that only tells of tools, at a server that does not know such a one. */
const strangeTools: RegExp = /\bmessages?\b[^{}]{0,80}\b(?:tools|content)\b/i;

/** The quirks that a refusal reveals; undefined if there is nothing to change. */
export function learned(
  { status, body, header }: ErrorResponse,
  target: Target,
): NonNullable<Target["compat"]> | undefined {
  const compat = chatCompat(target);
  const words = complaintOf(body);
  const [, lost] = noSound.exec(words) ?? [];
  if (lost !== undefined && [400, 404].includes(status))
    return withoutSound(lost, header("date"), compat, target);
  // A local server only finds out while it runs, and answers 500.
  if (status === 400 || status === 422 || status === 500) {
    const quirks = learnedOfTemplate(words, compat) ?? learnedOfSchemas(words, target, compat);
    if (quirks !== undefined) return { ...target.compat, ...quirks };
  }
  if (![400, 404, 422].includes(status)) return undefined;
  const choice = learnedOfChoice(words, compat);
  if (choice !== undefined) return { ...target.compat, ...choice };
  if (status === 404) return undefined;
  const quirk = lessons.find(([complaint, shown]) => complaint.test(words) && isNews(shown, compat))?.[1];
  if (quirk !== undefined) return { ...target.compat, ...quirk };
  const longest = longestDescriptionIn(words);
  if (longest !== undefined && longest !== compat.longestDescription)
    return { ...target.compat, longestDescription: longest };
  if (effortBesideTools.test(words) && !compat.omit.includes("reasoning_effort"))
    return { ...target.compat, omit: [...compat.omit, "reasoning_effort"] };
  if (tellsInPlace(target) && strangeTools.test(words)) return { ...target.compat, offersInPlace: false };
  if (missingReasoning.test(words)) {
    const quirks = moreReasoning(compat);
    return quirks === undefined ? undefined : { ...target.compat, ...quirks };
  }
  const lacking = lacksLevels(words, target);
  if (lacking !== undefined) return lacking;
  const [, other] = useInstead.exec(words) ?? [];
  const field = fields.find((one) => one === other?.toLowerCase());
  if (field !== undefined)
    return field === compat.maxTokensField ? undefined : { ...target.compat, maxTokensField: field };
  const limit = requiredLimit(words, target);
  if (limit !== undefined) return isNews(limit, compat) ? { ...target.compat, ...limit } : undefined;
  const param = unsupportedParam(body);
  if (param === undefined || compat.omit.includes(param)) return undefined;
  return { ...target.compat, omit: [...compat.omit, param] };
}

/** The output limit that the server misses: Claude's own, as over Anthropic's protocol. */
function requiredLimit(words: string, target: Target): Partial<OpenaiChatCompat> | undefined {
  const [found, ...names] = requiresLimit.exec(words) ?? [];
  if (found === undefined) return undefined;
  const named = names.find((name) => name !== undefined)?.toLowerCase();
  const maxTokensField = fields.find((one) => one === named) ?? "max_tokens";
  return { maxTokensField, defaultMaxTokens: traitsOf(target).maxTokens };
}

/** Which tool choices the server does not know; some complain of both at once. */
function learnedOfChoice(
  words: string,
  { forcedChoice, noneChoice }: OpenaiChatCompat,
): NonNullable<Target["compat"]> | undefined {
  const forced = forcedChoice !== "never" && refusesForcing.test(words);
  const none = noneChoice && refusesNone.test(words);
  if (!forced && !none) return undefined;
  return { ...(forced && { forcedChoice: "never" }), ...(none && { noneChoice: false }) };
}

/** What the schemas of tools must be like, for a server that makes grammars of them. */
function learnedOfSchemas(
  words: string,
  target: Target,
  { strictTools, forcedChoice }: OpenaiChatCompat,
): NonNullable<Target["compat"]> | undefined {
  const unstrict = strictTools ? { strictTools: false } : {};
  const plainSchemas = plainerSchemas(words, target.compat?.plainSchemas);
  if (plainSchemas !== undefined) return { plainSchemas, ...unstrict };
  const forces = strictTools || forcedChoice !== "never";
  return forces && refusesGrammars(words) ? { forcedChoice: "never", ...unstrict } : undefined;
}

/** The next thing to try for a server that misses the reasoning of a turn; undefined if all was tried. */
function moreReasoning(compat: OpenaiChatCompat): NonNullable<Target["compat"]> | undefined {
  if (compat.echoReasoning !== "reasoning_content" || compat.reasoningFill === null)
    return { echoReasoning: "reasoning_content", reasoningFill: "" };
  // Some servers treat an empty string as missing. DeepSeek, behind some gateways, does not see the reasoning of a message
  // whose content is null. Some require reasoning of answers without calls as well.
  const content = compat.nullContent ? { nullContent: false } : {};
  if (compat.reasoningFill === "") return { reasoningFill: " ", ...content };
  if (compat.echoReasoningOn !== "all") return { echoReasoningOn: "all", ...content };
  return compat.nullContent ? content : undefined;
}

/** The setting that the model does not accept, where the error names it as a member. */
function unsupportedParam(body: string): string | undefined {
  const error = objectIn(objectIn(parseJson(body))?.error);
  const param = textIn(error?.param);
  if (textIn(error?.code) !== "unsupported_parameter" || param === undefined) return undefined;
  return plain.has(param) ? param : undefined;
}

/**
 * The server without a sound; and without all that had expired by then, as it names only the first one that it lacks.
 * @param date when it said so: by minutes, so that a second one within the call teaches nothing but its id
 */
function withoutSound(
  id: string,
  date: string | null,
  { lostAudio, audioExpiredAt }: OpenaiChatCompat,
  { compat }: Target,
): NonNullable<Target["compat"]> {
  const minute = 60;
  const now = Math.floor(Date.parse(date ?? "") / 1000 / minute) * minute;
  const until = Number.isNaN(now) ? audioExpiredAt : Math.max(audioExpiredAt, now);
  return { ...compat, lostAudio: [...lostAudio, id].slice(-mostLost), audioExpiredAt: until };
}

const isNews = (quirk: Partial<OpenaiChatCompat>, known: OpenaiChatCompat): boolean =>
  Object.entries(quirk).some(([name, value]) => known[name as keyof OpenaiChatCompat] !== value);
