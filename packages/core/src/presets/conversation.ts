// The room of the conversation: a session for people to talk in, which says what may be done at each moment.
//
// It is made of the session's own functions. A message while it works is steering. A question to the user is a call that
// waits for an approval. Cancelling is an abort, and resuming is a new run. What the model reads of an interrupted call is
// written when it is interrupted, so that the history is always valid.

import { Agent } from "../agent.ts";
import { invalidRequest, type RondoError } from "../errors.ts";
import type { CallView, RondoEvent } from "../events.ts";
import type { Input } from "../input.ts";
import type { Journal } from "../journal.ts";
import type { Message } from "../message.ts";
import type { AgentOptions } from "../options/agent-options.ts";
import type { RunResult } from "../result.ts";
import type { Session } from "../session.ts";
import { finalStep, type StepEvent, StepView } from "../steps.ts";
import { EventQueue } from "../stream.ts";
import { type Tool, tool } from "../tool.ts";

/**
 * `awaiting`: it needs a reply or an approval. `paused`: cancelled, or left by a process that is gone. `failed`: the last
 * run ended with an error.
 */
export type ConversationState = "idle" | "running" | "awaiting" | "paused" | "failed";

export type ConversationStep<Output = unknown> =
  | StepEvent<Output>
  /** The model asks the user: answer with `reply`. */
  | { type: "asking"; question: string; call: CallView };

/** The steps, as they come. If you stop iterating, only the steps end: the run continues, and has its result. */
export interface ConversationRun<Output = unknown> extends AsyncIterable<ConversationStep<Output>> {
  /** Resolves when the run has ended, so not while it waits for a reply or an approval. */
  readonly result: Promise<RunResult<Output>>;
}

const cutOff = "Session was interrupted. Continuing from where we left off.";
const goOn = "Please continue where you left off.";
const noAnswer = "No answer provided";

/**
 * The tool with which a model asks the user. Its result comes from `reply`, never from the model; if the tool itself runs,
 * nobody has answered.
 */
export const askUser: Tool = tool({
  name: "ask_user",
  description:
    "Asks the user a question and waits for the answer. Use it when only the user can decide or know.",
  inputSchema: {
    type: "object",
    properties: { question: { type: "string", description: "The question, in full." } },
    required: ["question"],
  },
  effect: "read",
  keys: () => [],
  permission: "ask",
  execute: () => noAnswer,
});

export class Conversation<Output = unknown> {
  readonly session: Session<Output>;
  /** A run was driven from here, so its questions were heard here. */
  #followed = false;

  private constructor(session: Session<Output>) {
    this.session = session;
  }

  /**
   * Opens a conversation: a new one, or one that the journal already has.
   * @param options of the agent; `ask_user` is added to its tools
   */
  static async open<Output = unknown>(
    options: AgentOptions<Output>,
    id: string,
    from: { journal?: Journal } = {},
  ): Promise<Conversation<Output>> {
    const agent = new Agent<Output>({
      ...options,
      tools: [...(options.tools ?? []), askUser],
      texts: { aborted: () => cutOff, notExecuted: () => cutOff, ...options.texts },
    });
    return new Conversation(await agent.open(id, from));
  }

  get state(): ConversationState {
    const { status, result } = this.session;
    if (status === "running") return "running";
    // A question asked in a process that is gone was not heard here. When the run is resumed, it is asked again.
    if (status === "parked" && this.#followed) return "awaiting";
    if (status === "interrupted" || status === "parked") return "paused";
    if (result?.end === undefined) return "idle";
    if (result.end.error !== undefined) return "failed";
    return result.end.reason === "aborted" ? "paused" : "idle";
  }

  get canRun(): boolean {
    return this.state === "idle";
  }

  get canResume(): boolean {
    return ["idle", "paused", "failed"].includes(this.state);
  }

  get canInterrupt(): boolean {
    return this.state === "running";
  }

  get canReply(): boolean {
    return this.state === "awaiting" && this.#question !== undefined;
  }

  get canCancel(): boolean {
    return this.state === "running" || this.state === "awaiting";
  }

  get canClear(): boolean {
    return this.state === "paused" || this.state === "failed";
  }

  /** The conversation so far; empty after it was cleared. */
  get messages(): Message[] {
    return this.session.messages;
  }

  /** The model's open question to the user. */
  get question(): string | undefined {
    return this.#question === undefined ? undefined : questionOf(this.#question);
  }

  /** @throws RondoError `invalid_request` unless idle */
  run(input: Input): ConversationRun<Output> {
    if (!this.canRun) throw this.#refused("resume() it, or clear() it first");
    return this.#follow(() => this.session.send(input));
  }

  /** Continues after a cancellation, a failure or a crash. @throws RondoError `invalid_request` while it runs or waits */
  resume(): ConversationRun<Output> {
    if (!this.canResume) throw this.#refused("reply() to it first");
    const left = this.session.status !== "idle";
    return this.#follow(() => (left ? this.session.resume() : this.session.send(goOn)));
  }

  /** Adds a message to the conversation, before the next model call. Returns whether it was taken: only while running. */
  interrupt(message: string): boolean {
    if (!this.canInterrupt) return false;
    this.session.steer(message);
    return true;
  }

  /** Answers the open question. The model is told if the answer is empty. @throws RondoError `invalid_request` if there is no question */
  async reply(answer: string): Promise<void> {
    const asked = this.#question;
    if (!this.canReply || asked === undefined) throw this.#refused("no question is open");
    await this.session.answer(asked.id, answer.trim() === "" ? noAnswer : answer);
  }

  /** Stops the work; `resume` continues it. Resolves when it has stopped. */
  async cancel(): Promise<void> {
    if (!this.canCancel) return;
    this.session.abort("cancelled");
    await this.session.settled();
  }

  /**
   * Forgets the conversation: the next run begins a new one, in any process. The journal keeps what was said.
   * @throws RondoError `invalid_request` unless paused or failed
   */
  async clear(): Promise<void> {
    if (!this.canClear) throw this.#refused("there is nothing to clear up; cancel() what is at work first");
    // What a process that is gone left behind is not continued.
    this.session.abort("cleared");
    await this.session.settled();
    await this.session.clear();
  }

  get #question(): CallView | undefined {
    return this.session.pending.find((call) => call.name === askUser.name);
  }

  #refused(advice: string): RondoError {
    const { state } = this;
    const message = state === "running" ? "Session is already running" : `Session is ${state}: ${advice}`;
    return invalidRequest(message);
  }

  #follow(start: () => Promise<RunResult<Output>>): ConversationRun<Output> {
    const { session } = this;
    this.#followed = true;
    const over = Promise.withResolvers<void>();
    const asked = new Set<string>();
    const ask = (): void => {
      if (this.state !== "awaiting") return;
      for (const call of session.pending) {
        // By its id: calls inside sub-agents have the key of their parent's call.
        if (call.name !== askUser.name || asked.has(call.id)) continue;
        asked.add(call.id);
        queue.push({ type: "asking", question: questionOf(call), call });
      }
    };
    const view = new StepView((step) => queue.push(step as StepEvent<Output>));
    const stop = session.subscribe((event: RondoEvent) => {
      view.hear(event);
      // Emitted once the run waits, so that its reader may reply at once.
      if (event.type === "approval_request") session.settled().then(ask, over.reject);
      if (event.type === "run_end") over.resolve();
    });
    // If the reader stops iterating, there are no more steps, but the run's end is still waited for.
    const queue = new EventQueue<ConversationStep<Output>>(() => {});
    // A question that another process asked comes with no event here: it is there once the run waits.
    start().then(ask, over.reject);
    const result = over.promise
      .then(() => session.settled())
      .then(() => session.result as RunResult<Output>)
      .finally(stop);
    result.then(
      (came) => queue.end(finalStep(came)),
      (thrown: unknown) => queue.fail(thrown),
    );
    return { result, [Symbol.asyncIterator]: () => queue };
  }
}

const questionOf = (call: CallView): string => String(call.args.question ?? "");
