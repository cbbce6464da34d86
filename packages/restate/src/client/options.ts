// The room of the client's options: their types and checks.

import type { RedactOptions } from "@rondo/core";
import { type Check, membersOf, text } from "@rondo/core/checks";
import { redactOptions } from "@rondo/core/driving";
import { addresses, type IngressOptions, ingressChecks } from "../ingress.ts";
import { liveToken } from "../live-token.ts";

export interface RestateClientOptions extends IngressOptions {
  /** The agent, by its name on the worker. */
  agent: string;
  /** Prefix of the worker's service names. Default: `rondo`. */
  namespace?: string;
  /** Addresses of workers to receive live events from. Default: none; `follow` then yields records only. */
  workers?: string | readonly string[];
  /**
   * The secret that workers require for live events (`liveToken` of `restateWorker`). Default: none. If a worker
   * refuses, `follow` yields records only, and `warn` is told why.
   */
  liveToken?: string;
  /**
   * Redacts secrets in what is sent, before Restate gets it: the server stores it in its own journal, out of reach of the
   * agent's `redact`. Use the agent's settings. Default: no redaction.
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
