// The room of hooks: the few places where a user's code may change the course of a run.
//
// The driver runs them, asynchronously; their answers become records, so that a replay needs no hook. What a hook changes
// is checked again. If a hook about a call throws, the call fails closed; any other hook that throws ends the run. No hook can hold up an abort.

import type { CallView } from "./events.ts";
import type { CallResult } from "./loop/records.ts";
import type { ContentPart, JsonObject, Message, UserMessage } from "./message.ts";
import type { Model, Settings, ToolChoice } from "./model.ts";
import type { Dependency, Given } from "./tool/dependency.ts";

type Maybe<T> = T | undefined | Promise<T | undefined>;

export type PermissionAnswer = "allow" | "deny" | "ask" | "stop";

/** The context of a hook: the session, a signal, and the dependencies that the agent and the run give. */
export interface HookContext {
  /** The session that is asked about. */
  readonly session: string;
  /** Fires when the answer is no longer wanted: the run was aborted or has ended, a deadline passed, or the session is drained. */
  readonly signal: AbortSignal;
  /** What was given for keys, by the key's id. */
  readonly deps: Given;
  /** The value of a key: what the run or the agent gave for it, else what the key makes. Made once per question. */
  resolve<T>(key: Dependency<T>): Promise<T>;
}

/** What holds for one step. `settings` override those of the agent, name by name. */
export interface StepPlan {
  /** One of the agent's: `model`, or one of `fallback` or `models`. If it fails for good, the run's own model is asked. */
  model?: Model;
  tools?: string[];
  toolChoice?: ToolChoice;
  settings?: Settings;
}

export interface Hooks {
  /** Whether a call may run. `ask` waits for an approval, `stop` denies and ends the run (`text` becomes the run's text). Nothing: the tool's own `permission` decides. */
  permission?(
    call: CallView,
    context: HookContext,
  ): Maybe<PermissionAnswer | { answer: PermissionAnswer; reason?: string; text?: string }>;
  /** Before a call starts: other arguments, or a result in its place. */
  beforeTool?(
    call: CallView,
    context: HookContext,
  ): Maybe<{ args: JsonObject } | { result: string | ContentPart[]; isError?: boolean }>;
  /** After a call ended: another result. */
  afterTool?(
    call: CallView,
    result: CallResult,
    context: HookContext,
  ): Maybe<{ content: string | ContentPart[]; isError?: boolean }>;
  /**
   * Before each step: another model, fewer tools, another tool choice, other settings, for this step. Or the end of the
   * run, with a reason: the model is not asked (`text` becomes the run's text).
   */
  prepareStep?(
    step: { step: number; messages: readonly Message[] },
    context: HookContext,
  ): Maybe<StepPlan | { stop: string; text?: string }>;
  /** The messages for the coming request, in place of the history. The history stays as it is; the hook is asked again if it changes before the request goes out. `step` counts the run's answers from 1. */
  transformContext?(messages: readonly Message[], at: { step: number } & HookContext): Maybe<Message[]>;
  /** Asked once, when the run would complete: more work for it, or nothing. */
  onFinish?(
    run: { text: string; messages: readonly Message[] },
    context: HookContext,
  ): Maybe<string | UserMessage[]>;
}
