// The room of the examination: the sessions of one agent, its helpers' among them, judged together.

import { type Journal, type LogRecord, RecordReader, resolve } from "@rondo/core";
import { damaged, type Mistake } from "./mistakes.ts";
import type { Plan } from "./plan.ts";
import { type Cast, graceMs } from "./scene.ts";
import { type Came, emptyCame, judge } from "./verdict.ts";
import type { Effects } from "./world.ts";

/** What the tools really do. */
const doers: ReadonlyMap<string, "write" | "idempotent"> = new Map([
  ["set", "idempotent"],
  ["note", "write"],
  ["stamp", "write"],
  ["publish", "write"],
  ["post", "write"],
] as const);

export interface Examining {
  plan: Plan;
  cast: Cast;
  journal: Journal;
  effects: Effects;
  mistake?: Mistake | undefined;
  /** Looks at the records of each session as they are. */
  look?: (id: string, records: readonly LogRecord[]) => string[];
}

/** Endings are the agent's own; everything else is the sum of its sessions. */
export async function examine({ plan, cast, journal, effects, mistake, look }: Examining): Promise<Came> {
  const all = emptyCame();
  const parent = resolve(cast.agent).rules;
  const child = resolve(cast.helper).rules;
  const one = async (id: string, rules: typeof parent): Promise<LogRecord[]> => {
    const records = await new RecordReader(journal, id).read();
    const found = damaged(records, mistake);
    const came = judge({ id, records: found, rules, effects, graceMs, doers });
    for (const words of look?.(id, records) ?? [])
      came.findings.push({ promise: "P3", words: `${id}: ${words}` });
    add(all, came, id === plan.name);
    return records;
  };
  const records = await one(plan.name, parent);
  const helpers = new Set(
    records.flatMap((record) =>
      record.type === "tool_started" && record.child !== undefined ? [record.child] : [],
    ),
  );
  for (const id of helpers) await one(id, child);
  for (const key of effects.keys()) {
    const session = key.slice(0, key.lastIndexOf(":"));
    if (session !== plan.name && session.startsWith(`${plan.name}:`) && !helpers.has(session))
      all.findings.push({ promise: "P4", words: `${key} happened in a session nobody began` });
  }
  return all;
}

function add(sum: Came, came: Came, isOwn: boolean): void {
  sum.findings.push(...came.findings);
  if (isOwn) sum.endings.push(...came.endings);
  for (const [kind, count] of Object.entries(came.failures))
    sum.failures[kind] = (sum.failures[kind] ?? 0) + count;
  for (const count of [
    "records",
    "answers",
    "retries",
    "fallbacks",
    "tools",
    "unknown",
    "compactions",
    "delivered",
    "resumed",
  ] as const)
    sum[count] += came[count];
}
