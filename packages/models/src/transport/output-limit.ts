// The room of output limits in refusals: how much output could have been requested.
//
// A refusal states it in three cases. Input and output together exceed the window, though the input alone fits (F183):
// making the history smaller would be wasted work. Or more was requested than the model can ever write, or than the
// remaining money pays for.

/** The phrases for input and output that together do not fit. `asked` is the total that was requested, `out` the output in it. */
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
  // Fireworks, Bedrock, and gateways: a sum
  /\bmax_(?:new_|completion_)?tokens \(\d+\) (?:\+|and) (?:prompt|input)(?: length| tokens)? \((?<input>\d+)\)[^\d]{0,80}(?<window>\d+)/i,
  /\b(?:prompt|input)(?: length| tokens)? \((?<input>\d+)\) (?:\+|and) max_(?:new_|completion_)?tokens \(\d+\)[^\d]{0,80}(?<window>\d+)/i,
  // Hugging Face
  /max_new_tokens[`'"]* must be <= (?<window>\d+)[\s\S]*?given: (?<input>\d+) [`'"]*inputs/i,
];

/** How much output fits together with the input, by the provider's own count. Undefined if it does not say, or if hardly any fits. */
export function fittingOutput(words: string): number | undefined {
  for (const form of forms) {
    const said = form.exec(words)?.groups;
    if (said === undefined) continue;
    const input = Number(said.input ?? Number(said.asked) - Number(said.out));
    const window = Number(said.window);
    // A margin: servers count the same text again, and not always alike.
    const left = window - input - Math.ceil(window * margin);
    return left >= window * least ? left : undefined;
  }
  return undefined;
}

/** The phrases for the most output that a model gives. */
const limits: readonly RegExp[] = [
  // OpenAI
  /max_(?:completion_)?tokens is too large[\s\S]{0,80}?at most (?<most>\d+)/i,
  // OpenAI, Groq, Volcengine, Scaleway, and many more
  /max[_ ](?:completion_|output_)?tokens\b[\s\S]{0,90}?(?:less than or equal to|<=|at most|maximum of|limited to|(?:must|should|can|may) ?not exceed) [`'"]*(?<most>\d+)/i,
  // Mistral, vLLM: the field comes after the number
  /less than or equal to (?<most>\d+): (?:\w+\.)*max_(?:completion_)?tokens/i,
  // Alibaba, Baidu, DeepSeek, Z.ai
  /max_(?:completion_|output_)?tokens\b[^[\]{}]{0,30}\[\d+, ?(?<most>\d+)\]/i,
  // Anthropic
  /max_tokens: \d+ > (?<most>\d+), which is the maximum/i,
  // Google
  /maxOutputTokens value of \d+ but the supported range is from \d+ \(inclusive\) to (?<end>\d+)/i,
  // SiliconFlow, gateways
  /max_(?:completion_)?tokens\b[^{}]{0,30}?(?:exceeds the (?:model(?:'s)? )?limit of|exceeds the maximum allowed(?: value)?(?: of)?|larger than the limit(?: of)?) (?<most>\d+)/i,
  // Engines by the names of their settings
  /max_(?:completion_)?tokens\b[^{}]{0,20}cannot be greater than (?:\w+=)*(?<most>\d+)/i,
  // Bedrock
  /maximum tokens you requested exceeds the model limit of (?<most>\d+)/i,
];

/** The most output that the model gives, if the refusal is about that. */
export function mostOutput(words: string): number | undefined {
  for (const form of limits) {
    const said = form.exec(words)?.groups;
    const most = said === undefined ? 0 : Number(said.most ?? Number(said.end) - 1);
    if (most > 0) return most;
  }
  return undefined;
}

/** OpenRouter, which assumes the most that a model can write if no limit was set. */
const paid: RegExp = /requested up to \d+ tokens, but can only afford (\d+)/i;

/** How much output the remaining money pays for, if the refusal is about that. Undefined if that is next to nothing: then it is used up. */
export function paidOutput(words: string): number | undefined {
  const most = Number(paid.exec(words)?.[1] ?? 0);
  return most >= leastPaid ? most : undefined;
}

const margin = 0.005;
const least = 0.01;
/** In tokens. Anything shorter is hardly an answer, and would cut off its calls. */
const leastPaid = 1000;
