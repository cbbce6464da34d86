// The room of pulled messages: a steerable session that asks the outside for messages, instead of being given them.
//
// A thin layer over `steer` and `followUp`. It asks at the moments at which the loop looks for messages, and the loop waits
// for the answer: for steering before each model call, after each tool call, and when the run would end; for more work only
// when the run would end and there was no steering. What was pulled is queued in the journal before anything else happens.

import { Agent } from "../../agent.ts";
import { needed } from "../../checks.ts";
import { invalidRequest, messageOf, RondoError } from "../../errors.ts";
import type { CallView } from "../../events.ts";
import { isObject } from "../../json/object.ts";
import { placeIn } from "../../loop/call-key.ts";
import { hasBegun } from "../../loop/state.ts";
import { callsOf, type UserMessage } from "../../message.ts";
import { isAnswerLike, type Model, modelFace } from "../../model.ts";
import type { AgentOptions } from "../../options/agent-options.ts";
import type { Session } from "../../session.ts";
import { type SteerableOptions, steerable } from "../steerable.ts";
import { steerableStop } from "./stops.ts";

/** A source of messages: returns those that are there now, each only once. */
export type PullMessages = () =>
  | readonly (string | UserMessage)[]
  | undefined
  | Promise<readonly (string | UserMessage)[] | undefined>;

export interface SteerableSessionOptions extends SteerableOptions {
  /** Asked before each model call, after each tool call (messages given there skip the remaining calls), and when the run would end. */
  getSteeringMessages?: PullMessages;
  /** Asked each time the run would end. */
  getFollowUpMessages?: PullMessages;
  /** Further options of the agent, e.g. `pauseResumes`. They override the preset's. */
  agent?: Partial<Omit<AgentOptions, "model" | "hooks">>;
}

const given = needed(
  "a list of texts and of messages of the user",
  (value) =>
    Array.isArray(value) &&
    value.every((one: unknown) => typeof one === "string" || (isObject(one) && one.role === "user")),
);

/** The session that what was pulled is queued in. It is set once the agent has opened it. */
interface Opened {
  session?: Session;
}

/**
 * Opens a steerable session that asks for its messages. `steer` and `followUp` still work. A source that throws ends the
 * run with its error; the answer that was there is kept. A fork of the session asks for its own messages.
 */
export async function steerableSession(id: string, options: SteerableSessionOptions): Promise<Session> {
  const opened: Opened = {};
  return withForks(await new Agent(pulling(options, opened)).open(id), options, opened);
}

/** A fork has hooks and models of its own, so what it pulls is queued in the fork. */
function withForks(session: Session, options: SteerableSessionOptions, opened: Opened): Session {
  opened.session = session;
  const plain = session.fork.bind(session);
  const fork: Session["fork"] = async (id, given = {}) => {
    const { hooks = options.hooks, ...more } = given.agent ?? {};
    const model = given.model ?? options.model;
    const others = { ...options, model, agent: { ...options.agent, ...more } };
    const own = hooks === undefined ? others : { ...others, hooks };
    const next: Opened = {};
    const { hooks: pulls = {}, adapt = {} } = pulling(own, next);
    return withForks(await plain(id, { ...given, agent: { ...more, hooks: pulls, adapt } }), own, next);
  };
  session.fork = fork;
  return session;
}

/** The options of the agent of one session. */
function pulling(options: SteerableSessionOptions, opened: Opened): AgentOptions {
  const { getSteeringMessages, getFollowUpMessages, agent: more = {}, ...rest } = options;
  const { hooks = {} } = rest;
  const sources = new Sources({ getSteeringMessages, getFollowUpMessages }, opened);
  return {
    ...steerable({
      ...rest,
      hooks: {
        ...hooks,
        async afterTool(call, result, context) {
          const said = await hooks.afterTool?.(call, result, context);
          await sources.askAfterCall();
          return said;
        },
        async beforeTool(call, context) {
          // A call that could not run still counts as a call before this one. A call that is then skipped is not shown to
          // the user's hook.
          if (isBehindOneThatNeverRan(opened.session, call) && (await sources.askAfterCall()))
            return undefined;
          return hooks.beforeTool?.(call, context);
        },
        async prepareStep(step, context) {
          await sources.askBeforeStep(step.step);
          return hooks.prepareStep?.(step, context);
        },
        onFinish(run, context) {
          sources.throwFailure();
          return hooks.onFinish?.(run, context);
        },
      },
    }),
    ...more,
    adapt: {
      ...more.adapt,
      model: (model) =>
        askingAtEnd(more.adapt?.model?.(model) ?? model, (isTold) => sources.askAtEnd(isTold)),
    },
  };
}

type Source = "getSteeringMessages" | "getFollowUpMessages";
type Pulls = { readonly [source in Source]: PullMessages | undefined };

/** Both sources of a session, and what failed in them. */
class Sources {
  readonly #pulls: Pulls;
  readonly #opened: Opened;
  /** Why a source failed, until a hook can throw it: it must cost neither a call its result nor a run its answer. */
  #failure: unknown;

  constructor(pulls: Pulls, opened: Opened) {
    this.#pulls = pulls;
    this.#opened = opened;
  }

  async askBeforeStep(step: number): Promise<void> {
    // Before the first step there was no call: a failure of an earlier call ended with its run.
    if (step === 1) this.#failure = undefined;
    this.throwFailure();
    await this.#ask("getSteeringMessages", "steer");
  }

  /** The tool has done its work: a source that fails after it must not spoil its result. Returns whether there were messages. */
  askAfterCall(): Promise<boolean> {
    return this.#ask("getSteeringMessages", "steer").catch((thrown: unknown) => {
      this.#failure ??= thrown;
      return false;
    });
  }

  /** @param isTold whether a hook is asked after the answer, which can throw the failure then */
  async askAtEnd(isTold: boolean): Promise<void> {
    const { run } = this.#opened.session?.state ?? {};
    // A summary is an answer too, but it ends no run.
    if (run?.compacting !== undefined) return;
    try {
      if (!(await this.#ask("getSteeringMessages", "steer")))
        await this.#ask("getFollowUpMessages", "followUp");
    } catch (thrown) {
      if (!isTold || run?.finishAsked === true) throw thrown;
      this.#failure ??= thrown;
    }
  }

  /** @throws what failed earlier, once */
  throwFailure(): void {
    const thrown = this.#failure;
    this.#failure = undefined;
    if (thrown !== undefined) throw thrown;
  }

  /** Queues what a source has now. Returns whether that was anything. */
  async #ask(source: Source, lane: "steer" | "followUp"): Promise<boolean> {
    const pull = this.#pulls[source];
    try {
      const messages = (await pull?.()) ?? [];
      const fault = given(messages);
      if (fault !== undefined) throw invalidRequest(fault.says);
      for (const one of messages) this.#opened.session?.[lane](typeof one === "string" ? one : one.content);
      return messages.length > 0;
    } catch (thrown) {
      throw new RondoError("internal", `${source} failed: ${messageOf(thrown)}`, { cause: thrown });
    }
  }
}

/** Whether the call before this one, in the order of the answer, got its result without running. */
function isBehindOneThatNeverRan(session: Session | undefined, { key }: CallView): boolean {
  const before = session?.state.run?.turn?.calls[placeIn(key) - 1];
  return before?.result !== undefined && !hasBegun(before);
}

/** The same model, but before it returns an answer that would end the run, it asks for messages. */
function askingAtEnd(model: Model, ask: (isTold: boolean) => Promise<void>): Model {
  return {
    ...modelFace(model),
    async call(request, io) {
      const message = await model.call(request, io);
      const isEnd = isAnswerLike(message) && callsOf(message).length === 0;
      const word = isEnd ? steerableStop(message.stop) : "error";
      if (word !== "error" && word !== "aborted")
        // After an answer that was cut off no hook is asked, so a failure must be thrown now.
        await unlessAborted(ask(word !== "length"), io.signal);
      return message;
    },
  };
}

/** Waits for it, but not after an abort, which would lose the answer that is there. */
async function unlessAborted(asked: Promise<void>, signal: AbortSignal): Promise<void> {
  let stop = (): void => {};
  const aborted = new Promise<void>((resolve) => {
    stop = resolve;
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    await (signal.aborted ? undefined : Promise.race([asked, aborted]));
  } finally {
    signal.removeEventListener("abort", stop);
    // Nobody needs an error that comes after the abort.
    asked.catch(() => {});
  }
}
