// The room of the campaign on Restate: many concurrent runs on a cluster whose workers and nodes are killed.
//
// A server of three nodes, two workers behind one address, a few runs at any time. Three of four kills hit a worker,
// one a node; whatever was killed is started again, a node before the next kill, because a cluster of three does
// not survive two dead nodes. Each run is judged like one on a single machine: compared with a run that was never killed,
// by its records, and by what really happened. What a reader saw during the run counts as acknowledged.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { BlobStore, Journal } from "@rondo/core";
import { fileBlobs } from "@rondo/journal";
import { restateJournal } from "@rondo/restate";
import { type Cluster, startCluster } from "../../../examples/cluster/engine/cluster.ts";
import { ownFolder } from "../../../examples/cluster/engine/started.ts";
import { bundled } from "../../bundled.ts";
import { seeded } from "../../chance.ts";
import type { Outcome } from "../campaign.ts";
import { recordDigest } from "../place.ts";
import { type Came, type Finding, judge, nothingWrong } from "../verdict.ts";
import type { Word } from "../wire.ts";
import { toTheEnd } from "./run.ts";
import { patienceMs, until } from "./until.ts";
import { sessionPlace, takeSlot } from "./world.ts";

export interface RestateCampaign {
  /** Number of kills, of workers and nodes: three to one. */
  kills: number;
  seed: number;
  /** Number of concurrent runs. Default: 4. */
  together?: number;
  /** Makes the mistake of starting a write with unknown outcome again. Default: false. */
  writeAgain?: boolean;
  /** Stop at the first finding. Default: false. */
  bail?: boolean;
  hear?: (words: string) => void;
}

export interface RestateOutcome extends Outcome {
  killed: { workers: number; nodes: number };
}

export async function campaignOnRestate(options: RestateCampaign): Promise<RestateOutcome> {
  const { kills, seed, together = 4, writeAgain = false, bail = false, hear = () => {} } = options;
  const scratch = mkdtempSync(join(tmpdir(), "rondo-crash-"));
  ownFolder(scratch);
  let cluster: Cluster | undefined;
  try {
    const program = await bundled(new URL("./worker.ts", import.meta.url), scratch);
    cluster = await startCluster({
      nodes: 3,
      program,
      args: (ingress) => [
        scratch,
        String(together),
        ingress.join(","),
        ...(writeAgain ? ["write_again"] : []),
      ],
    });
    return await new OnCluster(cluster, scratch, { kills, seed, together, bail, hear }).all();
  } finally {
    await cluster?.stop();
    rmSync(scratch, { recursive: true, force: true });
  }
}

class OnCluster {
  readonly #cluster: Cluster;
  readonly #scratch: string;
  readonly #how: Required<Omit<RestateCampaign, "writeAgain">>;
  readonly #journal: Journal & { blobs: BlobStore };
  readonly #chance: () => number;
  readonly #wrong = nothingWrong();
  readonly #killed = { workers: 0, nodes: 0 };
  #unknown = 0;
  #runs = 0;
  #reference: Came | undefined;

  constructor(cluster: Cluster, scratch: string, how: Required<Omit<RestateCampaign, "writeAgain">>) {
    this.#cluster = cluster;
    this.#scratch = scratch;
    this.#how = how;
    const journal = restateJournal({ ingress: cluster.ingress, patienceMs });
    const blobs = fileBlobs(join(scratch, "blobs"));
    this.#journal = {
      append: (...group) => journal.append(...group),
      read: (id, from) => journal.read(id, from),
      list: () => journal.list(),
      blobs,
    };
    this.#chance = seeded(how.seed);
  }

  async all(): Promise<RestateOutcome> {
    const { together, bail } = this.#how;
    const from = performance.now();
    const { findings, came } = await this.#play(0, "whole");
    if (findings.length > 0)
      throw new Error(
        `a run that is never killed goes wrong: ${findings.map(({ words }) => words).join("; ")}`,
      );
    this.#reference = came;
    const wholeMs = performance.now() - from;
    let over = false;
    const killing = this.#killAll(wholeMs, () => over).finally(() => {
      over = true;
    });
    let number = 0;
    const work = async (slot: number): Promise<void> => {
      while (!over) {
        const session = `run-${number++}`;
        const { findings, came } = await this.#play(slot, session);
        this.#unknown += came.unknown;
        for (const { wrong, words } of findings) {
          this.#wrong[wrong] += 1;
          this.#how.hear(`${session}: ${wrong}: ${words}`);
        }
        if (bail && findings.length > 0) over = true;
      }
    };
    await Promise.all([killing, ...Array.from({ length: together }, (_, slot) => work(slot))]);
    const times = [...this.#cluster.takeovers].sort((one, other) => one - other);
    return {
      kills: this.#killed.workers + this.#killed.nodes,
      killed: this.#killed,
      runs: this.#runs,
      boundaries: 0,
      wrong: this.#wrong,
      unknown: this.#unknown,
      openedMs: { median: times[times.length >> 1] ?? 0, most: times.at(-1) ?? 0 },
    };
  }

  /** Plays one run to its end, and judges it. */
  async #play(slot: number, session: string): Promise<{ findings: readonly Finding[]; came: Came }> {
    takeSlot(this.#scratch, slot, session);
    const words: Word[] = [];
    const reading = new AbortController();
    const read = this.#read(session, words, reading.signal);
    const error = await toTheEnd(this.#cluster.ingress, slot, session);
    reading.abort();
    await read;
    this.#cluster.ended(session);
    this.#runs += 1;
    const place = sessionPlace(this.#scratch, session, this.#journal);
    const life = { words, killed: false, ended: error === undefined, errors: error ?? "" };
    let came: Came | undefined;
    // Reads fail while the node that is asked is dead.
    await until(async () => {
      await this.#journal.list();
      came = await judge(place, [life], this.#reference);
      return true;
    });
    if (came === undefined) throw new Error(`the records of ${session} cannot be read`);
    return { findings: came.findings, came };
  }

  /** Reads a run repeatedly while it is active: what was read once must stay. */
  async #read(session: string, words: Word[], signal: AbortSignal): Promise<void> {
    const from = new Map<string, number>([[session, 0]]);
    while (!signal.aborted) {
      try {
        for (const [id, next] of from) {
          const records = await this.#journal.read(id, next);
          if (records.length === 0) continue;
          words.push({ say: "stored", session: id, from: next, digests: records.map(recordDigest) });
          from.set(id, next + records.length);
          for (const record of records)
            if (record.type === "tool_started" && record.child !== undefined) from.set(record.child, 0);
        }
        await pause(100);
      } catch {
        // A node or worker was just killed.
      }
    }
  }

  /** Performs all kills, each at its instant. */
  async #killAll(wholeMs: number, over: () => boolean): Promise<void> {
    const { kills } = this.#how;
    const victims = Array.from({ length: kills }, (_, at): "worker" | "node" =>
      at % 4 === 3 ? "node" : "worker",
    );
    for (let at = victims.length - 1; at > 0; at -= 1) {
      const other = Math.floor(this.#chance() * (at + 1));
      [victims[at], victims[other]] = [victims[other] ?? "worker", victims[at] ?? "worker"];
    }
    const { engine, workers } = this.#cluster;
    for (const victim of victims) {
      await pause((this.#chance() * wholeMs) / 2);
      if (over()) return;
      if (victim === "worker") {
        const at = Math.floor(this.#chance() * workers.length);
        await this.#cluster.killWorker(at);
        this.#killed.workers += 1;
        await this.#cluster.startWorker(at);
      } else {
        // The node killed before must be back first.
        await engine.ready();
        const node = engine.nodes[Math.floor(this.#chance() * engine.nodes.length)];
        await node?.kill();
        this.#killed.nodes += 1;
        await pause(this.#chance() * 2_000);
        node?.start();
      }
    }
    await engine.ready();
  }
}
