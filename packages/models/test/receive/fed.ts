// An answer from its bytes, through framing and codec, in three cuts that must come to the same.

import type { AssistantMessage, ModelEvent, RondoError } from "@rondo/core";
import { expect } from "vitest";
import type { Codec, Target } from "../../src/codec.ts";
import { receive } from "../../src/receive.ts";

export const targetOf = (codec: Codec): Target => ({
  origin: { api: codec.api, provider: "test", model: "m" },
  facts: {},
});

async function once(
  codec: Codec,
  chunks: readonly Uint8Array[],
  emit: (event: ModelEvent) => void,
): Promise<AssistantMessage> {
  const response = {
    status: 200,
    header: () => null,
    discard: () => {},
    read: async (sink: (chunk: Uint8Array) => boolean | undefined) => {
      for (const chunk of chunks) if (sink(chunk) === false) return;
    },
  };
  return await receive(response, codec, targetOf(codec), { emit });
}

/** What some frames come to: the same events, and an answer or what is thrown, whatever the cut. */
export async function outcome(
  codec: Codec,
  frames: readonly string[],
): Promise<{ answer?: AssistantMessage; error?: RondoError; events: ModelEvent[] }> {
  const bytes = frames.map((frame) => new TextEncoder().encode(frame));
  const whole = new TextEncoder().encode(frames.join(""));
  const cuts = [bytes, [...whole].map((one) => Uint8Array.of(one)), [whole]];
  const told = await Promise.all(
    cuts.map((cut) => {
      const events: ModelEvent[] = [];
      return once(codec, cut, (event) => events.push(event)).then(
        (answer) => ({ answer, events }),
        (error: RondoError) => ({ error, events }),
      );
    }),
  );
  const seen = told.map((one) =>
    JSON.stringify([
      one.events.map((event) => ("id" in event ? { ...event, id: "" } : event)),
      "answer" in one ? withoutIds(one.answer) : { ...one.error, message: one.error.message },
    ]),
  );
  expect(new Set(seen).size, seen.join("\n")).toBe(1);
  return told[0] ?? { events: [] };
}

/** Ids that are made here differ from run to run. */
const withoutIds = (answer: AssistantMessage): AssistantMessage => ({
  ...answer,
  content: answer.content.map((part) => (part.type === "tool_call" ? { ...part, id: "" } : part)),
});

export const data = (...values: readonly (object | string)[]): string[] =>
  values.map((value) => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`);

export const event = (name: string, value: object | string): string =>
  `event: ${name}\ndata: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;

export const lines = (...values: readonly object[]): string[] =>
  values.map((value) => `${JSON.stringify(value)}\n`);

export const chunk = (delta: unknown, finish_reason: unknown = null): object => ({
  choices: [{ index: 0, delta, finish_reason }],
});

export const textOf = ({ answer }: { answer?: AssistantMessage }): string | undefined =>
  answer?.content.map((part) => (part.type === "text" ? part.text : "")).join("");

/** The calls as name and arguments; undefined arguments could not be read. */
export const callsOf = ({ answer }: { answer?: AssistantMessage }): unknown[] =>
  (answer?.content ?? []).flatMap((part) =>
    part.type === "tool_call" ? [[part.name, part.argsError === undefined ? part.args : undefined]] : [],
  );
