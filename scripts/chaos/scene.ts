// The room of the scene: builds an agent from its plan, with its tools, its model on the wire, and its user's hooks.

import {
  Agent,
  type AgentOptions,
  type Hooks,
  type JsonObject,
  type Model,
  maxFailures,
  mustCall,
  mustNotSay,
  type Rule,
  subAgent,
  userText,
} from "@rondo/core";
import { agentStrategy, managedContext, steerable, stepSequence, thinkActObserve } from "@rondo/core/presets";
import { anthropic, bedrock, google, openai, type ProviderOptions } from "@rondo/models";
import type { Protocol } from "@rondo/testkit/wire";
import { Chance } from "../chance.ts";
import type { Plan } from "./plan.ts";
import { toolsOf } from "./tools.ts";
import type { World } from "./world.ts";

/** Base URLs of the wire server, by protocol. */
export type Addresses = { readonly [P in Protocol]: string };

/** An agent and its helpers, for folding their journals. */
export interface Cast {
  agent: AgentOptions;
  helper: AgentOptions;
}

/** How long work in flight may take to settle after an abort, in milliseconds. */
export const graceMs = 300;

const clocks = { connectMs: 5_000, firstByteMs: 4_000, idleMs: 1_500, totalMs: 10_000 };
const retry = { baseMs: 5, capMs: 60, longestRetryAfterMs: 2_000 };

export interface SceneOptions {
  seed: number;
  addresses: Addresses;
  world: World;
  /** False information for the loop, to test that it is noticed. */
  lies?: { note?: "idempotent"; rule?: Rule };
}

export function sceneOf(plan: Plan, { seed, addresses, world, lies = {} }: SceneOptions): Cast {
  const own = toolsOf(world, plan.tools, lies);
  const helper: AgentOptions = {
    model: modelOf(plan, plan.protocol, addresses),
    system: "You help.",
    tools: own.filter(({ name }) => ["look", "note", "publish", "order"].includes(name)),
    maxSteps: 5,
    retry: { ...retry, attempts: 2 },
    clocks,
    abortGraceMs: graceMs,
  };
  const tools = plan.tools.includes("helper")
    ? [
        ...own,
        subAgent({
          name: "helper",
          description: "does a part of the work",
          agent: new Agent(helper),
          inputSchema: {
            type: "object",
            properties: { on: { type: "string" }, roll: { type: "integer" } },
            required: ["on"],
          } as const,
          task: ({ on }) => `Do your part. [for ${on}]`,
        }),
      ]
    : own;
  const rules = lies.rule === undefined ? {} : { rules: [lies.rule] };
  return { agent: { ...presetOf(plan, seed, addresses, tools), ...rules }, helper };
}

function modelOf(plan: Plan, protocol: Protocol, addresses: Addresses): Model {
  const facts = {
    ...(plan.window === undefined ? {} : { contextWindow: plan.window }),
    maxOutputTokens: 1_000,
    price: { input: 1, output: 5 },
  };
  const options: ProviderOptions = { baseURL: addresses[protocol], apiKey: "key", facts };
  switch (protocol) {
    case "anthropic-messages":
      return anthropic(plan.name, options);
    case "openai-chat":
      return openai.chat(plan.name, options);
    case "openai-responses":
      return openai(plan.name, options);
    case "google-generative-ai":
      return google(plan.name, options);
    case "bedrock-converse":
      return bedrock(plan.name, { ...options, region: "eu-central-1" });
  }
}

const output = {
  type: "object",
  properties: { answer: { type: "string" } },
  required: ["answer"],
} as const;

function presetOf(
  plan: Plan,
  seed: number,
  addresses: Addresses,
  tools: NonNullable<AgentOptions["tools"]>,
): AgentOptions {
  const model = modelOf(plan, plan.protocol, addresses);
  const chosen = plan.chosen === undefined ? undefined : modelOf(plan, plan.chosen, addresses);
  const wishes = plan.hooks ? hooksOf(plan, seed) : {};
  const hooks = chosen === undefined ? wishes : choosing(plan, seed, chosen, wishes);
  const { onInterrupted, followUps } = plan;
  const shared = { clocks, abortGraceMs: graceMs, onInterrupted };
  switch (plan.preset) {
    case "default":
      return {
        ...shared,
        model,
        system: "You keep the shelves.",
        tools,
        hooks,
        ...(plan.fallback === undefined ? {} : { fallback: [modelOf(plan, plan.fallback, addresses)] }),
        ...(chosen === undefined ? {} : { models: [chosen] }),
        ...(plan.output ? { output } : {}),
        ...limitsOf(plan),
        followUps,
        retry: { ...retry, attempts: 4 },
        context: { cap: { bytes: 8_000 }, ...(plan.window === undefined ? {} : { compaction: { at: 0.6 } }) },
      } as AgentOptions;
    case "think_act_observe":
      return { ...thinkActObserve({ model, tools, hooks, maxIterations: plan.maxSteps }), ...shared };
    case "step_sequence":
      return {
        ...stepSequence({
          model,
          tools,
          maxSteps: plan.maxSteps,
          retry: { ...retry, attempts: 4 },
          ...(plan.output ? { output } : {}),
        }),
        ...shared,
      } as AgentOptions;
    case "steerable":
      return { ...steerable({ model, tools, hooks, loopDetection: true, ceiling: 30 }), ...shared };
    case "managed_context": {
      // This preset decides permissions itself.
      const { permission: _permission, onFinish: _onFinish, ...others } = hooks;
      return {
        ...managedContext({
          model,
          tools,
          hooks: others,
          systemPrompt: "You keep the shelves.",
          maxIterations: plan.maxSteps,
          llmRetry: "by_kind",
          llmMaxRetryAfterMs: 2_000,
          llmRetryBaseDelayMs: 5,
          llmRetryMaxDelayMs: 60,
        }),
        ...shared,
      };
    }
    case "agent_strategy":
      return { ...agentStrategy({ model, tools, hooks, maximumIterations: plan.maxSteps }), ...shared };
  }
}

function limitsOf({ limits, maxSteps }: Plan): Partial<AgentOptions> {
  switch (limits) {
    case "none":
      return {};
    case "steps":
      return { maxSteps, onLimit: maxSteps % 2 === 0 ? "land" : "refuse_tools" };
    case "tokens":
      return { budget: { tokens: maxSteps * 2_000 } };
    case "ms":
      return { budget: { ms: maxSteps * 150 } };
    case "calls":
      return { budget: { modelCalls: maxSteps } };
    case "usd":
      return { budget: { usd: maxSteps / 500 } };
    case "session":
      return { budget: { session: { modelCalls: maxSteps } } };
    case "must_call":
      return { rules: [mustCall("note", { max: 1 })] };
    case "failures":
      return { rules: [maxFailures(2)] };
    case "must_not_say":
      return { rules: [mustNotSay(["Part 2 of", /Part 4/])] };
  }
}

/** Hooks that choose another model for every other step. */
function choosing({ name }: Plan, seed: number, model: Model, hooks: Hooks): Hooks {
  return {
    ...hooks,
    async prepareStep(view, io) {
      const said = await hooks.prepareStep?.(view, io);
      const isChosen = new Chance(seed, name, "chooses", view.step).is(0.5);
      return isChosen && (said === undefined || !("stop" in said)) ? { ...said, model } : said;
    },
  };
}

/** Hooks of a demanding user. Their answers depend only on their input. */
function hooksOf({ name }: Plan, seed: number): Hooks {
  const rest = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const chanceOf = (hook: string, about: JsonObject | number): Chance =>
    new Chance(seed, name, hook, JSON.stringify(about));
  return {
    async permission({ args }) {
      await rest();
      const roll = chanceOf("permission", args).below(40);
      if (roll === 0) throw new Error("the permission hook is broken");
      if (roll === 1) return { answer: "stop", reason: "that was enough" };
      return roll < 4 ? "deny" : roll < 6 ? "ask" : undefined;
    },
    async beforeTool({ args }) {
      const roll = chanceOf("beforeTool", args).below(30);
      await rest();
      if (roll === 0) throw new Error("the beforeTool hook is broken");
      if (roll < 3) return { args: { ...args, on: `${String(args.on)}!` } };
      return roll === 3 ? { result: "done by the hook", isError: false } : undefined;
    },
    async afterTool({ args }) {
      const roll = chanceOf("afterTool", args).below(30);
      await rest();
      if (roll === 0) throw new Error("the afterTool hook is broken");
      return roll < 3 ? { content: "seen by the hook" } : undefined;
    },
    async prepareStep({ step }) {
      await rest();
      const roll = chanceOf("prepareStep", step).below(60);
      if (roll === 0) throw new Error("the prepareStep hook is broken");
      return roll < 4 ? { tools: ["look", "note"] } : undefined;
    },
    async transformContext(messages, { step }) {
      await rest();
      return chanceOf("transformContext", step).below(10) === 0
        ? [...messages, userText("Mind what you were told.")]
        : undefined;
    },
    async onFinish({ text }) {
      await rest();
      return chanceOf("onFinish", text.length).below(4) === 0 ? "And one thing more." : undefined;
    },
  };
}
