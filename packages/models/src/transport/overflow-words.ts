// The room of full windows: the phrases for a prompt that does not fit the model's window.

import { phrases } from "../patterns.ts";
import { rateWords } from "./error-words.ts";

/**
 * True if the message says that the prompt does not fit the model's window, rather than that a rate limit was hit. Only for
 * a status of 400, 413 or 422, or an error inside a stream: never ask it about a 429.
 */
export function isOverflowText(text: string): boolean {
  return overflowWords.test(text) && !rateWords.test(text);
}

const overflowWords: RegExp = phrases(
  /(?:prompts?|inputs?|request|conversation|history|messages)(?: tokens?| length)*(?: \([^)]{1,40}\))? (?:is |was |are )?too long/,
  /max(?:imum)? (?:context|prompt|input|model|sequence)(?: tokens?)? (?:length|limit|characters)/,
  /maximum number of (?:input |prompt |total )?tokens/,
  /context length is only/,
  /context[ _]?(?:length|window|size|limit)[^.]{0,60}exceed/,
  /context (?:window|length|size)(?: limit)? (?:has been |was |is )?reached/,
  /\brequires? (?:approximately |about |~)?[\d,]+ tokens\b[^.]{0,40}\bcontext limit/,
  // ExLlama, of the pages of its cache.
  /\bjob requires \d+ pages \(only \d+ available\)/,
  // An older llama.cpp, if a prompt or its answer fills the context.
  /\bcontext shift is disabled\b/,
  /exceed[^.]{0,80}context[ _](?:length|window|size|limit)/,
  /(?:greater|longer|larger) than the (?:maximum )?(?:context|model(?:'s context)?) (?:length|window|size)/,
  /exceeds the maximum (?:number of tokens|allowed (?:input )?(?:length|token))/,
  /token count[^.]{0,60}(?:exceeds|only supports up to)/,
  /prompt_tokens[^.]{0,40} must be less than/,
  /inputs[`'"]* must have less than \d+ tokens/,
  /when (?:the )?context (?:the )?overflows/,
  // Google's studio.
  /\bcannot truncate to \d+, required \d/,
  /(?:prompt|输入|上下文|提示词)[^。]{0,12}(?:超长|过长|超过|超出|超限)/,
  /exceeded (?:the )?model(?:'s)? token limit/,
  /(?:prompt|input|total) tokens[^.]{0,60}exceed(?:s|ed)?\b/,
  /tokens in (?:the|this|your) (?:prompt|input|messages|request)[^.]{0,40}exceeds?\b/,
  /\bnumber of tokens exceeds?\b/,
  /(?<!daily |monthly )\btoken limit exceeded/,
  /too many total text bytes/,
  /(?:prompt|input)(?: length)? exceeds? max/,
  /(?:prompt|input|message)(?: token)? length[^.]{0,40}exceeds?\b/,
  /tokens in (?:the|your) (?:prompt|input|messages|request)[^.]{0,40}(?:larger|greater|more) than/,
  /(?:request|prompt|input) contains [\d,]+ tokens?,? exceeding/,
  /(?:prompt|input|request) has [\d,]+ tokens?, but/,
  /max tokens of \d+ exceeded/,
  /tokens in (?:the )?request more than max/,
  /range of input length should be/,
  /max_new_tokens[`'"]* must be <=/,
  /reduce the length of the (?:messages|prompt|input)/,
  /too many (?:input )?tokens/,
  /\bmax(?:imum)? size: [\d,]+ tokens/,
  /too (?:large|long|big) for (?:model with \d+|(?:the |this )?(?:model'?s? )?context)/,
  /(?:exceeds?|than)[^.]{0,20} (?:max_(?:seq_len|num_tokens|model_len)|the engine's max)/,
  /\bcontext[ _](?:is |was )?(?:too (?:long|large)|overflow)/,
  /\bprompt is too (?:big|large)\b/,
  /(?:messages|input|prompt)\S*[`'"]*: string too long\. Expected a string with maximum length \d{5,}/,
  /string value length \(\d+\) exceeds the maximum/,
  // More messages than allowed: only fewer of them help.
  /['"`](?:messages|input)['"`]: array too long\. Expected an array with maximum length \d{3,}/,
  // TensorRT-LLM and vLLM, about the room left for the answer.
  /\bmax_(?:completion_)?tokens must be at least \d+, got -\d/,
  /\bdefault_max_tokens \(-\d+\)/,
);

/**
 * True if a phrase that is in no list says the same: tokens or a context that exceed something. Only for a refusal that
 * nothing else explains, and not for one about something smaller that has a length of its own.
 */
export function seemsOverflow(text: string): boolean {
  return tooMuch.test(text) && !smallerThings.test(text) && !rateWords.test(text);
}

/** What is counted. */
const counted: string = phrases(
  /\b(?:tokens?|context|n_ctx|sequence length|max_seq_len|max_model_len|conversation|history|prompt)\b/,
  /max_input_tokens/,
  /token ?数/,
  /上下文/,
  /コンテキスト/,
  /컨텍스트/,
  /токен|контекст/,
).source;
/** Words for too much of it. */
const beyond: string = phrases(
  /\bexceed(?:s|ed|ing)?\b/,
  /\bover (?:the|its)\b/,
  /\btoo (?:long|large|many|big|small)\b/,
  /\b(?:more|longer|larger|greater) than\b/,
  /\bat most\b/,
  /\bmust be (?:less|at most|smaller|<)/,
  /\bmaximum is\b/,
  /\bshorten\b/,
  /\d ?[>≥]=? ?(?:n_ctx:? ?)?\d/,
  /超过/,
  /超出/,
  /过长/,
  /最大/,
  /超え/,
  /초과/,
  /превы(?:ша|си)/,
).source;
const tooMuch = new RegExp(
  `(?:${counted})[^.{}]{0,80}?(?:${beyond})|(?:${beyond})[^.{}]{0,60}?(?:${counted})`,
  "i",
);
/** Things inside a request, with a length of their own. */
const smallerThings: RegExp = phrases(
  /max_?(?:completion_|output_|new_)?tokens/,
  /(?:output|completion|reasoning|thinking|invalid|expired|access|auth\w*|bearer|refresh) tokens?/,
  /\b(?:thinking|budget_tokens|stop|metadata|tools?|functions?|schema|images?|files?|documents?|audio|video|names?|ids?|cach\w*|logprobs|\w*bias|descriptions?|enum)\b/,
  /\w+\[\d+\]\.(?!content)\w/,
);
