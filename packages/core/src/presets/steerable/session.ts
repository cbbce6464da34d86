// The room of pulled messages: a steerable session that asks for words from outside, instead of being told.
//
// A thin coat over `steer` and `followUp`. It asks where the loop would look anyway, and the loop waits for the
// answer: steering before each model call, after each call, and when the run would end; more work only then, and
// only when there was no steering. What was pulled is queued in the journal before anything else happens.

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

/** Where messages come from: whatever is there now, each given out once. */
export type PullMessages = () =>
  | readonly (string | UserMessage)[]
  | undefined
  | Promise<readonly (string | UserMessage)[] | undefined>;

export interface SteerableSessionOptions extends SteerableOptions {
  /** Asked before each model call, after each tool (what it gives skips the rest of the calls), and at the end. */
  getSteeringMessages?: PullMessages;
  /** Asked each time the run would end. */
  getFollowUpMessages?: PullMessages;
  /** Options of the agent beyond these, e.g. `pauseResumes`; they win. */
  agent?: Partial<Omit<AgentOptions, "model" | "hooks">>;
}

const given = needed(
  "a list of texts and of messages of the user",
  (value) =>
    Array.isArray(value) &&
    value.every((one: unknown) => typeof one === "string" || (isObject(one) && one.role === "user")),
);

/** The session that asks: it is there once the agent has opened it. */
interface Asking {
  session?: Session;
}

/**
 * Opens a steerable session that asks for its messages. `steer` and `followUp` work beside it. A source that throws
 * ends the run with its error; the answer that was there is kept. A fork of it asks for its own.
 */
export async function steerableSession(id: string, options: SteerableSessionOptions): Promise<Session> {
  const asking: Asking = {};
  return withForks(await new Agent(pulling(options, asking)).open(id), options, asking);
}

/** What a fork pulls is queued in the fork: its hooks and its models are its own. */
function withForks(session: Session, options: SteerableSessionOptions, asking: Asking): Session {
  asking.session = session;
  const plain = session.fork.bind(session);
  const fork: Session["fork"] = async (id, given = {}) => {
    const { hooks = options.hooks, ...more } = given.agent ?? {};
    const model = given.model ?? options.model;
    const others = { ...options, model, agent: { ...options.agent, ...more } };
    const own = hooks === undefined ? others : { ...others, hooks };
    const next: Asking = {};
    const { hooks: asks = {}, adapt = {} } = pulling(own, next);
    return withForks(await plain(id, { ...given, agent: { ...more, hooks: asks, adapt } }), own, next);
  };
  session.fork = fork;
  return session;
}

/** The options of the agent of one session. */
function pulling(options: SteerableSessionOptions, opened: Asking): AgentOptions {
  const { getSteeringMessages, getFollowUpMessages, agent: more = {}, ...rest } = options;
  const { hooks = {} } = rest;
  const sources = {
    steer: ["getSteeringMessages", getSteeringMessages],
    followUp: ["getFollowUpMessages", getFollowUpMessages],
  } as const;
  const ask = async (lane: "steer" | "followUp"): Promise<boolean> => {
    const [source, pull] = sources[lane];
    try {
      const messages = (await pull?.()) ?? [];
      const fault = given(messages);
      if (fault !== undefined) throw invalidRequest(fault.says);
      for (const one of messages) opened.session?.[lane](typeof one === "string" ? one : one.content);
      return messages.length > 0;
    } catch (thrown) {
      throw new RondoError("internal", `${source} failed: ${messageOf(thrown)}`, { cause: thrown });
    }
  };
  /** @param isTold whether somebody is asked behind the answer: a source that fails must not cost the run that */
  const askAtEnd = async (isTold: boolean): Promise<void> => {
    const { run } = opened.session?.state ?? {};
    // A summary is an answer as well, and ends no run.
    if (run?.compacting !== undefined) return;
    try {
      if (!(await ask("steer"))) await ask("followUp");
    } catch (thrown) {
      if (!isTold || run?.finishAsked === true) throw thrown;
      failure ??= thrown;
    }
  };
  let failure: unknown;
  const tellFailure = (): void => {
    const thrown = failure;
    failure = undefined;
    if (thrown !== undefined) throw thrown;
  };
  // The tool did its work: a source that fails after it must not spoil its result.
  const askAfterCall = (): Promise<boolean> =>
    ask("steer").catch((thrown: unknown) => {
      failure ??= thrown;
      return false;
    });
  return {
    ...steerable({
      ...rest,
      hooks: {
        ...hooks,
        async afterTool(call, result, context) {
          const said = await hooks.afterTool?.(call, result, context);
          await askAfterCall();
          return said;
        },
        async beforeTool(call, context) {
          // A call that could not run is a call before this one all the same. What is to be skipped is nobody's to change.
          if (isBehindOneThatNeverRan(opened.session, call) && (await askAfterCall())) return undefined;
          return hooks.beforeTool?.(call, context);
        },
        async prepareStep(step, context) {
          // No call comes before the first step: what failed behind one ended with its run.
          if (step.step === 1) failure = undefined;
          tellFailure();
          await ask("steer");
          return hooks.prepareStep?.(step, context);
        },
        onFinish(run, context) {
          tellFailure();
          return hooks.onFinish?.(run, context);
        },
      },
    }),
    ...more,
    adapt: { ...more.adapt, model: (model) => asking(more.adapt?.model?.(model) ?? model, askAtEnd) },
  };
}

/** Whether the call before this one, in the answer's order, was answered without running. */
function isBehindOneThatNeverRan(session: Session | undefined, { key }: CallView): boolean {
  const before = session?.state.run?.turn?.calls[placeIn(key) - 1];
  return before?.result !== undefined && !hasBegun(before);
}

/** The same model; before an answer that would end the run is handed on, somebody is asked. */
function asking(model: Model, ask: (isTold: boolean) => Promise<void>): Model {
  return {
    ...modelFace(model),
    async call(request, io) {
      const message = await model.call(request, io);
      const isEnd = isAnswerLike(message) && callsOf(message).length === 0;
      const word = isEnd ? steerableStop(message.stop) : "error";
      if (word !== "error" && word !== "aborted")
        // What was cut off ends the run without another question.
        await unlessAborted(ask(word !== "length"), io.signal);
      return message;
    },
  };
}

/** Waits for it, but not beyond an abort: the answer that is there must not be lost with it. */
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
    // What it still throws after an abort is nobody's to hear.
    asked.catch(() => {});
  }
}
