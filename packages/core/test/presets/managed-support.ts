// What the tests of the managed context share: a run through the public face, as agent events.

import {
  Agent,
  type AgentOptions,
  type Input,
  type Message,
  type RunOverrides,
  type RunResult,
  type Tool,
  textOf,
  tool,
} from "@rondo/core";
import {
  type AgentEvent,
  type AgentEventsOptions,
  agentEvents,
  type ManagedContextOptions,
  managedContext,
} from "@rondo/core/presets";

type Managed = ManagedContextOptions & AgentEventsOptions;

/** The events of a run, and what it failed with. */
export async function play(
  managed: Managed,
  more: { input?: Input; agent?: Partial<AgentOptions>; run?: RunOverrides } = {},
): Promise<{ events: AgentEvent[]; failure?: Error; result?: RunResult }> {
  const stream = new Agent({ ...managedContext(managed), ...more.agent }).stream(
    more.input ?? "go",
    more.run,
  );
  const events: AgentEvent[] = [];
  let failure: Error | undefined;
  try {
    for await (const event of agentEvents(stream, managed)) events.push(event);
  } catch (thrown) {
    failure = thrown as Error;
  }
  const result = await stream.result.catch(() => undefined);
  return {
    events,
    ...(failure === undefined ? {} : { failure }),
    ...(result === undefined ? {} : { result }),
  };
}

/** The final text of a run; undefined when there is none. */
export const finalIn = (events: readonly AgentEvent[]): string | undefined =>
  events.flatMap((event) => (event.type === "final" ? [event.content] : []))[0];

/** Types in order. */
export const typesOf = (events: readonly AgentEvent[]): string[] => events.map((event) => event.type);

/** Events of one type. */
export function only<T extends AgentEvent["type"]>(
  events: readonly AgentEvent[],
  type: T,
): (AgentEvent & { type: T })[] {
  return events.filter((event): event is AgentEvent & { type: T } => event.type === type);
}

/** Tool results of a conversation, with a mark behind those that are errors. */
export const resultsOf = (messages: readonly Message[]): string[] =>
  messages.flatMap((message) =>
    message.role === "tool" ? [`${textOf(message)}${message.isError ? " (error)" : ""}`] : [],
  );

/** A tool without arguments. */
export const doing = (name: string, execute: Tool["execute"], more: object = {}): Tool =>
  tool({ name, description: name, inputSchema: { type: "object" }, execute: execute as never, ...more });
