// The room of the conversation: a session that people talk in, with what may be done at each moment.
//
// Made of the session's own means: a word while it works is steering, a question to the user is a call that waits for
// an approval, cancelling is an abort, and going on is a new run. What the model is told of a call that was cut off
// is written when it is cut off, so that the history is whole at any time.

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

/** `awaiting`: somebody must reply or approve. `paused`: cancelled, or left by a process that is gone. `failed`: the last run ended with an error. */
export type ConversationState = "idle" | "running" | "awaiting" | "paused" | "failed";

export type ConversationStep<Output = unknown> =
  | StepEvent<Output>
  /** The model asks the user: answer with `reply`. */
  | { type: "asking"; question: string; call: CallView };

/** Steps as they come. Breaking off ends the steps and nothing else: the run goes on, and has its result. */
export interface ConversationRun<Output = unknown> extends AsyncIterable<ConversationStep<Output>> {
  /** Resolves when the run has ended: never while somebody is awaited. */
  readonly result: Promise<RunResult<Output>>;
}

const cutOff = "Session was interrupted. Continuing from where we left off.";
const goOn = "Please continue where you left off.";
const noAnswer = "No answer provided";

/** The tool with which a model asks the user. What it is answered comes from `reply`, never from the model; run, it was answered by nobody. */
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
  /** A run was driven from here, so that its questions were heard. */
  #followed = false;

  private constructor(session: Session<Output>) {
    this.session = session;
  }

  /**
   * Opens a conversation: a new one, or one that is in the journal already.
   * @param options those of the agent; `ask_user` is added to its tools
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
    // A question of a process that is gone was heard by nobody here: resumed, it is asked again.
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

  /** The conversation so far; nothing once it was cleared. */
  get messages(): Message[] {
    return this.session.messages;
  }

  /** What the model asks the user now. */
  get question(): string | undefined {
    return this.#question === undefined ? undefined : questionOf(this.#question);
  }

  /** @throws RondoError `invalid_request` unless idle */
  run(input: Input): ConversationRun<Output> {
    if (!this.canRun) throw this.#refused("resume() it, or clear() it first");
    return this.#follow(() => this.session.send(input));
  }

  /** Goes on after a cancellation, a failure or a crash. @throws RondoError `invalid_request` while it runs or waits */
  resume(): ConversationRun<Output> {
    if (!this.canResume) throw this.#refused("reply() to it first");
    const left = this.session.status !== "idle";
    return this.#follow(() => (left ? this.session.resume() : this.session.send(goOn)));
  }

  /** A word while it works, put into the conversation before the next model call. Returns whether it was taken: only while running. */
  interrupt(message: string): boolean {
    if (!this.canInterrupt) return false;
    this.session.steer(message);
    return true;
  }

  /** Answers the question that is open. An empty answer is told as such. @throws RondoError `invalid_request` when none is */
  async reply(answer: string): Promise<void> {
    const asked = this.#question;
    if (!this.canReply || asked === undefined) throw this.#refused("no question is open");
    await this.session.answer(asked.id, answer.trim() === "" ? noAnswer : answer);
  }

  /** Stops what is at work; `resume` goes on. Resolves when it has stopped. */
  async cancel(): Promise<void> {
    if (!this.canCancel) return;
    this.session.abort("cancelled");
    await this.session.settled();
  }

  /**
   * Forgets the conversation: the next run begins a new one, in whatever process. What was said stays in the journal.
   * @throws RondoError `invalid_request` unless paused or failed
   */
  async clear(): Promise<void> {
    if (!this.canClear) throw this.#refused("there is nothing to clear up; cancel() what is at work first");
    // What a process that is gone has left is not gone on with.
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
        // By its id: those inside sub-agents have the key of the call they stand under.
        if (call.name !== askUser.name || asked.has(call.id)) continue;
        asked.add(call.id);
        queue.push({ type: "asking", question: questionOf(call), call });
      }
    };
    const view = new StepView((step) => queue.push(step as StepEvent<Output>));
    const stop = session.subscribe((event: RondoEvent) => {
      view.hear(event);
      // Told once the run waits, so that whoever reads it may reply at once.
      if (event.type === "approval_request") session.settled().then(ask, over.reject);
      if (event.type === "run_end") over.resolve();
    });
    // Whoever breaks off reads no more steps; how the run ends is heard all the same.
    const queue = new EventQueue<ConversationStep<Output>>(() => {});
    // What another process asked, it told nobody here.
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
