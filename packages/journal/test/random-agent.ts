// The room of the agent that several processes drive by chance, and the test after them.

import { Agent, type Journal, type Model, type Tool, tool } from "@rondo/core";

interface Given {
  journal: Journal;
  model: Model;
  /** Gets the key of each call of a write that runs. */
  ran(key: string): Promise<string>;
  leaseMs: number;
}

export function chanceAgent({ journal, model, ran, leaseMs }: Given): Agent {
  const inputSchema = { type: "object", properties: { n: { type: "number" } } } as const;
  const made = (name: string, more: object): Tool =>
    tool({
      name,
      description: name,
      inputSchema,
      execute: (_, { idempotencyKey }) => ran(idempotencyKey),
      ...more,
    });
  return new Agent({
    journal,
    model,
    lease: { ttlMs: leaseMs },
    retry: { attempts: 2, baseMs: 1 },
    abortGraceMs: 50,
    maxSteps: 12,
    tools: [
      made("look", { effect: "read", execute: () => "seen" }),
      made("save", {}),
      made("press", { permission: "ask" }),
    ],
  });
}
