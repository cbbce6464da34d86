// The room of windows named in refusals: a server may give a model a smaller window than its maker does, and states it when
// a request did not fit.

const tokens = "(?<window>\\d[\\d,]*)";

/** The phrases, tried in this order: a message in an earlier form may also match a later one. */
const forms: readonly RegExp[] = [
  // Anthropic, Bedrock
  `exceed context limit: \\d+ \\+ \\d+ > ${tokens}`,
  `prompt is too long: \\d+ tokens > ${tokens} maximum`,
  // OpenAI, OpenRouter, vLLM, SGLang, llama.cpp, LM Studio, Fireworks, and many more
  `context (?:length|size|window)(?: limit)?(?: is| of|:)?(?: only)? \\(?${tokens}\\b`,
  `context length of [\\w./:-]+ is ${tokens}`,
  `n_ctx: ${tokens}`,
  // Google
  `maximum number of tokens allowed \\(?${tokens}`,
  `only supports up to ${tokens}`,
  // Mistral
  `too large for model with ${tokens} maximum context`,
  // xAI
  `maximum prompt length is ${tokens}`,
  // SambaNova, Together, Volcengine
  `(?:prompt|input) length \\d+[^.]{0,80}exceeds (?:the )?maximum (?:[a-z]+ ){0,2}length(?: of)? ${tokens}`,
  // Copilot, an older vLLM
  `tokens?\\b[^.]{0,60}exceeds? (?:the )?(?:configured |model's )?limit of ${tokens}`,
  `number of (?:input )?tokens exceeded the maximum of ${tokens}`,
  // Moonshot
  `model token limit: ${tokens}`,
  // Engines by the names of their settings
  `max_(?:model_len|seq_len|num_tokens) \\(?${tokens}`,
  `maximum model length of ${tokens}`,
  // ExLlama
  `total cache allocated is \\d+ \\* \\d+ = ${tokens} tokens`,
  // Hugging Face
  `max_new_tokens[\`'"]* must be <= ${tokens}`,
  `inputs[\`'"]* must have less than ${tokens} tokens`,
  // GitHub Models
  `max size: ${tokens} tokens`,
  // Gateways
  `known context limit[^.]{0,20} is ${tokens}`,
  `too long[^.]{0,30} \\(max(?:imum)?:? ${tokens} tokens\\)`,
  // Bedrock
  `max input tokens: ${tokens}`,
  // Google's studio
  `cannot truncate to ${tokens}, required \\d`,
  // Alibaba
  `token length exceeds? model limit \\(${tokens} tokens`,
  `input length should be \\[\\d+, ?${tokens}\\]`,
  // Cerebras
  `current length is \\d+ while limit is ${tokens}`,
  // Cohere
  `number of tokens in th(?:e|is) prompt cannot exceed ${tokens}`,
  `the limit for this model is ${tokens} tokens`,
  // watsonx, Yandex, Databricks
  `input tokens \\d+ cannot exceed the total tokens limit ${tokens}`,
  `input tokens must be no more than ${tokens}`,
  `prompt token count \\(\\d+\\) cannot exceed ${tokens}`,
  // Amazon's servers that speak OpenAI's protocols
  `exceeds? (?:[a-z]+ )?model maximum \\(${tokens}`,
].map((form) => new RegExp(form, "i"));

/** The model's window in tokens, as the server states it when a request did not fit; undefined if it does not. */
export function namedWindow(words: string): number | undefined {
  for (const form of forms) {
    const said = form.exec(words)?.groups?.window;
    if (said !== undefined) return Number(said.replaceAll(",", "")) || undefined;
  }
  return undefined;
}
