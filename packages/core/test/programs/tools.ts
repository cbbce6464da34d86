// The room of the tools: what the models of a program can call, and what ran is remembered.

import { type Tool, tool, waitForAnswer } from "@rondo/core";
import type { Gates } from "./gates.ts";

const schema = { type: "object", properties: { n: { type: "number" } } } as const;

/** @param ran gets the key of each call that ran, as often as it ran */
export function toolsOf(gates: Gates, ran: string[]): Tool[] {
  return [
    tool({
      name: "look",
      description: "Looks",
      inputSchema: schema,
      effect: "read",
      execute: async (_, { signal }) => {
        await gates.pass(signal);
        return "seen";
      },
    }),
    tool({
      name: "save",
      description: "Saves, whoever wants it to stop",
      inputSchema: schema,
      execute: async (_, { idempotencyKey }) => {
        ran.push(idempotencyKey);
        await gates.pass();
        return "saved";
      },
    }),
    tool({
      name: "press",
      description: "Presses a button",
      inputSchema: schema,
      permission: "ask",
      execute: (_, { idempotencyKey }) => {
        ran.push(idempotencyKey);
        return "pressed";
      },
    }),
    tool({
      name: "buy",
      description: "Buys, once it knows how many",
      inputSchema: schema,
      execute: (_, { idempotencyKey }): unknown => {
        ran.push(`${idempotencyKey}, until it asked`);
        return waitForAnswer("How many?");
      },
      resume: (_, answer, { idempotencyKey }) => {
        ran.push(idempotencyKey);
        return `bought ${JSON.stringify(answer)}`;
      },
    }),
    tool({
      name: "boom",
      description: "Throws",
      inputSchema: schema,
      effect: "read",
      execute: () => {
        throw new Error("boom");
      },
    }),
  ];
}
