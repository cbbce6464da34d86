// The room of the examination: judges the sessions of one agent and of its helpers together.

import { type Journal, type LogRecord, RecordReader, resolve } from "@rondo/core";
import { damaged, type Mistake } from "./mistakes.ts";
import type { Plan } from "./plan.ts";
import { type Cast, graceMs } from "./scene.ts";
import { type Came, emptyCame, judge } from "./verdict.ts";
import { tell } from "./words.ts";
import type { Effects } from "./world.ts";

/** What the tools really do. */
const doers: ReadonlyMap<string, "write" | "idempotent"> = new Map([
  ["set", "idempotent"],
  ["note", "write"],
  ["stamp", "write"],
  ["publish", "write"],
  ["order", "write"],
  ["post", "write"],
] as const);

export interface Examining {
  plan: Plan;
  cast: Cast;
  journal: Journal;
  effects: Effects;
  mistake?: Mistake | undefined;
  /** Report every record. */
  shows?: boolean | undefined;
  /** Checks the raw records of each session. */
  look?: (id: string, records: readonly LogRecord[]) => string[];
}

/** Endings are the agent's own; everything else is summed over its sessions. */
export async function examine({
  plan,
  cast,
  journal,
  effects,
  mistake,
  shows,
  look,
}: Examining): Promise<Came> {
  const all = emptyCame();
  const parent = resolve(cast.agent).rules;
  const child = resolve(cast.helper).rules;
  const one = async (id: string, rules: typeof parent, mayBeOpen = false): Promise<LogRecord[]> => {
    const records = await new RecordReader(journal, id).read();
    const found = damaged(records, mistake);
    if (shows)
      for (const record of found) tell({ say: "shown", session: id, record: JSON.stringify(record) });
    const came = judge({ id, records: found, rules, effects, graceMs, doers, mayBeOpen });
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
  const closed = new Set(
    records.flatMap((record) => (record.type === "tool_finished" ? [`${plan.name}:${record.call}`] : [])),
  );
  for (const id of helpers) {
    // Its parent gave it up after the grace period, and it ends a moment later; or its process died first, and nobody
    // needs it any more.
    const givenUp = closed.has(id);
    if (givenUp && !plan.mortal) await until(async () => isOver(await journal.read(id)));
    await one(id, child, givenUp && plan.mortal);
  }
  for (const key of effects.keys()) {
    const session = key.slice(0, key.lastIndexOf(":"));
    if (session !== plan.name && session.startsWith(`${plan.name}:`) && !helpers.has(session))
      all.findings.push({ promise: "P4", words: `${key} happened in a session nobody began` });
  }
  return all;
}

/** Whether the session's last run has ended. */
const isOver = (records: readonly LogRecord[]): boolean =>
  records.findLastIndex(({ type }) => type === "run_ended") >
  records.findLastIndex(({ type }) => type === "run_started");

/** Polls for as long as a busy machine may take. If it never holds, the verdict reports it. */
async function until(is: () => Promise<boolean>): Promise<void> {
  for (let waited = 0; waited < 200 && !(await is()); waited += 1)
    await new Promise((resolve) => setTimeout(resolve, 50));
}

function add(sum: Came, came: Came, isOwn: boolean): void {
  sum.findings.push(...came.findings);
  if (isOwn) sum.endings.push(...came.endings);
  for (const [kind, count] of Object.entries(came.failures))
    sum.failures[kind] = (sum.failures[kind] ?? 0) + count;
  for (const [name, count] of Object.entries(came))
    if (typeof count === "number") sum[name as Counted] += count;
}

/** The numeric members. */
type Counted = { [name in keyof Came]: Came[name] extends number ? name : never }[keyof Came];
