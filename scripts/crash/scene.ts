// The room of the scene: the scripted agent that is killed, with everything that must be the same in all its lives.
//
// Its mind is a function of the request alone and its world is one file, so that every life continues with the same two.
// Outside input (steering, more work, an approval) comes at a point that the records determine; otherwise two
// lives could differ without any mistake.

import {
  Agent,
  type AgentOptions,
  type JsonObject,
  type Message,
  type Model,
  maxSteps,
  subAgent,
  type Tool,
  textOf,
} from "@rondo/core";
import { call, fail, say, scripted, type Turn, usage } from "@rondo/testkit";
import { type Lies, type Outside, toolsOf, type World } from "./scene-tools.ts";

export const session = "scene";
export const task = "Look at everything, note it, publish what is ready.";

type Asked = [name: string, args?: JsonObject];

/** The calls of each answer, from step 1. An empty list is an answer in text. */
const plan: readonly (readonly Asked[])[] = [
  [
    ["look", { at: "a" }],
    ["note", { on: "a" }],
    ["note", { on: "b" }],
    ["look", { at: "b" }],
  ],
  [
    ["listen", { to: "steer-1" }],
    ["look", { at: "c" }],
    ["note", { on: "c" }],
  ],
  [
    ["set", { on: "d" }],
    ["set", { on: "e" }],
    ["note", { on: "f" }],
  ],
  [
    ["archive", {}],
    ["note", { on: "g" }],
  ],
  [
    ["listen", { to: "follow-1" }],
    ["helper", { on: "h" }],
    ["helper", { on: "u" }],
    ["look", { at: "h" }],
  ],
  [["stamp", { on: "i" }]],
  [["publish", { on: "j" }]],
  [
    ["look", { at: "k" }],
    ["look", { at: "l" }],
    ["note", { on: "k" }],
  ],
  [
    ["publish", { on: "m" }],
    ["publish", { on: "n" }],
    ["look", { at: "m" }],
  ],
  [
    ["look", { at: "o" }],
    ["listen", { to: "steer-2" }],
    ["note", { on: "o" }],
  ],
  [
    ["look", { at: "p" }],
    ["note", { on: "p" }],
    ["note", { on: "q" }],
  ],
  [],
  [
    ["set", { on: "r" }],
    ["note", { on: "r" }],
    ["look", { at: "r" }],
  ],
  [
    ["post", { on: "s" }],
    ["look", { at: "s" }],
    ["post", { on: "t" }],
  ],
  [],
];

/** Number of answers in the scene, none of which may be counted twice. */
export const steps: number = plan.length;

/** At this step the provider fails once per world. */
const failing = 8;

/** How far a conversation is, according to its answers or their summary. */
const reached = (messages: readonly Message[]): number =>
  Math.max(
    0,
    ...messages
      .filter((message) => message.role !== "tool")
      .flatMap((message) => [...textOf(message).matchAll(/\bstep (\d+)\b/g)].map(([, step]) => Number(step))),
  );

const sized = (request: unknown): Turn =>
  usage({ inputTokens: Math.ceil(JSON.stringify(request).length / 4), outputTokens: 20 });

function mind(world: World): Model {
  return scripted(
    (request) => {
      const step = reached(request.messages) + 1;
      if (step === failing && world.isFirst("the provider fails"))
        return fail("overloaded", { message: "the scene's provider is overloaded" });
      const turn = plan[step - 1] ?? [];
      return [
        sized(request),
        say(`This is step ${step}.`, { chunk: 7 }),
        ...turn.map(([name, args = {}], at) => call(name, { step, ...args }, { id: `call_${step}_${at}` })),
      ];
    },
    { id: "mind", keepRequests: false, facts: { contextWindow: 4_000, maxOutputTokens: 500 } },
  );
}

/** The calls of a helper in each of its answers. */
const helpersPlan: readonly (readonly string[])[] = [["look", "note", "note"], ["stamp"], []];

/** Number of answers of a helper. */
export const helperSteps: number = helpersPlan.length;

/** The mind of a helper, which works on one shelf. */
const helpersMind = (): Model =>
  scripted(
    (request) => {
      const answers = request.messages.filter(({ role }) => role === "assistant").length;
      const shelf = /shelf (\w+)/.exec(JSON.stringify(request.messages))?.[1] ?? "";
      const asked = helpersPlan[answers] ?? [];
      return [
        sized(request),
        say(asked.length > 0 ? `Part ${answers + 1} of shelf ${shelf}.` : `Shelf ${shelf} is in order.`),
        ...asked.map((name, at) =>
          call(name, { at: shelf, on: `${shelf}${answers}${at}` }, { id: `call_${shelf}_${answers}_${at}` }),
        ),
      ];
    },
    { id: "helper", keepRequests: false },
  );

/** Summarizes: how far it was is all there is to remember. */
const summary = (): Model =>
  scripted(
    (request) => {
      const told = [...JSON.stringify(request.messages).matchAll(/\bstep (\d+)\b/g)].map(([, step]) =>
        Number(step),
      );
      return [
        sized(request),
        say(`<summary>Everything up to step ${Math.max(0, ...told)} is done.</summary>`),
      ];
    },
    { id: "summary", keepRequests: false, facts: { contextWindow: 10_000, maxOutputTokens: 500 } },
  );

/** A person's answer to each waiting call. */
export function verdictOn(
  args: JsonObject,
): { answer: "approve" | "deny" } | { answer: "edit"; args: JsonObject } {
  if (args.on === "m") return { answer: "deny" };
  if (args.on === "n") return { answer: "edit", args: { ...args, on: "n2" } };
  return { answer: "approve" };
}

/** A helper: an agent that the scene's agent calls like a tool, two at once. */
const helper = (some: readonly Tool[]): AgentOptions => ({
  model: helpersMind(),
  system: "You help to keep the shelves.",
  tools: some.filter(({ name }) => ["look", "note", "stamp"].includes(name)),
  rules: [maxSteps(helperSteps)],
});

/** The scene's agent, without its journal. */
export function scene(world: World, outside: Outside, lies: Lies = {}): AgentOptions {
  const own = toolsOf(world, outside, lies);
  return {
    model: mind(world),
    system: "You keep the shelves.",
    tools: [
      ...own,
      subAgent({
        name: "helper",
        description: "puts one shelf in order",
        agent: new Agent(helper(own)),
        inputSchema: { type: "object", properties: {} } as const,
        task: (args) => `Put shelf ${String((args as { on?: string }).on)} in order.`,
      }),
    ],
    // Exactly as many as needed: if one is counted twice, the run does not come to its end.
    rules: [maxSteps(steps)],
    retry: { attempts: 3, baseMs: 1, capMs: 2 },
    context: {
      cap: { bytes: 1_000 },
      trim: null,
      compaction: { model: summary(), at: 0.8, keepShare: 0.3, minGain: null },
    },
  };
}

/** The scene's agents without a world, for folding and replaying their records. */
export function emptyScene(): { agent: AgentOptions; helper: AgentOptions } {
  const never = (): never => {
    throw new Error("nothing is done in a replay: this is a defect");
  };
  const agent = scene({ effect: never, happened: never, isFirst: never }, { steer: never, followUp: never });
  return { agent, helper: helper(agent.tools ?? []) };
}
