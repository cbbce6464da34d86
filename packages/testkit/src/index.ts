// The exports of @rondo/testkit.

export type { Recording } from "./cassette/tape.ts";
export { type Cassette, cassette, cassetteTools, replayTest } from "./cassette.ts";
export { differences, type Wanted } from "./matchers/difference.ts";
export { expectRun } from "./matchers/expect-run.ts";
export type { CalledOptions, WantedNumber, WantedSpending } from "./matchers/expected.ts";
export {
  type MatcherResult,
  type OrderedCall,
  type RondoMatchers,
  rondoMatchers,
} from "./matchers/matchers.ts";
export type { RunSubject, ToldSpending } from "./matchers/story.ts";
export {
  type BrokenPromise,
  type ModelCheck,
  type ModelCheckOptions,
  modelCheck,
} from "./modelcheck/model-check.ts";
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
} from "./scripted/turns.ts";
export {
  type Decide,
  type Script,
  type ScriptedModel,
  type ScriptedOptions,
  type SeenRequest,
  scripted,
} from "./scripted.ts";
export { type BlobStoreUnderTest, testBlobs } from "./suites/blobs.ts";
export type { Check, RegisterTest } from "./suites/check.ts";
export { coreSession, type DrivenSession } from "./suites/drivers/driven-session.ts";
export { type DriverUnderTest, testDriver } from "./suites/drivers.ts";
export { sampleRecord, sampleRecords } from "./suites/journals/samples.ts";
export { type JournalUnderTest, testJournal } from "./suites/journals.ts";
export type { ModelLack, OpenModel } from "./suites/models/asking.ts";
export { type ModelUnderTest, testModel } from "./suites/models.ts";
export { type PresetUnderTest, testPreset } from "./suites/presets.ts";
export { type ToolUnderTest, testTool } from "./suites/tools.ts";
export { toolContext } from "./tool-context.ts";
export { type ChatRules, checkOpenaiChatRequest } from "./wire/rules/openai-chat.ts";
export { checkOpenaiResponsesRequest } from "./wire/rules/openai-responses.ts";
export type { Violation } from "./wire/rules/violation.ts";
