// The room of the driver's children: starts, resumes and ends sub-agents.
//
// It gives a sub-agent what it needs from its parent, and passes on approvals. It decides nothing: a child's share and when
// it is resumed are in records. A child that waits for somebody outside is not kept in memory; when its parent's run abandons
// it, the child is ended in its own session.

import type { Clock } from "../../clock.ts";
import { messageOf, type RondoError } from "../../errors.ts";
import type { RondoEvent } from "../../events.ts";
import type { BlobStore } from "../../journal/blobs.ts";
import type { Journal } from "../../journal.ts";
import type { Rules } from "../../rules/rule.ts";
import type { PassedOn } from "../../tool/dependency.ts";
import type { ChildPlace, ChildStart, Tool } from "../../tool.ts";
import type { LeftChild, PassedAnswer, Spent, WaitingCall } from "../child-facts.ts";
import { nothingSpent, passedIn, spentSince } from "../children.ts";
import type { CallKey, Fact, LogRecord } from "../records.ts";
import type { Call, State } from "../state.ts";
import { viewOf } from "./announce.ts";

/** What this room needs of the driver. */
interface Place {
  session: string;
  rules: Rules;
  journalOfChildren: Journal;
  blobs?: BlobStore | undefined;
  tools: ReadonlyMap<string, Tool>;
  clock: Clock;
  passedOn?: PassedOn;
  endChild?: Tool["endChild"];
}

interface Driving {
  state(): State;
  post(fact: Fact): void;
  tell(event: RondoEvent): void;
  /** Stops all work. Absent: no sub-agent runs here. */
  lose?(error: RondoError): void;
}

/** A child's share of its parent's grace: it settles a little earlier, so that what it spent is reported in time. */
const graceShare = 0.75;

export class Children {
  readonly #place: Place;
  readonly #driving: Driving;
  /** What running children want to be told: answers to their calls, and that they must stop. */
  readonly #onAnswer = new Map<CallKey, (answer: PassedAnswer) => void>();
  readonly #onLeave = new Map<CallKey, (now: boolean) => void>();
  #leaving: "soon" | "now" | undefined;

  constructor(place: Place, driving: Driving) {
    this.#place = place;
    this.#driving = driving;
  }

  /** What a call that is a sub-agent is started with. @param wanted whether this start of it is still wanted */
  startOf(call: Call, wanted: () => boolean): { child?: ChildStart } {
    const { child, key } = call;
    if (child === undefined) return {};
    this.#onAnswer.delete(key);
    this.#onLeave.delete(key);
    const depth = (this.#driving.state().run?.parent?.depth ?? 0) + 1;
    const view = viewOf(call);
    return {
      child: {
        ...this.#placeOf(child.session, key),
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
        onAnswer: (heard) => this.#onAnswer.set(key, heard),
        onLeave: (heard) => {
          this.#onLeave.set(key, heard);
          if (this.#leaving !== undefined) heard(this.#leaving === "now");
        },
        lose: (error) => {
          if (wanted()) this.#driving.lose?.(error);
        },
      },
    };
  }

  /** A drain: all running children stop where they are. */
  leave(when: "soon" | "now"): void {
    this.#leaving = when;
    for (const heard of this.#onLeave.values()) heard(when === "now");
  }

  /** Revokes a `leave`. */
  stay(): void {
    this.#leaving = undefined;
  }

  /** Passes a record on to the children it concerns. */
  see(record: LogRecord): void {
    if (record.type === "approval_passed") {
      this.#onAnswer.get(record.call)?.(passedIn(record));
      return;
    }
    if (record.type === "tool_finished" || (record.type === "child_waits" && record.parked)) {
      this.#onAnswer.delete(record.call);
      this.#onLeave.delete(record.call);
    }
  }

  /** Ends a sub-agent that is not running, in its own session. A fact is posted in any case. */
  async end({ call, name, session, told }: LeftChild): Promise<Fact> {
    const tool = this.#place.tools.get(name);
    const by = tool?.endChild === undefined ? this.#place : tool;
    // Its tool is gone, and this process cannot bring it back.
    if (by.endChild === undefined)
      return { type: "late_result", call, error: `there is no sub-agent ${name} any more` };
    try {
      const spent = await by.endChild(this.#placeOf(session, call), "its parent was ended");
      const since = spent === undefined ? nothingSpent : spentSince(spent, told);
      // What it had reported before it stopped was counted already.
      if (!hasSpent(since)) return { type: "late_result", call };
      return { type: "late_result", call, result: { content: [], isError: true, spent: since } };
    } catch (thrown) {
      return { type: "late_result", call, error: messageOf(thrown), open: true };
    }
  }

  #placeOf(session: string, call: CallKey): ChildPlace {
    const { journalOfChildren: journal, blobs, clock, passedOn } = this.#place;
    const graceMs = Math.floor((this.#driving.state().options?.abortGraceMs ?? 0) * graceShare);
    const parent = { session: this.#place.session, call };
    return {
      session,
      parent,
      journal,
      blobs,
      clock,
      graceMs,
      ...(passedOn === undefined ? {} : { passedOn }),
    };
  }
}

const hasSpent = ({ tokens, modelCalls, agents, uncounted }: Spent): boolean =>
  tokens > 0 || modelCalls > 0 || agents > 0 || uncounted > 0;
