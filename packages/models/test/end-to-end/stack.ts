// Our own stack against rondo-wire: every provider as a user makes it, its server on the loopback.

import {
  type Agent,
  type AssistantMessage,
  isPaired,
  type Model,
  RondoError,
  type RondoEvent,
  type RunResult,
  type Tool,
  tool,
  userText,
} from "@rondo/core";
import { call, say, think } from "@rondo/testkit";
import {
  type RondoWire,
  rondoWire,
  type WireOptions,
  type WireScript,
  type WireTurn,
} from "@rondo/testkit/wire";
import { expect, onTestFinished } from "vitest";
import { z } from "zod";
import { anthropic, bedrock, google, openai, type ProviderOptions } from "../../src/index.ts";

/** A provider's row: its model at a wire server. */
export interface Row {
  name: "anthropic" | "openai" | "openai-chat" | "google" | "bedrock";
  model(wire: RondoWire, options?: ProviderOptions & { id?: string }): Model;
}

const at = (name: Row["name"], id: string, make: (id: string, options: ProviderOptions) => Model): Row => ({
  name,
  model: (wire, { id: own = id, ...options } = {}) =>
    make(own, { apiKey: "key-of-the-tests", baseURL: wire.urlFor(name), ...options }),
});

export const rows: readonly Row[] = [
  at("anthropic", "claude-sonnet-5", anthropic),
  at("openai", "gpt-5.2", openai),
  at("openai-chat", "gpt-5.2", openai.chat),
  at("google", "gemini-3-pro", google),
  at("bedrock", "anthropic.claude-sonnet-5-v1:0", bedrock),
];

export type Mode = { chunks: "frame" | "byte" | "whole"; stream: boolean };

/** Streams in the three chunkings, and whole answers. */
export const modes: readonly Mode[] = [
  { chunks: "frame", stream: true },
  { chunks: "byte", stream: true },
  { chunks: "whole", stream: true },
  { chunks: "frame", stream: false },
];

export const cells: readonly { row: Row; mode: Mode; name: string }[] = rows.flatMap((row) =>
  modes.map((mode) => ({
    row,
    mode,
    name: `${row.name}, ${mode.stream ? `streamed by the ${mode.chunks}` : "whole"}`,
  })),
);

/** A wire server for the running test; at its end everything that was sent must have kept every rule. */
export async function serve(
  script: WireScript,
  { stream: _, ...options }: Omit<WireOptions, "script"> & Partial<Mode> = {},
): Promise<RondoWire> {
  const wire = await rondoWire({ script, chunk: 4, ...options });
  onTestFinished(() => wire.close());
  return wire;
}

/** What must hold after every run, whatever came of it. */
export function expectValid(wire: RondoWire, ...results: readonly RunResult<unknown>[]): void {
  expect(wire.violations).toEqual([]);
  expect(wire.problems).toEqual([]);
  for (const { messages } of results) expect(isPaired(messages)).toBe(true);
}

/** A run with the events it told. */
export async function watched<Output>(
  agent: Agent<Output>,
  input: string,
): Promise<{ result: RunResult<Output>; events: RondoEvent[] }> {
  const events: RondoEvent[] = [];
  const result = await agent.run(input, { onEvent: (event) => events.push(event) });
  return { result, events };
}

/** The events of one type. */
export function of<T extends RondoEvent["type"]>(
  events: readonly RondoEvent[],
  type: T,
): Extract<RondoEvent, { type: T }>[] {
  return events.filter((event): event is Extract<RondoEvent, { type: T }> => event.type === type);
}

export const weather: Tool = tool({
  name: "weather",
  description: "Weather of a city",
  inputSchema: z.object({ city: z.string() }),
  effect: "read",
  execute: ({ city }) => `-5 degrees in ${city}`,
});

/** One attempt: the answer, or its error. */
export async function attempt(model: Model): Promise<AssistantMessage | RondoError> {
  try {
    return await model.call(
      {
        messages: [userText("hi")],
        tools: [weather.definition],
        toolChoice: "auto",
        settings: { maxOutputTokens: 4000 },
      },
      { signal: new AbortController().signal, emit: () => {} },
    );
  } catch (thrown) {
    if (thrown instanceof RondoError) return thrown;
    throw thrown;
  }
}

export async function errorOf(model: Model): Promise<RondoError> {
  const outcome = await attempt(model);
  if (outcome instanceof RondoError) return outcome;
  throw new Error(`it answered: ${JSON.stringify(outcome)}`);
}

/** An answer with something of everything. */
export const telling: WireTurn = [
  think("Let me see."),
  say("Looking for it."),
  call("weather", { city: "Ōsaka" }),
  call("weather", { city: "Rome" }),
];

export function callsIn(message: AssistantMessage): object[] {
  return message.content.flatMap((part) =>
    part.type === "tool_call" ? [{ name: part.name, args: part.args, error: part.argsError }] : [],
  );
}

/** The bytes of the telling answer's body. */
export async function sizeOf(row: Row, stream: boolean): Promise<number> {
  const wire = await serve([telling], { chunk: 5 });
  let size = 0;
  const model = row.model(wire, {
    stream,
    fetch: async (url, init) => {
      const response = await fetch(url as string, init as RequestInit);
      const bytes = new Uint8Array(await response.arrayBuffer());
      size = bytes.length;
      return new Response(bytes, { status: response.status, headers: response.headers });
    },
  });
  await attempt(model);
  return size;
}
