// The public exports of @rondo/models.
export { type FromAiSdkOptions, fromAiSdk } from "./ai-sdk/from-ai-sdk.ts";
export type { AiSdkModelLike } from "./ai-sdk/spec.ts";
export { type AiSdkCall, type AiSdkModel, type ToAiSdkOptions, toAiSdk } from "./ai-sdk/to-ai-sdk.ts";
export type { ProviderTool } from "./ai-sdk/write-options.ts";
export {
  type CatalogueEntry,
  catalogueDate,
  catalogueSource,
  factsOf,
  listModels,
} from "./catalogue/catalogue.ts";
export type * from "./codec.ts";
export type { AnthropicCompat } from "./codecs/anthropic/compat.ts";
export type { BedrockCompat } from "./codecs/bedrock/compat.ts";
export type { GeminiCompat } from "./codecs/google/target.ts";
export type { GoogleCompat, GoogleOptions } from "./codecs/google-generative-ai.ts";
export type { OllamaCompat } from "./codecs/ollama/compat.ts";
export { openaiChatStops, openaiResponsesStops } from "./codecs/openai/stops.ts";
export type { ChatQuirks, OpenaiChatCompat } from "./codecs/openai-chat/compat.ts";
export type { OpenaiChatOptions } from "./codecs/openai-chat/settings.ts";
export type { ResponsesCompat } from "./codecs/openai-responses/compat.ts";
export type { OpenaiResponsesCompat, OpenaiResponsesOptions } from "./codecs/openai-responses/settings.ts";
export type { Quirks } from "./codecs/shared-compat.ts";
export type { WarningCode } from "./codecs/warn.ts";
export { compatibleServers, type ServerName } from "./compat/choose.ts";
export type { CompatibleServer } from "./compat/server.ts";
export type { AwsKeys, CredentialCallback, Credentials, Environment } from "./credentials.ts";
export { createModel } from "./http-model.ts";
export type { LlamaLibrary } from "./llama/library.ts";
export { type LlamaModel, type LlamaOptions, llama } from "./llama/llama.ts";
export type { Authorize, LazyCodec, ModelOptions, Outgoing, ProviderOptions, Send } from "./model-options.ts";
export { type OfflineOptions, offline } from "./offline/offline.ts";
export { neutralised, neutralTokens } from "./prompted/control-tokens.ts";
export { type PromptedOptions, promptedJson } from "./prompted/prompted-json.ts";
export { anthropic } from "./providers/anthropic.ts";
export { type AzureOptions, azure } from "./providers/azure.ts";
export { type BedrockOptions, bedrock } from "./providers/bedrock.ts";
export { type ChooseOptions, chooseModel, type ModelChoice } from "./providers/choose.ts";
export { type ClassicGeminiOptions, classicGemini } from "./providers/classic-gemini.ts";
export { type CompatibleOptions, openaiCompatible } from "./providers/compatible.ts";
export {
  alibaba,
  cerebras,
  copilot,
  deepseek,
  fireworks,
  groq,
  huggingface,
  litellm,
  llamacpp,
  lmstudio,
  minimax,
  mistral,
  moonshot,
  openrouter,
  perplexity,
  type ServerProvider,
  sglang,
  siliconflow,
  together,
  vllm,
  xai,
  xiaomi,
  zai,
} from "./providers/compatible-named.ts";
export { modelFromName } from "./providers/from-name.ts";
export { google } from "./providers/google.ts";
export {
  findLocal,
  type LocalKind,
  type LocalOptions,
  type LocalPlace,
  type LocalSearch,
  type LocalServer,
  localModel,
  localPlaces,
} from "./providers/local.ts";
export { knownProviders } from "./providers/names.ts";
export { type OllamaOptions, ollama, ollamaURL } from "./providers/ollama.ts";
export { type OpenaiOptions, type OpenaiProvider, openai } from "./providers/openai.ts";
export { type VertexOptions, vertex } from "./providers/vertex.ts";
export { type IdForm, type IdFormName, idForm } from "./repair/ids.ts";
export { type ProviderHistory, providerHistory, repairPolicy } from "./repair/policies.ts";
export { bearer, keyHeader } from "./request-head.ts";
export {
  type Adapted,
  type AdaptOptions,
  adaptSchema,
  adaptToolSchema,
  schemaTroubles,
  type Trouble,
} from "./schemas/adapt.ts";
export type { SchemaMode } from "./schemas/dialects.ts";
export { type Removed, renderRemoved } from "./schemas/removed.ts";
export {
  normalizeToolParameters,
  type Sanitized,
  sanitizeToolsForGoogle,
  type ToolLike,
} from "./schemas/tools.ts";
export {
  type AnthropicClientLike,
  framesOf,
  fromAnthropicClient,
  fromOpenaiClient,
  type OpenaiClientLike,
  type SdkOptions,
} from "./sdk.ts";
export { classifyHttpError, classifyStreamError, type ErrorHints } from "./transport/errors.ts";
export type { HttpClient, HttpClocks, HttpRequest, HttpResponse } from "./transport/http.ts";
export { type FetchLike, fetchClient } from "./transport/http-fetch.ts";
export { nodeClient } from "./transport/http-node.ts";
