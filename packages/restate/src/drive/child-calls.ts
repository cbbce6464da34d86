// The room of child calls: a sub-agent is a session of its own, driven by its own virtual object.
//
// Its call is a call between objects, which outlives this process; a parent that waits for nothing else need not stay in
// memory. Messages to a running child go to its inbox, like any other message.

import type { ObjectContext, RestatePromise } from "@restatedev/restate-sdk";
import type { Call, CallKey, ErrorData, Fact, LogRecord, PassedAnswer, State, Thrown } from "@rondo/core";
import { type LeftChild, timely } from "@rondo/core/driving";
import type { Above } from "../hub.ts";
import type { Services } from "../names.ts";
import { jsonOf } from "../state/kv.ts";
import type { ChildRequest, EndRequest, PostRequest, Saying } from "../wire.ts";

/** What became of a child, as a fact for its parent. */
export interface ChildCame {
  call: CallKey;
  at: number;
  fact: Fact & { type: "tool_finished" | "child_waits" | "late_result" };
  /** Its task could not be built: reported with the parent's texts. */
  threw?: Thrown;
  /** The parent's own code for the child's result failed: that ends the parent's run. */
  unsaid?: ErrorData;
  /** Its records cannot be read: its result is unknown, and the parent's drive ends here. */
  lost?: ErrorData;
}

const unwanted = "its parent was ended";

/** A child must settle a little before its parent gives it up, so that its usage is reported in time. */
const graceShare = 0.75;

export class ChildCalls {
  readonly #ctx: ObjectContext;
  readonly #services: Services;
  readonly #session: string;
  readonly #agent: string;
  readonly #above: readonly Above[];
  readonly #calls = new Map<CallKey, RestatePromise<ChildCame>>();
  /** Those that were told to stop. */
  readonly #stopped = new Set<CallKey>();

  /** @param parent the session they belong to: its agent with the path of tools, and where events go */
  constructor(
    ctx: ObjectContext,
    services: Services,
    { session, agent, above }: { session: string; agent: string; above: readonly Above[] },
  ) {
    this.#ctx = ctx;
    this.#services = services;
    this.#session = session;
    this.#agent = agent;
    this.#above = above;
  }

  get outstanding(): Iterable<RestatePromise<ChildCame>> {
    return this.#calls.values();
  }

  start(call: Call, state: State): void {
    const { child, key } = call;
    if (child === undefined) return;
    const depth = (state.run?.parent?.depth ?? 0) + 1;
    const request: ChildRequest = {
      agent: this.#agentOf(call),
      call: key,
      id: call.id,
      args: call.args,
      parent: { session: this.#session, call: key, depth, budget: child.reserved },
      parentAgent: this.#agent,
      above: this.#above,
      answers: child.answers,
      told: child.spent,
      graceMs: graceIn(state),
    };
    this.#stopped.delete(key);
    this.#ask(call, child.session, "child", request);
  }

  /** Ends a child that was left behind. A running one was already told to stop, and reports its outcome itself. */
  end(left: LeftChild, state: State): void {
    const { call: key, name, session, told } = left;
    if (this.#calls.has(key)) return;
    const agent = this.#agentOf(left);
    // An earlier drive may still be running it: the inbox reaches that one, while the call waits for its turn.
    this.#tell(session, agent, { type: "abort_asked", reason: unwanted });
    const request: EndRequest = { agent, call: key, told, reason: unwanted, graceMs: graceIn(state) };
    this.#ask({ key, name }, session, "end", request);
  }

  #ask(
    { key, name }: Pick<Call, "key" | "name">,
    session: string,
    method: "child" | "end",
    parameter: ChildRequest | EndRequest,
  ): void {
    const asked = this.#ctx.genericCall<ChildRequest | EndRequest, ChildCame>({
      service: this.#services.session,
      method,
      key: session,
      parameter,
      inputSerde: jsonOf(),
      outputSerde: jsonOf(),
      name: `sub-agent ${name}`,
    });
    const lost = (why: string): ChildCame => {
      const text = `Error: the sub-agent ${name} was ended at the server: ${why}`;
      const result = { content: [{ type: "text" as const, text }], isError: true };
      return { call: key, at: 0, fact: { type: "tool_finished", call: key, result } };
    };
    // Somebody killed its invocation: its records tell how far it got, and `end` makes sure that it ends.
    this.#calls.set(
      key,
      asked.map((came, failure) => came ?? lost(failure?.message ?? "")),
    );
  }

  done(key: CallKey): void {
    this.#calls.delete(key);
  }

  /** Reacts to records of calls that are sub-agents. */
  see(record: LogRecord, before: State, after: State): void {
    if (record.type === "approval_passed") {
      const call = callOf(after, record.call);
      // A parked child gets the message with its next call.
      if (call?.child !== undefined && call.startedAt !== undefined) this.#say(call, insideFact(record));
      return;
    }
    if (record.type === "tool_finished") {
      const call = callOf(before, record.call);
      if (call?.child === undefined || call.result !== undefined) return;
      // The loop itself gave the result: the child is no longer needed. What it spends until it stops still counts.
      if (record.result.spent === undefined && this.#calls.has(record.call)) this.#stop(call, unwanted);
      return;
    }
    if (after.run?.cancelledAt === undefined || before.run?.cancelledAt !== undefined) return;
    for (const call of after.run.turn?.calls ?? [])
      if (call.child !== undefined && call.startedAt !== undefined && call.result === undefined)
        this.#stop(call, after.run.abort?.reason ?? "its parent no longer wants it");
  }

  #stop(call: Call, reason: string): void {
    if (this.#stopped.has(call.key)) return;
    this.#stopped.add(call.key);
    this.#say(call, { type: "abort_asked", reason });
  }

  #say(call: Call, say: Saying): void {
    if (call.child !== undefined) this.#tell(call.child.session, this.#agentOf(call), say);
  }

  #tell(session: string, agent: string, say: Saying): void {
    this.#ctx.genericSend<PostRequest>({
      service: this.#services.inbox,
      method: "post",
      key: session,
      parameter: { agent, say },
      inputSerde: jsonOf(),
    });
  }

  #agentOf({ name }: Pick<Call, "name">): string {
    return `${this.#agent}/${name}`;
  }
}

const graceIn = ({ options }: State): number => Math.floor((options?.abortGraceMs ?? 0) * graceShare);

/** The facts that the parent records. What the child asked before it stopped may still be in transit, but must be recorded first. */
export function factsOfChild({ call: key, fact, unsaid }: ChildCame, state: State): Fact[] {
  const facts: Fact[] = [];
  if (unsaid !== undefined) facts.push({ type: "abort_asked", reason: unsaid.message, error: unsaid });
  if (fact.type === "child_waits") {
    const { pending } = fact;
    if (JSON.stringify(callOf(state, key)?.child?.waiting) !== JSON.stringify(pending))
      facts.push({ type: "child_waits", call: key, pending, parked: false });
  }
  return [...facts, fact].map((one) => timely(one, state));
}

const callOf = (state: State, key: CallKey): Call | undefined =>
  state.run?.turn?.calls.find((call) => call.key === key);

/** A message that was sent by way of the parent, as sent to the child itself: with the call's id there. */
export function insideFact({ inside, round, said }: PassedAnswer): Saying {
  return { type: "answer", call: inside, ...(round === undefined ? {} : { round }), said };
}
