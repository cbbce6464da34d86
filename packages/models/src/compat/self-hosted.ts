// The room of servers run by users: on this machine, in their cluster, or as a proxy of their own. A row each.
//
// Most of them use a chat template: it parses the arguments of the whole history again, enforces the order of roles, and
// obeys control tokens in any text that it is given.

import type { CompatibleServer, SelfHostedServer } from "./server.ts";
import { gptOss, nova, openaiOnlyBut } from "./shared.ts";

/** Chat templates that open the block themselves: without the server's parser only its end is in the answer. */
const opened = { match: /deepseek-r1|qwq|thinking-2507/i, compat: { thinkTags: "starts_inside" } } as const;

const templated = {
  maxTokensField: "max_tokens",
  systemFirstOnly: true,
  alternate: true,
  nullContent: false,
  needsUser: true,
  maxTools: 0,
  topK: true,
  thinkTags: "leading",
  breakTokens: true,
  omit: [...openaiOnlyBut("modalities", "audio"), "service_tier"],
} satisfies CompatibleServer["compat"];

export const selfHostedServers: { readonly [name in SelfHostedServer]: CompatibleServer } = {
  litellm: {
    title: "LiteLLM proxy",
    baseURL: "http://127.0.0.1:4000/v1",
    hosts: [],
    keyVariables: ["LITELLM_API_KEY", "LITELLM_MASTER_KEY"],
    compat: {
      videos: "file",
      maxTokensField: "max_tokens",
      nullContent: false,
      toolsWithHistory: true,
      thinkTags: "leading",
      signedIds: true,
    },
    models: [gptOss, nova],
    answers:
      "Whatever the server behind it does; `stop` beside calls (F002); an error as a chunk, then `[DONE]` (F150).",
    errors:
      "As OpenAI's, the code a status as text, the upstream's body inside the message (`litellm.BadRequestError: …`).",
  },
  ollama: {
    title: "Ollama",
    baseURL: "http://127.0.0.1:11434/v1",
    hosts: [],
    keyVariables: [],
    compat: { ...templated, forcedChoice: "never", cutsPrompts: true },
    models: [gptOss],
    answers:
      "Every call has index 0 (F068) and comes whole; reasoning in `reasoning`; a prompt that is too long is cut in silence (F184).",
    errors: '`{"error": {message, type: "api_error"}}`; a model without tools says so (F145).',
  },
  vllm: {
    title: "vLLM",
    baseURL: "http://127.0.0.1:8000/v1",
    hosts: [],
    keyVariables: [],
    compat: {
      audioFormats: ["wav", "mp3", "flac", "ogg"],
      videos: "video_url",
      ...templated,
      reasoningParam: "chat_template_kwargs",
      options: ["chat_template_kwargs", "guided_json", "repetition_penalty", "min_p"],
    },
    models: [gptOss, opened],
    answers:
      "Cut calls that end with `tool_calls` (F006); `stop` beside forced calls (F002); control tokens at the end of a name (F064); an error as a chunk, then `[DONE]` (F150).",
    errors: 'As OpenAI\'s, or flat with `"object": "error"`.',
  },
  sglang: {
    title: "SGLang",
    baseURL: "http://127.0.0.1:30000/v1",
    hosts: [],
    keyVariables: [],
    compat: {
      audioFormats: ["wav", "mp3", "flac", "ogg"],
      videos: "video_url",
      ...templated,
      reasoningParam: "chat_template_kwargs",
      options: ["chat_template_kwargs", "separate_reasoning", "regex", "min_p"],
    },
    models: [gptOss, opened],
    answers: "Arguments may arrive before the name, without an index (F073); `stop` beside calls (F002).",
    errors: 'Flat: `{"object": "error", message, type, code}`.',
  },
  llamacpp: {
    title: "llama.cpp server",
    baseURL: "http://127.0.0.1:8080/v1",
    hosts: [],
    keyVariables: [],
    compat: {
      ...templated,
      cutsPrompts: true,
      noAssistantLast: true,
      reasoningParam: "chat_template_kwargs",
      options: ["chat_template_kwargs", "grammar", "cache_prompt", "min_p"],
    },
    models: [gptOss, opened],
    answers: "`timings` beside the last usage; the first delta has `content: null`.",
    errors:
      "As OpenAI's, the code a number; a template that fails is a 500, as are arguments in the history that are no JSON (F097, F128).",
  },
  lmstudio: {
    title: "LM Studio",
    baseURL: "http://127.0.0.1:1234/v1",
    hosts: [],
    keyVariables: [],
    compat: { ...templated, cutsPrompts: true, reasoningParam: "none" },
    models: [gptOss, opened],
    answers:
      "Words of its own may end an answer (`eos`, F012); an error may come as an `event: error` in a 200.",
    errors: '`{"error": "words"}`.',
  },
};

/** For an unknown server: only what all of them accept. */
export const unknownServer: CompatibleServer = {
  title: "any other server",
  hosts: [],
  keyVariables: [],
  compat: {
    videos: "video_url",
    maxTokensField: "max_tokens",
    systemFirstOnly: true,
    alternate: true,
    nullContent: false,
    needsUser: true,
    thinkTags: "leading",
    signedIds: true,
  },
  models: [gptOss, nova],
  answers: "Everything above.",
  errors: "Any of the above, a web page, or nothing.",
};
