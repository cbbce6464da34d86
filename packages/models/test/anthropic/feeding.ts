// Not a test: recorded and made-up streams, fed to a decoder in every chunking.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AssistantMessage, Json, ModelEvent, Origin } from "@rondo/core";
import type { Codec, Target } from "../../src/codec.ts";
import { SseDecoder } from "../../src/transport/sse.ts";

export const corpus: string | undefined = process.env.RONDO_CORPUS;
if (corpus === undefined || !existsSync(corpus))
  console.warn("RONDO_CORPUS names no folder: tests over recorded transcripts are skipped");
export const hasCorpus: boolean = corpus !== undefined && existsSync(corpus);

export function recorded(folder: string, ending: string): string[] {
  if (!hasCorpus) return [];
  return readdirSync(join(corpus as string, folder)).filter((name) => name.endsWith(ending));
}

export function readRecorded(folder: string, name: string): string {
  return readFileSync(join(corpus as string, folder, name), "utf8");
}

export function targetOf(api: string, provider: string, model: string, rest: Partial<Target> = {}): Target {
  const origin: Origin = { api, provider, model };
  return { origin, facts: {}, ...rest };
}

/** Events as the SSE bytes of Anthropic's server. */
export function sse(events: readonly Json[]): string {
  return events
    .map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join("");
}

export interface Outcome {
  message?: AssistantMessage;
  error?: unknown;
  events: ModelEvent[];
  finished: boolean;
  partial: AssistantMessage | undefined;
}

/** Decodes a body given in these chunks. */
export function decodeChunks(codec: Codec, target: Target, chunks: readonly Uint8Array[]): Outcome {
  const events: ModelEvent[] = [];
  const decoder = codec.decoder(target, (event) => events.push(event));
  const framer = new SseDecoder((frame) => decoder.push(frame));
  try {
    for (const chunk of chunks) framer.push(chunk);
    framer.end();
    return { message: decoder.end(), events, finished: decoder.finished, partial: decoder.partial() };
  } catch (error) {
    return { error, events, finished: decoder.finished, partial: decoder.partial() };
  }
}

export const feedings: readonly [string, (body: string) => Uint8Array[]][] = [
  ["frame by frame", (body) => body.split(/(?<=\n\n)/).map((frame) => new TextEncoder().encode(frame))],
  ["byte by byte", (body) => [...new TextEncoder().encode(body)].map((byte) => Uint8Array.of(byte))],
  ["all at once", (body) => [new TextEncoder().encode(body)]],
];

/** Decodes in all three feedings and insists that they agree. */
export function decodeEveryWay(codec: Codec, target: Target, body: string): Outcome {
  const outcomes = feedings.map(([, split]) => decodeChunks(codec, target, split(body)));
  const [first, ...others] = outcomes as [Outcome, ...Outcome[]];
  for (const other of others)
    if (JSON.stringify(comparable(other)) !== JSON.stringify(comparable(first)))
      throw new Error(
        `the outcome depends on the chunking:\n${JSON.stringify(comparable(first))}\n${JSON.stringify(comparable(other))}`,
      );
  return first;
}

function comparable(outcome: Outcome): unknown {
  const { error } = outcome;
  return { ...outcome, error: error instanceof Error ? `${error.name} ${error.message}` : error };
}

/** Decodes events and insists on an answer. */
export function answerTo(codec: Codec, target: Target, events: readonly Json[]): AssistantMessage {
  const { message, error } = decodeEveryWay(codec, target, sse(events));
  if (message === undefined) throw error;
  return message;
}
