// The room of the mortal process: one life of an era's agents, and the judgement after all lives.
//
// A life opens every session in its journals, continues what was interrupted, and starts what has not begun. It may be
// killed at any instant. What a journal acknowledged is reported before the agent continues.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agent, type Journal, type LogRecord } from "@rondo/core";
import { checkJournal } from "@rondo/journal";
import { dropLastGroup } from "../crash/mistakes.ts";
import { type JournalKind, journalPath, openJournal, recordDigest } from "../crash/place.ts";
import { Company, course } from "./course.ts";
import { examine } from "./examine.ts";
import { planOf } from "./plan.ts";
import { sceneOf } from "./scene.ts";
import { type Orders, tell } from "./words.ts";
import { effectsIn, type World, WorldInFile } from "./world.ts";

const kinds: readonly JournalKind[] = ["sqlite", "jsonl"];

/** Digests of acknowledged records, by session and position. null: the process died before it could report it. */
export type Acknowledged = { [session: string]: (string | null)[] };

const acknowledgedFile = (folder: string): string => join(folder, "acknowledged.json");

export const keepAcknowledged = (folder: string, acknowledged: Acknowledged): void =>
  writeFileSync(acknowledgedFile(folder), JSON.stringify(acknowledged));

/** The journal, reporting what it has acknowledged. */
function telling(journal: Journal): Journal {
  const { lease, blobs } = journal;
  return {
    append(session, seq, records, token) {
      void journal.append(session, seq, records, token);
      if (records.length > 0) tell({ say: "stored", session, from: seq, digests: records.map(recordDigest) });
    },
    read: (session, from) => journal.read(session, from),
    list: () => journal.list(),
    ...(lease === undefined ? {} : { lease: (session, request) => lease.call(journal, session, request) }),
    ...(blobs === undefined ? {} : { blobs }),
  };
}

export async function live({
  seed,
  addresses,
  folder,
  names,
  life,
  mistake,
}: Orders & { be: "mortal" }): Promise<void> {
  if (mistake === "forget_records" && life > 0) for (const kind of kinds) dropLastGroup(kind, folder);
  const opened = { sqlite: openJournal("sqlite", folder), jsonl: openJournal("jsonl", folder) };
  const real = new WorldInFile(folder);
  const world: World = {
    effect(key, done) {
      real.effect(key);
      // By chance alone it would rarely die exactly here.
      if (mistake === "write_again" && life < 2 && done === "noted") process.kill(process.pid, "SIGKILL");
    },
    happened: (key) => real.happened(key),
  };
  const known = new Set<string>();
  for (const kind of kinds) for (const { id } of await opened[kind].list()) known.add(id);
  tell({ say: "resumed", sessions: known.size });
  const play = async (name: string): Promise<void> => {
    const plan = planOf(seed, name, true);
    const journal = opened[plan.journal as JournalKind];
    const lies = mistake === "write_again" ? ({ note: "idempotent" } as const) : {};
    const cast = sceneOf(plan, { seed, addresses, world, lies });
    const agent = new Agent({ ...cast.agent, journal: telling(journal) });
    const company = new Company(plan, `.${life}`);
    const session = await course(seed, plan, agent, company, (words) =>
      tell({ say: "unhandled", words: `${name}: ${words}` }),
    );
    await company.quiet();
    await session?.settled();
    tell({ say: "over", name });
  };
  await Promise.all(names.map(play));
}

/** Judges an era from its files alone, in a separate process. */
export async function judgeEra({
  seed,
  addresses,
  folder,
  names,
  mistake,
  shows,
}: Orders & { be: "judge" }): Promise<void> {
  const acknowledged = JSON.parse(readFileSync(acknowledgedFile(folder), "utf8")) as Acknowledged;
  const effects = effectsIn(folder);
  const broken = kinds.flatMap((kind) => checkJournal(journalPath(kind, folder)).findings);
  const opened = { sqlite: openJournal("sqlite", folder), jsonl: openJournal("jsonl", folder) };
  const world = new WorldInFile(folder);
  const look = (id: string, records: readonly LogRecord[]): string[] => {
    const gone = (acknowledged[id] ?? []).findIndex((digest, seq) => {
      if (digest === null) return false;
      const record = records[seq];
      return record === undefined || recordDigest(record) !== digest;
    });
    return gone < 0 ? [] : [`record ${gone} was acknowledged, and is gone or another`];
  };
  for (const name of names) {
    const plan = planOf(seed, name, true);
    const cast = sceneOf(plan, { seed, addresses, world });
    const own = new Map([...effects].filter(([key]) => key.startsWith(`${name}:`)));
    const journal = opened[plan.journal as JournalKind];
    const came = await examine({ plan, cast, journal, effects: own, mistake, shows, look });
    for (const { message } of broken.splice(0)) came.findings.push({ promise: "P3", words: message });
    tell({ say: "judged", judged: { name, came } });
  }
}
