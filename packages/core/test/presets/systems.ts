// What the tests across all five systems share: each preset under one name, and one course of a run through it.

import {
  Agent,
  type AgentOptions,
  isPaired,
  type Message,
  type Model,
  memoryJournal,
  type RondoEvent,
  type RunResult,
  type Session,
  type Tool,
  textOf,
  tool,
} from "@rondo/core";
import { agentStrategy, managedContext, steerable, stepSequence, thinkActObserve } from "@rondo/core/presets";
import { type Script, type ScriptedModel, scripted } from "@rondo/testkit";
import { expect } from "vitest";

type Common = { model: Model; tools: readonly Tool[] };

/** The default and the five, each from nothing but a model and tools. */
export const systems = {
  default: (common: Common): AgentOptions => common,
  thinkActObserve: (common: Common): AgentOptions => thinkActObserve(common),
  stepSequence: (common: Common): AgentOptions => stepSequence<unknown>(common),
  steerable: (common: Common): AgentOptions => steerable(common),
  managedContext: (common: Common): AgentOptions => managedContext(common),
  agentStrategy: (common: Common): AgentOptions => agentStrategy(common),
};
export type System = keyof typeof systems;
export const systemNames = Object.keys(systems) as System[];

/** Tools that remember what ran: `look` (takes `at`), `boom` (throws), `finish` (says that the work is done), `asking` (needs an approval). */
export function tools(ran: string[], finish: () => unknown = () => "finished"): Tool[] {
  const properties = { at: { type: "number" } };
  const one = (name: string, execute: (args: { at?: number }) => unknown, more: object = {}): Tool =>
    tool({
      name,
      description: name,
      inputSchema: { type: "object", properties },
      effect: "read",
      execute: (args: { at?: number }) => {
        ran.push(args.at === undefined ? name : `${name} ${args.at}`);
        return execute(args);
      },
      ...more,
    } as Parameters<typeof tool>[0]);
  const boom = (): never => {
    throw new Error("broken");
  };
  return [
    one("look", () => "seen"),
    one("boom", boom),
    one("finish", finish),
    one("asking", () => "allowed", { permission: "ask" }),
  ];
}

export interface Course {
  session: Session;
  result: RunResult;
  events: RondoEvent[];
  model: ScriptedModel;
  /** What `run()` rejected with, in words. */
  thrown?: string;
  ran: string[];
  /** Texts of the tool results in the history. */
  results: string[];
}

/** An agent of a system that plays a script. */
export function agentOf(
  system: System,
  script: Script,
  more: Partial<AgentOptions> = {},
  own: (ran: string[]) => Tool[] = tools,
): { agent: Agent; model: ScriptedModel; ran: string[] } {
  const ran: string[] = [];
  const model = scripted(script);
  const options = systems[system]({ model, tools: own(ran) });
  const hooks = { ...options.hooks, ...more.hooks };
  return { agent: new Agent({ ...options, journal: memoryJournal(), ...more, hooks }), model, ran };
}

/** Runs a script under a system, and holds what is true of every course: the history is paired, and so is each request. */
export async function course(
  system: System,
  script: Script,
  more: Partial<AgentOptions> = {},
  run: {
    signal?: AbortSignal;
    onEvent?: (event: RondoEvent) => void;
    tools?: (ran: string[]) => Tool[];
  } = {},
): Promise<Course> {
  const { agent, model, ran } = agentOf(system, script, more, run.tools);
  const events: RondoEvent[] = [];
  const onEvent = (event: RondoEvent): void => {
    events.push(event);
    run.onEvent?.(event);
  };
  const failure = await agent
    .run("go", { session: "s", onEvent, ...(run.signal === undefined ? {} : { signal: run.signal }) })
    .then(
      () => undefined,
      (thrown: Error) => thrown,
    );
  const session = await agent.open("s");
  const { result } = session;
  if (result === undefined) throw failure ?? new Error("there was no run");
  holds(session.messages, model);
  const results = result.messages.flatMap((one) => (one.role === "tool" ? [textOf(one)] : []));
  const thrown = failure === undefined ? {} : { thrown: failure.message };
  return { session, result, events, model, ran, results, ...thrown };
}

/** P1: the stored history and every request are paired, and nothing empty is stored. */
export function holds(messages: readonly Message[], model: ScriptedModel): void {
  expect(isPaired(messages)).toBe(true);
  for (const request of model.requests) expect(isPaired(request.messages)).toBe(true);
  for (const message of messages)
    expect(message.content.length + Number(message.role === "tool")).toBeGreaterThan(0);
}
