// What the tests of the agent strategy share: a run through the public face, and its messages in short.

import {
  Agent,
  type Input,
  type JsonObject,
  type RunResult,
  type Tool,
  type ToolContext,
  tool,
} from "@rondo/core";
import {
  type AgentStrategyOptions,
  agentStrategy,
  type StrategyMessage,
  type StrategyViewOptions,
  strategyMessages,
} from "@rondo/core/presets";

export type Strategy = AgentStrategyOptions & StrategyViewOptions;

/** A run as strategy messages, and what it came to. */
export async function play(
  strategy: Strategy,
  input: Input = "go",
): Promise<{ messages: StrategyMessage[]; result: RunResult }> {
  const stream = new Agent(agentStrategy(strategy)).stream(input);
  const messages: StrategyMessage[] = [];
  for await (const message of strategyMessages(stream, strategy)) messages.push(message);
  return { messages, result: await stream.result };
}

/** The texts a user reads, one by one. */
export const textsOf = (messages: readonly StrategyMessage[]): string[] =>
  messages.flatMap((message) => (message.type === "text" ? [message.text] : []));

/** Logs as `start ROUND 1`, everything else by its type or text. */
export const order = (messages: readonly StrategyMessage[]): string[] =>
  messages.map((message) => {
    if (message.type === "log") return `${message.status === "start" ? "start" : "finish"} ${message.label}`;
    return message.type === "text" ? JSON.stringify(message.text) : message.type;
  });

type Log = StrategyMessage & { type: "log" };

export const logsOf = (messages: readonly StrategyMessage[]): Log[] =>
  messages.filter((message): message is Log => message.type === "log");

/** The data of the log of that name when it was finished. */
export function dataOf(messages: readonly StrategyMessage[], label: string): JsonObject {
  const found = logsOf(messages).find((log) => log.label === label && log.status !== "start");
  if (found === undefined) throw new Error(`no finished log ${label}`);
  return found.data;
}

/** The answers the model got to its calls, in order. */
export const answersOf = (result: RunResult): string[] =>
  result.messages.flatMap((message) =>
    message.role === "tool"
      ? [
          message.content
            .flatMap((part) => (part.type === "text" && part.opaque === undefined ? [part.text] : []))
            .join(""),
        ]
      : [],
  );

/** A tool with one text parameter `q`, which writes down what it was called with. */
export function noting(
  name: string,
  seen: unknown[],
  execute: (args: JsonObject, context: ToolContext) => unknown = () => `${name} ran`,
  schema: JsonObject = { type: "object", properties: { q: { type: "string" } } },
): Tool {
  return tool({
    name,
    description: name,
    inputSchema: schema,
    execute: (args, context) => {
      seen.push(args);
      return execute(args, context);
    },
  });
}
