// The room of a drive's inputs: the handler it runs in, and what the worker provides.

import type { ObjectContext } from "@restatedev/restate-sdk";
import type { State } from "@rondo/core";
import type { SessionParts } from "@rondo/core/driving";
import type { Above, Hub } from "../hub.ts";
import type { RecordStore } from "../state/store.ts";
import type { Workplaces } from "../workplace.ts";
import type { AbandonedRuns } from "./abandoned-runs.ts";
import type { ChildCalls } from "./child-calls.ts";

/** What the driver gets from the worker and from the handler it runs in. */
export interface DriverPlace {
  ctx: ObjectContext;
  parts: SessionParts;
  store: RecordStore;
  hub: Hub;
  /** Ancestors that also receive a sub-agent's events. */
  above: readonly Above[];
  workplaces: Workplaces;
  children: ChildCalls;
  /** The id that the requester gave the run. */
  run: string | undefined;
  unwanted: AbandonedRuns;
  /** Called when calls wait for somebody while the run continues. */
  waiting(state: State): void;
  /** Tells the inbox where to deliver mail. */
  listen(awakeable: string): void;
  /** Blocks what would start new work while the worker is closing. */
  gate(): Promise<never> | undefined;
}
