// The room of the sub-agent: an agent as a tool of another.
//
// A call of it has a session of its own, in its parent's journal, with an id made of the call's key: whoever starts the
// call again, in this process or another, finds that session and continues it. That is why such a call may start again
// after a crash: its own records say which calls inside it must not. Its share was taken from its parent's limits before
// it started, and what it spent is reported with its result.

import type { Agent } from "./agent.ts";
import { permission } from "./checks/ready-made.ts";
import { subAgentWords } from "./checks/tool-words.ts";
import {
  able,
  anything,
  callable,
  checkGiven,
  count,
  either,
  finite,
  membersOf,
  some,
  text,
} from "./checks.ts";
import { longestWait } from "./clock.ts";
import { isA, isError, RondoError } from "./errors.ts";
import type { CallView } from "./events.ts";
import type { Input } from "./input.ts";
import type { PassedAnswer, WaitingCall } from "./loop/child-facts.ts";
import { isAnswerTo, nothingSpent, spentBy, spentSince } from "./loop/children.ts";
import type { RunResult } from "./result.ts";
import { unpricedIn } from "./rules/limits.ts";
import type { Texts } from "./rules/texts.ts";
import type { InferOutput, SchemaLike } from "./schema.ts";
import { lostChild, OthersSession } from "./session/child-of.ts";
import { endChild } from "./session/end-child.ts";
import type { Session } from "./session.ts";
import type { Permission } from "./tool/effect.ts";
import { ExternalResult } from "./tool/external-result.ts";
import { ToolResult } from "./tool/tool-result.ts";
import { type ChildStart, ChildWaits, type Tool, type ToolContext, tool } from "./tool.ts";

export interface SubAgentOptions<S extends SchemaLike = typeof taskSchema> {
  /** `[A-Za-z0-9_-]`, 1 to 64 characters. */
  name: string;
  /** Tells the model when to call it. */
  description: string;
  /** The agent that does the work. A function is called at each call, so that an agent can be its own sub-agent. */
  agent: Agent | (() => Agent);
  /** Schema of the call's arguments. Default: an object with a string `task`. */
  inputSchema?: S;
  /** The sub-agent's task, made of the arguments. Default: their `task`, or all of them as JSON. */
  task?: (args: InferOutput<S>) => Input;
  /** The most that one call may spend, including everything below it. Never more than its share of what the parent has left. Default: that share. */
  budget?: {
    /** Input and output tokens together. */
    tokens?: number;
    /** US dollars. */
    usd?: number;
    modelCalls?: number;
    /** Sub-agents below it. */
    agents?: number;
    /** Milliseconds, from its start. */
    ms?: number;
  };
  /** How deep it may be nested; a sub-agent of a top-level run has depth 1. Default: 3. */
  maxDepth?: number;
  /** Returns names of what a call touches. Default: nothing, so that several calls may run in parallel. */
  keys?: (args: InferOutput<S>) => readonly string[];
  /** Whether a call needs an approval before it starts, as for any tool; a function decides from the arguments, at once. Default: `allow`. */
  permission?: Permission | ((args: InferOutput<S>) => Permission);
  /** Timeout for its work in milliseconds, without the time it waits for an approval or an answer. Default: none, other than its budget and its own limits. */
  timeoutMs?: number;
}

/** Longer than anything runs, and a number that JSON can hold. */
const never = 2 ** 52;

const taskSchema = {
  type: "object",
  properties: {
    task: { type: "string", description: "What is to be done, with all that must be known for it" },
  },
  required: ["task"],
  additionalProperties: false,
} as const;

const subAgentOptions = membersOf<SubAgentOptions<SchemaLike>>(
  {
    name: text,
    description: text,
    agent: either(callable, able("an Agent, or a function that gives one,", "openChild")),
    inputSchema: anything,
    task: callable,
    budget: some(
      membersOf<NonNullable<SubAgentOptions["budget"]>>({
        tokens: finite,
        usd: finite,
        modelCalls: count,
        agents: count,
        ms: finite,
      }),
      "tokens, usd, modelCalls, agents or ms",
    ),
    maxDepth: count,
    keys: callable,
    permission: either(callable, permission),
    timeoutMs: finite,
  },
  ["name", "description", "agent"],
  subAgentWords,
);

/**
 * Makes a tool of an agent. Each call has a session of its own in the parent's journal, `<session>:<call key>`, that survives
 * what its parent survives. Its answer is the call's result; if its run has none, the result is an error that says why.
 * @throws RondoError `invalid_request` for an invalid name, schema or number
 */
export function subAgent<const S extends SchemaLike = typeof taskSchema>(options: SubAgentOptions<S>): Tool {
  const { name, maxDepth = 3, budget, timeoutMs = never } = { ...options };
  checkGiven(subAgentOptions, options, `sub-agent ${JSON.stringify(name) ?? "without a name"}`);
  const taskOf = options.task ?? defaultTask;
  const agentOf = (): Agent => {
    if (typeof options.agent !== "function") return options.agent;
    const agent = options.agent();
    checkGiven(givenAgent, { agent }, `sub-agent ${JSON.stringify(name)}`);
    return agent;
  };
  const made = tool({
    name,
    description: options.description,
    inputSchema: options.inputSchema ?? taskSchema,
    effect: "idempotent",
    keys: (args) => options.keys?.(args as InferOutput<S>) ?? [],
    permission: (options.permission ?? "allow") as Permission | ((args: unknown) => Permission),
    timeoutMs,
    execute: async (args, context) => {
      try {
        return await work(agentOf(), () => taskOf(args as InferOutput<S>), name, context);
      } catch (thrown) {
        if (isA(RondoError, thrown) && thrown.kind === "storage") context.child?.lose(thrown);
        throw thrown;
      }
    },
  });
  const unpriced =
    typeof options.agent === "function" ? [] : unpricedIn(options.agent.parts.resolved.options);
  return {
    ...made,
    agent: {
      maxDepth,
      ...(budget === undefined ? {} : { most: budget }),
      ...(unpriced.length === 0 ? {} : { unpriced }),
    },
    endChild: (place, reason) => endChild(agentOf().openChild(place), reason),
    subAgent: { agent: agentOf, task: (args) => taskOf(args as InferOutput<S>) } satisfies SubAgentParts,
  };
}

/** The parts of a sub-agent. `task` may throw. */
export interface SubAgentParts {
  agent(): Agent;
  /** @param args as the tool's check returned them */
  task(args: unknown): Input;
}

/** The agent behind a tool, for a driver that runs sub-agents elsewhere than in this process. Undefined: there is none. */
export const subAgentOf = (tool: Tool | undefined): SubAgentParts | undefined =>
  tool?.subAgent as SubAgentParts | undefined;

const givenAgent = membersOf<{ agent: Agent }>(
  { agent: able("an Agent, given at once by its function,", "openChild") },
  ["agent"],
);

function defaultTask(args: unknown): string {
  const { task } = args as { task?: unknown };
  return typeof task === "string" ? task : JSON.stringify(args);
}

/** Starts or resumes the sub-agent, until it ends or parks. */
async function work(
  agent: Agent,
  task: () => Input,
  name: string,
  { child, signal }: ToolContext,
): Promise<ToolResult | ChildWaits> {
  if (child === undefined)
    throw new RondoError("capability", `the sub-agent ${name} runs only as a tool of an agent`);
  let session: Session;
  try {
    session = await agent.openChild(child);
  } catch (thrown) {
    if (!isA(OthersSession, thrown)) throw thrown;
    return notStarted(thrown);
  }
  const lost = session.result === undefined ? lostChild(name, session.id, child) : undefined;
  if (lost !== undefined) return notStarted(lost);
  const stop = session.subscribe((event) => {
    child.emit(event);
    if (event.type === "approval_request" || event.type === "answer_request")
      child.waits(session.pending.map(waitingIn(session.id)));
  });
  let leaving: "soon" | "now" | undefined;
  const leave = (): void => {
    // Answers that come before it runs are passed on when it does.
    if (leaving !== undefined && session.status === "running")
      void session.drain({ withinMs: leaving === "now" ? 0 : longestWait }).catch(() => {});
  };
  // A drain drops what is in flight, to be continued elsewhere.
  const abort = (): void => {
    if (leaving === undefined) session.abort(reasonText(signal.reason));
  };
  signal.addEventListener("abort", abort, { once: true });
  child.onLeave((now) => {
    leaving = now ? "now" : "soon";
    leave();
  });
  const heard: Promise<unknown>[] = [];
  child.onAnswer((answer) => {
    // An answer that comes when it has parked is in the parent's records, and is passed on when it is resumed.
    if (session.status === "running" && isMeant(session, answer))
      heard.push(say(session, answer).catch(() => {}));
  });
  try {
    let result = await driven(session, task, child, () => {
      if (signal.aborted) abort();
      leave();
    });
    // Checking edited arguments takes time, and may have resumed the run.
    while (heard.length > 0) {
      await Promise.all(heard.splice(0));
      result = session.result ?? result;
    }
    await session.settled();
    const spent = spentSince(spentBy(session.state), child.told);
    if (result.parked !== undefined)
      return new ChildWaits(
        result.parked.pending.map(waitingIn(session.id)),
        spent,
        session.status === "interrupted",
      );
    const { content, isError } = answerOf(result, name, child.texts);
    return new ToolResult([{ type: "text", text: content }], isError, false, [], spent);
  } finally {
    signal.removeEventListener("abort", abort);
    stop();
  }
}

/** Nothing was spent now, and no run must be ended: there is none, or it is another's. */
const notStarted = ({ message }: RondoError): ToolResult =>
  new ToolResult([{ type: "text", text: `Error: ${message}` }], true, false, [], nothingSpent);

async function driven(
  session: Session,
  task: () => Input,
  { answers, parent }: ChildStart,
  ongoing: () => void,
): Promise<RunResult> {
  const before = session.result;
  // It had ended, and its parent died before it recorded that.
  if (before?.end !== undefined) return before;
  const known = answers.filter((answer) => isMeant(session, answer));
  const driving =
    before === undefined
      ? session.send(task(), { parent })
      : known.length === 0
        ? session.resume()
        : all(known.map((answer) => say(session, answer)));
  ongoing();
  const result = await driving;
  return session.result ?? result;
}

/** The result of the run after it got all these answers. One that can no longer be given is skipped; if that is so for all, the first one's error is thrown. */
async function all(saying: readonly Promise<RunResult>[]): Promise<RunResult> {
  await Promise.allSettled(saying);
  return Promise.any(saying).catch(() => saying[0] as Promise<RunResult>);
}

/** Whether a call still waits for this answer. */
const isMeant = (session: Session, answer: PassedAnswer): boolean =>
  session.pending.some((call) => isAnswerTo(answer, call));

function say(session: Session, { inside, said }: PassedAnswer): Promise<RunResult> {
  if (said.answer === "approve") return session.approve(inside);
  // The caller who gave them has been told that they were passed on.
  if (said.answer === "edit") return session.edit(inside, said.args, { misfit: "told" });
  if (said.answer === "result") {
    const { answer: _answer, ...result } = said;
    return session.answer(inside, new ExternalResult(result));
  }
  const { reason, stop } = said;
  return session.deny(inside, reason, stop === undefined ? {} : { stop });
}

/** A call that waits in a sub-agent's session, as its parent records it. */
export const waitingIn =
  (session: string) =>
  ({ key: _there, child, ...waiting }: CallView): WaitingCall => ({
    ...waiting,
    session: child?.session ?? session,
    agents: child?.agents ?? [],
  });

/** What the parent's model reads as the result of a sub-agent's ended run. */
export function answerOf(
  { text, output, end: ended }: RunResult,
  name: string,
  texts: Texts,
): { content: string; isError: boolean } {
  const said = output === undefined ? text : JSON.stringify(output);
  // A landing without text is not an answer.
  if (ended?.landed === true && ended.error === undefined && said.trim() !== "")
    return { content: `${said}\n\n${texts.childLanded(ended.reason)}`, isError: false };
  if (ended?.reason === "completed" || ended?.reason === "done_tool")
    return { content: said, isError: false };
  // Whoever stopped it on purpose may have given a reason.
  const { said: reason } = ended?.evidence ?? {};
  const why = ended?.error?.message ?? (typeof reason === "string" ? reason : undefined);
  return {
    content: texts.childFailed(name, ended?.reason ?? "unknown", why, text),
    isError: true,
  };
}

const reasonText = (reason: unknown): string =>
  isError(reason) ? reason.message : "its parent no longer wants it";
