// The room of models that differ from the others of their vendor's own server: the levels of reasoning they know, whether they
// take a schema, what they must be sent back.
//
// Names stand for what is served under them today. A model that is not here gets what its server's row says, and what it
// refuses is learned.

import type { CompatibleServer } from "./server.ts";

type Models = NonNullable<CompatibleServer["models"]>;

const effort = { reasoningParam: "reasoning_effort" } as const;

export const deepseekModels: Models = [
  // V4 and later miss the reasoning of any answer, not only of those with calls.
  { match: /deepseek-(?:v[4-9]|flash|pro)/i, compat: { echoReasoningOn: "all" } },
];

export const mistralModels: Models = [
  {
    match: /magistral|leanstral|vibe-cli|mistral-(?:medium|small)(?:-latest|-3(?:[-.]5)?|-26\d\d)?$/i,
    compat: { ...effort, efforts: ["none", "high"] },
  },
  // It always reasons.
  {
    match: /mistral-large-(?:latest|4)/i,
    compat: { ...effort, efforts: ["low", "medium", "high"] },
  },
  { match: /glm-5/i, compat: { ...effort, efforts: ["none", "high", "max"] } },
  { match: /glm-(?:5$|5-[3-9]|latest)/i, compat: { ...effort, efforts: ["low", "high", "max"] } },
  { match: /deepseek-v4/i, compat: { ...effort, efforts: ["none", "low", "high", "max"] } },
];

export const xaiModels: Models = [
  { match: /grok-4\.20/i, compat: { reasoningParam: "none" } },
  { match: /grok-4\.3/i, compat: { efforts: ["none", "low", "medium", "high", "xhigh"] } },
  {
    match: /grok-(?:4\.[5-9]|[5-9]|latest)/i,
    compat: { efforts: ["low", "medium", "high", "xhigh"] },
  },
];

export const zaiModels: Models = [
  { match: /glm-5\.2/i, compat: { efforts: ["high", "max"] } },
  { match: /glm-5\.[3-9]/i, compat: { efforts: ["low", "high", "max"] } },
];

export const moonshotModels: Models = [
  // It always thinks: how much is told by the effort.
  {
    match: /kimi-k3/i,
    compat: { ...effort, efforts: ["low", "high", "max"], forcedChoice: "always" },
    // A system message of tools alone.
    facts: { offersInPlace: true },
  },
];

export const alibabaModels: Models = [
  {
    match: /qwen3\.(?:7-(?:plus|flash|max)|8-(?:flash|max))(?:-|$)/i,
    compat: { structuredOutput: "json_schema" },
  },
  // Models that think on from what they have thought in earlier turns, if they are told to.
  {
    match: /qwen3\.(?:6-(?:plus|max)|7-(?:plus|flash|max)|8-(?:flash|max))(?:-|$)|kimi-k2\.7-code/i,
    compat: {
      echoReasoning: "reasoning_content",
      echoReasoningOn: "all",
      always: { preserve_thinking: true },
    },
  },
];
