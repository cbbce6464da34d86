// The room of the driver's children: the driver's arm towards the sub-agents that its tools are.
//
// It hands a sub-agent what it needs of its parent, and passes on what is said to it. It decides nothing: what a child
// may spend and when it goes on stand in records. A child that waits for somebody is in no memory; when its parent's
// run no longer wants it, it is ended in its own journal, so that nobody is asked for what nobody needs.

import type { BlobStore } from "../blobs.ts";
import type { Clock } from "../clock.ts";
import { messageOf } from "../errors.ts";
import type { RondoEvent } from "../events.ts";
import type { Journal } from "../journal.ts";
import type { Rules } from "../rules/rule.ts";
import type { ChildPlace, ChildStart, Tool } from "../tool.ts";
import { viewOf } from "./announce.ts";
import type { PassedAnswer, Spent, WaitingCall } from "./child-facts.ts";
import { spentSince } from "./children.ts";
import type { CallKey, Fact, LogRecord } from "./records.ts";
import type { Call, State } from "./state.ts";

/** What it acts with. */
interface Place {
  session: string;
  rules: Rules;
  journalOfChildren: Journal;
  blobs?: BlobStore | undefined;
  tools: ReadonlyMap<string, Tool>;
  clock: Clock;
}

interface Driving {
  state(): State;
  post(fact: Fact): void;
  tell(event: RondoEvent): void;
}

/** A child settles a little before its parent gives it up, so that what it spent is told in time. */
const graceShare = 0.75;

export class Children {
  readonly #place: Place;
  readonly #driving: Driving;
  readonly #hearing = new Map<CallKey, (answer: PassedAnswer) => void>();
  readonly #left = new Map<CallKey, (now: boolean) => void>();
  #leaving: "soon" | "now" | undefined;

  constructor(place: Place, driving: Driving) {
    this.#place = place;
    this.#driving = driving;
  }

  /** What a call that is a sub-agent is started with. @param wanted whether this start of it still is */
  startOf(call: Call, wanted: () => boolean): { child?: ChildStart } {
    const { child, key } = call;
    if (child === undefined) return {};
    this.#hearing.delete(key);
    this.#left.delete(key);
    const depth = (this.#driving.state().run?.parent?.depth ?? 0) + 1;
    const view = viewOf(call);
    return {
      child: {
        ...this.#placeOf(child.session),
        parent: { session: this.#place.session, call: key, depth, budget: child.reserved },
        answers: child.answers,
        told: child.spent,
        texts: this.#place.rules.texts,
        emit: (event) => {
          if (wanted()) this.#driving.tell({ type: "child", call: view, event });
        },
        waits: (pending: WaitingCall[]) => {
          if (wanted()) this.#driving.post({ type: "child_waits", call: key, pending, parked: false });
        },
        onAnswer: (heard) => this.#hearing.set(key, heard),
        onLeave: (heard) => {
          this.#left.set(key, heard);
          if (this.#leaving !== undefined) heard(this.#leaving === "now");
        },
      },
    };
  }

  /** The process leaves: all children at work stop where they are. */
  leave(when: "soon" | "now"): void {
    this.#leaving = when;
    for (const heard of this.#left.values()) heard(when === "now");
  }

  /** Nobody leaves any more. */
  stay(): void {
    this.#leaving = undefined;
  }

  /** Takes note of what happened to calls that are sub-agents. */
  see(record: LogRecord, before: State): void {
    if (record.type === "approval_passed") {
      const { call, inside, said } = record;
      this.#hearing.get(call)?.({ inside, said });
      return;
    }
    if (record.type === "tool_finished" || (record.type === "child_waits" && record.parked)) {
      this.#hearing.delete(record.call);
      this.#left.delete(record.call);
    }
    if (record.type !== "tool_finished") return;
    const call = before.run?.turn?.calls.find((one) => one.key === record.call);
    // A run that is over left one behind: it waits for nobody any more.
    if (call?.result === undefined && call?.startedAt === undefined) this.unwanted(call);
  }

  /** Ends the sub-agent of a call that is not at work: nobody waits for it any more. */
  unwanted(call: Call | undefined): void {
    if (call?.child === undefined) return;
    const { child, key, name } = call;
    const { session, spent: told } = child;
    const ending = this.#place.tools.get(name)?.endChild?.(this.#placeOf(session), "its parent was ended");
    const ended = (spent: Spent | undefined): void => {
      if (spent === undefined) return;
      const result = { content: [], isError: true, spent: spentSince(spent, told) };
      this.#driving.post({ type: "late_result", call: key, result });
    };
    const failed = (thrown: unknown): void =>
      this.#driving.tell({
        type: "warning",
        code: "child_left",
        message: `the sub-agent ${session} waits on, though nobody wants it any more: ${messageOf(thrown)}`,
      });
    ending?.then(ended).catch(failed);
  }

  #placeOf(session: string): ChildPlace {
    const { journalOfChildren: journal, blobs, clock } = this.#place;
    const graceMs = Math.floor((this.#driving.state().options?.abortGraceMs ?? 0) * graceShare);
    return { session, journal, blobs, clock, graceMs };
  }
}
