// The room of approvals: answers to waiting calls, and grants.
//
// An answer is a fact like any other; a call is found by its id or its key. A call inside a sub-agent is answered
// through this run, so that the answer is recorded here and the sub-agent continues.

import { checkGiven, flag, membersOf, object, oneOf, text } from "../checks.ts";
import { invalidRequest, type RondoError } from "../errors.ts";
import type { CallView } from "../events.ts";
import { readArgs } from "../input.ts";
import type { PassedAnswer } from "../loop/child-facts.ts";
import { checkArgs } from "../loop/driving/act.ts";
import type { Approval, Fact } from "../loop/records.ts";
import { callIn } from "../loop/state.ts";
import type { JsonObject } from "../message.ts";
import { pendingIn, type RunResult } from "../result.ts";
import { checkGrant, type Grant, type HeldGrant, isLiveGrant } from "../rules/grants.ts";
import { heardOf, renderExternalResult } from "../tool/external-result.ts";
import { type Always, alwaysIn, grantLike } from "./always-grant.ts";
import { approvable } from "./approvable.ts";
import type { Driving } from "./driving.ts";
import { idsOf, type SessionParts } from "./parts.ts";

/** What happens to edited arguments that do not fit. `refused`: `edit` rejects and the call still waits. `told`: the model reads it as the call's result. */
export type Misfit = "refused" | "told";

const denial = membersOf<{ reason?: string; stop?: boolean }>({ reason: text, stop: flag });
const editing = membersOf<{ misfit?: Misfit }>({ misfit: oneOf("refused", "told") });

/** Checks `by`: who gave the answer, as stored in the record. */
const givenBy = membersOf<{ by: string | undefined }>({ by: text });

/** What a call waits for: its approval, or the answer to one question of its tool. */
const waitOf = ({ id, question }: CallView): string => `${id} ${question?.round ?? 0}`;

type ApprovalParts = Pick<SessionParts, "id" | "clock" | "resolved">;

export class Approvals<Output> {
  readonly #parts: ApprovalParts;
  readonly #driving: Driving<Output>;
  readonly #nextId: ReturnType<typeof idsOf>;
  /** Ids of grants whose records may still be on their way to the journal. */
  readonly #given = new Set<string>();
  /** What calls waited for and got, and is still on its way: with a slow journal the state does not have it yet. */
  readonly #answered = new Set<string>();

  constructor(parts: ApprovalParts, driving: Driving<Output>) {
    this.#parts = parts;
    this.#driving = driving;
    this.#nextId = idsOf(parts);
  }

  get pending(): CallView[] {
    return pendingIn(this.#driving.state);
  }

  get grants(): HeldGrant[] {
    const now = this.#parts.clock.now();
    return this.#driving.state.grants.filter((grant) => isLiveGrant(grant, now));
  }

  async approve(call: string, options: { always?: Always }): Promise<RunResult<Output>> {
    const always = alwaysIn(options);
    const looking = this.#lookFor(call);
    if (looking !== undefined) await looking;
    if (always === undefined) return this.#decide(call, { answer: "approve" });
    const grant = this.#grant(grantLike(approvable(this.#find(call)), always));
    return this.#decide(call, { answer: "approve", always: grant });
  }

  async deny(
    call: string,
    reason: string | undefined,
    options: { stop?: boolean },
  ): Promise<RunResult<Output>> {
    const because = reason === undefined ? {} : { reason };
    checkGiven(denial, { ...options, ...because }, "deny");
    const { stop } = options;
    return this.#decide(call, { answer: "deny", ...because, ...(stop === undefined ? {} : { stop }) });
  }

  async edit(call: string, given: JsonObject, options: { misfit?: Misfit }): Promise<RunResult<Output>> {
    checkGiven(editing, options, "edit");
    const { misfit = "refused" } = options;
    const looking = this.#lookFor(call);
    if (looking !== undefined) await looking;
    const view = approvable(this.#find(call));
    const args = readArgs(given);
    // Inside a sub-agent the arguments are checked there, and its model reads what is wrong.
    if (view.child !== undefined) return this.#pass(view, { answer: "edit", args });
    const tool = this.#parts.resolved.tools.get(view.name);
    if (tool === undefined) {
      const gone = `the tool ${view.name} is not among the agent's tools`;
      throw invalidRequest(
        misfit === "told"
          ? gone
          : `edit: ${gone}; the call still waits: deny() or answer() it, or open the session with an agent that has the tool`,
      );
    }
    const check = await checkArgs(tool, args);
    // The call still waits, so that the caller can correct the arguments.
    if (!check.ok && misfit === "refused")
      throw invalidRequest(
        `edit: the arguments do not fit the schema of ${view.name}: ${check.error.replace(/\.$/, "")}; the call still waits: edit() it again, or approve(), deny() or answer() it`,
      );
    return this.#decide(call, { answer: "edit", args, check });
  }

  async answer(call: string, given: unknown): Promise<RunResult<Output>> {
    const bringing = heardOf(given);
    const looking = this.#lookFor(call);
    if (looking !== undefined) await looking;
    const asked = this.#find(call);
    const whole = renderExternalResult(asked, await bringing);
    const view = this.#find(call);
    // Inside a sub-agent the result is cut there.
    if (view.child !== undefined) return this.#pass(view, { answer: "result", ...whole });
    const brought = await this.#driving.brought(asked.key, whole);
    return this.#say(this.#find(call), brought);
  }

  async #decide(call: string, approval: Approval): Promise<RunResult<Output>> {
    const looking = this.#lookFor(call);
    if (looking !== undefined) await looking;
    const view = approvable(this.#find(call));
    if (view.child !== undefined && approval.answer !== "edit") return this.#pass(view, approval);
    return this.#say(view, { type: "approval_given", call: view.key, approval });
  }

  /** The first answer to a call counts: while it is under way, the call does not wait for another. */
  async #say(view: CallView, fact: Fact): Promise<RunResult<Output>> {
    const { id } = view;
    const wait = waitOf(view);
    this.#answered.add(wait);
    try {
      // Another process may have answered the call in the meantime.
      return await this.#driving.goOn(() => {
        const now = this.#pendingBy(id);
        if (now === undefined || waitOf(now) !== wait)
          throw this.#notWaiting(id, " any more: another process has answered it, or its run is over");
        return fact;
      });
    } finally {
      this.#answered.delete(wait);
    }
  }

  async allow(grant: Omit<Grant, "id"> & { id?: string }, by: string | undefined): Promise<Grant> {
    checkGiven(object, grant, "allow");
    checkGiven(givenBy, { by }, "allow");
    const given = this.#grant(grant);
    this.#given.add(given.id);
    await this.#driving.store({ type: "allowed", grant: given, ...(by === undefined ? {} : { by }) });
    return given;
  }

  async revoke(id: string, by: string | undefined): Promise<void> {
    checkGiven(givenBy, { by }, "revoke");
    const isKnown = (): boolean =>
      this.#given.has(id) || this.#driving.state.grants.some((one) => one.id === id);
    const looking = isKnown() ? undefined : this.#driving.lookAgain();
    if (looking !== undefined) await looking;
    if (!isKnown())
      throw invalidRequest(`no grant ${JSON.stringify(id)} was given in session ${this.#parts.id}`);
    await this.#driving.store({ type: "revoked", id, ...(by === undefined ? {} : { by }) });
  }

  #grant(grant: Omit<Grant, "id"> & { id?: string }): Grant {
    return checkGrant(
      { id: `grant_${this.#nextId(this.#driving.state)}`, ...grant },
      this.#parts.clock.now(),
    );
  }

  /** Looks again for a call that did not wait when the session was last read. */
  #lookFor(call: string): void | Promise<void> {
    return this.#pendingBy(call) === undefined ? this.#driving.lookAgain() : undefined;
  }

  #pendingBy(call: string): CallView | undefined {
    return this.pending.find((one) => one.id === call || (one.key === call && one.child === undefined));
  }

  #find(call: string): CallView {
    const view = this.#pendingBy(call);
    if (view !== undefined && !this.#answered.has(waitOf(view))) return view;
    throw this.#notWaiting(call, view === undefined ? "" : " any more: it was just answered");
  }

  #notWaiting(call: string, why: string): RondoError {
    const waiting = this.pending
      .filter((one) => !this.#answered.has(waitOf(one)))
      .map(({ id, name }) => `${id} (${name})`);
    const { id: its } = Object(call) as { id?: unknown };
    const meant = typeof its === "string" ? `: give its id, ${JSON.stringify(its)}` : "";
    if (typeof (call as unknown) !== "string") return invalidRequest(`the id of a call is needed${meant}`);
    const { run } = this.#driving.state;
    // The journal was forgotten, or is another one: the commonest reason in a program of several processes.
    const isNew = run === undefined ? "; this journal has no run of it: was it made with another one?" : "";
    return invalidRequest(
      `no call ${JSON.stringify(call)} waits for an approval or an answer in session ${this.#parts.id}${why}; waiting: ${waiting.join(", ") || "none"}${isNew}`,
    );
  }

  #pass(view: CallView, said: PassedAnswer["said"]): Promise<RunResult<Output>> {
    const { key, id, question } = view;
    const under = callIn(this.#driving.state.run, key);
    const inside = id.slice((under?.id.length ?? 0) + 1);
    const round = question === undefined ? {} : { round: question.round };
    return this.#say(view, { type: "approval_passed", call: key, inside, ...round, said });
  }
}
