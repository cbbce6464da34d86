// The room of the sub-agent: an agent as a tool of another.
//
// A call of it is a session of its own, in its parent's journal, under a name made of the call's key: whoever starts the
// call again, in this process or another, finds it and goes on with it. That is why such a call may start again after a
// crash; what inside it may not, does not, for its own journal says so. What it may spend was taken from its parent's
// limits before it started, and what it spent is told with its result.

import type { Agent } from "./agent.ts";
import { permission } from "./checks/ready-made.ts";
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
import { isA, RondoError } from "./errors.ts";
import type { CallView } from "./events.ts";
import type { Input } from "./input.ts";
import type { PassedAnswer, WaitingCall } from "./loop/child-facts.ts";
import { nothingSpent, spentBy, spentSince } from "./loop/children.ts";
import type { RunResult } from "./result.ts";
import type { Texts } from "./rules/texts.ts";
import type { InferOutput, SchemaLike } from "./schema.ts";
import { OthersSession } from "./session/child-of.ts";
import { endChild } from "./session/end-child.ts";
import type { Session } from "./session.ts";
import { ExternalResult } from "./tool/external-result.ts";
import { type ChildStart, ChildWaits, type Tool, type ToolContext, ToolResult, tool } from "./tool.ts";

export interface SubAgentOptions<S extends SchemaLike = typeof taskSchema> {
  /** `[A-Za-z0-9_-]`, 1 to 64 characters. */
  name: string;
  /** What the model reads of it: when to hand it work. */
  description: string;
  /** Who does the work. A function is asked at each call, so that an agent may be given to itself. */
  agent: Agent | (() => Agent);
  /** What the model gives it. Default: an object with a `task`, a text. */
  inputSchema?: S;
  /** The sub-agent's task, made of the arguments. Default: their `task`, or all of them as JSON. */
  task?: (args: InferOutput<S>) => Input;
  /** The most that one call may spend, with all below it; `ms` from its start. Never more than its share of what the parent has left. Default: that share. */
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
  /** How deep it may stand below a run that nobody else started; 1 is right below. Default: 3. */
  maxDepth?: number;
  /** What a call touches. Default: nothing, so that several may work at once. */
  keys?: (args: InferOutput<S>) => readonly string[];
  /** Whether somebody is asked before it starts. Default: `allow`. */
  permission?: Tool["permission"];
  /** Milliseconds, for its work; the time it waits for somebody is not counted. Default: none, other than its budget and its own limits. */
  timeoutMs?: number;
}

/** Longer than anything runs. A number that JSON holds. */
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
    permission,
    timeoutMs: finite,
  },
  ["name", "description", "agent"],
);

/**
 * An agent as a tool. Each call is a session of its own in the parent's journal, `<session>:<call key>`, that survives
 * what its parent survives. Its answer is the call's result; a run that came to none is an error result that says why.
 * @throws RondoError `invalid_request` for a name, a schema or a number that cannot be used
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
    permission: options.permission ?? "allow",
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
  return {
    ...made,
    agent: { maxDepth, ...(budget === undefined ? {} : { most: budget }) },
    endChild: (place, reason) => endChild(agentOf().openChild(place), reason),
    subAgent: { agent: agentOf, task: (args) => taskOf(args as InferOutput<S>) } satisfies SubAgentParts,
  };
}

/** What a sub-agent is made of. `task` may throw. */
export interface SubAgentParts {
  agent(): Agent;
  /** @param args as the tool's check gave them */
  task(args: unknown): Input;
}

/** Who the sub-agents of a tool are, for a driver that gives them another place than this process. Undefined: it has none. */
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

/** Starts the sub-agent, or goes on with it, until it has an end or waits for somebody. */
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
    return new ToolResult(
      [{ type: "text", text: `Error: ${thrown.message}` }],
      true,
      false,
      [],
      nothingSpent,
    );
  }
  const stop = session.subscribe((event) => {
    child.emit(event);
    if (event.type === "approval_request") child.waits(session.pending.map(waitingIn(session.id)));
  });
  let leaving: "soon" | "now" | undefined;
  const leave = (): void => {
    // What is not at work yet is told once it is.
    if (leaving !== undefined && session.status === "running")
      void session.drain({ withinMs: leaving === "now" ? 0 : longestWait }).catch(() => {});
  };
  // Whoever leaves drops what is under way, and wants it to go on elsewhere.
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
    // One that comes when it has stopped stands in the parent's records, and is told when it goes on.
    if (session.status === "running") heard.push(say(session, answer).catch(() => {}));
  });
  try {
    let result = await driven(session, task, child, () => {
      if (signal.aborted) abort();
      leave();
    });
    // Other arguments take their time to be checked, and may have set it going again.
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

async function driven(
  session: Session,
  task: () => Input,
  { answers, parent }: ChildStart,
  ongoing: () => void,
): Promise<RunResult> {
  const before = session.result;
  // It came to its end, and its parent died before it heard of it.
  if (before?.end !== undefined) return before;
  const known = answers.filter(({ inside }) => session.pending.some(({ id }) => id === inside));
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

/** What the run comes to that hears them all. One that cannot be said any more is passed over; where that is so of all, the first says why. */
async function all(saying: readonly Promise<RunResult>[]): Promise<RunResult> {
  await Promise.allSettled(saying);
  return Promise.any(saying).catch(() => saying[0] as Promise<RunResult>);
}

function say(session: Session, { inside, said }: PassedAnswer): Promise<RunResult> {
  if (said.answer === "approve") return session.approve(inside);
  // Who gave them has heard that they were passed on.
  if (said.answer === "edit") return session.edit(inside, said.args, { misfit: "told" });
  if (said.answer === "result") {
    const { answer: _answer, ...result } = said;
    return session.answer(inside, new ExternalResult(result));
  }
  const { reason, stop } = said;
  return session.deny(inside, reason, stop === undefined ? {} : { stop });
}

/** A call that waits in a sub-agent's session, as its parent hears of it. */
export const waitingIn =
  (session: string) =>
  ({ key: _there, child, ...waiting }: CallView): WaitingCall => ({
    ...waiting,
    session: child?.session ?? session,
    agents: child?.agents ?? [],
  });

/** What the parent's model reads of a run of its sub-agent that has ended. */
export function answerOf(
  { text, output, end: ended }: RunResult,
  name: string,
  texts: Texts,
): { content: string; isError: boolean } {
  const said = output === undefined ? text : JSON.stringify(output);
  // Who landed and said nothing has come to no answer.
  if (ended?.landed === true && ended.error === undefined && said.trim() !== "")
    return { content: `${said}\n\n${texts.childLanded(ended.reason)}`, isError: false };
  if (ended?.reason === "completed" || ended?.reason === "done_tool")
    return { content: said, isError: false };
  // Whoever stopped it on purpose may have said why.
  const { said: reason } = ended?.evidence ?? {};
  const why = ended?.error?.message ?? (typeof reason === "string" ? reason : undefined);
  return {
    content: texts.childFailed(name, ended?.reason ?? "unknown", why, text),
    isError: true,
  };
}

const reasonText = (reason: unknown): string =>
  reason instanceof Error ? reason.message : "its parent no longer wants it";
