// The exports of @rondo/core.
export { Agent, type StepStream } from "./agent.ts";
export { type Clock, longestWait, systemClock } from "./clock.ts";
export type {
  CapFacts,
  CapOptions,
  HeadTailCap,
  HeadTailNumbers,
  LinesCap,
  ReaderOptions,
} from "./context/cap/cap-options.ts";
export { headTailNumbers } from "./context/cap/cap-options.ts";
export { type ExcerptAbout, excerptOf } from "./context/cap/excerpt.ts";
export { capText, maxResultChars, noticeSuffix, type TextCap } from "./context/cap/head-tail.ts";
export { firstLines, type Kept } from "./context/cap/lines.ts";
export {
  capMessage,
  capMessages,
  isOversized,
  type MessagesCap,
  type Shrunk,
  shrinkHistory,
} from "./context/cap/messages.ts";
export {
  assemble,
  type Compacted,
  failureNote,
  type Unhelpful,
} from "./context/compact/assemble.ts";
export { stagedBounds } from "./context/compact/in-parts.ts";
export {
  emptyLedger,
  foldLedger,
  type Ledger,
  type LedgerBounds,
  type LedgerEntry,
  type LedgerKind,
  ledgerEntries,
  renderLedger,
} from "./context/compact/ledger.ts";
export { parseSummary, type Summary } from "./context/compact/parse.ts";
export { pruneToShare, type Shared, type ShareFacts } from "./context/compact/plain-cut.ts";
export { type CompactionFacts, type CompactionPlan, planCompaction } from "./context/compact/plan.ts";
export { mustPreserve, summaryRequest } from "./context/compact/request.ts";
export {
  type CompactionFormat,
  type CompactionOptions,
  type CompactionSettings,
  compactionSettings,
} from "./context/compact/settings.ts";
export { compactionDue, compactionLimit } from "./context/compact/threshold.ts";
export { applyEdit } from "./context/edit.ts";
export {
  type CharWeights,
  charEstimator,
  countedTokens,
  countedWith,
  type Estimator,
  estimateRequest,
  guardWeights,
  lastCounted,
  plainWeights,
  pruneWeights,
  type RequestEstimate,
  tokenizerEstimator,
} from "./context/estimate.ts";
export {
  type GuardedContext,
  type GuardHookOptions,
  guardedContext,
  type TransformContext,
} from "./context/guard/hook.ts";
export {
  fittingOutput,
  type Route,
  type RouteAnswer,
  type RouteAsk,
  routeOf,
} from "./context/guard/route.ts";
export { reducibleChars, shortenResults } from "./context/guard/shorten.ts";
export { type Guarded, type GuardOptions, guard, guardLimits, guardTexts } from "./context/guard.ts";
export { type ContextFacts, type ContextOptions, contextFacts, noContext } from "./context/options.ts";
export { type PruneOptions, type PruneSettings, pruneSettings } from "./context/prune/settings.ts";
export { type PruneAt, type Pruned, prune, pruneNow } from "./context/prune.ts";
export { type LineAsk, type PageAsk, readLine, readLines } from "./context/reader-tools/pages.ts";
export { PatternError, type SearchAsk, searchLines } from "./context/reader-tools/search.ts";
export { readerTools } from "./context/reader-tools.ts";
export { closeOpenCalls, isPaired } from "./context/repair/pairing.ts";
export { type RepairPolicy, type RepairTexts, repairTexts } from "./context/repair/policy.ts";
export { repairHistory } from "./context/repair.ts";
export {
  knownWindow,
  type Replacement,
  type Staged,
  type StageNote,
  type WindowFacts,
} from "./context/stage.ts";
export {
  refIn,
  type TrimOptions,
  type TrimSettings,
  trim,
  trimBudget,
  trimmedResult,
  trimSettings,
} from "./context/trim.ts";
export { type ContextAccount, type ContextSource, contextSources } from "./context/window-usage.ts";
export * from "./errors.ts";
export type * from "./events.ts";
export { composeHooks } from "./hooks/compose.ts";
export type * from "./hooks.ts";
export { withoutTags } from "./input/sanitize.ts";
export { cleanOutput } from "./input/terminal-text.ts";
export type { FileInput, Input, MessageInput } from "./input.ts";
export {
  type BlobInfo,
  type BlobLimits,
  type BlobOrigin,
  type BlobPut,
  type BlobStore,
  blobInfo,
  blobLimits,
  blobRef,
  memoryBlobs,
  refTaken,
  refusesBlob,
  safeRef,
} from "./journal/blobs.ts";
export { checkAppend, checkFrom, checkSessionId, checkSize, type SizeBounds } from "./journal/checks.ts";
export { type FollowOptions, follow } from "./journal/follow.ts";
export {
  afterDeleted,
  checkToken,
  checkUnheld,
  isHeld,
  type LeaseState,
  releaseLease,
  renewLease,
  takeLease,
} from "./journal/lease.ts";
export {
  type MemoryJournal,
  type MemoryJournalOptions,
  memoryJournal,
  Watchers,
} from "./journal/memory.ts";
export { type Migrations, RecordJudge, RecordReader } from "./journal/migrations.ts";
export { isSubAgentOf, withSubAgents } from "./journal/sub-agents.ts";
export type { LeaseOptions } from "./journal/writer.ts";
export type * from "./journal.ts";
export { base64, isBytes } from "./json/base64.ts";
export { canonical } from "./json/digest.ts";
export { parsedJson } from "./json/parse.ts";
export type { Logger } from "./logger.ts";
export type { Action, HookAsk } from "./loop/action.ts";
export type {
  AgentFacts,
  Amounts,
  AskedQuestion,
  BroughtResult,
  ChildCall,
  ParentFacts,
  PassedAnswer,
  Spent,
  WaitingCall,
} from "./loop/child-facts.ts";
export { freeAmounts, type Share, sharesOf, spentBy } from "./loop/children.ts";
export type { Row } from "./loop/deciding/row.ts";
export { decide, next, type Table, table } from "./loop/next.ts";
export { type Phase, phaseOf } from "./loop/phase.ts";
export * from "./loop/records.ts";
export { reduce, reduceAll } from "./loop/reduce.ts";
export { repairOfFile } from "./loop/request/omissions.ts";
export { requestName } from "./loop/request/prefix.ts";
export { requestOf } from "./loop/request.ts";
export * from "./loop/run-options.ts";
export {
  type Call,
  emptyState,
  type Question,
  type Queued,
  type Run,
  type RunState,
  type State,
  type Turn,
} from "./loop/state.ts";
export * from "./message.ts";
export * from "./model.ts";
export type { AgentOptions, RunOverrides } from "./options/agent-options.ts";
export { type Resolved, resolve } from "./options/options.ts";
export type { Adapt } from "./options/wrappers.ts";
export type { Partially } from "./output/partial.ts";
export type { OutputReading } from "./output/structured.ts";
export type { LongPromptRates, Price, Rates } from "./price.ts";
export {
  defaultPolicy,
  type PolicyKey,
  type PromptPolicy,
  policyKeys,
  promptPolicy,
} from "./prompt/policy.ts";
export {
  isSilentAnswer,
  isSilentPrefix,
  isSilentReply,
  SilentFilter,
  type SilentOptions,
  silentTokens,
  stripSilentToken,
} from "./prompt/silent.ts";
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
export { type RedactOptions, redacted, secretHeader, secretNames, textRedaction } from "./redact.ts";
export { pendingInside, type RunResult } from "./result.ts";
export {
  emptyAnswers,
  malformedCalls,
  type OnTruncated,
  pauses,
  refusals,
  truncations,
} from "./rules/answers.ts";
export { maxCalls } from "./rules/call-limits.ts";
export { degenerateAnswers } from "./rules/degenerate.ts";
export { type ArgsPattern, type Grant, type HeldGrant, isLiveGrant } from "./rules/grants.ts";
export { type Budget, budget, deadline, maxSteps, type OnLimit } from "./rules/limits.ts";
export { maxFailures } from "./rules/max-failures.ts";
export { mustCall } from "./rules/must-call.ts";
export { mustNotSay } from "./rules/must-not-say.ts";
export { repairs } from "./rules/repairs.ts";
export { type SkipRepeatedFailures, skipRepeatedFailures } from "./rules/repeated-failures.ts";
export { type DetectorName, detectorNames } from "./rules/repeats/detectors.ts";
export {
  type LoopDetection,
  type LoopDetectionMemory,
  loopDetection,
} from "./rules/repeats/loop-detection.ts";
export { type Repeats, type RepeatsMemory, repeats } from "./rules/repeats.ts";
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
  stepLimited,
  type TerminationReason,
  terminateImmediately,
  terminateWithOutput,
} from "./rules/stop/policy.ts";
export { stopAfter } from "./rules/stop-after.ts";
export { type RunView, type StopOptions, type StopRule, stopWhen } from "./rules/stop-when.ts";
export { defaultTexts, type Texts } from "./rules/texts.ts";
export { foreignSchema } from "./schema/foreign.ts";
export type { UnknownKeys } from "./schema/unknown-keys.ts";
export {
  type CheckHow,
  type CompiledSchema,
  compileSchema,
  type InferInput,
  type InferOutput,
  type SchemaLike,
} from "./schema.ts";
export type { Always } from "./session/always-grant.ts";
export type { Misfit } from "./session/approvals.ts";
export { changeText } from "./session/changes.ts";
export type { ForkOptions } from "./session/fork.ts";
export { type Difference, type Replay, type ReplayedRequest, replay } from "./session/replay.ts";
export { requestChanges, type ValueChange } from "./session/request-changes.ts";
export { Session, type SessionStatus } from "./session.ts";
export type { StepEvent } from "./steps.ts";
export type { RunStream } from "./stream.ts";
export { type SubAgentOptions, subAgent } from "./sub-agent.ts";
export { type Dependency, dependency, type Given, type PassedOn, type Provided } from "./tool/dependency.ts";
export { toolWith } from "./tool/derive.ts";
export type { Effect, Permission } from "./tool/effect.ts";
export type { Returned } from "./tool/output-check.ts";
export type { ToolOutput } from "./tool/outputs.ts";
export { renderResult } from "./tool/render.ts";
export {
  DoneSignal,
  RecordedResult,
  TaskComplete,
  ToolResult,
  type ToolSpending,
  toolResult,
  WaitForAnswer,
  waitForAnswer,
} from "./tool/tool-result.ts";
export {
  type ArgsCheck,
  type ArgumentDefaults,
  type ChildPlace,
  type ChildStart,
  ChildWaits,
  type Reconciled,
  type Tool,
  type ToolContext,
  type ToolOptions,
  type TypedTool,
  tool,
} from "./tool.ts";
