// The room of the scenes: what the drivers' scripts are played with, agents and tools that wait for a word.

import { Agent, type AgentOptions, type Tool, tool } from "@rondo/core";
import { type Script, scripted } from "../../scripted.ts";
import type { DrivenSession } from "./driven-session.ts";

/** An agent, and what its tools and the play have in common. */
export interface Scene {
  agent: Agent;
  session?: DrivenSession;
  /** Resolves once it was said. */
  heard(word: string): Promise<void>;
  say(word: string): void;
}

type Tools = (scene: Scene) => readonly Tool[];

type More = Partial<AgentOptions> | (() => Partial<AgentOptions>);

export function scene(script: () => Script, tools: Tools = () => [], more: More = {}): () => Scene {
  return () => {
    const words = new Map<string, PromiseWithResolvers<void>>();
    const word = (name: string): PromiseWithResolvers<void> => {
      const known = words.get(name) ?? Promise.withResolvers<void>();
      words.set(name, known);
      return known;
    };
    const made: Scene = {
      agent: undefined as unknown as Agent,
      heard: (name) => word(name).promise,
      say: (name) => word(name).resolve(),
    };
    made.agent = new Agent({
      model: scripted(script()),
      tools: tools(made),
      // Long enough to be waited for, whoever waits.
      retry: { baseMs: 30 },
      ...(typeof more === "function" ? more() : more),
    });
    return made;
  };
}

const textSchema = {
  type: "object",
  properties: { text: { type: "string" } },
  required: ["text"],
} as const;

/** A tool that takes a text. */
export function taking(
  name: string,
  execute: (text: string, signal: AbortSignal) => unknown,
  more: Partial<Parameters<typeof tool>[0]> = {},
): Tool {
  return tool({
    name,
    description: `takes a text: ${name}`,
    inputSchema: textSchema,
    effect: "read",
    execute: ({ text }: { text: string }, { signal }) => execute(text, signal),
    ...more,
  } as Parameters<typeof tool>[0]);
}

export const echo: Tool = taking("echo", (text) => `echo ${text}`);
export const write: Tool = taking("write", (text) => `wrote ${text}`, { effect: "write" });
export const asking: Tool = taking("send_mail", (text) => `sent ${text}`, {
  effect: "write",
  permission: "ask",
});

export const go = async (session: DrivenSession): Promise<void> => void (await session.send("go"));

/** A tool that says when it is at work, and goes on when it is told to. */
export const waitingForWord = (at: Scene): Tool =>
  taking("wait", async (text) => {
    at.say("at work");
    await at.heard("go on");
    return text;
  });

/** A tool that says when it is at work, and stops when it is aborted. */
export const waitingForAbort = (at: Scene): Tool =>
  taking("wait", (_, signal) => {
    at.say("at work");
    return new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
    });
  });

/** Aborts the run while a tool is at work. */
export async function abortedAtWork(session: DrivenSession, at: Scene): Promise<void> {
  const running = session.send("go");
  await at.heard("at work");
  await session.abort("enough");
  await running;
}

/** Waits until the records hold `count` that are so. */
export async function until(
  { session }: Scene,
  so: (type: string, text: string) => boolean,
  count: number = 1,
): Promise<void> {
  for (;;) {
    const records = (await session?.records()) ?? [];
    if (records.filter((record) => so(record.type, JSON.stringify(record))).length >= count) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Waits until so many messages were queued. */
export const untilQueued = (at: Scene, count: number): Promise<void> =>
  until(at, (type) => type === "queued", count);

/** One script: an agent, and what is said to it. */
export interface DriverScript {
  name: string;
  agent(): Scene;
  play(session: DrivenSession, scene: Scene): Promise<void>;
}
