// The room of the cluster: nodes of the server, workers of one version of the code, and a way in, all of which may die.
//
// Workers stand behind one address, as they do on a platform. Whoever is killed can be started
// again: a node where it was, a worker as a new process. A worker tells which session it works at (`{ working: id }`), so
// that the time from its death to the next sign of life of its sessions can be told.

import { type Balancer, connectionSettings, startBalancer } from "./balancer.ts";
import { type Engine, type EngineOptions, startEngine } from "./engine.ts";
import { startWorkerProcess, type WorkerProcess } from "./worker-process.ts";

export interface ClusterOptions extends EngineOptions {
  /** The program of a worker. */
  program: string;
  /** Its arguments; `ingress` is where clients call, node by node. */
  args?: (ingress: readonly string[]) => readonly string[];
  /** Default: 2. */
  workers?: number;
}

export interface Cluster {
  readonly engine: Engine;
  /** Where clients call, node by node: whoever does not answer is dead, and another is asked. */
  readonly ingress: readonly string[];
  /** Where the server calls: some worker that is alive answers. */
  readonly address: string;
  readonly workers: readonly WorkerProcess[];
  /** SIGKILL. @returns how many sessions it was at work at */
  killWorker(at: number): Promise<number>;
  /** A new process in its place. Resolves when it listens. */
  startWorker(at: number): Promise<void>;
  /** A session has ended: nobody needs to take it over. */
  ended(session: string): void;
  /** What it took until a session whose worker was killed was worked at again, in milliseconds. */
  readonly takeovers: readonly number[];
  /** Ends everything. May be called again. */
  stop(): Promise<void>;
}

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { program, args = () => [], workers: count = 2, settings = {}, ...how } = options;
  const engine = await startEngine({
    ...how,
    settings: {
      ...settings,
      "worker.invoker": { ...connectionSettings["worker.invoker"], ...settings["worker.invoker"] },
      // An invocation whose worker died is tried again at once, not after half a second and then ever later.
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
  /** Which worker a session was last seen at. */
  const places = new Map<string, number>();
  /** Sessions whose worker was killed, and when. */
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
