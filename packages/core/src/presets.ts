// The exports of @rondo/core/presets: five well-known agent loops as options of an agent, and views of their runs.
//
// The loop does not know them. They are a fifth of the code, and in an export of their own so that other users need not load
// them.

export { type ParsedArguments, parseToolArguments } from "./presets/agent-strategy/arguments.ts";
export { recalcMaxTokens } from "./presets/agent-strategy/model.ts";
export type { LocalFiles } from "./presets/agent-strategy/outputs.ts";
export {
  type AgentStrategyOptions,
  agentStrategy,
  shouldContinue,
} from "./presets/agent-strategy.ts";
export {
  askUser,
  Conversation,
  type ConversationRun,
  type ConversationState,
  type ConversationStep,
} from "./presets/conversation.ts";
export { type FailureKind, failureKind } from "./presets/managed-context/failures.ts";
export type { ManagedRetry } from "./presets/managed-context/retry.ts";
export type { ManagedCompaction, ToolOutputCache } from "./presets/managed-context/stages.ts";
export {
  type ManagedContextOptions,
  managedContext,
  type ToolDecision,
} from "./presets/managed-context.ts";
export { type SteerablePrompt, steerableLines, steerablePrompt } from "./presets/steerable/prompt.ts";
export {
  type PullMessages,
  type SteerableSessionOptions,
  steerableSession,
} from "./presets/steerable/session.ts";
export { type SteerableStop, steerableStop } from "./presets/steerable/stops.ts";
export { type SteerableOptions, steerable } from "./presets/steerable.ts";
export {
  StepSequenceError,
  type StepSequenceErrorCode,
  toolError,
} from "./presets/step-sequence/errors.ts";
export { type RetryNotice, retryNotice, retryPolicies } from "./presets/step-sequence/retry.ts";
export { type StepSequenceOptions, stepSequence } from "./presets/step-sequence.ts";
export { Chat, type ChatOptions } from "./presets/think-act-observe/chat.ts";
export {
  type ThinkActObserveOptions,
  thinkActObserve,
} from "./presets/think-act-observe.ts";
export { type SessionLogRow, sessionLog } from "./views/agent-events/log.ts";
export {
  type LoopPhase,
  LoopState,
  sameCall,
  type ToolCallRecord,
  toolCallRecord,
} from "./views/agent-events/loop-state.ts";
export type { AgentEvent } from "./views/agent-events/shapes.ts";
export { withoutSilentReplies } from "./views/agent-events/silent.ts";
export {
  contextLeftPercent,
  type UsageSummary,
  type UsageSums,
  usageSummary,
} from "./views/agent-events/usage.ts";
export {
  type AgentEventsOptions,
  AgentEventsView,
  agentEvents,
  finalOf,
} from "./views/agent-events.ts";
export type { StrategyMessage, StrategyViewOptions } from "./views/strategy-messages/message.ts";
export type { ContextItem, StrategyPrice } from "./views/strategy-messages/metadata.ts";
export { StrategyView, strategyMessages } from "./views/strategy-messages.ts";
export { type TraceOptions, type TraceStream, trace, traceLines } from "./views/trace.ts";
