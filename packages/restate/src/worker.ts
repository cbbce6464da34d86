// The room of the worker: a process that serves agents to Restate.
//
// It holds nothing that is not elsewhere as well, but for what is at work at this moment: any number of them may serve
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
  /** The agents, by the names that clients call them by: `[A-Za-z0-9_-]`. */
  agents: { readonly [name: string]: Agent };
  /** What the services are called in front: workers of other agents on one server take another. Default: `rondo`. */
  namespace?: string;
  /**
   * The longest that anything may be at work in one piece, in milliseconds. Restate is told to let a step be for this
   * long. Default: the longest time-out of the agents' tools and clocks, and a minute.
   */
  toolTimeoutMs?: number;
  /** Where whole texts of cut results are kept, for agents that bring no store. Several workers need one they share. Default: this process's memory. */
  blobs?: BlobStore;
  /** Public keys of the Restate servers that may call (`publickeyv1_…`). Default: anybody who can reach the port. */
  identityKeys?: readonly string[];
  /**
   * A secret that whoever follows live events must show (`liveToken` of `restateClient`): at least 16 letters, digits or
   * `-._~+/`. Default: with `identityKeys` nobody is told live events, else whoever can reach the port.
   */
  liveToken?: string;
  /** Hears what goes wrong with attempts, which Restate makes again. Default: the error output. */
  log?: (level: "warn" | "error", message: string) => void;
}

export interface RestateWorker {
  /** Names this process in what followers are told. */
  readonly id: string;
  /** Listens. @param port 0 (the default): a free one @param host default: 127.0.0.1. @returns the address to register */
  listen(port?: number, host?: string): Promise<string>;
  /**
   * Begins nothing more, lets what is under way come back, and lets go: the runs go on where another worker is.
   * @param options.withinMs what has not come back by then is given up, as in a crash. Default: 10,000
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
/** Whatever the tools may take. */
const longestStep = 24 * 60 * minute;

/** @throws RondoError `invalid_request` naming what cannot be used */
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
      // It would take calls, and begin nothing.
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

/** What answers the server's calls. */
function handlerOf(parts: WorkerParts, options: RestateWorkerOptions): Handle {
  const { agents, identityKeys = [] } = options;
  const log = options.log ?? ((_, message) => void process.stderr.write(`${message}\n`));
  const built = restate.endpoint().defaultServiceOptions({
    abortTimeout: options.toolTimeoutMs ?? longestOf(Object.values(agents)) + minute,
    inactivityTimeout: minute,
    // A worker that died is missed at once, and looked for at a pace that does not hurt.
    // The server by itself gives up after 70 attempts, two minutes at this pace: what it has paused waits for somebody's hand.
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
    // What it says while it is put together is in the docs: that a worker is to be reached by its server alone.
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
