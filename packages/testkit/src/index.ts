// The face of @rondo/testkit.
export { type BlobStoreCase, type BlobStoreUnderTest, blobStoreSuite } from "./blob-suite.ts";
export { type Cassette, cassette, cassetteTools, replayTest } from "./cassette.ts";
export type { Recording } from "./cassette-tape.ts";
export {
  coreSession,
  type DrivenSession,
  type DriverCase,
  type DriverUnderTest,
  driverSuite,
} from "./driver-suite.ts";
export {
  type JournalCase,
  type JournalUnderTest,
  journalSuite,
  sampleRecord,
  sampleRecords,
} from "./journal-suite.ts";
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
export { type ChatRules, checkOpenaiChatRequest, type Violation } from "./wire/rules/openai-chat.ts";
export { checkOpenaiResponsesRequest } from "./wire/rules/openai-responses.ts";
