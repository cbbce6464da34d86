// The room of the engine: Restate's server on this machine, with one node or three, for tests and examples.
//
// On loopback, on free ports, in a folder of its own that is removed afterwards, without telemetry. A cluster keeps each
// record on two of its three nodes, so that any one may die. It has no object storage for snapshots, which a production
// cluster needs: without it logs are never trimmed, and a node that lost its disk cannot be restored.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NotUp, ServerNode, until } from "./node.ts";
import { freePorts } from "./ports.ts";
import { haveServer } from "./server.ts";
import { ownFolder, removeFolder } from "./started.ts";

export interface EngineOptions {
  /** Default: 1. */
  nodes?: 1 | 3;
  /** Number of partitions for the work. Default: 4, as a small machine has few cores. */
  partitions?: number;
  /** More server settings, by section: `{ "worker.invoker": { "abort-timeout": "1h" } }`. */
  settings?: { readonly [section: string]: { readonly [name: string]: string | number | boolean } };
  /** How long the start may take, in milliseconds. Default: 60,000. */
  patienceMs?: number;
  /** Told that the server's package is being installed. Default: stderr. */
  hear?: (words: string) => void;
}

export interface Engine {
  readonly nodes: readonly ServerNode[];
  /** The address for clients of a live node. */
  readonly ingress: string;
  /** The admin address of a live node. */
  readonly admin: string;
  /** Resolves when every live node is up and every partition has a leader among them. @throws NotUp */
  ready(patienceMs?: number): Promise<void>;
  /**
   * Registers a worker's address. From then on new invocations of its services go there.
   *
   * @returns the id of the deployment
   */
  register(address: string): Promise<string>;
  /** Queries the server's tables (SQL), e.g. `select id, status from sys_invocation`. */
  query(sql: string): Promise<Record<string, unknown>[]>;
  /** Stops every node and removes its data. May be called again. */
  stop(): Promise<void>;
}

/** Thrown when no server can be started: skip, with the reason. */
export class NoServer extends Error {
  override name = "NoServer";
}

/** Starts a server, installing it first if necessary. Resolves when it is ready. @throws NoServer, NotUp */
export async function startEngine(options: EngineOptions = {}): Promise<Engine> {
  const found = await haveServer(options.hear);
  if ("missing" in found) throw new NoServer(found.missing);
  for (let attempt = 1; ; attempt += 1) {
    const engine = await planned(found.path, options);
    try {
      for (const node of engine.nodes) node.start();
      await engine.ready(options.patienceMs);
      return engine;
    } catch (thrown) {
      await engine.stop();
      if (!(thrown instanceof NotUp && thrown.portTaken) || attempt === 3) throw thrown;
    }
  }
}

/** Its nodes, with folders and ports, not started yet. */
async function planned(binary: string, options: EngineOptions): Promise<Engine> {
  const { nodes: count = 1, partitions = 4, settings = {}, patienceMs = 60_000 } = options;
  const folder = mkdtempSync(join(tmpdir(), "rondo-restate-"));
  ownFolder(folder);
  const ports = await freePorts(3 * count);
  const plans = Array.from({ length: count }, (_, at) => ({
    name: `node-${at + 1}`,
    fabric: ports[3 * at] ?? 0,
    admin: ports[3 * at + 1] ?? 0,
    ingress: ports[3 * at + 2] ?? 0,
  }));
  const addresses = plans.map(({ fabric }) => `http://127.0.0.1:${fabric}`);
  const nodes = plans.map(({ name, ...own }, at) => {
    const config = toml({
      "": {
        "cluster-name": "rondo",
        "node-name": name,
        "base-dir": join(folder, "data"),
        "listen-mode": "tcp",
        "bind-ip": "127.0.0.1",
        "bind-port": own.fabric,
        "advertised-address": `http://127.0.0.1:${own.fabric}`,
        // The first one creates the cluster and the others join it; otherwise each would create its own.
        "auto-provision": at === 0,
        "default-num-partitions": partitions,
        "default-replication": Math.min(2, count),
        "disable-telemetry": true,
        "shutdown-timeout": "5s",
        "log-disable-ansi-codes": true,
        "rocksdb-total-memory-size": "256 MiB",
        ...settings[""],
      },
      "metadata-client": { type: "replicated", addresses, ...settings["metadata-client"] },
      admin: { "bind-port": own.admin, "disable-web-ui": true, ...settings.admin },
      ingress: { "bind-port": own.ingress, ...settings.ingress },
      ...rest(settings, ["", "metadata-client", "admin", "ingress"]),
    });
    return new ServerNode({ name, folder, binary, config, ports: own });
  });
  return engineOf(folder, nodes, patienceMs);
}

function engineOf(folder: string, nodes: readonly ServerNode[], defaultPatienceMs: number): Engine {
  const living = (): ServerNode => {
    const node = nodes.find(({ alive }) => alive);
    if (node === undefined) throw new Error("no node of the server is alive");
    return node;
  };
  /** Posts to the first node that answers; one that was just killed or is starting does not. */
  const post = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
    const deadline = performance.now() + 30_000;
    let answer: Record<string, unknown> | undefined;
    let last = "no node is alive";
    await until(
      async () => {
        for (const node of nodes) {
          if (!node.alive) continue;
          try {
            const response = await fetch(`${node.admin}${path}`, {
              method: "POST",
              headers: { "content-type": "application/json", accept: "application/json" },
              body: JSON.stringify(body),
              signal: AbortSignal.timeout(15_000),
            });
            const text = await response.text();
            if (response.ok) {
              answer = JSON.parse(text) as Record<string, unknown>;
              return true;
            }
            last = `${response.status} ${text}`;
          } catch (thrown) {
            last = String(thrown);
          }
        }
        return false;
      },
      deadline,
      () => new Error(`the server did not answer ${path}: ${last}`),
    );
    return answer ?? {};
  };
  return {
    nodes,
    get ingress() {
      return living().ingress;
    },
    get admin() {
      return living().admin;
    },
    async ready(patienceMs = defaultPatienceMs) {
      const deadline = performance.now() + patienceMs;
      const alive = nodes.filter((node) => node.alive);
      await Promise.all(alive.map((node) => node.up(deadline)));
      await until(
        async () => (await led(alive)) === "all",
        deadline,
        () => living().notUp("is up, but not all partitions of the cluster have a leader"),
        () => alive.find((node) => !node.alive)?.notUp("ended by itself"),
      );
    },
    async register(address) {
      const { id } = await post("/deployments", { uri: address });
      if (typeof id !== "string") throw new Error(`the server registered ${address} without an id`);
      return id;
    },
    async query(sql) {
      const { rows } = await post("/query", { query: sql });
      return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : [];
    },
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()));
      removeFolder(folder);
    },
  };
}

/** Whether each partition has a leader among these nodes, according to them. */
async function led(nodes: readonly ServerNode[]): Promise<"all" | "some"> {
  const figures = await Promise.all(
    nodes.map(async ({ fabric }) => {
      try {
        const response = await fetch(`${fabric}/metrics`, { signal: AbortSignal.timeout(2_000) });
        const text = await response.text();
        const figure = (name: string): number =>
          Number(new RegExp(`^${name}\\{[^}]*\\} (\\d+)`, "m").exec(text)?.[1] ?? 0);
        return {
          partitions: figure("restate_num_partitions"),
          leaders: figure("restate_num_active_partition_leaders"),
        };
      } catch {
        return { partitions: 0, leaders: 0 };
      }
    }),
  );
  const partitions = Math.max(...figures.map((one) => one.partitions));
  const leaders = figures.reduce((sum, one) => sum + one.leaders, 0);
  return partitions > 0 && leaders >= partitions ? "all" : "some";
}

type Value = string | number | boolean | readonly string[];

const rest = <Section>(all: { readonly [name: string]: Section }, but: readonly string[]) =>
  Object.fromEntries(Object.entries(all).filter(([name]) => !but.includes(name)));

/** TOML sections, the unnamed one first. Strings and lists are written as in JSON. */
const toml = (sections: { readonly [name: string]: { readonly [name: string]: Value } }): string =>
  Object.entries(sections)
    .map(
      ([name, settings]) =>
        `${name === "" ? "" : `[${name}]\n`}${Object.entries(settings)
          .map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`)
          .join("")}`,
    )
    .join("\n");
