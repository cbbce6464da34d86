// The room of a run's options, as facts: all that a run was begun under, and all that `next` decides from beside the records.
//
// They stand in `run_started`, and in `opened` where they change. So they are plain JSON: what of them is code, the tools,
// the models, the hooks and the rules themselves, is known here by name, and held by whoever drives.

import type { ContextFacts } from "../context/options.ts";
import type { JsonObject, Origin } from "../message.ts";
import type { ModelFacts, Settings, ToolChoice, ToolDefinition } from "../model.ts";
import type { Effect, Permission } from "../tool/effect.ts";
import type { AgentFacts } from "./child-facts.ts";

/** The tool as the loop knows it: what the model sees and what rules decide from. */
export interface ToolFacts {
  definition: ToolDefinition;
  effect: Effect;
  permission: Permission;
  timeoutMs: number;
  /** Offered only once the conversation holds a ref to a kept text. Default: always. */
  when?: "capped";
  /** The tool's own word on which it is, beside its definition. */
  version?: number | string;
  /** It can find out what became of a call that was cut off. */
  reconciles?: true;
  /** Arguments that are programs for a shell: what a wildcard of a grant stands for in them begins no other command. */
  shellArgs?: string[];
  /** A call of it is a sub-agent: a session of its own, paid from what this run has left. */
  agent?: AgentFacts;
}

/** The model as the loop knows it. The first of a run's models is the main one, the rest are fall-backs in order. */
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

/** The options of a run, as facts: all that `next` decides from, and all a request is made of. */
export interface RunOptions {
  system?: string;
  tools: ToolFacts[];
  /** The agent's, those it falls back to, and those that are there to be chosen for a step. */
  models: ModelRef[];
  /** How many of the models behind the first are fallen back to. Absent: all. */
  fallbacks?: number;
  settings: Settings;
  toolChoice: ToolChoice;
  hooks: HookName[];
  /** Name and version of each rule, in the order they are asked. */
  rules: { name: string; version: number }[];
  /** The digest of what the loop itself says to the model. */
  texts?: string;
  toolOrder: "by_effect" | "sequential" | "parallel";
  /** When a word from outside is heard while calls run one after another. Absent: between two of them. */
  steering?: "after_calls";
  maxConcurrentTools: number;
  maxCallsPerTurn: number;
  autoExecuteTools: boolean;
  /** What becomes of a write that was cut off, where nobody can find out whether it had its effect. Absent: the model is told so. */
  onInterrupted?: "ask";
  /** Bound on everything that must settle after an abort or a cancellation, in milliseconds. */
  abortGraceMs: number;
  clocks: { connectMs: number; firstByteMs: number; idleMs: number; totalMs: number };
  /** How the last turn of a landing differs from the others. Absent: tools stay declared, the answer is stored. */
  landing?: { omitTools: boolean; keepOut: boolean };
  /** What keeps the run inside its window: the stages that are on, as facts. */
  context?: ContextFacts;
  /** The model that sums up what is compacted. Absent: the one in use. */
  compactor?: ModelRef;
  /** The typed output: its JSON Schema, how often a failed decoding is asked for again, and how it is asked for. */
  output?: OutputOptions;
}

/** How a typed output is asked for. */
export interface OutputOptions {
  schema: JsonObject;
  decodeRetries: number;
  /** Default: `auto`. */
  way?: OutputWay;
  /** Whether the tools stay declared, though not callable, when the output is asked for. Default: `declared`. */
  tools?: "declared" | "none";
  /** Whether the words that ask for it are shown in that request only, or stand in the history. Default: `noted`. */
  request?: "noted" | "stored";
}

/** `native`: the provider holds the model to the schema. `tool`: a call of a tool made for it is the answer. `prompted`: the schema is told in words. `auto`: by what is known of the model. */
export type OutputWay = "auto" | "native" | "tool" | "prompted";
