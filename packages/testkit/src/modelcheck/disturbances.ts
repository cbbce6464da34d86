// The room of disturbances: what befalls a run that nothing in it asked for.
//
// Words from outside, grants given and taken back, an abort, a power cut. Each uses up fuel, or there were no end of them.

import { type Fact, type State, userText } from "@rondo/core";

/** One answer of the world: the facts it adds, and how much time passes first. */
export interface WorldAnswer {
  name: string;
  facts: Fact[];
  /** Milliseconds until it happens. Default: 1. */
  after?: number;
}

/** How often each disturbance may still happen on a path. */
export interface Fuel {
  abort: number;
  steer: number;
  followUp: number;
  crash: number;
  /** Grants, given and taken back. Default: none. */
  grant?: number;
  /** Default: 0. */
  compact?: number;
  /** Words that wait, taken back. Default: none. */
  withdraw?: number;
}

/** All that may befall it now. */
export function disturbances(state: State, fuel: Fuel): WorldAnswer[] {
  if (state.run === undefined || state.run.end !== undefined) return [];
  const list: WorldAnswer[] = [];
  if (fuel.abort > 0) list.push({ name: "abort", facts: [{ type: "abort_asked", reason: "enough" }] });
  const queue = (lane: "steer" | "follow_up", id: string): WorldAnswer => ({
    name: lane,
    facts: [{ type: "queued", id, lane, message: userText(lane) }],
  });
  if (fuel.steer > 0) list.push(queue("steer", `s${fuel.steer}`));
  if (fuel.followUp > 0) list.push(queue("follow_up", `f${fuel.followUp}`));
  if ((fuel.withdraw ?? 0) > 0)
    list.push(
      ...state.inbox.map(({ id }): WorldAnswer => ({ name: "withdraw", facts: [{ type: "withdrawn", id }] })),
    );
  const grants = [
    { id: "any", tool: "guarded", uses: 1 },
    { id: "short", tool: "guarded", until: state.now + 2 },
    { id: "other", tool: "read" },
    { id: "narrow", tool: "guarded", args: { exact: { a: 1 } } },
  ];
  if ((fuel.grant ?? 0) > 0)
    list.push(
      ...grants.map((grant): WorldAnswer => ({ name: "grant", facts: [{ type: "allowed", grant }] })),
      ...state.grants.map(({ id }): WorldAnswer => ({ name: "grant", facts: [{ type: "revoked", id }] })),
    );
  const asked = { type: "mode", mode: "compacting", rule: "asked", evidence: {} } as const;
  if ((fuel.compact ?? 0) > 0) list.push({ name: "compact", facts: [asked] });
  if (fuel.crash > 0) list.push({ name: "crash", facts: [{ type: "opened", by: "check" }] });
  return list;
}

/** What a disturbance used up. */
export function spend(fuel: Fuel, answer: WorldAnswer): Fuel {
  switch (answer.name) {
    case "abort":
      return { ...fuel, abort: fuel.abort - 1 };
    case "steer":
      return { ...fuel, steer: fuel.steer - 1 };
    case "follow_up":
      return { ...fuel, followUp: fuel.followUp - 1 };
    case "grant":
      return { ...fuel, grant: (fuel.grant ?? 0) - 1 };
    case "crash":
      return { ...fuel, crash: fuel.crash - 1 };
    case "withdraw":
      return { ...fuel, withdraw: (fuel.withdraw ?? 0) - 1 };
    case "compact":
      return { ...fuel, compact: (fuel.compact ?? 0) - 1 };
    default:
      return fuel;
  }
}
