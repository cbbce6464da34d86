// The room of events: what listeners of a run get, live. The list is closed.
//
// Events are for display, records are the truth: nothing is decided from an event, and losing one does no harm.
// A consumer must ignore the types it does not know.

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

/** A call as events show it. */
export interface CallView {
  /** Where it stands in the records: unique in its session. */
  key: CallKey;
  /** Unique in the session: the provider's own id, if that is. `approve`, `deny`, `edit` and `answer` take it, or the key. */
  id: string;
  /** Of its tool. */
  name: string;
  /** Plain JSON: as they will be run, or were; `{}` where they could not be read. */
  args: JsonObject;
  /** A crash cut it off: its outcome is unknown. */
  interrupted?: true;
  /** It is a call inside a sub-agent: in this session, under these tools, the outermost first. `key` is then that of the outermost call, and `id` a path (`call_2/call_1`). */
  child?: { session: string; agents: string[] };
}

export type RondoEvent =
  /** `input`: the messages the run was started with; if that was a whole history, its last one. */
  | { type: "run_start"; session: string; run: number; input: Message[] }
  | { type: "step_start"; step: number }
  /** `broke`: what changed in the front of the request since the last one, and which stage changed it: `message 3 (trim)`. Absent: nothing did. */
  | {
      type: "request";
      step: number;
      attempt: number;
      model: string;
      origin: Origin;
      digest: string;
      broke?: string;
      /** The typed output is asked for: the answer's text will be JSON. */
      output?: true;
    }
  | { type: "text_delta"; step: number; index: number; text: string }
  | { type: "reasoning_delta"; step: number; index: number; text: string }
  | { type: "tool_args_delta"; step: number; index: number; id: string; name: string; delta: string }
  | { type: "message"; step: number; message: AssistantMessage }
  /** `code`: the call does not run, and is answered at once. */
  | { type: "tool_start"; call: CallView; code?: ResultCode }
  /** `details`: plain JSON of the tool, for programs. */
  | { type: "tool_update"; call: CallView; progress: string; details?: Json }
  | {
      type: "tool_end";
      call: CallView;
      content: ContentPart[];
      isError: boolean;
      code?: ResultCode;
      ms: number;
      /** Plain JSON of the tool, for programs; the model does not read it. */
      details?: Json;
      /** This result ends the run: the tool said so (a text becomes the run's text), or the call was denied with `stop`. */
      done?: boolean | string;
    }
  | { type: "approval_request"; call: CallView }
  | { type: "approval_result"; call: CallView; approval: Approval }
  /** `discard`: drop what was shown of this step, the answer is asked for again. */
  | {
      type: "retry";
      step: number;
      error: ErrorData;
      delayMs: number;
      discard: boolean;
      rule: string;
      /** The rule's evidence, e.g. `{ attempt: 1, allowed: 4 }`, counting the first attempt. */
      evidence: JsonObject;
    }
  | { type: "fallback"; step: number; from: string; to: string; error: ErrorData; discard: boolean }
  | { type: "limit"; rule: string; reason: EndReason; evidence: JsonObject; lands: boolean }
  | { type: "nudge"; rule: string; text: string }
  /** `hook`: the hook `onFinish` returned it. */
  | { type: "message_delivered"; lane: Lane; id: string; message: UserMessage; hook?: "onFinish" }
  /** It was taken back before it was delivered. */
  | { type: "message_withdrawn"; lane: Lane; id: string; message: UserMessage }
  /** A stage of the context did something: sizes in estimated tokens (of a cap in bytes), and a sentence. */
  | ({ type: "context" } & StageNote)
  /** A compaction begins: which rule decided so, on what evidence. */
  | { type: "compaction_start"; rule: string; evidence: JsonObject }
  /** Sizes in estimated tokens. `helped`: the history is smaller than it was. */
  | { type: "compaction_end"; before: number; after: number; helped: boolean; note: string }
  | { type: "child"; call: CallView; event: RondoEvent }
  | { type: "warning"; code: string; message: string }
  /** The answer has its results, or no model answered and the run is over. `usage`: the answer's, if it was counted. */
  | { type: "step_end"; step: number; usage?: Usage }
  | { type: "run_end"; end: RunEnd; text: string };

export type EventType = RondoEvent["type"];

/** Called with each event as it happens, synchronously. */
export type Listener = (event: RondoEvent) => void;
