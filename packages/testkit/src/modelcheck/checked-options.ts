// The room of the checked run's options: tools of each kind that matters to the loop, and limits that are soon reached.

import type { RunOptions } from "@rondo/core";

export const origin = { api: "checked", provider: "checked", model: "checked" };

/** A tool of each kind that matters to the loop. */
export function checkedTools(): RunOptions["tools"] {
  return [toolFacts("read", "read"), toolFacts("write", "write"), toolFacts("guarded", "write", "ask")];
}

/** Tools whose writes say what came of them when they were cut off. */
export const reconcilingTools = (): RunOptions["tools"] => [
  toolFacts("read", "read"),
  toolFacts("write", "write", "allow", { reconciles: true }),
  toolFacts("guarded", "write", "ask", { reconciles: true }),
];

/** Options of a run whose results may be cut, and the tool that reads them. */
export function cuttingOptions(): Partial<RunOptions> {
  const cap = { mode: "lines", bytes: 3, exempt: [], keep: "cut", withFiles: "cut_text" } as const;
  const reader = { ...toolFacts("reader", "read"), when: "capped" as const };
  return { context: { cap: { ...cap, exempt: [] } }, tools: [...checkedTools(), reader] };
}

/** Options of a run with a tool that waits until a result offers it. */
export function offeringOptions(): Partial<RunOptions> {
  return { tools: [...checkedTools(), { ...toolFacts("late", "write"), when: "offered" }] };
}

/** Options of a run whose reads are sub-agents. */
export function parentOptions(): Partial<RunOptions> {
  const [read, ...others] = checkedTools();
  return {
    tools: [
      { ...(read as RunOptions["tools"][number]), effect: "idempotent", agent: { maxDepth: 1 } },
      ...others,
    ],
  };
}

function toolFacts(
  name: string,
  effect: "read" | "write",
  permission: "allow" | "ask" = "allow",
  more: Partial<RunOptions["tools"][number]> = {},
): RunOptions["tools"][number] {
  return {
    definition: { name, description: name, inputSchema: { type: "object", properties: {} } },
    effect,
    permission,
    timeoutMs: 1_000,
    ...more,
  };
}

/** Options for a checked run; a part may be replaced. */
export function checkedOptions(change: Partial<RunOptions> = {}): RunOptions {
  return {
    tools: checkedTools(),
    models: [
      { id: "first", origin, facts: { maxOutputTokens: 2_000 } },
      { id: "second", origin, facts: {} },
    ],
    settings: { maxOutputTokens: 1_000 },
    toolChoice: "auto",
    hooks: [],
    rules: [],
    toolOrder: "by_effect",
    maxConcurrentTools: 2,
    maxCallsPerTurn: 3,
    autoExecuteTools: true,
    abortGraceMs: 100,
    clocks: { connectMs: 10, firstByteMs: 10, idleMs: 10, totalMs: 10 },
    ...change,
  };
}
