// The room of output limits in refusals: how much output could have been asked for.
//
// A refusal names it in three cases. Input and output together do not fit the window, though the input alone does (F183): to
// make the history smaller would be work for nothing. Or more was asked for than the model ever gives, or than what is left of
// the money pays for.

/** Each way to say that both do not fit. `asked` is what was asked for in all, `out` the output of it. */
const forms: readonly RegExp[] = [
  // Anthropic, Bedrock
  /input length and [`'"]*max_tokens[`'"]* exceed context limit: (?<input>\d+) \+ \d+ > (?<window>\d+)/i,
  // OpenRouter, OpenAI, vLLM
  /context length is(?: only)? (?<window>\d+) tokens[^(]*requested (?:about )?(?<asked>\d+) tokens \([^)]*?(?<out>\d+) in the (?:output|completion)\)/i,
  // Together
  /passed (?<input>\d+) input tokens and requested \d+ output tokens[\s\S]*?context length is only (?<window>\d+)/i,
  // vLLM
  /context length is (?<window>\d+) tokens and your request has (?<input>\d+) input tokens/i,
  /context length is (?<window>\d+) tokens[^(]{0,80}prompt contains (?:at least )?(?<input>\d+) input tokens/i,
  // SGLang
  /context length of (?<window>\d+) tokens[\s\S]{0,120}?: (?<input>\d+) tokens from the input/i,
  // Hugging Face
  /max_new_tokens[`'"]* must be <= (?<window>\d+)[\s\S]*?given: (?<input>\d+) [`'"]*inputs/i,
];

/** How much output fits beside the input, by the provider's own count. Undefined where it says nothing of it, or hardly any does. */
export function fittingOutput(words: string): number | undefined {
  for (const form of forms) {
    const said = form.exec(words)?.groups;
    if (said === undefined) continue;
    const input = Number(said.input ?? Number(said.asked) - Number(said.out));
    const window = Number(said.window);
    // Some room: servers count the same text anew, and not always alike.
    const left = window - input - Math.ceil(window * margin);
    return left >= window * least ? left : undefined;
  }
  return undefined;
}

/** Each way to say how much output a model gives. */
const limits: readonly RegExp[] = [
  // OpenAI
  /max_(?:completion_)?tokens is too large[\s\S]{0,80}?at most (?<most>\d+)/i,
  // OpenAI, Groq, Volcengine, and many more
  /max[_ ](?:completion_|output_)?tokens\b[\s\S]{0,90}?(?:less than or equal to|<=|at most|maximum of|(?:must|should|can|may) ?not exceed) [`'"]*(?<most>\d+)/i,
  // Mistral, vLLM: the place comes behind
  /less than or equal to (?<most>\d+): (?:\w+\.)*max_(?:completion_)?tokens/i,
  // Alibaba, DeepSeek, Z.ai
  /max_tokens\b[^[\]{}]{0,30}\[\d+, ?(?<most>\d+)\]/i,
  // Anthropic
  /max_tokens: \d+ > (?<most>\d+), which is the maximum/i,
  // Google
  /maxOutputTokens value of \d+ but the supported range is from \d+ \(inclusive\) to (?<end>\d+)/i,
  // Bedrock
  /maximum tokens you requested exceeds the model limit of (?<most>\d+)/i,
];

/** How much output the model gives at most, where a refusal says that more was asked for. */
export function mostOutput(words: string): number | undefined {
  for (const form of limits) {
    const said = form.exec(words)?.groups;
    const most = said === undefined ? 0 : Number(said.most ?? Number(said.end) - 1);
    if (most > 0) return most;
  }
  return undefined;
}

/** OpenRouter, which counts on the most that a model gives where no limit was asked for. */
const paid: RegExp = /requested up to \d+ tokens, but can only afford (\d+)/i;

/** How much output the money pays for, where a refusal says that it does for less than was asked for. Undefined where that is next to nothing: it is used up. */
export function paidOutput(words: string): number | undefined {
  const most = Number(paid.exec(words)?.[1] ?? 0);
  return most >= leastPaid ? most : undefined;
}

const margin = 0.005;
const least = 0.01;
/** Tokens. What is shorter is hardly an answer, and its call is cut. */
const leastPaid = 1000;
