// The room of what the quirks of a Chat Completions server may be set to.
//
// A misspelt quirk, or an unknown word for one, would leave the request as it is: the server refuses it, and nobody is told why.

import {
  type Check,
  data,
  either,
  finite0,
  flag,
  listOf,
  membersOf,
  object,
  oneOf,
  orNull,
  text,
  whole,
} from "@rondo/core/checks";
import { type OpenaiChatCompat, quirkWords } from "./compat.ts";

const known = membersOf<OpenaiChatCompat>({
  maxTokensField: oneOf(...quirkWords.maxTokensField),
  defaultMaxTokens: whole,
  systemRole: oneOf(...quirkWords.systemRole),
  systemFirstOnly: flag,
  echoReasoning: oneOf(...quirkWords.echoReasoning),
  echoReasoningOn: oneOf(...quirkWords.echoReasoningOn),
  reasoningFill: orNull(text),
  idForm: oneOf(...quirkWords.idForm),
  signedIds: flag,
  signCalls: flag,
  textBesideCalls: flag,
  singleCalls: flag,
  objectArguments: flag,
  toolNames: flag,
  spellRefs: flag,
  nullContent: flag,
  strictTools: flag,
  adaptStrict: flag,
  plainSchemas: either(flag, oneOf("typed")),
  describeLostRules: flag,
  structuredOutput: oneOf(...quirkWords.structuredOutput),
  structuredWithTools: flag,
  reasoningParam: oneOf(...quirkWords.reasoningParam),
  reasoningWithTools: flag,
  efforts: listOf(text),
  streamUsage: flag,
  toolChoiceAny: oneOf(...quirkWords.toolChoiceAny),
  forcedChoice: oneOf(...quirkWords.forcedChoice),
  noneChoice: flag,
  affinity: orNull(text),
  seedField: oneOf(...quirkWords.seedField),
  topK: flag,
  noAssistantLast: flag,
  needsUser: flag,
  bridgeToolUser: flag,
  alternate: flag,
  toolImages: flag,
  audioFormats: listOf(text),
  audioUrls: flag,
  lostAudio: listOf(text),
  audioExpiredAt: finite0,
  videos: oneOf(...quirkWords.videos),
  maxTools: whole,
  longestDescription: whole,
  toolsWithHistory: flag,
  thinkTags: oneOf(...quirkWords.thinkTags),
  endTokens: flag,
  harmony: flag,
  breakTokens: flag,
  cutsPrompts: flag,
  emptyRefusals: flag,
  splitChoices: flag,
  initiatorHeader: flag,
  omit: listOf(text),
  always: data,
  options: listOf(text),
});

/** Quirks as a user gives them. Null is the default, whatever is known of the server. */
export const chatQuirks: Check = (given) =>
  known(
    object(given) === undefined
      ? Object.fromEntries(Object.entries(given as object).filter(([, value]) => value !== null))
      : given,
  );
