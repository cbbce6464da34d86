// The room of events: what a watcher of a run is told, live. The list is closed.
//
// Events are for eyes, records are for truth: nothing is decided from an event, and losing one loses nothing.
// A consumer ignores the types it does not know.

import type { ErrorData } from "./errors.ts";
import type { Approval, CallKey, EndReason, Lane, ResultCode, RunEnd } from "./loop/records.ts";
import type { AssistantMessage, ContentPart, JsonObject, Origin, Usage, UserMessage } from "./message.ts";

/** A call as watchers see it. */
export interface CallView {
  key: CallKey;
  id: string;
  name: string;
  args: JsonObject;
}

export type RondoEvent =
  | { type: "run_start"; session: string; run: number }
  | { type: "step_start"; step: number }
  /** `broke` says what changed in the request's prefix since the last one, when something did. */
  | {
      type: "request";
      step: number;
      attempt: number;
      model: string;
      origin: Origin;
      digest: string;
      broke?: string;
      /** The typed output is asked for: the answer's text is to be it. */
      output?: true;
    }
  | { type: "text_delta"; step: number; index: number; text: string }
  | { type: "reasoning_delta"; step: number; index: number; text: string }
  | { type: "tool_args_delta"; step: number; index: number; id: string; name: string; delta: string }
  | { type: "message"; step: number; message: AssistantMessage }
  | { type: "tool_start"; call: CallView }
  | { type: "tool_update"; call: CallView; progress: string }
  | {
      type: "tool_end";
      call: CallView;
      content: ContentPart[];
      isError: boolean;
      code?: ResultCode;
      ms: number;
    }
  | { type: "approval_request"; call: CallView }
  | { type: "approval_result"; call: CallView; approval: Approval }
  /** `discard`: what was shown of this step is void, the answer is asked for again. */
  | {
      type: "retry";
      step: number;
      error: ErrorData;
      delayMs: number;
      discard: boolean;
      rule: string;
      /** What the rule went by, e.g. `{ attempt: 1, allowed: 4 }`, the first attempt counted. */
      evidence: JsonObject;
    }
  | { type: "fallback"; step: number; from: string; to: string; error: ErrorData; discard: boolean }
  | { type: "limit"; rule: string; reason: EndReason; evidence: JsonObject; lands: boolean }
  | { type: "nudge"; rule: string; text: string }
  | { type: "message_delivered"; lane: Lane; id: string; message: UserMessage }
  | { type: "context"; stage: string; before: number; after: number; note: string }
  | { type: "compaction_start" }
  | { type: "compaction_end"; before: number; after: number }
  | { type: "child"; call: CallView; event: RondoEvent }
  | { type: "warning"; code: string; message: string }
  | { type: "step_end"; step: number; usage?: Usage }
  | { type: "run_end"; end: RunEnd; text: string };

export type EventType = RondoEvent["type"];
