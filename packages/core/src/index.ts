// The face of @rondo/core.
export { Agent, type RunOverrides, type StepStream } from "./agent.ts";
export { type Clock, systemClock } from "./clock.ts";
export { type RepairPolicy, type RepairTexts, repairHistory, repairTexts } from "./context/repair.ts";
export * from "./errors.ts";
export type * from "./events.ts";
export { type FollowOptions, follow } from "./follow.ts";
export type * from "./hooks.ts";
export type { FileInput, Input } from "./input.ts";
export type * from "./journal.ts";
export { checkAppend, checkFrom, checkSessionId, checkSize, type SizeBounds } from "./journal-checks.ts";
export {
  checkToken,
  isHeld,
  type LeaseState,
  releaseLease,
  renewLease,
  takeLease,
} from "./lease.ts";
export type { Logger } from "./logger.ts";
export type { Action, HookAsk, Phase } from "./loop/action.ts";
export { decide, next, phaseOf, type Row, type Table, table } from "./loop/next.ts";
export * from "./loop/records.ts";
export { reduce, reduceAll } from "./loop/reduce.ts";
export { requestOf } from "./loop/request.ts";
export { type Call, emptyState, type Run, type State, type Turn } from "./loop/state.ts";
export {
  type MemoryJournal,
  type MemoryJournalOptions,
  memoryJournal,
  Watchers,
} from "./memory-journal.ts";
export * from "./message.ts";
export { type Migrations, RecordReader } from "./migrations.ts";
export * from "./model.ts";
export { type AgentOptions, type Resolved, resolve } from "./options.ts";
export { closeOpenCalls, isPaired } from "./pairing.ts";
export {
  type AgentStrategyOptions,
  agentStrategy,
  shouldContinue,
} from "./presets/agent-strategy.ts";
export { type ParsedArguments, parseToolArguments } from "./presets/strategy-arguments.ts";
export { recalcMaxTokens } from "./presets/strategy-model.ts";
export type { LocalFiles, ToolOutput } from "./presets/strategy-outputs.ts";
export {
  defaultPolicy,
  type PolicyKey,
  type PromptPolicy,
  policyKeys,
  promptPolicy,
} from "./prompt/policy.ts";
export {
  shouldEmitResponseText,
  splitThoughts,
  stripThoughts,
  type ThoughtOptions,
  type ThoughtPiece,
  ThoughtSplitter,
  thoughtBlock,
  toolIntent,
} from "./prompt/thoughts.ts";
export { type RedactOptions, redacted, secretNames, textRedaction } from "./redact.ts";
export { renderResult } from "./render.ts";
export { type Replay, type ReplayedRequest, replay } from "./replay.ts";
export type { RunResult } from "./result.ts";
export {
  emptyAnswers,
  malformedCalls,
  type OnTruncated,
  pauses,
  refusals,
  truncations,
} from "./rules/answers.ts";
export { degenerateAnswers } from "./rules/degenerate.ts";
export { type Budget, budget, deadline, maxSteps, type OnLimit } from "./rules/limits.ts";
export { repairs } from "./rules/repairs.ts";
export { type SkipRepeatedFailures, skipRepeatedFailures } from "./rules/repeated-failures.ts";
export { type Repeats, repeats } from "./rules/repeats.ts";
export { type Retry, retry } from "./rules/retry.ts";
export * from "./rules/rule.ts";
export { byContent } from "./rules/stop/by-content.ts";
export {
  type Answer,
  byStopReasonPolicy,
  type CallHistory,
  composite,
  continueBy,
  continueWithThinking,
  continueWithTools,
  duplicateDetection,
  type Policy,
  type PolicyDecision,
  standardPolicy,
  type TerminationReason,
  terminateImmediately,
  terminateWithOutput,
} from "./rules/stop/policy.ts";
export { defaultTexts, type Texts } from "./rules/texts.ts";
export {
  type CompiledSchema,
  compileSchema,
  type InferInput,
  type InferOutput,
  type SchemaLike,
} from "./schema.ts";
export { type Listener, Session, type SessionStatus } from "./session.ts";
export type { RunStream } from "./stream.ts";
export { cleanOutput } from "./terminal-text.ts";
export * from "./tool.ts";
export type { StepEvent } from "./views/steps.ts";
export type { StrategyMessage, StrategyViewOptions } from "./views/strategy-message.ts";
export { StrategyView, strategyMessages } from "./views/strategy-messages.ts";
export type { ContextItem, StrategyPrice } from "./views/strategy-metadata.ts";
export type { LeaseOptions } from "./writer.ts";
