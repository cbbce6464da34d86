// The room of the cluster: server nodes, workers of one version of the code, and an address for clients; all may be killed.
//
// Workers are behind one address, as on a platform. Whatever is killed can be started again: a node in its old place, a
// worker as a new process. A worker reports the session it works on (`{ working: id }`), which shows how
// long its sessions take from its death to their next sign of life.

import { type Balancer, connectionSettings, startBalancer } from "./balancer.ts";
import { type Engine, type EngineOptions, startEngine } from "./engine.ts";
import { startWorkerProcess, type WorkerProcess } from "./worker-process.ts";

export interface ClusterOptions extends EngineOptions {
  /** The worker's program. */
  program: string;
  /** Its arguments; `ingress` lists the nodes' addresses for clients. */
  args?: (ingress: readonly string[]) => readonly string[];
  /** Default: 2. */
  workers?: number;
}

export interface Cluster {
  readonly engine: Engine;
  /** The nodes' addresses for clients: if one does not answer it is dead, and the next is tried. */
  readonly ingress: readonly string[];
  /** The address that the server calls: any live worker answers. */
  readonly address: string;
  readonly workers: readonly WorkerProcess[];
  /** SIGKILL. @returns how many sessions it was working on */
  killWorker(at: number): Promise<number>;
  /** Starts a new process in its place. Resolves when it listens. */
  startWorker(at: number): Promise<void>;
  /** Notes that a session has ended: nobody needs to take it over. */
  ended(session: string): void;
  /** Times from the kill of a worker until one of its sessions was worked on again, in milliseconds. */
  readonly takeovers: readonly number[];
  /** Stops everything. May be called again. */
  stop(): Promise<void>;
}

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { program, args = () => [], workers: count = 2, settings = {}, ...how } = options;
  const engine = await startEngine({
    ...how,
    settings: {
      ...settings,
      "worker.invoker": { ...connectionSettings["worker.invoker"], ...settings["worker.invoker"] },
      // Retry an invocation whose worker died at once, instead of after half a second with growing pauses.
      "default-retry-policy": {
        "initial-interval": "50ms",
        "exponentiation-factor": 2,
        "max-interval": "1s",
        "max-attempts": 1_000,
        "on-max-attempts": "pause",
        ...settings["default-retry-policy"],
      },
    },
  });
  let balancer: Balancer | undefined;
  const workers: WorkerProcess[] = [];
  const takeovers: number[] = [];
  /** The worker on which each session was last seen. */
  const places = new Map<string, number>();
  /** Sessions whose worker was killed, with the time. */
  const orphans = new Map<string, number>();
  const stop = async (): Promise<void> => {
    await Promise.all(workers.map((worker) => worker.stop()));
    await engine.stop();
    await balancer?.stop();
  };
  const hear = (at: number, words: unknown): void => {
    if (typeof words !== "object" || words === null || !("working" in words)) return;
    const session = String(words.working);
    places.set(session, at);
    const since = orphans.get(session);
    if (since === undefined) return;
    orphans.delete(session);
    takeovers.push(performance.now() - since);
  };
  try {
    const ingress = engine.nodes.map((node) => node.ingress);
    const behind = await startBalancer();
    balancer = behind;
    const startWorker = async (at: number): Promise<void> => {
      const worker = await startWorkerProcess(program, args(ingress), (words) => hear(at, words));
      workers[at] = worker;
      behind.add(worker.address);
    };
    await Promise.all(Array.from({ length: count }, (_, at) => startWorker(at)));
    await engine.register(behind.address);
    return {
      engine,
      ingress,
      address: behind.address,
      workers,
      takeovers,
      startWorker,
      async killWorker(at) {
        const worker = workers[at];
        if (worker === undefined) return 0;
        await worker.kill();
        behind.remove(worker.address);
        const its = [...places].filter(([, place]) => place === at);
        for (const [session] of its) {
          places.delete(session);
          orphans.set(session, performance.now());
        }
        return its.length;
      },
      ended(session) {
        places.delete(session);
        orphans.delete(session);
      },
      stop,
    };
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}
