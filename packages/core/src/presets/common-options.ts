// The room of the presets' common options: the journal, the listeners, and what replaces something that fails.
//
// They are set on the agent, next to what a preset makes. A preset may have any other option itself, under another name.

import type { AgentOptions } from "../options/agent-options.ts";

const agents: ReadonlySet<string> = new Set([
  "blobs",
  "budget",
  "clock",
  "dependencies",
  "fallback",
  "journal",
  "lease",
  "logger",
  "models",
  "redact",
] satisfies (keyof AgentOptions)[]);

/** Explains where to set an option that presets do not have. */
export const besides =
  (preset: string) =>
  (name: string): string | undefined =>
    agents.has(name)
      ? `it is an option of the agent and none of the preset: new Agent({ ...${preset}(options), ${name}: … })`
      : undefined;
