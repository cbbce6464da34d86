// The face of @rondo/testkit.
export { type BlobStoreUnderTest, testBlobs } from "./blob-suite.ts";
export { type Cassette, cassette, cassetteTools, replayTest } from "./cassette.ts";
export type { Recording } from "./cassette-tape.ts";
export type { Check, RegisterTest } from "./check.ts";
export { coreSession, type DrivenSession } from "./driven-session.ts";
export { type DriverUnderTest, testDriver } from "./driver-suite.ts";
export { sampleRecord, sampleRecords } from "./journal-samples.ts";
export { type JournalUnderTest, testJournal } from "./journal-suite.ts";
export { differences, type Wanted } from "./matchers/difference.ts";
export { expectRun } from "./matchers/expect-run.ts";
export {
  type CalledOptions,
  type MatcherResult,
  type OrderedCall,
  type RondoMatchers,
  rondoMatchers,
  type WantedNumber,
  type WantedSpending,
} from "./matchers/matchers.ts";
export type { RunSubject, ToldSpending } from "./matchers/story.ts";
export type { ModelLack, OpenModel } from "./model-asking.ts";
export { type ModelUnderTest, testModel } from "./model-suite.ts";
export {
  type BrokenPromise,
  type ModelCheck,
  type ModelCheckOptions,
  modelCheck,
} from "./modelcheck/model-check.ts";
export { type PresetUnderTest, testPreset } from "./preset-suite.ts";
export {
  type Decide,
  type Script,
  type ScriptedModel,
  type ScriptedOptions,
  type SeenRequest,
  scripted,
} from "./scripted.ts";
export {
  type Act,
  badArgs,
  type CallOptions,
  call,
  calls,
  cut,
  emit,
  empty,
  type FailOptions,
  fail,
  type Held,
  hold,
  late,
  misorder,
  part,
  refuse,
  type Stalled,
  say,
  stall,
  stop,
  type Turn,
  think,
  throwing,
  tick,
  usage,
} from "./scripted-turns.ts";
export { type ToolUnderTest, testTool } from "./tool-suite.ts";
export { type ChatRules, checkOpenaiChatRequest, type Violation } from "./wire/rules/openai-chat.ts";
export { checkOpenaiResponsesRequest } from "./wire/rules/openai-responses.ts";
