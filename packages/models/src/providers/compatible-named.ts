// The room of the table's servers by name: a function for each of them, e.g. `deepseek("deepseek-chat")`.

import type { Model } from "@rondo/core";
import type { ServerName } from "../compat/choose.ts";
import { type CompatibleOptions, openaiCompatible } from "./compatible.ts";

/** Makes models of one server. Address, key variables and quirks come from the table; every option wins over them. */
export type ServerProvider = (
  model: string,
  options?: Omit<CompatibleOptions, "model" | "server" | "provider">,
) => Model;

function of(server: ServerName): ServerProvider {
  return (model, options = {}) => openaiCompatible({ ...options, server, model });
}

/** DeepSeek. The key is `DEEPSEEK_API_KEY`. */
export const deepseek: ServerProvider = of("deepseek");
/** Mistral. The key is `MISTRAL_API_KEY`. */
export const mistral: ServerProvider = of("mistral");
/** xAI. The key is `XAI_API_KEY`. */
export const xai: ServerProvider = of("xai");
/** Groq. The key is `GROQ_API_KEY`. */
export const groq: ServerProvider = of("groq");
/** Cerebras. The key is `CEREBRAS_API_KEY`. */
export const cerebras: ServerProvider = of("cerebras");
/** Together. The key is `TOGETHER_API_KEY`. */
export const together: ServerProvider = of("together");
/** Fireworks. The key is `FIREWORKS_API_KEY`. */
export const fireworks: ServerProvider = of("fireworks");
/** OpenRouter. The key is `OPENROUTER_API_KEY`. */
export const openrouter: ServerProvider = of("openrouter");
/** Z.ai (GLM). The key is `ZAI_API_KEY`. */
export const zai: ServerProvider = of("zai");
/** Moonshot (Kimi). The key is `MOONSHOT_API_KEY`. */
export const moonshot: ServerProvider = of("moonshot");
/** MiniMax. The key is `MINIMAX_API_KEY`. */
export const minimax: ServerProvider = of("minimax");
/** Alibaba Model Studio (Qwen). The key is `DASHSCOPE_API_KEY`. */
export const alibaba: ServerProvider = of("alibaba");
/** SiliconFlow. The key is `SILICONFLOW_API_KEY`. */
export const siliconflow: ServerProvider = of("siliconflow");
/** Xiaomi MiMo. The key is `MIMO_API_KEY`. */
export const xiaomi: ServerProvider = of("xiaomi");
/** Perplexity, which takes no tools. The key is `PERPLEXITY_API_KEY`. */
export const perplexity: ServerProvider = of("perplexity");
/** Hugging Face's router. The key is `HF_TOKEN`. */
export const huggingface: ServerProvider = of("huggingface");
/** GitHub Copilot. The token is `GITHUB_COPILOT_TOKEN`, or comes from `credentials`. */
export const copilot: ServerProvider = of("copilot");
/** A LiteLLM proxy. The key is `LITELLM_API_KEY`. */
export const litellm: ServerProvider = of("litellm");
/** vLLM on this machine, without a key. */
export const vllm: ServerProvider = of("vllm");
/** SGLang on this machine, without a key. */
export const sglang: ServerProvider = of("sglang");
/** llama.cpp's server on this machine, without a key. */
export const llamacpp: ServerProvider = of("llamacpp");
/** LM Studio on this machine, without a key. */
export const lmstudio: ServerProvider = of("lmstudio");
