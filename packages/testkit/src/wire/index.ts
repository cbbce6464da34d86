// The exports of @rondo/testkit/wire.

export {
  type CaseExpectation,
  type CaseResult,
  type CasesOptions,
  runCases,
  type WireCase,
} from "./cases.ts";
export {
  type ErrorResponse,
  errorBody,
  errorResponse,
  type Refusal,
  refusalOf,
  refusalWith,
} from "./errors.ts";
export * from "./faults.ts";
export { eventStreamMessage } from "./framing.ts";
export { type Asked, flattenWire, planOf, render } from "./plan.ts";
export { recordedScript } from "./recorded-script.ts";
export {
  type Protocol,
  protocols,
  type Rendered,
  type Reply,
  type ReplyBlock,
  ScriptError,
  type WireFrame,
} from "./reply.ts";
export { checkAnthropicRequest } from "./rules/anthropic.ts";
export { checkBedrockRequest } from "./rules/bedrock.ts";
export { checkGoogleRequest, type GoogleRules } from "./rules/google.ts";
export { type ChatRules, checkOpenaiChatRequest } from "./rules/openai-chat.ts";
export { checkOpenaiResponsesRequest } from "./rules/openai-responses.ts";
export type { Violation } from "./rules/violation.ts";
export { type RondoWire, rondoWire, type WireName, type WireOptions } from "./server.ts";
export {
  checkServerRequest,
  personalityOf,
  renderServer,
  type ServerError,
  type ServerPersonality,
  type ServerRules,
  type ServerStyle,
  serverPersonalities,
  unknownPersonality,
} from "./servers/index.ts";
export type { Plan, Step } from "./steps.ts";
