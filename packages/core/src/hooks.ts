// The room of hooks: the few places where a user's code may change the course of a run.
//
// The driver runs them, asynchronously; their answers become records, or a replay would differ. What a hook changes
// is checked again. A hook about a call that throws fails closed, any other ends the run. None of them can hold up an abort.

import type { CallView } from "./events.ts";
import type { CallResult } from "./loop/records.ts";
import type { ContentPart, JsonObject, Message, UserMessage } from "./message.ts";
import type { Model, Settings, ToolChoice } from "./model.ts";
import type { Dependency, Given } from "./tool/dependency.ts";

type Maybe<T> = T | undefined | Promise<T | undefined>;

export type PermissionAnswer = "allow" | "deny" | "ask" | "stop";

/** What a hook has of the outside, as a tool has it: what the agent gives for keys, and what was given for this run. */
export interface HookContext {
  /** The session that is asked about. */
  readonly session: string;
  /** Fires when the answer is no longer wanted: the run was aborted or has ended, a deadline did not wait for it, or the process leaves. */
  readonly signal: AbortSignal;
  /** What was given for keys, by the key's id. */
  readonly deps: Given;
  /** The thing behind a key: what was given for it, else what the key makes. Resolved once in a question. */
  resolve<T>(key: Dependency<T>): Promise<T>;
}

/** What holds for one step. `settings`: over those of the agent, name by name. */
export interface StepPlan {
  /** One of the agent's: `model`, or one of `fallback` or `models`. Where it fails for good, the run's own is asked. */
  model?: Model;
  tools?: string[];
  toolChoice?: ToolChoice;
  settings?: Settings;
}

export interface Hooks {
  /** Whether a call may run. `ask` waits for an approval, `stop` denies and ends the run (`text` is then the run's). Nothing: the tool's own word. */
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
   * run, with a reason: the model is not asked (`text` is then the run's).
   */
  prepareStep?(
    step: { step: number; messages: readonly Message[] },
    context: HookContext,
  ): Maybe<StepPlan | { stop: string; text?: string }>;
  /** The messages for the coming request, in place of the history. The history stays as it is. Asked again where it has changed before the request goes out. `step` counts the run's answers from 1. */
  transformContext?(messages: readonly Message[], at: { step: number } & HookContext): Maybe<Message[]>;
  /** Asked once, when the run would complete: more work for it, or nothing. */
  onFinish?(
    run: { text: string; messages: readonly Message[] },
    context: HookContext,
  ): Maybe<string | UserMessage[]>;
}
