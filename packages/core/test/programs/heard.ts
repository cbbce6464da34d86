// The room of what a listener hears: live events, folded as the simplest program would, which complains where they do not add up.

import type { AssistantMessage, RondoEvent } from "@rondo/core";

/** One teller: a run's driver, or a sub-agent's below it. */
export class Heard {
  /** Complete answers, in order, without those that were taken back. */
  readonly messages: AssistantMessage[] = [];
  readonly problems: string[] = [];
  /** What was shown of the current answer, by part. */
  #shown = new Map<number, string>();
  #hasDeltas = false;
  readonly #open = new Map<string, string>();
  readonly #below = new Map<string, Heard>();
  #step: number | undefined;
  /** The step whose answer is complete. */
  #answered: number | undefined;
  #inRun = false;

  /** All that was found, here and below. */
  get all(): string[] {
    return [...this.problems, ...[...this.#below.values()].flatMap((one) => one.all)];
  }

  hear(event: RondoEvent): void {
    switch (event.type) {
      case "run_start":
        if (this.#inRun) this.problems.push("a run starts in a run");
        this.#inRun = true;
        break;
      case "run_end":
        if (this.#step !== undefined) this.problems.push(`the run ends in step ${this.#step}`);
        if (this.#open.size > 0) this.problems.push(`the run ends, and ${[...this.#open.keys()]} are open`);
        this.#inRun = false;
        break;
      case "step_start":
        if (this.#step !== undefined) this.problems.push(`step ${event.step} starts in step ${this.#step}`);
        this.#step = event.step;
        break;
      case "step_end":
        if (this.#step !== undefined && this.#step !== event.step)
          this.problems.push(`step ${event.step} ends in step ${this.#step}`);
        this.#step = undefined;
        break;
      case "request":
        this.#answered = undefined;
        this.#shown = new Map();
        this.#hasDeltas = false;
        break;
      case "text_delta":
      case "reasoning_delta":
        this.#show(event.index, event.text);
        break;
      case "tool_args_delta":
        this.#show(event.index, event.delta);
        break;
      case "message":
        this.#compare(event.message);
        this.messages.push(event.message);
        this.#answered = event.step;
        break;
      case "nudge":
      case "retry":
      case "fallback":
        if (event.discard) {
          this.#shown = new Map();
          if (this.#step !== undefined && this.#answered === this.#step) this.messages.pop();
          this.#answered = undefined;
        }
        break;
      case "tool_start":
        // What only reads starts again after a drain, and a sub-agent when it goes on.
        if (this.#open.has(event.call.key) && !["look", "boom", "helper"].includes(event.call.name))
          this.problems.push(`${event.call.key} starts twice`);
        this.#open.set(event.call.key, event.call.name);
        break;
      case "tool_end":
        if (!this.#open.delete(event.call.key))
          this.problems.push(`${event.call.key} ends, and has not started`);
        break;
      case "answer_request":
        if (event.call.child === undefined) this.#open.delete(event.call.key);
        break;
      case "child": {
        const below = this.#below.get(event.call.key) ?? new Heard();
        this.#below.set(event.call.key, below);
        below.hear(event.event);
        break;
      }
    }
  }

  #show(index: number, piece: string): void {
    this.#hasDeltas = true;
    this.#shown.set(index, (this.#shown.get(index) ?? "") + piece);
  }

  #compare({ content }: AssistantMessage): void {
    const was = content.map((part) =>
      "text" in part ? part.text : part.type === "tool_call" ? part.rawArgs : "",
    );
    const shown = content.map((_, i) => this.#shown.get(i) ?? "");
    if (this.#hasDeltas && JSON.stringify(was) !== JSON.stringify(shown))
      this.problems.push(`shown ${JSON.stringify(shown)}, and it was ${JSON.stringify(was)}`);
  }
}
