// npm run -s cluster -- [--sessions N] [--together N]
//
// Runs a server of three nodes and two workers on this machine, with a hundred sessions, twenty at a time; meanwhile a
// worker and a node are killed. Prints what happened, and exits with 0 when nothing was lost and nothing done twice.
// A production cluster also needs object storage for the server's snapshots, which is left out here.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { messageOf } from "@rondo/core";
import { restateClient, restateJournal } from "@rondo/restate";
import { CommandLine } from "../../scripts/command-line.ts";
import { agentName, writesPerSession } from "./agent.ts";
import { type Cluster, startCluster } from "./engine/cluster.ts";
import { NoServer } from "./engine/engine.ts";
import { ownFolder, removeFolder } from "./engine/started.ts";
import { verdictOf, Watcher } from "./verify.ts";

const asked: CommandLine = new CommandLine("cluster");
const values = asked.options({
  sessions: { type: "string", default: "100" },
  together: { type: "string", default: "20" },
});
const count = asked.whole("sessions", values.sessions, 1);
const together = asked.whole("together", values.together, 1);

/** Fail when no session has ended for this long, in milliseconds. */
const patienceMs = 90_000;

const folder = mkdtempSync(join(tmpdir(), "rondo-cluster-"));
ownFolder(folder);
const began = performance.now();
const tell = (words: string): void =>
  console.log(`${((performance.now() - began) / 1_000).toFixed(1).padStart(6)} s  ${words}`);

let cluster: Cluster | undefined;
try {
  cluster = await startCluster({
    nodes: 3,
    program: fileURLToPath(new URL("./worker.ts", import.meta.url)),
    args: () => [folder],
    hear: tell,
  });
  process.exitCode = (await show(cluster)) ? 0 : 1;
} catch (thrown) {
  console.error(
    `cluster: ${thrown instanceof NoServer ? `there is no server to start: ${thrown.message}` : messageOf(thrown)}`,
  );
  process.exitCode = 1;
} finally {
  await cluster?.stop();
  removeFolder(folder);
  // Do not wait for a session that hangs.
  process.exit();
}

/** @returns whether all is well */
async function show({ engine, ingress, ...cluster }: Cluster): Promise<boolean> {
  tell(`three nodes are up (${engine.nodes.map((node) => node.ingress).join(", ")}), and two workers`);
  const journal = restateJournal({ ingress });
  const watcher = new Watcher(journal);
  const client = restateClient({ ingress, agent: agentName });
  const sessions = Array.from({ length: count }, (_, at) => `books-${String(at + 1).padStart(4, "0")}`);
  let ended = 0;
  const run = async (session: string): Promise<void> => {
    watcher.watch(session);
    await client.session(session).send("Keep the books.");
    watcher.unwatch(session);
    cluster.ended(session);
    ended += 1;
    alarm.refresh();
    await happen();
  };
  /** Resolves when sessions hang: these are reported as not completed. */
  const stuck = Promise.withResolvers<void>();
  const alarm = setTimeout(() => {
    tell(`${ended} ended, and no other in ${patienceMs / 1_000} s: waiting no longer`);
    stuck.resolve();
  }, patienceMs);
  /** What happens to the cluster, and after how many ended sessions. */
  const events: [after: number, what: () => Promise<void>][] = [
    [
      Math.floor(count / 4),
      async () => {
        const hit = await cluster.killWorker(0);
        tell(`${ended} ended: worker 1 killed with SIGKILL while it was at work at ${hit} sessions`);
      },
    ],
    [
      Math.floor(count / 2),
      async () => {
        await engine.nodes[0]?.kill();
        tell(`${ended} ended: node 1 killed with SIGKILL; two of three are left`);
      },
    ],
    [
      Math.floor((count * 3) / 4),
      async () => {
        engine.nodes[0]?.start();
        await cluster.startWorker(0);
        tell(`${ended} ended: node 1 and worker 1 are started again`);
      },
    ],
  ];
  const happen = async (): Promise<void> => {
    const [next] = events;
    if (next === undefined || ended < next[0]) return;
    events.shift();
    await next[1]();
  };
  tell(`${count} sessions begin, ${together} at a time`);
  const from = performance.now();
  const waiting = [...sessions];
  const all = Promise.all(
    Array.from({ length: together }, async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await run(next);
    }),
  );
  await Promise.race([all, stuck.promise]);
  clearTimeout(alarm);
  await watcher.stop();
  if (ended === count)
    tell(`all have ended, ${(count / ((performance.now() - from) / 1_000)).toFixed(1)} a second`);
  const verdict = await verdictOf(journal, sessions, folder, watcher);
  const times = [...cluster.takeovers].sort((one, other) => one - other);
  const ms = (at: number): string => `${times[at]?.toFixed(0) ?? "?"} ms`;
  console.log();
  for (const [what, figure] of [
    ["sessions completed", `${verdict.completed} of ${count}`],
    ["records lost", `${verdict.recordsLost}`],
    ["writes executed twice", `${verdict.writesTwice}`],
    ["writes executed", `${verdict.writes} of ${count * writesPerSession}`],
    ["outcome unknown", `${verdict.unknown}`],
    [
      "takeover",
      times.length === 0
        ? "no session was hit"
        : `${ms(times.length >> 1)} (median), ${ms(times.length - 1)} at most, of ${times.length} sessions`,
    ],
  ] as const)
    console.log(`${what.padEnd(22)} ${figure}`);
  for (const words of verdict.findings.slice(0, 20)) console.log(`wrong: ${words}`);
  console.log(verdict.findings.length === 0 ? "\nverified" : "\nNOT verified");
  return verdict.findings.length === 0;
}
