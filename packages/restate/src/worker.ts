// The room of the worker: a process that serves agents to Restate.
//
// Apart from the work in flight it holds nothing that is not stored elsewhere: any number of workers may serve
// the same agents, each at an address of its own.

import { randomUUID } from "node:crypto";
import * as restate from "@restatedev/restate-sdk";
import { type Agent, type BlobStore, memoryBlobs, RondoError } from "@rondo/core";
import {
  able,
  callable,
  checkGiven,
  finite,
  listOf,
  membersOf,
  recordOf,
  some,
  text,
} from "@rondo/core/checks";
import { Door, type Handle } from "./door.ts";
import { Hub } from "./hub.ts";
import { serveLive } from "./live-server.ts";
import { liveGuard, liveToken } from "./live-token.ts";
import { checkAgentName, servicesOf } from "./names.ts";
import { inboxObject } from "./objects/inbox.ts";
import { indexObject } from "./objects/index.ts";
import { sessionObject } from "./objects/session.ts";
import { agentFinder, type WorkerParts } from "./worker-parts.ts";
import { Workplaces } from "./workplace.ts";

export interface RestateWorkerOptions {
  /** The agents, by the names that clients use: `[A-Za-z0-9_-]`. */
  agents: { readonly [name: string]: Agent };
  /** Prefix of the service names: workers with other agents on the same server need another one. Default: `rondo`. */
  namespace?: string;
  /**
   * The longest time that a single step may take, in milliseconds: Restate waits this long before it retries.
   * Default: the longest timeout of the agents' tools and model calls, plus a minute.
   */
  toolTimeoutMs?: number;
  /** Blob store for whole texts of cut results, for agents without one. Several workers need a shared one. Default: this process's memory. */
  blobs?: BlobStore;
  /** Public keys of the Restate servers that may call (`publickeyv1_…`). Default: anybody who can reach the port. */
  identityKeys?: readonly string[];
  /**
   * The secret required of followers of live events (`liveToken` of `restateClient`): at least 16 letters, digits or
   * `-._~+/`. Default: with `identityKeys` nobody gets live events, otherwise anybody who can reach the port.
   */
  liveToken?: string;
  /** Called with problems of attempts, which Restate retries. Default: stderr. */
  log?: (level: "warn" | "error", message: string) => void;
}

export interface RestateWorker {
  /** Identifies this process to followers. */
  readonly id: string;
  /** Listens. @param port 0 (the default): any free one @param host default: 127.0.0.1. @returns the URL to register */
  listen(port?: number, host?: string): Promise<string>;
  /**
   * Starts nothing new, waits for work in flight, and disconnects: the runs continue on other workers.
   * @param options.withinMs what is still running after this time is given up, as in a crash. Default: 10,000
   */
  close(options?: { withinMs?: number }): Promise<void>;
}

const optionChecks = membersOf<RestateWorkerOptions>(
  {
    agents: some(recordOf(able("an Agent", "openChild")), "an agent"),
    namespace: text,
    toolTimeoutMs: finite,
    blobs: able("a store of texts (put, get, delete)", "put", "get", "delete"),
    identityKeys: listOf(text),
    liveToken,
    log: callable,
  },
  ["agents"],
);

const minute = 60_000;
/** Upper limit, whatever the tools may take. */
const longestStep = 24 * 60 * minute;

/** @throws RondoError `invalid_request` naming what is invalid */
export function restateWorker(options: RestateWorkerOptions): RestateWorker {
  checkGiven(optionChecks, options, "restateWorker");
  const { agents, namespace, blobs = memoryBlobs(), identityKeys = [] } = options;
  for (const name of Object.keys(agents)) checkAgentName(name, "restateWorker");
  const id = randomUUID().slice(0, 13);
  const never = new Promise<never>(() => {});
  let closing = false;
  const parts: WorkerParts = {
    services: servicesOf(namespace),
    hub: new Hub(id),
    workplaces: new Workplaces(id),
    agentAt: agentFinder(agents, blobs),
    stores: new Set([blobs, ...Object.values(agents).flatMap((agent) => agent.parts.blobs ?? [])]),
    gate: () => (closing ? never : undefined),
  };
  const handle = handlerOf(parts, options);
  const guard = liveGuard(options.liveToken, identityKeys.length > 0);
  const door = new Door((request, response) => {
    if (!serveLive(parts.hub, guard, request, response)) handle(request, response);
  });
  return {
    id,
    async listen(port = 0, host = "127.0.0.1") {
      // A closed worker would accept calls and never start any work.
      if (closing) throw new RondoError("invalid_request", "this worker was closed: make a new one");
      return door.open(port, host);
    },
    async close({ withinMs = 10_000 } = {}) {
      closing = true;
      await parts.workplaces.idle(withinMs);
      const closed = door.close();
      parts.workplaces.stopAll();
      await closed;
    },
  };
}

/** Handles the server's calls. */
function handlerOf(parts: WorkerParts, options: RestateWorkerOptions): Handle {
  const { agents, identityKeys = [] } = options;
  const log = options.log ?? ((_, message) => void process.stderr.write(`${message}\n`));
  const built = restate.endpoint().defaultServiceOptions({
    abortTimeout: options.toolTimeoutMs ?? longestOf(Object.values(agents)) + minute,
    inactivityTimeout: minute,
    // A dead worker's invocations are retried at once, and then at a moderate pace. By default the server gives up after 70
    // attempts, two minutes at this pace, and pauses the invocation until somebody resumes it by hand.
    retryPolicy: {
      initialInterval: 50,
      maxInterval: 2_000,
      exponentiationFactor: 2,
      maxAttempts: 2 ** 31 - 1,
    },
    onJournalMismatchErrors: "pause",
  });
  if (identityKeys.length > 0) built.withIdentityV1(...identityKeys);
  let isBuilt = false;
  built.setLogger(({ level }, ...said) => {
    // While it is built the SDK logs only what our docs say: that only the server should be able to reach a worker.
    if (isBuilt && (level === "error" || level === "warn")) log(level, said.map(String).join(" "));
  });
  built.bind(sessionObject(parts)).bind(inboxObject(parts.services)).bind(indexObject(parts.services));
  const handle = built.http2Handler();
  isBuilt = true;
  return handle;
}

function longestOf(agents: readonly Agent[]): number {
  let longest = 0;
  for (const { parts } of agents) {
    const { tools, clocks } = parts.resolved.options;
    longest = Math.max(longest, clocks.totalMs);
    // A sub-agent is a session of its own: no step waits for it.
    for (const { timeoutMs, agent } of tools) if (agent === undefined) longest = Math.max(longest, timeoutMs);
  }
  return Math.min(longest, longestStep);
}
