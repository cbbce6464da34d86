// The room of the subjects: who takes part, over which protocol, and with what each is compared.

import type { WireProtocol } from "./bodies.ts";

export interface Subject {
  name: string;
  /** The name in reports. */
  title: string;
  kind: "floor" | "rondo" | "peer";
  /** `none`: the model is a function in the same process. */
  protocol: WireProtocol | "none";
  /** The subject whose CPU is the unit: the `fetch` loop of its protocol, or of Chat Completions without a wire. */
  floor: string;
  /** Relative to this file's folder. */
  file: string;
  /** The packages a user installs for it; with their dependencies they make up its install size. */
  packages: string[];
  /** Scenarios it cannot run, and why: printed in the table. */
  cannot?: Readonly<Record<string, string>>;
}

const floor = (name: string, title: string, protocol: Subject["protocol"], unit: string): Subject => ({
  name,
  title,
  kind: "floor",
  protocol,
  floor: unit,
  file: `../subjects/${name}.mjs`,
  packages: [],
});

const rondo = (name: string, title: string, protocol: Subject["protocol"], unit: string): Subject => ({
  ...floor(name, title, protocol, unit),
  kind: "rondo",
  // A copy of the file in subjects/, next to the built packages: see ready.ts.
  file: `../published/${name}.mjs`,
  packages: ["@rondo/core", "@rondo/models"],
});

const peer = (name: string, title: string, packages: string[], more: Partial<Subject> = {}): Subject => ({
  name,
  title,
  kind: "peer",
  protocol: "openai-chat",
  floor: "fetch",
  file: `../peers/${name}.mjs`,
  packages,
  ...more,
});

export const subjects: readonly Subject[] = [
  floor("fetch", "fetch by hand", "openai-chat", "fetch"),
  floor("node", "node:http by hand", "openai-chat", "fetch"),
  floor("kept", "node:http by hand, kept", "openai-chat", "fetch"),
  floor("pure", "node:http by hand, kept and pure", "openai-chat", "fetch"),
  rondo("rondo", "Rondo", "openai-chat", "fetch"),
  rondo("rondo-pulled", "Rondo, pulled", "openai-chat", "fetch"),
  rondo("rondo-fetch", "Rondo over fetch", "openai-chat", "fetch"),
  {
    ...rondo("rondo-wire", "Rondo, wire by hand", "openai-chat", "fetch"),
    packages: ["@rondo/core"],
  },
  rondo("rondo-model", "Rondo's model, loop by hand", "openai-chat", "fetch"),
  rondo("rondo-bare", "Rondo, all off", "openai-chat", "fetch"),
  {
    ...rondo("rondo-bare-wire", "Rondo, all off, wire by hand", "openai-chat", "fetch"),
    packages: ["@rondo/core"],
  },
  peer("ai-sdk", "Vercel AI SDK", ["ai", "@ai-sdk/openai-compatible"]),
  peer("pi", "pi", ["@earendil-works/pi-agent-core", "@earendil-works/pi-ai"]),
  peer("openai-runner", "OpenAI SDK, runTools", ["openai"]),
  peer("openai-agents", "OpenAI Agents JS", ["@openai/agents", "zod"]),
  peer("langchain", "LangChain, createAgent", ["langchain", "@langchain/core", "@langchain/openai"]),
  peer("langgraph", "LangGraph, prebuilt agent", [
    "@langchain/langgraph",
    "@langchain/core",
    "@langchain/openai",
  ]),
  peer("mastra", "Mastra", ["@mastra/core", "zod"]),
  peer("strands", "Strands", ["@strands-agents/sdk", "openai"]),
  floor("fetch-anthropic", "fetch by hand", "anthropic-messages", "fetch-anthropic"),
  floor("node-anthropic", "node:http by hand", "anthropic-messages", "fetch-anthropic"),
  floor("kept-anthropic", "node:http by hand, kept", "anthropic-messages", "fetch-anthropic"),
  floor("pure-anthropic", "node:http by hand, kept and pure", "anthropic-messages", "fetch-anthropic"),
  rondo("rondo-anthropic", "Rondo", "anthropic-messages", "fetch-anthropic"),
  {
    ...rondo("rondo-wire-anthropic", "Rondo, wire by hand", "anthropic-messages", "fetch-anthropic"),
    packages: ["@rondo/core"],
  },
  rondo("rondo-model-anthropic", "Rondo's model, loop by hand", "anthropic-messages", "fetch-anthropic"),
  peer("anthropic-runner", "Anthropic SDK, toolRunner", ["@anthropic-ai/sdk"], {
    protocol: "anthropic-messages",
    floor: "fetch-anthropic",
  }),
  floor("in-process", "loop by hand, no wire", "none", "fetch"),
  { ...rondo("rondo-in-process", "Rondo, no wire", "none", "fetch"), packages: ["@rondo/core"] },
];

/** Compromises in the comparison and their reasons: published with the results. */
export const notes: readonly string[] = [
  "Strands asks for openai 6 and is given the 7 that the OpenAI SDK's own runner is: they share a folder.",
  "The Anthropic SDK's runner is told `thread: false`: by default the server keeps the conversation and a request carries only what is new, which is other work.",
  "LangGraph's prebuilt agent is deprecated in favour of LangChain's `createAgent`, which is built on LangGraph too: both are here.",
  "Telemetry and tracing of the peers are off where they can be.",
  "Rondo tells its events to a function (`onEvent`), as the loops by hand do; pulled: from `Agent.stream`, one by one.",
  "Kept: the `node:http` loop with the least that keeps what Rondo promises, by hand; see `bench/subjects/kept-by-hand.mjs`.",
  "Rondo, wire by hand: Rondo's loop with a model that is the `node:http` loop's codec and transport, which writes the whole history anew for each request, as Rondo's own does not; see `bench/subjects/model-by-hand.mjs`.",
  "Rondo's model, loop by hand: Rondo's codec and transport under the loop that is kept and pure; see `bench/subjects/pure-over-model.mjs`.",
  "Rondo, all off: without the rules, repairs, context stages and conversions that have an option; see `bareAgentOver` in `bench/subjects/rondo-agent.mjs`.",
  "The Anthropic SDK speaks only its own protocol, so floors and Rondo are measured in both.",
];

export function subjectNamed(name: string): Subject {
  const found = subjects.find((one) => one.name === name);
  if (found === undefined)
    throw new Error(`there is no subject ${name}; there are ${subjects.map((one) => one.name).join(", ")}`);
  return found;
}

/** A Rondo subject that imports the workspace's sources, unbuilt: for tests, never for figures. */
export const fromSources = (subject: Subject): Subject => ({
  ...subject,
  file: subject.file.replace("../published/", "../subjects/"),
});
