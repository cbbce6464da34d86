// The room of the campaign: runs the targets in turn, a slice of time each, until the time or the count is reached.
//
// An input is determined by seed, target and number, and can be regenerated from these alone. How many are tried per minute
// depends on the machine; what the n-th one is does not.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@rondo/core";
import { Chance } from "../chance.ts";
import { kindOf } from "./judge.ts";
import { minimise } from "./minimise.ts";
import type { FuzzTarget } from "./target.ts";
import { targetOf, targets } from "./targets.ts";
import { WatchedThread } from "./thread.ts";

export interface Campaign {
  seed: number;
  /** Duration, in milliseconds. */
  ms?: number;
  /** Number of inputs per target. */
  inputs?: number;
  /** The number of the first one. Default: 0. */
  from?: number;
  /** Only this target, or all whose names begin with this and a dash. */
  only?: string;
  /** How long one input may take before it counts as hanging. Default: 15,000 ms. */
  stallMs?: number;
  /** Number of findings after which a target is skipped. Default: 3. */
  most?: number;
  /** Called for each finding at once. */
  hear?: (finding: Finding) => void;
}

export interface Finding {
  target: string;
  seed: number;
  number: number;
  wrong: string;
  /** Minimized as far as possible. */
  input: Json;
}

export interface Outcome {
  inputs: number;
  broken: number;
  findings: Finding[];
  /** Number of inputs per target. */
  each: { readonly [target: string]: number };
}

/** A target's slice, in milliseconds. */
const sliceMs = 250;
/** How many smaller inputs are tried: fewer for a hang, where each must be waited for. */
const tries = { quick: 1_500, hanging: 12 };

export function chosen(only: string | undefined): FuzzTarget[] {
  if (only === undefined) return [...targets];
  const one = targetOf(only);
  return one === undefined ? targets.filter(({ name }) => name.startsWith(`${only}-`)) : [one];
}

export async function campaign(options: Campaign): Promise<Outcome> {
  const { seed, ms, inputs, from = 0, only, stallMs = 15_000, most = 3, hear = () => {} } = options;
  const scratch = mkdtempSync(join(tmpdir(), "rondo-fuzz-"));
  const thread = new WatchedThread(scratch, stallMs);
  const until = ms === undefined ? Number.POSITIVE_INFINITY : performance.now() + ms;
  const last = inputs === undefined ? Number.POSITIVE_INFINITY : from + inputs;
  const state = chosen(only).map((target) => ({ target, next: from, kinds: new Set<string>(), broken: 0 }));
  const findings: Finding[] = [];
  try {
    while (performance.now() < until) {
      const due = state.filter((one) => one.next < last && one.kinds.size < most && one.broken < most * 20);
      if (due.length === 0) break;
      for (const one of due) {
        const { target } = one;
        const left = until - performance.now();
        if (left <= 0) break;
        const slice = Math.min(left, sliceMs * (target.share ?? 1));
        const order = {
          do: "run",
          target: target.name,
          seed,
          from: one.next,
          count: last - one.next,
          ms: slice,
        } as const;
        const answer = await thread.give(order);
        const lost = "lost" in answer;
        one.next = lost ? answer.number + 1 : one.next + answer.ran;
        const number = one.next - 1;
        const broken = lost
          ? { input: target.make(new Chance(seed, target.name, number)), wrong: answer.lost }
          : answer.broken;
        if (broken === undefined) continue;
        one.broken += 1;
        const kind = kindOf(broken.wrong);
        if (one.kinds.has(kind)) continue;
        one.kinds.add(kind);
        const same = async (input: Json): Promise<boolean> => {
          const again = await thread.give({ do: "try", target: target.name, input });
          return kindOf("lost" in again ? again.lost : (again.broken?.wrong ?? "")) === kind;
        };
        const input = await minimise(broken.input, same, lost ? tries.hanging : tries.quick);
        const found: Finding = { target: target.name, seed, number, wrong: broken.wrong, input };
        findings.push(found);
        hear(found);
      }
    }
  } finally {
    await thread.end();
    rmSync(scratch, { recursive: true, force: true });
  }
  return {
    inputs: state.reduce((sum, { next }) => sum + next - from, 0),
    broken: state.reduce((sum, { broken }) => sum + broken, 0),
    findings,
    each: Object.fromEntries(state.map(({ target, next }) => [target.name, next - from])),
  };
}

export const summaryOf = ({ inputs, broken }: Outcome): string => `${inputs} inputs, ${broken} broken`;
