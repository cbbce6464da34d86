// The room of the step view: one step per pull (BEHAVIOUR B2).
//
// The model is not called again before all steps of its last answer were pulled. When the first call of a batch is
// delivered, the whole batch has run; then come call and result, call and result, in the order of the calls.

import type { CallView, RondoEvent } from "./events.ts";
import { placeIn } from "./loop/call-key.ts";
import type { ResultCode } from "./loop/records.ts";
import type { AssistantMessage, ContentPart, UserMessage } from "./message.ts";
import type { RunResult } from "./result.ts";

export type StepEvent<Output = unknown> =
  /** An answer after which the model is asked again without a tool in between. */
  | { type: "thinking"; message: AssistantMessage }
  | { type: "tool_call"; call: CallView }
  /** `code`: how the result came about, if the tool did not simply return. */
  | { type: "tool_result"; call: CallView; content: ContentPart[]; isError: boolean; code?: ResultCode }
  /** A steering message entered the conversation, before the next model call. */
  | { type: "interrupted"; message: UserMessage }
  | { type: "final_response"; text: string; output?: Output };

/** The last step of a run: its final answer, if it has one. */
export function finalStep<Output>(result: RunResult<Output>): StepEvent<Output> | undefined {
  const { end, text, output } = result;
  // A run that was ended without a final answer has no last step, whatever the reason.
  const answered = end?.rule === "answer" || end?.landed || end?.reason === "done_tool";
  if (!answered) return undefined;
  return { type: "final_response", text, ...(output === undefined ? {} : { output }) };
}

/** Collects the events of one step and yields them in the order of the view. */
export class StepView {
  readonly #push: (event: StepEvent) => void;
  readonly #results = new Map<string, StepEvent & { type: "tool_result" }>();
  #message: AssistantMessage | undefined;
  #order: CallView[] = [];

  constructor(push: (event: StepEvent) => void) {
    this.#push = push;
  }

  /** Takes a live event in. */
  hear(event: RondoEvent): void {
    switch (event.type) {
      case "message":
        this.#message = event.message;
        return;
      case "tool_end":
        // A call that ended the run without running is not a step: its result only keeps the history valid.
        if (event.code === "not_executed") return;
        this.#order.push(event.call);
        this.#results.set(event.call.key, {
          type: "tool_result",
          call: event.call,
          content: event.content,
          isError: event.isError,
          ...(event.code === undefined ? {} : { code: event.code }),
        });
        return;
      case "message_delivered":
        this.asking();
        if (event.lane === "steer") this.#push({ type: "interrupted", message: event.message });
        return;
      case "step_end":
        this.#drain();
        return;
      case "step_start":
        this.asking();
        return;
      case "run_end":
        // The limit was reached when the model would be asked once more: its last text was an intermediate one.
        if (event.end.rule === "max_steps" && !event.end.landed) this.asking();
        return;
      default:
        return;
    }
  }

  /** The model is about to be called again: the last answer was not final, and if none of its calls ran, it is a `thinking` step. */
  asking(): void {
    if (this.#message !== undefined) this.#push({ type: "thinking", message: this.#message });
    this.#message = undefined;
  }

  #drain(): void {
    if (this.#order.length === 0) return;
    const inOrder = this.#order.sort((one, other) => placeIn(one.key) - placeIn(other.key));
    for (const call of inOrder) {
      this.#push({ type: "tool_call", call });
      const result = this.#results.get(call.key);
      if (result !== undefined) this.#push(result);
    }
    this.#order = [];
    this.#results.clear();
    this.#message = undefined;
  }
}
