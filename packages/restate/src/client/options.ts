// The room of a client's options: what may be said of one.

import type { RedactOptions } from "@rondo/core";
import { type Check, membersOf, text } from "@rondo/core/checks";
import { redactOptions } from "@rondo/core/driving";
import { addresses, type IngressOptions, ingressChecks } from "../ingress.ts";
import { liveToken } from "../live-token.ts";

export interface RestateClientOptions extends IngressOptions {
  /** The agent, by the name its worker gives it. */
  agent: string;
  /** What the worker's services are called in front. Default: `rondo`. */
  namespace?: string;
  /** Addresses of workers, to hear live events from. Default: none, and `follow` tells records alone. */
  workers?: string | readonly string[];
  /**
   * The secret that the workers ask of whoever follows (`liveToken` of `restateWorker`). Default: none. Where a worker
   * refuses, `follow` tells records alone, and `warn` hears why.
   */
  liveToken?: string;
  /**
   * Take secrets out of what is said here, before Restate has it: what is sent stands in its own journal, where the agent's `redact`
   * cannot reach. Give it what the agent has. Default: nothing is.
   */
  redact?: RedactOptions;
}

export const clientChecks: Check = membersOf<RestateClientOptions>(
  {
    ...ingressChecks,
    agent: text,
    namespace: text,
    workers: addresses,
    liveToken,
    redact: redactOptions,
  },
  ["ingress", "agent"],
);
