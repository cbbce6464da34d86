// The room of the presets' common options: where a run is kept, who is told, what stands in for what fails.
//
// They are set on the agent, beside what a preset makes. Every other option may be a preset's own under another name.

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

/** Says of an option that presets have no word on where it goes. */
export const besides =
  (preset: string) =>
  (name: string): string | undefined =>
    agents.has(name)
      ? `it is an option of the agent and none of the preset: new Agent({ ...${preset}(options), ${name}: … })`
      : undefined;
