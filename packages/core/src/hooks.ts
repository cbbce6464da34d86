// The room of hooks: the few places where a user's code may change the course of a run.
//
// The driver runs them, asynchronously; their answers become records, or a replay would differ. What a hook changes
// is checked again. A hook that throws fails closed. None of them can hold up an abort.

import type { CallView } from "./events.ts";
import type { CallResult } from "./loop/records.ts";
import type { ContentPart, JsonObject, Message, UserMessage } from "./message.ts";
import type { Model, ToolChoice } from "./model.ts";

type Maybe<T> = T | undefined | Promise<T | undefined>;

export type PermissionAnswer = "allow" | "deny" | "ask" | "stop";

export interface Hooks {
  /** Whether a call may run. `ask` waits for an approval, `stop` denies and ends the run (`text` is then the run's). Nothing: the tool's own word. */
  permission?(
    call: CallView,
  ): Maybe<PermissionAnswer | { answer: PermissionAnswer; reason?: string; text?: string }>;
  /** Before a call starts: other arguments, or a result in its place. */
  beforeTool?(
    call: CallView,
  ): Maybe<{ args: JsonObject } | { result: string | ContentPart[]; isError?: boolean }>;
  /** After a call ended: another result. */
  afterTool?(
    call: CallView,
    result: CallResult,
  ): Maybe<{ content: string | ContentPart[]; isError?: boolean }>;
  /** Before each step: another model, fewer tools, another tool choice, for this step. */
  prepareStep?(step: {
    step: number;
    messages: readonly Message[];
  }): Maybe<{ model?: Model; tools?: string[]; toolChoice?: ToolChoice }>;
  /** The messages for the coming request, in place of the history. The history stays as it is. `step` counts the run's answers from 1. */
  transformContext?(messages: readonly Message[], at: { step: number }): Maybe<Message[]>;
  /** Asked once, when the run would complete: more work for it, or nothing. */
  onFinish?(run: { text: string; messages: readonly Message[] }): Maybe<string | UserMessage[]>;
}
