// The room of the step view: one step event a pull (BEHAVIOUR B2).
//
// The model is not asked again before everything of the last answer was pulled. A whole batch of calls has run when
// its first call is delivered; then come call and result, call and result, in call order.

import type { CallView, RondoEvent } from "../events.ts";
import type { AssistantMessage, ContentPart } from "../message.ts";

export type StepEvent<Output = unknown> =
  /** An answer after which the model is asked again without a tool in between. */
  | { type: "thinking"; message: AssistantMessage }
  | { type: "tool_call"; call: CallView }
  | { type: "tool_result"; call: CallView; content: ContentPart[]; isError: boolean }
  | { type: "final_response"; text: string; output?: Output };

/** Gathers the events of one step and gives them out in the order of the view. */
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
        this.#order.push(event.call);
        this.#results.set(event.call.key, {
          type: "tool_result",
          call: event.call,
          content: event.content,
          isError: event.isError,
        });
        return;
      case "step_end":
        this.#drain();
        return;
      case "step_start":
        // The answer before this one was not final, and brought no calls: it was thinking.
        if (this.#message !== undefined) this.#push({ type: "thinking", message: this.#message });
        this.#message = undefined;
        return;
      default:
        return;
    }
  }

  #drain(): void {
    if (this.#order.length === 0) return;
    const inOrder = this.#order.sort((one, other) => position(one) - position(other));
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

const position = (call: CallView): number => Number(call.key.split(".")[1]);
