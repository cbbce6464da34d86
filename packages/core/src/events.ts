// The room of events: what listeners of a run get, live. The list is closed.
//
// Events are for display, records are the truth: nothing is decided from an event, and losing one does no harm.
// Consumers must ignore types that they do not know.

import type { StageNote } from "./context/stage.ts";
import type { ErrorData } from "./errors.ts";
import type { AskedQuestion } from "./loop/child-facts.ts";
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
  /** The call's key in the records: unique in its session. */
  key: CallKey;
  /** Unique in the session: the provider's id, if that is unique. `approve`, `deny`, `edit` and `answer` take it, or the key. */
  id: string;
  /** Name of its tool. */
  name: string;
  /** The arguments it runs with, as plain JSON; `{}` if they could not be parsed. */
  args: JsonObject;
  /** A crash cut it off: its outcome is unknown. */
  interrupted?: true;
  /** What its tool asks, as long as nobody has answered it (`waitForAnswer`): `answer` is the only answer to such a call. */
  question?: AskedQuestion;
  /** Set for a call inside a sub-agent: its session, and the sub-agents' tools above it, outermost first. `key` is then that of the outermost call, and `id` a path (`call_2/call_1`). */
  child?: { session: string; agents: string[] };
}

export type RondoEvent =
  /** `input`: the messages that the run was started with; of a whole history only the last one. */
  | { type: "run_start"; session: string; run: number; input: Message[] }
  | { type: "step_start"; step: number }
  /** A request is sent. `broke`: the first thing that changed in its front since the previous request, and which stage changed it: `message 3 (trim)`. Absent: nothing changed. */
  | {
      type: "request";
      step: number;
      attempt: number;
      model: string;
      origin: Origin;
      digest: string;
      broke?: string;
      /** The request asks for the typed output: the answer's text will be JSON. */
      output?: true;
    }
  | { type: "text_delta"; step: number; index: number; text: string }
  | { type: "reasoning_delta"; step: number; index: number; text: string }
  /** `id`: that of the call in all later events, also if the provider repeats ids or gives none. `name` may be incomplete, or empty, until it has arrived. */
  | { type: "tool_args_delta"; step: number; index: number; id: string; name: string; delta: string }
  | { type: "message"; step: number; message: AssistantMessage }
  /** A call starts. `code`: it does not run, and is answered at once. */
  | { type: "tool_start"; call: CallView; code?: ResultCode }
  /** Progress of a running call. `details`: plain JSON from the tool, for programs. */
  | { type: "tool_update"; call: CallView; progress: string; details?: Json }
  | {
      type: "tool_end";
      call: CallView;
      content: ContentPart[];
      isError: boolean;
      code?: ResultCode;
      ms: number;
      /** Plain JSON from the tool, for programs; the model does not read it. */
      details?: Json;
      /** This result ends the run: the tool said so (a string becomes the run's text), or the call was denied with `stop`. */
      done?: boolean | string;
    }
  | { type: "approval_request"; call: CallView }
  /** The tool has begun, and asks `call.question`. Once it is answered there is a second `tool_start`, if the tool goes on, or the `tool_end`. */
  | { type: "answer_request"; call: CallView }
  | { type: "approval_result"; call: CallView; approval: Approval }
  /** The model is asked again after `delayMs` milliseconds. `discard`: drop what was shown of this step. */
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
  /** The model got a note. `discard`: its last answer is not kept, drop what was shown of it. */
  | { type: "nudge"; rule: string; text: string; discard?: true }
  /** A queued message entered the conversation. `hook`: the hook `onFinish` had returned it. */
  | { type: "message_delivered"; lane: Lane; id: string; message: UserMessage; hook?: "onFinish" }
  /** A queued message was taken back before its delivery. */
  | { type: "message_withdrawn"; lane: Lane; id: string; message: UserMessage }
  /** A stage of the context acted: sizes before and after in estimated tokens (for `cap` in bytes), and a sentence. */
  | ({ type: "context" } & StageNote)
  /** A compaction begins: the rule that decided it, and the evidence. */
  | { type: "compaction_start"; rule: string; evidence: JsonObject }
  /** A compaction ended. Sizes in estimated tokens. `helped`: the history became smaller. */
  | { type: "compaction_end"; before: number; after: number; helped: boolean; note: string }
  | { type: "child"; call: CallView; event: RondoEvent }
  | { type: "warning"; code: string; message: string }
  /** A step is over: its answer has all results, or no model answered and the run is over. `usage`: the answer's, if the provider reported it. */
  | { type: "step_end"; step: number; usage?: Usage }
  | { type: "run_end"; end: RunEnd; text: string };

export type EventType = RondoEvent["type"];

/** Called with each event as it happens, synchronously. */
export type Listener = (event: RondoEvent) => void;
