// The room of events: what a watcher of a run is told, live. The list is closed.
//
// Events are for eyes, records are for truth: nothing is decided from an event, and losing one loses nothing.
// A consumer ignores the types it does not know.

import type { StageNote } from "./context/stage.ts";
import type { ErrorData } from "./errors.ts";
import type { Approval, CallKey, EndReason, Lane, ResultCode, RunEnd } from "./loop/records.ts";
import type {
  AssistantMessage,
  ContentPart,
  Json,
  JsonObject,
  Message,
  Origin,
  Usage,
  UserMessage,
} from "./message.ts";

/** A call as watchers see it. */
export interface CallView {
  key: CallKey;
  id: string;
  name: string;
  args: JsonObject;
  /** A crash cut it off: whether it had its effect is not known. */
  interrupted?: true;
  /** It stands inside a sub-agent: in this session, under these tools, the outermost first. `key` is then that of the outermost's call, and `id` the way to it. */
  child?: { session: string; agents: string[] };
}

export type RondoEvent =
  /** `input`: the messages the run was started with; of a whole history its last one. */
  | { type: "run_start"; session: string; run: number; input: Message[] }
  | { type: "step_start"; step: number }
  /** `broke` says what changed in the request's prefix since the last one, and which stage changed it, when something did: `message 3 (trim)`. */
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
  /** `code`: it does not run, and is answered at once. */
  | { type: "tool_start"; call: CallView; code?: ResultCode }
  /** `details`: plain JSON that the tool has for programs. */
  | { type: "tool_update"; call: CallView; progress: string; details?: Json }
  | {
      type: "tool_end";
      call: CallView;
      content: ContentPart[];
      isError: boolean;
      code?: ResultCode;
      ms: number;
      /** What the tool has for programs alone. */
      details?: Json;
      /** This result ends the run: the tool said so (a text is the run's), or its permission was denied for good. */
      done?: boolean | string;
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
  /** `hook`: nobody wrote it, the hook gave it. */
  | { type: "message_delivered"; lane: Lane; id: string; message: UserMessage; hook?: "onFinish" }
  /** It was taken back before it was delivered. */
  | { type: "message_withdrawn"; lane: Lane; id: string; message: UserMessage }
  /** A stage of the context pipeline did something: sizes in estimated tokens (a cap counts bytes), and in words. */
  | ({ type: "context" } & StageNote)
  /** A part of the history is summed up now: who decided so, and from what. */
  | { type: "compaction_start"; rule: string; evidence: JsonObject }
  /** In estimated tokens. `helped`: the history is smaller than it was. */
  | { type: "compaction_end"; before: number; after: number; helped: boolean; note: string }
  | { type: "child"; call: CallView; event: RondoEvent }
  | { type: "warning"; code: string; message: string }
  /** Its answer has its results, or no model answered and the run is over. `usage`: the answer's, where it was counted. */
  | { type: "step_end"; step: number; usage?: Usage }
  | { type: "run_end"; end: RunEnd; text: string };

export type EventType = RondoEvent["type"];

/** Hears events as they happen, synchronously. */
export type Listener = (event: RondoEvent) => void;
