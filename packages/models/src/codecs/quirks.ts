// The room of what the quirks of a server may be set to, protocol by protocol.
//
// A misspelt quirk, or an unknown word for one, would leave the request as it is: the server refuses it, and nobody is told
// why. The list of Chat Completions, the longest, has a room of its own.

import {
  type Check,
  type ChecksOf,
  count,
  either,
  flag,
  listOf,
  membersOf,
  number,
  object,
  oneOf,
  orNull,
  text,
  whole,
} from "@rondo/core/checks";
import type { AnthropicCompat, AnthropicOwnCompat } from "./anthropic/compat.ts";
import { type Traits, traitTypes } from "./anthropic/traits.ts";
import type { BedrockCompat } from "./bedrock/compat.ts";
import type { GeminiCompat } from "./google/target.ts";
import type { OllamaCompat } from "./ollama/compat.ts";
import { quirkWords } from "./openai-chat/compat.ts";
import type { ResponsesCompat } from "./openai-responses/compat.ts";
import type { OpenCompat, SharedCompat } from "./shared-compat.ts";

/** Quirks as a user gives them. Null is the default, whatever is known of the server. */
export function quirksOf<Compat>(checks: ChecksOf<Compat>): Check {
  const known = membersOf<Compat>(checks);
  return (given) =>
    known(
      object(given) === undefined
        ? Object.fromEntries(Object.entries(given as object).filter(([, value]) => value !== null))
        : given,
    );
}

const shared: ChecksOf<SharedCompat> = {
  affinity: orNull(text),
  emptyRefusals: flag,
  endTokens: flag,
  describeLostRules: flag,
};

const open: ChecksOf<OpenCompat> = {
  ...shared,
  thinkTags: oneOf(...quirkWords.thinkTags),
  plainSchemas: either(flag, oneOf("typed")),
};

const traits: ChecksOf<Traits> = {
  thinking: oneOf(...traitTypes.thinking),
  xhigh: flag,
  off: oneOf(...traitTypes.off),
  sampling: oneOf(...traitTypes.sampling),
  forcedTools: flag,
  hidesThinking: flag,
  output: flag,
  maxTokens: whole,
};

const messages: ChecksOf<AnthropicOwnCompat> = {
  cache: either(flag, oneOf("never")),
  unsignedThinking: flag,
  thinkingFill: orNull(text),
  unbindsThinking: flag,
  lacksLevels: listOf(text),
  alternate: flag,
  resultsAlone: flag,
  noneChoice: flag,
  signedIds: flag,
  fetchesUrls: flag,
  resumesPauses: flag,
  containers: oneOf("turn"),
  refusedBlocks: listOf(text),
  refusedMembers: listOf(text),
};

const { unsignedThinking, unbindsThinking, lacksLevels, resultsAlone } = messages;

/** By the protocol's name, as in `Origin.api`. */
export const quirkChecks: { readonly [api: string]: Check } = {
  "anthropic-messages": quirksOf<AnthropicCompat>({ ...traits, ...messages, ...open }),
  "bedrock-converse": quirksOf<BedrockCompat>({
    ...traits,
    ...{ unsignedThinking, unbindsThinking, lacksLevels, resultsAlone },
    ...open,
    cache: flag,
    systemRole: oneOf("system", "user"),
    callsAlone: flag,
  }),
  "ollama-chat": quirksOf<OllamaCompat>({
    ...open,
    numCtx: count,
    keepAlive: either(text, number),
    format: oneOf("json"),
    thinkLevels: flag,
    noAssistantLast: flag,
  }),
  "google-generative-ai": quirksOf<GeminiCompat>({
    ...shared,
    variant: oneOf("gemini", "vertex"),
    project: text,
    location: text,
    apiVersion: text,
    schemas: oneOf("json_schema", "openapi", "structured", "strict"),
    mediaInResults: flag,
    spellRefs: flag,
    needsSignatures: flag,
    ownSignatures: flag,
    thinking: oneOf("level", "budget", "none"),
    lacksLevels: listOf(text),
    xhigh: flag,
    alwaysThinks: flag,
    penalties: flag,
    systemRole: oneOf("system", "user"),
    alternate: flag,
    resumesPauses: flag,
    callIds: oneOf("echo", "always", "never"),
    streamArguments: flag,
    resultKey: oneOf("output", "result"),
  }),
  "openai-responses": quirksOf<ResponsesCompat>({
    ...open,
    lacksLevels,
    systemRole: oneOf("developer", "system", "user"),
    instructions: flag,
    systemFirstOnly: flag,
    alternate: flag,
    bridgeToolUser: flag,
    spellRefs: flag,
    noAssistantLast: flag,
    forcedChoice: either(oneOf("never"), flag),
    noneChoice: flag,
    toolFiles: flag,
    plainReasoning: flag,
    readableReasoning: flag,
    encryptedReasoning: flag,
    strictTools: flag,
    adaptStrict: flag,
    maxTools: whole,
    longestDescription: whole,
    signedIds: flag,
    omitInItems: listOf(text),
    itemStatus: flag,
    nativeItems: flag,
    lostContainers: listOf(text),
    omit: listOf(text),
    options: listOf(text),
  }),
};
