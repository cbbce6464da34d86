// The room of a run's options, as facts: what `next` decides from besides the records.
//
// They are stored in `run_started`, and in `opened` if they change. So they are plain JSON: code (tools, models, hooks,
// rules) is represented by name here, and held by the driver.

import type { ContextFacts } from "../context/options.ts";
import type { JsonObject, Origin } from "../message.ts";
import type { ModelFacts, Settings, ToolChoice, ToolDefinition } from "../model.ts";
import type { Effect, Permission } from "../tool/effect.ts";
import type { AgentFacts } from "./child-facts.ts";

/** A tool as the loop knows it: what the model sees, and what decisions depend on. */
export interface ToolFacts {
  definition: ToolDefinition;
  effect: Effect;
  permission: Permission;
  timeoutMs: number;
  /** When it is offered (`Tool.when`). Default: always. */
  when?: "capped" | "offered";
  /** The tool's own `version`. */
  version?: number | string;
  /** It has `reconcile`: it can find out what became of an interrupted call. */
  reconciles?: true;
  /** It goes on with the answer to its question; absent: the answer is the result. */
  resumes?: true;
  /** Arguments that are shell code: in them a grant's wildcard does not match a second command. */
  shellArgs?: string[];
  /** A call of it is a sub-agent: it has a session of its own, and spends from what this run has left. */
  agent?: AgentFacts;
}

/** A model as the loop knows it. The first of a run's models is the main one; fallbacks follow in order, then those only a hook may choose. */
export interface ModelRef {
  id: string;
  origin: Origin;
  facts: ModelFacts;
}

export type HookName =
  | "permission"
  | "prepareStep"
  | "beforeTool"
  | "afterTool"
  | "transformContext"
  | "onFinish";

/** The options of a run as facts: what `next` decides from, and what a request is made of. */
export interface RunOptions {
  system?: string;
  tools: ToolFacts[];
  /** The agent's model, its fallbacks, and those that a hook may choose for a step. */
  models: ModelRef[];
  /** How many of the models after the first are fallbacks. Absent: all. */
  fallbacks?: number;
  settings: Settings;
  toolChoice: ToolChoice;
  hooks: HookName[];
  /** Name and version of each rule, in the order in which they are asked. */
  rules: { name: string; version: number }[];
  /** Digest of the loop's own texts to the model. */
  texts?: string;
  toolOrder: "by_effect" | "sequential" | "parallel";
  /** When a steering message is delivered while calls run one after another. Absent: between two of them. */
  steering?: "after_calls";
  /** Follow-ups are delivered one at a time. Absent: all that are queued together. */
  followUps?: "one_by_one";
  maxConcurrentTools: number;
  maxCallsPerTurn: number;
  autoExecuteTools: boolean;
  /** What happens to a call that the tool choice of its request did not allow. Absent: it does not run. */
  disallowedCalls?: "run";
  /** What happens to an interrupted write whose outcome cannot be found out. Absent: the model is told so. */
  onInterrupted?: "ask";
  /** How long everything may take to settle after an abort or a cancellation, in milliseconds. */
  abortGraceMs: number;
  clocks: { connectMs: number; firstByteMs: number; idleMs: number; totalMs: number };
  /** Changes to the last turn of a landing. Absent: tools stay declared, the answer is stored, and may take 60,000 ms once the run's time is up. */
  landing?: { omitTools: boolean; keepOut: boolean; timeoutMs?: number };
  /** The stages of the context that are on, as facts. */
  context?: ContextFacts;
  /** The model that summarises. Absent: the run's own. */
  compactor?: ModelRef;
  /** The typed output: its JSON Schema, how often it is asked for again if it does not fit, and how it is asked for. */
  output?: OutputOptions;
}

/** How a typed output is asked for. */
export interface OutputOptions {
  schema: JsonObject;
  decodeRetries: number;
  /** Default: `auto`. */
  way?: OutputWay;
  /** Whether tools stay declared, though not callable, in the request for the output. Default: `declared`. */
  tools?: "declared" | "none";
  /** Whether the message that asks for the output is only in that request (`noted`), or also in the history (`stored`). Default: `noted`. */
  request?: "noted" | "stored";
}

/** `native`: the provider enforces the schema. `tool`: a call of a tool made for this is the answer. `prompted`: the schema is part of the prompt. `auto`: chosen by the model's facts. */
export type OutputWay = "auto" | "native" | "tool" | "prompted";
