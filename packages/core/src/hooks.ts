// The room of hooks: the six places where the user's code may change the course of a run.
//
// The driver calls them, asynchronously; their answers become records, so that a replay needs no hook. What a hook changes
// is validated again. If a hook about a call throws, the call fails closed; any other hook that throws ends the run. No hook
// can delay an abort.

import type { CallView } from "./events.ts";
import type { CallResult } from "./loop/records.ts";
import type { ContentPart, JsonObject, Message, UserMessage } from "./message.ts";
import type { Model, Settings, ToolChoice } from "./model.ts";
import type { Dependency, Given } from "./tool/dependency.ts";

type Maybe<T> = T | undefined | Promise<T | undefined>;

export type PermissionAnswer = "allow" | "deny" | "ask" | "stop";

/** The context of a hook: the session, a signal, and the dependencies that the agent and the run give. */
export interface HookContext {
  /** The session's id. */
  readonly session: string;
  /** Fires when the answer is no longer wanted: the run was aborted or has ended, a deadline passed, or the session is drained. */
  readonly signal: AbortSignal;
  /** Values of dependencies given by the agent or the run, by the key's id. */
  readonly deps: Given;
  /** The value of a dependency: the one given by the run or the agent, else what the key creates, once per call of the hook. */
  resolve<T>(key: Dependency<T>): Promise<T>;
}

/** What applies to one step. `settings` override those of the agent, key by key. */
export interface StepPlan {
  /** One of the agent's: `model`, or one of `fallback` or `models`. If it fails for good, the run's own model is asked. */
  model?: Model;
  tools?: string[];
  toolChoice?: ToolChoice;
  settings?: Settings;
}

export interface Hooks {
  /** Called before a call may run. `ask` waits for an approval; `stop` denies and ends the run (`text` becomes the run's text). Nothing: the tool's own `permission` decides. */
  permission?(
    call: CallView,
    context: HookContext,
  ): Maybe<PermissionAnswer | { answer: PermissionAnswer; reason?: string; text?: string }>;
  /** Called before a call starts, and before an approval is requested. May return other arguments, or a result in place of running it. `done` ends the run, as a tool's does. */
  beforeTool?(
    call: CallView,
    context: HookContext,
  ): Maybe<
    { args: JsonObject } | { result: string | ContentPart[]; isError?: boolean; done?: boolean | string }
  >;
  /** Called after a call ended. May return another result. `done` ends the run, as a tool's does. */
  afterTool?(
    call: CallView,
    result: CallResult,
    context: HookContext,
  ): Maybe<{ content: string | ContentPart[]; isError?: boolean; done?: boolean | string }>;
  /**
   * Called before each step. May choose another model, fewer tools, another tool choice or other settings for this step; or end
   * the run, with a reason (`text` becomes the run's text): then the model is not called.
   */
  prepareStep?(
    step: { step: number; messages: readonly Message[] },
    context: HookContext,
  ): Maybe<StepPlan | { stop: string; text?: string }>;
  /** Called before each step. May return other messages for this request; the history is not changed. Called again if the history changes before the request is sent. `step` counts the run's answers from 1. */
  transformContext?(messages: readonly Message[], at: { step: number } & HookContext): Maybe<Message[]>;
  /** Called once, when the run would complete. May return more work: a text, or user messages. */
  onFinish?(
    run: { text: string; messages: readonly Message[] },
    context: HookContext,
  ): Maybe<string | UserMessage[]>;
}
